// All arithmetic on 256 bits by itself, for pairs of numbers; a thread takes a pair.

struct Answer {
    U256 sum, difference, chosen, average;
    uint64 product[WIDE_LIMBS];
    U256 quotient, rounded_up;
    uint64 short_quotient;
    uint32 below, is_short_a, rest, pad;
};

// b > 0; of (high, low) and b the quotient is below 2^256, and of (low, b) below 2^64 if b is short.
extern "C" __global__ void __launch_bounds__(32)
try_pairs(const U256* first, const U256* second, const U256* high, Answer* answers, uint32 count) {
    const uint32 pair = blockIdx.x * 32 + threadIdx.x;
    if (pair >= count) return;
    const U256 a = first[pair], b = second[pair], top = high[pair];
    Answer& answer = answers[pair];
    answer.pad = 0;
    bool below, rest = false;
    answer.sum = add(a, b);
    answer.difference = subtract(a, b, below);
    answer.below = below + 2 * is_below(a, b);
    answer.chosen = choose(below, a, b);
    answer.is_short_a = is_short(a);
    for (uint32 limb = 0; limb < WIDE_LIMBS; ++limb) answer.product[limb] = 0;
    // From the most there is to add to: a * b + 2 * (2^256 - 1).
    for (uint32 limb = 0; limb < LIMBS; ++limb) answer.product[limb] = ~0ull;
    const U256 one = {{1, 0, 0, 0}}, most = turn(zero(), ~0ull);
    add_product(answer.product, &most, &one);
    add_product(answer.product, &a, &b);
    uint64 wide[WIDE_LIMBS];
    for (uint32 limb = 0; limb < LIMBS; ++limb) {
        wide[limb] = a.limb[limb];
        wide[LIMBS + limb] = top.limb[limb];
    }
    divide_wide(wide, &b, false, &answer.quotient);
    divide_wide(wide, &b, true, &answer.rounded_up);
    answer.short_quotient =
        is_short(b) ? divide_by_limb(top.limb[0], a.limb[0], b.limb[0], rest) : 0;
    answer.rest = rest;
    answer.average = a;
}
