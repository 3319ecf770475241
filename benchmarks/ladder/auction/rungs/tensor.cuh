// The one instruction of the tensor cores that a rung uses: bytes, 16 x 32 times 32 x 8.
//
// A thread gives bytes 4 (thread % 4) .. + 3 of row thread / 4 of the first matrix in `a_low`, and the
// same of columns 16 .. 31 in `a_high`; rows 8 .. 15 are zero. Of the second matrix, column
// thread / 4, it gives the same rows in `b_low` and `b_high`. It gets columns 2 (thread % 4) and
// 2 (thread % 4) + 1 of row thread / 4 of the product.
DEVICE uint2 multiply_bytes(uint32 a_low, uint32 a_high, uint32 b_low, uint32 b_high) {
    uint2 product;
    [[maybe_unused]] uint32 third, fourth;  // of rows 8 .. 15
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %6, %5, %6}, "
        "{%7, %8}, {%6, %6, %6, %6};"
        : "=r"(product.x), "=r"(product.y), "=r"(third), "=r"(fourth)
        : "r"(a_low), "r"(a_high), "r"(0), "r"(b_low), "r"(b_high));
    return product;
}
