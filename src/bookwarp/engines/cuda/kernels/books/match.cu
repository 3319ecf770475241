// Match a batch: a warp, which is a block, takes a book from its first message of the batch to the
// last, or until the book is one that it has no room for.
//
// Messages are read 32 at a time, each by a lane, and are then seen by all lanes in shared memory.
// IN_SLOTS says what the book is made of: slots.cuh or levels.cuh.

struct Staged {
    Message messages[LANES];
#if STP
    uint64 owners[LANES];
#endif
};

// Bring the next messages of a book to where all lanes see them.
DEVICE void stage_messages(Staged& staged, const Batch& batch, uint32 next, uint32 count,
                           uint32 lane) {
    meet();  // those before are done
    if (lane < count) {
        const uint32 index = batch.grouped[next + lane];
        Message message = batch.messages[index];
        message.place = index;
        staged.messages[lane] = message;
#if STP
        staged.owners[lane] = batch.owners[index];
#endif
    }
    meet();
}

// What the book holds at its best levels.
DEVICE void record_depth(const Run& run) {
    const uint32 levels = run.batch.depth_levels;
    int64* out = run.batch.depth + (uint64)run.message * levels * 4;
    run.book.write_depth(SELL, out, levels);
    run.book.write_depth(BUY, out + 2, levels);
}

// Returns how many messages are done.
DEVICE uint32 match_messages(Run& run, Staged& staged, uint32 first, uint32 stop) {
    for (uint32 next = first; next < stop; next += LANES) {
        const uint32 count = min(LANES, stop - next);
        stage_messages(staged, run.batch, next, count, run.lane);
        for (uint32 place = 0; place < count; ++place) {
            const Message message = staged.messages[place];
            if (run.book.must_stop(run.batch, message)) return next + place - first;
#if STP
            const uint64 owner = staged.owners[place];
#else
            const uint64 owner = 0;
#endif
            apply_message(run, message, owner);
#if DEPTH
            record_depth(run);
#endif
        }
    }
    return stop - first;
}

// Put the book down, and say what became of it.
DEVICE void put_down(Run& run, uint32 book, uint32 done_here, uint32 left) {
    const Batch& batch = run.batch;
    run.book.store(rows_of(batch, book), book);
    int64* counters = batch.counters + (uint64)book * COUNTERS;
    if (run.lane == COUNT_MESSAGES) run.counted += done_here;
    if (run.lane < COUNTERS && run.lane != COUNT_LOTS) counters[run.lane] += run.counted;
    if (run.lane != 0) return;
    counters[COUNT_LOTS] = run.lots;
    batch.flags[book] = run.flags;
    batch.live[book] = run.book.live;
    batch.done[book] += done_here;
#if EVENTS
    batch.event_counts[book] = (uint32)(run.next_event - events_of(batch, book));
#endif
    if (left > 0) {
        const uint32 place = atomicAdd(batch.stopped_count, 1u);
        batch.stopped[place] = book;
        batch.stopped_room[place] = min(run.book.live + left, batch.order_capacity);
    }
}

// Args: the batch; the books to match, all if null; where a book in levels may lie, a room for each
// of them.
extern "C" __global__ void __launch_bounds__(LANES, BLOCKS_PER_SM)
match_books(const Batch* given, const uint32* chosen, const Room* rooms) {
#if IN_SLOTS
    __shared__ Slots slots;
#endif
    __shared__ Staged staged;
    const Batch& batch = *given;
    const uint32 lane = threadIdx.x;
    const uint32 number = chosen ? chosen[blockIdx.x] : blockIdx.x;
    const uint32 first = batch.first_message[number], stop = batch.first_message[number + 1];
    const int64 row = batch.first_resting[number];
    const bool stored = batch.live[number] != NOT_STORED;
    const uint32 resting =
        stored ? batch.live[number] : (uint32)(batch.first_resting[number + 1] - row);
    const uint32 done = batch.done[number], event_count = batch.event_counts[number];
    const int64 lots = batch.counters[(uint64)number * COUNTERS + COUNT_LOTS];
    const uint32 flags = batch.flags[number];
    meet();  // all lanes have read what lane 0 will write
    if (first == stop) {
        // Its rows stay where they are.
        if (lane == 0) batch.live[number] = resting;
        return;
    }
    Book book;
    book.lane = lane;
#if IN_SLOTS
    book.slots = &slots;
#else
    book.open(rooms[blockIdx.x]);
#endif
    Run run = {batch, book, events_of(batch, number) + event_count, lane, 0, lots, flags, 0, 0};
    const Resting* rows = stored ? rows_of(batch, number) : batch.resting + row;
    if (!book.load(rows, resting)) {
        if (lane == 0) {
            const uint32 place = atomicAdd(batch.stopped_count, 1u);
            batch.stopped[place] = number;
            batch.stopped_room[place] = min(resting + stop - first - done, batch.order_capacity);
        }
        return;
    }
    const uint32 here = match_messages(run, staged, first + done, stop);
    put_down(run, number, here, stop - first - done - here);
}
