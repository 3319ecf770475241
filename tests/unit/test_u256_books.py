"""`U256Books`: exact bytes in and out, and clear errors before anything changes."""

import numpy as np
import pytest
from u256_bytes import VECTORS, arena_of, result_of

from bookwarp.consensus import U256Books
from bookwarp.spec.errors import EngineError, ParameterError, StoreError
from bookwarp.testing.u256_orders import LARGEST, pack_order

NOTHING = bytes(68)


def rest(books, side, slots, book=0):
    for price, qty in slots:
        books.match_order(pack_order(side, price, qty), book)


@pytest.fixture
def three_books(engine):
    """Three books that hold something, and their mapping of ids."""
    ids = {bytes([7]) * 32: 2, bytes(31) + b"\1": 1, bytes(32): 0}
    books = U256Books(3, 4, engine=engine, book_ids=ids)
    rest(books, 1, [(10, 5), (11, 6)], book=1)
    rest(books, 0, [(9, 1)], book=2)
    return books


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_vectors_give_their_results_and_books(engine, vector):
    books = U256Books(1, vector["cap"], engine=engine)
    calldata = [bytes.fromhex(step["calldata"]) for step in vector["steps"]]
    results = books.match(calldata)
    assert [row.tobytes().hex() for row in results] == [s["out_exact"] for s in vector["steps"]]
    sides = [
        [tuple(int(number, 16) for number in slot) for slot in vector[side]]
        for side in ("final_bids", "final_asks")
    ]
    assert books.arena() == arena_of(vector["cap"], *sides)


def test_batch_equals_orders_one_by_one(engine):
    vector = VECTORS[0]
    together = U256Books(1, vector["cap"], engine=engine)
    alone = U256Books(1, vector["cap"], engine=engine)
    calldata = [bytes.fromhex(step["calldata"]) for step in vector["steps"]]
    results = [alone.match_order(each) for each in calldata]
    assert together.match(b"".join(calldata)).tobytes() == b"".join(results)
    assert together.digest() == alone.digest()


def test_resting_orders_stand_by_price_and_then_by_arrival(engine):
    books = U256Books(1, 5, engine=engine)
    rest(books, 0, [(5, 1), (7, 2), (5, 3), (6, 4), (7, 5)])
    assert books.arena() == arena_of(5, bids=[(7, 2), (7, 5), (6, 4), (5, 1), (5, 3)])
    books = U256Books(1, 5, engine=engine)
    rest(books, 255, [(5, 1), (7, 2), (5, 3), (0, 4), (7, 5)])
    assert books.arena() == arena_of(5, asks=[(0, 4), (5, 1), (5, 3), (7, 2), (7, 5)])


def test_order_fills_at_resting_prices_and_what_is_left_rests(engine):
    books = U256Books(1, 4, engine=engine)
    rest(books, 1, [(10, 3), (12, 4), (20, 9)])
    result = books.match_order(pack_order(0, 12, 9))
    assert result == result_of(7, (3 * 10 + 4 * 12) // 7, 2)
    assert books.arena() == arena_of(4, bids=[(12, 2)], asks=[(20, 9)])
    assert books.match_order(pack_order(1, 0, 1)) == result_of(1, 12, 1)
    assert books.arena() == arena_of(4, bids=[(12, 1)], asks=[(20, 9)])


def test_order_of_no_quantity_gives_zero_bytes_and_rests_nothing(engine):
    books = U256Books(1, 4, engine=engine)
    rest(books, 1, [(10, 3)])
    before = books.arena()
    assert books.match_order(pack_order(0, 12, 0)) == NOTHING
    assert books.match_order(pack_order(1, 12, 0)) == NOTHING
    assert books.arena() == before


def test_remainder_is_dropped_on_a_full_side_even_at_a_better_price(engine):
    books = U256Books(1, 2, engine=engine)
    rest(books, 1, [(10, 3), (12, 4)])
    before = books.arena()
    assert books.match_order(pack_order(1, 9, 5)) == NOTHING
    assert books.arena() == before
    rest(books, 0, [(8, 1), (9, 1)])
    # It fills, and then finds its own side full.
    assert books.match_order(pack_order(0, 10, 5)) == result_of(3, 10, 1)
    assert books.arena() == arena_of(2, bids=[(9, 1), (8, 1)], asks=[(12, 4)])


def test_sum_of_the_largest_numbers_is_averaged_exactly(engine):
    books = U256Books(1, 3, engine=engine)
    rest(books, 1, [(LARGEST - 1, LARGEST // 3), (LARGEST, LARGEST // 3 + 5)])
    filled = 2 * (LARGEST // 3) + 5
    total = (LARGEST - 1) * (LARGEST // 3) + LARGEST * (LARGEST // 3 + 5)
    found = books.match_order(pack_order(0, LARGEST, LARGEST))
    assert found == result_of(filled, total // filled, 2)


def test_taking_and_resting_many_times_round_keeps_the_order(engine):
    """A side may lie in a ring: it comes round its end, at both of its ends."""
    books = U256Books(1, 3, engine=engine)
    for turn in range(8):
        rest(books, 1, [(20, 1), (10, 1), (15, 1)])
        assert books.arena() == arena_of(3, asks=[(10, 1), (15, 1), (20, 1)]), turn
        takes = [(10, 1), (15, 1)] if turn % 2 else [(20, 3)]
        for price, qty in takes:
            assert books.match_order(pack_order(0, price, qty)) != NOTHING
        rest(books, 0, [(20, 1)] if turn % 2 else [])
        assert books.arena() == arena_of(3)


def test_orders_find_their_books_by_index_or_by_id(three_books):
    by_id = bytes(31) + b"\1"
    calldata = [pack_order(0, 10, 1, by_id), pack_order(1, 9, 1, bytes([7]) * 32)]
    fills = three_books.match(calldata)[:, 67]
    assert fills.tolist() == [1, 1]
    assert three_books.arena(1) == arena_of(4, asks=[(10, 4), (11, 6)])
    fills = three_books.match([pack_order(0, 10, 1)] * 3, [2, 1, 0])[:, 67]
    assert fills.tolist() == [0, 1, 0]
    assert three_books.match([pack_order(0, 10, 1)] * 2, np.uint32(1))[:, 67].tolist() == [1, 1]
    assert three_books.arena(0) == arena_of(4, bids=[(10, 1)])


def test_no_orders_give_no_results(three_books):
    before = three_books.digest()
    for nothing in (b"", [], np.empty((0, 117), np.uint8)):
        assert three_books.match(nothing, []).shape == (0, 68)
    assert three_books.digest() == before


def test_arrays_that_cannot_be_written_are_read(three_books):
    calldata = np.frombuffer(pack_order(0, 10, 1) * 2, np.uint8).reshape(2, 117)
    book = np.array([1, 1])
    book.flags.writeable = False
    assert three_books.match(calldata, book)[:, 67].tolist() == [1, 1]
    assert three_books.match(np.asfortranarray(calldata), book)[:, 67].tolist() == [1, 1]


GOOD, UNKNOWN = pack_order(0, 10, 1), pack_order(0, 10, 1, bytes([9]) * 32)


@pytest.mark.parametrize(
    "calldata, book, message",
    [
        ([GOOD, GOOD[:-1]], [0, 0], "order 1 has 116 bytes.* its book id begins at offset 85"),
        ([GOOD, GOOD[:40]], [0, 0], "order 1 has 40 bytes.*ends at offset 40, and its quantity"),
        ([b""], [0], "order 0 has 0 bytes.* its side begins at offset 0"),
        ([GOOD + b"\0"], [0], "order 0 has 118 bytes"),
        (GOOD + GOOD[:1], [0, 0], "order 1 has 1 bytes.* its price begins at offset 1"),
        (np.zeros((2, 116), np.uint8), [0, 0], "order 0 has 116 bytes"),
        (np.zeros((2, 117), np.int64), [0, 0], r"calldata must be uint8 \[order, 117\], not int64"),
        ([GOOD, "x"], [0, 0], "order 1 must be bytes, not str"),
        (7, [0], "calldata must be an array or bytes, not int"),
        ([GOOD] * 3, [0, 3, 4], "order 1: book 3 does not exist; there are 3 books, 0 .. 2"),
        ([GOOD] * 2, [0, -1], "order 1: book -1 does not exist"),
        ([GOOD] * 2, 3, "book = 3 is outside 0 .. 2"),
        ([GOOD] * 2, True, "book must be an integer, not True"),
        ([GOOD] * 2, [0], r"book has the shape \[1\], and there are 2 orders"),
        ([GOOD] * 2, [0.0, 1.0], "book must be integers"),
        ([GOOD, UNKNOWN], None, "order 1: its book id at offset 85, 0909"),
    ],
)  # fmt: skip
def test_wrong_orders_are_refused_before_anything_changes(three_books, calldata, book, message):
    before = three_books.digest()
    with pytest.raises(ParameterError, match=message):
        three_books.match(calldata, book)
    assert three_books.digest() == before


@pytest.mark.parametrize("tile", [0, -1, 1.5, True, 2**31])
def test_tile_outside_its_domain_is_refused(three_books, tile):
    with pytest.raises(ParameterError, match="tile"):
        three_books.match([GOOD], [0], tile=tile)


def test_more_orders_than_can_be_counted_are_refused(three_books):
    endless = np.broadcast_to(np.zeros(117, np.uint8), (2**32, 117))
    with pytest.raises(ParameterError, match="the number of orders = 4294967296 is outside"):
        three_books.match(endless, 0)


def test_tile_may_be_an_integer_of_numpy(three_books):
    assert three_books.match([GOOD] * 2, [0, 1], tile=np.int64(1))[:, 67].tolist() == [0, 1]


def test_single_order_of_the_wrong_length_is_refused(three_books):
    with pytest.raises(ParameterError, match="order 0 has 234 bytes"):
        three_books.match_order(GOOD + GOOD, 0)


def test_books_of_orders_must_be_told_if_there_are_several(engine):
    with pytest.raises(ParameterError, match="there are 2 books: give the book of every order"):
        U256Books(2, 4, engine=engine).match([GOOD])


@pytest.mark.parametrize(
    "given, message",
    [
        ({"books": 0}, "books = 0 is outside"),
        ({"books": "3"}, "books must be an integer"),
        ({"capacity": 0}, "capacity = 0 is outside 1 .. 16777216"),
        ({"threads": 0}, "threads = 0"),
        ({"engine": "cpuu"}, "unknown engine 'cpuu': did you mean 'cpu'"),
        ({"book_ids": {b"short": 0}}, "book id 73686f7274 is not 32 bytes"),
        ({"book_ids": {bytes(32): 3}}, "the book of id 00000000.* = 3 is outside 0 .. 2"),
        ({"book_ids": {}}, "book_ids must be a mapping"),
        ({"book_ids": [bytes(32)]}, "book_ids must be a mapping"),
    ],
)
def test_wrong_books_are_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        U256Books(**({"books": 3, "capacity": 4} | given))


SOUND = arena_of(4, bids=[(9, 1), (8, 2)], asks=[(10, 3), (10, 4), (11, 5)])


@pytest.mark.parametrize(
    "offset, byte, message",
    [
        (0, 5, "book 1 is damaged: n_bids at offset 0 is 5, above the capacity 4"),
        (7, 1, "n_asks at offset 4 is 16777219, above the capacity 4"),
        (8 + 64 + 31, 1, r"bid_price\[2\] at offset 72 is beyond the 2 used slots, and not zero"),
        (8 + 128 + 96, 1, r"bid_qty\[3\] at offset 232 is beyond the 2 used slots"),
        (8 + 128 + 31, 0, r"bid_qty\[0\] at offset 136 is zero in a used slot"),
        (8 + 384 + 64 + 31, 0, r"ask_qty\[2\] at offset 456 is zero in a used slot"),
        (8 + 32 + 31, 12, r"bid_price\[1\] at offset 40 is above the price before it"),
        (8 + 256 + 64 + 31, 9, r"ask_price\[2\] at offset 328 is below the price before it"),
        (8, 1, r"bid_price\[0\] at offset 8 is not below ask_price\[0\]"),
        (8 + 31, 10, r"bid_price\[0\] at offset 8 is not below ask_price\[0\]"),
    ],
)
def test_damaged_arena_is_refused_before_anything_changes(three_books, offset, byte, message):
    before = three_books.digest()
    damaged = bytearray(SOUND)
    damaged[offset] = byte
    with pytest.raises(ParameterError, match=message):
        three_books.load_arena(1, bytes(damaged))
    both = np.frombuffer(SOUND + bytes(damaged), np.uint8).reshape(2, -1)
    with pytest.raises(ParameterError, match=message):
        three_books.load_arenas(both)
    assert three_books.digest() == before


@pytest.mark.parametrize(
    "book, arena, message",
    [
        (0, SOUND[:-1], "the arena has 519 bytes, and with capacity 4 it has 520"),
        (0, b"", "the arena has 0 bytes"),
        (0, SOUND + SOUND, "the arena has 1040 bytes"),
        (3, SOUND, "book = 3 is outside 0 .. 2"),
        (0, "text", "an arena must be bytes or uint8"),
        (0, np.zeros((2, 520), np.uint8), "there are 2 arenas for one book"),
    ],
)
def test_wrong_arena_is_refused(three_books, book, arena, message):
    with pytest.raises(ParameterError, match=message):
        three_books.load_arena(book, arena)


def test_arena_comes_back_as_it_went_in_and_the_book_goes_on_from_it(engine):
    books = U256Books(3, 4, engine=engine)
    rest(books, 1, [(1, 1)], book=1)
    books.load_arena(1, SOUND)
    assert books.arena(1) == SOUND
    assert books.arena(0) == books.arena(2) == arena_of(4)
    assert books.match_order(pack_order(0, 10, 7), 1) == result_of(7, 10, 2)
    assert books.arena(1) == arena_of(4, bids=[(9, 1), (8, 2)], asks=[(11, 5)])
    books.load_arenas(books.arenas(0, 2)[::-1])
    assert books.arena(0) == arena_of(4, bids=[(9, 1), (8, 2)], asks=[(11, 5)])
    with pytest.raises(ParameterError, match="2 arenas from book 2 on are more than the 3 books"):
        books.load_arenas(books.arenas(0, 2), first=2)


def test_digest_is_what_the_page_says(three_books):
    import hashlib

    data = b"bookwarp u256 books 1\n" + np.array([3, 4], "<i8").tobytes()
    data += b"".join(three_books.arena(book) for book in range(3))
    assert three_books.digest() == hashlib.sha256(data).hexdigest()


def test_saved_books_go_on_on_any_engine(three_books, tmp_path):
    three_books.save(tmp_path / "books")
    for engine in ("reference", "cpu"):
        loaded = U256Books.load(tmp_path / "books", engine=engine)
        assert (loaded.books, loaded.capacity, loaded.engine) == (3, 4, engine)
        assert loaded.digest() == three_books.digest()
        assert loaded.book_ids == three_books.book_ids
    order = pack_order(0, 10, 1, bytes(31) + b"\1")
    assert loaded.match([order]).tobytes() == three_books.match([order]).tobytes()
    loaded.save(tmp_path / "books")


def test_saved_books_in_several_pieces_are_whole(engine, tmp_path, monkeypatch):
    from bookwarp.consensus import u256_books

    monkeypatch.setattr(u256_books, "_PIECE_BYTES", 2 * 520)
    books = U256Books(5, 4, engine=engine)
    for book in range(5):
        rest(books, 0, [(book, 1)], book)
    books.save(tmp_path / "books")
    monkeypatch.undo()
    assert U256Books.load(tmp_path / "books", engine=engine).digest() == books.digest()


@pytest.mark.parametrize("place", [0, 100, -100, -1])
def test_damaged_file_is_refused(three_books, tmp_path, place):
    path = tmp_path / "books"
    three_books.save(path)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"damaged|not a file of 256-bit books"):
        U256Books.load(path)


def test_file_of_something_else_is_refused(tmp_path):
    with pytest.raises(StoreError, match="there is no file of 256-bit books"):
        U256Books.load(tmp_path / "absent")
    (tmp_path / "other").write_text("other")
    with pytest.raises(StoreError, match="not a file of 256-bit books"):
        U256Books.load(tmp_path / "other")
    with pytest.raises(StoreError, match="not overwritten"):
        U256Books(1, 1).save(tmp_path / "other")


def test_lack_of_memory_is_said_before_there_are_books():
    with pytest.raises(EngineError, match="there is not enough memory"):
        U256Books(2**31 - 1, 2**24, engine="cpu")


def test_lack_of_memory_for_results_leaves_the_books_as_they_were(monkeypatch):
    from bookwarp.engines.cpu.u256 import engine

    def lack(*arguments):
        raise MemoryError("none is left")

    books = U256Books(2, 4, engine="cpu")
    before = books.digest()
    monkeypatch.setattr(engine, "group", lack)
    with pytest.raises(EngineError, match="there is not enough memory: none is left"):
        books.match([GOOD], [0])
    assert books.digest() == before


def test_books_say_what_they_are():
    assert repr(U256Books(1000, 32, engine="cpu")) == (
        "<U256Books: 1,000 of capacity 32 on engine cpu>"
    )
