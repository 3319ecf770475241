// Lots that wait for the next auction of a market whose clearing interval is longer than a step.
//
// The mid does not move between two auctions. So what comes is added up as it is counted, by its
// offset from the mid, in registers. Memory holds, by level, what came in an earlier launch.

// Two rows of levels in memory.
struct WaitingRows {
    Lots* buy;
    Lots* sell;
};

DEVICE WaitingRows waiting_rows(const Extras& extras, uint32 market) {
    uint64 first = (uint64)market * LEVELS;
    return {extras.waiting_buy + first, extras.waiting_sell + first};
}

#if WAITS
struct Waiting {
    Sides slots;  // as of `Counted`
    Lots top;
    Lots bottom;
    uint32 interval;
    uint32 steps_left;  // before the step that clears
    bool in_memory;     // whether lots of an earlier launch wait too

    // Add what a step sent, and take all there is if its auction is due; returns whether it is.
    DEVICE_MEMBER bool take(Counted& sent) {
        sent.slots = sent.slots + slots;
        sent.top += top;
        sent.bottom += bottom;
        bool due = steps_left == 0;
        slots = due ? Sides{} : sent.slots;
        top = due ? 0 : sent.top;
        bottom = due ? 0 : sent.bottom;
        steps_left = due ? interval - 1 : steps_left - 1;
        return due;
    }

    // What came in this launch and waits, around the mid that all saw who sent it.
    DEVICE_MEMBER Counted sent(int32 mid2) const {
        Counted all = {};
        all.slots = slots, all.mid2 = mid2, all.top = top, all.bottom = bottom;
        return all;
    }

    DEVICE_MEMBER bool between_auctions() const { return steps_left != interval - 1; }
};

// Called by all lanes of a group.
DEVICE Waiting take_up_waiting(const Market& market, const WaitingRows& rows, uint32 first_step,
                               uint32 lane) {
    uint32 interval = market.clearing_interval;
    Lots any = 0;
    for (int32 level = lane; level < LEVELS; level += GROUP) any |= rows.buy[level] | rows.sell[level];
    bool in_memory = ballot_group(any != 0) != 0;
    return {{}, 0, 0, interval, interval - 1 - first_step % interval, in_memory};
}
#endif
