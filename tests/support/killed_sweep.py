"""A program that sweeps into a store, and may kill itself on the way: run by tests as a process.

    python killed_sweep.py STORE [FILE]

With FILE it dies, as by kill -9, when it is about to give the FILE-th file of the store its name.
"""

import os
import signal
import sys
import time
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from tiny_measure import TinyMeasure

from bookwarp.sweeping.design import grid
from bookwarp.sweeping.store import SweepStore
from bookwarp.sweeping.sweep import sweep

BLOCKS = 20
GIVEN = {"agents": 8, "levels": 16, "steps": 20, "engine": "reference", "threads": 1}


class SlowMeasure(TinyMeasure):
    """Takes a while, so that there is time to be killed."""

    def of_simulation(self, simulation):
        time.sleep(0.01)
        return super().of_simulation(simulation)


def main(path, last_file=None):
    design = grid(momentum=[i / 40 for i in range(BLOCKS)], noise="rest", replicas=3)
    put = SweepStore._put
    files = count(1)  # which is one step, whatever threads write at once

    def put_or_die(store, name, content):
        if next(files) == last_file:
            partial = store.path / ".partial" / "half"
            partial.write_bytes(content[: len(content) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        put(store, name, content)

    if last_file:
        SweepStore._put = put_or_die
    print("sweeping", flush=True)
    found = sweep(design, measure=SlowMeasure(), out=path, paths=1, block_markets=3, **GIVEN)
    print(found.digest)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
