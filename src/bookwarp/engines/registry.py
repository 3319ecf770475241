"""Which engines exist, which of them work here, and the choice between them."""

import os
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import prod

from bookwarp.engines.protocol import Engine
from bookwarp.spec.errors import EngineError, ParameterError, unknown_name
from bookwarp.spec.market import CallAuction
from bookwarp.spec.state import array_shapes


@dataclass(frozen=True)
class _Entry:
    module: str
    attribute: str
    package: str | None
    agent_bytes: int
    """Temporary memory of a step, for each agent of the markets that take it at once."""
    level_bytes: int
    """The same for each level."""
    all_at_once: bool
    """Whether a step takes all markets at once, or each thread one after the other."""


# The best engine first. The bytes are measured, and rounded up.
_ENGINES = {
    "cpu": _Entry("bookwarp.engines.cpu.engine", "CpuEngine", "numba", 80, 0, False),
    "reference": _Entry("bookwarp.reference.engine", "ReferenceEngine", None, 128, 80, True),
}
ENGINES = tuple(_ENGINES)

# Of each market.
_PARAMETER_BYTES = 256


def engine_status() -> dict[str, str | None]:
    """Return for every engine None if it works here, else the reason why not."""
    status: dict[str, str | None] = {}
    for name, entry in _ENGINES.items():
        missing = entry.package is not None and find_spec(entry.package) is None
        status[name] = f"the package {entry.package} is not installed" if missing else None
    return status


def choose_engine(name: str) -> str:
    """Return the name of the engine to use; "auto" is the best one that works here.

    Raises:
        ParameterError: there is no engine of that name.
        EngineError: the engine asked for does not work here.
    """
    status = engine_status()
    if name == "auto":
        return next(each for each, reason in status.items() if reason is None)
    if name not in status:
        raise ParameterError(unknown_name("engine", name, ("auto", *ENGINES)))
    if status[name] is not None:
        raise EngineError(f"engine {name!r} is not available: {status[name]}")
    return name


def engine_class(name: str) -> type[Engine]:
    """Return the class of an engine that `choose_engine` named."""
    entry = _ENGINES[name]
    found: type[Engine] = getattr(import_module(entry.module), entry.attribute)
    return found


def engine_nbytes(name: str, auction: CallAuction, threads: int) -> int:
    """Return an estimate of what an engine holds: two states, the parameters, and scratch."""
    entry = _ENGINES[name]
    state = sum(8 * prod(shape) for shape in array_shapes(auction).values())
    at_once = auction.markets if entry.all_at_once else min(auction.markets, threads)
    scratch = entry.agent_bytes * auction.agents + entry.level_bytes * auction.levels
    return 2 * state + _PARAMETER_BYTES * auction.markets + at_once * scratch


def available_threads() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
