// What the agents of one market send in a step. One warp owns the market.

enum Type : uint32 { NOISE, MOMENTUM, MAKER, FUNDAMENTAL, NOBODY };

// What a step adds to the book: limit orders by slot, marketable orders at the edges.
struct Counted {
    // Slot s is in lane s: the lots of limit orders at offset s - `reach` from the mid, all of them
    // in the low half, buys in the high half.
    uint32 slots;
    int32 mid2;   // half ticks
    Lots top;     // marketable buys, at LEVELS - 1
    Lots bottom;  // marketable sells, at 0
};

// What agents see, in half ticks from base; ret and pull are -1, 0 or 1.
struct Seen {
    int32 mid2;
    int32 ret;
    int32 pull;
};

DEVICE int32 round_half_even(int32 half_ticks) {
    int32 tick = half_ticks >> 1;
    return tick + (tick & half_ticks & 1);
}

DEVICE int32 clamp_to_grid(int32 level) { return max(0, min(level, LEVELS - 1)); }

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

// The value of a lane of the same group.
DEVICE uint32 from_group(uint32 value, int32 lane) {
    return __shfl_sync(ALL_LANES, value, lane, GROUP);
}

// What the rules of a market need in every step.
struct Rules {
    uint32 two_max_qty;
    int32 minus_max_qty;
    uint32 threshold;
    uint32 offsets;  // of noise orders
    int32 reach;     // of all limit orders from the mid, at least 1
    int32 maker_half_spread;
    // Agents are ordered by type; unused when types are given.
    uint32 noise_end, momentum_end, maker_end;
    uint64 one_high;  // 2^32, hidden from the compiler, which would split the addition
    float probability, max_qty;  // of stream "paper"
};

DEVICE Rules rules_of(const Market& market) {
    return {market.two_max_qty,
            -(int32)market.max_qty,
            market.threshold,
            (uint32)(2 * market.noise_spread + 1 + PAPER),  // an offset too far can occur there
            max(1, max(market.noise_spread + PAPER, market.maker_half_spread)),
            market.maker_half_spread,
            market.noise_end,
            market.momentum_end,
            market.maker_end,
            hidden(1ull << 32),
            market.probability,
            (float)market.max_qty};
}

// Noise lots of a lane: eight 8-bit counters for all, and eight for the buys among them.
struct NoiseCounters {
    uint32 all_low, all_high, buy_low, buy_high;
};

// Lots of all other types in a lane, in 16-bit halves: directed orders (limit, marketable) and
// those of them that were drawn to buy; makers (even agents, odd agents).
struct OtherCounters {
    uint32 momentum, momentum_buy, fundamental, fundamental_buy, maker;
    uint32 noise_marketable;  // of stream "paper": all, buys
};

// An order's size and side: the high word of word * 2q, plus 1 by the addend, less q if it buys,
// which the word's top bit says. `left` is what the draw leaves.
DEVICE uint32 draw_qty(uint32 word, const Rules& rules, uint32& buy, uint32& left) {
    uint64 product = multiply_add(word, rules.two_max_qty, rules.one_high);
    buy = top_bit(word);
    left = low_word(product);
    return high_word(product) + buy * rules.minus_max_qty;
}

// Count lots of a slot; none if it is past the last.
DEVICE void count_slot(uint32 slot, uint32 qty, uint32 buy, NoiseCounters& into) {
    uint32 low = shift_left_clamped(qty, 8 * slot);
    uint32 high = shift_left_clamped(qty, 8 * slot - 32);
    into.all_low += low;
    into.all_high += high;
    into.buy_low += low * buy;
    into.buy_high += high * buy;
}

// Count one noise order. What the size leaves gives the slot; what is left of that says whether
// the order is marketable, whose slot is the last.
DEVICE void count_noise(uint32 qty, uint32 buy, uint32 left, const Rules& rules,
                        NoiseCounters& into) {
    uint64 product = multiply(left, rules.offsets);
    uint32 slot = low_word(product) < rules.threshold ? rules.offsets : high_word(product);
    count_slot(slot, qty, buy, into);
}

// What an agent is; all false behind the last one.
struct AgentIs {
    bool noise, momentum, maker, fundamental;
};

DEVICE AgentIs what_is(uint32 agent, const Rules& rules, const uint8* types) {
#if GIVEN_TYPES
    uint32 type = types[agent];
    return {type == NOISE, type == MOMENTUM, type == MAKER, type == FUNDAMENTAL};
#else
    bool here = AGENTS % (2 * GROUP) == 0 || agent < AGENTS;
    bool noise = agent < rules.noise_end, momentum = agent < rules.momentum_end;
    bool maker = !FUNDAMENTAL_AGENTS || agent < rules.maker_end;
    return {noise, momentum && !noise, here && maker && !momentum, here && !maker};
#endif
}

// The same where, unless types are given, nobody is a noise agent.
DEVICE AgentIs what_else(uint32 agent, const Rules& rules, const uint8* types) {
    AgentIs is = what_is(agent, rules, types);
    if (!GIVEN_TYPES) is.momentum = agent < rules.momentum_end;
    return is;
}

// Count one order of another type; `odd` is the agent's parity.
DEVICE void count_other(uint32 qty, uint32 buy, bool marketable, const AgentIs& is, bool odd,
                        OtherCounters& into) {
    uint32 lots = marketable ? qty << 16 : qty;
    uint32 momentum = is.momentum ? lots : 0;
    into.momentum += momentum;
    into.momentum_buy += momentum * buy;
#if FUNDAMENTAL_AGENTS
    uint32 fundamental = is.fundamental ? lots : 0;
    into.fundamental += fundamental;
    into.fundamental_buy += fundamental * buy;
#endif
    uint32 maker = is.maker ? qty : 0;
    into.maker += odd ? maker << 16 : maker;
}

// Add the 8-bit counters of a warp's lanes, by group. Returns sum s of eight of this thread's
// column pair; see `gather_slots` for where they come to lie.
//
// The tensor cores do it. `low` and `high` are a matrix of 32 rows and 8 columns of bytes, column
// thread / 4; a matrix of ones and zeros, row s of which picks byte s of every thread, multiplies
// it. A thread gets columns 2 (thread % 4) and 2 (thread % 4) + 1 of row thread / 4.
DEVICE uint32 sum_bytes(uint32 low, uint32 high) {
    uint32 row = threadIdx.x / 4;
    uint32 pick_low = row < 4 ? 1u << (8 * row) : 0;
    uint32 pick_high = row < 4 ? 0 : 1u << (8 * (row - 4));
    uint32 first, second;
    [[maybe_unused]] uint32 third, fourth;  // of rows 8 .. 15, which pick nothing
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %6, %5, %6}, "
        "{%7, %8}, {%6, %6, %6, %6};"
        : "=r"(first), "=r"(second), "=r"(third), "=r"(fourth)
        : "r"(pick_low), "r"(pick_high), "r"(0), "r"(low), "r"(high));
    return first + second;
}

// Add the counters of a group's lanes: all lots low, buys high. Slot s of group g of a warp comes
// to lie in thread 4 s + 2 g of it; with one group, in threads 4 s .. 4 s + 3.
DEVICE uint32 gather_slots(const NoiseCounters& counted) {
    uint32 slots = sum_bytes(counted.all_low, counted.all_high) +
                   (sum_bytes(counted.buy_low, counted.buy_high) << 16);
    slots += __shfl_xor_sync(ALL_LANES, slots, 1);
    if (GROUP == LANES) slots += __shfl_xor_sync(ALL_LANES, slots, 2);
    return slots;
}

DEVICE uint32 gathered_slot(uint32 gathered, uint32 slot) {
    return __shfl_sync(ALL_LANES, gathered, 4 * slot + 2 * (threadIdx.x / GROUP));
}

// What limit orders add at this lane's level, `first` + lane: all lots low, buys high. A level is
// the tick of the mid, rounded down, plus the offset; if the mid is halfway, an odd one of these is
// rounded up to the even level above it.
//
// All levels that orders can reach must lie on the grid and among the lanes'. Then lanes that look
// past either end of the slots see, around the warp, lanes that hold none.
DEVICE uint32 limit_lots_inside(const Counted& sent, const Rules& rules, int32 first, uint32 lane) {
    int32 slot = first + (int32)lane - (sent.mid2 >> 1) + rules.reach;
    uint32 here = from_group(sent.slots, slot), below = from_group(sent.slots, slot - 1);
    uint32 halfway = (first + lane) & 1 ? 0 : here + below;
    return sent.mid2 & 1 ? halfway : here;
}

// The same for any level, clamped to the grid, for a market that has `width` lanes.
template <int WIDTH>
DEVICE uint32 limit_lots(const Counted& sent, int32 reach, int32 most_reach, int32 level) {
    uint32 here = 0;
#pragma unroll 1
    for (int32 slot = 0; slot <= 2 * most_reach; ++slot) {
        uint32 lots = __shfl_sync(ALL_LANES, sent.slots, slot, WIDTH);
        int32 price2 = sent.mid2 + 2 * (slot - reach);
        if (clamp_to_grid(round_half_even(price2)) == level) here += lots;
    }
    return here;
}

// Add what directed agents of one type sent; they all go one way unless it is 0. `lots` and
// `drawn_to_buy` are limit orders in the low half, marketable ones in the high half.
DEVICE void add_directed(uint32 lots, uint32 drawn_to_buy, int32 direction, const Rules& rules,
                         uint32 lane, Counted& sent) {
    uint32 buy = direction > 0 ? lots : direction < 0 ? 0 : drawn_to_buy;
    uint32 sell = lots - buy;  // no borrow between the halves: each of them holds a part of it
    if (lane == rules.reach + 1) sent.slots += (buy & 0xFFFF) * 0x10001;
    if (lane == rules.reach - 1) sent.slots += sell & 0xFFFF;
    sent.top += buy >> 16;
    sent.bottom += sell >> 16;
}

// What all groups of a warp agree on. Rounds of 2 * GROUP agents: those before `all_noise` have
// noise agents only, those from `some_noise` on have none.
struct Agreed {
    uint32 all_noise, some_noise;
    int32 most_reach;
};

constexpr uint32 ROUND_AGENTS = 2 * GROUP;
constexpr uint32 ROUNDS = (AGENTS + ROUND_AGENTS - 1) / ROUND_AGENTS;

DEVICE Agreed agree(const Rules& rules) {
    int32 most_reach = __reduce_max_sync(ALL_LANES, rules.reach);
    if (GIVEN_TYPES) return {0, ROUNDS, most_reach};
    uint32 all_noise = rules.noise_end / ROUND_AGENTS;
    uint32 some_noise = (rules.noise_end + ROUND_AGENTS - 1) / ROUND_AGENTS;
    return {__reduce_min_sync(ALL_LANES, all_noise), __reduce_max_sync(ALL_LANES, some_noise),
            most_reach};
}

// Stream "default": one 64-bit hash serves agents 2k and 2k + 1; a lane takes every pair that is
// GROUP further. `sum_up` is called once a round.
template <class Summing>
DEVICE void draw_default(const Rules& rules, const Agreed& agreed, const PhiloxKeys& keys,
                         const uint8* types, uint32 step, uint32 lane, const Summing& sum_up, NoiseCounters& noise,
                         OtherCounters& others) {
    PhiloxStep first = philox_step(keys, step);
    uint32 pair = lane;
    uint32 buy, left, qty;
#pragma unroll UNROLLED_ROUNDS
    for (uint32 round = 0; round < agreed.all_noise; ++round, pair += GROUP) {
        uint2 words = philox_block(keys, first, pair);
        qty = draw_qty(words.x, rules, buy, left);
        count_noise(qty, buy, left, rules, noise);
        qty = draw_qty(words.y, rules, buy, left);
        count_noise(qty, buy, left, rules, noise);
        sum_up(noise);
    }
#pragma unroll 1
    for (uint32 round = agreed.all_noise; round < agreed.some_noise; ++round, pair += GROUP) {
        uint2 words = philox_block(keys, first, pair);
        AgentIs is = what_is(2 * pair, rules, types);
        qty = draw_qty(words.x, rules, buy, left);
        count_noise(is.noise ? qty : 0, buy, left, rules, noise);
        count_other(qty, buy, left < rules.threshold, is, false, others);
        is = what_is(2 * pair + 1, rules, types);
        qty = draw_qty(words.y, rules, buy, left);
        count_noise(is.noise ? qty : 0, buy, left, rules, noise);
        count_other(qty, buy, left < rules.threshold, is, true, others);
        sum_up(noise);
    }
#pragma unroll 1
    for (uint32 round = agreed.some_noise; round < ROUNDS; ++round, pair += GROUP) {
        uint2 words = philox_block(keys, first, pair);
        AgentIs is = what_else(2 * pair, rules, types);
        qty = draw_qty(words.x, rules, buy, left);
        count_other(qty, buy, left < rules.threshold, is, false, others);
        is = what_else(2 * pair + 1, rules, types);
        qty = draw_qty(words.y, rules, buy, left);
        count_other(qty, buy, left < rules.threshold, is, true, others);
    }
}

#if PAPER
// Keys of the paper's hash, [group][channel][agent]: kept in shared memory while they fit.
constexpr bool KEYS_KEPT = MARKETS_PER_WARP * 4 * AGENTS * 8 <= 16 * 1024;
__shared__ uint64 kept_keys[KEYS_KEPT ? MARKETS_PER_WARP * 4 * AGENTS : 1];

DEVICE uint64 key_of(const Market& market, uint32 agent, uint32 channel) {
    if (!KEYS_KEPT) return paper_key(market, agent, channel);
    return kept_keys[(threadIdx.x / GROUP * 4 + channel) * AGENTS + agent];
}

DEVICE void keep_keys(const Market& market, uint32 lane) {
    if (!KEYS_KEPT) return;
    for (uint32 channel = 0; channel < 4; ++channel) {
        for (uint32 agent = lane; agent < AGENTS; agent += GROUP) {
            kept_keys[(threadIdx.x / GROUP * 4 + channel) * AGENTS + agent] =
                paper_key(market, agent, channel);
        }
    }
    __syncwarp();
}

// Stream "paper": a lane takes every agent that is GROUP further. No agent draws what its rule does
// not need.
template <class Summing>
DEVICE void draw_paper_orders(const Market& market, const Rules& rules, const uint8* types,
                              uint32 step, uint32 lane, bool sides_drawn, const Summing& sum_up,
                              NoiseCounters& noise, OtherCounters& others) {
    uint64 by_step = paper_step(step);
    float offsets = (float)(int32)(rules.offsets - 1);
#pragma unroll 1
    for (uint32 start = 0; start < AGENTS; start += GROUP) {
        uint32 agent = min(start + lane, AGENTS - 1);
        AgentIs is = what_is(agent, rules, types);
        bool here = start + lane < AGENTS;
        uint32 qty = 1 + paper_below(mix64(key_of(market, agent, QTY) + by_step), rules.max_qty);
        if (!here) qty = 0;
        uint32 buy = 0;
        bool marketable = false;
        if (!is.maker) {
            marketable = paper_marketable(mix64(key_of(market, agent, MARKETABLE) + by_step),
                                          rules.probability);
            if (is.noise || sides_drawn) {
                buy = paper_buys(mix64(key_of(market, agent, SIDE) + by_step));
            }
        }
        if (is.noise) {
            uint32 slot = paper_below(mix64(key_of(market, agent, OFFSET) + by_step), offsets);
            count_slot(slot, marketable ? 0 : qty, buy, noise);
            if (marketable) others.noise_marketable += qty + (qty * buy << 16);
        } else {
            count_other(qty, buy, marketable, is, agent & 1, others);
        }
        if ((start / GROUP) & 1) sum_up(noise);
    }
}
#endif

// Draw for every agent and count what they send. One 64-bit hash serves agents 2k and 2k + 1; a
// lane takes every pair that is GROUP further. Counters of 8 bits a lane and 16 bits a market are
// wide enough: the host picks this kernel only where agents * (max_qty + 1) is below 2^16, and
// ROUNDS_PER_SUM so that no lane's counter overflows.
DEVICE Counted send_orders(const Market& market, const Rules& rules, const Agreed& agreed,
                           const PhiloxKeys& keys, const uint8* types, uint32 step, uint32 lane, const Seen& seen) {
    uint32 counted = 0, unsummed = 0;
    NoiseCounters noise = {};
    OtherCounters others = {};
    auto sum_up = [&](NoiseCounters& counters) {
        if (ROUNDS <= ROUNDS_PER_SUM || ++unsummed < ROUNDS_PER_SUM) return;
        counted += gather_slots(counters);
        counters = {};
        unsummed = 0;
    };
    bool sides_drawn =
        __any_sync(ALL_LANES, seen.ret == 0 || (FUNDAMENTAL_AGENTS && seen.pull == 0));
#if PAPER
    draw_paper_orders(market, rules, types, step, lane, sides_drawn, sum_up, noise, others);
#else
    draw_default(rules, agreed, keys, types, step, lane, sum_up, noise, others);
#endif
    counted += gather_slots(noise);

    Counted sent;
    sent.mid2 = seen.mid2;
    uint32 marketable = PAPER ? sum_group(others.noise_marketable)
                              : gathered_slot(counted, rules.offsets);
    sent.top = marketable >> 16;
    sent.bottom = (marketable & 0xFFFF) - (marketable >> 16);
    // Noise slot s is offset s - noise_spread; seen from the lowest offset of all, some lanes up.
    uint32 slot = lane - (rules.reach - (rules.offsets - 1) / 2);
    sent.slots = gathered_slot(counted, slot);
    if (slot >= rules.offsets) sent.slots = 0;

    uint32 momentum = sum_group(others.momentum);
    uint32 momentum_buy = sides_drawn ? sum_group(others.momentum_buy) : 0;
    add_directed(momentum, momentum_buy, seen.ret, rules, lane, sent);
#if FUNDAMENTAL_AGENTS
    uint32 fundamental = sum_group(others.fundamental);
    uint32 fundamental_buy = sides_drawn ? sum_group(others.fundamental_buy) : 0;
    add_directed(fundamental, fundamental_buy, seen.pull, rules, lane, sent);
#endif
    uint32 makers = sum_group(others.maker);
    if (step & 1) makers = __byte_perm(makers, 0, 0x1032);  // odd agents buy in odd steps
    if (lane == rules.reach - rules.maker_half_spread) sent.slots += (makers & 0xFFFF) * 0x10001;
    if (lane == rules.reach + rules.maker_half_spread) sent.slots += makers >> 16;
    return sent;
}
