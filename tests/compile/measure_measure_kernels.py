"""Compile the kernels of measures and write what each of them takes: measure_budgets.json.

    python tests/compile/measure_measure_kernels.py

Run it after a change of the kernels, and look at what changed.
"""

import json
import re
from pathlib import Path

from kernel_keys import ARCHS
from measure_kernels import usage_in

from bookwarp.engines.cuda.measures.compile import compile_kernels

BUDGETS = Path(__file__).parent / "measure_budgets.json"
_ENTRY = re.compile(r"Compiling entry function '(\w+)'")


def usage_by_kernel(log):
    """Return registers, and bytes of spills, of every kernel by name."""
    _, *parts = _ENTRY.split(log)
    return {name: usage_in(text) for name, text in zip(parts[::2], parts[1::2], strict=True)}


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
