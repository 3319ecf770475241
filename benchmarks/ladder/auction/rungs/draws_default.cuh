// Stream "default": one 64-bit Philox2x32-7 for two agents; each spends 32 bits by multiplication.

DEVICE void prepare_draws(const Market& market, uint32 lane) {}

struct PhiloxKeys {
    uint32 of_round[7];  // each is the one before plus a constant
    uint32 high;
};

DEVICE PhiloxKeys philox_keys(uint64 key) {
    PhiloxKeys keys;
    keys.high = (uint32)(key >> 32);
#pragma unroll
    for (uint32 round = 0; round < 7; ++round) {
        keys.of_round[round] = (uint32)key + round * 0x9E3779B9u;
    }
    return keys;
}

// The words of agents 2 * block and 2 * block + 1. The block enters the first round by XOR only, so
// that its product is the same for all agents.
DEVICE uint2 philox(const PhiloxKeys& keys, uint32 block, uint32 step) {
    uint64 product = (uint64)step * 0xD256D193u;
    uint32 same0 = (uint32)(product >> 32) ^ keys.of_round[0] ^ keys.high;
    uint32 same1 = (uint32)product ^ keys.of_round[1];
    product = (uint64)(block ^ same0) * 0xD256D193u;
    uint32 counter0 = (uint32)(product >> 32) ^ same1, counter1 = (uint32)product;
#pragma unroll
    for (uint32 round = 2; round < 7; ++round) {
        product = (uint64)counter0 * 0xD256D193u;
        counter0 = (uint32)(product >> 32) ^ keys.of_round[round] ^ counter1;
        counter1 = (uint32)product;
    }
    return {counter0, counter1};
}

// Side and size are the high word of word * 2q; what is left of it gives the offset, and what is
// left of that says whether the order is marketable.
DEVICE Draw spend(const Market& market, uint32 word, bool noise) {
    uint64 product = (uint64)word * market.two_max_qty;
    uint32 left = (uint32)product, buy = word >> 31;
#if MULTIPLY_BY_SIDE
    // Hide that this is 0 or 1, lest the compiler makes a choice of every product with it.
    asm("" : "+r"(buy));
#endif
    int32 qty = (int32)(product >> 32) + 1 - (int32)buy * market.max_qty;
    product = (uint64)left * (uint32)(2 * market.noise_spread + 1);
    if (noise) left = (uint32)product;
    return {buy, left < market.threshold, qty, (int32)(product >> 32) - market.noise_spread};
}

// Draw for the pairs of agents `first`, `first` + `stride` and so on, and `send` each agent. All
// threads take the same number of turns: those of too high a number draw for nobody.
template <class Send>
DEVICE void draw_agents(const Market& market, uint32 step, uint32 first, uint32 stride,
                        const Send& send) {
    PhiloxKeys keys = philox_keys(market.key);
#pragma unroll 1
    for (uint32 start = 0; start < (AGENTS + 1) / 2; start += stride) {
        uint2 words = philox(keys, start + first, step);
#pragma unroll
        for (uint32 odd = 0; odd < 2; ++odd) {
            uint32 agent = 2 * (start + first) + odd;
            Draw draw = spend(market, odd ? words.y : words.x, agent < market.noise_end);
            if (agent >= AGENTS) draw.qty = 0;
            send(agent, draw);
        }
    }
}
