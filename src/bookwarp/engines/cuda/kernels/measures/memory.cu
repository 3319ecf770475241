// Sum products of a market's returns some rows apart, and keep the returns at both ends.
//
// A block of threads takes 32 markets, a lane each, and goes through the rows in chunks. Its warps
// load the returns of a chunk, and of the rows before it that the largest lag reaches, into shared
// memory, each its own consecutive rows. Then every warp goes through all of them for its
// TOGETHER consecutive lags. Returns before the first and after the last are 0, and so are their
// products: nothing asks where a market's rows begin and end.
//
// Returns are taken in 32 bits, and squares too: where a sum of fourth powers fits in 64, no return
// has more than 15. Where none in a chunk is larger than a signed byte, which is so for most
// markets, four consecutive rows are a word, and one instruction adds four products in 32 bits.
// These sums move to 64 bits, in global memory, before they could become too large, and at the end.
// Chunks with a larger return are summed in 64 bits.

constexpr uint32 PACKED = 4;             // returns in a word
constexpr uint32 TOGETHER = 2 * PACKED;  // lags of a warp: whole words, so that none straddles two
constexpr uint32 LAG_GROUPS = (LAGS + TOGETHER - 1) / TOGETHER;
constexpr uint32 MEMORY_BLOCK = LANES * LAG_GROUPS;
constexpr uint32 MEMORY_BLOCKS = 4;  // on a multiprocessor: some read while others multiply
constexpr uint32 LOADED = 48;        // rows that a warp loads: as many as shared memory takes
constexpr uint32 SLOTS = LAG_GROUPS * LOADED;
constexpr uint32 HALO = LAG_GROUPS * TOGETHER;
constexpr uint32 CHUNK = SLOTS - HALO;
constexpr uint32 TURN = 2 * PACKED;  // rows of a turn of the loop
constexpr uint32 MOST_PACKED = 127;
constexpr uint32 MOST_IN_CHUNK = CHUNK * MOST_PACKED * MOST_PACKED * MOST_PACKED;
constexpr uint32 MOST_IN_SUM = 0x7FFFFFFF;
static_assert(SLOTS % TURN == 0 && HALO % TURN == 0 && LOADED >= 3 * TOGETHER);
static_assert(MOST_IN_CHUNK <= MOST_IN_SUM);

// Rows in shared memory. Where they are packed, four are the words of four rows: of their returns,
// of the sizes of these, and of the squares, two and two.
typedef int32 Rows[LANES];

// One market's sums of a warp's lags, in 32 bits.
struct NarrowSums {
    int32 products[TOGETHER], sizes[TOGETHER], squares[TOGETHER];
};

// The same in 64 bits, in global memory.
struct WideSums {
    Sums out;
    uint32 first;  // the nearest lag, counted from 0
    bool kept;     // not for a lane that has no market
    bool begun;    // or what is there are no sums yet

    DEVICE_MEMBER void add(uint32 lag, int64 product, int64 size, int64 square) const {
        const uint32 entry = first + lag;
        if (!kept || entry >= LAGS) return;
        add(lag_product + entry, product);
        add(lag_abs_product + entry, size);
        add(lag_square_product + entry, square);
    }

    DEVICE_MEMBER void add(uint32 sum, int64 value) const {
        out[sum] = begun ? out[sum] + value : value;
    }
};

DEVICE uint32 narrow_size(int32 value) { return value < 0 ? 0u - (uint32)value : (uint32)value; }

// Load the returns from row `start` on, and give the largest size. `start` may be before row 0.
DEVICE uint32 load_returns(Rows* own, const int64* price, uint32 markets, int64 start,
                           int64 returns) {
    const uint32 lane = threadIdx.x % LANES;
    const int64 begin = min(max(start, (int64)0), returns);
    const int32 lead = (int32)min(begin - start, (int64)LOADED);
    const int32 rest = (int32)min(returns - begin, (int64)LOADED);
    price += (uint64)begin * markets;
    uint32 before = (uint32)*price, most = 0;
#pragma unroll 16  // rows that are asked for at once: as many as there are registers for
    for (int32 row = 0; row < (int32)LOADED; ++row) {
        const uint32 ahead = (uint32)min(max(row + 1 - lead, 0), rest);
        const uint32 here = (uint32)price[(uint64)ahead * markets];
        const int32 change = (int32)(here - before);
        before = here;
        own[row][lane] = change;
        most = max(most, narrow_size(change));
    }
    return most;
}

DEVICE int32 pack_bytes(const uint32* of) {
    const uint32 low = __byte_perm(of[0], of[1], 0x0040);
    return (int32)__byte_perm(low, __byte_perm(of[2], of[3], 0x0040), 0x5410);
}

// Pack the rows that this thread has loaded, where they are.
DEVICE void pack_returns(Rows* own) {
    const uint32 lane = threadIdx.x % LANES;
#pragma unroll 2
    for (uint32 first = 0; first < LOADED; first += PACKED) {
        Rows* const four = own + first;
        uint32 change[PACKED], size[PACKED], square[PACKED];
#pragma unroll
        for (uint32 row = 0; row < PACKED; ++row) {
            change[row] = (uint32)four[row][lane];
            size[row] = narrow_size(four[row][lane]);
            square[row] = size[row] * size[row];
        }
        four[0][lane] = pack_bytes(change);
        four[1][lane] = pack_bytes(size);
        four[2][lane] = (int32)(square[0] | square[1] << 16);
        four[3][lane] = (int32)(square[2] | square[3] << 16);
    }
}

// Give the four rows that begin one, two, three and four rows before a word, from it and the one
// before it.
DEVICE void words_before(int32* words, int32 before, int32 word) {
    words[0] = (int32)__byte_perm((uint32)before, (uint32)word, 0x6543);
    words[1] = (int32)__byte_perm((uint32)before, (uint32)word, 0x5432);
    words[2] = (int32)__byte_perm((uint32)before, (uint32)word, 0x4321);
    words[3] = before;
}

// Add the products of `count` packed rows. What is as far back as each lag is in rings, whose
// places are constants because a turn of the loop goes once around them.
DEVICE void add_packed(NarrowSums& sums, const Rows* chunk, uint32 first, uint32 count) {
    const uint32 lane = threadIdx.x % LANES;
    const Rows* const newer = chunk + HALO;
    const Rows* const older = newer - first;
    int32 changes[TOGETHER], sizes[TOGETHER];
    int32 change = (older - PACKED)[0][lane], size = (older - PACKED)[1][lane];
    words_before(changes + PACKED, (older - 2 * PACKED)[0][lane], change);
    words_before(sizes + PACKED, (older - 2 * PACKED)[1][lane], size);
#pragma unroll 1
    for (uint32 turn = 0; turn < count; turn += TURN) {
#pragma unroll
        for (uint32 row = 0; row < TURN; row += PACKED) {
            const Rows* const there = older + turn + row;
            words_before(changes + row, change, there[0][lane]), change = there[0][lane];
            words_before(sizes + row, size, there[1][lane]), size = there[1][lane];
            const Rows* const here = newer + turn + row;
            const int32 new_changes = here[0][lane], new_sizes = here[1][lane];
            const int32 low_squares = here[2][lane], high_squares = here[3][lane];
#pragma unroll
            for (uint32 lag = 0; lag < TOGETHER; ++lag) {
                const uint32 place = (row + lag) % TOGETHER;
                int32& square = sums.squares[lag];
                sums.products[lag] = __dp4a(new_changes, changes[place], sums.products[lag]);
                sums.sizes[lag] = __dp4a(new_sizes, sizes[place], sums.sizes[lag]);
                square = __dp2a_lo(low_squares, changes[place], square);
                square = __dp2a_hi(high_squares, changes[place], square);
            }
        }
    }
}

// Add the products of `count` rows that are not packed, a lag after the other: the registers are
// taken by narrow sums, which stay.
DEVICE void add_unpacked(WideSums& sums, const Rows* chunk, uint32 count) {
    const uint32 lane = threadIdx.x % LANES;
    const Rows* const newer = chunk + HALO;
#pragma unroll 1
    for (uint32 lag = 0; lag < TOGETHER; ++lag) {
        const Rows* const older = newer - (sums.first + lag + 1);
        int64 product = 0, size = 0, square = 0;
#pragma unroll 1
        for (uint32 turn = 0; turn < count; turn += TURN) {
#pragma unroll
            for (uint32 row = turn; row < turn + TURN; ++row) {
                const int32 here = newer[row][lane], before = older[row][lane];
                product += (int64)here * before;
                size += (int64)((uint64)narrow_size(here) * narrow_size(before));
                square += (int64)(int32)((uint32)here * (uint32)here) * before;
            }
        }
        sums.add(lag, product, size, square);
    }
    sums.begun = true;
}

// Move sums to 64 bits, by way of the rows that this thread has loaded and nobody reads any more: a
// loop over shared memory takes few registers.
DEVICE void move_sums(NarrowSums& from, WideSums& to, Rows* own) {
    const uint32 lane = threadIdx.x % LANES;
    Rows *const products = own, *const sizes = own + TOGETHER, *const squares = sizes + TOGETHER;
#pragma unroll
    for (uint32 lag = 0; lag < TOGETHER; ++lag) {
        products[lag][lane] = from.products[lag];
        sizes[lag][lane] = from.sizes[lag];
        squares[lag][lane] = from.squares[lag];
    }
#pragma unroll 1
    for (uint32 lag = 0; lag < TOGETHER; ++lag) {
        to.add(lag, products[lag][lane], sizes[lag][lane], squares[lag][lane]);
    }
    to.begun = true;
    from = {};
}

// Keep the returns at both ends, as many as the warp has lags.
DEVICE void keep_ends(const WideSums& sums, const Column& price, int64 returns) {
    int64 early[TOGETHER], late[TOGETHER];  // what is read first waits for no write
    int64 front = price[min((int64)sums.first, returns)];
    int64 back = price[max(returns - sums.first, (int64)0)];
#pragma unroll
    for (uint32 lag = 0; lag < TOGETHER; ++lag) {
        const int64 row = sums.first + lag + 1;
        early[lag] = price[min(row, returns)];
        late[lag] = price[max(returns - row, (int64)0)];
    }
#pragma unroll
    for (uint32 lag = 0; lag < TOGETHER; ++lag) {
        const uint32 entry = sums.first + lag;
        if (sums.kept && entry < LAGS) {
            sums.out[head + entry] = early[lag] - front;
            sums.out[foot + entry] = back - late[lag];
        }
        front = early[lag], back = late[lag];
    }
}

extern "C" __global__ void __launch_bounds__(MEMORY_BLOCK, MEMORY_BLOCKS)
sum_memory(const int64* last, int64* sums, uint32 entries, uint32 piece, uint32 rows,
           uint32 markets, uint32 first, uint32 count) {
    __shared__ Rows chunk[SLOTS];
    __shared__ uint32 largest[LAG_GROUPS];
    const uint32 warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const uint32 place = blockIdx.x * LANES + lane;
    // A lane without a market goes through the rows of the last one, and keeps nothing.
    const Column price = column_of(last, markets, first + min(place, count - 1));
    const int64 returns = (int64)rows - 1;
    Rows* const own = chunk + warp * LOADED;
    WideSums wide = {sums_of(sums, entries, piece, place), warp * TOGETHER, place < count, false};
    NarrowSums narrow = {};
    uint32 bound = 0;  // no narrow sum is larger
    int64 begin = 0;
    do {
        const int64 start = begin - HALO + warp * LOADED;
        uint32 most = load_returns(own, price.first, markets, start, returns);
        largest[warp] = __reduce_max_sync(~0u, most);
        __syncthreads();  // all rows are loaded
        most = __reduce_max_sync(~0u, largest[lane % LAG_GROUPS]);
        const uint32 filled = (uint32)min(returns - begin, (int64)CHUNK);
        if (most <= MOST_PACKED) {
            pack_returns(own);
            __syncthreads();  // all rows are packed
            add_packed(narrow, chunk, wide.first, filled);
            bound += CHUNK * most * most * most;
        } else {
            add_unpacked(wide, chunk, filled);
        }
        begin += CHUNK;
        __syncthreads();  // nobody reads these rows, or the largest of them, any more
        if (begin >= returns || bound > MOST_IN_SUM - MOST_IN_CHUNK) {
            move_sums(narrow, wide, own);
            bound = 0;
        }
    } while (begin < returns);
    keep_ends(wide, price, returns);
}
