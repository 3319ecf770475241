// The average price divided anew after every fill. It takes the place of average.cuh.

constexpr uint32 WIDE_LIMBS = 2 * LIMBS;

struct Average { U256 filled, vwap; };

DEVICE void begin_average(Average& average, uint64* wide) {
    average = {zero(), zero()};
    for (uint32 place = 0; place < WIDE_LIMBS; ++place) wide[place] = 0;
}

// wide += fill * price.
DEVICE void add_product(uint64* wide, const U256& fill, const U256& price) {
    for (uint32 one = 0; one < LIMBS; ++one) {
        uint64 carry = 0;
        for (uint32 other = 0; other < LIMBS; ++other) {
            const uint64 a = fill.limb[one], b = price.limb[other];
            const uint64 low = a * b, with_carry = low + carry;
            uint64& at = wide[one + other];
            carry = __umul64hi(a, b) + (with_carry < low);
            at += with_carry;
            carry += at < with_carry;
        }
        for (uint32 place = one + LIMBS; carry != 0 && place < WIDE_LIMBS; ++place) {
            wide[place] += carry;
            carry = wide[place] < carry;
        }
    }
}

DEVICE void add_fill(Average& average, uint64* wide, const U256& price, const U256& fill) {
    add_product(wide, fill, price);
    average.filled = add(average.filled, fill);
    if (is_zero(average.filled)) return;
    uint32 dividend[DIVIDEND_WORDS + 1], divisor[DIVISOR_WORDS], digits[DIVISOR_WORDS];
    for (uint32 place = 0; place < WIDE_LIMBS; ++place) {
        dividend[2 * place] = (uint32)wide[place];
        dividend[2 * place + 1] = (uint32)(wide[place] >> WORD_BITS);
    }
    dividend[DIVIDEND_WORDS] = 0;
    for (uint32 place = 0; place < LIMBS; ++place) {
        divisor[2 * place] = (uint32)average.filled.limb[place];
        divisor[2 * place + 1] = (uint32)(average.filled.limb[place] >> WORD_BITS);
    }
    bool rest;
    divide(dividend, divisor, digits, &rest);
    for (uint32 place = 0; place < LIMBS; ++place) {
        average.vwap.limb[place] = join_words(digits[2 * place + 1], digits[2 * place]);
    }
}
