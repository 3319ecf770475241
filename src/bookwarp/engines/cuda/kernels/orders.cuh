// The orders of a step: what the lanes drew, added up, and where it goes in the book.

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
    uint32 slots = gathered_slot(counted, slot);
    if (slot >= OFFSET_SLOTS) slots = 0;
#if MAKERS_APART
    makers = sum_group(makers);
    int32 offset = (int32)lane - MID_LANE;
    if (offset == -rules.maker_half_spread) slots += (makers & 0xFFFF) * 0x10001;
    if (offset == rules.maker_half_spread) slots += makers >> 16;
#endif
    sent.slots = unpack(slots);
    return sent;
}

DEVICE Sides slot_lots(const Counted& sent, int32 slot) {
    if (LEVELS_A_LANE > 1) slot = min((uint32)slot, (uint32)(GROUP - 1));
    return from_lane_of(GROUP, sent.slots, slot);
}

// What limit orders add at this lane's levels, from `level` on. A level is the tick of the mid,
// rounded down, plus the offset; if the mid is halfway, an odd one of these is rounded up to the even
// level above it.
//
// All levels that orders can reach must lie on the grid and among the lanes'. Then a lane that looks
// past either end of the slots sees one that holds none: around the group if that has as many lanes
// as levels, else the last.
DEVICE void limit_lots_inside(const Counted& sent, int32 level, Sides* lots) {
    int32 slot = level - (sent.mid2 >> 1) + MID_LANE;
    bool halfway = sent.mid2 & 1;
    Sides below = slot_lots(sent, slot - 1);
#pragma unroll
    for (int32 i = 0; i < LEVELS_A_LANE; ++i) {
        Sides here = slot_lots(sent, slot + i);
        Sides rounded = (level + i) & 1 ? Sides{} : here + below;
        lots[i] = halfway ? rounded : here;
        below = here;
    }
}

// The same for any level, clamped to the grid, for a market that has `width` lanes.
template <int WIDTH>
DEVICE Sides limit_lots(const Counted& sent, int32 most_reach, int32 level) {
    Sides here = {};
#pragma unroll 1
    for (int32 offset = -most_reach; offset <= most_reach; ++offset) {
        Sides lots = from_lane_of(WIDTH, sent.slots, MID_LANE + offset);
        if (clamp_to_grid(round_half_even(sent.mid2 + 2 * offset)) == level) here = here + lots;
    }
    return here;
}
