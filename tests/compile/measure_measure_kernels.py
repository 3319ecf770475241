"""Compile the kernels of measures and write what each of them takes: measure_budgets.json.

    python tests/compile/measure_measure_kernels.py

Run it after a change of the kernels, and look at what changed.
"""

from pathlib import Path

from budget import write_budgets

from bookwarp.engines.cuda.measures.compile import compile_kernels

BUDGETS = Path(__file__).parent / "measure_budgets.json"

if __name__ == "__main__":
    write_budgets(BUDGETS, compile_kernels)
