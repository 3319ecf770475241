// A block owns a market, a thread a level: book and histogram in shared memory, barriers between.
//
// Shared: both sides of the book, to which orders are added by atomics, and two buffers a side for
// the scans (Hillis-Steele: log2(THREADS) rounds, one barrier each). The book is read from global
// memory when a launch begins and written when it ends.
// Needs: THREADS >= LEVELS threads a block, a multiple of 32; a block for each market.

DEVICE void scan_upwards(int32 (&sums)[2][THREADS], int32 (&others)[2][THREADS], uint32 thread,
                         int& current) {
    current = 0;
    for (uint32 by = 1; by < THREADS; by *= 2, current ^= 1) {
        int32 sum = sums[current][thread], other = others[current][thread];
        if (thread >= by) sum += sums[current][thread - by], other += others[current][thread - by];
        sums[current ^ 1][thread] = sum, others[current ^ 1][thread] = other;
        __syncthreads();  // the next round reads what this one wrote
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
run(const Market* markets, int32* books, Score* scores, uint32 market_count, uint32 first_step,
    uint32 steps) {
    __shared__ int32 buy[THREADS], sell[THREADS];
    __shared__ int32 from_top[2][THREADS], from_bottom[2][THREADS];
    __shared__ Outcome found;

    const uint32 thread = threadIdx.x, level = thread;
    const Market market = markets[blockIdx.x];
    int32* book = books + (uint64)blockIdx.x * LEVELS;
    Score score = scores[blockIdx.x];
    int32 resting = level < LEVELS ? book[level] : 0;
    buy[level] = positive(resting), sell[level] = positive(-resting);

    for (uint32 step = first_step; step < first_step + steps; ++step) {
        if (thread == 0) found = {LEVELS, 0, -1, LEVELS};
        __syncthreads();  // `found` is set, and the book complete
        if (buy[level] > 0) atomicMax(&found.best_bid, (int32)level);
        if (sell[level] > 0) atomicMin(&found.best_ask, (int32)level);
        __syncthreads();  // all levels have been looked at
        int32 mid2 = mid2_of(found.best_bid, found.best_ask, score.last);
        int32 trend = sign_of(mid2 - score.prev_mid2);
        score.prev_mid2 = mid2;

        draw_agents(market, step, thread, THREADS, [&](uint32 agent, const Draw& draw) {
            Order order = order_of(market, agent, step, mid2, trend, draw);
            atomicAdd((order.buy ? buy : sell) + order.level, order.qty);
        });
        __syncthreads();  // all orders are in

        int current;
        from_top[0][thread] = buy[THREADS - 1 - thread], from_bottom[0][thread] = sell[thread];
        __syncthreads();  // the first round of the scans reads them
        scan_upwards(from_top, from_bottom, thread, current);
        int32 demand = from_top[current][THREADS - 1 - level], supply = from_bottom[current][level];
        int32 executable = min(demand, supply);
        atomicMax(&found.volume, executable);
        __syncthreads();  // the largest is known
        if (executable == found.volume) atomicMin(&found.price, (int32)level);
        __syncthreads();  // and so is its lowest level

        keep_score(found, score);
        buy[level] -= filled(found.volume, demand - buy[level], buy[level]);
        sell[level] -= filled(found.volume, supply - sell[level], sell[level]);
        __syncthreads();  // `found` has been read
    }
    if (level < LEVELS) book[level] = buy[level] - sell[level];
    if (thread == 0) scores[blockIdx.x] = score;
}
