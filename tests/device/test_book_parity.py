"""Continuous books on a GPU: what every engine is asked, and long streams for many books."""

import json
import subprocess
import sys

import pytest
import test_book_cases
import test_book_engines_agree
import test_books
from on_device import device_tests
from test_book_engines_agree import RULES
from test_flow_hash import FLOW, REPOSITORY, STREAMS

from bookwarp.spec.book_rules import BookRules
from bookwarp.testing.book_parity import assert_book_engines_agree
from bookwarp.testing.order_streams import random_orders

pytestmark = device_tests

# All that these ask of every engine. They ask for it by the names of the two fixtures.
for module in (test_book_cases, test_book_engines_agree, test_books):
    globals().update({n: each for n, each in vars(module).items() if n.startswith("test_")})
book_engine = pytest.fixture(lambda: "cuda", scope="session", name="book_engine")
fast_book_engine = pytest.fixture(lambda: "cuda", scope="session", name="fast_book_engine")


@pytest.mark.parametrize("rules", RULES[::3], ids=lambda rules: "-".join(map(str, rules.values())))
def test_many_books_agree_with_the_cores(rules):
    stream = random_orders(2_000_000, 20_000, seed=7)
    assert_book_engines_agree(
        stream.orders,
        BookRules.of(**rules),
        stream.books,
        ("cpu", "cuda"),
        owners=stream.owners,
        cuts=(700_000, 700_001, 1_500_000),
        levels=1,
        threads=8,
    )


@pytest.mark.parametrize("books", [1, 1000])
@pytest.mark.parametrize("stream", STREAMS)
def test_checked_streams_have_their_hashes(stream, books):
    path = FLOW / f"{stream}.parquet"
    if not path.is_file():
        pytest.skip("the hash-checked streams are not here (../shared/data/flow)")
    script = REPOSITORY / "benchmarks" / "flow_hash.py"
    command = [sys.executable, str(script), str(path), "--engine", "cuda", "--books", str(books)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["sha256"], found["trades"]) == (STREAMS[stream][0], books * STREAMS[stream][1])
