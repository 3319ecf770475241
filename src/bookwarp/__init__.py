"""Simulate and match huge ensembles of limit order books, with the same bits on every engine.

Example:
    >>> import bookwarp as bw
    >>> run = bw.simulate(markets=1024, steps=500, seed=7)
    >>> print(run.summary())
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bookwarp import measures as measures
    from bookwarp.matching import Books as Books
    from bookwarp.matching import match as match
    from bookwarp.replaying import Replay as Replay
    from bookwarp.replaying import replay as replay
    from bookwarp.results.day import Day as Day
    from bookwarp.results.match import Match as Match
    from bookwarp.results.run import Run as Run
    from bookwarp.results.store import load as load
    from bookwarp.simulating import simulate as simulate
    from bookwarp.simulation import Simulation as Simulation
    from bookwarp.spec.agents import Mix as Mix
    from bookwarp.spec.agents import draw_agent_types as draw_agent_types
    from bookwarp.spec.codes import NO_PRICE as NO_PRICE
    from bookwarp.spec.codes import AgentType as AgentType
    from bookwarp.spec.codes import Side as Side
    from bookwarp.spec.errors import BookwarpError as BookwarpError
    from bookwarp.spec.errors import EngineError as EngineError
    from bookwarp.spec.errors import ParameterError as ParameterError
    from bookwarp.spec.errors import StoreError as StoreError
    from bookwarp.spec.events import EventType as EventType
    from bookwarp.spec.events import Flag as Flag
    from bookwarp.spec.events import Reason as Reason
    from bookwarp.spec.market_data import MarketEvent as MarketEvent
    from bookwarp.spec.market_data import Oddity as Oddity
    from bookwarp.spec.orders import ORDER as ORDER
    from bookwarp.spec.orders import Kind as Kind
    from bookwarp.spec.orders import Op as Op
    from bookwarp.spec.orders import TimeInForce as TimeInForce
    from bookwarp.sweeping.design import Design as Design
    from bookwarp.sweeping.design import grid as grid
    from bookwarp.sweeping.design import zipped as zipped
    from bookwarp.sweeping.sampling import latin_hypercube as latin_hypercube
    from bookwarp.sweeping.sampling import random_design as random_design
    from bookwarp.sweeping.store import open_sweep as open_sweep
    from bookwarp.sweeping.sweep import sweep as sweep
    from bookwarp.tuning import tune as tune

# name -> module; a module is imported when its first name is used, so that `import bookwarp` is
# light.
_PUBLIC = {
    "AgentType": "bookwarp.spec.codes",
    "Books": "bookwarp.matching",
    "BookwarpError": "bookwarp.spec.errors",
    "Day": "bookwarp.results.day",
    "Design": "bookwarp.sweeping.design",
    "EngineError": "bookwarp.spec.errors",
    "EventType": "bookwarp.spec.events",
    "Flag": "bookwarp.spec.events",
    "Kind": "bookwarp.spec.orders",
    "MarketEvent": "bookwarp.spec.market_data",
    "Match": "bookwarp.results.match",
    "Mix": "bookwarp.spec.agents",
    "NO_PRICE": "bookwarp.spec.codes",
    "ORDER": "bookwarp.spec.orders",
    "Oddity": "bookwarp.spec.market_data",
    "Op": "bookwarp.spec.orders",
    "ParameterError": "bookwarp.spec.errors",
    "Reason": "bookwarp.spec.events",
    "Replay": "bookwarp.replaying",
    "Run": "bookwarp.results.run",
    "Side": "bookwarp.spec.codes",
    "Simulation": "bookwarp.simulation",
    "StoreError": "bookwarp.spec.errors",
    "TimeInForce": "bookwarp.spec.orders",
    "draw_agent_types": "bookwarp.spec.agents",
    "grid": "bookwarp.sweeping.design",
    "latin_hypercube": "bookwarp.sweeping.sampling",
    "load": "bookwarp.results.store",
    "match": "bookwarp.matching",
    "open_sweep": "bookwarp.sweeping.store",
    "random_design": "bookwarp.sweeping.sampling",
    "replay": "bookwarp.replaying",
    "report": "bookwarp.reporting.report",
    "simulate": "bookwarp.simulating",
    "sweep": "bookwarp.sweeping.sweep",
    "tune": "bookwarp.tuning",
    "zipped": "bookwarp.sweeping.design",
}

# Modules that are public as a whole.
_MODULES = ("measures",)

__all__ = [*_PUBLIC, *_MODULES, "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("bookwarp")
    if name in _MODULES:
        return import_module(f"bookwarp.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'bookwarp' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
