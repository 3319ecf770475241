// As window.cu, but orders are counted by offset in registers (counters.cuh): no histogram, no atomics,
// no shared memory. Agents are taken by type: rounds of noise agents only, then all others.
//
// A market is owned by a warp, or by half of one (MARKETS_PER_WARP 2), which then holds 16 levels.
// Needs: agents ordered by type, noise_spread <= 3, maker_half_spread <= noise_spread, and per
// market fewer than 2^16 lots a step; MOST_QTY is the largest max_qty.

constexpr uint32 ROUND_AGENTS = 2 * GROUP;
constexpr uint32 ROUNDS = (AGENTS + ROUND_AGENTS - 1) / ROUND_AGENTS;
// After so many rounds a counter of 8 bits may be full.
constexpr uint32 ROUNDS_PER_SUM = 255 / (2 * MOST_QTY);
constexpr int UNROLLED = UNROLL;  // a pragma takes no macro

// What a step adds to the book.
struct Sent {
    uint32 slots;  // of lane s: lots of limit orders at offset s - noise_spread, buys in the high half
    int32 mid2;
    int32 noise_spread;
    int32 top, bottom;  // marketable orders
};

struct SlotsIncoming {
    Sent sent;  // slot s in lane s of the warp

    __device__ __forceinline__ void add(int32 level, int32& buy, int32& sell) const {
#pragma unroll 1
        for (int32 slot = 0; slot < SLOTS - 1; ++slot) {
            uint32 lots = __shfl_sync(ALL_LANES, sent.slots, slot);
            if (level_of(sent.mid2 + 2 * (slot - sent.noise_spread)) != level) continue;
            buy += lots >> 16, sell += (lots & 0xFFFF) - (lots >> 16);
        }
        if (level == LEVELS - 1) buy += sent.top;
        if (level == 0) sell += sent.bottom;
    }
};

// Draw for every agent and count. Noise agents of a whole round take the short way.
DEVICE uint32 count_orders(const Market& market, const PhiloxKeys& keys, uint32 step, uint32 lane,
                           uint32 all_noise, OtherCounters& others) {
    NoiseCounters noise = {};
    uint32 gathered = 0, pair = lane, unsummed = 0;
    auto end_round = [&] {
        if (ROUNDS <= ROUNDS_PER_SUM || ++unsummed < ROUNDS_PER_SUM) return;
        gathered += gather_slots(noise, lane);
        noise = {};
        unsummed = 0;
    };
#pragma unroll UNROLLED
    for (uint32 round = 0; round < all_noise; ++round, pair += GROUP) {
        uint2 words = philox(keys, pair, step);
        count_noise(spend(market, words.x, true), market.noise_spread, noise);
        count_noise(spend(market, words.y, true), market.noise_spread, noise);
        end_round();
    }
#pragma unroll 1
    for (uint32 round = all_noise; round < ROUNDS; ++round, pair += GROUP) {
        uint2 words = philox(keys, pair, step);
#pragma unroll
        for (uint32 odd = 0; odd < 2; ++odd) {
            uint32 agent = 2 * pair + odd;
            bool is_noise = agent < market.noise_end;
            Draw draw = spend(market, odd ? words.y : words.x, is_noise);
            if (agent >= AGENTS) draw.qty = 0;
            Draw other = draw;
            (is_noise ? other : draw).qty = 0;
            count_noise(draw, market.noise_spread, noise);
            count_other(other, agent < market.momentum_end, odd, others);
        }
        end_round();
    }
    return gathered + gather_slots(noise, lane);
}

// All orders of a step, as what they add to the book.
DEVICE Sent send_orders(const Market& market, const PhiloxKeys& keys, uint32 step, uint32 lane,
                        uint32 thread, uint32 all_noise, int32 mid2, int32 trend) {
    OtherCounters others = {};
    uint32 gathered = count_orders(market, keys, step, lane, all_noise, others);
    uint32 offsets = 2 * market.noise_spread + 1;
    uint32 marketable = gathered_slot(gathered, SLOTS - 1, thread);
    Sent sent = {gathered_slot(gathered, lane % SLOTS, thread), mid2, market.noise_spread,
                 (int32)(marketable >> 16), (int32)((marketable & 0xFFFF) - (marketable >> 16))};
    if (lane >= offsets) sent.slots = 0;

    uint32 momentum = sum_group(others.momentum), drawn = sum_group(others.momentum_buy);
    uint32 buy = trend > 0 ? momentum : trend < 0 ? 0 : drawn, sell = momentum - buy;
    if (lane == market.noise_spread + 1) sent.slots += (buy & 0xFFFF) * 0x10001;
    if (lane == market.noise_spread - 1) sent.slots += sell & 0xFFFF;
    sent.top += buy >> 16, sent.bottom += sell >> 16;

    uint32 makers = sum_group(others.maker);
    if (step % 2) makers = makers >> 16 | makers << 16;  // odd agents buy in odd steps
    int32 half_spread = market.maker_half_spread;
    if (lane == market.noise_spread - half_spread) sent.slots += (makers & 0xFFFF) * 0x10001;
    if (lane == market.noise_spread + half_spread) sent.slots += makers >> 16;
    return sent;
}

// Lots of limit orders at this lane's level, all of them low, buys high. If the mid is halfway,
// offsets that come to an odd level are rounded up to the even one above it.
DEVICE uint32 lots_here(const Sent& sent, int32 first, uint32 lane) {
    int32 slot = first + (int32)lane - (sent.mid2 >> 1) + sent.noise_spread;
    uint32 here = __shfl_sync(ALL_LANES, sent.slots, slot, GROUP);
    uint32 below = __shfl_sync(ALL_LANES, sent.slots, slot - 1, GROUP);
    uint32 halfway = (first + lane) % 2 ? 0 : here + below;
    return sent.mid2 & 1 ? halfway : here;
}

// The far path for one group, by the whole warp.
SELDOM Outcome clear_group_far(int32* book, Sent sent, uint32 group, uint32 thread) {
    SlotsIncoming incoming;
    uint32 leader = group * GROUP;
    incoming.sent = {__shfl_sync(ALL_LANES, sent.slots, leader + thread % GROUP),
                     __shfl_sync(ALL_LANES, sent.mid2, leader),
                     __shfl_sync(ALL_LANES, sent.noise_spread, leader),
                     __shfl_sync(ALL_LANES, sent.top, leader),
                     __shfl_sync(ALL_LANES, sent.bottom, leader)};
    return clear_far(book, incoming, thread);
}

extern "C" __global__ void __launch_bounds__(LANES * WARPS_PER_BLOCK, WARPS / WARPS_PER_BLOCK)
run(const Market* markets, int32* books, Score* scores, uint32 market_count, uint32 first_step,
    uint32 steps) {
    const uint32 thread = threadIdx.x % LANES, lane = thread % GROUP, group = thread / GROUP;
    const uint32 warp = blockIdx.x * WARPS_PER_BLOCK + threadIdx.x / LANES;
    const uint32 first_market = warp * MARKETS_PER_WARP;
    if (first_market >= market_count) return;
    // If the last warp has a market too few, its other half runs the last one along, for nothing.
    const bool real = first_market + group < market_count;
    const uint32 m = real ? first_market + group : market_count - 1;
    const Market market = markets[m];
    int32* book = books + (uint64)m * LEVELS;
    Score score = scores[m];
    const PhiloxKeys keys = philox_keys(market.key);
    const uint32 all_noise = __reduce_min_sync(ALL_LANES, market.noise_end / ROUND_AGENTS);

    Outcome outcome;
    for (uint32 g = 0; g < MARKETS_PER_WARP; ++g) {
        const int32* its = books + (uint64)__shfl_sync(ALL_LANES, m, g * GROUP) * LEVELS;
        int32 bid = find_bid_below(its, LEVELS, thread), ask = find_ask_from(its, 0, thread);
        if (group == g) outcome.best_bid = bid, outcome.best_ask = ask;
    }
    Held held;
    held.load_around(score.prev_mid2 / 2, book, lane);

    for (uint32 step = first_step; step < first_step + steps; ++step) {
        int32 mid2 = mid2_of(outcome.best_bid, outcome.best_ask, score.last);
        int32 trend = sign_of(mid2 - score.prev_mid2);
        score.prev_mid2 = mid2;
        Sent sent = send_orders(market, keys, step, lane, thread, all_noise, mid2, trend);

        // Lots beyond the lanes are only marketable ones, and no order is clamped to the grid.
        int32 nearest = mid2 >> 1, stop = held.first + GROUP;
        bool covered = nearest - market.noise_spread >= held.first &&
                       nearest + 1 + market.noise_spread < stop && held.first > 0 && stop < LEVELS &&
                       outcome.best_bid < stop && outcome.best_ask >= held.first;
        uint32 lots = lots_here(sent, held.first, lane);
        int32 buy = positive(held.resting) + (int32)(lots >> 16), left;
        int32 sell = positive(-held.resting) + (int32)((lots & 0xFFFF) - (lots >> 16));
        Outcome cleared;
        bool decided = clear_window(buy, sell, held.first, sent.top, sent.bottom, lane, thread,
                                    left, cleared);
        bool near = covered && decided;
        if (near) held.resting = left;
        bool whole = near && cleared.best_bid >= 0 && cleared.best_ask < LEVELS;

        uint32 far = __ballot_sync(ALL_LANES, real && !whole);
        for (uint32 g = 0; far && g < MARKETS_PER_WARP; ++g) {
            if (!(far >> (g * GROUP) & 1)) continue;
            int32* its = books + (uint64)(first_market + g) * LEVELS;
            if (__shfl_sync(ALL_LANES, near, g * GROUP)) {
                // Cleared, but one side has nothing left among the lanes.
                int32 first = __shfl_sync(ALL_LANES, held.first, g * GROUP);
                int32 bid = find_bid_below(its, first, thread);
                int32 ask = find_ask_from(its, first + GROUP, thread);
                if (group == g && cleared.best_bid < 0) cleared.best_bid = bid;
                if (group == g && cleared.best_ask == LEVELS) cleared.best_ask = ask;
                continue;
            }
            if (group == g) held.store(book, lane);
            __syncwarp();
            Outcome by_all = clear_group_far(its, sent, g, thread);
            if (group == g) {
                cleared = by_all;
                held.load_around((cleared.best_bid + cleared.best_ask) / 2, book, lane);
            }
        }
        outcome = cleared;
        keep_score(outcome, score);
    }
    if (real) held.store(book, lane);
    if (real && lane == 0) scores[m] = score;
}
