"""Every kernel that runs ask for compiles without a GPU, and within its budget of registers.

budgets.json is written by measure_kernels.py.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from bookwarp.engines.cuda import layout
from bookwarp.engines.cuda.availability import packages_installed
from bookwarp.engines.cuda.compile import compile_kernel, find_code, join_sources
from bookwarp.engines.cuda.kernel_key import GpuShape, arrangements, bound_orders, choose_key
from bookwarp.engines.cuda.variants import equivalent_keys
from bookwarp.spec.errors import EngineError
from bookwarp.spec.market import CallAuction

sys.path.insert(0, str(Path(__file__).parent))

from kernel_keys import ARCHS, CASES, key_of
from measure_kernels import BUDGETS, usage_in

pytestmark = pytest.mark.skipif(
    not packages_installed(), reason="needs the compiler of the extra: pip install 'bookwarp[cuda]'"
)

# Another version of the compiler may need a little more.
SPARE_REGISTERS = 4
SPARE_SPILL_BYTES = 24
REGISTERS = 1 << 16
"""Of a multiprocessor; a thread gets a multiple of eight."""


@pytest.fixture(scope="session")
def budgets():
    return json.loads(BUDGETS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_kernel_compiles_within_its_budget(budgets, case, arch):
    code, log = compile_kernel(key_of(case, arch), arch)
    assert code[:4] == b"\x7fELF"
    assert "warning #" not in log, log
    used, budget = usage_in(log), budgets[case.label][arch]
    assert used["registers"] <= budget["registers"] + SPARE_REGISTERS
    assert used["spill_bytes"] <= budget["spill_bytes"] + SPARE_SPILL_BYTES


@pytest.mark.parametrize("given", [{}, {"stream": "paper"}, {"noise_spread": 9}])
def test_every_kernel_that_tuning_tries_compiles(given):
    auction = CallAuction.of(2, **given)
    orders = bound_orders(auction, auction.type_counts())

    def choose(arrangement):
        flags = {"wide_lots": False, "recording": False, "shape": GpuShape(132, 32)}
        return choose_key(auction, orders, arrangement=arrangement, **flags)

    for key in equivalent_keys(choose, arrangements(orders)):
        code, log = compile_kernel(key, "sm_90")
        assert code[:4] == b"\x7fELF"
        assert "warning #" not in log, log


def test_budgets_are_those_of_the_cases(budgets):
    assert sorted(budgets) == sorted(case.label for case in CASES)
    assert all(sorted(each) == sorted(ARCHS) for each in budgets.values())


def test_the_blocks_for_which_registers_are_kept_fit_a_multiprocessor(budgets):
    for case in CASES:
        for arch in ARCHS if case.kernel == "counted" else ():
            key = key_of(case, arch)
            threads = key.block * key.blocks_per_sm
            registers = -(-budgets[case.label][arch]["registers"] // 8) * 8
            assert threads * registers <= REGISTERS, (case.label, arch)


def default_key():
    auction = CallAuction.of(2)
    orders = bound_orders(auction, auction.type_counts())
    flags = {"wide_lots": False, "recording": False, "shape": GpuShape(132, 32)}
    return choose_key(auction, orders, **flags)


@pytest.mark.parametrize("structure", ["Market", "Rows"])
@pytest.mark.parametrize("change", ["order", "size"])
def test_a_structure_that_is_laid_out_otherwise_does_not_compile(monkeypatch, structure, change):
    dtype = layout.STRUCTURES[structure]
    fields = [(name, dtype.fields[name][0]) for name in dtype.names]
    if change == "order":
        fields[-1], fields[-2] = fields[-2], fields[-1]
        fields[0], fields[1] = fields[1], fields[0]
    else:
        fields.append(("more", np.int64))
    monkeypatch.setitem(layout.STRUCTURES, structure, np.dtype(fields, align=True))
    with pytest.raises(EngineError, match=f"{structure} is not laid out as in layout.py"):
        compile_kernel(default_key(), "sm_90")


def test_scalars_in_another_order_do_not_compile(monkeypatch):
    monkeypatch.setattr(layout, "SCALARS", ("prev_mid2", "last", *layout.SCALARS[2:]))
    with pytest.raises(EngineError, match=r"last is not number 1 of SCALARS in layout\.py"):
        compile_kernel(default_key(), "sm_90")


def test_errors_name_the_file_and_its_line(monkeypatch):
    source = join_sources(default_key())
    broken = source.replace("run_counted(", "run_counted(int;", 1)
    assert broken != source
    monkeypatch.setattr("bookwarp.engines.cuda.compile.join_sources", lambda key: broken)
    with pytest.raises(EngineError, match=r"counted\.cu\(\d+\): error"):
        compile_kernel(default_key(), "sm_90")


def test_a_gpu_that_the_compiler_does_not_know_is_refused():
    message = r"makes no code for this GPU \(sm_999\): pip install --upgrade 'bookwarp\[cuda\]'"
    with pytest.raises(EngineError, match=message):
        compile_kernel(default_key(), "sm_999")


def test_a_compiler_that_is_missing_is_named(monkeypatch):
    from cuda.bindings import nvrtc

    def fail():
        raise RuntimeError("Failure finding libnvrtc.so.13")

    monkeypatch.setattr(nvrtc, "nvrtcVersion", fail)
    message = r"\(NVRTC\) is not installed: pip install 'bookwarp\[cuda\]'"
    with pytest.raises(EngineError, match=message):
        compile_kernel(default_key(), "sm_90")
    with pytest.raises(EngineError, match=message):
        find_code(default_key(), "sm_90")


def test_sources_are_of_the_package_and_named():
    source = join_sources(default_key())
    for name in ("layout.cuh", "layout.py", "agents.cuh", "auction.cuh", "step.cuh", "counted.cu"):
        assert f'#line 1 "{name}"\n' in source
    assert "general.cu" not in source
