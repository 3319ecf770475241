// A book of any number of orders and any prices, in global memory: orders in a pool, found by id
// through a hash table of chains; price levels with their orders in a list; the levels of a side
// sorted, best last, where most of what happens happens.
//
// All lanes read the same, but for looking through sorted levels and moving them, 32 at a time.

struct Node {
    uint64 id;
    int64 qty;
    int64 filled;
    uint64 owner;
    int32 level;
    int32 before, behind;  // in the level
    int32 chained;         // in the bucket; of a node that is free, the next one
    int32 side;
    uint32 tif;
};

struct Level {
    int64 price;
    int64 lots;
    int32 first, last;  // of a level that is free, `first` is the next one
    uint32 orders;
    uint32 unused;
};

static_assert(sizeof(Node) == 56 && sizeof(Level) == 32, "layout.py makes room for other sizes");

// The levels of a side by price, best last.
struct Ladder {
    int64* prices;
    int32* levels;
    uint32 count;
};

struct Book {
    uint32 lane;
    Node* nodes;
    Level* levels;
    int32* buckets;
    uint32 hash_mask;
    Ladder bid_ladder, ask_ladder;
    int32 free_node, free_level;  // chains; behind them all from `unused_*` on
    int32 unused_node, unused_level;
    uint32 live;
    uint32 level_count;

    DEVICE_MEMBER Ladder& ladder_of(int32 side) { return side == BUY ? bid_ladder : ask_ladder; }
    DEVICE_MEMBER const Ladder& ladder_of(int32 side) const {
        return side == BUY ? bid_ladder : ask_ladder;
    }

    DEVICE_MEMBER uint64 id_of(int32 node) const { return nodes[node].id; }
    DEVICE_MEMBER int64 price_of(int32 node) const { return levels[nodes[node].level].price; }
    DEVICE_MEMBER int64 qty_of(int32 node) const { return nodes[node].qty; }
    DEVICE_MEMBER int32 side_of(int32 node) const { return nodes[node].side; }
    DEVICE_MEMBER uint32 tif_of(int32 node) const { return nodes[node].tif; }
    DEVICE_MEMBER int64 filled_of(int32 node) const { return nodes[node].filled; }
    DEVICE_MEMBER uint64 owner_of(int32 node) const { return nodes[node].owner; }

    // Ids may be consecutive, or have their bits in the upper half.
    DEVICE_MEMBER uint32 bucket_of(uint64 id) const {
        return (uint32)(id * 0x9E3779B97F4A7C15ull >> 32) & hash_mask;
    }

    DEVICE_MEMBER int32 find(uint64 id) const {
        int32 node = buckets[bucket_of(id)];
        while (node != NO_ORDER && nodes[node].id != id) node = nodes[node].chained;
        return node;
    }

    DEVICE_MEMBER bool crosses(const Order& order) const {
        const Ladder& other = ladder_of(-order.side);
        return other.count > 0 && reaches(order, other.prices[other.count - 1]);
    }

    DEVICE_MEMBER int32 first(int32 side) const {
        const Ladder& own = ladder_of(side);
        return levels[own.levels[own.count - 1]].first;
    }

    // How many levels of a side are worse than a price: where it stands, or would stand.
    DEVICE_MEMBER uint32 place_of(int32 side, int64 price) const {
        const Ladder& own = ladder_of(side);
        for (uint32 above = own.count;; above -= LANES) {
            // The lane looks at the level that is `lane` levels below the one before `above`.
            const bool inside = lane < above;
            const int64 here = inside ? own.prices[above - 1 - lane] : price;
            const bool better = inside && (side == BUY ? here >= price : here <= price);
            const uint32 same_or_better = count_lanes(better);
            if (same_or_better < LANES) return above - same_or_better;
        }
    }

    DEVICE_MEMBER bool stands_at(int32 side, uint32 place, int64 price) const {
        const Ladder& own = ladder_of(side);
        return place < own.count && own.prices[place] == price;
    }

    DEVICE_MEMBER bool level_exists(const Order& order) const {
        return stands_at(order.side, place_of(order.side, order.price), order.price);
    }

    DEVICE_MEMBER bool is_alone(int32 node) const { return levels[nodes[node].level].orders == 1; }

    DEVICE_MEMBER bool lots_full(const Order& order, int32 leaving) const {
        const uint32 place = place_of(order.side, order.price);
        if (!stands_at(order.side, place, order.price)) return false;
        int64 lots = levels[ladder_of(order.side).levels[place]].lots;
        if (leaving != NO_ORDER && price_of(leaving) == order.price) lots -= nodes[leaving].qty;
        return lots > INT64_MAX - order.qty;
    }

    DEVICE_MEMBER void set_qty(int32 node, int64 qty) {
        Level& level = levels[nodes[node].level];
        const int64 lots = level.lots - nodes[node].qty + qty;
        meet();
        if (lane == 0) {
            level.lots = lots;
            nodes[node].qty = qty;
        }
        meet();
    }

    DEVICE_MEMBER void reduce(int32 node, int64 lots) {
        const int64 filled = nodes[node].filled + lots;
        set_qty(node, nodes[node].qty - lots);
        if (TRACK_FILLED && lane == 0) nodes[node].filled = filled;
        meet();
    }

    DEVICE_MEMBER void remove(int32 node) {
        const Node gone = nodes[node];
        const Level level = levels[gone.level];
        unchain(node, gone);
        if (lane == 0) {
            nodes[node].chained = free_node;
            if (gone.before != NO_ORDER) nodes[gone.before].behind = gone.behind;
            if (gone.behind != NO_ORDER) nodes[gone.behind].before = gone.before;
            levels[gone.level] = {level.price, level.lots - gone.qty,
                                  gone.before == NO_ORDER ? gone.behind : level.first,
                                  gone.behind == NO_ORDER ? gone.before : level.last,
                                  level.orders - 1, 0};
        }
        meet();
        free_node = node;
        live -= 1;
        if (level.orders == 1) remove_level(gone.side, gone.level, level.price);
    }

    DEVICE_MEMBER void append(const Order& order) { insert(order, false); }

    // Let an order rest behind all others at its price, or before them.
    DEVICE_MEMBER void insert(const Order& order, bool in_front) {
        const int32 at = level_for(order.side, order.price);
        const Level level = levels[at];
        const int32 node = take_node();
        const uint32 bucket = bucket_of(order.order_id);
        const int32 chained = buckets[bucket];
        const int32 before = in_front ? NO_ORDER : level.last;
        const int32 behind = in_front ? level.first : NO_ORDER;
        meet();
        if (lane == 0) {
            nodes[node] = {order.order_id, order.qty, order.filled, order.owner, at, before, behind,
                           chained, order.side, order.tif};
            buckets[bucket] = node;
            if (before != NO_ORDER) nodes[before].behind = node;
            if (behind != NO_ORDER) nodes[behind].before = node;
            levels[at] = {level.price, level.lots + order.qty,
                          before == NO_ORDER ? node : level.first,
                          behind == NO_ORDER ? node : level.last, level.orders + 1, 0};
        }
        meet();
        live += 1;
    }

    // Whether an order would trade whole, from what rests and who owns it.
    DEVICE_MEMBER bool can_fill_whole(const Order& order) const {
        const Ladder& other = ladder_of(-order.side);
        int64 needed = order.qty;
        for (uint32 left = other.count; left > 0; --left) {
            const Level level = levels[other.levels[left - 1]];
            if (!reaches(order, level.price)) return false;
            for (int32 node = level.first; node != NO_ORDER; node = nodes[node].behind) {
                if (same_owner(order.owner, nodes[node].owner)) {
                    if (STP == CANCEL_RESTING) continue;
                    return false;
                }
                needed -= nodes[node].qty;
                if (needed <= 0) return true;
            }
        }
        return false;
    }

    DEVICE_MEMBER void write_depth(int32 side, int64* out, uint32 count) const {
        const Ladder& own = ladder_of(side);
        for (uint32 level = 0; level < count; ++level) {
            const bool empty = level >= own.count;
            const Level here = empty ? Level{NO_PRICE, 0} : levels[own.levels[own.count - 1 - level]];
            if (lane == 0) out[4 * level] = here.price, out[4 * level + 1] = here.lots;
        }
    }

    // Lay out the memory of a book that comes to hold `room.orders` orders at most.
    DEVICE_MEMBER void open(const Room& room) {
        const uint64 count = room.orders;
        nodes = (Node*)room.address;
        levels = (Level*)(nodes + count);
        bid_ladder.prices = (int64*)(levels + count);
        ask_ladder.prices = bid_ladder.prices + count;
        bid_ladder.levels = (int32*)(ask_ladder.prices + count);
        ask_ladder.levels = bid_ladder.levels + count;
        buckets = ask_ladder.levels + count;
        hash_mask = room.hash_mask;
        bid_ladder.count = ask_ladder.count = live = level_count = 0;
        free_node = free_level = NO_ORDER;
        unused_node = unused_level = 0;
        for (uint64 bucket = lane; bucket <= hash_mask; bucket += LANES) {
            buckets[bucket] = NO_ORDER;
        }
        meet();
    }

    // Take over resting orders, from the last one back: so every level that is new is the best.
    DEVICE_MEMBER bool load(const Resting* rows, uint32 count) {
        for (uint32 left = count; left > 0; --left) {
            const Resting row = rows[left - 1];
            insert({row.order_id, row.price, row.qty, row.filled, row.owner,
                    signed_byte(row.codes, 0), byte_of(row.codes, 1), false, 0},
                   true);
        }
        return true;
    }

    DEVICE_MEMBER void store(Resting* rows, uint32 book) const {
        meet();  // the rows that were read may be these
        for (int32 side = BUY; side >= SELL; side -= 2) {
            const Ladder& own = ladder_of(side);
            for (uint32 left = own.count; left > 0; --left) {
                const Level level = levels[own.levels[left - 1]];
                for (int32 node = level.first; node != NO_ORDER; node = nodes[node].behind) {
                    const Node& here = nodes[node];
                    const uint32 codes = ((uint32)side & 0xFF) | here.tif << 8;
                    if (lane == 0) {
                        *rows = {here.id, level.price, here.qty, here.filled, here.owner, book,
                                 codes};
                    }
                    rows += 1;
                }
            }
        }
    }

  private:
    DEVICE_MEMBER void unchain(int32 node, const Node& gone) {
        int32* link = buckets + bucket_of(gone.id);
        while (*link != node) link = &nodes[*link].chained;
        meet();
        if (lane == 0) *link = gone.chained;
        meet();
    }

    DEVICE_MEMBER int32 take_node() {
        if (free_node == NO_ORDER) return unused_node++;
        const int32 node = free_node;
        free_node = nodes[node].chained;
        return node;
    }

    // The level of a price, made if there is none.
    DEVICE_MEMBER int32 level_for(int32 side, int64 price) {
        const uint32 place = place_of(side, price);
        Ladder& own = ladder_of(side);
        if (stands_at(side, place, price)) return own.levels[place];
        int32 level = free_level;
        if (level == NO_ORDER) level = unused_level++;
        else free_level = levels[level].first;
        for (uint32 above = own.count; above > place;) {
            const uint32 from = above - place > LANES ? above - LANES : place;
            const uint32 mine = from + lane;
            const bool moves = mine < above;
            const int64 moved_price = moves ? own.prices[mine] : 0;
            const int32 moved = moves ? own.levels[mine] : 0;
            meet();
            if (moves) {
                own.prices[mine + 1] = moved_price;
                own.levels[mine + 1] = moved;
            }
            meet();
            above = from;
        }
        meet();
        if (lane == 0) {
            own.prices[place] = price;
            own.levels[place] = level;
            levels[level] = {price, 0, NO_ORDER, NO_ORDER, 0, 0};
        }
        meet();
        own.count += 1;
        level_count += 1;
        return level;
    }

    DEVICE_MEMBER void remove_level(int32 side, int32 level, int64 price) {
        Ladder& own = ladder_of(side);
        for (uint32 at = place_of(side, price); at + 1 < own.count; at += LANES) {
            const uint32 mine = at + lane;
            const bool moves = mine + 1 < own.count;
            const int64 moved_price = moves ? own.prices[mine + 1] : 0;
            const int32 moved = moves ? own.levels[mine + 1] : 0;
            meet();
            if (moves) {
                own.prices[mine] = moved_price;
                own.levels[mine] = moved;
            }
            meet();
        }
        own.count -= 1;
        level_count -= 1;
        if (lane == 0) levels[level].first = free_level;
        meet();
        free_level = level;
    }
};
