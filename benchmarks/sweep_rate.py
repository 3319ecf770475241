"""How fast a sweep is beside its bare simulation: `python benchmarks/sweep_rate.py`.

The design is a square grid of momentum and maker shares. In turn are timed: all its markets as one
bare simulation that records nothing, its steps alone; the sweep in memory, and the sweep into a new
store, each from the call to the dataset, with all stylised facts. A round of each comes first that
is not timed. All sweeps must have the same digest, and the first settings must be those of the cpu
engine in every byte. One JSON line is appended to benchmarks/rows/sweep_rate.jsonl.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from machine import REPOSITORY
from row_file import Row, append_row, describe_run, spread

import bookwarp as bw
from bookwarp.engines.registry import ENGINES, engine_status
from bookwarp.simulation import Simulation

ROWS = REPOSITORY / "benchmarks" / "rows" / "sweep_rate.jsonl"
MOST_MOMENTUM, MOST_MAKER = 0.6, 0.3
CHECKED = 3
"""Settings along each axis that are swept again on the cpu engine, to be compared."""


@dataclass(frozen=True)
class Sweep:
    """What is swept, on what."""

    side: int
    """Values of each of the two shares."""
    replicas: int
    steps: int
    agents: int
    engine: str
    threads: int | None
    devices: Any
    folder: Path
    block_markets: int | None = None

    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the momentum and the maker shares, float64 [side] each."""
        return np.linspace(0, MOST_MOMENTUM, self.side), np.linspace(0, MOST_MAKER, self.side)

    def run_bare(self) -> float:
        """Return the seconds in which all markets do all steps."""
        momentum, maker = (
            np.repeat(shares, self.replicas)
            for shares in (each.reshape(-1) for each in np.meshgrid(*self.shares(), indexing="ij"))
        )
        on_gpu = {"devices": self.devices} if self.engine == "cuda" else {}
        simulation = Simulation(
            len(momentum),
            self.agents,
            steps=self.steps,
            mix=bw.Mix(noise="rest", momentum=momentum, maker=maker),
            market_ids=np.tile(np.arange(self.replicas), self.side**2),
            record=(),
            engine=self.engine,
            threads=self.threads,
            **on_gpu,
        )
        simulation.step(self.steps, in_pieces=False).market_state()
        return simulation.elapsed_s

    def sweep(self, out: Path | None, client: Any = None) -> tuple[float, Any]:
        """Return the seconds from the call to the dataset, and the dataset."""
        momentum, maker = self.shares()
        began = time.perf_counter()
        dataset = bw.sweep(
            bw.grid(momentum=momentum, maker=maker, noise="rest", replicas=self.replicas),
            agents=self.agents,
            steps=self.steps,
            measure=bw.measures.stylised_facts,
            engine=self.engine,
            threads=None if client else self.threads,
            devices=None if client else self.devices,
            block_markets=self.block_markets,
            out=out,
            client=client,
        )
        return time.perf_counter() - began, dataset

    def check(self, dataset: Any) -> str:
        """Compare the first settings with a sweep of them on the cpu engine.

        Raises:
            SystemExit: they differ.
        """
        momentum, maker = (shares[:CHECKED] for shares in self.shares())
        replicas = min(self.replicas, 4)
        again = bw.sweep(
            bw.grid(momentum=momentum, maker=maker, noise="rest", replicas=replicas),
            agents=self.agents,
            steps=self.steps,
            engine="cpu",
        )
        found = dataset.isel(momentum=slice(CHECKED), maker=slice(CHECKED), replica=slice(replicas))
        for name in again.data_vars:
            if found[name].values.tobytes() != again[name].values.tobytes():
                raise SystemExit(f"{name} of the first settings is not that of the cpu engine")
        return f"all of {again.momentum.size * again.maker.size} settings equal in every byte"


def measure_rate(what: Sweep, trials: int) -> Row:
    """Return a row: seconds bare, in memory, and into a store."""
    bare: list[float] = []
    in_memory: list[float] = []
    stored: list[float] = []
    digests, checked = set(), ""
    for trial in range(trials + 1):
        bare.append(what.run_bare())
        seconds, dataset = what.sweep(None)
        in_memory.append(seconds)
        digests.add(dataset.digest)
        checked = checked or what.check(dataset)
        del dataset
        folder = Path(tempfile.mkdtemp(dir=what.folder, prefix="sweep-"))
        try:
            seconds, dataset = what.sweep(folder / "sweep.zarr")
            stored.append(seconds)
            digests.add(dataset.digest)
            dataset.close()
        finally:
            shutil.rmtree(folder)
        if trial == 0:
            for each in (bare, in_memory, stored):
                each.clear()
    if len(digests) > 1:
        raise SystemExit(f"the sweeps have different digests: {digests}")
    markets = what.side**2 * what.replicas
    return {
        "kind": "sweep rate",
        "engine": what.engine,
        "devices": what.devices,
        "threads": what.threads,
        "settings": what.side**2,
        "replicas": what.replicas,
        "agents": what.agents,
        "steps": what.steps,
        "agent_events": markets * what.agents * what.steps,
        "trials": trials,
        "bare_s": spread(bare),
        "memory_s": spread(in_memory),
        "stored_s": spread(stored),
        "memory_over_bare": spread([s / b for s, b in zip(in_memory, bare, strict=True)]),
        "stored_over_bare": spread([s / b for s, b in zip(stored, bare, strict=True)]),
        "digest": digests.pop(),
        "check": checked,
    }


def _line(row: Row) -> str:
    return (
        f"{row['engine']}, {row['settings']} settings x {row['replicas']} replicas x "
        f"{row['agents']} agents x {row['steps']} steps: bare {row['bare_s']['median']:.3f} s, in "
        f"memory {row['memory_s']['median']:.3f} s ({row['memory_over_bare']['median']:.2f}), "
        f"stored {row['stored_s']['median']:.3f} s ({row['stored_over_bare']['median']:.2f})"
    )


def _devices(text: str) -> Any:
    return text if text == "all" else [int(number) for number in text.split(",")]


def main(arguments: Sequence[str] | None = None) -> None:
    working = [name for name, reason in engine_status().items() if reason is None]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--engine", choices=ENGINES, default=working[0])
    parser.add_argument("--settings", type=int, help="else 10000 on a GPU and 100")
    parser.add_argument("--replicas", type=int, default=64)
    parser.add_argument("--agents", type=int, default=256)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--devices", type=_devices, help="GPUs, as in 0,1; or all")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where stores are made (the system's)")
    parser.add_argument("--rows", type=Path, default=ROWS, help=f"file to append to ({ROWS.name})")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    options = parser.parse_args(arguments)
    if options.engine not in working or options.trials < 1:
        parser.error(f"engines that work here: {', '.join(working)}; trials are at least 1")
    settings = options.settings or (10_000 if options.engine == "cuda" else 100)
    what = Sweep(
        side=isqrt(settings),
        replicas=options.replicas,
        steps=options.steps,
        agents=options.agents,
        engine=options.engine,
        threads=options.threads,
        devices=options.devices,
        folder=options.folder or Path(tempfile.gettempdir()),
    )
    row = measure_rate(what, options.trials)
    common = describe_run("sweep rate", options.commit, on_gpu=options.engine == "cuda")
    print(_line(row), flush=True)
    append_row(options.rows, common | row)


if __name__ == "__main__":
    main()
