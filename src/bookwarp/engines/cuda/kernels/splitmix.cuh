// SplitMix64, and the products that it is made of. Nothing here is specialised.

constexpr uint64 SM_INCREMENT = 0x9E3779B97F4A7C15ull;

// 32 x 32 -> 64 in one instruction; the compiler does not always see it in plain C++.
DEVICE uint64 multiply(uint32 a, uint32 b) {
    uint64 product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
}

DEVICE uint32 high_word(uint64 value) { return (uint32)(value >> 32); }
DEVICE uint32 low_word(uint64 value) { return (uint32)value; }

// The low 64 bits of a product in three instructions; the compiler needs one more.
DEVICE uint64 multiply_64(uint64 a, uint64 b) {
    uint64 product = multiply(low_word(a), low_word(b));
    uint32 high = high_word(product) + low_word(a) * high_word(b);
    asm("mad.lo.u32 %0, %1, %2, %0;" : "+r"(high) : "r"(high_word(a)), "r"(low_word(b)));
    return (uint64)high << 32 | low_word(product);
}

DEVICE uint64 mix64_but_last(uint64 value) {
    value = multiply_64(value ^ (value >> 30), 0xBF58476D1CE4E5B9ull);
    return multiply_64(value ^ (value >> 27), 0x94D049BB133111EBull);
}

// The finaliser of SplitMix64.
DEVICE uint64 mix64(uint64 value) {
    value = mix64_but_last(value);
    return value ^ (value >> 31);
}

DEVICE uint64 splitmix64(uint64 value) { return mix64(value + SM_INCREMENT); }
