// What the kernels of continuous books are given and give back. The host writes these structures
// with NumPy dtypes of the same layout (books/layout.py, spec); sizes are checked there.

typedef signed char int8;
typedef unsigned char uint8;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

#define DEVICE static __device__ __forceinline__
// What a message does seldom stays out of the way of the others and of their registers.
#define SELDOM static __device__ __noinline__
#define DEVICE_MEMBER __device__ __forceinline__

constexpr int64 INT64_MAX = 0x7FFFFFFFFFFFFFFFll;
constexpr int64 NO_PRICE = -INT64_MAX - 1;
constexpr int32 NO_ORDER = -1;
// Of a book whose rows are still where the batch found them.
constexpr uint32 NOT_STORED = 0xFFFFFFFFu;

// The codes of bookwarp.spec.
enum Op { NEW, CANCEL, MODIFY };
enum Side { SELL = -1, BUY = 1 };
enum Kind { LIMIT, MARKET };
enum TimeInForce { GTC, IOC, FOK, POST_ONLY };
enum EventType { ACCEPTED, TRADE, CANCELLED, MODIFIED, REJECTED };
enum Reason {
    NONE, DUPLICATE_ID, UNKNOWN_ID, QTY, PRICE, POST_ONLY_CROSSES, BOOK_FULL,
    REQUESTED = 16, REST, FILL_OR_KILL, SELF_TRADE
};
enum Counter {
    COUNT_MESSAGES, COUNT_ACCEPTED, COUNT_MODIFIED, COUNT_CANCELLED, COUNT_TRADES, COUNT_LOTS,
    COUNTERS = 12
};
enum Flag { ORDERS_FULL = 1, LEVELS_FULL = 2, LOTS_FULL = 4, LOTS_WRAPPED = 8 };
enum SelfTrade { STP_NONE, CANCEL_RESTING, CANCEL_INCOMING, CANCEL_BOTH };

struct alignas(16) Message {
    uint64 order_id;
    int64 price;
    int64 qty;
    uint32 place;  // the book; once a warp holds the message, its index in the batch
    uint32 codes;  // op, side, kind, tif: a byte each, from the lowest
};

struct alignas(16) Event {
    uint64 order_id;
    int64 price;
    int64 qty;
    uint32 message;
    uint32 codes;  // type, side, reason, op
};

// Sixteen bytes: what a thread reads or writes at a time.
struct alignas(16) Piece { uint64 first, second; };

// A resting order between two batches. Of a book: bids, then asks, by priority.
struct alignas(16) Resting {
    uint64 order_id;
    int64 price;
    int64 qty;
    int64 filled;
    uint64 owner;
    uint32 book;
    uint32 codes;  // side, tif, and two bytes of 0
};

// A batch, its books and its rules.
struct Batch {
    const Message* messages;
    const uint64* owners;         // [message]; null without a rule for self-trades
    const uint32* grouped;        // indexes of messages: by book, in a book as they came
    const uint32* first_message;  // [book + 1], into `grouped`
    const Resting* resting;       // before the batch
    const int64* first_resting;   // [book + 1]
    // Room for all that a book may hold or cause: see `rows_of` and `events_of`.
    Resting* resting_after;
    Event* events;
    int64* depth;           // [message, level, 4]; null if not asked
    uint32* live;           // orders after it [book], or NOT_STORED
    uint32* event_counts;   // [book]
    int64* counters;        // [book, COUNTERS]
    uint32* flags;          // [book]
    uint32* done;           // messages that are done [book]
    uint32* stopped;        // books that a kernel has no room for, `stopped_count` of them
    uint32* stopped_room;   // orders that each may come to hold at once
    uint32* stopped_count;
    uint32* overrun_count;  // books that caused more events than a book can
    int64 price_low;
    int64 price_high;
    uint32 order_capacity;
    uint32 level_capacity;
    uint32 depth_levels;
    uint32 books;
};

// Memory of a book whose orders lie in levels.
struct Room {
    uint64 address;
    uint32 orders;
    uint32 hash_mask;  // buckets, a power of two, less one
};

// A message adds one order at most.
DEVICE Resting* rows_of(const Batch& batch, uint32 book) {
    return batch.resting_after + batch.first_resting[book] + batch.first_message[book];
}

// It causes two events at most, beside those that remove an order: `event_bound` of the spec.
DEVICE uint64 event_room(const Batch& batch, uint32 book) {
    const uint64 messages = batch.first_message[book + 1] - batch.first_message[book];
    return 2 * messages + (uint64)(batch.first_resting[book + 1] - batch.first_resting[book]);
}

DEVICE Event* events_of(const Batch& batch, uint32 book) {
    return batch.events + batch.first_resting[book] + 2ull * batch.first_message[book];
}
