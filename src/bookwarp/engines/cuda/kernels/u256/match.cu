// Match orders of many books: a thread owns a book, and takes its orders one after the other. See
// book.cuh for how the books lie, and rows.cuh for how orders come and results go.
//
// Lanes of a warp go from turn to turn together: in each, a lane has one order or none.

constexpr uint32 WARPS = BLOCK / LANES;

template <class Rows>
DEVICE void match_turns(Rows& rows, Book& book, Buffers& buffers, uint32 turns) {
    rows.begin();
    rows.copy_turn(buffers.pieces[0]);
    mark_copies();
    for (uint32 turn = 0; turn < turns; ++turn) {
        Piece* buffer = buffers.pieces[turn % 2];
        rows.advance();
        if (turn + 1 < turns) rows.copy_turn(buffers.pieces[(turn + 1) % 2]);
        mark_copies();
        await_all_but_last();
        __syncwarp();  // what other lanes copied is there
        const bool has_order = rows.has_order();
        Result result;
        if (has_order) result = match_order(book, rows.take(buffer));
        __syncwarp();  // all orders are taken, and results may lie where they were
        if (has_order) rows.leave(buffer, result);
        __syncwarp();  // the results are there
        rows.write_results(buffer);
        __syncwarp();  // and written, before the next but one turn is copied to where they were
    }
}

DEVICE Buffers& buffers_of_warp(Buffers* all) { return all[threadIdx.x / LANES]; }

// Passes of `count` orders each, to `count` books from `first` on.
extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
match_passes(Slot* slots, Ends* ends, const uint8* calldata, uint8* results, uint32 books,
             uint32 capacity, uint32 first, uint32 first_row, uint32 count, uint32 pass_rows,
             uint32 passes) {
    __shared__ Buffers buffers[WARPS];
    const uint32 number = blockIdx.x * BLOCK + threadIdx.x;
    const uint32 warp_first = number - this_lane();
    if (warp_first >= count) return;
    const uint32 rows_here = min(LANES, count - warp_first);
    RowsInPasses rows;
    rows.open(calldata, results, (uint64)first_row + warp_first, pass_rows, rows_here);
    Book book;
    if (number < count) book.open(slots, ends, first + number, books, capacity);
    match_turns(rows, book, buffers_of_warp(buffers), passes);
    if (number < count) book.close(ends, first + number);
}

// Orders in any sequence, to `count` books from `first` on; `grouped` has their rows by book, and
// `first_order` [book + 1] where those of each book start in it.
extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
match_grouped(Slot* slots, Ends* ends, const uint8* calldata, uint8* results,
              const uint32* grouped, const uint32* first_order, uint32 books, uint32 capacity,
              uint32 first, uint32 count) {
    __shared__ Buffers buffers[WARPS];
    const uint32 number = blockIdx.x * BLOCK + threadIdx.x;
    const bool inside = number < count;
    RowsByBook rows = {calldata, results, grouped, 0, 0};
    if (inside) {
        rows.next = first_order[first + number];
        rows.stop = first_order[first + number + 1];
    }
    const uint32 orders = rows.stop - rows.next;
    Book book;
    if (orders > 0) book.open(slots, ends, first + number, books, capacity);
    const uint32 turns = __reduce_max_sync(ALL_LANES, orders);
    match_turns(rows, book, buffers_of_warp(buffers), turns);
    if (orders > 0) book.close(ends, first + number);
}

// One order, of which calldata and result may lie in the memory of the host. A warp.
extern "C" __global__ void __launch_bounds__(LANES)
match_one(Slot* slots, Ends* ends, const uint8* calldata, uint8* results, uint32 books,
          uint32 capacity, uint32 number) {
    __shared__ Buffers buffers;
    const bool first = this_lane() == 0;
    RowsByBook rows = {calldata, results, nullptr, 0, first};
    Book book;
    if (first) book.open(slots, ends, number, books, capacity);
    match_turns(rows, book, buffers, 1);
    if (first) book.close(ends, number);
}
