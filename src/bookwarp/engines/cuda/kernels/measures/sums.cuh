// What the kernels of measures read and write. Each goes through recorded rows, [row, market], with
// a thread for every market (of every horizon, or some lags of every market): consecutive threads
// read consecutive numbers. Nothing is shared, and no thread waits for another, but in memory.cu.
//
// Sums are numbered within their block as measures/layout.py says (the constants that follow this
// file). They lie in pieces of `piece` markets, so that one can be copied at once: [piece, sum,
// market]. A sum that does not fit in 64 bits may be anything: the host tells by the largest
// values.

typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

#define DEVICE static __device__ __forceinline__
#define DEVICE_MEMBER __device__ __forceinline__

constexpr uint32 LANES = 32;
constexpr uint32 BLOCK = 128;
constexpr int64 NO_PRICE = (int64)0x8000000000000000ull;

// One market's column of a recorded series.
struct Column {
    const int64* first;
    uint64 pitch;

    DEVICE_MEMBER int64 operator[](int64 row) const { return first[(uint64)row * pitch]; }
};

DEVICE Column column_of(const int64* series, uint32 markets, uint32 market) {
    return {series + market, markets};
}

// One market's sums of a block.
struct Sums {
    int64* first;
    uint64 piece;

    DEVICE_MEMBER int64& operator[](uint32 sum) const { return first[sum * piece]; }
};

// `entries` is how many sums a market has, of all blocks; `sums` points to the first of the block.
DEVICE Sums sums_of(int64* sums, uint32 entries, uint32 piece, uint32 place) {
    return {sums + (uint64)(place / piece) * entries * piece + place % piece, piece};
}

DEVICE int64 size_of(int64 value) { return value < 0 ? -value : value; }
