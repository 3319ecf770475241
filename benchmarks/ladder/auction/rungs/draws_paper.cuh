// Stream "paper" as it is published: four draws an agent, each of two hashes, and floats.

DEVICE uint64 splitmix64(uint64 value) {
    value += 0x9E3779B97F4A7C15ull;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

enum Channel : uint32 { SIDE, MARKETABLE, QTY, OFFSET, CHANNELS };

// The first hash: of who draws what.
DEVICE uint64 key_of(const Market& market, uint32 agent, uint32 channel) {
    uint32 gid = market.market_id * AGENTS + agent;
    uint64 seed = market.seed ^ 0x0123456789ABCDEFull * channel;
    return splitmix64(seed + 0x9E3779B97F4A7C15ull * gid);
}

#if KEEP_KEYS
// The first hash knows no step: it is made once a launch. A block is one warp, and owns a market.
__shared__ uint64 kept_keys[CHANNELS][AGENTS];

DEVICE void prepare_draws(const Market& market, uint32 lane) {
    for (uint32 channel = 0; channel < CHANNELS; ++channel) {
        for (uint32 agent = lane; agent < AGENTS; agent += LANES) {
            kept_keys[channel][agent] = key_of(market, agent, channel);
        }
    }
    __syncwarp();
}

DEVICE uint64 first_hash(const Market& market, uint32 agent, uint32 channel) {
    return kept_keys[channel][agent];
}
#else
DEVICE void prepare_draws(const Market& market, uint32 lane) {}

DEVICE uint64 first_hash(const Market& market, uint32 agent, uint32 channel) {
    return key_of(market, agent, channel);
}
#endif

// The second hash, as a float32 in 0 .. 1: 53 bits, rounded to nearest even.
DEVICE float uniform(const Market& market, uint32 agent, uint32 channel, uint32 step) {
    uint64 key = first_hash(market, agent, channel);
    uint64 hash = splitmix64(key + 0xD1B54A32D192ED03ull * step);
    return __ull2float_rn(hash >> 11) * 0x1p-53f;
}

// Draw for agents `first`, `first` + `stride` and so on, and `send` each. All threads take the same
// number of turns: those of too high a number draw for nobody.
template <class Send>
DEVICE void draw_agents(const Market& market, uint32 step, uint32 first, uint32 stride,
                        const Send& send) {
#pragma unroll 1
    for (uint32 start = 0; start < AGENTS; start += stride) {
        bool here = start + first < AGENTS;
        uint32 agent = here ? start + first : 0;
        float qty = uniform(market, agent, QTY, step);
        float offset = uniform(market, agent, OFFSET, step);
        int32 lots = 1 + (int32)__fmul_rn(qty, (float)market.max_qty);
        int32 away = (int32)__fmul_rn(offset, (float)(2 * market.noise_spread + 1));
        send(agent, Draw{uniform(market, agent, SIDE, step) < 0.5f,
                         uniform(market, agent, MARKETABLE, step) < market.probability,
                         here ? lots : 0, away - market.noise_spread});
    }
}
