// Numbers of 256 bits: four limbs of 64, the lowest first.

typedef unsigned char uint8;
typedef unsigned int uint32;
typedef unsigned long long uint64;

#define DEVICE static __device__ __forceinline__
#define DEVICE_MEMBER __device__ __forceinline__
// What an order does seldom stays out of the way of the others and of their registers.
#define SELDOM static __device__ __noinline__

constexpr uint32 LIMBS = 4;

struct alignas(16) U256 { uint64 limb[LIMBS]; };

DEVICE U256 zero() { return {{0, 0, 0, 0}}; }

DEVICE bool is_zero(const U256& a) { return (a.limb[0] | a.limb[1] | a.limb[2] | a.limb[3]) == 0; }

// Whether the number is less than 2^64.
DEVICE bool is_short(const U256& a) { return (a.limb[1] | a.limb[2] | a.limb[3]) == 0; }

// a - b, modulo 2^256; `below` says whether a < b.
DEVICE U256 subtract(const U256& a, const U256& b, bool& below) {
    U256 difference;
    uint64 borrow = 0;
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        const uint64 without = a.limb[place] - b.limb[place];
        difference.limb[place] = without - borrow;
        borrow = (a.limb[place] < b.limb[place]) | (without < borrow);
    }
    below = borrow != 0;
    return difference;
}

DEVICE bool is_below(const U256& a, const U256& b) {
    bool below;
    subtract(a, b, below);
    return below;
}

// a + b, modulo 2^256.
DEVICE U256 add(const U256& a, const U256& b) {
    U256 sum;
    uint64 carry = 0;
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        const uint64 without = a.limb[place] + b.limb[place];
        sum.limb[place] = without + carry;
        carry = (without < a.limb[place]) | (sum.limb[place] < without);
    }
    return sum;
}

DEVICE U256 choose(bool first, const U256& a, const U256& b) {
    U256 chosen;
#pragma unroll
    for (uint32 place = 0; place < LIMBS; ++place) {
        chosen.limb[place] = first ? a.limb[place] : b.limb[place];
    }
    return chosen;
}

// All bits of a number turned if `mask` is all ones, none if it is 0.
DEVICE U256 turn(const U256& a, uint64 mask) {
    return {{a.limb[0] ^ mask, a.limb[1] ^ mask, a.limb[2] ^ mask, a.limb[3] ^ mask}};
}

DEVICE uint32 swap_bytes(uint32 word) { return __byte_perm(word, 0, 0x0123); }

DEVICE uint64 join_words(uint32 high, uint32 low) { return (uint64)high << 32 | low; }

DEVICE uint64 swap_bytes(uint64 limb) {
    return join_words(swap_bytes((uint32)limb), swap_bytes((uint32)(limb >> 32)));
}
