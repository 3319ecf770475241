// An auction of the whole grid in the registers of a warp: lane l has the ROWS levels from l * ROWS
// on. Scans are shuffles: no barrier, no memory.

constexpr int ROWS = (LEVELS + LANES - 1) / LANES;

// Sum over this lane and all below it.
DEVICE int32 scan_lanes(int32 value, uint32 lane) {
#pragma unroll
    for (uint32 by = 1; by < LANES; by *= 2) {
        int32 below = __shfl_up_sync(ALL_LANES, value, by);
        if (lane >= by) value += below;
    }
    return value;
}

// Best bid and ask of the levels that the lanes hold.
DEVICE void find_quotes(const int32 (&buy)[ROWS], const int32 (&sell)[ROWS], uint32 lane,
                        int32& best_bid, int32& best_ask) {
    int32 bid = -1, ask = LEVELS;
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        if (buy[row] > 0) bid = (int32)lane * ROWS + row;
        if (sell[ROWS - 1 - row] > 0) ask = (int32)lane * ROWS + ROWS - 1 - row;
    }
    best_bid = __reduce_max_sync(ALL_LANES, bid);
    best_ask = __reduce_min_sync(ALL_LANES, ask);
}

// Clear: `buy` and `sell` are resting plus incoming lots, and what rests on return.
DEVICE Outcome clear_rows(int32 (&buy)[ROWS], int32 (&sell)[ROWS], uint32 lane) {
    int32 bought = 0, sold = 0;
#pragma unroll
    for (int row = 0; row < ROWS; ++row) bought += buy[row], sold += sell[row];
    int32 bought_to = scan_lanes(bought, lane), sold_to = scan_lanes(sold, lane);
    int32 all_bought = __shfl_sync(ALL_LANES, bought_to, LANES - 1);

    // Demand at this lane's lowest level, and supply below it.
    int32 demand = all_bought - bought_to + bought, supply = sold_to - sold;
    int32 demand_here = demand, supply_here = supply;
    Outcome outcome = {0, 0, -1, LEVELS};
    int32 best = 0, best_level = 0;
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        supply_here += sell[row];
        int32 executable = min(demand_here, supply_here);
        if (executable > best) best = executable, best_level = (int32)lane * ROWS + row;
        demand_here -= buy[row];
    }
    outcome.volume = __reduce_max_sync(ALL_LANES, best);
    int32 lowest = lowest_lane(__ballot_sync(ALL_LANES, best == outcome.volume));
    outcome.price = __shfl_sync(ALL_LANES, best_level, lowest);

#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        demand -= buy[row];  // now what stands ahead of this level
        buy[row] -= filled(outcome.volume, demand, buy[row]);
        int32 here = sell[row];
        sell[row] -= filled(outcome.volume, supply, here);
        supply += here;
    }
    find_quotes(buy, sell, lane, outcome.best_bid, outcome.best_ask);
    return outcome;
}
