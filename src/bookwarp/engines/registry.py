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
    scratch_bytes_per_agent: int
    """Temporary memory of a step, for each agent of each market."""


# The best engine first.
_ENGINES = {
    "cpu": _Entry("bookwarp.engines.cpu.engine", "CpuEngine", "numba", 0),
    "reference": _Entry("bookwarp.reference.engine", "ReferenceEngine", None, 400),
}
ENGINES = tuple(_ENGINES)


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


def engine_nbytes(name: str, auction: CallAuction) -> int:
    """Return an estimate of what an engine holds for `auction`: two states, and scratch."""
    state = sum(8 * prod(shape) for shape in array_shapes(auction).values())
    scratch = _ENGINES[name].scratch_bytes_per_agent * auction.markets * auction.agents
    return 2 * state + scratch


def available_threads() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
