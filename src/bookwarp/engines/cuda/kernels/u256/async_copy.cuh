// Copies from global to shared memory that a thread does not wait for.

// Sixteen bytes: what is copied at a time, and what both addresses are a multiple of.
struct alignas(16) Piece { uint64 first, second; };

DEVICE void copy_ahead(void* shared, const void* global) {
    const uint32 to = (uint32)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(global) : "memory");
}

// Let all copies since the last such mark be one group, which may be empty.
DEVICE void mark_copies() { asm volatile("cp.async.commit_group;" : : : "memory"); }

// Wait for this thread's groups but the last.
DEVICE void await_all_but_last() { asm volatile("cp.async.wait_group 1;" : : : "memory"); }
