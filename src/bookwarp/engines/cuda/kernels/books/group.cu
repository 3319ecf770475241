// Group the messages of a batch by book, and bring together what its books leave behind.
//
// Grouping is a stable radix sort of the messages' indexes by 8 bits of the book at a time, from the
// lowest: count the digits of every tile, turn the counts into places, put every index at its
// place. A warp takes consecutive indexes, so that equal digits keep their order.

constexpr uint32 LANES = 32;
constexpr uint32 ALL_LANES = 0xFFFFFFFFu;
constexpr uint32 WARPS = BLOCK / LANES;
constexpr uint32 DIGITS = 256;
constexpr uint32 ROUNDS = TILE / BLOCK;  // of 32 indexes for each warp
constexpr uint32 NO_DIGIT = DIGITS;

extern "C" __global__ void __launch_bounds__(BLOCK)
read_books(const Message* messages, uint32* books, uint32 count) {
    const uint32 index = blockIdx.x * BLOCK + threadIdx.x;
    if (index < count) books[index] = messages[index].place;
}

DEVICE uint32 digit_of(uint32 book, uint32 shift) { return book >> shift & (DIGITS - 1); }

// Where the first index of a warp's rounds lies.
DEVICE uint32 first_of_warp() { return blockIdx.x * TILE + threadIdx.x / LANES * (TILE / WARPS); }

// counts is [digit, tile].
extern "C" __global__ void __launch_bounds__(BLOCK)
count_digits(const uint32* books, uint32 count, uint32 shift, uint32* counts) {
    __shared__ uint32 found[DIGITS];
    for (uint32 digit = threadIdx.x; digit < DIGITS; digit += BLOCK) found[digit] = 0;
    __syncthreads();
    for (uint32 round = 0; round < ROUNDS; ++round) {
        const uint32 index = first_of_warp() + round * LANES + threadIdx.x % LANES;
        if (index < count) atomicAdd(&found[digit_of(books[index], shift)], 1u);
    }
    __syncthreads();
    for (uint32 digit = threadIdx.x; digit < DIGITS; digit += BLOCK) {
        counts[digit * gridDim.x + blockIdx.x] = found[digit];
    }
}

// places is [digit, tile], of the first index with that digit. `from` is null for 0, 1, 2, ...
extern "C" __global__ void __launch_bounds__(BLOCK)
place_digits(const uint32* books, const uint32* from, uint32 count, uint32 shift,
             const int64* places, uint32* books_to, uint32* to) {
    __shared__ uint32 next[WARPS][DIGITS];
    const uint32 warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    for (uint32 entry = threadIdx.x; entry < WARPS * DIGITS; entry += BLOCK) {
        next[entry / DIGITS][entry % DIGITS] = 0;
    }
    __syncthreads();
    for (uint32 round = 0; round < ROUNDS; ++round) {
        const uint32 index = first_of_warp() + round * LANES + lane;
        if (index < count) atomicAdd(&next[warp][digit_of(books[index], shift)], 1u);
    }
    __syncthreads();
    for (uint32 digit = threadIdx.x; digit < DIGITS; digit += BLOCK) {
        uint32 place = (uint32)places[digit * gridDim.x + blockIdx.x];
        for (uint32 each = 0; each < WARPS; ++each) {
            const uint32 here = next[each][digit];
            next[each][digit] = place;
            place += here;
        }
    }
    __syncthreads();
    for (uint32 round = 0; round < ROUNDS; ++round) {
        const uint32 index = first_of_warp() + round * LANES + lane;
        const bool inside = index < count;
        const uint32 book = inside ? books[index] : 0;
        const uint32 digit = inside ? digit_of(book, shift) : NO_DIGIT;
        const uint32 alike = __match_any_sync(ALL_LANES, digit);
        const uint32 rank = __popc(alike & ((1u << lane) - 1));
        const uint32 place = inside ? next[warp][digit] : 0;
        __syncwarp();
        if (inside) {
            if (rank == 0) next[warp][digit] = place + __popc(alike);
            books_to[place + rank] = book;
            to[place + rank] = from ? from[index] : index;
        }
        __syncwarp();
    }
}

// first [book + 1]: where the messages of a book start among the sorted ones.
extern "C" __global__ void __launch_bounds__(BLOCK)
find_first_messages(const uint32* sorted, uint32 count, uint32 books, uint32* first) {
    const uint64 book = (uint64)blockIdx.x * BLOCK + threadIdx.x;
    if (book > books) return;
    uint32 low = 0, high = count;
    while (low < high) {
        const uint32 middle = low + (high - low) / 2;
        if (sorted[middle] < book) low = middle + 1;
        else high = middle;
    }
    first[book] = low;
}

constexpr uint32 SCAN_BLOCK = 1024;
constexpr uint32 SCANNED_AT_ONCE = 4;

// offsets [count + 1]: sums of all counts before. One block, from the first to the last.
extern "C" __global__ void __launch_bounds__(SCAN_BLOCK)
sum_counts(const uint32* counts, uint32 count, int64* offsets) {
    __shared__ int64 of_warps[SCAN_BLOCK / LANES];
    const uint32 warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    int64 before = 0;
    for (uint64 start = 0; start < count; start += SCAN_BLOCK * SCANNED_AT_ONCE) {
        const uint64 mine = start + threadIdx.x * SCANNED_AT_ONCE;
        uint32 here[SCANNED_AT_ONCE];
        int64 sum = 0;
        for (uint32 each = 0; each < SCANNED_AT_ONCE; ++each) {
            here[each] = mine + each < count ? counts[mine + each] : 0;
            sum += here[each];
        }
        int64 through = sum;
        for (uint32 by = 1; by < LANES; by *= 2) {
            const int64 below = __shfl_up_sync(ALL_LANES, through, by);
            if (lane >= by) through += below;
        }
        if (lane == LANES - 1) of_warps[warp] = through;
        __syncthreads();
        int64 place = before + through - sum, all = 0;
        for (uint32 each = 0; each < SCAN_BLOCK / LANES; ++each) {
            if (each < warp) place += of_warps[each];
            all += of_warps[each];
        }
        for (uint32 each = 0; each < SCANNED_AT_ONCE; ++each) {
            if (mine + each < count) offsets[mine + each] = place;
            place += here[each];
        }
        before += all;
        __syncthreads();  // the sums of the warps are read
    }
    if (threadIdx.x == 0) offsets[count] = before;
}

template <class Record>
DEVICE void copy_records(const Record* from, uint64 count, Record* to) {
    const Piece* source = (const Piece*)from;
    Piece* target = (Piece*)to;
    const uint64 pieces = count * (sizeof(Record) / sizeof(Piece));
#pragma unroll 4
    for (uint64 piece = threadIdx.x; piece < pieces; piece += BLOCK) target[piece] = source[piece];
}

// A block copies what a book left, to where all books stand one behind the other.
extern "C" __global__ void __launch_bounds__(BLOCK)
gather_resting(const Batch* given, const int64* offsets, Resting* resting) {
    const Batch& batch = *given;
    const uint32 book = blockIdx.x;
    const bool touched = batch.first_message[book] != batch.first_message[book + 1];
    const Resting* from =
        touched ? rows_of(batch, book) : batch.resting + batch.first_resting[book];
    copy_records(from, batch.live[book], resting + offsets[book]);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
gather_events(const Batch* given, const int64* offsets, Event* events) {
    const Batch& batch = *given;
    const uint32 book = blockIdx.x;
    copy_records(events_of(batch, book), batch.event_counts[book], events + offsets[book]);
}
