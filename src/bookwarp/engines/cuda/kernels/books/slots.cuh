// A book of few orders: each has a slot in shared memory, in no order. A warp looks at all slots at
// once, so that finding an id, or the oldest order at the best price, is one pass and a reduction.
//
// Needs SLOTS_PER_LANE, even. Lane l holds slots 64 p + 2 l + k, k < 2: it reads two of them at a
// time. The best prices of the book are in registers, the same in all lanes.
// Prices are 32-bit ticks from `base`. A book that needs a price too far from there, or more slots,
// stops before the message that would need it: see `must_stop`.
//
// A key is a tick that knows its side: bids are above 0, asks below, and 0 is an empty slot. So the
// best bid is the largest of all keys, and the best ask the smallest.

constexpr uint32 SLOTS = LANES * SLOTS_PER_LANE;
constexpr uint32 PAIRS = SLOTS_PER_LANE / 2;
constexpr int32 FAR = 1 << 29;     // ticks of resting orders are nearer
constexpr int32 ANCHOR = 1 << 30;  // of keys, on either side of 0
// Prices are this near to 0, so that differences do not overflow; others are for levels.cuh.
constexpr int64 FARTHEST_PRICE = 1ll << 62;
// Orders of no more lots than this never sum to 2^63, whatever the slots.
constexpr int64 LARGE_LOTS = INT64_MAX / (2 * SLOTS);
constexpr uint32 MOST_AGES = 1u << 23;

struct TwoIds { uint64 first, second; };
struct TwoKeys { int32 first, second; };
struct TwoTags { uint32 first, second; };

struct alignas(16) Slots {
    uint64 id[SLOTS];
    int64 qty[SLOTS];
    int32 key[SLOTS];
    uint32 tag[SLOTS];  // age << 9, slot << 1, and 1 of a post-only order
#if TRACK_FILLED
    int64 filled[SLOTS];
#endif
#if STP
    uint64 owner[SLOTS];
#endif
};

DEVICE int32 side_of_key(int32 key) { return key > 0 ? BUY : SELL; }
DEVICE int32 tick_of_key(int32 key) { return key - side_of_key(key) * ANCHOR; }
DEVICE int32 key_of(const Order& order) { return order.tick + order.side * ANCHOR; }
// The last key that an order would trade with.
DEVICE int32 limit_of(const Order& order) { return order.tick - order.side * ANCHOR; }
DEVICE uint32 slot_of_tag(uint32 tag) { return tag >> 1 & 0xFF; }

// Call `each` for slots of a lane, of which `mask` has the bits.
template <class Each>
DEVICE void visit(uint32 lane, uint32 mask, Each each) {
    for (; mask; mask &= mask - 1) {
        const uint32 bit = __ffs(mask) - 1;
        each((int32)((bit >> 1) * 64 + lane * 2 + (bit & 1)));
    }
}

SELDOM int64 lots_at_key(const Slots* slots, uint32 lane, uint32 mask, int32 key) {
    int64 lots = 0;
    visit(lane, mask, [&](int32 slot) {
        if (slots->key[slot] == key) lots += slots->qty[slot];
    });
    return sum_lanes(lots);
}

// Lots that an order of `side` would trade at once with the slots of `mask`, up to the key `limit`.
SELDOM int64 fillable_lots(const Slots* slots, uint32 lane, uint32 mask, int32 side, int32 limit,
                           uint64 owner) {
    // Keys are turned so that those of the other side are below 0, and the best is the lowest.
    int32 own_key = 0;  // of the first order of the same owner
    uint32 own_tag = 0;
#if STP == 2 || STP == 3
    visit(lane, mask, [&](int32 slot) {
        if (same_owner(owner, slots->owner[slot])) own_key = min(own_key, side * slots->key[slot]);
    });
    own_key = smallest(own_key);
    own_tag = 0xFFFFFFFFu;
    visit(lane, mask, [&](int32 slot) {
        const bool here = side * slots->key[slot] == own_key;
        if (here && same_owner(owner, slots->owner[slot])) own_tag = min(own_tag, slots->tag[slot]);
    });
    own_tag = smallest(own_tag);
#endif
    int64 lots = 0;
    visit(lane, mask, [&](int32 slot) {
        const int32 key = side * slots->key[slot];
        const bool ahead = key < own_key || (key == own_key && slots->tag[slot] < own_tag);
#if STP == 1
        const bool own = same_owner(owner, slots->owner[slot]);
#else
        const bool own = false;
#endif
        if (key <= side * limit && ahead && !own) lots = saturating_sum(lots, slots->qty[slot]);
    });
    return sum_lanes(lots);
}

// What a message may need of a book.
enum Need {
    SLOT = 1,    // an order comes in that may rest, and none leaves before
    BEYOND = 2,  // it may rest at a price that is too far from the base
};

struct Reach {
    int32 tick;
    uint32 needs;
};

struct Book {
    Slots* slots;
    uint32 lane;
    uint32 used;  // slots of this lane, bit 2 p + k
    int32 best_bid, best_ask;  // keys, 0 if there is none
    int64 base;
    uint32 next_age;
    uint32 live;
    uint32 level_count;  // kept up to date if there is a capacity of levels
    bool large;          // whether there ever was an order of more than LARGE_LOTS

    DEVICE_MEMBER uint32 slot_of(uint32 bit) const {
        return (bit >> 1) * 64 + lane * 2 + (bit & 1);
    }
    DEVICE_MEMBER uint32 bit_here(int32 slot) const {
        const uint32 bit = 1u << ((slot >> 6) * 2 + (slot & 1));
        return ((uint32)slot >> 1 & (LANES - 1)) == lane ? bit : 0;
    }

    DEVICE_MEMBER TwoIds two_ids(uint32 pair) const {
        return ((const TwoIds*)slots->id)[pair * LANES + lane];
    }
    DEVICE_MEMBER TwoKeys two_keys(uint32 pair) const {
        return ((const TwoKeys*)slots->key)[pair * LANES + lane];
    }
    DEVICE_MEMBER TwoTags two_tags(uint32 pair) const {
        return ((const TwoTags*)slots->tag)[pair * LANES + lane];
    }

    DEVICE_MEMBER uint64 id_of(int32 slot) const { return slots->id[slot]; }
    DEVICE_MEMBER int64 price_of(int32 slot) const { return base + tick_of_key(slots->key[slot]); }
    DEVICE_MEMBER int64 qty_of(int32 slot) const { return slots->qty[slot]; }
    DEVICE_MEMBER int32 side_of(int32 slot) const { return side_of_key(slots->key[slot]); }
    DEVICE_MEMBER uint32 tif_of(int32 slot) const { return slots->tag[slot] & 1 ? POST_ONLY : GTC; }
    DEVICE_MEMBER int64 filled_of(int32 slot) const {
#if TRACK_FILLED
        return slots->filled[slot];
#else
        return 0;
#endif
    }
    DEVICE_MEMBER uint64 owner_of(int32 slot) const {
#if STP
        return slots->owner[slot];
#else
        return 0;
#endif
    }

    // Ticks from base, not farther than any that rests: comparisons with those come out the same.
    DEVICE_MEMBER int32 tick_of(int64 price) const {
        const uint64 ticks = (uint64)price - (uint64)base;
        const bool fits = (uint64)price + FARTHEST_PRICE < 2ull * FARTHEST_PRICE;
        if (fits && ticks + (FAR - 1) < 2ull * FAR - 1) return (int32)ticks;
        return price > base ? FAR : -FAR;
    }

    // What a message needs, as far as it says itself.
    DEVICE_MEMBER Reach reach_of(const Batch& rules, const Message& message) const {
        const uint32 op = op_of(message), tif = byte_of(message.codes, 3);
        const bool market = op == NEW && byte_of(message.codes, 2) == MARKET;
        if (market) return {signed_byte(message.codes, 1) * FAR, 0};
        const int32 tick = tick_of(message.price);
        if (op == CANCEL || (op == NEW && (tif == IOC || tif == FOK))) return {tick, 0};
        const bool far = tick == FAR || tick == -FAR;
        const uint32 beyond = far && in_range(rules, message.price) ? BEYOND : 0;
        return {tick, (op == NEW ? SLOT : 0) | beyond};
    }

    // Whether there may be no room here for what a message leaves.
    DEVICE_MEMBER bool must_stop(const Batch& rules, uint32 needs) const {
        const bool full = live == SLOTS && rules.order_capacity > SLOTS;
        return needs & (BEYOND | (full ? SLOT : 0));
    }

    // Whether ages last for as many messages as a warp reads at a time.
    DEVICE_MEMBER bool must_renew() const { return next_age > MOST_AGES - LANES; }

    DEVICE_MEMBER int32 find(uint64 id) const {
        uint32 alike = 0;
#pragma unroll
        for (uint32 pair = 0; pair < PAIRS; ++pair) {
            const TwoIds two = two_ids(pair);
            if (two.first == id) alike |= 1u << (2 * pair);
            if (two.second == id) alike |= 2u << (2 * pair);
        }
        alike &= used;
        return largest(alike ? (int32)slot_of(31 - __clz(alike)) : NO_ORDER);
    }

    DEVICE_MEMBER bool crosses(const Order& order) const {
        return order.side == BUY ? best_ask <= limit_of(order) : best_bid >= limit_of(order);
    }

    // The order of a side that trades first; there is one.
    DEVICE_MEMBER int32 first(int32 side) const {
        const int32 best = side == BUY ? best_bid : best_ask;
        uint32 oldest = 0xFFFFFFFFu;
#pragma unroll
        for (uint32 pair = 0; pair < PAIRS; ++pair) {
            const TwoKeys two = two_keys(pair);
            const TwoTags tag = two_tags(pair);
            if (two.first == best) oldest = min(oldest, tag.first);
            if (two.second == best) oldest = min(oldest, tag.second);
        }
        return slot_of_tag(smallest(oldest));
    }

    // Neither side's keys are turned: the compiler of CUDA 13.0 loses a sign where the largest of 0
    // and of negated values is wanted (VIMNMX3.RELU), which let books trade for ever.
    DEVICE_MEMBER void see_best_bid() {
        int32 best = two_keys(0).first;
#pragma unroll
        for (uint32 pair = 0; pair < PAIRS; ++pair) {
            const TwoKeys two = two_keys(pair);
            best = max(best, max(two.first, two.second));
        }
        best = largest(best);
        best_bid = best > 0 ? best : 0;
    }

    DEVICE_MEMBER void see_best_ask() {
        int32 best = two_keys(0).first;
#pragma unroll
        for (uint32 pair = 0; pair < PAIRS; ++pair) {
            const TwoKeys two = two_keys(pair);
            best = min(best, min(two.first, two.second));
        }
        best = smallest(best);
        best_ask = best < 0 ? best : 0;
    }

    // The best key of the side of `than` that is worse, 0 if there is none.
    DEVICE_MEMBER int32 key_beyond(int32 than) const {
        int32 bid = 0, ask = 0;
        visit(lane, used, [&](int32 slot) {
            const int32 key = slots->key[slot];
            if (key > 0 && key < than) bid = max(bid, key);
            if (key < 0 && key > than) ask = min(ask, key);
        });
        return than > 0 ? largest(bid) : smallest(ask);
    }

    DEVICE_MEMBER bool key_exists(int32 key, int32 but_for) const {
        bool here = false;
        visit(lane, used, [&](int32 slot) { here |= slots->key[slot] == key && slot != but_for; });
        return any_lane(here);
    }

    DEVICE_MEMBER bool level_exists(const Order& order) const {
        return key_exists(key_of(order), NO_ORDER);
    }

    DEVICE_MEMBER bool is_alone(int32 slot) const { return !key_exists(slots->key[slot], slot); }

    // Whether with the order its price would hold 2^63 lots or more, once `leaving` has left.
    DEVICE_MEMBER bool lots_full(const Order& order, int32 leaving) const {
        if (!large && order.qty <= LARGE_LOTS) return false;
        int64 lots = lots_at_key(slots, lane, used, key_of(order));
        if (leaving != NO_ORDER && slots->key[leaving] == key_of(order)) lots -= qty_of(leaving);
        return any_lane(lots > INT64_MAX - order.qty);
    }

    // Whether an order would trade whole, from what rests and who owns it.
    DEVICE_MEMBER bool can_fill_whole(const Order& order) const {
        const int64 lots =
            fillable_lots(slots, lane, used, order.side, limit_of(order), order.owner);
        return any_lane(lots >= order.qty);
    }

    DEVICE_MEMBER void set_qty(int32 slot, int64 qty) {
        meet();
        if (lane == 0) slots->qty[slot] = qty;
        meet();
    }

    // Take lots, fewer than it has, off an order, because they traded.
    DEVICE_MEMBER void reduce(int32 slot, int64 lots) {
        const int64 qty = qty_of(slot), filled = filled_of(slot);
        meet();
        if (lane == 0) {
            slots->qty[slot] = qty - lots;
#if TRACK_FILLED
            slots->filled[slot] = filled + lots;
#endif
        }
        meet();
    }

    DEVICE_MEMBER void remove(int32 slot) {
        const int32 key = slots->key[slot];
#if LEVEL_CAPACITY
        level_count -= is_alone(slot);
#endif
        meet();
        if (lane == 0) slots->key[slot] = 0;
        meet();
        used &= ~bit_here(slot);
        live -= 1;
        if (key == best_bid) see_best_bid();
        if (key == best_ask) see_best_ask();
    }

    DEVICE_MEMBER void append(const Order& order) {
        const int32 key = key_of(order);
#if LEVEL_CAPACITY
        level_count += !level_exists(order);
#endif
        const uint32 free = ~used & ((1u << SLOTS_PER_LANE) - 1);
        const int32 slot = largest(free ? (int32)slot_of(__ffs(free) - 1) : NO_ORDER);
        meet();
        if (lane == 0) {
            slots->id[slot] = order.order_id;
            slots->qty[slot] = order.qty;
            slots->key[slot] = key;
            slots->tag[slot] = next_age << 9 | (uint32)slot << 1 | (order.tif == POST_ONLY ? 1 : 0);
#if TRACK_FILLED
            slots->filled[slot] = order.filled;
#endif
#if STP
            slots->owner[slot] = order.owner;
#endif
        }
        meet();
        used |= bit_here(slot);
        best_bid = max(best_bid, key);
        best_ask = min(best_ask, key);
        next_age += 1;
        live += 1;
        large |= order.qty > LARGE_LOTS;
    }

    // The levels of a side, best first; the last ones may be empty.
    DEVICE_MEMBER void write_depth(int32 side, int64* out, uint32 levels) const {
        int32 key = side == BUY ? best_bid : best_ask;
        for (uint32 level = 0; level < levels; ++level) {
            const int64 lots = key ? lots_at_key(slots, lane, used, key) : 0;
            if (lane == 0) {
                out[4 * level] = key ? base + tick_of_key(key) : NO_PRICE;
                out[4 * level + 1] = lots;
            }
            if (key) key = key_beyond(key);
        }
    }

    // Take over resting orders, rows by priority. Returns whether they fit.
    DEVICE_MEMBER bool load(const Resting* rows, uint32 count) {
        used = live = level_count = 0;
        next_age = count;
        large = false;
        if (count > SLOTS) return false;
        base = count ? rows[0].price : 0;
        bool far = false, heavy = false;
        for (uint32 bit = 0; bit < SLOTS_PER_LANE; ++bit) {
            const uint32 slot = slot_of(bit);
            slots->key[slot] = 0;
            if (slot >= count) continue;
            const Resting row = rows[slot];
            const int32 tick = tick_of(row.price);
            const bool post_only = byte_of(row.codes, 1) == POST_ONLY;
            far |= tick == FAR || tick == -FAR;
            heavy |= row.qty > LARGE_LOTS;
            slots->id[slot] = row.order_id;
            slots->qty[slot] = row.qty;
            slots->key[slot] = tick + signed_byte(row.codes, 0) * ANCHOR;
            slots->tag[slot] = slot << 9 | slot << 1 | (post_only ? 1 : 0);
#if TRACK_FILLED
            slots->filled[slot] = row.filled;
#endif
#if STP
            slots->owner[slot] = row.owner;
#endif
            used |= 1u << bit;
        }
        meet();  // what every lane has written is seen by the others
        if (any_lane(far)) return false;
        live = count;
        large = any_lane(heavy);
        see_best_bid();
        see_best_ask();
#if LEVEL_CAPACITY
        for (int32 key = best_bid; key; key = key_beyond(key)) level_count += 1;
        for (int32 key = best_ask; key; key = key_beyond(key)) level_count += 1;
#endif
        return true;
    }

    // Where a slot stands among all, bids before asks.
    DEVICE_MEMBER uint64 rank_of(int32 slot) const {
        const int32 key = slots->key[slot];
        // Of bids the keys fall: from below 0 they are turned to above it.
        const uint32 distance = key > 0 ? (uint32)-key : (uint32)key + (1u << 31);
        return (uint64)(key < 0) << 63 | (uint64)distance << 23 | slots->tag[slot] >> 9;
    }

    // Write all orders as rows by priority.
    DEVICE_MEMBER void store(Resting* rows, uint32 book) const {
        uint64 rank[SLOTS_PER_LANE];
        uint32 place[SLOTS_PER_LANE];
#pragma unroll
        for (uint32 bit = 0; bit < SLOTS_PER_LANE; ++bit) {
            rank[bit] = used >> bit & 1 ? rank_of(slot_of(bit)) : ~0ull;
            place[bit] = 0;
        }
#pragma unroll
        for (uint32 bit = 0; bit < SLOTS_PER_LANE; ++bit) {
            uint32 lanes = __ballot_sync(ALL_LANES, used >> bit & 1);
            for (; lanes; lanes &= lanes - 1) {
                const uint64 other = __shfl_sync(ALL_LANES, rank[bit], __ffs(lanes) - 1);
#pragma unroll
                for (uint32 mine = 0; mine < SLOTS_PER_LANE; ++mine) place[mine] += other < rank[mine];
            }
        }
#pragma unroll
        for (uint32 bit = 0; bit < SLOTS_PER_LANE; ++bit) {
            if (!(used >> bit & 1)) continue;
            const int32 slot = slot_of(bit);
            const uint32 side = (uint32)side_of(slot) & 0xFF;
            rows[place[bit]] = {id_of(slot),     price_of(slot), qty_of(slot),
                                filled_of(slot), owner_of(slot), book,
                                side | tif_of(slot) << 8};
        }
    }
};
