// Orders into the histogram, one by one; lanes that hit the same level take turns.

DEVICE void add_order(const Order& order, int32 (*histogram)[ROWS * LANES], uint32 lane) {
    atomicAdd(&histogram[order.buy ? 0 : 1][order.level], order.qty);
}
