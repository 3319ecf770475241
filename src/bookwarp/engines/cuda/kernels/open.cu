// Write the parameters of markets, and open their books: a thread a market. Nothing is shared.

constexpr uint32 BLOCK = 128;

// Parameters of each market, from those that the host has brought once for all that share them; and
// the lots of the levels that its book opens with, in the place of its best bid, which is written
// over: so they take no memory of their own. `settings` is null where each has as many markets that
// follow each other, `ids` where they count up again and again, `book_rows` where no book is recorded.
extern "C" __global__ void __launch_bounds__(BLOCK)
lay_out(const Market* entries, const int64* depths, const int64* settings, const int64* ids,
        const int64* book_rows, Market* markets, int64* scalars, uint32 entry_count,
        uint32 depth_count, uint32 market_count, uint32 first_setting, uint32 setting_markets,
        uint32 first_id, uint32 id_count) {
    const uint32 market = blockIdx.x * BLOCK + threadIdx.x;
    if (market >= market_count) return;
    const uint32 entry =
        settings ? (uint32)settings[market] : first_setting + market / setting_markets;
    Market own = entries[entry_count == 1 ? 0 : entry];
    own.market_id = ids ? (uint32)ids[market] : first_id + market % id_count;
    own.key = splitmix64(splitmix64(own.seed) + own.market_id);
    own.book_row = book_rows ? (int32)book_rows[market] : -1;
    markets[market] = own;
    scalars_of(scalars, market_count, market)[Scalar::best_bid] =
        depths[depth_count == 1 ? 0 : entry];
}

// The two levels of a book and the five scalars that are not 0; all else is set to 0 before. Twin of
// opening_state (spec/state.py).
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
