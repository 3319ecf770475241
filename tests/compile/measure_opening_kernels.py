"""Compile the kernels that open markets and write what each of them takes: opening_budgets.json.

    python tests/compile/measure_opening_kernels.py

Run it after a change of the kernels, and look at what changed.
"""

from pathlib import Path

from budget import write_budgets

from bookwarp.engines.cuda.opening import compile_kernels

BUDGETS = Path(__file__).parent / "opening_budgets.json"

if __name__ == "__main__":
    write_budgets(BUDGETS, compile_kernels)
