// Match a batch: a warp, which is a block, takes a book from its first message of the batch to the
// last, or until the book is one that it has no room for.
//
// Messages are read 32 at a time, each by a lane, and are then seen by all lanes in shared memory.
// IN_SLOTS says what the book is made of: slots.cuh or levels.cuh.

struct Staged {
    Piece messages[LANES][2];
#if IN_SLOTS
    Reach reaches[LANES];
#endif
#if STP
    uint64 owners[LANES];
#endif
};

// One structure, so that the compiler finds its address once.
struct Shared {
    Staged staged;
#if IN_SLOTS
    Slots slots;
#endif
};

DEVICE Message message_of(Piece low, Piece high) {
    return {low.first, (int64)low.second, (int64)high.first, (uint32)high.second,
            (uint32)(high.second >> 32)};
}

// Tell what the messages need of the book, each by a lane.
DEVICE void stage_reaches(Staged& staged, const Batch& batch, const Book& book) {
#if IN_SLOTS
    const Piece* pieces = staged.messages[book.lane];
    staged.reaches[book.lane] = book.reach_of(batch, message_of(pieces[0], pieces[1]));
    meet();
#endif
}

// Bring the next messages of a book to where all lanes see them.
DEVICE void stage_messages(Staged& staged, const Batch& batch, const Book& book, uint32 next,
                           uint32 count) {
    meet();  // those before are done
    const uint32 lane = book.lane;
    if (lane < count) {
        const uint32 index = batch.grouped[next + lane];
        const Piece* pieces = (const Piece*)(batch.messages + index);
        const Piece high = pieces[1];
        staged.messages[lane][0] = pieces[0];
        staged.messages[lane][1] = {high.first, (high.second >> 32 << 32) | index};
#if STP
        staged.owners[lane] = batch.owners[index];
#endif
    }
    meet();
    stage_reaches(staged, batch, book);
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
    Book& book = run.book;
    for (uint32 next = first; next < stop; next += LANES) {
        const uint32 count = min(LANES, stop - next);
#if IN_SLOTS
        if (book.must_renew()) return next - first;
#endif
        stage_messages(staged, run.batch, book, next, count);
        for (uint32 place = 0; place < count; ++place) {
            const Message message =
                message_of(staged.messages[place][0], staged.messages[place][1]);
#if IN_SLOTS
            Reach reach = staged.reaches[place];
            if (book.must_stop(run.batch, reach.needs)) {
                if (book.live > 0) return next + place - first;
                // The base of an empty book is free.
                book.base = message.price;
                meet();
                stage_reaches(staged, run.batch, book);
                reach = staged.reaches[place];
                if (book.must_stop(run.batch, reach.needs)) return next + place - first;
            }
            const int32 tick = reach.tick;
#else
            const int32 tick = 0;
#endif
#if STP
            const uint64 owner = staged.owners[place];
#else
            const uint64 owner = 0;
#endif
            apply_message(run, message, tick, owner);
#if DEPTH
            record_depth(run);
#endif
        }
    }
    return stop - first;
}

// Note that a book needs a kernel with more room.
DEVICE void note_stopped(const Batch& batch, uint32 book, uint32 live, uint32 messages_left) {
    const uint32 place = atomicAdd(batch.stopped_count, 1u);
    batch.stopped[place] = book;
    batch.stopped_room[place] = min(live + messages_left, batch.order_capacity);
}

// Put the book down, and say what became of it.
DEVICE void put_down(Run& run, uint32 book, uint32 done_here, uint32 left) {
    const Batch& batch = run.batch;
    run.book.store(rows_of(batch, book), book);
    int64* counters = batch.counters + (uint64)book * COUNTERS;
    run.counted.add(COUNT_MESSAGES, done_here);
    run.counted.add_to(counters);
    meet();
    if (run.lane != 0) return;
    counters[COUNT_LOTS] = run.lots;
    batch.flags[book] = run.flags;
    batch.live[book] = run.book.live;
    batch.done[book] += done_here;
    batch.event_counts[book] = run.event_count;
    if (is_overrun(run)) atomicAdd(batch.overrun_count, 1u);
    if (left > 0) note_stopped(batch, book, run.book.live, left);
}

// The compiler takes what follows from an argument of a kernel to lie in global memory, and to be
// the same in all lanes. Of an address that was read from memory it knows neither: then it guards
// every branch and every reduction against a warp that has split. So addresses count from `origin`,
// which is null.
template <class Record>
DEVICE void count_from(char* origin, Record*& pointer) {
    pointer = (Record*)(origin + (uint64)pointer);
}

DEVICE Batch read_batch(char* origin, const Batch* given) {
    Batch batch = *given;
    count_from(origin, batch.messages);
    count_from(origin, batch.owners);
    count_from(origin, batch.grouped);
    count_from(origin, batch.first_message);
    count_from(origin, batch.resting);
    count_from(origin, batch.first_resting);
    count_from(origin, batch.resting_after);
    count_from(origin, batch.events);
    count_from(origin, batch.depth);
    count_from(origin, batch.live);
    count_from(origin, batch.event_counts);
    count_from(origin, batch.counters);
    count_from(origin, batch.flags);
    count_from(origin, batch.done);
    count_from(origin, batch.stopped);
    count_from(origin, batch.stopped_room);
    count_from(origin, batch.stopped_count);
    count_from(origin, batch.overrun_count);
    return batch;
}

// Args: null; the batch; the books to match, all if null; where a book in levels may lie, a room for
// each of them.
extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
match_books(char* origin, const Batch* given, const uint32* chosen, const Room* rooms) {
    BOOK_MEMORY Shared shared;
    const Batch batch = read_batch(origin, given);
    const uint32 lane = this_lane(), turn = this_turn();
    const uint32 number = chosen ? chosen[turn] : turn;
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
    book.slots = &shared.slots;
#else
    book.open(rooms[turn]);
#endif
    Run run = {batch, book, events_of(batch, number), event_count, (uint32)event_room(batch, number),
               lane, {}, lots, flags, 0, 0};
    const Resting* rows = stored ? rows_of(batch, number) : batch.resting + row;
    if (!book.load(rows, resting)) {
        if (lane == 0) note_stopped(batch, number, resting, stop - first - done);
        return;
    }
    const uint32 here = match_messages(run, shared.staged, first + done, stop);
    put_down(run, number, here, stop - first - done - here);
}
