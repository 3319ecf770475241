// Orders and results as bytes, and how a warp brings them: an order's numbers begin at odd bytes,
// rows of 117 bytes are nowhere aligned, and a thread that went through its own row would touch as
// many lines of memory as the warp has threads. So a warp copies the rows of its 32 books to shared
// memory in pieces of 16 bytes, while it still works on those before, and each thread takes its
// order from there in words, shifted and turned in one step each. Results go the same way back.

constexpr uint32 ORDER_BYTES = 117, PRICE_AT = 1;
constexpr uint32 RESULT_WORDS = 17, RESULT_BYTES = 4 * RESULT_WORDS;
constexpr uint32 NUMBER_WORDS = 8;
constexpr uint32 LANES = 32;
constexpr uint32 ALL_LANES = 0xFFFFFFFFu;
constexpr uint32 NO_ROW = 0xFFFFFFFFu;
constexpr uint32 PIECE = sizeof(Piece);

// What a thread looks at of an order whose row begins anywhere: side, price, quantity.
constexpr uint32 SEEN_BYTES = 65;
constexpr uint32 SEEN_PIECES = (SEEN_BYTES + PIECE - 1 + PIECE - 1) / PIECE;

// Rows of a warp that follow each other, from the piece on that the first begins in.
constexpr uint32 BUFFER_BYTES = (LANES * ORDER_BYTES + 2 * (PIECE - 1)) / PIECE * PIECE;

// Orders that come, then their results: of this turn, and of the next one.
struct Buffers { Piece pieces[2][BUFFER_BYTES / PIECE]; };

static_assert(LANES * RESULT_BYTES <= BUFFER_BYTES, "the results of a warp do not fit");
static_assert(LANES * SEEN_PIECES * PIECE <= BUFFER_BYTES, "orders by themselves do not fit");

DEVICE uint32 this_lane() { return threadIdx.x % LANES; }

// Take an order from where its row begins in a buffer.
DEVICE Order take_order(const Piece* buffer, uint32 row_at) {
    const uint32* words = (const uint32*)buffer + (row_at + PRICE_AT) / 4;
    // Of two words, the big-endian one that begins at a byte of the first.
    const uint32 turn = 0x0123 + 0x1111 * ((row_at + PRICE_AT) % 4);
    uint32 numbers[2 * NUMBER_WORDS];
    uint32 word = words[0];
#pragma unroll
    for (uint32 place = 0; place < 2 * NUMBER_WORDS; ++place) {
        const uint32 next = words[place + 1];
        numbers[place] = __byte_perm(word, next, turn);
        word = next;
    }
    Order order;
    order.is_bid = ((const uint8*)buffer)[row_at] == 0;
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        const uint32 high = NUMBER_WORDS - 2 - 2 * place;
        order.price.limb[place] = join_words(numbers[high], numbers[high + 1]);
        order.qty.limb[place] =
            join_words(numbers[NUMBER_WORDS + high], numbers[NUMBER_WORDS + high + 1]);
    }
    return order;
}

DEVICE void leave_number(uint32* words, const U256& number) {
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        const uint32 high = NUMBER_WORDS - 2 - 2 * place;
        words[high] = swap_bytes((uint32)(number.limb[place] >> 32));
        words[high + 1] = swap_bytes((uint32)number.limb[place]);
    }
}

// Leave a result in a buffer, behind those of the lanes before.
DEVICE void leave_result(Piece* buffer, const Result& result) {
    uint32* words = (uint32*)buffer + this_lane() * RESULT_WORDS;
    leave_number(words, result.filled);
    leave_number(words + NUMBER_WORDS, result.vwap);
    words[2 * NUMBER_WORDS] = swap_bytes(result.fill_count);
}

// Orders that came in passes over the same books: a warp's rows of a pass follow each other.
struct RowsInPasses {
    const uint8* copied;  // where the warp's orders of the turn begin that is being copied
    uint8* results;       // and the results of the turn that is worked on
    uint64 orders_apart, results_apart;  // bytes from pass to pass
    uint32 rows;          // books of this warp
    uint32 skipped;       // bytes in a buffer before the orders that are worked on

    DEVICE_MEMBER void open(const uint8* all_orders, uint8* all_results, uint64 first_row,
                            uint32 pass_rows, uint32 own_rows) {
        copied = all_orders + first_row * ORDER_BYTES;
        orders_apart = (uint64)pass_rows * ORDER_BYTES;
        results_apart = (uint64)pass_rows * RESULT_BYTES;
        results = all_results + first_row * RESULT_BYTES - results_apart;
        rows = own_rows;
    }

    DEVICE_MEMBER void begin() {}

    DEVICE_MEMBER uint32 bytes_before() const { return (uint32)((uint64)copied % PIECE); }

    DEVICE_MEMBER void copy_piece(Piece* buffer, uint32 piece) const {
        copy_ahead(buffer + piece, (const Piece*)(copied - bytes_before()) + piece);
    }

    DEVICE_MEMBER void copy_turn(Piece* buffer) const {
        // Those that every lane has where all lanes have books.
        constexpr uint32 SURE = LANES * ORDER_BYTES / PIECE / LANES * LANES;
        const uint32 pieces = (bytes_before() + rows * ORDER_BYTES + PIECE - 1) / PIECE;
        uint32 piece = this_lane();
        if (rows == LANES) {
#pragma unroll
            for (uint32 start = 0; start < SURE; start += LANES) copy_piece(buffer, piece + start);
            piece += SURE;
        }
#pragma unroll 1
        for (; piece < pieces; piece += LANES) copy_piece(buffer, piece);
    }

    // The rows that were copied are those to work on now.
    DEVICE_MEMBER void advance() {
        skipped = bytes_before();
        copied += orders_apart;
        results += results_apart;
    }

    DEVICE_MEMBER bool has_order() const { return this_lane() < rows; }

    // Where in a buffer the row of this lane begins.
    DEVICE_MEMBER uint32 row_at() const { return skipped + this_lane() * ORDER_BYTES; }

    DEVICE_MEMBER Order take(const Piece* buffer) const { return take_order(buffer, row_at()); }
    DEVICE_MEMBER void leave(Piece* buffer, const Result& result) const {
        leave_result(buffer, result);
    }

    DEVICE_MEMBER void write_results(const Piece* buffer) const {
        if ((uint64)results % PIECE == 0 && rows == LANES) {
            constexpr uint32 PIECES = LANES * RESULT_BYTES / PIECE;
#pragma unroll
            for (uint32 start = 0; start < PIECES; start += LANES) {
                const uint32 piece = start + this_lane();
                if (piece < PIECES) ((Piece*)results)[piece] = buffer[piece];
            }
            return;
        }
#pragma unroll 4
        for (uint32 word = this_lane(); word < rows * RESULT_WORDS; word += LANES) {
            ((uint32*)results)[word] = ((const uint32*)buffer)[word];
        }
    }
};

// Orders that came in any sequence, by book: each lane has rows of its own.
struct RowsByBook {
    const uint8* calldata;
    uint8* results;
    const uint32* grouped;  // rows by book; null: they follow each other
    uint32 next, stop;      // in `grouped`, of this lane's book
    uint32 coming;          // the row that will be copied, or NO_ROW; its number is on its way
    uint32 copied;          // the row that is being copied, and that is worked on
    uint32 current;

    DEVICE_MEMBER void begin() {
        copied = take_row();
        coming = take_row();
    }

    DEVICE_MEMBER uint32 take_row() {
        if (next >= stop) return NO_ROW;
        const uint32 row = grouped ? grouped[next] : next;
        ++next;
        return row;
    }

    DEVICE_MEMBER void copy_turn(Piece* buffer) {
        if (copied == NO_ROW) return;
        const uint8* from = calldata + (uint64)copied * ORDER_BYTES;
        const Piece* source = (const Piece*)(from - (uint64)from % PIECE);
#pragma unroll
        for (uint32 piece = 0; piece < SEEN_PIECES; ++piece) {
            copy_ahead(buffer + this_lane() * SEEN_PIECES + piece, source + piece);
        }
    }

    DEVICE_MEMBER void advance() {
        current = copied;
        copied = coming;
        coming = take_row();
    }

    DEVICE_MEMBER bool has_order() const { return current != NO_ROW; }

    DEVICE_MEMBER uint32 row_at() const {
        const uint8* from = calldata + (uint64)current * ORDER_BYTES;
        return this_lane() * SEEN_PIECES * PIECE + (uint32)((uint64)from % PIECE);
    }

    DEVICE_MEMBER Order take(const Piece* buffer) const { return take_order(buffer, row_at()); }
    DEVICE_MEMBER void leave(Piece* buffer, const Result& result) const {
        leave_result(buffer, result);
    }

    DEVICE_MEMBER void write_results(const Piece* buffer) const {
#pragma unroll 1
        for (uint32 start = 0; start < LANES * RESULT_WORDS; start += LANES) {
            const uint32 word = start + this_lane();
            const uint32 row = __shfl_sync(ALL_LANES, current, word / RESULT_WORDS);
            if (row == NO_ROW) continue;
            uint32* to = (uint32*)(results + (uint64)row * RESULT_BYTES);
            to[word % RESULT_WORDS] = ((const uint32*)buffer)[word];
        }
    }
};
