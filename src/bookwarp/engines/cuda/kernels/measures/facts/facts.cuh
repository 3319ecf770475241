// What the kernels of facts read and write: a thread makes the facts of one market from its sums.
//
// Facts are numbered within their group as measures/layout.py says (namespace `fact`). They lie in
// pieces of `piece` markets, as sums do, but every fact is as the host has it, [market, ...]; behind
// the facts of all groups are bytes [group, market], which say whose facts are to be made anew.

// The largest values with which sums are exact: bookwarp.spec.exact_sums.ExactLimits.
struct Limits {
    int64 square, window, depth;
    int64 returns[HORIZON_COUNT];
};

// One market's facts of a group.
struct Facts {
    double* first;
    uint64 piece, place;

    DEVICE_MEMBER void put(uint32 fact, Real value) const {
        first[fact * piece + place] = value.value;
    }
    // Of a fact that has `length` numbers.
    DEVICE_MEMBER void put(uint32 fact, uint32 length, uint32 number, Real value) const {
        first[fact * piece + place * length + number] = value.value;
    }
};

// `nbytes` is the size of a piece; `facts` points to the first of the group.
DEVICE Facts facts_of(char* facts, uint32 nbytes, uint32 piece, uint32 place) {
    return {(double*)(facts + (uint64)(place / piece) * nbytes), piece, place % piece};
}

// `again` points to the bytes of the group.
DEVICE void say_again(char* again, uint32 nbytes, uint32 piece, uint32 place, bool is_exact) {
    again[(uint64)(place / piece) * nbytes + place % piece] = !is_exact;
}

DEVICE bool returns_are_exact(const Sums& sums, const Limits& limits) {
    bool all = true;
#pragma unroll
    for (uint32 number = 0; number < HORIZON_COUNT; ++number) {
        all = all && sums[return_most + number] <= limits.returns[number];
    }
    return all;
}
