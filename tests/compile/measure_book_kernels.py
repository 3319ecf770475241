"""Compile the kernels of continuous books and write what they take: book_budgets.json.

    python tests/compile/measure_book_kernels.py

Run it after a change of the kernels, and look at what changed.
"""

import json
from pathlib import Path

from book_keys import CASES, key_of
from kernel_keys import ARCHS
from measure_kernels import usage_in

from bookwarp.engines.cuda.books.compile import compile_kernels

BUDGETS = Path(__file__).parent / "book_budgets.json"


def main() -> None:
    """Write the budgets."""
    budgets = {}
    for case in CASES:
        for arch in ARCHS:
            _, log = compile_kernels(key_of(case), arch)
            budgets.setdefault(case, {})[arch] = usage_in(log)
        print(case, budgets[case], flush=True)
    BUDGETS.write_text(json.dumps(budgets, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
