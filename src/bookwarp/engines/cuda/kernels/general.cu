// Run any market: every spread, every size of order, both streams.
//
// One warp owns a market for all steps of a launch, then takes the next one, a grid further. The
// book lies in global memory and is read where orders or quotes are. Orders are added up, by side
// and level, in a histogram that belongs to the warp: in shared memory if it fits, else in
// `scratch`. It is all zeros between steps, unless lots wait for a later auction.
// A step: see the mid, draw and add up, clear the levels that matter, wipe the histogram.

struct Histogram {
    Lots* buy;
    Lots* sell;
#if EXECUTES
    Child own;
#endif

    DEVICE_MEMBER Lots at_top() const { return buy[LEVELS - 1]; }
    DEVICE_MEMBER Lots at_bottom() const { return sell[0]; }
#if EXECUTES
    DEVICE_MEMBER Child child() const { return own; }

    // Add what the execution agent sends, which then has `waiting` lots here.
    DEVICE_MEMBER void send(uint32 lots, int32 side, uint32 waiting, uint32 lane) {
        own = {waiting, side};
        if (lane == 0 && lots > 0) add(side > 0 ? buy : sell, side > 0 ? LEVELS - 1 : 0, lots);
        __syncwarp();
    }
#endif

    // Resting plus incoming lots of a level of the book, none above `high`.
    DEVICE_MEMBER void load(const Lots* book, int32 level, int32 high, Lots& bought,
                            Lots& sold) const {
        bought = sold = 0;
        if (level > high) return;
        Lots resting = book[level];
        bought = positive(resting) + buy[level];
        sold = positive(-resting) + sell[level];
    }

    DEVICE_MEMBER void add(Lots* side, int32 level, uint32 qty) const {
#if WIDE_LOTS
        atomicAdd((unsigned long long*)side + level, (unsigned long long)qty);
#else
        atomicAdd(side + level, (Lots)qty);
#endif
    }

#if WAITS
    // Take up what waits since an earlier launch, in place of all there is; returns whether anything does.
    DEVICE_MEMBER bool take_up(const WaitingRows& rows, uint32 lane) const {
        Lots any = 0;
        for (int32 level = lane; level < LEVELS; level += LANES) {
            buy[level] = rows.buy[level], sell[level] = rows.sell[level];
            any |= buy[level] | sell[level];
        }
        __syncwarp();
        return __any_sync(ALL_LANES, any != 0);
    }

    DEVICE_MEMBER void put_down(const WaitingRows& rows, uint32 lane) const {
        for (int32 level = lane; level < LEVELS; level += LANES) {
            rows.buy[level] = buy[level], rows.sell[level] = sell[level];
        }
    }
#endif

    DEVICE_MEMBER void wipe(int32 low, int32 high, uint32 lane) const {
        for (int32 level = low + (int32)lane; level <= high; level += LANES) {
            buy[level] = sell[level] = 0;
        }
        if (lane == 0) buy[LEVELS - 1] = sell[0] = 0;
        __syncwarp();
    }
};

DEVICE uint32 type_of(uint32 agent, const Market& market, const uint8* types) {
    if (GIVEN_TYPES) return types[agent];
    if (agent < market.noise_end) return NOISE;
    if (agent < market.momentum_end) return MOMENTUM;
    return agent < market.maker_end ? MAKER : FUNDAMENTAL;
}

// Send one agent's order, as the model has it.
DEVICE void send_order(uint32 agent, uint32 type, const Draw& draw, const Market& market,
                       uint32 step, const Seen& seen, const Histogram& histogram) {
    bool buys = draw.buy;
    int32 distance;  // ticks above the mid
    if (type == NOISE) {
        distance = max(-LEVELS, min(draw.offset, LEVELS));
    } else if (type == MAKER) {
        buys = ((agent + step) & 1) == 0;
        distance = buys ? -market.maker_half_spread : market.maker_half_spread;
    } else {
        int32 direction = type == MOMENTUM ? seen.ret : seen.pull;
        if (direction != 0) buys = direction > 0;
        distance = buys ? 1 : -1;
    }
    int32 level = clamp_to_grid(round_half_even(seen.mid2 + 2 * distance));
    if (draw.marketable && type != MAKER) level = buys ? LEVELS - 1 : 0;
    histogram.add(buys ? histogram.buy : histogram.sell, level, draw.qty);
}

DEVICE void send_all(const Market& market, const PhiloxKeys& keys, const uint8* types, uint32 step,
                     uint32 lane, const Seen& seen, const Histogram& histogram) {
    PhiloxStep first = philox_step(keys, step);
#pragma unroll 1
    for (uint32 pair = lane; 2 * pair < AGENTS; pair += LANES) {
        uint2 words = {0, 0};
        if (!PAPER && !market.wide) words = philox_block(keys, first, pair);
#pragma unroll 1
        for (uint32 odd = 0; odd < 2 && 2 * pair + odd < AGENTS; ++odd) {
            uint32 agent = 2 * pair + odd;
            uint32 type = type_of(agent, market, types);
            Draw draw = PAPER         ? draw_paper(market, agent, step)
                        : market.wide ? draw_wide(market, keys, first, agent)
                                      : draw_narrow(market, odd ? words.y : words.x, type == NOISE);
            send_order(agent, type, draw, market, step, seen, histogram);
        }
    }
    __syncwarp();
}

extern "C" __global__ void __launch_bounds__(LANES)
run_general(const Market* markets, Lots* books, int64* all_scalars, const uint8* all_types,
            const Rows* all_rows, void* scratch, uint32 market_count, uint32 first_step,
            uint32 steps, const Extras* extras) {
    uint32 lane = threadIdx.x;
#if HISTOGRAM_IN_SHARED
    extern __shared__ Lots histograms[];
#else
    Lots* histograms = (Lots*)scratch + (uint64)blockIdx.x * 2 * LEVELS;
#endif
    Histogram histogram = {histograms, histograms + LEVELS};
    histogram.wipe(0, LEVELS - 1, lane);

    for (uint32 m = blockIdx.x; m < market_count; m += gridDim.x) {
        const Market market = markets[m];
        const Scalars scalars = scalars_of(all_scalars, market_count, m);
        Lots* book = books + (uint64)m * LEVELS;
        const uint8* types = all_types + (GIVEN_TYPES ? (uint64)m * TYPES_PITCH : 0);
        const PhiloxKeys keys = philox_keys(market.key);
        Live live = take_up(scalars, market);
        int32 reach = farthest_order(market);
#if RECORDING
        const Rows rows = *all_rows;
        uint64 at = m;
        uint32 row = 0;
#endif
#if WAITS
        const WaitingRows waiting = waiting_rows(*extras, m);
        bool anywhere = histogram.take_up(waiting, lane);  // lots may be at any level
#endif
#if EXECUTES
        const Parent& parent = extras->parents[m];
        Execution execution = take_up_execution(scalars);
#endif
        for (uint32 step = first_step; step < first_step + steps; ++step) {
            Tick mid2 = observed_mid2(live);
            if (FOLLOWING && window_shift(mid2) != 0) {
                Tick shift = window_shift(mid2);
                follow_window(shift, move_window(book, shift, scalars, lane), live);
                mid2 -= 2 * shift;
            }
            Seen seen = observe(mid2, live);
            send_all(market, keys, types, step, lane, seen, histogram);
#if EXECUTES
            uint32 child = send_child(parent, extras->profile, step, mid2, live, scalars,
                                      lane == 0, execution);
            histogram.send(child, parent.side, execution.waiting, lane);
#endif
            if (!WAITS || (step + 1) % market.clearing_interval == 0) {
                int32 nearest = seen.mid2 >> 1;
                int32 low = min(max(nearest - reach, 0), min(LEVELS - 1, live.best_ask));
                int32 high = max(min(nearest + reach, LEVELS - 1), max(0, live.best_bid));
#if WAITS
                if (anywhere) low = 0, high = LEVELS - 1;
                anywhere = false;
#endif
                Outcome outcome = clear_book(book, histogram, low, high, lane);
#if EXECUTES
                settle_children(outcome, live, scalars, lane == 0, execution);
#endif
                keep_score(outcome, live);
                histogram.wipe(low, high, lane);
            }
#if RECORDING
            if ((step + 1) % rows.every == 0) {
                if (lane == 0) record_row(rows, at, live, scalars);
                if (records_book(rows, market)) {
                    record_book(rows, at, row, market, live.best_bid, live.best_ask, book, lane);
                }
                at += market_count;
                row += 1;
            }
#endif
        }
        if (lane == 0) put_down(live, scalars);
#if WAITS
        histogram.put_down(waiting, lane);
#endif
#if EXECUTES
        if (lane == 0) put_down_execution(execution, scalars);
#endif
    }
}
