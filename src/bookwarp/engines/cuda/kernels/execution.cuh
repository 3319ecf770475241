// The execution agent of a market: its parent order, of which it sends a part, a child, in a step.

enum Schedule : uint32 { TWAP, PROFILE, SHARE };

// What changes of a parent order, in registers; the same in all lanes of the market. Its cost, and
// what it is measured against, stay in memory.
struct Execution {
    uint32 waiting;  // lots
    uint32 filled;
};

DEVICE Execution take_up_execution(const Scalars& scalars) {
    return {(uint32)scalars[Scalar::own_waiting], (uint32)scalars[Scalar::own_filled]};
}

// Called by one lane.
DEVICE void put_down_execution(const Execution& execution, const Scalars& scalars) {
    scalars[Scalar::own_waiting] = execution.waiting;
    scalars[Scalar::own_filled] = execution.filled;
}

// Lots that are to be filled once `done` steps of a parent's horizon are over.
SELDOM uint32 target_of(const Parent& parent, const uint32* profile, uint32 done, int64 volume,
                        const Scalars& scalars) {
    uint64 qty = parent.qty;
    if (parent.schedule == SHARE) {
        uint64 traded = scalars[Scalar::volume] + volume - scalars[Scalar::start_volume];
        uint64 of_low_word = (traded & 0xFFFFFFFF) * parent.share >> 32;
        return (uint32)min(qty, (traded >> 32) * parent.share + of_low_word);
    }
    if (parent.schedule == PROFILE) {
        uint32 points = profile[0];
        const uint32* weights = profile + 1;
        return (uint32)(qty * weights[(uint64)done * points / parent.horizon] / weights[points]);
    }
    return (uint32)(qty * done / parent.horizon);
}

// Send a child order, and return its lots. In the parent's first step, note what it is measured
// against; one lane of a market is its `writer`. Called by a whole warp.
DEVICE uint32 send_child(const Parent& parent, const uint32* profile, uint32 step, Tick mid2,
                         const Live& live, const Scalars& scalars, bool writer,
                         Execution& execution) {
    bool begins = step == parent.start && parent.qty > 0;
    if (__any_sync(ALL_LANES, begins)) {
        if (begins && writer) {
            scalars[Scalar::arrival_mid2] = mid2 - live.value2;
            scalars[Scalar::start_volume] = scalars[Scalar::volume] + live.volume;
        }
        __syncwarp();  // the other lanes read it too
    }
    uint32 before = step - parent.start;
    if (before >= parent.horizon) return 0;
    uint32 target = target_of(parent, profile, before + 1, live.volume, scalars);
    uint32 sent = execution.filled + execution.waiting;
    if (target <= sent) return 0;
    execution.waiting += target - sent;
    return target - sent;
}

// Count what an auction filled of the children that waited for it.
DEVICE void settle_children(const Outcome& outcome, const Live& live, const Scalars& scalars,
                            bool writer, Execution& execution) {
#if EXECUTES
    uint32 filled = execution.waiting - outcome.unfilled;
    execution.waiting = 0;
    execution.filled += filled;
    int64 distance = outcome.price - (live.value2 >> 1);  // from the open price
    if (writer && filled > 0) add_to(scalars[Scalar::own_cost], filled * distance);
#endif
}
