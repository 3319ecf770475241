"""What Dask adds to a sweep: `python benchmarks/cluster_rate.py`.

The sweep of sweep_rate.py goes into a new store, in turn by this process, on so many cores or GPUs,
and by as many processes of a Dask cluster that is there already, each on one of them. A round of
each comes first that is not timed. Beside the time from the call to the dataset are seconds of the
processor, of this process and all that it started, which other work on the machine changes less.
Both stores must have the same digest. What a task costs is timed with tasks that do nothing. One
JSON line is appended to benchmarks/rows/cluster_rate.jsonl.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import contextmanager
from math import isqrt
from pathlib import Path
from typing import Any

import psutil
from distributed import Client, Nanny, Scheduler, SpecCluster
from machine import REPOSITORY
from row_file import Row, append_row, describe_run, spread
from sweep_rate import Sweep

ROWS = REPOSITORY / "benchmarks" / "rows" / "cluster_rate.jsonl"
EMPTY_TASKS = 1000


@contextmanager
def local_client(workers: int, engine: str = "cpu") -> Any:
    """Yield a client of so many processes on this machine, each with one thread, and its GPU."""
    options = {"nthreads": 1, "host": "127.0.0.1", "memory_limit": None}
    gpus = [
        {"CUDA_VISIBLE_DEVICES": str(gpu)} if engine == "cuda" else {} for gpu in range(workers)
    ]
    scheduler = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        SpecCluster(
            {n: {"cls": Nanny, "options": {**options, "env": env}} for n, env in enumerate(gpus)},
            {"cls": Scheduler, "options": scheduler},
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def processor_seconds() -> float:
    """Return the seconds of the processor that this process and those it started have taken."""
    here = psutil.Process()
    times = [each.cpu_times() for each in (here, *here.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def time_tasks(client: Any) -> float:
    """Return the seconds that one of many tasks takes which do nothing."""
    began = time.perf_counter()
    client.gather([client.submit(int, pure=False) for _ in range(EMPTY_TASKS)])
    return (time.perf_counter() - began) / EMPTY_TASKS


def time_sweep(what: Sweep, client: Any) -> tuple[float, float, str]:
    """Return seconds from the call to the dataset, those of the processor, and the digest."""
    folder = Path(tempfile.mkdtemp(dir=what.folder, prefix="sweep-"))
    try:
        before = processor_seconds()
        seconds, dataset = what.sweep(folder / "sweep.zarr", client)
        dataset.close()
        return seconds, processor_seconds() - before, dataset.digest
    finally:
        shutil.rmtree(folder)


def measure_rate(what: Sweep, workers: int, trials: int) -> Row:
    """Return a row: seconds of this process alone, and by workers."""
    here, there, empty = [], [], []
    with local_client(workers, what.engine) as client:
        for _ in range(trials + 1):
            empty.append(time_tasks(client))
            here.append(time_sweep(what, None))
            there.append(time_sweep(what, client))
    digests = {digest for *_, digest in (*here, *there)}
    if len(digests) > 1:
        raise SystemExit(f"the sweeps have different digests: {digests}")
    (wall, cpu, _), (dask_wall, dask_cpu, _) = (
        zip(*each[1:], strict=True) for each in (here, there)
    )
    return {
        "kind": "cluster rate",
        "engine": what.engine,
        "workers": workers,
        "settings": what.side**2,
        "replicas": what.replicas,
        "agents": what.agents,
        "steps": what.steps,
        "block_markets": what.block_markets,
        "agent_events": what.side**2 * what.replicas * what.agents * what.steps,
        "trials": trials,
        "alone_s": spread(wall),
        "dask_s": spread(dask_wall),
        "dask_over_alone": spread([d / t for d, t in zip(dask_wall, wall, strict=True)]),
        "alone_cpu_s": spread(cpu),
        "dask_cpu_s": spread(dask_cpu),
        "dask_over_alone_cpu": spread([d / t for d, t in zip(dask_cpu, cpu, strict=True)]),
        "task_s": spread(empty[1:]),
        "digest": digests.pop(),
    }


def _line(row: Row) -> str:
    return (
        f"{row['settings']} settings x {row['replicas']} replicas x {row['agents']} agents x "
        f"{row['steps']} steps: alone {row['alone_s']['median']:.2f} s, "
        f"{row['workers']} Dask workers {row['dask_s']['median']:.2f} s "
        f"({row['dask_over_alone']['median']:.2f}); of the processor "
        f"{row['alone_cpu_s']['median']:.2f} s and {row['dask_cpu_s']['median']:.2f} s "
        f"({row['dask_over_alone_cpu']['median']:.2f})"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--settings", type=int, default=900)
    parser.add_argument("--replicas", type=int, default=64)
    parser.add_argument("--agents", type=int, default=256)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--block-markets", type=int)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where stores are made (the system's)")
    parser.add_argument("--rows", type=Path, default=ROWS, help=f"file to append to ({ROWS.name})")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    options = parser.parse_args(arguments)
    what = Sweep(
        side=isqrt(options.settings),
        replicas=options.replicas,
        steps=options.steps,
        agents=options.agents,
        engine=options.engine,
        threads=options.workers,
        devices=list(range(options.workers)) if options.engine == "cuda" else None,
        block_markets=options.block_markets,
        folder=options.folder or Path(tempfile.gettempdir()),
    )
    row = measure_rate(what, options.workers, options.trials)
    common = describe_run("cluster rate", options.commit, on_gpu=options.engine == "cuda")
    print(_line(row), flush=True)
    append_row(options.rows, common | row)


if __name__ == "__main__":
    main()
