"""The report of a stream, by hand and of the hash-checked streams where they are."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
FLOW = REPOSITORY.parent / "shared" / "data" / "flow"
STREAMS = {
    "normal": ("e9b2e3926854410b01a035aeb25dd05f1e597c233be8263de9eb49b6713d367e", 62_474),
    "swing-25": ("61a84be9469661bd039e00dbc9a7c011e70b6ace37aadfe60045ea083b05f4df", 66_908),
}


def run(path, *words):
    command = [sys.executable, REPOSITORY / "benchmarks" / "flow_hash.py", path, *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def small(tmp_path):
    rows = [
        # type, side, ioc, qty, seq, order_id, price
        (0, 1, 0, 5, 10, 1, 100),
        (0, 1, 0, 5, 11, 2, 100),
        (2, 1, 0, 3, 12, 1, 100),
        (0, 0, 1, 9, 13, 3, 101),
        (1, 0, 0, 0, 14, 3, 0),
        (2, 0, 0, 4, 15, 9, 50),
        (0, 0, 0, 4, 16, 4, 99),
        (0, 1, 0, 1, 17, 5, 100),
        (2, 0, 0, 2, 18, 4, 100),
        (1, 0, 0, 0, 19, 4, 0),
    ]
    kinds = {"type": "u1", "side": "u1", "ioc": "u1", "qty": "u4", "seq": "u8", "order_id": "u8"}
    kinds["price"] = "i8"
    table = {n: np.array(c, kinds[n]) for n, c in zip(kinds, zip(*rows, strict=True), strict=True)}
    pq.write_table(pa.table(table), tmp_path / "small.parquet")
    return tmp_path / "small.parquet"


SMALL_REPORT = """\
0,10,1,1,100,5
0,11,1,2,100,5
3,12,1,1,100,3
0,13,0,3,101,9
1,13,100,5,2,3
1,13,100,3,1,3
2,13,0,3,101
4,14,3
5,15,9
0,16,0,4,99,4
0,17,1,5,100,1
1,18,100,1,5,4
3,18,0,4,100,2
2,19,0,4,100"""


@pytest.mark.parametrize("books", [1, 3])
def test_report_of_a_small_stream(small, book_engine, books):
    """A replaced order goes to the end even with fewer lots; trades stand before what led to it."""
    found = run(small, "--engine", book_engine, "--books", books)
    assert found["sha256"] == hashlib.sha256(SMALL_REPORT.encode()).hexdigest()
    assert (found["messages"], found["trades"]) == (10 * books, 3 * books)
    assert found["messages_per_s"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("stream", STREAMS)
def test_checked_streams_have_their_hashes(stream, book_engine):
    path = FLOW / f"{stream}.parquet"
    if not path.is_file():
        pytest.skip("the hash-checked streams are not here (../shared/data/flow)")
    found = run(path, "--engine", book_engine)
    assert (found["sha256"], found["trades"]) == STREAMS[stream]
    assert found["messages"] == 1_996_097
