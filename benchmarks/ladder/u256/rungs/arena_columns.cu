// What arenas.cu does, of books that are arenas already.

constexpr uint32 COLUMNS = 4, COUNT_BYTES = 8;

DEVICE void copy_arenas(uint8* columns, uint32* counts, uint8* arenas, uint32 capacity,
                        uint32 count, bool to_arenas) {
    const uint64 number = (uint64)blockIdx.x * BLOCK + threadIdx.x;
    const uint64 in_arena = COLUMNS * (uint64)capacity;
    const uint64 arena = number / in_arena, entry = number - arena * in_arena;
    if (arena >= count) return;
    uint8* at = arenas + arena * (COUNT_BYTES + in_arena * sizeof(U256));
    const uint32 side = (uint32)(entry / (2ull * capacity)), place = (uint32)(entry % capacity);
    uint32* given = (uint32*)at;
    uint32* own = counts + arena * 4;
    const bool is_used = place < (to_arenas ? own[2 * side] : given[side]);
    uint8* there = at + COUNT_BYTES + entry * sizeof(U256);
    uint8* here = columns + (arena * in_arena + entry) * sizeof(U256);
    if (to_arenas) write_bytes(there, is_used ? read_bytes(here) : zero());
    else if (is_used) write_bytes(here, read_bytes(there));
    if (entry != 0) return;
    for (uint32 each = 0; each < 2; ++each) {
        if (to_arenas) given[each] = own[2 * each];
        else own[2 * each] = given[each], own[2 * each + 1] = 0;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
write_arenas(Slot* slots, const Ends* ends, uint8* arenas, uint32 books, uint32 capacity,
             uint32 first, uint32 count) {
    uint8* columns = (uint8*)slots + (uint64)first * capacity * 2 * sizeof(Slot);
    copy_arenas(columns, (uint32*)(ends + first), arenas, capacity, count, true);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
read_arenas(Slot* slots, Ends* ends, uint8* arenas, uint32 books, uint32 capacity, uint32 first,
            uint32 count) {
    uint8* columns = (uint8*)slots + (uint64)first * capacity * 2 * sizeof(Slot);
    copy_arenas(columns, (uint32*)(ends + first), arenas, capacity, count, false);
}
