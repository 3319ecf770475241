// What the agents of one market send in a step. A warp, or a half of one, owns the market.

enum Type : uint32 { NOISE, MOMENTUM, MAKER, FUNDAMENTAL, NOBODY };

// Lane of `Counted::slots` that has the orders at the mid. Where makers quote beyond the counted
// slots, these are put in the middle.
constexpr int32 MID_LANE = MAKERS_APART ? GROUP / 2 - 1 : CENTER;

// What a step adds to the book: limit orders by slot, marketable orders at the edges.
struct Counted {
    // Lane MID_LANE + d: the lots of limit orders at offset d from the mid, all of them in the low
    // half, buys in the high half.
    uint32 slots;
    int32 mid2;   // half ticks
    Lots top;     // marketable buys, at LEVELS - 1
    Lots bottom;  // marketable sells, at 0
};

// What agents see, in half ticks from base; ret and pull are -1, 0 or 1.
struct Seen {
    int32 mid2;
    int32 ret;
    int32 pull;
};

DEVICE int32 round_half_even(int32 half_ticks) {
    int32 tick = half_ticks >> 1;
    return tick + (tick & half_ticks & 1);
}

DEVICE int32 clamp_to_grid(int32 level) { return max(0, min(level, LEVELS - 1)); }

// What the rules of a market need in every step.
struct Rules {
    uint32 two_max_qty;
    int32 minus_max_qty;
    uint32 threshold;
    uint32 offsets;      // of noise orders
    uint32 lowest_bits;  // where the counters of the lowest of these begin
    uint32 marketable;   // what stands for a marketable order where these are counted from 0
    int32 reach;  // of all limit orders from the mid, at least 1
    int32 maker_half_spread;
    // Agents are ordered by type; unused when types are given.
    uint32 noise_end, momentum_end, maker_end;
    uint64 marketable_below;  // of stream "paper"
};

DEVICE Rules rules_of(const Market& market) {
    return {market.two_max_qty,
            -(int32)market.max_qty,
            market.threshold,
            (uint32)(2 * market.noise_spread + 1),
            8 * (CENTER - (uint32)market.noise_spread),
            LAST_SLOT - (CENTER - (uint32)market.noise_spread),
            max(1, max(market.noise_spread + PAPER, market.maker_half_spread)),
            market.maker_half_spread,
            market.noise_end,
            market.momentum_end,
            market.maker_end,
            market.marketable_below};
}

// Lots of all types but noise in a lane. Those of directed agents: limit orders in the low half,
// marketable ones in the high half; all of them, and those that were drawn to buy.
struct OtherLots {
    uint32 momentum, momentum_buy, fundamental, fundamental_buy;
    uint32 even_makers, odd_makers;
    uint32 marketable;  // of stream "paper", noise included: all low, buys high
};

// An order's size and side: one more than the high word of word * 2q, less q if it buys, which the
// word's top bit says. `left` is what the draw leaves.
DEVICE uint32 draw_qty(uint32 word, const Rules& rules, uint32& buy, uint32& left) {
    uint64 product = multiply(word, rules.two_max_qty);
    buy = top_bit(word);
    left = low_word(product);
    return high_word(product) + (buy * rules.minus_max_qty + 1);
}

// Count one noise order. What the size leaves gives the slot; what is left of that says whether
// the order is marketable.
DEVICE void count_noise(uint32 qty, uint32 buy, uint32 left, const Rules& rules, Counters& into) {
    uint64 product = multiply(left, rules.offsets);
    uint32 offset = low_word(product) < rules.threshold ? rules.marketable : high_word(product);
    count_slot(8 * offset + rules.lowest_bits, qty, buy, into);
}

// What an agent is; all false behind the last one.
struct AgentIs {
    bool noise, momentum, maker, fundamental;
};

DEVICE AgentIs what_is(uint32 agent, const Rules& rules, const uint8* types) {
#if GIVEN_TYPES
    uint32 type = types[agent];
    return {type == NOISE, type == MOMENTUM, type == MAKER, type == FUNDAMENTAL};
#else
    bool here = AGENTS % (2 * GROUP) == 0 || agent < AGENTS;
    bool noise = agent < rules.noise_end, momentum = agent < rules.momentum_end;
    bool maker = !FUNDAMENTAL_AGENTS || agent < rules.maker_end;
    return {noise, momentum && !noise, here && maker && !momentum, here && !maker};
#endif
}

// The same where, unless types are given, nobody is a noise agent.
DEVICE AgentIs what_else(uint32 agent, const Rules& rules, const uint8* types) {
    AgentIs is = what_is(agent, rules, types);
    if (!GIVEN_TYPES) is.momentum = agent < rules.momentum_end;
    return is;
}

// Count one order of another type; `odd` is the agent's parity.
DEVICE void count_other(uint32 qty, uint32 buy, bool marketable, const AgentIs& is, bool odd,
                        OtherLots& into) {
    uint32 lots = marketable ? qty << 16 : qty;
    uint32 momentum = is.momentum ? lots : 0;
    into.momentum += momentum;
    into.momentum_buy += momentum * buy;
#if FUNDAMENTAL_AGENTS
    uint32 fundamental = is.fundamental ? lots : 0;
    into.fundamental += fundamental;
    into.fundamental_buy += fundamental * buy;
#endif
    uint32 maker = is.maker ? qty : 0, odd_maker = odd ? maker : 0;
    into.odd_makers += odd_maker;
    into.even_makers += maker - odd_maker;
}

// Count what directed agents of one type sent; they all go one way unless it is 0.
DEVICE void count_directed(uint32 lots, uint32 drawn_to_buy, int32 direction, Counters& into,
                           OtherLots& others) {
    uint32 buy = direction > 0 ? lots : direction < 0 ? 0 : drawn_to_buy;
    uint32 sell = lots - buy;  // no borrow between the halves: each of them holds a part of it
    into.all_low += sell << 8 * (CENTER - 1);
#if PAPER
    into.all_high += buy & 0xFFFF;
    into.buy_high += buy & 0xFFFF;
    others.marketable += (lots >> 16) + (buy & 0xFFFF0000);
#else
    // Limit orders to the byte of slot CENTER + 1, marketable ones to that of the last.
    into.all_high += __byte_perm(buy, lots, 0x6770);
    into.buy_high += __byte_perm(buy, 0, 0x2440);
#endif
}

// Count what makers sent; `bids` and `asks` are at most 255.
DEVICE void count_makers(uint32 bids, uint32 asks, const Rules& rules, Counters& into) {
    uint32 bid = shift_left_clamped(bids, 8 * (CENTER - rules.maker_half_spread));
    into.all_low += bid;
    into.buy_low += bid;
    count_slot(8 * (CENTER + rules.maker_half_spread), asks, 0, into);
}

// What all groups of a warp agree on. Rounds of ROUND_AGENTS agents: those before `all_noise` have
// noise agents only, those from `some_noise` on have none, and `all_makers` ones from
// `first_makers` on have makers only.
struct Agreed {
    uint32 all_noise, some_noise, first_makers, all_makers;
    int32 most_reach;
};

constexpr uint32 ROUND_AGENTS = 2 * GROUP;
constexpr uint32 ROUNDS = (AGENTS + ROUND_AGENTS - 1) / ROUND_AGENTS;

DEVICE Agreed agree(const Rules& rules) {
    int32 most_reach = __reduce_max_sync(ALL_LANES, rules.reach);
    if (GIVEN_TYPES) return {0, ROUNDS, ROUNDS, 0, most_reach};
    uint32 all_noise = rules.noise_end / ROUND_AGENTS;
    uint32 some_noise = (rules.noise_end + ROUND_AGENTS - 1) / ROUND_AGENTS;
    uint32 first = (rules.momentum_end + ROUND_AGENTS - 1) / ROUND_AGENTS;
    uint32 last = rules.maker_end / ROUND_AGENTS;
    some_noise = __reduce_max_sync(ALL_LANES, some_noise);
    first = __reduce_max_sync(ALL_LANES, max(first, some_noise));
    last = __reduce_min_sync(ALL_LANES, last);
    return {__reduce_min_sync(ALL_LANES, all_noise), some_noise, first,
            last > first ? last - first : 0, most_reach};
}

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

// What the agents of some rounds draw, in a lane.
struct Drawn {
    Counters noise;
    OtherLots others;
};

constexpr uint32 DRAWN_WORDS = sizeof(Drawn) / sizeof(uint32);

DEVICE Drawn draw_rounds(const Market& market, const Rules& rules, const Agreed& agreed,
                         const PhiloxKeys& keys, const uint8* types, uint32 step, uint32 start,
                         uint32 stop, uint32 lane, bool sides_drawn) {
    Drawn drawn = {};
#if PAPER
    draw_paper_orders(market, rules, agreed, types, step, start, stop, lane, sides_drawn,
                      drawn.noise, drawn.others);
#else
    PhiloxStep first = philox_step(keys, step);
    draw_default(rules, agreed, keys, first, types, start, stop, lane, drawn.noise, drawn.others);
#endif
    return drawn;
}

// Add up what a group's lanes drew; `marketable` and `makers` are what is not in the result.
DEVICE uint32 sum_drawn(Drawn drawn, const Rules& rules, uint32 step, const Seen& seen,
                        uint32& marketable, uint32& makers) {
    Counters& counters = drawn.noise;
    OtherLots& others = drawn.others;
    count_directed(others.momentum, others.momentum_buy, seen.ret, counters, others);
#if FUNDAMENTAL_AGENTS
    count_directed(others.fundamental, others.fundamental_buy, seen.pull, counters, others);
#endif
    bool odd_buy = step & 1;
    uint32 bids = odd_buy ? others.odd_makers : others.even_makers;
    uint32 asks = odd_buy ? others.even_makers : others.odd_makers;
#if MAKERS_APART
    makers += bids + (asks << 16);
#else
    count_makers(bids, asks, rules, counters);
#endif
    marketable += others.marketable;
    return gather_slots(counters);
}

#if DRAWS_AHEAD
// A second warp draws a step ahead of the first, which sums and clears: what it drew for steps of
// either parity.
__shared__ uint32 drawn_ahead[2][DRAWN_WORDS][LANES];

DEVICE void draw_ahead(const Market& market, const Rules& rules, const Agreed& agreed,
                       const PhiloxKeys& keys, const uint8* types, uint32 first_step, uint32 steps,
                       uint32 lane) {
    for (uint32 step = first_step; step < first_step + steps; ++step) {
        Drawn drawn = draw_rounds(market, rules, agreed, keys, types, step, 0, ROUNDS, lane, true);
        const uint32* words = (const uint32*)&drawn;
#pragma unroll
        for (uint32 word = 0; word < DRAWN_WORDS; ++word) {
            drawn_ahead[step & 1][word][lane] = words[word];
        }
        // What was drawn is there for the other warp, which has read what the next step replaces.
        __syncthreads();
    }
}

DEVICE Drawn take_drawn(uint32 step, uint32 lane) {
    Drawn drawn;
    uint32* words = (uint32*)&drawn;
    __syncthreads();
#pragma unroll
    for (uint32 word = 0; word < DRAWN_WORDS; ++word) {
        words[word] = drawn_ahead[step & 1][word][lane];
    }
    return drawn;
}
#endif

// Draw for every agent, and count what they send.
DEVICE Counted send_orders(const Market& market, const Rules& rules, const Agreed& agreed,
                           const PhiloxKeys& keys, const uint8* types, uint32 step, uint32 lane,
                           const Seen& seen) {
    uint32 counted = 0, marketable = 0, makers = 0;
#if DRAWS_AHEAD
    counted = sum_drawn(take_drawn(step, lane), rules, step, seen, marketable, makers);
#else
    bool sides_drawn =
        __any_sync(ALL_LANES, seen.ret == 0 || (FUNDAMENTAL_AGENTS && seen.pull == 0));
#pragma unroll 1
    for (uint32 start = 0; start < ROUNDS; start += ROUNDS_PER_SUM) {
        uint32 stop = min(start + ROUNDS_PER_SUM, ROUNDS);
        Drawn drawn = draw_rounds(market, rules, agreed, keys, types, step, start, stop, lane,
                                  sides_drawn);
        counted += sum_drawn(drawn, rules, step, seen, marketable, makers);
    }
#endif

    Counted sent;
    sent.mid2 = seen.mid2;
    marketable = PAPER ? sum_group(marketable) : gathered_slot(counted, LAST_SLOT);
    sent.top = marketable >> 16;
    sent.bottom = (marketable & 0xFFFF) - (marketable >> 16);
    uint32 slot = lane - (MID_LANE - CENTER);
    sent.slots = gathered_slot(counted, slot);
    if (slot >= OFFSET_SLOTS) sent.slots = 0;
#if MAKERS_APART
    makers = sum_group(makers);
    int32 offset = (int32)lane - MID_LANE;
    if (offset == -rules.maker_half_spread) sent.slots += (makers & 0xFFFF) * 0x10001;
    if (offset == rules.maker_half_spread) sent.slots += makers >> 16;
#endif
    return sent;
}

DEVICE uint32 slot_lots(const Counted& sent, int32 slot) {
    if (LEVELS_A_LANE > 1) slot = min((uint32)slot, (uint32)(GROUP - 1));
    return from_group(sent.slots, slot);
}

// What limit orders add at this lane's levels, from `level` on: all lots low, buys high. A level is
// the tick of the mid, rounded down, plus the offset; if the mid is halfway, an odd one of these is
// rounded up to the even level above it.
//
// All levels that orders can reach must lie on the grid and among the lanes'. Then a lane that looks
// past either end of the slots sees one that holds none: around the group if that has as many lanes
// as levels, else the last.
DEVICE void limit_lots_inside(const Counted& sent, int32 level, uint32* lots) {
    int32 slot = level - (sent.mid2 >> 1) + MID_LANE;
    bool halfway = sent.mid2 & 1;
    uint32 below = slot_lots(sent, slot - 1);
#pragma unroll
    for (int32 i = 0; i < LEVELS_A_LANE; ++i) {
        uint32 here = slot_lots(sent, slot + i);
        uint32 rounded = (level + i) & 1 ? 0 : here + below;
        lots[i] = halfway ? rounded : here;
        below = here;
    }
}

// The same for any level, clamped to the grid, for a market that has `width` lanes.
template <int WIDTH>
DEVICE uint32 limit_lots(const Counted& sent, int32 most_reach, int32 level) {
    uint32 here = 0;
#pragma unroll 1
    for (int32 offset = -most_reach; offset <= most_reach; ++offset) {
        uint32 lots = __shfl_sync(ALL_LANES, sent.slots, MID_LANE + offset, WIDTH);
        if (clamp_to_grid(round_half_even(sent.mid2 + 2 * offset)) == level) here += lots;
    }
    return here;
}
