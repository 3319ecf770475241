// The book and its auction. One warp owns a market; a lane owns a level of the window it looks at.
//
// The book is one array of signed lots: a rested book is never crossed, so a level holds buys
// (positive) or sells (negative), not both.

struct Outcome {
    int32 price;  // level; 0 where nothing trades
    Lots volume;
    int32 best_bid;  // level, -1 if there is none
    int32 best_ask;  // level, LEVELS if there is none
#if EXECUTES
    uint32 unfilled;  // of the execution agent's order, cancelled
#endif
};

DEVICE Lots shift_up(Lots value, uint32 by, uint32 lane) {
    Lots below = __shfl_up_sync(ALL_LANES, value, by);
    return lane >= by ? below : 0;
}

// Sum over this lane and all below it.
DEVICE Lots scan_lanes(Lots value, uint32 lane) {
#pragma unroll
    for (uint32 by = 1; by < LANES; by *= 2) {
#if WIDE_LOTS
        value += shift_up(value, by, lane);
#else
        asm volatile(
            "{ .reg .pred inside; .reg .b32 below;\n"
            "  shfl.sync.up.b32 below|inside, %0, %1, 0, 0xFFFFFFFF;\n"
            "  @inside add.s32 %0, %0, below; }"
            : "+r"(value)
            : "r"(by));
#endif
    }
    return value;
}

DEVICE Lots largest(Lots value) {
#if WIDE_LOTS
#pragma unroll
    for (uint32 by = LANES / 2; by > 0; by /= 2) {
        value = max(value, (Lots)__shfl_xor_sync(ALL_LANES, value, by));
    }
    return value;
#else
    return __reduce_max_sync(ALL_LANES, value);
#endif
}

DEVICE Lots from_lane(Lots value, uint32 lane) { return __shfl_sync(ALL_LANES, value, lane); }

DEVICE Lots positive(Lots value) { return value > 0 ? value : 0; }

// Lots filled of the `here` lots that stand behind `ahead` others, when `volume` are filled.
DEVICE Lots filled(Lots volume, Lots ahead, Lots here) {
    return max((Lots)0, min(volume - ahead, here));
}

DEVICE int32 lowest_lane(uint32 lanes) { return __ffs(lanes) - 1; }
DEVICE int32 highest_lane(uint32 lanes) { return LANES - 1 - __clz(lanes); }

// Highest level below `level` with a buy, -1 if there is none.
SELDOM int32 find_bid_below(const Lots* book, int32 level, uint32 lane) {
    for (int32 first = level - LANES; first > -LANES; first -= LANES) {
        int32 here = first + (int32)lane;
        uint32 found = __ballot_sync(ALL_LANES, here >= 0 && book[here] > 0);
        if (found) return first + highest_lane(found);
    }
    return -1;
}

// Lowest level from `level` on with a sell, LEVELS if there is none.
SELDOM int32 find_ask_from(const Lots* book, int32 level, uint32 lane) {
    for (int32 first = level; first < LEVELS; first += LANES) {
        int32 here = first + (int32)lane;
        uint32 found = __ballot_sync(ALL_LANES, here < LEVELS && book[here] < 0);
        if (found) return first + lowest_lane(found);
    }
    return LEVELS;
}

// The same within a group of lanes.
DEVICE Lots scan_group(Lots value, uint32 lane) {
#pragma unroll
    for (uint32 by = 1; by < GROUP; by *= 2) {
#if WIDE_LOTS
        Lots below = __shfl_up_sync(ALL_LANES, value, by, GROUP);
        if (lane >= by) value += below;
#else
        asm volatile(
            "{ .reg .pred inside; .reg .b32 below;\n"
            "  shfl.sync.up.b32 below|inside, %0, %1, %2, 0xFFFFFFFF;\n"
            "  @inside add.s32 %0, %0, below; }"
            : "+r"(value)
            : "r"(by), "n"((LANES - GROUP) << 8));
#endif
    }
    return value;
}

DEVICE Lots last_of_group(Lots value) {
    return __shfl_sync(ALL_LANES, value, GROUP - 1, GROUP);
}

// The lanes of this group where `condition` holds, one bit each.
DEVICE uint32 ballot_group(bool condition) {
    uint32 lanes = __ballot_sync(ALL_LANES, condition);
    if (GROUP == LANES) return lanes;
    return (lanes >> (threadIdx.x & (LANES - GROUP))) & ((1u << (GROUP % LANES)) - 1);
}

// The most that is executable in a group's lanes. Supply rises from lane to lane and demand falls, so
// it is in the last lane where supply is within demand, as `within` says, or in the next one. If
// there is none of these, the lane asked instead, around the group, has no more.
DEVICE Lots largest_at_crossing(Lots executable, uint32 within) {
#if !WIDE_LOTS
    if (GROUP == LANES) return __reduce_max_sync(ALL_LANES, executable);
#endif
    int32 next = __popc(within);
    Lots after = __shfl_sync(ALL_LANES, executable, next, GROUP);
    Lots before = __shfl_sync(ALL_LANES, executable, next - 1, GROUP);
    return max(after, before);
}

// The lowest level of a group's where `holds` is set, counted from its first; -1 if there is none.
// A lane has LEVELS_A_LANE levels, one or two.
DEVICE int32 lowest_level(const bool* holds) {
    uint32 lanes = ballot_group(holds[0] || holds[LEVELS_A_LANE - 1]);
    int32 lane = lowest_lane(lanes);
    if (LEVELS_A_LANE == 1) return lane;
    uint32 in_lower = ballot_group(holds[0]);
    return lanes ? 2 * lane + !(in_lower >> lane & 1) : -1;
}

// The highest one.
DEVICE int32 highest_level(const bool* holds) {
    uint32 lanes = ballot_group(holds[0] || holds[LEVELS_A_LANE - 1]);
    int32 lane = highest_lane(lanes);
    if (LEVELS_A_LANE == 1) return lane;
    uint32 in_upper = ballot_group(holds[LEVELS_A_LANE - 1]);
    return lanes ? 2 * lane + (int32)(in_upper >> lane & 1) : -1;
}

// Clear the auction of the levels that a group's lanes hold, if these are enough to decide it.
//
// Enough, because no quantity that trades lies elsewhere: below the window there are the
// marketable sells at level 0 and resting buys, above it the marketable buys and resting sells.
// If the first do not outweigh the demand at the window's lowest level, nor the second the supply
// at its highest, supply and demand meet inside.
//
// Args:
//   buy, sell: resting plus incoming lots of this lane's levels; what is left, on return.
//   first: the window's lowest level.
//   above, below: marketable lots outside the window.
//
// Returns false, and nothing of worth, if the window does not decide. Called by all lanes of the
// warp, without a branch: its groups go together.
DEVICE bool clear_window(Lots* buy, Lots* sell, int32 first, Lots above, Lots below, uint32 lane,
                         Outcome& outcome) {
    Lots bought = 0, sold = 0;
#pragma unroll
    for (int32 i = 0; i < LEVELS_A_LANE; ++i) bought += buy[i], sold += sell[i];
    bought = scan_group(bought, lane), sold = scan_group(sold, lane);
    Lots all_bought = last_of_group(bought) + above;
    Lots all_sold = last_of_group(sold) + below;

    Lots demand[LEVELS_A_LANE], supply[LEVELS_A_LANE], executable[LEVELS_A_LANE];
    Lots demand_above = all_bought - bought, supply_here = sold + below, most = 0;
#pragma unroll
    for (int32 i = LEVELS_A_LANE - 1; i >= 0; --i) {
        demand_above = demand[i] = demand_above + buy[i];
        supply[i] = supply_here;
        supply_here -= sell[i];
        executable[i] = min(demand[i], supply[i]);
        most = max(most, executable[i]);
    }
    constexpr int32 HIGHEST = LEVELS_A_LANE - 1;
    Lots volume = largest_at_crossing(most, ballot_group(supply[HIGHEST] <= demand[HIGHEST]));
    bool trades_most[LEVELS_A_LANE];
#pragma unroll
    for (int32 i = 0; i < LEVELS_A_LANE; ++i) trades_most[i] = executable[i] == volume;
    // Level 0 trades `below`, or what the window says of it; the lowest level wins.
    int32 lowest = lowest_level(trades_most);
    outcome.price = volume == below ? 0 : first + lowest;
    outcome.volume = volume;
#pragma unroll
    for (int32 i = 0; i < LEVELS_A_LANE; ++i) {
        buy[i] -= filled(volume, demand[i] - buy[i], buy[i]);
        sell[i] -= filled(volume, supply[i] - sell[i], sell[i]);
    }
    return below <= all_bought && above <= all_sold;
}

// Clear the auction of the levels `low` .. `high`, 32 at a time, in three passes over the book.
// The fallback of `clear_window` where more levels matter; the same rule decides whether these are
// enough, and all levels of the grid always are.
template <class Incoming>
DEVICE bool clear_range(Lots* book, const Incoming& incoming, int32 low, int32 high, uint32 lane,
                        Outcome& outcome) {
    Lots above = high < LEVELS - 1 ? incoming.at_top() : 0;
    Lots below = low > 0 ? incoming.at_bottom() : 0;
    Lots all_bought = above, all_sold = below;
    for (int32 first = low; first <= high; first += LANES) {
        Lots buy, sell;
        incoming.load(book, first + (int32)lane, high, buy, sell);
        all_bought += from_lane(scan_lanes(buy, lane), LANES - 1);
        all_sold += from_lane(scan_lanes(sell, lane), LANES - 1);
    }
    if (below > all_bought || above > all_sold) return false;

    outcome = {0, below, -1, LEVELS};
    Lots demand_left = all_bought, supply_below = below;
    for (int32 first = low; first <= high; first += LANES) {
        Lots buy, sell;
        incoming.load(book, first + (int32)lane, high, buy, sell);
        Lots bought = scan_lanes(buy, lane), sold = scan_lanes(sell, lane);
        Lots executable = min(demand_left - bought + buy, supply_below + sold);
        Lots volume = largest(executable);
        if (volume > outcome.volume) {
            outcome.volume = volume;
            outcome.price = first + lowest_lane(__ballot_sync(ALL_LANES, executable == volume));
        }
        demand_left -= from_lane(bought, LANES - 1);
        supply_below += from_lane(sold, LANES - 1);
    }

    demand_left = all_bought, supply_below = below;
    for (int32 first = low; first <= high; first += LANES) {
        int32 level = first + (int32)lane;
        Lots buy, sell;
        incoming.load(book, level, high, buy, sell);
        Lots bought = scan_lanes(buy, lane), sold = scan_lanes(sell, lane);
        Lots left = buy - filled(outcome.volume, demand_left - bought, buy);
        left -= sell - filled(outcome.volume, supply_below + sold - sell, sell);
        demand_left -= from_lane(bought, LANES - 1);
        supply_below += from_lane(sold, LANES - 1);
#if EXECUTES
        outcome.unfilled += __reduce_max_sync(ALL_LANES, incoming.child().cancel(level, left));
#endif
        if (level <= high) book[level] = left;
        uint32 bids = __ballot_sync(ALL_LANES, left > 0);
        uint32 asks = __ballot_sync(ALL_LANES, left < 0);
        if (bids) outcome.best_bid = first + highest_lane(bids);
        if (asks && outcome.best_ask == LEVELS) outcome.best_ask = first + lowest_lane(asks);
    }
    __syncwarp();
    return true;
}

// Clear a book that lies in memory, looking at `low` .. `high` first and at all of it if need be.
template <class Incoming>
SELDOM Outcome clear_book(Lots* book, Incoming incoming, int32 low, int32 high, uint32 lane) {
    Outcome outcome;
    if (!clear_range(book, incoming, low, high, lane, outcome)) {
        low = 0, high = LEVELS - 1;
        clear_range(book, incoming, low, high, lane, outcome);
    }
    if (outcome.best_bid < 0 && low > 0) outcome.best_bid = find_bid_below(book, low, lane);
    if (outcome.best_ask == LEVELS && high < LEVELS - 1) {
        outcome.best_ask = find_ask_from(book, high + 1, lane);
    }
    return outcome;
}

// Move the window over a following grid up by `shift` levels; the lots that fall off are added to
// the scalars. The book lies in memory.
SELDOM void shift_book(Lots* book, int64 shift, Scalars scalars, uint32 lane) {
    int64 fallen_bid = 0, fallen_ask = 0;
    int32 tiles = (LEVELS + LANES - 1) / LANES;
    for (int32 tile = 0; tile < tiles; ++tile) {
        // Tiles are taken in the order in which no lot is overwritten before it has moved.
        int32 level = (shift > 0 ? tile : tiles - 1 - tile) * LANES + (int32)lane;
        int64 source = level + shift;
        int64 target = level - shift;
        bool inside = level < LEVELS;
        Lots here = inside ? book[level] : 0;
        Lots moved = inside && source >= 0 && source < LEVELS ? book[source] : 0;
        bool falls = target < 0 || target >= LEVELS;
        if (falls) fallen_bid += positive(here);
        if (falls) fallen_ask += positive(-here);
        __syncwarp();
        if (inside) book[level] = moved;
        __syncwarp();
    }
#pragma unroll
    for (uint32 by = LANES / 2; by > 0; by /= 2) {
        fallen_bid += __shfl_xor_sync(ALL_LANES, fallen_bid, by);
        fallen_ask += __shfl_xor_sync(ALL_LANES, fallen_ask, by);
    }
    if (lane == 0) scalars[Scalar::pruned_bid] += fallen_bid;
    if (lane == 0) scalars[Scalar::pruned_ask] += fallen_ask;
}
