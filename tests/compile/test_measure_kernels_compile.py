"""The kernels of measures compile without a GPU, and within their budget of registers.

measure_budgets.json is written by measure_measure_kernels.py.
"""

import json
import sys
from pathlib import Path

import pytest

from bookwarp.engines.cuda.availability import packages_installed
from bookwarp.engines.cuda.measures import compile as compiling
from bookwarp.spec.errors import EngineError
from bookwarp.spec.measure_facts import FACTS
from bookwarp.spec.measure_sums import SUMS

sys.path.insert(0, str(Path(__file__).parent))

from budget import assert_each_within_budget
from kernel_keys import ARCHS
from measure_measure_kernels import BUDGETS

pytestmark = pytest.mark.skipif(
    not packages_installed(), reason="needs the compiler of the extra: pip install 'bookwarp[cuda]'"
)

MOST_REGISTERS = {"sum_memory": 72}
"""With more, a multiprocessor does not run four blocks of it."""
MOST = 64
"""With more registers in another kernel of sums, a multiprocessor does not run 32 warps of it."""
MOST_FOR_FACTS = 96
"""They take little time beside the sums."""


@pytest.mark.parametrize("arch", ARCHS)
def test_kernels_compile_within_their_budgets(arch):
    budgets = json.loads(BUDGETS.read_text(encoding="utf-8"))
    used = assert_each_within_budget(*compiling.compile_kernels(arch), budgets, arch)
    sums, facts = [f"sum_{block}" for block in SUMS], [f"make_{group}" for group in FACTS]
    assert sorted(used) == sorted(["gather_columns", *sums, *facts])
    for kernel in used:
        most = MOST_FOR_FACTS if kernel in facts else MOST_REGISTERS.get(kernel, MOST)
        assert budgets[kernel][arch]["registers"] <= most, kernel


def test_errors_name_the_file_and_its_line(monkeypatch):
    broken = compiling.join_sources().replace("sum_tail(", "sum_tail(int;", 1)
    monkeypatch.setattr(compiling, "join_sources", lambda: broken)
    with pytest.raises(EngineError, match=r"measures/tail\.cu\(\d+\): error"):
        compiling.compile_kernels("sm_90")
