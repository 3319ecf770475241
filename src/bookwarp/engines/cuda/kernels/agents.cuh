// What the agents of one market send, order by order. A warp, or a part of one, owns the market.

enum Type : uint32 { NOISE, MOMENTUM, MAKER, FUNDAMENTAL, NOBODY };

// Lane of `Counted::slots` that has the orders at the mid. Where makers quote beyond the counted
// slots, these are put in the middle.
constexpr int32 MID_LANE = MAKERS_APART ? GROUP / 2 - 1 : CENTER;

// What an execution agent has in an auction: lots at the edge of the grid, to buy (side 1) or to sell
// (-1). They are filled last of their level, and what is not filled of them is cancelled.
struct Child {
    uint32 lots;
    int32 side;

    // Cancel what is left of it at a level of the cleared book; returns how much.
    DEVICE_MEMBER uint32 cancel(int32 level, Lots& resting) const {
        if (level != (side > 0 ? LEVELS - 1 : 0)) return 0;
        Lots left = side > 0 ? resting : -resting;
        Lots cancelled = left > 0 ? min((Lots)lots, left) : 0;
        resting -= side > 0 ? cancelled : -cancelled;
        return (uint32)cancelled;
    }
};

// What an auction adds to the book: limit orders by slot, marketable orders at the edges.
struct Counted {
    Sides slots;  // lane MID_LANE + d: limit orders at offset d from the mid
    int32 mid2;   // half ticks
    Lots top;     // marketable buys, at LEVELS - 1
    Lots bottom;  // marketable sells, at 0
#if EXECUTES
    Child child;  // part of these
#endif
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
