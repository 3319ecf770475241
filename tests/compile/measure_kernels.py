"""Compile every kernel of the tests and write what it takes of a multiprocessor: budgets.json.

    python tests/compile/measure_kernels.py

Run it after a change of the kernels, and look at what changed.
"""

import json
import re
from pathlib import Path

from kernel_keys import ARCHS, CASES, key_of

from bookwarp.engines.cuda.compile import compile_kernel

BUDGETS = Path(__file__).parent / "budgets.json"


def usage_in(log: str) -> dict[str, int]:
    """Return registers, and bytes of spills, of the kernel and what it calls."""
    registers = [int(number) for number in re.findall(r"Used (\d+) registers", log)]
    spills = [int(number) for number in re.findall(r"(\d+) bytes spill (?:stores|loads)", log)]
    assert registers, log
    assert spills, log
    return {"registers": max(registers), "spill_bytes": sum(spills)}


def main() -> None:
    """Write the budgets."""
    budgets = {}
    for case in CASES:
        for arch in ARCHS:
            _, log = compile_kernel(key_of(case, arch), arch)
            budgets.setdefault(case.label, {})[arch] = usage_in(log)
        print(case.label, budgets[case.label], flush=True)
    BUDGETS.write_text(json.dumps(budgets, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
