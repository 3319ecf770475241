// As warp.cu, but only the 32 levels around the mid are in registers, one a lane, and cleared.
//
// Limit orders come within a few ticks of the mid, so that a step touches no other level, but for
// the marketable orders at both ends of the grid. If it does, or if what trades reaches past the
// lanes, the whole warp clears the whole grid as warp.cu does, the book in global memory.
// Shared: the histogram of a step's orders, both sides, all zeros between steps.
// Needs: a block of 32 threads for each market; MARKETS_PER_WARP 1.

__shared__ int32 histogram[2][ROWS * LANES];

struct HistogramIncoming {
    __device__ __forceinline__ void add(int32 level, int32& buy, int32& sell) const {
        buy += histogram[0][level], sell += histogram[1][level];
        histogram[0][level] = histogram[1][level] = 0;
    }
};

extern "C" __global__ void __launch_bounds__(LANES, WARPS)
run(const Market* markets, int32* books, Score* scores, uint32 market_count, uint32 first_step,
    uint32 steps) {
    const uint32 lane = threadIdx.x;
    const Market market = markets[blockIdx.x];
    int32* book = books + (uint64)blockIdx.x * LEVELS;
    Score score = scores[blockIdx.x];
    const int32 reach = 2 * max(max(market.noise_spread, market.maker_half_spread), 1);
    prepare_draws(market, lane);

    for (int32 level = lane; level < ROWS * LANES; level += LANES) {
        histogram[0][level] = histogram[1][level] = 0;
    }
    __syncwarp();
    Outcome outcome;
    outcome.best_bid = find_bid_below(book, LEVELS, lane);
    outcome.best_ask = find_ask_from(book, 0, lane);
    Held held;
    held.load_around(score.prev_mid2 / 2, book, lane);

    for (uint32 step = first_step; step < first_step + steps; ++step) {
        int32 mid2 = mid2_of(outcome.best_bid, outcome.best_ask, score.last);
        int32 trend = sign_of(mid2 - score.prev_mid2);
        score.prev_mid2 = mid2;
        draw_agents(market, step, lane, LANES, [&](uint32 agent, const Draw& draw) {
            add_order(order_of(market, agent, step, mid2, trend, draw), histogram, lane);
        });
        __syncwarp();

        // Lots beyond the lanes are only those that wait at the ends of the grid.
        int32 stop = held.first + LANES;
        bool covered = level_of(mid2 - reach) >= held.first && level_of(mid2 + reach) < stop &&
                       outcome.best_bid < stop && outcome.best_ask >= held.first;
        int32 above = stop < LEVELS ? histogram[0][LEVELS - 1] : 0;
        int32 below = held.first > 0 ? histogram[1][0] : 0;
        int32 level = held.first + (int32)lane, left;
        int32 buy = positive(held.resting) + histogram[0][level];
        int32 sell = positive(-held.resting) + histogram[1][level];
        Outcome cleared;
        bool decided = clear_window(buy, sell, held.first, above, below, lane, lane, left, cleared);
        if (covered && decided) {
            outcome = cleared;
            held.resting = left;
            __syncwarp();
            histogram[0][level] = histogram[1][level] = 0;
            if (lane == 0) histogram[0][LEVELS - 1] = histogram[1][0] = 0;
            if (outcome.best_bid < 0) outcome.best_bid = find_bid_below(book, held.first, lane);
            if (outcome.best_ask == LEVELS) outcome.best_ask = find_ask_from(book, stop, lane);
        } else {
            held.store(book, lane);
            __syncwarp();
            outcome = clear_far(book, HistogramIncoming(), lane);
            held.load_around((outcome.best_bid + outcome.best_ask) / 2, book, lane);
        }
        __syncwarp();
        keep_score(outcome, score);
    }
    held.store(book, lane);
    if (lane == 0) scores[blockIdx.x] = score;
}
