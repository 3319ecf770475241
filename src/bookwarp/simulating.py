"""Run a call-auction ensemble in one call, and leave checkpoints behind while it runs."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bookwarp.progress import Progress, check_progress
from bookwarp.simulation import DEFAULT_RECORD, Simulation

if TYPE_CHECKING:
    from bookwarp.results.run import Run


def simulate(
    markets: int,
    agents: int = 256,
    levels: int = 128,
    steps: int = 500,
    seed: Any = 0,
    *,
    open_price: Any = None,
    open_depth: Any = 8,
    mix: Any = None,
    agent_types: Any = None,
    max_qty: Any = 4,
    noise_spread: Any = 3,
    market_order_prob: Any = 0.10,
    maker_half_spread: Any = 1,
    clearing_interval: Any = 1,
    parent_qty: Any = 0,
    parent_side: Any = 1,
    parent_start: Any = 0,
    parent_horizon: Any = 1,
    schedule: Any = "twap",
    volume_profile: Any = None,
    volume_share: Any = 0.1,
    stream: str = "default",
    window: str = "fixed",
    market_ids: Any = None,
    market_settings: Any = None,
    engine: str = "auto",
    threads: int | None = None,
    devices: Any = None,
    cuda_stream: Any = None,
    keep_on_device: bool = False,
    record: Any = DEFAULT_RECORD,
    record_every: int = 1,
    depth_ticks: int = 5,
    book_markets: Any = None,
    tape_markets: Any = None,
    tape_steps: Any = None,
    memory_limit: int | None = None,
    progress: Progress = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 60.0,
    **unknown: Any,
) -> "Run":
    """Run a call-auction ensemble for `steps` steps and return what happened.

    Args:
        markets, agents, levels, steps, seed, open_price, open_depth, mix, agent_types, max_qty,
            noise_spread, market_order_prob, maker_half_spread, clearing_interval, parent_qty,
            parent_side, parent_start, parent_horizon, schedule, volume_profile, volume_share,
            stream, window, market_ids, market_settings, engine, threads, devices, cuda_stream,
            keep_on_device, record, record_every, depth_ticks, book_markets, tape_markets,
            tape_steps, memory_limit: as for `Simulation`.
        progress: True for a bar on stderr, or a function of (steps done, steps wanted).
        checkpoint: file to leave behind when the run is interrupted, and every
            `checkpoint_every` seconds before; `Simulation.resume` goes on from it.
        checkpoint_every: seconds between checkpoints.

    Raises:
        ParameterError: a parameter is outside its domain, before any work.
        EngineError: the engine does not work here.
        StoreError: the checkpoint cannot be written.
        KeyboardInterrupt: after the checkpoint, if any, is written.
    """
    given = dict(locals())
    check_progress(progress)
    for own in ("progress", "checkpoint", "checkpoint_every", "unknown"):
        del given[own]
    simulation = Simulation(**given, **unknown)
    run = run_with_checkpoints(simulation, checkpoint, checkpoint_every, progress)
    if checkpoint is not None:
        Path(checkpoint).unlink(missing_ok=True)
    return run


def run_with_checkpoints(
    simulation: Simulation,
    checkpoint: str | Path | None,
    checkpoint_every: float = 60.0,
    progress: Progress = None,
) -> "Run":
    """Finish `simulation`; leave a checkpoint every so often and when it is interrupted.

    The checkpoint of a run that ends is the caller's to remove, once the result is kept.
    """
    if checkpoint is None:
        return simulation.run(progress)
    from bookwarp.results.checkpoint import check_writable

    path = Path(checkpoint)
    check_writable(path)
    saved = time.monotonic()
    try:
        for _ in simulation.pieces(simulation.steps_left, progress):
            if time.monotonic() - saved > checkpoint_every:
                simulation.save(path)
                saved = time.monotonic()
    except KeyboardInterrupt:
        simulation.save(path)
        raise
    return simulation.result()
