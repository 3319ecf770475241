// What every kernel of ensembles is given of a market, whatever it is specialised by. The host writes
// these structures with NumPy dtypes of the same layout (layout.py); sizes are checked there.

typedef signed char int8;
typedef unsigned char uint8;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

#define DEVICE static __device__ __forceinline__
// What a run does seldom stays out of the way of the step loop and its registers.
#define SELDOM static __device__ __noinline__
#define DEVICE_MEMBER __device__ __forceinline__

// Parameters of one market.
struct Market {
    uint64 key;
    uint64 seed;
    int64 open_price;
    uint64 marketable_below;  // the hashes of stream "paper" that make an order marketable
    uint32 threshold;
    uint32 max_qty;
    int32 noise_spread;
    int32 maker_half_spread;
    uint32 market_id;
    // Agents are ordered by type: noise agents are 0 .. noise_end, then momentum, maker,
    // fundamental. Unused when types are given.
    uint32 noise_end;
    uint32 momentum_end;
    uint32 maker_end;
    int32 book_row;  // row of the recorded books, or -1
    uint32 wide;     // draws by two hashes an agent
    uint32 two_max_qty;
    uint32 clearing_interval;  // steps from one auction to the next
};

// Everything of the state that is not the book, of one market. Each scalar is an array [market] of
// its own, int64, so that other libraries can take it; arrays begin where XLA and vectors want them
// to. Book and scalars stay on the device.
enum class Scalar : uint32 {
    last,       // tick
    prev_mid2,  // half tick from base
    base,       // tick
    volume,
    trades,
    pruned_bid,
    pruned_ask,
    best_bid,  // level, -1 if there is none
    best_ask,  // level, LEVELS if there is none
    // Of ensembles with execution agents only.
    own_waiting,
    own_filled,
    own_cost,      // lot tick
    arrival_mid2,  // half tick from the open price
    start_volume,
};
constexpr uint32 SCALARS_PITCH = 32;  // arrays hold a multiple of this many markets

struct Scalars {
    int64* first;  // of this market
    uint64 pitch;

    DEVICE_MEMBER int64& operator[](Scalar name) const { return first[(uint64)name * pitch]; }
};

DEVICE Scalars scalars_of(int64* all, uint32 market_count, uint32 market) {
    return {all + market, ((uint64)market_count + SCALARS_PITCH - 1) / SCALARS_PITCH * SCALARS_PITCH};
}
