"""What kernels of books may use: what they used when that was measured, and a little more."""

from typing import Any

from measure_kernels import usage_in

# Another version of the compiler may need a little more.
SPARE_REGISTERS = 4
SPARE_SPILL_BYTES = 64


def assert_within_budget(code: bytes, log: str, budget: dict[str, Any]) -> None:
    """Assert that code is for a GPU, came without a warning, and uses hardly more than measured."""
    assert code[:4] == b"\x7fELF"
    assert "warning #" not in log, log
    used = usage_in(log)
    assert used["registers"] <= budget["registers"] + SPARE_REGISTERS, (used, budget)
    assert used["spill_bytes"] <= budget["spill_bytes"] + SPARE_SPILL_BYTES, (used, budget)
