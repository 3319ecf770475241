// What the kernels share. One thread owns a book and takes its orders one after the other.
//
// THREADS, OWN_ORDERS, the layout and the variant are macros. Offsets of words are 32 bits:
// MOST_BOOKS of layout.py books of 128 words are 2^31 of them.

typedef unsigned char uint8;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned int uint32;
typedef unsigned long long uint64;

constexpr int DEPTH = 32;
constexpr int TAKERS = 32;
constexpr uint32 BUY = 0;

struct alignas(16) Order {
    uint32 price;
    uint32 qty;
    uint32 side;
    uint32 number;
};

__device__ __forceinline__ uint32 this_book() { return blockIdx.x * THREADS + threadIdx.x; }

// A read that takes place: the compiler neither leaves it out nor keeps the word for later.
__device__ __forceinline__ uint32 read_word(const uint32* address) {
#ifdef __CUDA_ARCH__
    uint32 word;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(word) : "l"(address));
    return word;
#else
    return *address;
#endif
}

// From here on the compiler knows nothing of the pointer, and keeps nothing that follows from it.
__device__ __forceinline__ void forget_value(const uint32*& pointer) {
#ifdef __CUDA_ARCH__
    asm volatile("" : "+l"(pointer));
#endif
}
