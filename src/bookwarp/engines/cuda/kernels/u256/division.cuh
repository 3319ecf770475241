// Exact division, as Knuth has it (The Art of Computer Programming, vol. 2, 4.3.1, algorithm D).

constexpr uint32 WORD_BITS = 32;
constexpr uint64 WORD_BASE = 1ull << WORD_BITS;
constexpr uint32 DIVISOR_WORDS = 8, DIVIDEND_WORDS = 16;

// A digit of the quotient, of the three highest words of the dividend and the two highest of the
// divisor, whose highest bit is set. It is right, or one too large.
DEVICE uint64 guess_digit(uint64 high, uint32 next, uint32 first, uint32 second) {
    uint64 digit = high / first, rest = high - digit * first;
    while (digit >= WORD_BASE || digit * second > (rest << WORD_BITS | next)) {
        --digit;
        rest += first;
        if (rest >= WORD_BASE) break;
    }
    return digit;
}

// floor((high, low) / divisor), for high < divisor: the quotient then has 64 bits.
DEVICE uint64 divide_by_limb(uint64 high, uint64 low, uint64 divisor, bool& rest) {
    const uint32 shift = __clzll(divisor);
    divisor <<= shift;
    if (shift != 0) high = high << shift | low >> (64 - shift);
    low <<= shift;
    const uint32 first = (uint32)(divisor >> WORD_BITS), second = (uint32)divisor;
    // Of two digits the second product is all there is to subtract, so that a guess is exact.
    const uint64 upper = guess_digit(high, (uint32)(low >> WORD_BITS), first, second);
    const uint64 between = (high << WORD_BITS | low >> WORD_BITS) - upper * divisor;
    const uint64 lower = guess_digit(between, (uint32)low, first, second);
    rest = (between << WORD_BITS | (uint32)low) != lower * divisor;
    return (upper << WORD_BITS) + lower;
}

// Words of a divisor without the zeros on top.
DEVICE uint32 significant_words(const uint32* words) {
    uint32 count = DIVISOR_WORDS;
    while (count > 1 && words[count - 1] == 0) --count;
    return count;
}

// words[0 .. count] <<= shift, for shift < 32; the highest word takes what leaves the others.
DEVICE void shift_left(uint32* words, uint32 count, uint32 shift) {
    for (uint32 place = count; place > 0; --place) {
        words[place] = __funnelshift_l(words[place - 1], words[place], shift);
    }
    words[0] <<= shift;
}

// part[0 .. count] -= digit * divisor[0 .. count - 1]; returns whether that is below 0.
DEVICE bool subtract_product(uint32* part, const uint32* divisor, uint32 count, uint64 digit) {
    uint64 carry = 0;
    for (uint32 place = 0; place < count; ++place) {
        const uint64 product = digit * divisor[place] + carry;
        carry = (product >> WORD_BITS) + (part[place] < (uint32)product);
        part[place] -= (uint32)product;
    }
    const bool below = part[count] < carry;
    part[count] -= (uint32)carry;
    return below;
}

// part[0 .. count] += divisor[0 .. count - 1], modulo what fits.
DEVICE void add_back(uint32* part, const uint32* divisor, uint32 count) {
    uint64 carry = 0;
    for (uint32 place = 0; place < count; ++place) {
        carry += (uint64)part[place] + divisor[place];
        part[place] = (uint32)carry;
        carry >>= WORD_BITS;
    }
    part[count] += (uint32)carry;
}

// floor(dividend / divisor), which must be below 2^256; divisor > 0. `rest` says whether something
// remains. dividend has DIVIDEND_WORDS + 1 words, the highest 0, and is what remains afterwards.
SELDOM void divide(uint32* dividend, uint32* divisor, uint32* quotient, bool* rest) {
    for (uint32 place = 0; place < DIVISOR_WORDS; ++place) quotient[place] = 0;
    const uint32 count = significant_words(divisor);
    const uint32 shift = __clz(divisor[count - 1]);
    for (uint32 place = count - 1; place > 0; --place) {
        divisor[place] = __funnelshift_l(divisor[place - 1], divisor[place], shift);
    }
    divisor[0] <<= shift;
    shift_left(dividend, DIVIDEND_WORDS, shift);
    const uint32 first = divisor[count - 1], second = count > 1 ? divisor[count - 2] : 0;
    // As the quotient is below 2^256, digits above are 0 and so is what they would look at.
    for (uint32 digit_at = DIVISOR_WORDS; digit_at-- > 0;) {
        uint32* part = dividend + digit_at;
        const uint32 next = count > 1 ? part[count - 2] : 0;
        uint64 digit =
            guess_digit(join_words(part[count], part[count - 1]), next, first, second);
        if (subtract_product(part, divisor, count, digit)) {
            --digit;
            add_back(part, divisor, count);
        }
        quotient[digit_at] = (uint32)digit;
    }
    uint32 left = 0;
    for (uint32 place = 0; place < DIVISOR_WORDS; ++place) left |= dividend[place];
    *rest = left != 0;
}
