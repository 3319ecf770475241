// The rule as it is written: every order scans all slots of its book.
//
// LAYOUT_PLANES: prices and lots are planes [slot * books + book], else the book is an array of
// structures [book * DEPTH + slot]. PRELOAD holds prices in registers too; else ("lowreg") only
// the lots that remain, and prices are read again for every order.

#if LAYOUT_PLANES
#define STEP books
#else
#define STEP 4u
#endif

// Blocks that a multiprocessor is to have room for: 768 threads of 80 registers, or 512 of 128.
constexpr int RESIDENT = (PRELOAD ? 512 : 768) / THREADS;

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
match_books(const uint32* __restrict__ resting, const Order* __restrict__ incoming,
            uint32* __restrict__ remaining, uint32* __restrict__ fills_out, uint32 books) {
    const uint32 book = this_book();
    if (book >= books) return;
#if LAYOUT_PLANES
    const uint32* first_price = resting + book;
    const uint32* qty = first_price + DEPTH * books;
    uint32* out = remaining + book;
#else
    const uint32* first_price = resting + book * (DEPTH * STEP);
    const uint32* qty = first_price + 1;
    uint32* out = remaining + book * DEPTH;
#endif
    uint32 left[DEPTH];
#if PRELOAD
    uint32 price[DEPTH];
#endif
#pragma unroll
    for (int slot = 0; slot < DEPTH; ++slot) {
        left[slot] = qty[slot * STEP];
#if PRELOAD
        price[slot] = first_price[slot * STEP];
#endif
    }
    uint32 fills = 0;
#pragma unroll 1
    for (int t = 0; t < TAKERS; ++t) {
        const Order order = incoming[t];
        uint32 open = order.qty;
#if !PRELOAD
        const uint32* next_price = first_price;
        forget_value(next_price);
#endif
#pragma unroll
        for (int slot = 0; slot < DEPTH; ++slot) {
#if PRELOAD
            const uint32 at = price[slot];
#else
            const uint32 at = read_word(next_price);
            next_price += STEP;
#endif
            const bool crosses = order.side == BUY ? order.price >= at : order.price <= at;
            const uint32 fill = crosses ? min(open, left[slot]) : 0;
            open -= fill;
            left[slot] -= fill;
            fills += fill > 0;
        }
    }
    fills_out[book] = fills;
#pragma unroll
    for (int slot = 0; slot < DEPTH; ++slot) {
        *out = left[slot];
        out += LAYOUT_PLANES ? books : 1;
    }
}
