// The volume-weighted average price of an order's fills, divided once.
//
// What is summed is how far each price is from the first one, which is 0 for all fills at one price
// and short where prices are near each other: a sum of 128 bits then does, and one of 512 is there
// for the rest. Prices are keys (book.cuh), which rise from fill to fill on either side. With F
// filled and D = sum of fill * (key - first key), the average is
//   asks: floor((first * F + D) / F) = first + floor(D / F),
//   bids: floor((first * F - D) / F) = first - ceil(D / F),
// and as a bid's key is its price with all bits turned, the second is first key + ceil(D / F).

constexpr uint32 WIDE_LIMBS = 2 * LIMBS;

struct Average {
    U256 first;
    uint64 low, high;  // D, while it is no wider
    bool is_wide;
};

// wide += fill * distance. All of it: the sum is below 2^512.
SELDOM void add_product(uint64* wide, const U256* fill, const U256* distance) {
    for (uint32 one = 0; one < LIMBS; ++one) {
        uint64 carry = 0;
        for (uint32 other = 0; other < LIMBS; ++other) {
            const uint64 a = fill->limb[one], b = distance->limb[other];
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

// Add a fill that is not the first.
DEVICE void add_fill(Average& average, uint64* wide, const U256& key, const U256& fill) {
    bool below;
    const U256 distance = subtract(key, average.first, below);
    if (is_zero(distance)) return;
    if (!average.is_wide && is_short(distance) && is_short(fill)) {
        const uint64 low = distance.limb[0] * fill.limb[0];
        const uint64 high = __umul64hi(distance.limb[0], fill.limb[0]);
        const uint64 sum_low = average.low + low;
        const uint64 with_carry = high + (sum_low < low);
        const uint64 sum_high = average.high + with_carry;
        if (sum_high >= with_carry) {
            average.low = sum_low;
            average.high = sum_high;
            return;
        }
    }
    if (!average.is_wide) {
        average.is_wide = true;
        wide[0] = average.low;
        wide[1] = average.high;
        for (uint32 place = 2; place < WIDE_LIMBS; ++place) wide[place] = 0;
    }
    // Copies, so that the numbers themselves need no address and stay in registers.
    const U256 own_fill = fill, own_distance = distance;
    add_product(wide, &own_fill, &own_distance);
}

// D / filled, rounded up if `up`; by the general way.
SELDOM void divide_wide(const uint64* wide, const U256* filled, bool up, U256* quotient) {
    uint32 dividend[DIVIDEND_WORDS + 1], divisor[DIVISOR_WORDS], digits[DIVISOR_WORDS];
    for (uint32 place = 0; place < WIDE_LIMBS; ++place) {
        dividend[2 * place] = (uint32)wide[place];
        dividend[2 * place + 1] = (uint32)(wide[place] >> WORD_BITS);
    }
    dividend[DIVIDEND_WORDS] = 0;
    for (uint32 place = 0; place < LIMBS; ++place) {
        divisor[2 * place] = (uint32)filled->limb[place];
        divisor[2 * place + 1] = (uint32)(filled->limb[place] >> WORD_BITS);
    }
    bool rest;
    divide(dividend, divisor, digits, &rest);
    for (uint32 place = 0; place < LIMBS; ++place) {
        quotient->limb[place] = join_words(digits[2 * place + 1], digits[2 * place]);
    }
    *quotient = add(*quotient, {{up && rest, 0, 0, 0}});
}

// The key of the average of an order that filled > 0; `up` for bids.
DEVICE U256 average_key(Average& average, uint64* wide, const U256& filled, bool up) {
    if (!average.is_wide && (average.low | average.high) == 0) return average.first;
    U256 distance;
    // Distances below 2^64 have an average below 2^64.
    if (!average.is_wide && is_short(filled)) {
        bool rest;
        const uint64 quotient = divide_by_limb(average.high, average.low, filled.limb[0], rest);
        distance = add({{quotient, 0, 0, 0}}, {{up && rest, 0, 0, 0}});
    } else {
        if (!average.is_wide) {
            wide[0] = average.low;
            wide[1] = average.high;
            for (uint32 place = 2; place < WIDE_LIMBS; ++place) wide[place] = 0;
        }
        const U256 own_filled = filled;
        U256 quotient;
        divide_wide(wide, &own_filled, up, &quotient);
        distance = quotient;
    }
    return add(average.first, distance);
}
