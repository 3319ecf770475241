// What the lanes of a market draw for its agents, by the streams of docs/streams.md, and count.

// Stream "default", the rounds `start` .. `stop`: one 64-bit hash serves agents 2k and 2k + 1; a
// lane takes every pair that is GROUP further.
DEVICE void draw_default(const Rules& rules, const Agreed& agreed, const PhiloxKeys& keys,
                         const PhiloxStep& first, const uint8* types, uint32 start, uint32 stop,
                         uint32 lane, Counters& noise, OtherLots& others) {
    uint32 buy, left, qty;
    uint32 round = start;
#pragma unroll UNROLLED_ROUNDS
    for (; round < min(agreed.all_noise, stop); ++round) {
        uint2 words = philox_block(keys, first, round * GROUP + lane);
        qty = draw_qty(words.x, rules, buy, left);
        count_noise(qty, buy, left, rules, noise);
        qty = draw_qty(words.y, rules, buy, left);
        count_noise(qty, buy, left, rules, noise);
    }
#pragma unroll 1
    for (; round < min(agreed.some_noise, stop); ++round) {
        uint32 pair = round * GROUP + lane;
        uint2 words = philox_block(keys, first, pair);
        AgentIs is = what_is(2 * pair, rules, types);
        qty = draw_qty(words.x, rules, buy, left);
        count_noise(is.noise ? qty : 0, buy, left, rules, noise);
        count_other(qty, buy, left < rules.threshold, is, false, others);
        is = what_is(2 * pair + 1, rules, types);
        qty = draw_qty(words.y, rules, buy, left);
        count_noise(is.noise ? qty : 0, buy, left, rules, noise);
        count_other(qty, buy, left < rules.threshold, is, true, others);
    }
#pragma unroll 1
    for (; round < stop; ++round) {
        uint32 pair = round * GROUP + lane;
        uint2 words = philox_block(keys, first, pair);
        if (round - agreed.first_makers < agreed.all_makers) {
            others.even_makers += draw_qty(words.x, rules, buy, left);
            others.odd_makers += draw_qty(words.y, rules, buy, left);
            continue;
        }
        AgentIs is = what_else(2 * pair, rules, types);
        qty = draw_qty(words.x, rules, buy, left);
        count_other(qty, buy, left < rules.threshold, is, false, others);
        is = what_else(2 * pair + 1, rules, types);
        qty = draw_qty(words.y, rules, buy, left);
        count_other(qty, buy, left < rules.threshold, is, true, others);
    }
}

#if PAPER
// Keys of the paper's hash, [group][channel][agent]: kept in shared memory while they fit.
constexpr bool KEYS_KEPT = MARKETS_PER_WARP * 4 * AGENTS * 8 <= 16 * 1024;
__shared__ uint64 kept_keys[KEYS_KEPT ? MARKETS_PER_WARP * 4 * AGENTS : 1];

DEVICE uint32 first_key() { return threadIdx.x % LANES / GROUP * 4 * AGENTS; }

DEVICE void keep_keys(const Market& market, uint32 lane) {
    if (!KEYS_KEPT) return;
    for (uint32 channel = 0; channel < 4; ++channel) {
        for (uint32 agent = lane; agent < AGENTS; agent += GROUP) {
            kept_keys[first_key() + channel * AGENTS + agent] = paper_key(market, agent, channel);
        }
    }
    __syncwarp();
}

// What an agent draws, its offset counted from the lowest.
struct PaperDraw {
    uint32 qty, buy, marketable, offset;
};

// The same where the upper words of the hashes do not decide.
SELDOM PaperDraw draw_paper_slowly(const Market& market, uint32 agent, uint32 step) {
    Draw drawn = draw_paper(market, agent, step);
    return {drawn.qty, drawn.buy, drawn.marketable, (uint32)(drawn.offset + market.noise_spread)};
}

// Draw for one agent of each lane, but for the side, marketable or the offset if no lane needs
// them. Called by all lanes.
DEVICE PaperDraw draw_paper_quickly(const Market& market, const Rules& rules, uint32 agent,
                                    uint32 step, uint64 by_step, bool side, bool marketable,
                                    bool offset) {
    bool unsure = false;
    const uint64* keys = kept_keys + first_key() + agent;
    auto draw = [&](uint32 channel) {
        uint64 key = KEYS_KEPT ? keys[channel * AGENTS] : paper_key(market, agent, channel);
        return mix64_high(key + by_step);
    };
    PaperDraw drawn = {};
    drawn.qty = 1 + paper_below_by_high(draw(QTY), rules.two_max_qty / 2, unsure);
    if (marketable) {
        uint32 high = draw(MARKETABLE), limit = high_word(rules.marketable_below);
        drawn.marketable = high < limit;
        unsure |= high == limit;
    }
    if (side) drawn.buy = paper_buys(draw(SIDE));
    if (offset) drawn.offset = paper_below_by_high(draw(OFFSET), rules.offsets, unsure);
    if (__any_sync(ALL_LANES, unsure)) drawn = draw_paper_slowly(market, agent, step);
    return drawn;
}

DEVICE void count_paper_noise(const PaperDraw& drawn, uint32 qty, const Rules& rules,
                              Counters& noise, OtherLots& others) {
    uint32 marketable = drawn.marketable ? qty : 0;
    count_slot(8 * drawn.offset + rules.lowest_bits, qty - marketable, drawn.buy, noise);
    others.marketable += marketable;
    others.marketable += (marketable << 16) * drawn.buy;
}

// Stream "paper", the rounds `start` .. `stop`: a lane takes two agents that are GROUP apart. No
// agent draws what its rule does not need.
DEVICE void draw_paper_orders(const Market& market, const Rules& rules, const Agreed& agreed,
                              const uint8* types, uint32 step, uint32 start, uint32 stop,
                              uint32 lane, bool sides_drawn, Counters& noise, OtherLots& others) {
    const uint64 by_step = hidden(paper_step(step));
    const uint32 all_noise = min(agreed.all_noise, stop) * ROUND_AGENTS;
    const uint32 end = min(stop * ROUND_AGENTS, (uint32)AGENTS);
    uint32 from = start * ROUND_AGENTS;
#pragma unroll UNROLLED_ROUNDS
    for (; from < all_noise; from += GROUP) {
        PaperDraw drawn = draw_paper_quickly(market, rules, from + lane, step, by_step, true,
                                             true, true);
        count_paper_noise(drawn, drawn.qty, rules, noise, others);
    }
#pragma unroll 1
    for (; from < end; from += GROUP) {
        uint32 agent = min(from + lane, AGENTS - 1);
        bool some_noise = from < agreed.some_noise * ROUND_AGENTS;
        bool directed = from / ROUND_AGENTS - agreed.first_makers >= agreed.all_makers;
        PaperDraw drawn = draw_paper_quickly(market, rules, agent, step, by_step,
                                             directed && (some_noise || sides_drawn), directed,
                                             some_noise);
        AgentIs is = what_is(agent, rules, types);
        uint32 qty = from + lane < AGENTS ? drawn.qty : 0;
        if (some_noise) count_paper_noise(drawn, is.noise ? qty : 0, rules, noise, others);
        count_other(qty, drawn.buy, drawn.marketable, is, agent & 1, others);
    }
}
#endif
