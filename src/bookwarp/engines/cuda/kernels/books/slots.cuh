// A book of few orders: each has a slot in shared memory, in no order. A warp looks at all slots at
// once, so that finding an id, or the oldest order at the best price, is one pass and a reduction.
//
// Needs SLOTS_PER_LANE, even. Lane l holds slots 64 p + 2 l + k, k < 2: it reads two of them at a
// time. Which of them are bids, and which asks, is a bit each in its registers; so are the best
// prices of the book, in all lanes.
// Prices are 32-bit ticks from `base`. A book that needs a price too far from there, or more slots,
// stops before the message that would need it: see `must_stop`.

constexpr uint32 SLOTS = LANES * SLOTS_PER_LANE;
constexpr uint32 PAIRS = SLOTS_PER_LANE / 2;
constexpr int32 FAR = 1 << 30;  // ticks of resting orders are nearer
constexpr int32 NO_BID = -FAR - 1, NO_ASK = FAR + 1;
// Orders of no more lots than this never sum to 2^63, whatever the slots.
constexpr int64 LARGE_LOTS = INT64_MAX / (2 * SLOTS);
constexpr uint32 MOST_TAGS = 1u << 29;

struct TwoIds { uint64 first, second; };
struct TwoTicks { int32 first, second; };
struct TwoTags { uint32 first, second; };

struct alignas(16) Slots {
    uint64 id[SLOTS];
    int64 qty[SLOTS];
    int32 tick[SLOTS];
    uint32 tag[SLOTS];  // 4 * age, + 2 of a post-only order, + 1 of a bid
#if TRACK_FILLED
    int64 filled[SLOTS];
#endif
#if STP
    uint64 owner[SLOTS];
#endif
};

// Call `each` for slots of a lane, of which `mask` has the bits.
template <class Each>
DEVICE void visit(uint32 lane, uint32 mask, Each each) {
    for (; mask; mask &= mask - 1) {
        const uint32 bit = __ffs(mask) - 1;
        each((int32)((bit >> 1) * 64 + lane * 2 + (bit & 1)));
    }
}

SELDOM int64 lots_at_tick(const Slots* slots, uint32 lane, uint32 mask, int32 tick) {
    int64 lots = 0;
    visit(lane, mask, [&](int32 slot) {
        if (slots->tick[slot] == tick) lots += slots->qty[slot];
    });
    return sum_lanes(lots);
}

// Lots that an order of `side` would trade at once with the slots of `mask`, up to the tick `limit`.
SELDOM int64 fillable_lots(const Slots* slots, uint32 lane, uint32 mask, int32 side, int32 limit,
                           uint64 owner) {
    // Ticks are turned so that the best one is the lowest.
    int32 own_tick = NO_ASK;  // of the first order of the same owner
    uint32 own_tag = 0;
#if STP == 2 || STP == 3
    visit(lane, mask, [&](int32 slot) {
        if (same_owner(owner, slots->owner[slot])) {
            own_tick = min(own_tick, side * slots->tick[slot]);
        }
    });
    own_tick = -largest(-own_tick);
    own_tag = 0xFFFFFFFFu;
    visit(lane, mask, [&](int32 slot) {
        const bool here = side * slots->tick[slot] == own_tick;
        if (here && same_owner(owner, slots->owner[slot])) own_tag = min(own_tag, slots->tag[slot]);
    });
    own_tag = smallest(own_tag);
#endif
    int64 lots = 0;
    visit(lane, mask, [&](int32 slot) {
        const int32 tick = side * slots->tick[slot];
        const bool ahead = tick < own_tick || (tick == own_tick && slots->tag[slot] < own_tag);
#if STP == 1
        const bool own = same_owner(owner, slots->owner[slot]);
#else
        const bool own = false;
#endif
        if (tick <= side * limit && ahead && !own) lots = saturating_sum(lots, slots->qty[slot]);
    });
    return sum_lanes(lots);
}

struct Book {
    Slots* slots;
    uint32 lane;
    uint32 bids, asks;  // slots of this lane, bit 2 p + k
    int32 best_bid, best_ask;
    int64 base;
    uint32 next_age;
    uint32 live;
    uint32 level_count;  // kept up to date if there is a capacity of levels
    bool large;          // whether there ever was an order of more than LARGE_LOTS

    DEVICE_MEMBER uint32 slot_of(uint32 pair, uint32 k) const { return pair * 64 + lane * 2 + k; }
    DEVICE_MEMBER uint32 lane_of(uint32 slot) const { return slot >> 1 & (LANES - 1); }
    DEVICE_MEMBER uint32 bit_of(uint32 slot) const { return 1u << ((slot >> 6) * 2 + (slot & 1)); }
    DEVICE_MEMBER uint32 mask_of(int32 side) const { return side == BUY ? bids : asks; }

    DEVICE_MEMBER uint64 id_of(int32 slot) const { return slots->id[slot]; }
    DEVICE_MEMBER int64 price_of(int32 slot) const { return base + slots->tick[slot]; }
    DEVICE_MEMBER int64 qty_of(int32 slot) const { return slots->qty[slot]; }
    DEVICE_MEMBER int32 side_of(int32 slot) const { return slots->tag[slot] & 1 ? BUY : SELL; }
    DEVICE_MEMBER uint32 tif_of(int32 slot) const { return slots->tag[slot] & 2 ? POST_ONLY : GTC; }
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
        const int64 ticks = (int64)((uint64)price - (uint64)base);
        // Of two prices on both sides of 0 the difference may not fit.
        const bool wraps = ((price ^ base) & (price ^ ticks)) < 0;
        const int64 true_ticks = wraps ? (price < 0 ? NO_PRICE : INT64_MAX) : ticks;
        return true_ticks > FAR ? FAR : true_ticks < -FAR ? -FAR : (int32)true_ticks;
    }
    DEVICE_MEMBER int32 tick_of(const Order& order) const {
        return order.market ? order.side * FAR : tick_of(order.price);
    }
    DEVICE_MEMBER bool is_near(int64 price) const {
        const int32 tick = tick_of(price);
        return -FAR < tick && tick < FAR;
    }

    // Whether there may be no room here for what a message leaves.
    DEVICE_MEMBER bool must_stop(const Batch& rules, const Message& message) {
        const uint32 op = op_of(message), tif = byte_of(message.codes, 3);
        if (op == CANCEL) return false;
        if (op == NEW) {
            if (byte_of(message.codes, 2) == MARKET || tif == IOC || tif == FOK) return false;
            if (live == SLOTS && rules.order_capacity > SLOTS) return true;
        }
        if (next_age == MOST_TAGS) return true;
        if (!in_range(rules, message.price)) return false;
        if (live == 0) base = message.price;
        return !is_near(message.price);
    }

    DEVICE_MEMBER int32 find(uint64 id) const {
        const TwoIds* ids = (const TwoIds*)slots->id;
        const uint32 used = bids | asks;
        int32 found = NO_ORDER;
#pragma unroll
        for (uint32 pair = 0; pair < PAIRS; ++pair) {
            const TwoIds two = ids[pair * LANES + lane];
            if (two.first == id && used >> (2 * pair) & 1) found = slot_of(pair, 0);
            if (two.second == id && used >> (2 * pair + 1) & 1) found = slot_of(pair, 1);
        }
        return largest(found);
    }

    DEVICE_MEMBER bool crosses(const Order& order) const {
        const int32 tick = tick_of(order);
        return order.side == BUY ? best_ask <= tick : best_bid >= tick;
    }

    // The order of a side that trades first; there is one.
    DEVICE_MEMBER int32 first(int32 side) const {
        const TwoTicks* ticks = (const TwoTicks*)slots->tick;
        const TwoTags* tags = (const TwoTags*)slots->tag;
        const uint32 mask = mask_of(side);
        const int32 best = side == BUY ? best_bid : best_ask;
        uint32 oldest = 0xFFFFFFFFu;
        int32 slot = NO_ORDER;
#pragma unroll
        for (uint32 pair = 0; pair < PAIRS; ++pair) {
            const TwoTicks at = ticks[pair * LANES + lane];
            const TwoTags tag = tags[pair * LANES + lane];
            if (at.first == best && mask >> (2 * pair) & 1 && tag.first < oldest) {
                oldest = tag.first;
                slot = slot_of(pair, 0);
            }
            if (at.second == best && mask >> (2 * pair + 1) & 1 && tag.second < oldest) {
                oldest = tag.second;
                slot = slot_of(pair, 1);
            }
        }
        return largest(smallest(oldest) == oldest ? slot : NO_ORDER);
    }

    // The best tick of a side that is worse than `than`.
    DEVICE_MEMBER int32 best_beyond(int32 side, int32 than) const {
        const TwoTicks* ticks = (const TwoTicks*)slots->tick;
        const uint32 mask = mask_of(side);
        int32 best = NO_BID;  // of asks, all signs are turned
#pragma unroll
        for (uint32 pair = 0; pair < PAIRS; ++pair) {
            const TwoTicks at = ticks[pair * LANES + lane];
            const int32 one = side * at.first, other = side * at.second;
            if (mask >> (2 * pair) & 1 && one < side * than && one > best) best = one;
            if (mask >> (2 * pair + 1) & 1 && other < side * than && other > best) best = other;
        }
        return side * largest(best);
    }

    DEVICE_MEMBER void see_best(int32 side) {
        const int32 best = best_beyond(side, side * (FAR + 1));
        if (side == BUY) best_bid = best;
        else best_ask = best;
    }

    DEVICE_MEMBER bool level_exists(int32 side, int32 tick, int32 but_for) const {
        bool here = false;
        visit(lane, mask_of(side), [&](int32 slot) {
            here |= slots->tick[slot] == tick && slot != but_for;
        });
        return any_lane(here);
    }

    DEVICE_MEMBER bool level_exists(const Order& order) const {
        return level_exists(order.side, tick_of(order), NO_ORDER);
    }

    DEVICE_MEMBER bool is_alone(int32 slot) const {
        return !level_exists(side_of(slot), slots->tick[slot], slot);
    }

    // Whether with the order its price would hold 2^63 lots or more, once `leaving` has left.
    DEVICE_MEMBER bool lots_full(const Order& order, int32 leaving) const {
        if (!large && order.qty <= LARGE_LOTS) return false;
        const int32 tick = tick_of(order);
        int64 lots = lots_at_tick(slots, lane, mask_of(order.side), tick);
        if (leaving != NO_ORDER && slots->tick[leaving] == tick) lots -= slots->qty[leaving];
        return lots > INT64_MAX - order.qty;
    }

    DEVICE_MEMBER void set_qty(int32 slot, int64 qty) {
        meet();
        slots->qty[slot] = qty;
    }

    // Take lots, fewer than it has, off an order, because they traded.
    DEVICE_MEMBER void reduce(int32 slot, int64 lots) {
        const int64 qty = qty_of(slot), filled = filled_of(slot);
        meet();
        slots->qty[slot] = qty - lots;
#if TRACK_FILLED
        slots->filled[slot] = filled + lots;
#endif
    }

    DEVICE_MEMBER void remove(int32 slot) {
        const int32 side = side_of(slot), tick = slots->tick[slot];
#if LEVEL_CAPACITY
        level_count -= is_alone(slot);
#endif
        const uint32 kept = lane == lane_of(slot) ? ~bit_of(slot) : ALL_LANES;
        bids &= kept;
        asks &= kept;
        live -= 1;
        if (tick == (side == BUY ? best_bid : best_ask)) see_best(side);
    }

    DEVICE_MEMBER void append(const Order& order) {
        const int32 tick = tick_of(order);
#if LEVEL_CAPACITY
        level_count += !level_exists(order);
#endif
        const uint32 free = ~(bids | asks) & ((1u << SLOTS_PER_LANE) - 1);
        const uint32 bit = __ffs(free) - 1;
        const int32 slot = largest(free ? (int32)slot_of(bit >> 1, bit & 1) : NO_ORDER);
        meet();
        slots->id[slot] = order.order_id;
        slots->qty[slot] = order.qty;
        slots->tick[slot] = tick;
        slots->tag[slot] =
            next_age * 4 + (order.tif == POST_ONLY ? 2 : 0) + (order.side == BUY ? 1 : 0);
#if TRACK_FILLED
        slots->filled[slot] = order.filled;
#endif
#if STP
        slots->owner[slot] = order.owner;
#endif
        const uint32 bit_here = lane == lane_of(slot) ? bit_of(slot) : 0;
        if (order.side == BUY) {
            bids |= bit_here;
            best_bid = max(best_bid, tick);
        } else {
            asks |= bit_here;
            best_ask = min(best_ask, tick);
        }
        next_age += 1;
        live += 1;
        large |= order.qty > LARGE_LOTS;
    }

    // Lots that an order would trade at once.
    DEVICE_MEMBER int64 fillable(const Order& order) const {
        return fillable_lots(slots, lane, mask_of(-order.side), order.side, tick_of(order),
                             order.owner);
    }

    // The levels of a side, best first; the last ones may be empty.
    DEVICE_MEMBER void write_depth(int32 side, int64* out, uint32 levels) const {
        int32 tick = side * (FAR + 1);
        for (uint32 level = 0; level < levels; ++level) {
            const int32 beyond = best_beyond(side, tick);
            const bool empty = beyond == side * NO_BID;
            if (!empty) tick = beyond;
            const int64 lots = empty ? 0 : lots_at_tick(slots, lane, mask_of(side), tick);
            out[4 * level] = empty ? NO_PRICE : base + tick;
            out[4 * level + 1] = lots;
            if (empty) tick = side * NO_BID;
        }
    }

    // Take over resting orders, rows by priority. Returns whether they fit.
    DEVICE_MEMBER bool load(const Resting* rows, uint32 count) {
        bids = asks = live = level_count = 0;
        best_bid = NO_BID;
        best_ask = NO_ASK;
        next_age = count;
        large = false;
        if (count > SLOTS) return false;
        base = count ? rows[0].price : 0;
        bool far = false, heavy = false;
        for (uint32 index = 0; index < SLOTS_PER_LANE; ++index) {
            const uint32 slot = slot_of(index >> 1, index & 1);
            if (slot >= count) continue;
            const Resting row = rows[slot];
            const bool buys = signed_byte(row.codes, 0) == BUY;
            const bool post_only = byte_of(row.codes, 1) == POST_ONLY;
            far |= !is_near(row.price);
            heavy |= row.qty > LARGE_LOTS;
            slots->id[slot] = row.order_id;
            slots->qty[slot] = row.qty;
            slots->tick[slot] = tick_of(row.price);
            slots->tag[slot] = slot * 4 + (post_only ? 2 : 0) + (buys ? 1 : 0);
#if TRACK_FILLED
            slots->filled[slot] = row.filled;
#endif
#if STP
            slots->owner[slot] = row.owner;
#endif
            (buys ? bids : asks) |= 1u << index;
        }
        meet();  // what every lane has written is seen by the others
        if (any_lane(far)) return false;
        live = count;
        large = any_lane(heavy);
        see_best(BUY);
        see_best(SELL);
#if LEVEL_CAPACITY
        for (int32 side = SELL; side <= BUY; side += 2) {
            int32 tick = best_beyond(side, side * (FAR + 1));
            for (; tick != side * NO_BID; tick = best_beyond(side, tick)) level_count += 1;
        }
#endif
        return true;
    }

    // Where a slot stands among all, bids before asks.
    DEVICE_MEMBER uint64 rank_of(int32 slot) const {
        const uint32 tag = slots->tag[slot];
        const int32 tick = slots->tick[slot];
        const uint32 distance = (tag & 1 ? -tick : tick) + FAR;
        return (uint64)(tag & 1 ? 0 : 1) << 63 | (uint64)distance << 31 | tag >> 2;
    }

    // Write all orders as rows by priority.
    DEVICE_MEMBER void store(Resting* rows, uint32 book) const {
        uint64 rank[SLOTS_PER_LANE];
        uint32 place[SLOTS_PER_LANE];
        const uint32 used = bids | asks;
#pragma unroll
        for (uint32 index = 0; index < SLOTS_PER_LANE; ++index) {
            const bool here = used >> index & 1;
            rank[index] = here ? rank_of(slot_of(index >> 1, index & 1)) : ~0ull;
            place[index] = 0;
        }
#pragma unroll
        for (uint32 index = 0; index < SLOTS_PER_LANE; ++index) {
            uint32 lanes = __ballot_sync(ALL_LANES, used >> index & 1);
            for (; lanes; lanes &= lanes - 1) {
                const uint64 other = __shfl_sync(ALL_LANES, rank[index], __ffs(lanes) - 1);
#pragma unroll
                for (uint32 mine = 0; mine < SLOTS_PER_LANE; ++mine) place[mine] += other < rank[mine];
            }
        }
#pragma unroll
        for (uint32 index = 0; index < SLOTS_PER_LANE; ++index) {
            if (!(used >> index & 1)) continue;
            const int32 slot = slot_of(index >> 1, index & 1);
            const uint32 side = (uint32)side_of(slot) & 0xFF;
            rows[place[index]] = {id_of(slot),    price_of(slot), qty_of(slot),
                                  filled_of(slot), owner_of(slot), book,
                                  side | tif_of(slot) << 8};
        }
    }
};
