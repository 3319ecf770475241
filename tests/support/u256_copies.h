// What async_copy.cuh has, on a processor: a copy is made as late as it may be, when its thread waits
// for it, so that who reads without waiting reads what was there before.

#include <map>
#include <utility>

struct alignas(16) Piece { uint64 first, second; };

namespace emulated {

struct Copy {
    void* to;
    const void* from;
};

// Copies of every thread that are not made yet, by group; the last one is not marked.
inline std::map<unsigned, std::vector<std::vector<Copy>>> copies;

inline std::vector<std::vector<Copy>>& own_copies() {
    auto& own = copies[threadIdx.x];
    if (own.empty()) own.emplace_back();
    return own;
}

}  // namespace emulated

inline void copy_ahead(void* shared, const void* global) {
    if ((std::uintptr_t)shared % 16 || (std::uintptr_t)global % 16) {
        emulated::fail("a copy is not aligned");
    }
    emulated::own_copies().back().push_back({shared, global});
}

inline void mark_copies() { emulated::own_copies().emplace_back(); }

inline void await_all_but_last() {
    auto& own = emulated::own_copies();
    while (own.size() > 2) {
        for (const emulated::Copy& copy : own.front()) std::memcpy(copy.to, copy.from, 16);
        own.erase(own.begin());
    }
}
