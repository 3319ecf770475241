"""The tables of 256-bit books, and the rows of the processor that they are made from."""

import json
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import report  # noqa: E402
import run_u256  # noqa: E402
import u256_tables  # noqa: E402
from u256_flows import Flow, mixed_flow, seed_flow  # noqa: E402


def spread(median):
    return {"median": median, "min": 0.9 * median, "max": 1.1 * median}


def row_of(rate, **more):
    row = {"kind": "u256", "workload": "seed", "books": 65_536, "capacity": 32, "cpu": "A cpu"}
    row |= {"threads": 2, "form": "host to host, a call a pass", "fills_per_order": 1.0}
    return row | {"orders_per_s": spread(rate)} | more


ON_GPU = {"gpu": "A GPU", "threads": None, "form": "one launch a pass", "books": 1_048_576}


def cells(table):
    lines = table.splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_seed_stands_beside_ours_with_its_fills():
    rows = [row_of(30e6), row_of(1e9, **ON_GPU), row_of(5e6, workload="mixed"), {"kind": "time"}]
    found = cells(u256_tables.seed(rows))
    assert len(found) == len(u256_tables.PUBLISHED) + 2
    assert found[1] == [
        *("AMD Radeon 8060S (published)", "1048576", "32", "limbs", "74.3", "", "1.000")
    ]
    assert found[-2] == [
        *("A GPU", "1048576", "32", "one launch a pass", "1000", "900 .. 1100", "1.000")
    ]
    host = row_of(1e6, **ON_GPU | {"form": "host to host, one batch"})
    assert "| A GPU, its host |" in u256_tables.seed([host])
    assert found[-1] == [
        *("A cpu, 2 threads", "65536", "32", "host to host, a call a pass", "30"),
        *("27 .. 33", "1.000"),
    ]


def test_other_flows_have_a_table_of_their_own():
    rows = [row_of(30e6), row_of(5e6, workload="mixed", fills_per_order=0.5432)]
    rows += [row_of(9e6, workload="mixed", **ON_GPU)]
    found = cells(u256_tables.flows(rows))
    assert [(line[0], line[1], line[5], line[7]) for line in found] == [
        ("mixed", "A cpu, 2 threads", "5", "0.543"),
    ]
    assert u256_tables.flows([row_of(30e6)]) == "Not measured yet."


def test_report_keeps_a_row_of_every_capacity_and_way(tmp_path):
    rows = [row_of(1, cores=2), row_of(2, cores=2, capacity=64), row_of(3, cores=2, form="x")]
    lines = [json.dumps(row) + "\n" for row in [*rows, row_of(4, cores=2)]]
    (tmp_path / "rows.jsonl").write_text("".join(lines))
    found = [row["orders_per_s"]["median"] for row in report.read_rows(tmp_path)]
    assert found == [2, 3, 4]


def test_rows_of_the_processor_have_what_the_tables_show(tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    words = ["--flows", "sweeps", "--books", "40", "--threads", "1,2", "--trials", "1"]
    run_u256.main([*words, "--rows", str(rows)])
    found = report.read_rows(tmp_path)
    assert [row["fills_per_order"] for row in found] == [3.0] * 4
    assert len(cells(u256_tables.flows(found))) == 4
    as_seed = [row | {"workload": "seed"} for row in found]
    assert len(cells(u256_tables.seed(as_seed))) == len(u256_tables.PUBLISHED) + 4
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4
    assert all("3.000 fills an order" in line for line in printed)


def test_flow_that_does_not_make_its_fills_is_refused():
    flow = seed_flow()
    shallow = Flow("seed", flow.opening[:1], flow.orders, 32, 1.0)
    with pytest.raises(ValueError, match=r"seed makes 0\.3125 fills an order, not 1\.0"):
        run_u256.workload_of(shallow)


def test_flows_differ_from_book_to_book_as_they_say():
    made = run_u256.workload_of(mixed_flow(variety=16, passes=4))
    assert made.results.shape == (4, 16, 68)
    assert len({arena.tobytes() for arena in made.arenas}) == 16
