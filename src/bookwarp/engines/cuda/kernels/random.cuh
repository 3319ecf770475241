// Both random streams (docs/streams.md). A draw is a pure function of who and when.

constexpr uint32 PHILOX_MULTIPLIER = 0xD256D193u;
constexpr uint32 PHILOX_INCREMENT = 0x9E3779B9u;
constexpr uint32 WIDE_BLOCK = 0x80000000u;

constexpr uint64 PAPER_CHANNEL = 0x0123456789ABCDEFull;
constexpr uint64 PAPER_STEP = 0xD1B54A32D192ED03ull;

// A value of which the compiler knows nothing: it is kept, not computed anew.
DEVICE uint32 hidden(uint32 value) {
    asm volatile("" : "+r"(value));
    return value;
}

DEVICE uint64 hidden(uint64 value) {
    asm volatile("" : "+l"(value));
    return value;
}

// The keys of Philox2x32-7: of round 1, and of the rounds from 3 on.
struct PhiloxKeys {
    uint32 first, second, high;
    uint32 later[5];
};

// The first round is the same for every block of a market: a block enters by XOR.
struct PhiloxStep {
    uint32 word0;  // of round 2, before the block
    uint32 word1;  // of round 2, and its key
};

DEVICE PhiloxKeys philox_keys(uint64 key) {
    uint32 low = low_word(key);
    PhiloxKeys keys = {low, low + PHILOX_INCREMENT, high_word(key)};
#pragma unroll
    for (uint32 round = 0; round < 5; ++round) {
        keys.later[round] = hidden(low + (round + 2) * PHILOX_INCREMENT);
    }
    return keys;
}

DEVICE PhiloxStep philox_step(const PhiloxKeys& keys, uint32 step) {
    uint64 product = multiply(step, PHILOX_MULTIPLIER);
    return {high_word(product) ^ keys.first ^ keys.high, low_word(product) ^ keys.second};
}

// Both words of a block: six multiplies and seven XORs.
DEVICE uint2 philox_block(const PhiloxKeys& keys, const PhiloxStep& first, uint32 block) {
    uint64 product = multiply(block ^ first.word0, PHILOX_MULTIPLIER);
    uint32 word0 = high_word(product) ^ first.word1;
    uint32 word1 = low_word(product);
#pragma unroll
    for (uint32 round = 0; round < 5; ++round) {
        product = multiply(word0, PHILOX_MULTIPLIER);
        word0 = high_word(product) ^ keys.later[round] ^ word1;
        word1 = low_word(product);
    }
    return {word0, word1};
}

// The channels of stream "paper".
enum Channel : uint32 { SIDE, MARKETABLE, QTY, OFFSET };

// The part of the paper's hash of one agent and channel that no step changes.
DEVICE uint64 paper_key(const Market& market, uint32 agent, uint32 channel) {
    uint32 gid = market.market_id * AGENTS + agent;
    return splitmix64((market.seed ^ PAPER_CHANNEL * channel) + SM_INCREMENT * gid);
}

// What a step adds to that key before it is mixed.
DEVICE uint64 paper_step(uint32 step) { return PAPER_STEP * step + SM_INCREMENT; }

// Only the upper word of `mix64`, which decides all draws but very few.
DEVICE uint32 mix64_high(uint64 value) {
    uint32 high = high_word(mix64_but_last(value));
    return high ^ (high >> 31);
}

// Whether a hash, as a fraction, is below one half as float32: whether 53 bits round to less than
// 2^52.
DEVICE bool paper_buys(uint32 high) { return high < 0x7FFFFFC0u; }

// floor(u * count), where u is in 0 .. 1 and both it and the product are rounded to float32 as in
// the published engine: 53 bits of the hash, then to nearest even.
DEVICE uint32 paper_below(uint64 hashed, uint32 count) {
    float uniform = __ull2float_rn(hashed >> 11) * 0x1p-53f;
    return (uint32)__fmul_rn(uniform, (float)count);
}

// The same by the upper word, for a count of at most 128. Rounding changes the product by at most
// its part in 2^22, and so the result only where the fraction, in 2^-32, is within 513 * count of a
// whole number; `unsure` is set there.
constexpr uint32 PAPER_MARGIN = 513 * 128 + 2;

DEVICE uint32 paper_below_by_high(uint32 high, uint32 count, bool& unsure) {
    uint64 product = multiply(high, count);
    unsure |= low_word(product) - PAPER_MARGIN >= 0u - 2 * PAPER_MARGIN;
    return high_word(product);
}

// What chance gives one agent.
struct Draw {
    bool buy;
    bool marketable;
    uint32 qty;
    int32 offset;
};

DEVICE Draw draw_narrow(const Market& market, uint32 word, bool noise) {
    uint64 product = (uint64)word * (2 * market.max_qty);
    uint32 size = (uint32)(product >> 32), left = (uint32)product;
    bool buy = (int32)word < 0;
    uint64 second = (uint64)left * (uint32)(2 * market.noise_spread + 1);
    if (noise) left = (uint32)second;
    return {buy, left < market.threshold, size - (buy ? market.max_qty : 0) + 1,
            (int32)(uint32)(second >> 32) - market.noise_spread};
}

// Bits 64 .. 95 of word * factor; `left` receives bits 32 .. 63.
DEVICE uint32 multiply_64x32(uint2 word, uint32 factor, uint32& left) {
    uint64 middle = (uint64)word.x * factor + (((uint64)word.y * factor) >> 32);
    left = (uint32)middle;
    return (uint32)(middle >> 32);
}

DEVICE Draw draw_wide(const Market& market, const PhiloxKeys& keys, const PhiloxStep& first,
                      uint32 agent) {
    uint2 word = philox_block(keys, first, WIDE_BLOCK | (2 * agent));
    uint32 left, unused;
    bool buy = (int32)word.x < 0;
    uint32 size = multiply_64x32(word, 2 * market.max_qty, left);
    word = philox_block(keys, first, WIDE_BLOCK | (2 * agent + 1));
    uint32 offset = multiply_64x32(word, (uint32)(2 * market.noise_spread + 1), unused);
    return {buy, (left & ~1u) < market.threshold, size - (buy ? market.max_qty : 0) + 1,
            (int32)offset - market.noise_spread};
}

DEVICE Draw draw_paper(const Market& market, uint32 agent, uint32 step) {
    uint64 by_step = paper_step(step);
    auto draw = [&](uint32 channel) { return mix64(paper_key(market, agent, channel) + by_step); };
    return {paper_buys(high_word(draw(SIDE))), draw(MARKETABLE) < market.marketable_below,
            1 + paper_below(draw(QTY), market.max_qty),
            (int32)paper_below(draw(OFFSET), 2 * market.noise_spread + 1) -
                market.noise_spread};
}
