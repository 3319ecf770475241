// Lots that orders add to the book, counted in packed bytes and added up by the tensor cores.
//
// A lane has eight 8-bit counters for all lots and eight for the buys among them. Slots 0 .. 6 are
// the offsets -3 .. 3 from the mid; slot 7 is for marketable orders, or, with the paper's stream,
// for an offset of 4, which its rounding can draw. The host picks the kernel that counts only where
// agents * (max_qty + 1) is below 2^16, and ROUNDS_PER_SUM so that no counter overflows.

constexpr uint32 CENTER = 3;  // slot of the mid
constexpr uint32 LAST_SLOT = 7;
constexpr uint32 OFFSET_SLOTS = PAPER ? 8 : 7;

struct Counters {
    uint32 all_low, all_high, buy_low, buy_high;
};

// Opaque to the compiler, which else turns products with it into masks: the logic units are the
// busy ones, the multipliers have time.
DEVICE uint32 top_bit(uint32 word) {
    uint32 bit;
    asm("shr.u32 %0, %1, 31;" : "=r"(bit) : "r"(word));
    return bit;
}

DEVICE uint32 shift_left_clamped(uint32 value, uint32 by) {
    uint32 result;  // 0 when `by` is 32 or more, which C++ leaves undefined
    asm("shl.b32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(by));
    return result;
}

// Count lots of the slot whose counters begin at bit `bits`; none if it is past the last. `buy` is 0
// or 1.
DEVICE void count_slot(uint32 bits, uint32 qty, uint32 buy, Counters& into) {
    uint32 low = shift_left_clamped(qty, bits);
    uint32 high = shift_left_clamped(qty, bits - 32);
    into.all_low += low;
    into.all_high += high;
    into.buy_low += low * buy;
    into.buy_high += high * buy;
}

// Sum over the lanes of a group, in all of them.
DEVICE uint32 sum_group(uint32 value) {
    if constexpr (GROUP == LANES) {
        return __reduce_add_sync(ALL_LANES, value);
    } else {
#pragma unroll
        for (uint32 by = GROUP / 2; by > 0; by /= 2) value += __shfl_xor_sync(ALL_LANES, value, by);
        return value;
    }
}

// Add the 8-bit counters of a warp's lanes, by group. Returns sum s of eight of this thread's
// column pair; see `gather_slots` for where they come to lie.
//
// The tensor cores do it. `low` and `high` are a matrix of 32 rows and 8 columns of bytes, column
// thread / 4; a matrix of ones and zeros, row s of which picks byte s of every thread, multiplies
// it. A thread gets columns 2 (thread % 4) and 2 (thread % 4) + 1 of row thread / 4.
DEVICE uint32 sum_bytes(uint32 low, uint32 high) {
    uint32 row = threadIdx.x / 4;
    uint32 pick_low = shift_left_clamped(1, 8 * row);
    uint32 pick_high = shift_left_clamped(1, 8 * row - 32);
    uint32 first, second;
    [[maybe_unused]] uint32 third, fourth;  // of rows 8 .. 15, which pick nothing
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %6, %5, %6}, "
        "{%7, %8}, {%6, %6, %6, %6};"
        : "=r"(first), "=r"(second), "=r"(third), "=r"(fourth)
        : "r"(pick_low), "r"(pick_high), "r"(0), "r"(low), "r"(high));
    return first + second;
}

// Add the counters of a group's lanes: all lots low, buys high. Slot s of group g of a warp comes
// to lie in thread 4 s + g * GROUP / 8, and in those behind it that are as far apart as groups.
DEVICE uint32 gather_slots(const Counters& counted) {
    uint32 slots = sum_bytes(counted.all_low, counted.all_high) +
                   (sum_bytes(counted.buy_low, counted.buy_high) << 16);
#pragma unroll
    for (uint32 by = 1; by < GROUP / 8; by *= 2) slots += __shfl_xor_sync(ALL_LANES, slots, by);
    return slots;
}

DEVICE uint32 gathered_slot(uint32 gathered, uint32 slot) {
    uint32 group = threadIdx.x / GROUP;
    return __shfl_sync(ALL_LANES, gathered, 4 * slot + group * (GROUP / 8));
}
