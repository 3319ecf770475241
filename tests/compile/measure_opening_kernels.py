"""Compile the kernels that open markets and write what each of them takes: opening_budgets.json.

    python tests/compile/measure_opening_kernels.py

Run it after a change of the kernels, and look at what changed.
"""

import json
from pathlib import Path

from kernel_keys import ARCHS
from measure_measure_kernels import usage_by_kernel

from bookwarp.engines.cuda.opening import compile_kernels

BUDGETS = Path(__file__).parent / "opening_budgets.json"


def main() -> None:
    """Write the budgets."""
    budgets = {}
    for arch in ARCHS:
        for kernel, usage in sorted(usage_by_kernel(compile_kernels(arch)[1]).items()):
            budgets.setdefault(kernel, {})[arch] = usage
    BUDGETS.write_text(json.dumps(budgets, indent=1) + "\n", encoding="utf-8")
    print(BUDGETS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
