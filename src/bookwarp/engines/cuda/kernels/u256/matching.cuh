// One order: what it fills, what it leaves, what it gets. Twin of bookwarp.reference.u256.

struct Order {
    bool is_bid;
    U256 price, qty;
};

struct Result {
    U256 filled, vwap;
    uint32 fill_count;
};

// Fill from the best order of `facing` on, while it crosses and something remains.
DEVICE uint32 take_fills(Book& book, uint32 facing, Side& side, const U256& limit, U256& remaining,
                         Average& average, uint64* wide) {
    uint32 fill_count = 0;
    while (side.count > 0 && !is_zero(remaining)) {
        book.hold_best(facing, side);
        if (is_below(limit, book.held.key)) break;
        bool all_goes, nothing_left;
        const U256 left = subtract(book.held.qty, remaining, all_goes);
        const U256 fill = choose(all_goes, book.held.qty, remaining);
        if (fill_count == 0) average = {book.held.key, 0, 0, false};
        else add_fill(average, wide, book.held.key, fill);
        ++fill_count;
        remaining = all_goes ? subtract(remaining, fill, nothing_left) : zero();
        if (all_goes || is_zero(left)) {
            side.head = side.head + 1 == book.capacity ? 0 : side.head + 1;
            --side.count;
            book.held_side = NO_SIDE;
            book.held_changed = false;
            book.ends_changed = true;
        } else {
            book.held.qty = left;
            book.held_changed = true;
        }
    }
    return fill_count;
}

// Let a remainder rest behind equal prices; it is dropped if its side is full.
DEVICE void rest_order(Book& book, uint32 own, Side& side, const U256& price, const U256& qty) {
    if (is_zero(qty) || side.count == book.capacity) return;
    book.insert(own, side, {turn(price, turned(own)), qty});
    book.ends_changed = true;
}

DEVICE Result match_order(Book& book, const Order& order) {
    const uint32 own = order.is_bid ? BIDS : ASKS, facing = order.is_bid ? ASKS : BIDS;
    Side here = order.is_bid ? book.bids : book.asks;
    Side there = order.is_bid ? book.asks : book.bids;
    U256 remaining = order.qty;
    Average average;
    uint64 wide[WIDE_LIMBS];
    const U256 limit = turn(order.price, turned(facing));
    const uint32 fill_count = take_fills(book, facing, there, limit, remaining, average, wide);
    book.bids = order.is_bid ? here : there;
    book.asks = order.is_bid ? there : here;
    rest_order(book, own, here, order.price, remaining);
    book.bids = order.is_bid ? here : there;
    book.asks = order.is_bid ? there : here;
    bool below;
    const U256 filled = subtract(order.qty, remaining, below);
    // A slot of quantity 0, which only a book that was given can hold, is a fill of nothing.
    if (is_zero(filled)) return {zero(), zero(), fill_count};
    const U256 key = average_key(average, wide, filled, !order.is_bid);
    return {filled, turn(key, turned(facing)), fill_count};
}
