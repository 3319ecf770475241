"""Which engines exist, which of them work here, and the choice between them."""

import logging
import os
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import prod
from typing import Any

from bookwarp.engines.book_protocol import BookEngine
from bookwarp.engines.cuda.availability import (
    driver_installed,
    packages_installed,
    unavailable_reason,
)
from bookwarp.engines.protocol import Engine
from bookwarp.engines.u256_protocol import U256Engine
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
    on_devices: bool = False
    """Whether it takes `devices` and `cuda_stream`, and keeps its state on devices."""


# The best engine first. The bytes are measured, and rounded up.
_ENGINES = {
    "cuda": _Entry("bookwarp.engines.cuda.engine", "CudaEngine", None, 0, 0, False, True),
    "cpu": _Entry("bookwarp.engines.cpu.engine", "CpuEngine", "numba", 80, 0, False),
    "reference": _Entry("bookwarp.reference.engine", "ReferenceEngine", None, 128, 80, True),
}
ENGINES = tuple(_ENGINES)

# name -> module and class of the engine for continuous books.
_BOOK_ENGINES = {
    "cuda": ("bookwarp.engines.cuda.books.engine", "CudaBookEngine"),
    "cpu": ("bookwarp.engines.cpu.books.engine", "CpuBookEngine"),
    "reference": ("bookwarp.reference.book_engine", "ReferenceBookEngine"),
}
BOOK_ENGINES = tuple(_BOOK_ENGINES)
BOOKS_FOR_DEVICE = 256
"""Books from which on "auto" may be an engine that works on devices.

A GPU takes the messages of one book one after the other, about 1.5 microseconds each, but those of
all books at once; 16 cores take a message in some 0.06 microseconds, whatever its book. So some
dozens of books are as fast on either, and there are machines with more cores.
"""

# name -> module and class of the engine for books of 256-bit numbers.
_U256_ENGINES = {
    "cuda": ("bookwarp.engines.cuda.u256.engine", "CudaU256Engine"),
    "cpu": ("bookwarp.engines.cpu.u256.engine", "CpuU256Engine"),
    "reference": ("bookwarp.reference.u256_engine", "ReferenceU256Engine"),
}
U256_ENGINES = tuple(_U256_ENGINES)

# Of each market.
_PARAMETER_BYTES = 256

_LOG = logging.getLogger("bookwarp")


def engine_status() -> dict[str, str | None]:
    """Return for every engine None if it works here, else the reason why not."""
    return {name: _reason_against(name) for name in _ENGINES}


def _reason_against(name: str) -> str | None:
    if name == "cuda":
        return unavailable_reason()
    package = _ENGINES[name].package
    missing = package is not None and find_spec(package) is None
    return f"the package {package} is not installed" if missing else None


def choose_engine(name: str, devices: bool = True) -> str:
    """Return the name of the engine to use; "auto" is the best one that works here.

    Args:
        name: name of an engine, or "auto".
        devices: whether "auto" may be an engine that works on devices.

    Raises:
        ParameterError: there is no engine of that name.
        EngineError: the engine asked for does not work here.
    """
    if name == "auto":
        return _best_engine(devices)
    if name not in _ENGINES:
        raise ParameterError(unknown_name("engine", name, ("auto", *ENGINES)))
    reason = _reason_against(name)
    if reason is not None:
        raise EngineError(f"engine {name!r} is not available: {reason}")
    return name


def _best_engine(devices: bool) -> str:
    for name, entry in _ENGINES.items():
        if entry.on_devices and not devices:
            continue
        reason = _reason_against(name)
        if reason is None:
            return name
        if entry.on_devices and packages_installed():
            # Without a driver there is no GPU to miss.
            level = logging.WARNING if driver_installed() else logging.INFO
            _say_once(level, f"engine {name!r} is not used: {reason}")
    raise EngineError("no engine works here")


def fall_back(name: str, error: EngineError) -> str:
    """Return the engine that "auto" takes where the best one failed to be made; says so once.

    Raises:
        EngineError: the one that was given, if the engine is none that works on devices.
    """
    if not _ENGINES[name].on_devices:
        raise error
    _say_once(logging.WARNING, f"engine {name!r} is not used: {error}")
    return _best_engine(devices=False)


@cache
def _say_once(level: int, sentence: str) -> None:
    _LOG.log(level, sentence)


def device_options(name: str, **options: Any) -> dict[str, Any]:
    """Return those options of an engine that works on devices that were given, and are not None.

    Raises:
        ParameterError: they are given to an engine that works on no device.
    """
    given = {option: value for option, value in options.items() if value is not None}
    if given and not _ENGINES[name].on_devices:
        able = next(each for each, entry in _ENGINES.items() if entry.on_devices)
        reason = _reason_against(able)
        why = "" if reason is None else f" ({able} is not available: {reason})"
        raise ParameterError(f"{' and '.join(given)} needs engine {able!r}, not {name!r}{why}")
    return given


def engine_class(name: str) -> type[Engine]:
    """Return the class of an engine that `choose_engine` named."""
    entry = _ENGINES[name]
    found: type[Engine] = getattr(import_module(entry.module), entry.attribute)
    return found


def choose_book_engine(name: str, books: int = 1) -> str:
    """Return the name of the engine to use for continuous books, or those of 256-bit numbers.

    Args:
        name: name of an engine, or "auto": the best one that works here, but one that works on
            devices only for `BOOKS_FOR_DEVICE` books or more.
        books: how many there are.

    Raises:
        ParameterError: there is no engine of that name.
        EngineError: the engine asked for does not work here.
    """
    return choose_engine(name, devices=books >= BOOKS_FOR_DEVICE)


def book_engine_class(name: str) -> type[BookEngine]:
    """Return the class of an engine that `choose_book_engine` named."""
    module, attribute = _BOOK_ENGINES[name]
    found: type[BookEngine] = getattr(import_module(module), attribute)
    return found


def u256_engine_class(name: str) -> type[U256Engine]:
    """Return the class of an engine for books of 256-bit numbers that was chosen by name."""
    module, attribute = _U256_ENGINES[name]
    found: type[U256Engine] = getattr(import_module(module), attribute)
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
