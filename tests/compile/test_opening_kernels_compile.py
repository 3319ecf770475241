"""The kernels that open markets compile without a GPU, and within their budget of registers.

opening_budgets.json is written by measure_opening_kernels.py.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from bookwarp.engines.cuda import layout, opening
from bookwarp.engines.cuda.availability import packages_installed
from bookwarp.spec.errors import EngineError

sys.path.insert(0, str(Path(__file__).parent))

from budget import assert_each_within_budget
from kernel_keys import ARCHS
from measure_opening_kernels import BUDGETS

pytestmark = pytest.mark.skipif(
    not packages_installed(), reason="needs the compiler of the extra: pip install 'bookwarp[cuda]'"
)


@pytest.mark.parametrize("arch", ARCHS)
def test_kernels_compile_within_their_budgets(arch):
    budgets = json.loads(BUDGETS.read_text(encoding="utf-8"))
    used = assert_each_within_budget(*opening.compile_kernels(arch), budgets, arch)
    assert sorted(used) == ["lay_out", "open_int32", "open_int64"]


def test_parameters_that_are_laid_out_otherwise_do_not_compile(monkeypatch):
    fields = [(name, kind) for name, (kind, *_) in layout.MARKET.fields.items()]
    longer = np.dtype([*fields, ("more", np.int64)], align=True)
    monkeypatch.setitem(layout.STRUCTURES, "Market", longer)
    with pytest.raises(EngineError, match=r"Market is not laid out as in layout\.py"):
        opening.compile_kernels("sm_90")


def test_scalars_in_another_order_do_not_compile(monkeypatch):
    monkeypatch.setattr(layout, "SCALARS", ("prev_mid2", "last", *layout.SCALARS[2:]))
    with pytest.raises(EngineError, match=r"last is not number 1 of SCALARS in layout\.py"):
        opening.compile_kernels("sm_90")


def test_errors_name_the_file_and_its_line(monkeypatch):
    broken = opening.join_sources().replace("open_int64(", "open_int64(int;", 1)
    monkeypatch.setattr(opening, "join_sources", lambda: broken)
    with pytest.raises(EngineError, match=r"open\.cu\(\d+\): error"):
        opening.compile_kernels("sm_90")
