"""The integer benchmark of small books: the rule, the kernels as C++, what is written down."""

import ctypes
import json
import re
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from bookwarp.engines.cuda.availability import packages_installed

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

from lux_int import kernel_forms, on_cpu, reference, run  # noqa: E402
from lux_int.kernel_forms import OWN_FORMS, SHARED_FORMS  # noqa: E402
from lux_int.layout import FARTHEST_TICK, lay_out, pack_lots  # noqa: E402
from lux_int.workload import (  # noqa: E402
    BUY,
    DEPTH,
    SELL,
    TAKERS,
    Workload,
    filling_workload,
    orders,
    random_workload,
    seed_workload,
)

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
needs_nvrtc = pytest.mark.skipif(not packages_installed(), reason="needs cuda.core")

BOOKS = 1000
SPARE_SPILL_BYTES = 256
ALL_FORMS = [(form, False) for form in SHARED_FORMS] + [(form, True) for form in OWN_FORMS]
FEW_FORMS = [each for each in ALL_FORMS if each[0].threads == 64]


def label(value):
    return getattr(value, "label", "own orders" if value else "shared orders")


def far_prices() -> Workload:
    """Return a book that no byte holds, and orders at the ends of 32 bits."""
    draw = np.random.default_rng(5)
    ends = np.array([0, 1, 2**31, 2**32 - 2, 2**32 - 1], np.uint32)
    price = np.concatenate([draw.choice(ends, (50, DEPTH)), draw.choice(ends[3:], (50, DEPTH))])
    resting = orders(price, draw.integers(0, 50, price.shape), np.uint32(SELL))
    incoming = orders(
        draw.choice(ends, TAKERS), draw.integers(0, 60, TAKERS), draw.integers(0, 2, TAKERS)
    )
    return Workload("far prices", resting, incoming, shared=True)


def wide_prices(*, shared: bool) -> Workload:
    """Return books as wide as a byte holds, and orders around both of their ends."""
    draw = np.random.default_rng(6)
    offset = draw.choice([0, 1, 62, 124, 125], (200, DEPTH))
    offset[:, 0], offset[:, 1] = 0, FARTHEST_TICK
    resting = orders(500 + offset, draw.integers(0, 9, offset.shape), np.uint32(BUY))
    rows = (1 if shared else 200, TAKERS)
    price = 500 + draw.choice([-1, 0, 1, 124, 125, 126, 127, 300], rows)
    incoming = orders(price, draw.integers(0, 12, rows), draw.integers(0, 2, rows))
    return Workload("wide prices", resting, incoming, shared)


def test_seed_workload_fills_what_the_benchmark_says():
    result = reference.match_books(seed_workload())
    assert result.fills.tolist() == [38]
    assert result.lots.tolist() == [410]
    assert (result.remaining == 0).all()
    assert (result.filled[0, 12:] > 0).sum() + 12 == 13  # the last lots go at t = 12
    assert (result.filled[0] == 0).sum() == 20
    figures = run.common_figures(seed_workload(), result, BOOKS)
    assert figures["fills_per_order"] == 1.1875


def test_every_order_fills_where_it_is_said():
    result = reference.match_books(filling_workload())
    assert (result.filled == 1).all()
    assert result.fills.tolist() == [TAKERS]
    assert result.remaining.tolist() == [[0, 0, 0, 8] + [10] * 28]


def test_order_takes_the_lowest_index_that_crosses_and_drops_the_rest():
    left = [5, 0, 7, 4]
    assert reference.match_order((10, 9, 12, 11), left, 11, 20, BUY) == (2, 9)
    assert left == [0, 0, 7, 0]
    assert reference.match_order((10, 9, 12, 11), left, 11, 3, SELL) == (1, 3)
    assert left == [0, 0, 4, 0]


@pytest.mark.parametrize(
    "workload", [seed_workload(), filling_workload(), random_workload(shared=False, variety=99)]
)
def test_all_cores_are_the_reference(workload):
    expected = reference.match_books(workload)
    rows = np.arange(BOOKS) % workload.variety
    for matched in on_cpu.match_books(workload, BOOKS, threads=3, trials=2):
        np.testing.assert_array_equal(matched.fills, expected.fills[rows])
        np.testing.assert_array_equal(matched.remaining, expected.remaining[rows])


# What a thread of the kernels needs, for a C++ compiler: the grid is one thread after the other.
_AS_CPP = """
#include <algorithm>
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __restrict__
#define __shared__
#define __launch_bounds__(...)
using std::max, std::min;
struct Index { unsigned x; };
static Index blockIdx, threadIdx;
static int __clz(unsigned word) { return word ? __builtin_clz(word) : 32; }
"""
_ALL_THREADS = """
uint32 columns[32 * THREADS];
extern "C" void match_all(const uint32* resting, const Order* incoming, uint32* remaining,
                          uint32* fills, uint32 books) {
    for (blockIdx.x = 0; blockIdx.x * THREADS < books; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < THREADS; ++threadIdx.x)
            match_books(resting, incoming, remaining, fills, books);
}
"""


def kernel_on_the_processor(form, own_orders, folder):
    """Return a kernel as a function of its arguments, compiled as C++."""
    source, library = folder / "match.cpp", folder / "match.so"
    source.write_text(_AS_CPP + form.source(own_orders) + _ALL_THREADS, encoding="utf-8")
    words = ["g++", "-std=c++17", "-O1", "-fno-strict-aliasing", "-shared", "-fPIC", "-w"]
    subprocess.run([*words, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).match_all


def workloads_of(form, own_orders):
    made = [seed_workload(), filling_workload()]
    if own_orders:
        made = [each.with_own_orders() for each in made]
        return [*made, random_workload(shared=False), wide_prices(shared=False)]
    made += [random_workload(shared=True), wide_prices(shared=True)]
    return made if form.layout == "packed" else [*made, far_prices()]


@needs_compiler
@pytest.mark.parametrize("form, own_orders", FEW_FORMS, ids=label)
def test_kernels_are_the_reference(form, own_orders, tmp_path):
    match_all = kernel_on_the_processor(form, own_orders, tmp_path)
    for workload in workloads_of(form, own_orders):
        expected = reference.match_books(workload)
        image = lay_out(workload, expected.remaining, form.layout)
        resting, incoming = (
            np.ascontiguousarray(each.T if image.planes else each)
            for each in (image.resting, image.incoming)
        )
        incoming = incoming if own_orders else image.incoming
        shape = image.remaining.shape
        remaining = np.full(shape[::-1] if image.planes else shape, 0xDEADBEEF, np.uint32)
        fills = np.full(workload.variety, 0xDEADBEEF, np.uint32)
        pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (resting, incoming)]
        pointers += [each.ctypes.data_as(ctypes.c_void_p) for each in (remaining, fills)]
        match_all(*pointers, ctypes.c_uint(workload.variety))
        np.testing.assert_array_equal(fills, expected.fills, err_msg=workload.name)
        found = remaining.T if image.planes else remaining
        np.testing.assert_array_equal(found, image.remaining, err_msg=workload.name)


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100", "sm_120"])
def test_kernels_compile_and_hardly_spill(arch):
    from cuda.core import Program, ProgramOptions

    options = ProgramOptions(arch=arch, std="c++17", ptxas_options=["-v"])
    sources = {form.source(own) for form, own in FEW_FORMS} | {kernel_forms.support_source()}
    for source in sources:
        log = StringIO()
        Program(source, "c++", options).compile("cubin", logs=log)
        assert "warning #" not in log.getvalue(), log.getvalue()
        spilled = re.findall(r"(\d+) bytes spill", log.getvalue())
        assert spilled
        assert sum(map(int, spilled)) <= SPARE_SPILL_BYTES


def test_packed_lots_are_pairs():
    lots = np.arange(2 * DEPTH, dtype=np.uint32).reshape(2, DEPTH)
    assert pack_lots(lots)[1].tolist() == [32 + 2 * i | (33 + 2 * i) << 16 for i in range(16)]


def test_packed_layout_refuses_what_it_does_not_hold():
    workload = seed_workload()
    workload.resting["price"][0, 3] = 10_000 + FARTHEST_TICK + 1
    with pytest.raises(ValueError, match="126 ticks apart"):
        lay_out(workload, workload.resting["qty"], "packed")
    workload = seed_workload().with_own_orders()
    workload.incoming["qty"][0, 3] = 2**15
    with pytest.raises(ValueError, match="of 32768 lots"):
        lay_out(workload, workload.resting["qty"], "packed")
    with pytest.raises(ValueError, match="no place for incoming orders"):
        lay_out(workload, workload.resting["qty"], "planes")


def test_runner_writes_a_line_a_case(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "gpu_present", lambda: False)
    rows = tmp_path / "rows.jsonl"
    run.main(["--rows", str(rows), "--cpu-books", "500", "--trials", "2", "--commit", "abc"])
    found = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert [row["workload"] for row in found] == ["seed", "every order fills", "random"]
    assert [row["fills_per_order"] for row in found[:2]] == [1.1875, 1.0]
    assert all(row["orders_per_s"]["min"] > 0 for row in found)
    assert "no GPU here" in capsys.readouterr().out


def test_runner_stops_at_a_difference(monkeypatch):
    right = reference.match_books(seed_workload())
    wrong = right._replace(remaining=right.remaining + np.uint32(1))
    monkeypatch.setattr(run, "match_books", lambda workload: wrong)
    with pytest.raises(AssertionError):
        next(run.measure_on_cpu(seed_workload(), 10, 1))
