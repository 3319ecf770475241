"""Sweep many settings in one call."""

from typing import TYPE_CHECKING, Any

from bookwarp.measures.named import stylised_facts
from bookwarp.measures.protocol import Measure
from bookwarp.progress import Progress, check_progress
from bookwarp.spec.errors import ParameterError
from bookwarp.sweeping.cluster import Cluster
from bookwarp.sweeping.dataset import Results
from bookwarp.sweeping.design import Design
from bookwarp.sweeping.filling import fill, run_here
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.store import SweepStore, check_out

if TYPE_CHECKING:
    import xarray as xr


def sweep(
    design: Design,
    *,
    measure: Measure | None = None,
    out: Any = None,
    infeasible: str = "error",
    paths: Any = None,
    block_markets: int | None = None,
    engine: str = "auto",
    devices: Any = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    client: Any = None,
    progress: Progress = None,
    **parameters: Any,
) -> "xr.Dataset":
    """Run all settings of a design and return what is measured of every market.

    Replica r of every setting draws as market r: settings differ by their parameters alone, and
    not by luck, so that a difference of two settings has less noise than each of them.

    Args:
        design: the settings, from `grid`, `zipped`, `random_design` or `latin_hypercube`.
        measure: what is computed of the recorded rows, of `bookwarp.measures`; all stylised facts
            if None.
        out: store (.zarr) that results go to block by block. Where it exists already, only what is
            missing of the same sweep is run. In memory if None.
        infeasible: "error" to refuse a design with settings that cannot run, such as shares above
            1 in all; "nan" to list them in the attribute `infeasible`, and leave them NaN.
        paths: markets whose last price is kept after every step, as `path_price`: a number of
            replicas of every setting, or a mapping from swept parameters, and "replica", to lists
            of values.
        block_markets: markets of a block, about; by default as many as one core runs in some
            seconds. It is a part of what a store holds.
        engine, devices, threads, memory_limit: as for `bookwarp.simulate`; devices may be "all"
            also where there is no GPU. Results do not depend on them.
        client: a `dask.distributed.Client`, to run on the workers of its cluster; `out` must be on
            storage that all of them see. `engine`, `devices` and `memory_limit` are those of every
            worker, which runs a block on each of its Dask threads; `threads` are those of a block.
        progress: True for a bar on stderr, or a function of (agent events done, wanted).
        **parameters: what is the same in all settings: `agents`, `levels`, `steps`, and every other
            parameter of `bookwarp.simulate` that a design may vary, `mix` and `volume_profile`.

    Returns:
        The dataset: dimensions are those of the design, then `replica`, then those of the measure.
        With `out`, values are read from the store when they are used. The attribute `digest` is the
        same on every engine and machine.

    Raises:
        ParameterError: naming what is wrong, before any work.
        EngineError: the engine does not work here, or a worker cannot do its part.
        StoreError: the store holds another sweep, or cannot be written.
        KeyboardInterrupt: blocks that are done are in the store, and the same call goes on.
    """
    check_progress(progress)
    path = None if out is None else check_out(out)
    if client is not None and path is None:
        raise ParameterError("client needs out: workers write what they measure into a store")
    if measure is None:
        measure = stylised_facts
    plan = SweepPlan.of(design, measure, parameters, infeasible, paths, block_markets)
    results: Results | SweepStore
    if client is None or path is None:
        machine = Machine.of(engine, threads, devices, memory_limit)
        results = Results(plan, machine) if path is None else SweepStore(path, plan)
        run = run_here(results, machine)
    else:
        cluster = Cluster.of(client, engine, threads, devices, memory_limit)
        results = SweepStore(path, plan)
        run = cluster.run_for(results)
    fill(results, run, progress)
    results.finish()
    return results.open()
