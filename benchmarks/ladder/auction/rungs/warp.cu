// A warp owns a market, and is a block of its own: no barrier. The book lives in registers, ROWS
// levels a lane, for all steps of a launch.
//
// Shared: the histogram of a step's orders, both sides, all zeros between steps.
// Needs: a block of 32 threads for each market.

__shared__ int32 histogram[2][ROWS * LANES];

extern "C" __global__ void __launch_bounds__(LANES, WARPS)
run(const Market* markets, int32* books, Score* scores, uint32 market_count, uint32 first_step,
    uint32 steps) {
    const uint32 lane = threadIdx.x;
    const Market market = markets[blockIdx.x];
    int32* book = books + (uint64)blockIdx.x * LEVELS;
    Score score = scores[blockIdx.x];
    prepare_draws(market, lane);

    int32 buy[ROWS], sell[ROWS];
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        uint32 level = lane * ROWS + row;
        int32 resting = level < LEVELS ? book[level] : 0;
        buy[row] = positive(resting), sell[row] = positive(-resting);
        histogram[0][level] = histogram[1][level] = 0;
    }
    Outcome outcome;
    find_quotes(buy, sell, lane, outcome.best_bid, outcome.best_ask);
    __syncwarp();

    for (uint32 step = first_step; step < first_step + steps; ++step) {
        int32 mid2 = mid2_of(outcome.best_bid, outcome.best_ask, score.last);
        int32 trend = sign_of(mid2 - score.prev_mid2);
        score.prev_mid2 = mid2;
        draw_agents(market, step, lane, LANES, [&](uint32 agent, const Draw& draw) {
            add_order(order_of(market, agent, step, mid2, trend, draw), histogram, lane);
        });
        __syncwarp();
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            uint32 level = lane * ROWS + row;
            buy[row] += histogram[0][level], sell[row] += histogram[1][level];
            histogram[0][level] = histogram[1][level] = 0;
        }
        __syncwarp();
        outcome = clear_rows(buy, sell, lane);
        keep_score(outcome, score);
    }

#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        uint32 level = lane * ROWS + row;
        if (level < LEVELS) book[level] = buy[row] - sell[row];
    }
    if (lane == 0) scores[blockIdx.x] = score;
}
