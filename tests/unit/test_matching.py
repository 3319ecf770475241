"""`bw.match` and `bw.Books`: tables in, events, books, counters and a digest out."""

import hashlib
import json
import struct

import numpy as np
import pyarrow as pa
import pytest

import bookwarp as bw
from bookwarp import matching
from bookwarp.engines import registry
from bookwarp.reference.book_engine import ReferenceBookEngine
from bookwarp.results.archive import ArchiveKind
from bookwarp.spec.errors import EngineError, ParameterError, StoreError
from bookwarp.spec.events import EVENT_ROW, Counter
from bookwarp.testing.order_streams import random_orders

ORDERS = {
    "book": [0, 1, 0, 1, 0, 1, 1],
    "op": ["new", "new", "new", "new", "cancel", "modify", "cancel"],
    "order_id": [1, 1, 2, 2, 1, 2, 7],
    "side": ["S", "B", "B", "S", None, None, None],
    "price": [100, 50, 101, 60, None, 50, None],
    "qty": [5, 4, 3, 9, None, 9, None],
    "ts": [10, 20, 30, 40, 50, 60, 70],
}
EVENTS = [
    # message, book, type, order, maker, side, price, qty, reason, op, ts
    (0, 0, "accepted", 1, 0, -1, 100, 5, "none", "new", 10),
    (1, 1, "accepted", 1, 0, 1, 50, 4, "none", "new", 20),
    (2, 0, "accepted", 2, 0, 1, 101, 3, "none", "new", 30),
    (2, 0, "trade", 2, 1, 1, 100, 3, "none", "new", 30),
    (3, 1, "accepted", 2, 0, -1, 60, 9, "none", "new", 40),
    (4, 0, "cancelled", 1, 0, -1, 100, 2, "requested", "cancel", 50),
    (5, 1, "modified", 2, 0, -1, 50, 9, "none", "modify", 60),
    (5, 1, "trade", 2, 1, -1, 50, 4, "none", "modify", 60),
    (6, 1, "rejected", 7, 0, 0, 0, 0, "unknown_id", "cancel", 70),
]
EVENT_NAMES = ("message", "book", "type", "order_id", "maker_id", "side", "price", "qty", "reason")


def rows_of(table, names):
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def stream(messages=3_000, books=5, seed=2):
    made = random_orders(messages, books, seed)
    return made.orders


def test_events_are_those_of_all_books_in_the_order_of_the_messages(book_engine):
    done = bw.match(ORDERS, engine=book_engine)
    assert rows_of(done.events, (*EVENT_NAMES, "op", "ts")) == EVENTS
    assert done.message_count == 7
    assert "events" not in repr(done)


def test_events_have_no_times_if_messages_have_none():
    untimed = {name: column for name, column in ORDERS.items() if name != "ts"}
    assert "ts" not in bw.match(untimed).events.column_names


def test_books_are_told_by_level_and_by_order(book_engine):
    rows = {
        "book": [2, 2, 2, 2, 0],
        "op": ["new"] * 5,
        "order_id": [1, 2, 3, 4, 9],
        "side": ["B", "B", "B", "S", "S"],
        "tif": ["GTC", "post_only", "GTC", "GTC", "GTC"],
        "price": [10, 11, 10, 13, -5],
        "qty": [1, 2, 3, 4, 5],
        "owner": [8, 8, 8, 8, 8],
    }
    books = bw.match(rows, 4, stp="cancel_both", engine=book_engine).books
    assert rows_of(books.level1(), books.level1().column_names) == [
        (0, None, None, -5, 5),
        (1, None, None, None, None),
        (2, 11, 2, 13, 4),
        (3, None, None, None, None),
    ]
    assert rows_of(books.level2(), ("book", "side", "level", "price", "qty", "orders")) == [
        (0, -1, 0, -5, 5, 1),
        (2, 1, 0, 11, 2, 1),
        (2, 1, 1, 10, 4, 2),
        (2, -1, 0, 13, 4, 1),
    ]
    assert rows_of(books.level2(1), ("book", "price")) == [(0, -5), (2, 11), (2, 13)]
    names = ("book", "side", "price", "qty", "order_id", "owner", "filled", "tif")
    assert rows_of(books.level3(), names) == [
        (0, -1, -5, 5, 9, 8, 0, "gtc"),
        (2, 1, 11, 2, 2, 8, 0, "post_only"),
        (2, 1, 10, 1, 1, 8, 0, "gtc"),
        (2, 1, 10, 3, 3, 8, 0, "gtc"),
        (2, -1, 13, 4, 4, 8, 0, "gtc"),
    ]
    assert books.level2(0).num_rows == 0


def test_empty_books_have_empty_tables():
    books = bw.Books(2)
    assert books.level1().num_rows == 2
    for table in (books.level2(), books.level3()):
        assert table.num_rows == 0
        assert table.schema.field("price").type == pa.int64()
    assert books.summary()["messages_per_s"] is None
    assert books.summary()["fills_per_order"] is None


def test_counters_add_up(book_engine):
    done = bw.match(ORDERS, engine=book_engine)
    counters = done.books.counters()
    assert rows_of(
        counters, ("messages", "accepted", "modified", "cancelled", "trades", "lots", "rejected")
    ) == [(3, 2, 0, 1, 1, 3, 0), (4, 2, 1, 0, 1, 4, 1)]
    assert counters["rejected_unknown_id"].to_pylist() == [0, 1]
    assert counters["fills_per_order"].to_pylist() == [0.5, 0.5]
    found = done.summary()
    assert (found["messages"], found["trades"], found["lots"]) == (7, 2, 7)
    assert found["rejected_by_reason"]["unknown_id"] == found["rejected"] == 1
    assert found["resting_orders"] == 1
    assert found["messages_per_s"] == 7 / found["elapsed_s"]


def test_lots_of_all_books_are_added_exactly():
    rows = {
        "book": [0, 0, 1, 1],
        "op": [0] * 4,
        "order_id": [1, 2] * 2,
        "side": [1, -1] * 2,
        "price": [0] * 4,
        "qty": [2**63 - 1] * 4,
    }
    assert bw.match(rows).summary()["lots"] == 2 * (2**63 - 1)


def test_flags_count_the_books_that_have_them():
    rows = ORDERS | {"op": ["new"] * 7, "side": ["B"] * 7, "order_id": range(7)}
    rows |= {"price": [1] * 7, "qty": [1] * 7}
    done = bw.match(rows, 3, capacity=3)
    assert done.summary()["flags"]["orders_full"] == 1
    assert done.books.counters()["flags"].to_pylist() == [0, int(bw.Flag.ORDERS_FULL), 0]
    assert done.summary()["rejected_by_reason"]["book_full"] == 1


def test_levels_are_those_of_the_book_of_each_message(book_engine):
    empty = bw.NO_PRICE
    done = bw.match(ORDERS, levels=2, engine=book_engine)
    assert done.levels[:, 0].tolist() == [
        [100, 5, empty, 0],
        [empty, 0, 50, 4],
        [100, 2, empty, 0],
        [60, 9, 50, 4],
        [empty, 0, empty, 0],
        [50, 5, empty, 0],
        [50, 5, empty, 0],
    ]
    assert (done.levels[:, 1] == [empty, 0, empty, 0]).all()
    assert bw.match(ORDERS, engine=book_engine).levels is None


def test_digest_is_the_same_on_every_engine_and_wherever_the_stream_is_cut(book_engine):
    """Whole blocks of events and parts of them, books by books and all at once."""
    orders = stream(40_000)
    expected = bw.match(orders, engine="reference").digest()
    assert bw.match(orders, 5, engine=book_engine, threads=2).digest() == expected
    random = np.random.default_rng(1)
    for _ in range(2):
        books = bw.Books(5, engine=book_engine)
        for part in np.split(orders, np.sort(random.integers(0, len(orders), 7))):
            books.match(part)
        assert books.digest() == expected
        assert books.messages == len(orders)


def test_digest_sees_every_difference():
    orders = stream(500)
    digests = {bw.match(orders).digest(), bw.match(orders, 6).digest()}
    digests |= {bw.match(orders, events=False).digest(), bw.match(orders[:-1]).digest()}
    for field in ("order_id", "price", "qty"):
        other = orders.copy()
        other[field][np.flatnonzero(other["op"] == 0)[0]] += 1
        digests.add(bw.match(other).digest())
    assert len(digests) == 7


def test_digest_is_what_the_page_on_matching_says():
    done = bw.match(stream(20_000), 6)
    rows = np.zeros(done.events.num_rows, EVENT_ROW)
    for name in EVENT_ROW.names:
        rows[name] = done.event_columns[name]
    assert EVENT_ROW.itemsize == 48
    assert len(rows) > 16_384
    chain = hashlib.sha256(b"bookwarp events 1\n").digest()
    whole = len(rows) // 16_384
    for block in np.split(rows[: whole * 16_384], whole):
        chain = hashlib.sha256(chain + hashlib.sha256(block.tobytes()).digest()).digest()
    value = hashlib.sha256(chain + rows[whole * 16_384 :].tobytes()).digest()
    state = done.books.state()
    hasher = hashlib.sha256(b"bookwarp continuous books 1\n" + value + struct.pack("<q", 6))
    for array in (state.flags, state.counters, state.order_offsets, state.orders):
        hasher.update(array.tobytes())
    assert done.digest() == hasher.hexdigest()
    assert state.counters[:, Counter.MESSAGES].sum() == 20_000


def test_without_events_the_books_are_the_same(book_engine):
    orders = stream()
    loud, silent = (bw.match(orders, events=on, engine=book_engine) for on in (True, False))
    assert silent.matched.events is None
    with pytest.raises(ParameterError, match="events=False"):
        _ = silent.events
    assert silent.books.level3().equals(loud.books.level3())
    assert silent.digest() != loud.digest()


def test_saved_books_go_on_as_if_nothing_had_happened(book_engine, tmp_path):
    made = random_orders(6_000, 3, seed=9)
    rows = {name: made.orders[name] for name in made.orders.dtype.names} | {"owner": made.owners}
    rules = {"modify": "replace", "qty": "total", "stp": "cancel_resting", "capacity": (40, 30)}
    rules |= {"price_range": (9_985, 10_015)}
    whole = bw.match(rows, 3, **rules, engine="reference")
    books = bw.Books(3, **rules, engine=book_engine)
    for first, last in ((0, 1_000), (1_000, 1_000), (1_000, 4_000), (4_000, 6_000)):
        books.match({name: column[first:last] for name, column in rows.items()})
        books.save(tmp_path / "here.books")
        before = books
        books = bw.Books.load(tmp_path / "here.books", engine=book_engine)
        assert books.rules == before.rules
        assert (books.messages, books.elapsed_s) == (before.messages, before.elapsed_s)
    assert books.digest() == whole.digest()
    assert books.counters().equals(whole.books.counters())


def test_saved_books_are_refused_if_damaged_or_something_else(tmp_path):
    path = tmp_path / "here.books"
    bw.match(stream()).books.save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"here\.books is damaged"):
        bw.Books.load(path)
    for content, message in ((b"", "it is empty"), (b"PK\x03\x04" + bytes(300), "is not a file")):
        path.write_bytes(content)
        with pytest.raises(StoreError, match=message):
            bw.Books.load(path)
    with pytest.raises(StoreError, match="there is no file of books"):
        bw.Books.load(tmp_path / "gone.books")
    with pytest.raises(StoreError, match="is a folder"):
        bw.Books.load(tmp_path)
    path.write_text("precious")
    with pytest.raises(StoreError, match="not overwritten"):
        bw.Books(1).save(path)
    assert path.read_text() == "precious"


def test_books_of_a_newer_format_are_refused(tmp_path):
    kind = ArchiveKind("bookwarp-books.json", "file of books")
    kind.write(tmp_path / "new.books", {"format": 2}, {})
    with pytest.raises(StoreError, match=r"format 2, .*reads up to 1: update bookwarp"):
        bw.Books.load(tmp_path / "new.books")


def test_match_goes_on_with_books():
    books = bw.Books(2)
    first = bw.match({n: c[:4] for n, c in ORDERS.items()}, books)
    second = bw.match({n: c[4:] for n, c in ORDERS.items()}, books)
    assert second.first_message == 4
    names = (*EVENT_NAMES, "op", "ts")
    assert rows_of(first.events, names) + rows_of(second.events, names) == EVENTS
    assert second.digest() == bw.match(ORDERS).digest()
    for ask in (first.digest, first.summary):
        with pytest.raises(ParameterError, match="have taken 3 messages since"):
            ask()
    with pytest.raises(ParameterError, match="stp = 'cancel_both' is given, but books have theirs"):
        bw.match(ORDERS, books, stp="cancel_both")


def test_array_may_be_filled_anew_after_it_was_matched():
    orders = stream(1_000)
    expected = bw.match(orders).events
    mine = orders.copy()
    done = bw.match(mine)
    mine["order_id"] = 0
    assert done.events.equals(expected)


def test_what_is_refused_changes_nothing():
    books = bw.Books(2)
    books.match(ORDERS)
    before = books.digest()
    wrong = ORDERS | {"book": [0, 1, 0, 1, 2, 1, 1]}
    with pytest.raises(ParameterError, match=r"book in row 4 .* is 2; there are 2 books, 0 \.\. 1"):
        books.match(wrong)
    with pytest.raises(ParameterError, match="price in row"):
        books.match(ORDERS | {"price": [1.5] * 7})
    assert (books.digest(), books.messages) == (before, 7)


@pytest.mark.parametrize(
    "rules, message",
    [
        ({"modify": "kep"}, "unknown modify 'kep': did you mean 'keep'"),
        ({"qty": 3}, "unknown qty '3': it is one of open, total"),
        ({"stp": "cancel"}, "unknown stp 'cancel'"),
        ({"capacity": 0}, r"capacity of orders = 0 is outside 1 \.\. 2147483647"),
        ({"capacity": (5, 0)}, r"capacity of price levels = 0 is outside"),
        ({"capacity": (5, 5, 5)}, r"capacity = \(5, 5, 5\) is not a pair"),
        ({"capacity": 2.5}, "capacity of orders must be an integer, not 2.5"),
        ({"price_range": (2, 1)}, r"price_range = \(2, 1\) ends below its start"),
        ({"price_range": 5}, "price_range = 5 is not a pair"),
        ({"price_range": (0, 2**63)}, "price_range = 9223372036854775808 is outside"),
        ({"engine": "gpu"}, "unknown engine 'gpu'"),
        ({"threads": 0}, r"threads = 0 is outside 1 \.\. 1024"),
        ({"levels": -1}, r"levels = -1 is outside 0 \.\. 65536"),
        ({"levels": True}, "levels must be an integer"),
        ({"books": 0}, r"books = 0 is outside 1 \.\. 4294967295"),
        ({"books": "many"}, "books must be an integer, not 'many'"),
        ({"books": 1}, r"book in row 1 .* is 1; there are 1 books"),
    ],
    ids=str,
)
def test_rule_that_is_none_is_named(rules, message):
    with pytest.raises(ParameterError, match=message):
        bw.match(ORDERS, **rules)


def test_engine_that_does_not_work_here_is_an_error(monkeypatch):
    from bookwarp.engines import registry

    monkeypatch.setattr(registry, "_reason_against", lambda name: "it is broken")
    with pytest.raises(EngineError, match="engine 'reference' is not available: it is broken"):
        bw.match(ORDERS, engine="reference")


def test_interrupt_while_hashing_spoils_no_digest(monkeypatch):
    from bookwarp.spec.event_digest import EventDigest

    orders = stream(40_000)
    done, whole, append = bw.match(orders), bw.match(orders).digest(), EventDigest._append

    def interrupt(self, digest):
        append(self, digest)
        raise KeyboardInterrupt

    monkeypatch.setattr(EventDigest, "_append", interrupt)
    with pytest.raises(KeyboardInterrupt):
        done.digest()
    monkeypatch.undo()
    assert done.digest() == whole


class _GpuBooks(ReferenceBookEngine):
    """An engine on a device; one that is too small for more than 1000 books."""

    def __init__(self, rules, books, threads=None):
        if books > 1000:
            raise EngineError("too little memory")
        super().__init__(rules, books)


@pytest.fixture
def with_a_gpu(monkeypatch):
    real = matching.book_engine_class
    monkeypatch.setattr(
        matching, "book_engine_class", lambda name: _GpuBooks if name == "cuda" else real(name)
    )
    monkeypatch.setattr(registry, "_reason_against", lambda name: None)
    registry._say_once.cache_clear()
    yield
    registry._say_once.cache_clear()


@pytest.mark.usefixtures("with_a_gpu")
def test_auto_takes_the_gpu_for_many_books_only(tmp_path):
    chosen = {count: bw.Books(count).engine for count in (1, 255, 256, 1000)}
    assert chosen == {1: "cpu", 255: "cpu", 256: "cuda", 1000: "cuda"}
    done = bw.match(stream(books=300), 300)
    assert done.books.engine == "cuda"
    done.books.save(tmp_path / "books")
    assert bw.Books.load(tmp_path / "books").engine == "cuda"
    assert bw.match(stream(books=300), 300, engine="cpu").digest() == done.digest()
    assert bw.Books(1, engine="cuda").engine == "cuda"
    assert bw.Books(300, engine="reference").engine == "reference"


@pytest.mark.usefixtures("with_a_gpu")
def test_auto_falls_back_where_the_gpu_has_too_little_memory(caplog):
    assert {bw.Books(100_000).engine for _ in range(3)} == {"cpu"}
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == "engine 'cuda' is not used: too little memory"
    with pytest.raises(EngineError, match="too little memory"):
        bw.Books(100_000, engine="cuda")


def test_summary_is_plain_json():
    assert json.loads(json.dumps(bw.match(ORDERS).summary()))["books"] == 2
