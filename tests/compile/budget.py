"""What kernels may use: what they used when that was measured, and a little more."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernel_keys import ARCHS
from measure_kernels import usage_in

# Another version of the compiler may need a little more.
SPARE_REGISTERS = 4
SPARE_SPILL_BYTES = 64

_ENTRY = re.compile(r"Compiling entry function '(\w+)'")


def assert_within_budget(code: bytes, log: str, budget: dict[str, Any]) -> None:
    """Assert that code is for a GPU, came without a warning, and uses hardly more than measured."""
    assert code[:4] == b"\x7fELF"
    assert "warning #" not in log, log
    used = usage_in(log)
    assert used["registers"] <= budget["registers"] + SPARE_REGISTERS, (used, budget)
    assert used["spill_bytes"] <= budget["spill_bytes"] + SPARE_SPILL_BYTES, (used, budget)


def assert_each_within_budget(
    code: bytes, log: str, budgets: dict[str, Any], arch: str
) -> dict[str, Any]:
    """Assert that every kernel of some code uses hardly more than measured, and spills nothing.

    Returns what each of them uses.
    """
    assert code[:4] == b"\x7fELF"
    assert "warning #" not in log, log
    used = _usage_by_kernel(log)
    assert sorted(used) == sorted(budgets)
    for kernel, usage in used.items():
        budget = budgets[kernel][arch]
        assert usage["registers"] <= budget["registers"] + SPARE_REGISTERS, kernel
        assert usage["spill_bytes"] == budget["spill_bytes"] == 0, kernel
    return used


def write_budgets(path: Path, compile_kernels: Callable[[str], tuple[bytes, str]]) -> None:
    """Write what every kernel of some code takes, for each kind of GPU, and print it."""
    budgets: dict[str, Any] = {}
    for arch in ARCHS:
        for kernel, usage in sorted(_usage_by_kernel(compile_kernels(arch)[1]).items()):
            budgets.setdefault(kernel, {})[arch] = usage
    path.write_text(json.dumps(budgets, indent=1) + "\n", encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


def _usage_by_kernel(log: str) -> dict[str, dict[str, int]]:
    """Return registers, and bytes of spills, of every kernel by name."""
    _, *parts = _ENTRY.split(log)
    return {name: usage_in(text) for name, text in zip(parts[::2], parts[1::2], strict=True)}
