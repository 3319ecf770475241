// What a message does to a book: the rules of bookwarp.reference.matching under their names, for
// either kind of book. A whole warp goes through them with the same values in all lanes.

// A book in the middle of a batch, and where its events go.
struct Run {
    const Batch& batch;
    Book& book;
    Event* events;
    uint32 event_count;
    uint32 event_room;
    uint32 lane;
    Counted counted;
    int64 lots;
    uint32 flags;
    uint32 message;  // index of the one under way
    uint32 op;
};

DEVICE void count(Run& run, uint32 column) { run.counted.add(column, 1); }

// Nothing is written beyond the room of a book, whatever goes wrong: see `is_overrun`.
DEVICE void emit(Run& run, EventType type, uint64 order_id, int32 side, int64 price, int64 qty,
                 uint32 reason = NONE) {
#if EVENTS
    const uint32 codes = type | ((uint32)side & 0xFF) << 8 | reason << 16 | run.op << 24;
    Piece* out = (Piece*)(run.events + run.event_count);
    if (run.lane == 0 && run.event_count < run.event_room) {
        out[0] = {order_id, (uint64)price};
        out[1] = {(uint64)qty, (uint64)codes << 32 | run.message};
    }
#endif
    run.event_count += 1;
}

// Whether a book has caused more events than it can: then the kernel is not what its source says.
DEVICE bool is_overrun(const Run& run) { return run.event_count > run.event_room; }

DEVICE void reject(Run& run, uint64 order_id, int32 side, int64 price, int64 qty, uint32 reason) {
    count(run, COUNT_LOTS + reason);
    emit(run, REJECTED, order_id, side, price, qty, reason);
}

// All that is open of an order is cancelled.
DEVICE void cancelled(Run& run, const Order& order, uint32 reason) {
    count(run, COUNT_CANCELLED);
    emit(run, CANCELLED, order.order_id, order.side, order.price, order.qty, reason);
}

DEVICE Order resting_order(const Book& book, int32 at) {
    return {book.id_of(at), book.price_of(at), book.qty_of(at), book.filled_of(at),
            book.owner_of(at), book.side_of(at), book.tif_of(at), false, 0};
}

DEVICE bool keeps_place(const Order& order, int64 price, int64 qty) {
    return MODIFY_KEEPS && price == order.price && qty <= order.qty;
}

// The first thing of which a book has too little for an order that trades nothing.
DEVICE uint32 missing_room(const Run& run, const Order& order, int32 leaving) {
    const Book& book = run.book;
    const uint32 leaves = leaving != NO_ORDER;
    if (book.live - leaves >= run.batch.order_capacity) return ORDERS_FULL;
#if LEVEL_CAPACITY
    const bool level_leaves = leaves && book.is_alone(leaving);
    const bool same_level = leaves && book.price_of(leaving) == order.price;
    const bool is_new_level = !book.level_exists(order) || (level_leaves && same_level);
    const uint32 levels = book.level_count - level_leaves;
    if (is_new_level && levels >= run.batch.level_capacity) return LEVELS_FULL;
#endif
    return book.lots_full(order, leaving) ? LOTS_FULL : 0;
}

// Why an order may not come in because of what rests; `leaving` makes room for it.
DEVICE uint32 reject_resting(Run& run, const Order& order, int32 leaving) {
    if (run.book.crosses(order)) return order.tif == POST_ONLY ? POST_ONLY_CROSSES : NONE;
    if (!may_rest(order)) return NONE;
    const uint32 missing = missing_room(run, order, leaving);
    run.flags |= missing;
    return missing ? BOOK_FULL : NONE;
}

DEVICE uint32 reject_new(Run& run, const Order& order) {
    if (run.book.find(order.order_id) != NO_ORDER) return DUPLICATE_ID;
    if (order.qty <= 0) return QTY;
    if (!order.market && !in_range(run.batch, order.price)) return PRICE;
    return reject_resting(run, order, NO_ORDER);
}

// Why a modification is rejected. `changed` is the order as it is to be.
DEVICE uint32 reject_modify(Run& run, int32 at, int64 asked, const Order& order,
                            const Order& changed) {
    if (asked <= 0 || changed.qty <= 0) return QTY;
    if (!in_range(run.batch, changed.price)) return PRICE;
    if (keeps_place(order, changed.price, changed.qty)) return NONE;
    return reject_resting(run, changed, at);
}

// Accept a new order. Returns whether it goes on to trade.
DEVICE bool enter_new(Run& run, const Message& message, int32 tick, uint64 owner, Order& order) {
    const bool market = byte_of(message.codes, 2) == MARKET;
    order = {message.order_id, market ? 0 : message.price, message.qty, 0, owner,
             signed_byte(message.codes, 1), byte_of(message.codes, 3), market, tick};
    const uint32 reason = reject_new(run, order);
    if (reason) {
        reject(run, order.order_id, order.side, order.price, order.qty, reason);
        return false;
    }
    count(run, COUNT_ACCEPTED);
    emit(run, ACCEPTED, order.order_id, order.side, order.price, order.qty);
    if (order.tif == FOK && !run.book.can_fill_whole(order)) {
        cancelled(run, order, FILL_OR_KILL);
        return false;
    }
    return true;
}

DEVICE void cancel_order(Run& run, const Message& message) {
    const int32 at = run.book.find(message.order_id);
    if (at == NO_ORDER) {
        reject(run, message.order_id, 0, 0, 0, UNKNOWN_ID);
        return;
    }
    const Order order = resting_order(run.book, at);
    run.book.remove(at);
    cancelled(run, order, REQUESTED);
}

// Change a resting order where it is, or take it out. Returns whether it comes in again.
DEVICE bool modify_order(Run& run, const Message& message, int32 tick, Order& order) {
    const int32 at = run.book.find(message.order_id);
    if (at == NO_ORDER) {
        reject(run, message.order_id, 0, message.price, message.qty, UNKNOWN_ID);
        return false;
    }
    const Order before = resting_order(run.book, at);
    order = before;
    order.price = message.price;
    order.tick = tick;
    order.qty = message.qty - (TRACK_FILLED ? before.filled : 0);
    const uint32 reason = reject_modify(run, at, message.qty, before, order);
    if (reason) {
        reject(run, message.order_id, 0, message.price, message.qty, reason);
        return false;
    }
    count(run, COUNT_MODIFIED);
    emit(run, MODIFIED, order.order_id, order.side, order.price, order.qty);
    if (keeps_place(before, order.price, order.qty)) {
        run.book.set_qty(at, order.qty);
        return false;
    }
    run.book.remove(at);
    return true;
}

// Cancel the resting order, or all that is left of the one that came in, or both.
DEVICE void prevent_self_trade(Run& run, Order& order, int32 at) {
    if (STP == CANCEL_RESTING || STP == CANCEL_BOTH) {
        const Order resting = resting_order(run.book, at);
        run.book.remove(at);
        cancelled(run, resting, SELF_TRADE);
    }
    if (STP == CANCEL_INCOMING || STP == CANCEL_BOTH) {
        cancelled(run, order, SELF_TRADE);
        order.qty = 0;
    }
}

DEVICE void count_lots(Run& run, int64 lots) {
    const int64 before = run.lots;
    run.lots = (int64)((uint64)before + (uint64)lots);
    if (run.lots < before) run.flags |= LOTS_WRAPPED;
}

// Trade with the best price first, oldest first, at the resting order's price.
DEVICE void trade(Run& run, Order& order) {
    while (order.qty > 0 && run.book.crosses(order) && !is_overrun(run)) {
        const int32 at = run.book.first(-order.side);
#if STP
        if (same_owner(order.owner, run.book.owner_of(at))) {
            prevent_self_trade(run, order, at);
            continue;
        }
#endif
        const int64 open = run.book.qty_of(at);
        const int64 lots = min(order.qty, open);
        count(run, COUNT_TRADES);
        count_lots(run, lots);
        emit(run, TRADE, run.book.id_of(at), order.side, run.book.price_of(at), lots);
        order.qty -= lots;
        order.filled += lots;
        if (lots == open) run.book.remove(at);
        else run.book.reduce(at, lots);
    }
}

DEVICE void place_rest(Run& run, Order& order) {
    if (may_rest(order)) {
        if (!TRACK_FILLED) order.filled = 0;
        run.book.append(order);
    } else {
        cancelled(run, order, REST);
    }
}

// `tick` is the message's price as a book in slots counts it.
DEVICE void apply_message(Run& run, const Message& message, int32 tick, uint64 owner) {
    run.message = message.place;
    run.op = op_of(message);
    if (run.op == CANCEL) {
        cancel_order(run, message);
        return;
    }
    Order order;
    const bool comes_in = run.op == NEW ? enter_new(run, message, tick, owner, order)
                                        : modify_order(run, message, tick, order);
    if (!comes_in) return;
    trade(run, order);
    if (order.qty > 0) place_rest(run, order);
}
