"""A GPU played by the host, for the cuda engine's own code: memory is NumPy's, kernels are Python.

A kernel is the plain model (tests/parity/plain_model.py), run from the structures that it is given
at the addresses that it is given and from nothing else: what is laid out wrongly comes out wrong.
"""

import ctypes
import mmap
import time
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from emulated_extras import PlainExtras
from plain_model import PlainMarket, splitmix64

from bookwarp.engines.cuda import engine, gpu, opening, part
from bookwarp.engines.cuda.layout import MARKET, ROWS, SCALARS, scalar_names, scalars_pitch
from bookwarp.spec.codes import NO_PRICE
from bookwarp.spec.errors import EngineError
from bookwarp.spec.random import market_keys

GUARD = 64

PINNED = {}
"""First and last page by the address of what is pinned: by all GPUs together, and no page twice."""


class EmulatedGpu:
    """Has what the engine uses of `bookwarp.engines.cuda.gpu.Gpu`.

    Copies to the host are made when they are waited for, as late as a GPU may make them; until
    then pinned memory holds garbage.
    """

    arch = "sm_90"
    name = "played by the host"
    multiprocessors = 2
    blocks_per_multiprocessor = 32
    stream_handle = 1
    free = 10**12

    def __init__(self, ordinal=0, stream=None):
        self.ordinal = ordinal
        self.stream = stream
        self.blocks = {}
        self.freed = []
        self.peak_nbytes = 0
        self.launches = []
        self.fetching, self.marks = {}, {}
        self.rows_fetching, self.sent = [], []

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        pass

    def free_bytes(self):
        return self.free

    def claim(self, nbytes):
        block = np.full(nbytes + 2 * GUARD, 0xA5, np.uint8)
        pointer = block.ctypes.data + GUARD
        self.blocks[pointer] = block
        self.peak_nbytes = max(self.peak_nbytes, self.held_nbytes)
        return pointer

    @property
    def held_nbytes(self):
        return sum(len(block) - 2 * GUARD for block in self.blocks.values())

    def release(self, pointer):
        block = self.blocks.pop(pointer)
        assert (block[:GUARD] == 0xA5).all()
        assert (block[-GUARD:] == 0xA5).all()
        self.freed.append(block)  # so that no address comes twice

    def allocate_pinned(self, nbytes):
        return np.full(nbytes, 0x5A, np.uint8)

    def write(self, memory, array, beside=False):
        assert array.nbytes == memory.nbytes
        ctypes.memmove(memory.pointer, np.ascontiguousarray(array).ctypes.data, array.nbytes)

    def fill(self, memory, byte, nbytes):
        assert nbytes <= memory.nbytes
        ctypes.memset(memory.pointer, byte, nbytes)

    def read(self, memory, array):
        assert array.nbytes <= memory.nbytes
        assert array.flags.c_contiguous
        ctypes.memmove(array.ctypes.data, memory.pointer, array.nbytes)
        return array

    def send_rows(self, fetches):
        for array, pointer, pitch in fetches:
            values = np.empty(array.shape, array.dtype)
            copy_rows(values, pointer, pitch)
            self.sent.append((array, values))

    def wait(self):
        while self.sent:
            array, values = self.sent.pop(0)
            array[...] = values

    def create_event(self):
        return object()

    def mark(self, event):
        self.marks[event] = len(self.launches)

    def fetch(self, array, pointer, after, event):
        assert event not in self.fetching
        assert after in self.marks
        assert array.flags.c_contiguous
        self.fetching[event] = array, pointer

    def finish_fetch(self, event):
        if event in self.fetching:
            array, pointer = self.fetching.pop(event)
            ctypes.memmove(array.ctypes.data, pointer, array.nbytes)
        else:
            assert event in self.marks
            self.wait()

    def fetch_rows(self, fetches, after):
        assert after in self.marks
        for array, pointer, pitch in fetches:
            assert array[0].flags.c_contiguous
            assert len(array) == 1 or array[0].nbytes <= min(pitch, array.strides[0])
            self.rows_fetching.append((array, pointer, pitch))

    def finish_fetches(self):
        while self.rows_fetching:
            copy_rows(*self.rows_fetching.pop(0))

    def pin(self, array):
        page = mmap.PAGESIZE
        first, last = array.ctypes.data // page, (array.ctypes.data + array.nbytes - 1) // page
        assert not any(first <= stop and start <= last for start, stop in PINNED.values())
        PINNED[array.ctypes.data] = first, last
        return True

    def unpin(self, array):
        del PINNED[array.ctypes.data]

    def mark_time(self):
        return len(self.launches)

    def seconds_between(self, begin, end):
        return sum(self.seconds_of(key) for _, key, _ in self.launches[begin:end])

    @staticmethod
    def seconds_of(key):
        return 1.0

    def configure(self, grid, block, shared_bytes):
        return grid, block, shared_bytes

    def launch(self, config, key, *arguments):
        grid, block, shared_bytes = config
        if callable(key):  # opens markets, and is no kernel of a key
            assert shared_bytes == 0
            key(grid, block, *arguments)
            return
        assert {arguments[0], arguments[1], arguments[2]} <= set(self.blocks)
        self.launches.append((config, key, arguments))
        assert (block, shared_bytes) == (key.block, key.shared_bytes)
        assert key.kernel == "general" or grid == -(-int(arguments[6]) // key.markets_per_warp)
        run_kernel(key, *arguments)


def wait_for_nothing_pinned():
    """Wait for those who unpin memory beside other things."""
    for _ in range(500):
        if not PINNED:
            return
        time.sleep(0.01)
    raise AssertionError("memory is pinned still")


def copy_rows(array, pointer, pitch):
    """Do what a GPU does for a `Fetch`."""
    for number, row in enumerate(array):
        ctypes.memmove(row.ctypes.data, pointer + number * pitch, row.nbytes)


def array_at(address, dtype, *shape):
    """Return the array that lies at an address."""
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    block = (ctypes.c_uint8 * nbytes).from_address(address)
    return np.frombuffer(block, dtype).reshape(shape)


def run_kernel(
    key, markets, books, scalars, types, rows, scratch, count, first_step, steps, extras
):
    """Do what the kernels of `key` do, to the memory at the addresses that they are given."""
    assert (rows != 0) == key.recording
    assert (types != 0) == key.given_types
    assert (scratch != 0) == (key.scratch_bytes > 0)
    assert all(isinstance(each, np.uint32) for each in (count, first_step, steps))
    parameters = array_at(markets, MARKET, int(count))
    book = array_at(books, key.lots, int(count), key.levels)
    names = scalar_names(key.executes)
    state = array_at(scalars, np.int64, len(names), scalars_pitch(int(count)))
    pitch = -(-key.agents // 64) * 64
    given = array_at(types, np.uint8, int(count), pitch) if types else None
    recorder = Recorder(array_at(rows, ROWS, 1)[0], int(count), key.levels) if rows else None
    beside = PlainExtras(key, extras, int(count), array_at)
    for market in range(int(count)):
        own = Scalars(names, state[:, market])
        plain = take_up(key, parameters[market], book[market], own)
        plain.types = types_of(key, parameters[market], None if given is None else given[market])
        plain.steps = int(first_step)
        beside.take_up(plain, market, parameters[market], own)
        row = 0
        for _ in range(int(steps)):
            plain.step()
            if recorder and plain.steps % recorder.every == 0:
                recorder.record(row, market, int(parameters[market]["book_row"]), plain)
                row += 1
        put_down(plain, book[market], own)
        beside.put_down(plain, market, own)


class PlainOpening:
    """The kernels that open markets."""

    def get_kernel(self, name):
        if name == "lay_out":
            return lay_out
        kind, lots = name.split("_")
        assert kind == "open"
        return partial(open_markets, np.dtype(lots))


def lay_out(grid, block, entries, depths, settings, ids, book_rows, markets, scalars, *counts):
    """Write the parameters of every market, and the depth of its levels where it is looked for."""
    assert all(isinstance(each, np.uint32) for each in counts)
    entry_count, depth_count, count, *numbering = map(int, counts)
    first_setting, setting_markets, first_id, id_count = numbering
    assert (grid - 1) * block < count <= grid * block
    number = np.arange(count)
    entry = first_setting + number // setting_markets
    if settings:
        entry = array_at(settings, np.int64, count)
    numbers = first_id + number % id_count
    if ids:
        numbers = array_at(ids, np.int64, count)
    rows = array_at(entries, MARKET, entry_count)[entry if entry_count > 1 else 0 * number].copy()
    rows["market_id"] = numbers
    rows["key"] = market_keys(rows["seed"], rows["market_id"])
    rows["book_row"] = array_at(book_rows, np.int64, count) if book_rows else -1
    array_at(markets, MARKET, count)[:] = rows
    state = array_at(scalars, np.int64, len(SCALARS), scalars_pitch(count))
    lots = array_at(depths, np.int64, depth_count)
    state[SCALARS.index("best_bid"), :count] = lots[entry if depth_count > 1 else 0 * number]


def open_markets(lots, grid, block, markets, books, scalars, count, levels, following):
    """Write what is not 0 when markets open, where nothing was but the depth of their levels."""
    assert all(isinstance(each, np.uint32) for each in (count, levels, following))
    count, levels = int(count), int(levels)
    assert (grid - 1) * block < count <= grid * block
    parameters = array_at(markets, MARKET, count)
    book = array_at(books, lots, count, levels)
    state = array_at(scalars, np.int64, len(SCALARS), scalars_pitch(count))
    for market in range(count):
        own = Scalars(SCALARS, state[:, market])
        price, depth = int(parameters[market]["open_price"]), int(own["best_bid"])
        centre = levels // 2 if following else price
        book[market, centre - 1], book[market, centre + 1] = depth, -depth
        own["last"], own["prev_mid2"], own["base"] = price, 2 * centre, price - centre
        own["best_bid"], own["best_ask"] = (centre - 1, centre + 1) if depth else (-1, levels)


class Scalars:
    """The scalars of one market by name."""

    def __init__(self, names, values):
        self.names = names
        self.values = values

    def __getitem__(self, name):
        return self.values[self.names.index(name)]

    def __setitem__(self, name, value):
        self.values[self.names.index(name)] = value


def probability_of(key, row):
    """Return the chance of a marketable order, as the numbers that stand for it have it."""
    if not key.paper:
        return row["threshold"] / 2**32
    # The least fraction of 53 bits that float32 does not round to less than the chance.
    return float(np.float32(float(int(row["marketable_below"]) >> 11) * 2.0**-53))


def take_up(key, row, book, scalars):
    """Return a market as the plain model has it."""
    assert row["key"] == splitmix64((splitmix64(int(row["seed"])) + int(row["market_id"])) % 2**64)
    assert row["two_max_qty"] == 2 * row["max_qty"]
    cells = 2 * int(row["max_qty"]) * (2 * int(row["noise_spread"]) + 1)
    assert row["wide"] == (cells > 4096 and not key.paper)
    plain = PlainMarket(
        agents=key.agents,
        levels=key.levels,
        seed=int(row["seed"]),
        number=int(row["market_id"]),
        types=[],
        open_price=int(row["open_price"]) if key.following else key.levels // 2,
        open_depth=0,
        max_qty=int(row["max_qty"]),
        noise_spread=int(row["noise_spread"]),
        market_order_prob=probability_of(key, row),
        maker_half_spread=int(row["maker_half_spread"]),
        stream="paper" if key.paper else "default",
        window="following" if key.following else "fixed",
    )
    plain.open_price = int(row["open_price"])
    plain.bid = [max(lots, 0) for lots in book.tolist()]
    plain.ask = [max(-lots, 0) for lots in book.tolist()]
    for name in ("last", "base", "volume", "trades", "pruned_bid", "pruned_ask"):
        setattr(plain, name, int(scalars[name]))
    plain.mid = Fraction(int(scalars["prev_mid2"]), 2) + plain.base
    best_bid, best_ask = plain.quotes()
    assert scalars["best_bid"] == (-1 if best_bid is None else best_bid)
    assert scalars["best_ask"] == (key.levels if best_ask is None else best_ask)
    if key.kernel == "counted":
        largest = row["max_qty"] + key.paper
        reach = max(row["noise_spread"] + key.paper, row["maker_half_spread"])
        assert not row["wide"]
        assert key.agents * largest < 2**16
        assert key.rounds_per_sum * 2 * largest <= 255
        assert row["noise_spread"] <= 3
        assert 2 * reach + 1 <= 32 // key.markets_per_warp
    return plain


def types_of(key, row, given):
    """Return every agent's type."""
    if given is not None:
        assert (given[key.agents :] == 4).all()
        return given[: key.agents].tolist()
    ends = [int(row[name]) for name in ("noise_end", "momentum_end", "maker_end")]
    types = [sum(agent >= end for end in ends) for agent in range(key.agents)]
    assert key.fundamental_agents or 3 not in types
    return types


def put_down(plain, book, scalars):
    lots = np.array(plain.bid, object) - np.array(plain.ask, object)
    assert abs(lots).max() <= np.iinfo(book.dtype).max
    book[:] = lots
    for name in ("last", "base", "volume", "trades", "pruned_bid", "pruned_ask"):
        scalars[name] = getattr(plain, name)
    scalars["prev_mid2"] = 2 * (plain.mid - plain.base)
    best_bid, best_ask = plain.quotes()
    scalars["best_bid"] = -1 if best_bid is None else best_bid
    scalars["best_ask"] = plain.levels if best_ask is None else best_ask


class Recorder:
    """Writes rows where a structure `Rows` points to."""

    def __init__(self, rows, markets, levels):
        self.rows = rows
        self.markets = markets
        self.levels = levels
        self.every = int(rows["every"])

    def record(self, row, market, book_row, plain):
        reach = int(self.rows["depth_ticks"])
        bid, ask = plain.quotes()
        values = {
            "last": plain.last,
            "volume": plain.volume,
            "mid2": int(2 * plain.mid),
            "best_bid": NO_PRICE if bid is None else plain.base + bid,
            "best_ask": NO_PRICE if ask is None else plain.base + ask,
            "bid_depth": 0 if bid is None else sum(plain.bid[max(0, bid - reach) :]),
            "ask_depth": 0 if ask is None else sum(plain.ask[: ask + reach + 1]),
        }
        for name, value in values.items():
            if self.rows[name]:
                place = int(self.rows[name]) + 8 * (row * self.markets + market)
                array_at(place, np.int64, 1)[0] = value
        if book_row < 0:
            return
        start = (row * int(self.rows["book_markets"]) + book_row) * self.levels
        for name, side in (("book_bid", plain.bid), ("book_ask", plain.ask)):
            array_at(int(self.rows[name]) + 8 * start, np.int64, self.levels)[:] = side


@pytest.fixture
def emulated_gpus(monkeypatch):
    """Let the cuda engine find two GPUs, played by the host; yields those that it asked for."""
    made = []

    def make(ordinal, stream=None):
        if ordinal >= 2:
            raise EngineError(f"there is no GPU {ordinal}")
        made.append(EmulatedGpu(ordinal, stream))
        return made[-1]

    monkeypatch.setattr(engine, "unavailable_reason", lambda: None)
    monkeypatch.setattr(engine, "device_count", lambda: 2)
    monkeypatch.setattr(engine, "Gpu", make)
    monkeypatch.setattr(gpu, "Gpu", EmulatedGpu)
    monkeypatch.setattr(part, "load_kernel", lambda key, arch: key)
    monkeypatch.setattr(opening, "load_kernels", lambda arch: PlainOpening())
    return made
