// What else the kernels that run markets are given, and how they lie in warps: all that a key has a
// say in. The host writes these structures as those of market.cuh.

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
