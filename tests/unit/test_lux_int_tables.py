"""The tables of the integer benchmark of small books: which row is shown, and what of it."""

import json
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import lux_int_tables  # noqa: E402
import report  # noqa: E402
from lux_int import run  # noqa: E402
from lux_int.kernel_forms import Form  # noqa: E402
from lux_int.reference import match_books  # noqa: E402
from lux_int.workload import random_workload, seed_workload  # noqa: E402

SEED = seed_workload()
RANDOM = random_workload(shared=True, variety=3)
OWN = random_workload(shared=False, variety=3)


def row_of(workload, books, engine, giga, **more):
    """Return a row of some machine, with a rate in 10^9 orders a second."""
    figures = run.common_figures(workload, match_books(workload), books)
    rate = {"median": giga * 1e9, "min": giga * 0.9e9, "max": giga * 1.1e9}
    machine = {"cpu": "A", "cores": 4, "gpu": "B", "time": "2026-01-01"}
    return machine | figures | {"engine": engine, "orders_per_s": rate} | more


def kernel(workload, millions, layout, variant, threads, giga, **more):
    figures = {"bytes_per_book": 100, "bytes_per_s": 1e12, "copy_bytes_per_s": 4e12}
    figures |= {"fraction_of_copy": 0.25, "ceiling_orders_per_s": 1.28e12}
    form = {"layout": layout, "variant": variant, "threads_per_block": threads}
    name = Form(layout, variant, threads).label
    return row_of(workload, millions * 10**6, name, giga, **figures, **form, **more)


def tuner(workload, millions, layout, variant, threads):
    best = Form(layout, variant, threads).label
    return row_of(workload, millions * 10**6, "tuner", 1) | {"best": best}


ROWS = [
    row_of(SEED, 10**6, "cpu structures", 0.5, threads=4),
    kernel(SEED, 4, "planes", "preload", 32, 50),
    kernel(SEED, 4, "planes", "preload", 64, 60),
    kernel(SEED, 4, "planes", "mask", 64, 300),
    tuner(SEED, 4, "planes", "mask", 64),
    kernel(RANDOM, 4, "planes", "preload", 32, 40),
    kernel(RANDOM, 4, "planes", "lowreg", 64, 45),
    kernel(RANDOM, 4, "packed", "mask", 64, 200),
    tuner(RANDOM, 4, "packed", "mask", 64),
    kernel(OWN, 4, "packed", "mask", 32, 100),
    tuner(OWN, 4, "packed", "mask", 32),
    kernel(SEED, 1, "planes", "mask", 64, 250),
    kernel(SEED, 1, "planes", "preload", 512, 900),
    tuner(SEED, 1, "planes", "mask", 64),
]


def lines_of(table):
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]


def test_forms_are_shown_with_their_best_block_and_the_range():
    assert lines_of(lux_int_tables.forms(ROWS)) == [
        ["planes", "preload", "64", "60", "50 .. 60", "1.1875", "1000", "25 %", "100", "1280"],
        ["planes", "mask", "64", "300", "300 .. 300", "1.1875", "1000", "25 %", "100", "1280"],
    ]
    assert "of a copy (4000 GB/s)" in lux_int_tables.forms(ROWS)


def test_sizes_show_the_form_that_the_tuner_names():
    name = "planes mask, 64 threads a block"
    assert lines_of(lux_int_tables.sizes(ROWS)) == [
        ["1 M", name, "250", "225 .. 275", "1.1875", "1000", "25 %"],
        ["4 M", name, "300", "270 .. 330", "1.1875", "1000", "25 %"],
    ]


def test_other_workloads_say_whose_the_orders_are_and_what_a_scan_does():
    shared, own = lines_of(lux_int_tables.workloads(ROWS))
    assert shared[:4] == [
        "random",
        "shared by all books",
        "packed mask, 64 threads a block",
        "200",
    ]
    figures = run.common_figures(RANDOM, match_books(RANDOM), 1)
    assert shared[5:7] == [
        f"{figures['fills_per_order']:.4f}",
        f"{figures['orders_without_a_fill'] * 100:.1f} %",
    ]
    assert shared[-1] == "45"
    assert own[1:4] == ["of every book its own", "packed mask, 32 threads a block", "100"]
    assert own[-1] == ""


def test_processor_is_shown_apart():
    (line,) = lines_of(lux_int_tables.processor(ROWS))
    assert line == [
        "seed",
        "shared by all books",
        "1 M",
        "A",
        "4",
        "0.5",
        "0.45 .. 0.55",
        "1.1875",
    ]


def test_kernels_are_those_of_the_machine_measured_last():
    later = [
        kernel(SEED, 4, "planes", "mask", 64, 7, gpu="C"),
        row_of(SEED, 10**6, "cpu structures", 0.6, threads=2, gpu=None),
    ]
    (line,) = lines_of(lux_int_tables.forms(ROWS + later))
    assert line[3] == "7"
    assert len(lines_of(lux_int_tables.processor(ROWS + later))) == 2


@pytest.mark.parametrize("name", ["forms", "sizes", "workloads", "processor"])
def test_without_rows_they_say_so(name):
    table = getattr(lux_int_tables, name)
    assert table([{"kind": "time"}]) == "Not measured yet."


def test_report_keeps_a_row_of_every_workload_and_size(tmp_path, monkeypatch):
    newer = kernel(SEED, 1, "planes", "mask", 64, 260)
    (tmp_path / "lux_int.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in [*ROWS, newer]), encoding="utf-8"
    )
    rows = report.read_rows(tmp_path)
    assert len(rows) == len(ROWS)
    monkeypatch.setattr(report, "read_rows", lambda: rows)
    assert lines_of(report.TABLES["small-books-sizes"]())[0][2] == "260"
    for name in ("small-books", "small-books-workloads", "small-books-processor"):
        assert lines_of(report.TABLES[name]())
