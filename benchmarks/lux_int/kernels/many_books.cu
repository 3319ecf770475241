// Write the words of a few books many times over, and compare many books with a few.
//
// Book b has the words of book b mod `variety` of a table [variety, word]. In planes the words of
// all books are [word, book], else [book, word].

__device__ __forceinline__ uint32 place_of(uint32 book, uint32 word, uint32 books, uint32 words,
                                           uint32 planes) {
    return planes ? word * books + book : book * words + word;
}

// The grid's second dimension counts words.
extern "C" __global__ void repeat_books(const uint32* table, uint32* target, uint32 books,
                                        uint32 words, uint32 variety, uint32 planes) {
    const uint32 book = this_book();
    if (book >= books) return;
    for (uint32 word = blockIdx.y; word < words; word += gridDim.y) {
        target[place_of(book, word, books, words, planes)] =
            table[book % variety * words + word];
    }
}

extern "C" __global__ void count_differences(const uint32* table, const uint32* found, uint32 books,
                                             uint32 words, uint32 variety, uint32 planes,
                                             uint64* differences) {
    const uint32 book = this_book();
    if (book >= books) return;
    for (uint32 word = blockIdx.y; word < words; word += gridDim.y) {
        const uint32 here = found[place_of(book, word, books, words, planes)];
        if (here != table[book % variety * words + word]) atomicAdd(differences, 1ull);
    }
}
