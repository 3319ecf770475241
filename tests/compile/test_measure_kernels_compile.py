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

from kernel_keys import ARCHS
from measure_measure_kernels import BUDGETS, usage_by_kernel

pytestmark = pytest.mark.skipif(
    not packages_installed(), reason="needs the compiler of the extra: pip install 'bookwarp[cuda]'"
)

# Another version of the compiler may need a little more.
SPARE_REGISTERS = 4
MOST_REGISTERS = {"sum_memory": 72}
"""With more, a multiprocessor does not run four blocks of it."""
MOST = 64
"""With more registers in another kernel of sums, a multiprocessor does not run 32 warps of it."""
MOST_FOR_FACTS = 96
"""They take little time beside the sums."""


@pytest.mark.parametrize("arch", ARCHS)
def test_kernels_compile_within_their_budgets(arch):
    budgets = json.loads(BUDGETS.read_text(encoding="utf-8"))
    code, log = compiling.compile_kernels(arch)
    assert code[:4] == b"\x7fELF"
    assert "warning #" not in log, log
    used = usage_by_kernel(log)
    assert sorted(used) == sorted(budgets)
    sums, facts = [f"sum_{block}" for block in SUMS], [f"make_{group}" for group in FACTS]
    assert sorted(used) == sorted(["gather_columns", *sums, *facts])
    for kernel, usage in used.items():
        budget = budgets[kernel][arch]
        assert usage["registers"] <= budget["registers"] + SPARE_REGISTERS, kernel
        most = MOST_FOR_FACTS if kernel in facts else MOST_REGISTERS.get(kernel, MOST)
        assert budget["registers"] <= most, kernel
        assert usage["spill_bytes"] == budget["spill_bytes"] == 0, kernel


def test_errors_name_the_file_and_its_line(monkeypatch):
    broken = compiling.join_sources().replace("sum_tail(", "sum_tail(int;", 1)
    monkeypatch.setattr(compiling, "join_sources", lambda: broken)
    with pytest.raises(EngineError, match=r"measures/tail\.cu\(\d+\): error"):
        compiling.compile_kernels("sm_90")
