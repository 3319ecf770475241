// What the kernels are given. The host writes these structures with NumPy dtypes of the same
// layout (layout.py); sizes are checked there.

typedef signed char int8;
typedef unsigned char uint8;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

#define DEVICE static __device__ __forceinline__
// What a run does seldom stays out of the way of the step loop and its registers.
#define SELDOM static __device__ __noinline__
#define DEVICE_MEMBER __device__ __forceinline__

constexpr uint32 ALL_LANES = 0xFFFFFFFFu;
constexpr int LANES = 32;
constexpr int BLOCK = LANES * (1 + DRAWS_AHEAD);  // threads of the counting kernel
// Lanes that own a market in the counting kernel, the levels of its book that each of them holds,
// and all that they hold.
constexpr int GROUP = LANES / MARKETS_PER_WARP;
constexpr int LEVELS_A_LANE = GROUP < 16 ? 16 / GROUP : 1;
constexpr int WINDOW = GROUP * LEVELS_A_LANE;
constexpr int UNROLLED_ROUNDS = UNROLL_ROUNDS;  // a pragma takes no macro
// Given types come in rows of this many bytes, padded with NOBODY.
constexpr uint32 TYPES_PITCH = (AGENTS + 63) / 64 * 64;
constexpr int64 NO_PRICE = (int64)0x8000000000000000ull;

// Lots at one level. 32 bits where the bound on quantities allows it, and so the fast case.
#if WIDE_LOTS
typedef int64 Lots;
#else
typedef int32 Lots;
#endif

// Parameters of one market.
struct Market {
    uint64 key;
    uint64 seed;
    int64 open_price;
    uint64 marketable_below;  // the hashes of stream "paper" that make an order marketable
    uint32 threshold;
    uint32 max_qty;
    int32 noise_spread;
    int32 maker_half_spread;
    uint32 market_id;
    // Agents are ordered by type: noise agents are 0 .. noise_end, then momentum, maker,
    // fundamental. Unused when types are given.
    uint32 noise_end;
    uint32 momentum_end;
    uint32 maker_end;
    int32 book_row;  // row of the recorded books, or -1
    uint32 wide;     // draws by two hashes an agent
    uint32 two_max_qty;
    uint32 clearing_interval;  // steps from one auction to the next
};

// Everything of the state that is not the book, of one market. Each scalar is an array [market] of
// its own, int64, so that other libraries can take it; arrays begin where XLA and vectors want them
// to. Book and scalars stay on the device.
enum class Scalar : uint32 {
    last,       // tick
    prev_mid2,  // half tick from base
    base,       // tick
    volume,
    trades,
    pruned_bid,
    pruned_ask,
    best_bid,  // level, -1 if there is none
    best_ask,  // level, LEVELS if there is none
    // Of ensembles with execution agents only.
    own_waiting,
    own_filled,
    own_cost,      // lot tick
    arrival_mid2,  // half tick from the open price
    start_volume,
};
constexpr uint32 SCALARS_PITCH = 32;  // arrays hold a multiple of this many markets

struct Scalars {
    int64* first;  // of this market
    uint64 pitch;

    DEVICE_MEMBER int64& operator[](Scalar name) const { return first[(uint64)name * pitch]; }
};

DEVICE Scalars scalars_of(int64* all, uint32 market_count, uint32 market) {
    return {all + market, ((uint64)market_count + SCALARS_PITCH - 1) / SCALARS_PITCH * SCALARS_PITCH};
}

// Buffers for recorded rows, [row, market]; null where a series is not recorded.
struct Rows {
    int64* last;
    int64* volume;
    int64* mid2;
    int64* best_bid;
    int64* best_ask;
    int64* bid_depth;
    int64* ask_depth;
    int64* book_bid;  // [row, chosen market, level]
    int64* book_ask;
    uint32 every;
    uint32 depth_ticks;
    uint32 book_markets;
    uint32 pad;
};

// The parent order that a market's execution agent works.
struct Parent {
    uint64 share;  // of the volume, in 2^-32
    uint32 qty;    // 0 where there is no such agent
    int32 side;    // 1 buys, -1 sells
    uint32 start;  // its first step
    uint32 horizon;
    uint32 schedule;
    uint32 pad;
};

// What only some ensembles have; null where they do not.
struct Extras {
    Lots* waiting_buy;  // [market, level], what waits for the next auction
    Lots* waiting_sell;
    const Parent* parents;  // [market]
    const uint32* profile;  // how many points, then the weight of the first 0, 1, ... of them
};
