// An order on its way in, and what is asked of it alone. Names and rules are those of
// bookwarp.reference.matching.

struct Order {
    uint64 order_id;
    int64 price;  // 0 of a market order
    int64 qty;    // open
    int64 filled;
    uint64 owner;
    int32 side;
    uint32 tif;
    bool market;
    int32 tick;  // the price, as a book in slots counts it: from its base
};

DEVICE int32 signed_byte(uint32 codes, uint32 place) {
    return (int32)(codes << (24 - 8 * place)) >> 24;
}
DEVICE uint32 byte_of(uint32 codes, uint32 place) { return codes >> (8 * place) & 0xFF; }

DEVICE uint32 op_of(const Message& message) { return byte_of(message.codes, 0); }

DEVICE bool in_range(const Batch& rules, int64 price) {
    return rules.price_low <= price && price <= rules.price_high;
}

// What does not trade of the order stays in the book.
DEVICE bool may_rest(const Order& order) {
    return (order.tif == GTC || order.tif == POST_ONLY) && !order.market;
}

DEVICE bool reaches(const Order& order, int64 price) {
    return order.market || (order.side == BUY ? order.price >= price : order.price <= price);
}

// Whether two orders of these owners may not trade.
DEVICE bool same_owner(uint64 one, uint64 other) {
    return STP != STP_NONE && one != 0 && one == other;
}
