// Run markets whose noise orders fall into at most seven offsets, by counting.
//
// A warp owns one market, or each half or quarter of it one, for all steps of a launch; no block
// barrier, no shared memory. The book lies in global memory, but the levels around the mid are in
// registers, one or two a lane, and stay there until the price leaves them: a step touches memory
// only when that happens, when an auction reaches past them, and to record.
// Registers: the window, rules and scalars of the market, four packed counters. A step: see the
// mid, draw and count, add the counters of all lanes, two scans, clear.
// Where markets are few, each has a second warp, which draws for the next step while the first clears
// this one: the only barrier.
// Else a block is one warp, so that the compiler knows what is the same in all lanes of it and guards
// no shuffle against a warp that has split. Groups go through a step together; what only one of
// them needs and takes a whole warp (`far` below) is done for one after the other.

DEVICE void add_marketable(const Counted& sent, int32 level, Lots& buy, Lots& sell) {
    if (level == LEVELS - 1) buy += sent.top;
    if (level == 0) sell += sent.bottom;
}

// What comes to a market, for functions of a whole warp: slot s is in lane s of 32.
struct CountedIncoming {
    Counted sent;
    int32 reach;
#if WAITS
    WaitingRows earlier;  // what waits since an earlier launch; null if nothing does
#endif

    DEVICE_MEMBER Lots at_top() const { return sent.top; }
    DEVICE_MEMBER Lots at_bottom() const { return sent.bottom; }
#if EXECUTES
    DEVICE_MEMBER Child child() const { return sent.child; }
#endif

    // Resting plus incoming lots of a level of the book, none above `high`.
    DEVICE_MEMBER void load(const Lots* book, int32 level, int32 high, Lots& buy, Lots& sell) const {
        Lots resting = level <= high ? book[level] : 0;
        buy = positive(resting), sell = positive(-resting);
        add_lots(limit_lots<LANES>(sent, reach, level), buy, sell);
        add_marketable(sent, level, buy, sell);
#if WAITS
        if (earlier.buy && level <= high) buy += earlier.buy[level], sell += earlier.sell[level];
#endif
        if (level > high) buy = sell = 0;
    }
};

// The levels that a group's lanes hold.
struct Held {
    int32 first;                  // the lowest of them, the first of lane 0
    Lots resting[LEVELS_A_LANE];  // signed lots of this lane's levels; 0 beyond the grid
    // Mids, rounded down, whose orders all lie among the lanes, once clamped to the grid.
    int32 lowest_covered;
    uint32 count_covered;
    bool has_edge;  // level 0 or LEVELS - 1 is among the lanes
    // Known until the lanes hold other levels: no order can rest out there without them.
    bool no_bid_below, no_ask_above;

    DEVICE_MEMBER int32 level_of(uint32 lane) const { return first + (int32)lane * LEVELS_A_LANE; }

    DEVICE_MEMBER void load_around(int32 level, const Lots* book, uint32 lane, int32 reach) {
        constexpr int32 highest = LEVELS > WINDOW ? LEVELS - WINDOW : 0;
        first = max(0, min(level - WINDOW / 2, highest));
#pragma unroll
        for (int32 i = 0; i < LEVELS_A_LANE; ++i) {
            int32 here = level_of(lane) + i;
            resting[i] = here < LEVELS ? book[here] : 0;
        }
        bool bottom = first == 0, top = first + WINDOW >= LEVELS;
        lowest_covered = bottom ? -LEVELS : first + reach;
        int32 highest_covered = top ? 2 * LEVELS : first + WINDOW - 2 - reach;
        count_covered = max(0, highest_covered - lowest_covered + 1);
        has_edge = bottom || top;
        no_bid_below = bottom;
        no_ask_above = top;
    }

    // Whether all that may trade is among the lanes, or beyond them in the order that
    // `clear_window` wants: limit orders inside, no bid above, no ask below.
    DEVICE_MEMBER bool covers(int32 nearest, const Live& live) const {
        return (uint32)(nearest - lowest_covered) < count_covered &&
               live.best_bid < first + WINDOW && live.best_ask >= first;
    }

    // Whether an order could be clamped to the grid.
    DEVICE_MEMBER bool clamps(int32 nearest, int32 reach) const {
        return has_edge && (nearest - reach < 0 || nearest + reach + 1 >= LEVELS);
    }

#if RECORDING && !WIDE_LOTS
    // Whether the levels from each best price on, as far as `reach` ticks, are among the lanes.
    DEVICE_MEMBER bool covers_depths(const Live& live, int32 reach) const {
        bool bids = live.best_bid < 0 || max(live.best_bid - reach, 0) >= first;
        bool asks = live.best_ask == LEVELS ||
                    min(live.best_ask + reach, LEVELS - 1) < first + WINDOW;
        return bids && asks && live.best_bid < first + WINDOW && live.best_ask >= first;
    }

    // Lots of a side (sign 1 buys, -1 sells) at the group's levels `low` .. `high`.
    DEVICE_MEMBER uint32 sum_levels(int32 low, int32 high, int32 sign, uint32 lane) const {
        uint32 lots = 0;
#pragma unroll
        for (int32 i = 0; i < LEVELS_A_LANE; ++i) {
            int32 level = level_of(lane) + i;
            if (level >= low && level <= high) lots += positive(sign * resting[i]);
        }
        return sum_group(lots);
    }
#endif

    DEVICE_MEMBER void store(Lots* book, uint32 lane) const {
#pragma unroll
        for (int32 i = 0; i < LEVELS_A_LANE; ++i) {
            int32 level = level_of(lane) + i;
            if (level < LEVELS) book[level] = resting[i];
        }
    }
};

// Clear the auctions of all groups among their lanes, where these are `enough`; where not, nothing
// changes. Returns where it was. No quote in `outcome` means that none is left among the lanes.
DEVICE bool clear_held(Held& held, const Counted& sent, const Rules& rules, const Agreed& agreed,
                       bool enough, uint32 lane, Outcome& outcome) {
    int32 level = held.level_of(lane);
    Sides lots[LEVELS_A_LANE];
    if (__any_sync(ALL_LANES, held.clamps(sent.mid2 >> 1, rules.reach))) {
#pragma unroll
        for (int32 i = 0; i < LEVELS_A_LANE; ++i) {
            lots[i] = limit_lots<GROUP>(sent, agreed.most_reach, level + i);
        }
    } else {
        limit_lots_inside(sent, level, lots);
    }
    Lots buy[LEVELS_A_LANE], sell[LEVELS_A_LANE];
    Lots above = sent.top, below = sent.bottom;
#pragma unroll
    for (int32 i = 0; i < LEVELS_A_LANE; ++i) {
        buy[i] = positive(held.resting[i]), sell[i] = positive(-held.resting[i]);
        add_lots(lots[i], buy[i], sell[i]);
    }
    if (held.has_edge) {
#pragma unroll
        for (int32 i = 0; i < LEVELS_A_LANE; ++i) add_marketable(sent, level + i, buy[i], sell[i]);
        if (held.first + WINDOW >= LEVELS) above = 0;
        if (held.first == 0) below = 0;
    }
    enough &= clear_window(buy, sell, held.first, above, below, lane, outcome);
#if EXECUTES
    uint32 unfilled = 0;  // none beyond the lanes: all that waits there is filled if these are enough
#endif
    bool bids[LEVELS_A_LANE], asks[LEVELS_A_LANE];
#pragma unroll
    for (int32 i = 0; i < LEVELS_A_LANE; ++i) {
        Lots left = buy[i] - sell[i];
#if EXECUTES
        unfilled += sent.child.cancel(level + i, left);
#endif
        if (enough) held.resting[i] = left;
        bids[i] = left > 0, asks[i] = left < 0;
    }
#if EXECUTES
    outcome.unfilled = __any_sync(ALL_LANES, unfilled > 0) ? sum_group(unfilled) : 0;
#endif
    int32 bid = highest_level(bids), ask = lowest_level(asks);
    outcome.best_bid = bid >= 0 ? held.first + bid : -1;
    outcome.best_ask = ask >= 0 ? held.first + ask : LEVELS;
    return enough;
}

// The value that a group has in all its lanes, in all lanes of the warp.
template <class Value>
DEVICE Value of_group(Value value, uint32 group) {
    return __shfl_sync(ALL_LANES, value, group * GROUP);
}

// What comes to one group's market, in all lanes of the warp.
DEVICE CountedIncoming incoming_of_group(const Market& market, const Counted& sent, uint32 group) {
    uint32 thread = threadIdx.x;
    CountedIncoming incoming = {};
    incoming.reach = rules_of(market).reach;
    incoming.sent.mid2 = of_group(sent.mid2, group);
    incoming.sent.top = of_group((Marketable)sent.top, group);
    incoming.sent.bottom = of_group((Marketable)sent.bottom, group);
#if EXECUTES
    incoming.sent.child = {of_group(sent.child.lots, group), of_group(sent.child.side, group)};
#endif
    incoming.sent.slots = from_lane_of(LANES, sent.slots, group * GROUP + thread % GROUP);
    if (thread >= GROUP) incoming.sent.slots = {};
    return incoming;
}

// Clear the auction of one group's market by the whole warp, the book in memory; all of it if there
// are lots in `earlier`, which are gone then.
SELDOM Outcome clear_far(Lots* book, const Market& market, Counted sent, int32 best_bid,
                         int32 best_ask,
#if WAITS
                         WaitingRows earlier,
#endif
                         uint32 group) {
    uint32 thread = threadIdx.x;
    CountedIncoming incoming = incoming_of_group(market, sent, group);
    int32 reach = incoming.reach, nearest = incoming.sent.mid2 >> 1;
    best_bid = of_group(best_bid, group), best_ask = of_group(best_ask, group);
    int32 low = min(max(nearest - reach, 0), min(LEVELS - 1, best_ask));
    int32 high = max(min(nearest + reach + 1, LEVELS - 1), max(0, best_bid));
#if WAITS
    incoming.earlier = earlier;
    if (earlier.buy) low = 0, high = LEVELS - 1;
    Outcome outcome = clear_book(book, incoming, low, high, thread);
    for (int32 level = thread; earlier.buy && level < LEVELS; level += LANES) {
        earlier.buy[level] = earlier.sell[level] = 0;
    }
    __syncwarp();
    return outcome;
#else
    return clear_book(book, incoming, low, high, thread);
#endif
}

#if WAITS
// Add what waits for one group's market to its rows in memory. Called by a whole warp.
SELDOM void store_waiting(WaitingRows rows, const Market& market, Counted sent, uint32 group) {
    CountedIncoming incoming = incoming_of_group(market, sent, group);
    int32 nearest = incoming.sent.mid2 >> 1;
    int32 high = min(nearest + incoming.reach + 1, LEVELS - 1);
    for (int32 first = max(nearest - incoming.reach, 0); first <= high; first += LANES) {
        int32 level = first + (int32)threadIdx.x;
        Lots buy = 0, sell = 0;
        add_lots(limit_lots<LANES>(incoming.sent, incoming.reach, level), buy, sell);
        if (level <= high) rows.buy[level] += buy, rows.sell[level] += sell;
    }
    __syncwarp();  // the edges may be among these levels
    if (threadIdx.x == 0) rows.buy[LEVELS - 1] += incoming.sent.top;
    if (threadIdx.x == 0) rows.sell[0] += incoming.sent.bottom;
    __syncwarp();
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
run_counted(const Market* markets, Lots* books, int64* all_scalars, const uint8* all_types,
            const Rows* all_rows, void* scratch, uint32 market_count, uint32 first_step,
            uint32 steps, const Extras* extras) {
    const uint32 thread = threadIdx.x % LANES, lane = thread % GROUP, group = thread / GROUP;
    const uint32 first_market = blockIdx.x * MARKETS_PER_WARP;
    // The last warp may have a market too few: its other half then runs the last one along, and
    // keeps nothing of it.
    const bool real = first_market + group < market_count;
    const uint32 m = real ? first_market + group : market_count - 1;
    const Market& market = markets[m];
    const Rules rules = rules_of(market);
    const Agreed agreed = agree(rules);
    const PhiloxKeys keys = philox_keys(market.key);
    const uint8* types = all_types + (GIVEN_TYPES ? (uint64)m * TYPES_PITCH : 0);
#if PAPER
    if (!DRAWS_AHEAD || threadIdx.x >= LANES) keep_keys(market, lane);
#endif
#if DRAWS_AHEAD
    if (threadIdx.x >= LANES) {
        draw_ahead(market, rules, agreed, keys, types, first_step, steps, lane);
        return;
    }
#endif
    const Scalars scalars = scalars_of(all_scalars, market_count, m);
    Lots* book = books + (uint64)m * LEVELS;
    Live live = take_up(scalars, market);
#if RECORDING
    const Rows rows = *all_rows;
    const bool deep = real && records_book(rows, market);
    uint64 at = m;
    uint32 row = 0;
#endif
#if WAITS
    Waiting waiting = take_up_waiting(market, waiting_rows(*extras, m), first_step, lane);
#endif
#if EXECUTES
    const Parent& parent = extras->parents[m];
    Execution execution = take_up_execution(scalars);
#endif
    Held held;
    held.load_around((int32)(live.prev_mid2 >> 1), book, lane, rules.reach);

    for (uint32 step = first_step; step < first_step + steps; ++step) {
        Tick mid2 = observed_mid2(live);
#if FOLLOWING
        uint32 moving = __ballot_sync(ALL_LANES, real && window_shift(mid2) != 0);
        for (uint32 g = 0; moving && g < MARKETS_PER_WARP; ++g) {
            if (!(moving >> (g * GROUP) & 1)) continue;
            if (group == g) held.store(book, lane);
            __syncwarp();
            Tick shift = __shfl_sync(ALL_LANES, window_shift(mid2), g * GROUP);
            uint32 moved = first_market + g;
            Scalars its = scalars_of(all_scalars, market_count, moved);
            int2 quotes = move_window(books + (uint64)moved * LEVELS, shift, its, thread);
            if (group == g) {
                follow_window(shift, quotes, live);
                mid2 -= 2 * shift;
                held.load_around((int32)(mid2 >> 1), book, lane, rules.reach);
            }
        }
#endif
        Seen seen = observe(mid2, live);
        Counted sent = send_orders(market, rules, agreed, keys, types, step, lane, seen);
#if EXECUTES
        uint32 child = send_child(parent, extras->profile, step, mid2, live, scalars,
                                  real && lane == 0, execution);
        (parent.side > 0 ? sent.top : sent.bottom) += child;
        sent.child = {execution.waiting, parent.side};
#endif
        bool clears = true, enough = held.covers(seen.mid2 >> 1, live);
#if WAITS
        clears = waiting.take(sent);
        enough &= clears && !waiting.in_memory;
#endif

        if (!WAITS || __any_sync(ALL_LANES, clears)) {
            Outcome outcome;
            enough = clear_held(held, sent, rules, agreed, enough, lane, outcome);
            bool no_bid = outcome.best_bid < 0 && !held.no_bid_below;
            bool no_ask = outcome.best_ask == LEVELS && !held.no_ask_above;
            uint32 far = __ballot_sync(ALL_LANES, real && clears && (!enough || no_bid || no_ask));
            for (uint32 g = 0; far && g < MARKETS_PER_WARP; ++g) {
                if (!(far >> (g * GROUP) & 1)) continue;
                Lots* far_book = books + (uint64)(first_market + g) * LEVELS;
                if (of_group(enough, g)) {
                    // Cleared, but one side has nothing left here.
                    int32 first = of_group(held.first, g);
                    int32 bid = find_bid_below(far_book, first, thread);
                    int32 ask = find_ask_from(far_book, first + WINDOW, thread);
                    if (group == g) {
                        if (no_bid) outcome.best_bid = bid;
                        if (no_ask) outcome.best_ask = ask;
                        held.no_bid_below |= bid < 0;
                        held.no_ask_above |= ask == LEVELS;
                    }
                    continue;
                }
                if (group == g) held.store(book, lane);
                __syncwarp();
#if WAITS
                WaitingRows earlier = {};
                if (of_group(waiting.in_memory, g)) earlier = waiting_rows(*extras, first_market + g);
#endif
                Outcome cleared = clear_far(far_book, markets[first_market + g], sent, live.best_bid,
                                            live.best_ask,
#if WAITS
                                            earlier,
#endif
                                            g);
                if (group == g) {
                    outcome = cleared;
#if WAITS
                    waiting.in_memory = false;
#endif
                    int32 middle = (outcome.best_bid + outcome.best_ask) / 2;
                    held.load_around(middle, book, lane, rules.reach);
                }
            }
#if EXECUTES
            if (clears) settle_children(outcome, live, scalars, real && lane == 0, execution);
#endif
            if (clears) keep_score(outcome, live);
        }

#if RECORDING
        if ((step + 1) % rows.every == 0) {
            if (real && lane == 0) record_row(rows, at, live, scalars);
            bool from_memory = deep;
#if !WIDE_LOTS
            if (__any_sync(ALL_LANES, deep)) {
                int32 reach = min(rows.depth_ticks, (uint32)LEVELS);
                bool here = deep && market.book_row < 0 && held.covers_depths(live, reach);
                uint32 bid = held.sum_levels(live.best_bid - reach, live.best_bid, 1, lane);
                uint32 ask = held.sum_levels(live.best_ask, live.best_ask + reach, -1, lane);
                if (here && lane == 0 && rows.bid_depth) rows.bid_depth[at] = bid;
                if (here && lane == 0 && rows.ask_depth) rows.ask_depth[at] = ask;
                from_memory &= !here;
            }
#endif
            uint32 far = __ballot_sync(ALL_LANES, from_memory);
            if (from_memory) held.store(book, lane);
            __syncwarp();
            for (uint32 g = 0; far && g < MARKETS_PER_WARP; ++g) {
                if (!(far >> (g * GROUP) & 1)) continue;
                uint32 of = first_market + g;
                record_book(rows, at - m + of, row, markets[of], of_group(live.best_bid, g),
                            of_group(live.best_ask, g), books + (uint64)of * LEVELS, thread);
            }
            at += market_count;
            row += 1;
        }
#endif
    }
    if (real) held.store(book, lane);
    if (real && lane == 0) put_down(live, scalars);
#if WAITS
    uint32 waits = __ballot_sync(ALL_LANES, real && waiting.between_auctions());
    for (uint32 g = 0; waits && g < MARKETS_PER_WARP; ++g) {
        if (!(waits >> (g * GROUP) & 1)) continue;
        uint32 of = first_market + g;
        Counted sent = waiting.sent((int32)live.prev_mid2);
        store_waiting(waiting_rows(*extras, of), markets[of], sent, g);
    }
#endif
#if EXECUTES
    if (real && lane == 0) put_down_execution(execution, scalars);
#endif
}
