// Orders and results that each thread reads and writes by itself, where they lie. It takes the place of
// rows.cuh, and gives what match.cu needs of it to match passes.
//
// BYTES says how: a byte at a time all through, or put together from bytes once, then in limbs.
// Loads are plain: volatile ones would pass by the cache of the multiprocessor.

constexpr uint32 ORDER_BYTES = 117, PRICE_AT = 1;
constexpr uint32 RESULT_WORDS = 17, RESULT_BYTES = 4 * RESULT_WORDS;
constexpr uint32 LANES = 32;
constexpr uint32 PIECE = sizeof(Piece);

DEVICE uint32 this_lane() { return threadIdx.x % LANES; }

DEVICE U256 read_odd(const uint8* bytes) {
    U256 number;
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        uint64 limb = 0;
#pragma unroll
        for (uint32 byte = 0; byte < 8; ++byte) {
            limb = limb << 8 | bytes[8 * (LIMBS - 1 - place) + byte];
        }
        number.limb[place] = limb;
    }
    return number;
}

DEVICE void leave_odd(uint8* bytes, const U256& number) {
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        uint8* at = bytes + 8 * (LIMBS - 1 - place);
#if BYTES
#pragma unroll
        for (uint32 byte = 0; byte < 8; ++byte) {
            at[byte] = (uint8)(number.limb[place] >> (8 * (7 - byte)));
        }
#else
        ((uint32*)at)[0] = swap_bytes((uint32)(number.limb[place] >> 32));
        ((uint32*)at)[1] = swap_bytes((uint32)number.limb[place]);
#endif
    }
}

struct Buffers { Piece pieces[2][1]; };

struct RowsInPasses {
    const uint8* calldata;
    uint8* results;
    uint64 current;
    uint32 pass_rows, rows;

    DEVICE_MEMBER void open(const uint8* all_orders, uint8* all_results, uint64 first_row,
                            uint32 rows_of_pass, uint32 own_rows) {
        calldata = all_orders;
        results = all_results;
        pass_rows = rows_of_pass;
        rows = own_rows;
        current = first_row + this_lane() - pass_rows;
    }

    DEVICE_MEMBER void begin() {}
    DEVICE_MEMBER void copy_turn(Piece*) {}
    DEVICE_MEMBER void advance() { current += pass_rows; }
    DEVICE_MEMBER bool has_order() const { return this_lane() < rows; }
    DEVICE_MEMBER Order take(const Piece*) const {
        const uint8* row = calldata + current * ORDER_BYTES;
        return {row[0] == 0, read_odd(row + PRICE_AT), read_odd(row + PRICE_AT + sizeof(U256))};
    }
    DEVICE_MEMBER void leave(Piece*, const Result& result) const {
        uint8* row = results + current * RESULT_BYTES;
        leave_odd(row, result.filled);
        leave_odd(row + sizeof(U256), result.vwap);
        ((uint32*)row)[RESULT_WORDS - 1] = swap_bytes(result.fill_count);
    }
    DEVICE_MEMBER void write_results(const Piece*) const {}
};
