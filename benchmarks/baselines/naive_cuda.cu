// The call-auction ensemble as a first CUDA program: one thread owns one market, the book lies in
// global memory, one launch is one step, and everything within a market is a serial loop.
//
// Needs: LEVELS, AGENTS, MAX_QTY, NOISE_SPREAD, THRESHOLD, PROBABILITY, MAKER_HALF_SPREAD,
// OPEN_PRICE, PAPER and TYPE_ROWS (1 if all markets have the same types) as macros.
// Memory: books are [level, market] and types [agent, row], so that neighbouring threads read
// neighbouring words; lots are 32 bits, prices levels, mids half ticks.
// Model and streams: docs/model.md, docs/streams.md. The price is searched from the lowest level up.

typedef unsigned char uint8;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

enum Type { NOISE, MOMENTUM, MAKER, FUNDAMENTAL };

struct Draw {
    bool buy;
    bool marketable;
    int32 qty;
    int32 offset;
};

__device__ int32 sign_of(int32 value) { return (value > 0) - (value < 0); }

__device__ int32 level_of(int32 half_ticks) {
    int32 tick = half_ticks >> 1;
    tick += tick & half_ticks & 1;
    return max(0, min(tick, LEVELS - 1));
}

// Philox2x32-7: the word of an even agent in the high half, of the next agent in the low half.
__device__ uint64 philox(uint64 key, uint32 block, uint32 step) {
    uint32 counter0 = step, counter1 = block ^ (uint32)(key >> 32), round_key = (uint32)key;
    for (int round = 0; round < 7; ++round) {
        uint64 product = (uint64)counter0 * 0xD256D193u;
        counter0 = (uint32)(product >> 32) ^ round_key ^ counter1;
        counter1 = (uint32)product;
        round_key += 0x9E3779B9u;
    }
    return (uint64)counter0 << 32 | counter1;
}

__device__ Draw draw_default(uint32 word, bool noise) {
    uint64 product = (uint64)word * (2u * MAX_QTY);
    int32 size = (int32)(product >> 32);
    uint32 left = (uint32)product;
    bool buy = size >= MAX_QTY;
    product = (uint64)left * (2u * NOISE_SPREAD + 1u);
    if (noise) left = (uint32)product;
    return {buy, left < THRESHOLD, size - (buy ? MAX_QTY : 0) + 1,
            (int32)(product >> 32) - NOISE_SPREAD};
}

__device__ uint64 splitmix64(uint64 value) {
    value += 0x9E3779B97F4A7C15ull;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

__device__ float paper_uniform(uint64 seed, uint32 gid, uint32 channel, uint32 step) {
    uint64 key = seed ^ 0x0123456789ABCDEFull * channel;
    key = splitmix64(key + 0x9E3779B97F4A7C15ull * gid);
    key = splitmix64(key + 0xD1B54A32D192ED03ull * step);
    return __ull2float_rn(key >> 11) * 0x1p-53f;
}

__device__ Draw draw_paper(uint64 seed, uint32 gid, uint32 step) {
    float qty = paper_uniform(seed, gid, 2, step), offset = paper_uniform(seed, gid, 3, step);
    return {paper_uniform(seed, gid, 0, step) < 0.5f,
            paper_uniform(seed, gid, 1, step) < PROBABILITY,
            1 + (int32)__fmul_rn(qty, (float)MAX_QTY),
            (int32)__fmul_rn(offset, 2.0f * NOISE_SPREAD + 1.0f) - NOISE_SPREAD};
}

// Keys are those of the stream's markets: of "default" its 64-bit keys, of "paper" the seeds.
extern "C" __global__ void run_step(int32* bid, int32* ask, int32* last, int32* prev_mid2,
                                    int64* volume, int64* trades, const uint8* types,
                                    const uint64* keys, const uint32* market_ids, uint32 markets,
                                    uint32 step) {
    uint32 market = blockIdx.x * blockDim.x + threadIdx.x;
    if (market >= markets) return;
    bid += market, ask += market;
    uint64 key = keys[market];

    int32 best_bid = LEVELS - 1, best_ask = 0;
    while (best_bid >= 0 && bid[best_bid * markets] == 0) --best_bid;
    while (best_ask < LEVELS && ask[best_ask * markets] == 0) ++best_ask;
    bool both = best_bid >= 0 && best_ask < LEVELS;
    int32 mid2 = both ? best_bid + best_ask : 2 * last[market];
    int32 trend = sign_of(mid2 - prev_mid2[market]), pull = sign_of(2 * OPEN_PRICE - mid2);
    prev_mid2[market] = mid2;

    uint64 words = 0;
    for (uint32 agent = 0; agent < AGENTS; ++agent) {
        int type = types[agent * TYPE_ROWS + (TYPE_ROWS > 1 ? market : 0)];
        Draw draw;
        if (PAPER) {
            draw = draw_paper(key, market_ids[market] * AGENTS + agent, step);
        } else {
            if (agent % 2 == 0) words = philox(key, agent / 2, step);
            draw = draw_default((uint32)(agent % 2 ? words : words >> 32), type == NOISE);
        }
        int32 side = draw.buy ? 1 : -1;
        if (type == MOMENTUM && trend != 0) side = trend;
        if (type == FUNDAMENTAL && pull != 0) side = pull;
        if (type == MAKER) side = (agent + step) % 2 ? -1 : 1;
        int32 away = type == NOISE ? draw.offset : type == MAKER ? -MAKER_HALF_SPREAD * side : side;
        int32 level = level_of(mid2 + 2 * away);
        if (draw.marketable && type != MAKER) level = side > 0 ? LEVELS - 1 : 0;
        int32* book = side > 0 ? bid : ask;
        book[level * markets] += draw.qty;
    }

    int32 bought = 0;
    for (int32 level = 0; level < LEVELS; ++level) bought += bid[level * markets];
    int32 demand = bought, supply = 0, traded = 0, price = 0;
    for (int32 level = 0; level < LEVELS; ++level) {
        supply += ask[level * markets];
        int32 executable = min(demand, supply);
        if (executable > traded) traded = executable, price = level;
        demand -= bid[level * markets];
    }

    int32 to_buy = traded, to_sell = traded;
    for (int32 level = LEVELS - 1; level >= 0 && to_buy > 0; --level) {
        int32 filled = min(to_buy, bid[level * markets]);
        bid[level * markets] -= filled, to_buy -= filled;
    }
    for (int32 level = 0; level < LEVELS && to_sell > 0; ++level) {
        int32 filled = min(to_sell, ask[level * markets]);
        ask[level * markets] -= filled, to_sell -= filled;
    }
    if (traded > 0) {
        last[market] = price;
        trades[market] += 1;
        volume[market] += traded;
    }
}
