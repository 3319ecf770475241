// What all rungs share: types, what a kernel is given, and the rules that turn a draw into an order.
//
// The rungs do not use the headers of the package: they stay what they were when those move on.
// Model: docs/model.md. The host (markets.py) writes these structures with dtypes of the same layout.

typedef unsigned char uint8;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

#define DEVICE static __device__ __forceinline__
// What a run does seldom stays out of the way of the step loop and its registers.
#define SELDOM static __device__ __noinline__

constexpr uint32 ALL_LANES = 0xFFFFFFFFu;
constexpr int LANES = 32;
// Blocks that a multiprocessor runs at once, and so the most warps where a block is one warp: what
// registers are kept free for.
constexpr int WARPS = 32;

// Parameters of one market. Agents are ordered by type: noise agents are 0 .. noise_end, then come
// momentum agents up to momentum_end, then makers.
struct Market {
    uint64 seed;
    uint64 key;  // of stream "default"
    uint32 market_id;
    uint32 threshold;   // chance of a marketable order, of 2^32
    float probability;  // the same for stream "paper"
    uint32 two_max_qty;  // given, so that the compiler does not know it for an even number
    int32 max_qty;
    int32 noise_spread;
    int32 maker_half_spread;
    uint32 noise_end;
    uint32 momentum_end;
};

// What a market keeps beside its book. Books are signed lots, buys positive: after an auction no
// level holds both sides.
struct Score {
    int64 volume;
    int64 trades;
    int32 last;       // level
    int32 prev_mid2;  // half ticks
};

// What chance gives one agent; `qty` is 0 for one that does not exist.
struct Draw {
    uint32 buy;  // 1, or 0 to sell
    bool marketable;
    int32 qty;
    int32 offset;
};

struct Order {
    bool buy;
    int32 level;
    int32 qty;
};

struct Outcome {
    int32 price;  // level; of no meaning if nothing trades
    int32 volume;
    int32 best_bid;  // level, -1 if there is none
    int32 best_ask;  // level, LEVELS if there is none
};

DEVICE int32 sign_of(int32 value) { return (value > 0) - (value < 0); }
DEVICE int32 positive(int32 value) { return max(value, 0); }
DEVICE int32 lowest_lane(uint32 lanes) { return __ffs(lanes) - 1; }
DEVICE int32 highest_lane(uint32 lanes) { return LANES - 1 - __clz(lanes); }

// Nearest level of a price in half ticks, halves to even, clamped to the grid.
DEVICE int32 level_of(int32 half_ticks) {
    int32 tick = half_ticks >> 1;
    tick += tick & half_ticks & 1;
    return max(0, min(tick, LEVELS - 1));
}

DEVICE int32 mid2_of(int32 best_bid, int32 best_ask, int32 last) {
    return best_bid >= 0 && best_ask < LEVELS ? best_bid + best_ask : 2 * last;
}

// What an agent sends; `trend` is the sign of the mid's last move.
DEVICE Order order_of(const Market& market, uint32 agent, uint32 step, int32 mid2, int32 trend,
                      const Draw& draw) {
    bool buy = draw.buy, marketable = draw.marketable;
    int32 away = draw.offset;
    if (agent >= market.noise_end) {
        if (agent < market.momentum_end) {
            if (trend != 0) buy = trend > 0;
            away = buy ? 1 : -1;
        } else {
            buy = (agent + step) % 2 == 0;
            away = buy ? -market.maker_half_spread : market.maker_half_spread;
            marketable = false;
        }
    }
    int32 level = marketable ? (buy ? LEVELS - 1 : 0) : level_of(mid2 + 2 * away);
    return {buy, level, draw.qty};
}

// Lots filled of the `here` lots that stand behind `ahead` others, when `volume` are filled.
DEVICE int32 filled(int32 volume, int32 ahead, int32 here) {
    return max(0, min(volume - ahead, here));
}

DEVICE void keep_score(const Outcome& outcome, Score& score) {
    score.volume += outcome.volume;
    if (outcome.volume > 0) score.last = outcome.price, score.trades += 1;
}
