// The levels around the mid in registers, one a lane, and an auction of them alone. The rest of the
// book stays in global memory, where it is touched when these levels do not decide (the far path).
//
// A market is owned by GROUP lanes: a warp, or half of one. `lane` counts within the group, `thread`
// within the warp. Groups of a warp go together; every lane of it calls every function.

constexpr int GROUP = LANES / MARKETS_PER_WARP;

// Sum over this lane and all below it.
DEVICE int32 scan_group(int32 value, uint32 lane) {
#pragma unroll
    for (uint32 by = 1; by < GROUP; by *= 2) {
        int32 below = __shfl_up_sync(ALL_LANES, value, by, GROUP);
        if (lane >= by) value += below;
    }
    return value;
}

DEVICE int32 last_of_group(int32 value) {
    return __shfl_sync(ALL_LANES, value, GROUP - 1, GROUP);
}

DEVICE int32 largest_of_group(int32 value) {
    if constexpr (GROUP == LANES) {
        return __reduce_max_sync(ALL_LANES, value);
    } else {
#pragma unroll
        for (uint32 by = GROUP / 2; by > 0; by /= 2) {
            value = max(value, __shfl_xor_sync(ALL_LANES, value, by));
        }
        return value;
    }
}

// The lanes of the group of `thread` where `condition` holds, one bit each.
DEVICE uint32 ballot_group(bool condition, uint32 thread) {
    uint32 lanes = __ballot_sync(ALL_LANES, condition);
    if (GROUP == LANES) return lanes;
    return lanes >> (thread / GROUP * GROUP) & ((1u << (GROUP % LANES)) - 1);
}

struct Held {
    int32 first;    // level of lane 0
    int32 resting;  // signed lots of this lane's level; 0 beyond the grid

    __device__ __forceinline__ void load_around(int32 level, const int32* book, uint32 lane) {
        first = max(0, min(level - GROUP / 2, LEVELS - GROUP));
        int32 here = first + (int32)lane;
        resting = here < LEVELS ? book[here] : 0;
    }

    __device__ __forceinline__ void store(int32* book, uint32 lane) const {
        int32 here = first + (int32)lane;
        if (here < LEVELS) book[here] = resting;
    }
};

// Clear the auction of the levels that the lanes hold. `buy` and `sell` are resting plus incoming
// lots of this lane's level; `above` and `below` are the lots that wait to buy at the top of the
// grid and to sell at level 0, where these are not among the lanes.
//
// Returns whether that decides it: whether supply and demand meet among the lanes. If not, there
// is nothing of worth in `outcome` and `left`.
DEVICE bool clear_window(int32 buy, int32 sell, int32 first, int32 above, int32 below, uint32 lane,
                         uint32 thread, int32& left, Outcome& outcome) {
    int32 bought = scan_group(buy, lane), sold = scan_group(sell, lane);
    int32 all_bought = last_of_group(bought) + above, all_sold = last_of_group(sold) + below;
    int32 demand = all_bought - bought + buy, supply = sold + below;
    int32 executable = min(demand, supply);
    outcome.volume = largest_of_group(executable);
    uint32 best = ballot_group(executable == outcome.volume, thread);
    // What waits at level 0 trades there already; the lowest level wins.
    outcome.price = outcome.volume == below ? 0 : first + lowest_lane(best);
    left = buy - filled(outcome.volume, demand - buy, buy);
    left -= sell - filled(outcome.volume, supply - sell, sell);
    uint32 bids = ballot_group(left > 0, thread), asks = ballot_group(left < 0, thread);
    outcome.best_bid = bids ? first + highest_lane(bids) : -1;
    outcome.best_ask = asks ? first + lowest_lane(asks) : LEVELS;
    return below <= all_bought && above <= all_sold;
}

// Highest level below `level` with a buy, -1 if there is none. By a whole warp.
SELDOM int32 find_bid_below(const int32* book, int32 level, uint32 thread) {
    for (int32 first = level - LANES; first > -LANES; first -= LANES) {
        int32 here = first + (int32)thread;
        uint32 found = __ballot_sync(ALL_LANES, here >= 0 && book[max(here, 0)] > 0);
        if (found) return first + highest_lane(found);
    }
    return -1;
}

// Lowest level from `level` on with a sell, LEVELS if there is none. By a whole warp.
SELDOM int32 find_ask_from(const int32* book, int32 level, uint32 thread) {
    for (int32 first = level; first < LEVELS; first += LANES) {
        int32 here = first + (int32)thread;
        uint32 found = __ballot_sync(ALL_LANES, here < LEVELS && book[min(here, LEVELS - 1)] < 0);
        if (found) return first + lowest_lane(found);
    }
    return LEVELS;
}

// Clear the auction of the whole grid, the book in memory. By a whole warp. `incoming.add` adds the
// step's orders at a level.
template <class Incoming>
SELDOM Outcome clear_far(int32* book, Incoming incoming, uint32 thread) {
    int32 buy[ROWS], sell[ROWS];
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        int32 level = (int32)thread * ROWS + row;
        int32 resting = level < LEVELS ? book[level] : 0;
        buy[row] = positive(resting), sell[row] = positive(-resting);
        incoming.add(level, buy[row], sell[row]);
    }
    Outcome outcome = clear_rows(buy, sell, thread);
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        int32 level = (int32)thread * ROWS + row;
        if (level < LEVELS) book[level] = buy[row] - sell[row];
    }
    __syncwarp();
    return outcome;
}
