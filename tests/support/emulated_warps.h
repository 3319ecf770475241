// A GPU's warps on a processor, for kernels written in plain CUDA C++: every thread of a block has a
// stack of its own, and runs until it waits for the others of its warp or block. They run in turns,
// from the first to the last and back, so that they are as far apart as they can be: one that reads
// what another has yet to write, or has written over, comes out wrong.
//
// What it checks beside results: all lanes of a warp come to the same operation, nobody waits for a
// thread that has ended, and shared memory holds garbage when a block begins. Masks are taken to
// name all lanes, except where an operation works within groups of them.

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __shared__ static __attribute__((section("shared_memory")))
using std::max, std::min;
inline unsigned min(unsigned a, int b) { return std::min(a, (unsigned)b); }

struct uint2 {
    unsigned x, y;
};
struct int2 {
    int x, y;
};
struct Index {
    unsigned x;
};
static Index threadIdx, blockIdx, blockDim, gridDim;

extern char __start_shared_memory[] __attribute__((weak));
extern char __stop_shared_memory[] __attribute__((weak));

namespace emulated {

constexpr unsigned LANES = 32, STACK = 256 * 1024;

struct Thread {
    std::unique_ptr<char[]> stack{new char[STACK]};
    jmp_buf resume;  // where it waits, once it has begun
    bool begun = false, ended = false;
    unsigned operations = 0, barriers = 0;
};

// What lanes bring to the last two operations of their warp.
struct Warp {
    std::uint64_t values[2][LANES];
    std::uint32_t masks[2][LANES];
    const char* names[2] = {};
    unsigned arrivals = 0;
};

inline std::vector<Thread> threads;
inline std::vector<Warp> warps;
inline unsigned barrier_arrivals;
inline jmp_buf scheduler;
inline bool moved;
inline const char* failure;
enum { WAITS = 1, FAILED = 2 };

// End the kernel here; `run_grid` returns what was wrong.
[[noreturn]] inline void fail(const char* what) {
    failure = what;
    _longjmp(scheduler, FAILED);
}

inline void wait_until_others() {
    if (!_setjmp(threads[threadIdx.x].resume)) _longjmp(scheduler, WAITS);
}

// Bring a value to an operation of the warp; returns what all lanes brought.
struct Brought {
    const std::uint64_t* values;
    const std::uint32_t* masks;
};

inline Brought bring(const char* name, std::uint64_t value, std::uint32_t mask = ~0u) {
    Thread& self = threads[threadIdx.x];
    Warp& warp = warps[threadIdx.x / LANES];
    unsigned place = self.operations % 2, lane = threadIdx.x % LANES;
    bool first = warp.arrivals == LANES * self.operations;
    if (first) warp.names[place] = name;
    if (warp.names[place] != name) fail("the lanes of a warp are at different operations");
    if (!(mask >> lane & 1)) fail("a lane is not in its own mask");
    warp.values[place][lane] = value, warp.masks[place][lane] = mask;
    ++warp.arrivals, ++self.operations;
    moved = true;
    while (warp.arrivals < LANES * self.operations) wait_until_others();
    return {warp.values[place], warp.masks[place]};
}

template <class Value>
Value shuffle(const char* name, Value value, int source, bool inside) {
    Brought brought = bring(name, (std::uint64_t)value);
    return inside ? (Value)brought.values[source] : value;
}

inline unsigned lane() { return threadIdx.x % LANES; }

// Fold the values of the lanes that are in the mask of this one.
template <class Value, class Fold>
Value reduce(const char* name, std::uint32_t mask, Value value, const Fold& fold) {
    Brought brought = bring(name, (std::uint64_t)value, mask);
    bool begun = false;
    Value total = 0;
    for (unsigned other = 0; other < LANES; ++other) {
        if (!(mask >> other & 1)) continue;
        if (brought.masks[other] != mask) fail("lanes that work together have different masks");
        Value theirs = (Value)brought.values[other];
        total = begun ? fold(total, theirs) : theirs;
        begun = true;
    }
    return total;
}

inline void (*body)();

inline void run_thread() {
    body();
    threads[threadIdx.x].ended = moved = true;
    _longjmp(scheduler, WAITS);
}

// Let a thread run until it waits or ends.
inline void run_on(Thread& thread) {
    if (_setjmp(scheduler)) return;
    if (thread.begun) _longjmp(thread.resume, 1);
    thread.begun = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = thread.stack.get();
    context.uc_stack.ss_size = STACK;
    context.uc_link = nullptr;
    makecontext(&context, run_thread, 0);
    setcontext(&context);
}

template <class Kernel>
void run_block(unsigned count, const Kernel& kernel) {
    static const Kernel* running;
    running = &kernel;
    body = +[] { (*running)(); };
    if (__start_shared_memory) {
        std::memset(__start_shared_memory, 0xA5, __stop_shared_memory - __start_shared_memory);
    }
    threads.resize(count);
    for (Thread& thread : threads) {
        thread.begun = thread.ended = false;
        thread.operations = thread.barriers = 0;
    }
    warps = std::vector<Warp>(count / LANES);
    barrier_arrivals = 0;
    unsigned ended = 0;
    for (unsigned turn = 0; ended < count; ++turn) {
        ended = 0, moved = false;
        for (unsigned place = 0; place < count; ++place) {
            threadIdx.x = turn % 2 ? count - 1 - place : place;
            Thread& thread = threads[threadIdx.x];
            if (!thread.ended) run_on(thread);
            if (failure) return;
            ended += thread.ended;
        }
        if (!moved && ended < count) {
            failure = "threads wait for others that never come";
            return;
        }
    }
}

// Run all blocks, one after the other; returns what was wrong, or null.
template <class Kernel>
const char* run_grid(unsigned grid, unsigned block, const Kernel& kernel) {
    gridDim.x = grid, blockDim.x = block;
    failure = nullptr;
    for (blockIdx.x = 0; blockIdx.x < grid && !failure; ++blockIdx.x) run_block(block, kernel);
    return failure;
}

}  // namespace emulated

inline void __syncthreads() {
    unsigned reached = ++emulated::threads[threadIdx.x].barriers;
    ++emulated::barrier_arrivals;
    emulated::moved = true;
    while (emulated::barrier_arrivals < reached * blockDim.x) emulated::wait_until_others();
}

inline void __syncwarp() { emulated::bring("syncwarp", 0); }

template <class Value>
Value __shfl_sync(unsigned, Value value, int source, int width = 32) {
    int start = emulated::lane() / width * width;
    return emulated::shuffle("shfl", value, start + (source & (width - 1)), true);
}

template <class Value>
Value __shfl_up_sync(unsigned, Value value, unsigned by, int width = 32) {
    int source = (int)emulated::lane() - (int)by, start = emulated::lane() / width * width;
    return emulated::shuffle("shfl up", value, source, source >= start);
}

template <class Value>
Value __shfl_xor_sync(unsigned, Value value, int by) {
    return emulated::shuffle("shfl xor", value, emulated::lane() ^ by, true);
}

inline unsigned __ballot_sync(unsigned mask, bool condition) {
    unsigned bit = (unsigned)condition << emulated::lane();
    return emulated::reduce("ballot", mask, bit, [](unsigned a, unsigned b) { return a | b; });
}

inline bool __any_sync(unsigned mask, bool condition) { return __ballot_sync(mask, condition); }

template <class Value>
Value __reduce_add_sync(unsigned mask, Value value) {
    return emulated::reduce("add", mask, value, [](Value a, Value b) { return a + b; });
}

template <class Value>
Value __reduce_max_sync(unsigned mask, Value value) {
    return emulated::reduce("max", mask, value, [](Value a, Value b) { return max(a, b); });
}

template <class Value>
Value __reduce_min_sync(unsigned mask, Value value) {
    return emulated::reduce("min", mask, value, [](Value a, Value b) { return min(a, b); });
}

inline unsigned __match_any_sync(unsigned mask, unsigned value) {
    emulated::Brought brought = emulated::bring("match", value, mask);
    unsigned alike = 0;
    for (unsigned other = 0; other < 32; ++other) {
        if (brought.values[other] == value) alike |= 1u << other;
    }
    return alike & mask;
}

// Threads run one at a time, so that nothing can come between.
template <class Value>
Value atomicAdd(Value* at, Value value) {
    const Value before = *at;
    *at += value;
    return before;
}
inline void atomicMax(int* at, int value) { *at = max(*at, value); }
inline void atomicMin(int* at, int value) { *at = min(*at, value); }

inline int __ffs(unsigned word) { return __builtin_ffs(word); }
inline int __popc(unsigned word) { return __builtin_popcount(word); }
inline int __clz(unsigned word) { return word ? __builtin_clz(word) : 32; }
inline float __ull2float_rn(unsigned long long value) { return (float)value; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __ll2double_rn(long long value) { return (double)value; }
inline long long __double2ll_rn(double value) { return std::llrint(value); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double value) { return std::sqrt(value); }
inline double __longlong_as_double(long long bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
    by = min(by, 32u);
    return (unsigned)((((std::uint64_t)high << 32 | low) << by) >> 32);
}

inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    std::uint64_t bytes = (std::uint64_t)y << 32 | x;
    unsigned result = 0;
    for (unsigned place = 0; place < 4; ++place) {
        unsigned chosen = selector >> (4 * place) & 7;
        result |= (unsigned)(bytes >> (8 * chosen) & 0xFF) << (8 * place);
    }
    return result;
}

// Add the products of signed bytes, or those of signed words of 16 bits with the lower or the upper
// two bytes.
inline int __dp4a(int a, int b, int sum) {
    for (int at = 0; at < 32; at += 8) sum += (std::int8_t)(a >> at) * (std::int8_t)(b >> at);
    return sum;
}
inline int __dp2a_lo(int a, int b, int sum) {
    return sum + (std::int16_t)a * (std::int8_t)b + (a >> 16) * (std::int8_t)(b >> 8);
}
inline int __dp2a_hi(int a, int b, int sum) { return __dp2a_lo(a, b >> 16, sum); }

// What tensor.cuh has of the tensor cores, from the layout of fragments in the PTX manual
// (mma.m16n8k32, 8-bit): row and column of every byte, then the product as the definition has it.
inline uint2 multiply_bytes(unsigned a_low, unsigned a_high, unsigned b_low, unsigned b_high) {
    auto a = emulated::bring("mma a", (std::uint64_t)a_high << 32 | a_low).values;
    std::uint64_t first[32], second[32];
    std::memcpy(first, a, sizeof first);
    auto b = emulated::bring("mma b", (std::uint64_t)b_high << 32 | b_low).values;
    std::memcpy(second, b, sizeof second);
    auto byte = [](std::uint64_t word, unsigned k) {
        return (unsigned)(word >> (k / 16 * 32 + k % 4 * 8) & 0xFF);
    };
    unsigned row = emulated::lane() / 4, sums[2] = {};
    for (unsigned half = 0; half < 2; ++half) {
        unsigned column = 2 * (emulated::lane() % 4) + half;
        for (unsigned k = 0; k < 32; ++k) {
            unsigned thread = k % 16 / 4;
            sums[half] += byte(first[4 * row + thread], k) * byte(second[4 * column + thread], k);
        }
    }
    return {sums[0], sums[1]};
}
