// Orders into the histogram, those of the lanes that mean the same level added up before.

DEVICE void add_order(const Order& order, int32 (*histogram)[ROWS * LANES], uint32 lane) {
    uint32 side = order.buy ? 0 : 1;
    uint32 alike = __match_any_sync(ALL_LANES, 2 * order.level + side);
    int32 lots = __reduce_add_sync(alike, order.qty);
    if (lane == lowest_lane(alike)) histogram[side][order.level] += lots;
    __syncwarp();  // the next order of this warp may mean the same level
}
