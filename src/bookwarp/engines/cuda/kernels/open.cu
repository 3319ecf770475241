// Open the books of markets and what follows from them: a thread a market, which writes the two
// levels and the five scalars that are not 0. All else is set to 0 before. Nothing is shared.
//
// What the lots of a market's two levels are stands in the place of its best bid, which is written
// over: so this takes no memory of its own. Twin of opening_state (spec/state.py).

constexpr uint32 BLOCK = 128;

template <class Lots>
DEVICE void open_market(const Market* markets, Lots* books, int64* scalars, uint32 market_count,
                        int32 levels, bool following) {
    const uint32 market = blockIdx.x * BLOCK + threadIdx.x;
    if (market >= market_count) return;
    const int64 open_price = markets[market].open_price;
    const int32 centre = following ? levels / 2 : (int32)open_price;
    const Scalars own = scalars_of(scalars, market_count, market);
    const int64 depth = own[Scalar::best_bid];

    Lots* book = books + (uint64)market * levels;
    book[centre - 1] = (Lots)depth;
    book[centre + 1] = (Lots)-depth;

    own[Scalar::last] = open_price;
    own[Scalar::prev_mid2] = 2 * centre;
    own[Scalar::base] = open_price - centre;
    own[Scalar::best_bid] = depth > 0 ? centre - 1 : -1;
    own[Scalar::best_ask] = depth > 0 ? centre + 1 : levels;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
open_int32(const Market* markets, int32* books, int64* scalars, uint32 market_count, uint32 levels,
           uint32 following) {
    open_market(markets, books, scalars, market_count, levels, following);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
open_int64(const Market* markets, int64* books, int64* scalars, uint32 market_count, uint32 levels,
           uint32 following) {
    open_market(markets, books, scalars, market_count, levels, following);
}
