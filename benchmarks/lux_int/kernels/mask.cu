// The same rule by bit masks: bit 31 - s of a mask is slot s, so that its highest bit is the oldest.
//
// An order compares its price with all resting prices at once, four of them a word, and takes the
// slots that cross and still hold something, highest bit first: a slot that gives nothing costs
// nothing. A book in which nothing is left is left alone.
// Registers: 8 words of prices, one byte each, as ticks from the lowest. Shared memory: the lots
// that remain, as they lie in the layout, a column a thread.
// LAYOUT_PACKED: the words of layout.py; OWN_ORDERS: a word an order, of every book its own.
// Else prices and lots are planes of 32 bits, and the bytes are made here. A book whose prices are
// farther apart than a byte holds goes the long way: scan_book.

constexpr uint32 FARTHEST_TICK = 125;
constexpr int PRICE_WORDS = DEPTH / 4;
constexpr uint32 EVERY_BYTE = 0x01010101u;
constexpr uint32 HIGH_BITS = 0x80808080u;

#if LAYOUT_PACKED
constexpr int LOT_WORDS = DEPTH / 2;
#else
constexpr int LOT_WORDS = DEPTH;
#endif

struct Lots {
    uint32* column;  // of this thread

    __device__ __forceinline__ uint32 read(int slot) const {
#if LAYOUT_PACKED
        return ((const uint16*)(column + (slot >> 1) * THREADS))[slot & 1];
#else
        return column[slot * THREADS];
#endif
    }

    __device__ __forceinline__ void write(int slot, uint32 lots) const {
#if LAYOUT_PACKED
        ((uint16*)(column + (slot >> 1) * THREADS))[slot & 1] = (uint16)lots;
#else
        column[slot * THREADS] = lots;
#endif
    }
};

struct Taker {
    uint32 edge;  // ticks from the lowest price: below it buys, from it on sells
    uint32 flip;  // all bits for a buy
    uint32 open;
};

// A resting price x crosses a buy where x < edge, a sell where x >= edge.
#if OWN_ORDERS
__device__ __forceinline__ Taker unpack_order(uint32 word) {
    const int32 offset = (int32)(word << 16) >> 16;
    const uint32 buys = ~(word >> 16) & 1;
    const int32 above = min(offset, (int32)FARTHEST_TICK + 1);
    return {offset >= 0 ? above + buys : 0, 0u - buys, word >> 17};
}
#else
__device__ __forceinline__ Taker take_order(uint32 price, uint32 qty, uint32 side, uint32 lowest) {
    const uint32 buys = side == BUY;
    const uint32 above = min(price - lowest, FARTHEST_TICK + 1);
    return {price >= lowest ? above + buys : 0, 0u - buys, qty};
}
#endif

// Slot 24 - 8 k + j is byte k of word j, its high bit set: less the edge, that bit tells whether
// the price is at the edge or beyond.
__device__ __forceinline__ uint32 crossed_slots(const uint32* prices, const Taker& taker) {
    uint32 beyond = 0;
#pragma unroll
    for (int j = 0; j < PRICE_WORDS; ++j) {
        beyond |= ((prices[j] - taker.edge * EVERY_BYTE) & HIGH_BITS) >> j;
    }
    return beyond ^ taker.flip;
}

// Fill an order from slots that cross it, oldest first. Returns how many it met.
__device__ __forceinline__ uint32 fill_order(uint32 crossed, uint32 open, uint32& alive,
                                             const Lots& lots) {
    uint32 fills = 0;
    while (crossed && open) {
        const int slot = __clz(crossed);
        const uint32 bit = 0x80000000u >> slot;
        const uint32 here = lots.read(slot);
        const uint32 fill = min(open, here);
        open -= fill;
        lots.write(slot, here - fill);
        crossed ^= bit;
        if (fill == here) alive ^= bit;
        fills += 1;
    }
    return fills;
}

#if !LAYOUT_PACKED
// Books of any prices, slot by slot.
__device__ __noinline__ uint32 scan_book(const uint32* price, const Order* incoming, uint32 books,
                                         const Lots& lots) {
    uint32 fills = 0;
    for (int t = 0; t < TAKERS; ++t) {
        const Order order = incoming[t];
        uint32 open = order.qty;
        for (int slot = 0; slot < DEPTH && open; ++slot) {
            const uint32 at = price[slot * books];
            const bool crosses = order.side == BUY ? order.price >= at : order.price <= at;
            const uint32 here = lots.read(slot);
            if (!crosses || !here) continue;
            const uint32 fill = min(open, here);
            open -= fill;
            lots.write(slot, here - fill);
            fills += 1;
        }
    }
    return fills;
}

// Read prices and make bytes of them. Returns whether they fit.
__device__ __forceinline__ bool pack_prices(const uint32* price, uint32 books, uint32& lowest,
                                            uint32* prices) {
    uint32 all[DEPTH], highest = 0;
    lowest = 0xFFFFFFFFu;
#pragma unroll
    for (int slot = 0; slot < DEPTH; ++slot) all[slot] = price[slot * books];
#pragma unroll
    for (int slot = 0; slot < DEPTH; ++slot) {
        lowest = min(lowest, all[slot]);
        highest = max(highest, all[slot]);
    }
    // Of whole words, modulo 2^32: where the bytes fit, their difference is byte by byte.
    const uint32 taken = HIGH_BITS - lowest * EVERY_BYTE;
#pragma unroll
    for (int j = 0; j < PRICE_WORDS; ++j) {
        prices[j] = (all[j] << 24) + (all[8 + j] << 16) + (all[16 + j] << 8) + all[24 + j] + taken;
    }
    return highest - lowest <= FARTHEST_TICK;
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS)
match_books(const uint32* __restrict__ resting, const Order* __restrict__ incoming,
            uint32* __restrict__ remaining, uint32* __restrict__ fills_out, uint32 books) {
    extern __shared__ uint32 columns[];  // LOT_WORDS for each thread
    const uint32 book = this_book();
    if (book >= books) return;
    const Lots lots = {columns + threadIdx.x};
    uint32 prices[PRICE_WORDS], alive = 0;
#if LAYOUT_PACKED
    const uint32* lots_in = resting + PRICE_WORDS * books + book;
#pragma unroll
    for (int j = 0; j < PRICE_WORDS; ++j) prices[j] = resting[j * books + book] | HIGH_BITS;
#if !OWN_ORDERS
    const uint32 lowest = lots_in[LOT_WORDS * books];
#endif
#else
    const uint32* lots_in = resting + DEPTH * books + book;
    uint32 lowest;
    const bool fits = pack_prices(resting + book, books, lowest, prices);
#endif
#pragma unroll
    for (int word = 0; word < LOT_WORDS; ++word) {
        const uint32 here = lots_in[word * books];
        lots.column[word * THREADS] = here;
#if LAYOUT_PACKED
        if (here & 0xFFFFu) alive |= 0x80000000u >> (2 * word);
        if (here >> 16) alive |= 0x80000000u >> (2 * word + 1);
#else
        if (here) alive |= 0x80000000u >> word;
#endif
    }

    uint32 fills = 0;
#if OWN_ORDERS
    constexpr int AT_ONCE = 8;
    const uint32* own = (const uint32*)incoming + book;
    // All orders are read, those that meet an empty book too.
#pragma unroll 1
    for (int first = 0; first < TAKERS; first += AT_ONCE) {
        uint32 words[AT_ONCE];
#pragma unroll
        for (int t = 0; t < AT_ONCE; ++t) words[t] = read_word(own + (first + t) * books);
        if (!alive) continue;
#pragma unroll
        for (int t = 0; t < AT_ONCE; ++t) {
            const Taker taker = unpack_order(words[t]);
            fills += fill_order(crossed_slots(prices, taker) & alive, taker.open, alive, lots);
        }
    }
#else
#if !LAYOUT_PACKED
    if (!fits) {
        fills = scan_book(resting + book, incoming, books, lots);
        alive = 0;
    }
#endif
#pragma unroll 4
    for (int t = 0; t < TAKERS; ++t) {
        if (!alive) break;
        const Order order = incoming[t];
        const Taker taker = take_order(order.price, order.qty, order.side, lowest);
        fills += fill_order(crossed_slots(prices, taker) & alive, taker.open, alive, lots);
    }
#endif

    fills_out[book] = fills;
#pragma unroll
    for (int word = 0; word < LOT_WORDS; ++word) {
        remaining[word * books + book] = lots.column[word * THREADS];
    }
}
