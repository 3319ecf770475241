"""Compile the kernels for books of 256-bit numbers and write what they take: u256_budgets.json.

    python tests/compile/measure_u256_kernels.py

Run it after a change of the kernels, and look at what changed.
"""

import json
from pathlib import Path

from kernel_keys import ARCHS
from measure_kernels import usage_in
from u256_keys import CASES

from bookwarp.engines.cuda.u256.compile import compile_kernels

BUDGETS = Path(__file__).parent / "u256_budgets.json"


def main() -> None:
    """Write the budgets."""
    budgets = {}
    for name, key in CASES.items():
        budgets[name] = {arch: usage_in(compile_kernels(key, arch)[1]) for arch in ARCHS}
        print(name, budgets[name], flush=True)
    BUDGETS.write_text(json.dumps(budgets, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
