"""The kernels for books of 256-bit numbers compile without a GPU, within their budgets.

u256_budgets.json is written by measure_u256_kernels.py.
"""

import json
import sys
from pathlib import Path

import pytest

from bookwarp.engines.cuda.availability import packages_installed
from bookwarp.engines.cuda.u256 import layout
from bookwarp.engines.cuda.u256.compile import compile_kernels, join_sources
from bookwarp.engines.cuda.u256.kernel_key import ARENAS, MATCHING
from bookwarp.spec.errors import EngineError

sys.path.insert(0, str(Path(__file__).parent))

from budget import assert_within_budget
from kernel_keys import ARCHS
from measure_u256_kernels import BUDGETS
from u256_keys import CASES

pytestmark = pytest.mark.skipif(
    not packages_installed(), reason="needs the compiler of the extra: pip install 'bookwarp[cuda]'"
)


@pytest.fixture(scope="session")
def budgets():
    return json.loads(BUDGETS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("case", CASES)
def test_kernels_compile_within_their_budget(budgets, case, arch):
    code, log = compile_kernels(CASES[case], arch)
    assert_within_budget(code, log, budgets[case][arch])


def test_budgets_are_those_of_the_cases(budgets):
    assert sorted(budgets) == sorted(CASES)
    assert all(sorted(each) == sorted(ARCHS) for each in budgets.values())


@pytest.mark.parametrize(
    "name, what", [("ORDER_BYTES", "ORDER_BYTES"), ("SLOT_BYTES", r"sizeof\(Slot\)")]
)
def test_bytes_that_lie_otherwise_do_not_compile(monkeypatch, name, what):
    monkeypatch.setattr(layout, name, 123)
    with pytest.raises(EngineError, match=f"{what} is not 123"):
        compile_kernels(MATCHING, "sm_90")


def test_errors_name_the_file_and_its_line(monkeypatch):
    broken = join_sources(ARENAS).replace("read_number(", "read_number(int;", 1)
    monkeypatch.setattr("bookwarp.engines.cuda.u256.compile.join_sources", lambda key: broken)
    with pytest.raises(EngineError, match=r"u256/arenas\.cu\(\d+\): error"):
        compile_kernels(ARENAS, "sm_90")
