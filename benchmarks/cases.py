"""What is measured, as data: one entry a case."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np


class Group(StrEnum):
    """Which cases belong together; a name for `--cases`."""

    PROCESSOR = "processor"
    """What the engines can do, at a size for a few cores."""
    PAPER = "paper"
    """The evaluation of the KineticSim paper, at its sizes."""
    DEVICE = "device"
    """What the engines can do, at a size for a GPU."""


@dataclass(frozen=True)
class Spread:
    """A parameter that differs from market to market, evenly from `low` to `high`."""

    low: float
    high: float

    def over(self, markets: int) -> np.ndarray:
        """Return one value per market; whole numbers if both ends are."""
        values = np.linspace(self.low, self.high, markets)
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        return np.rint(values).astype(np.int64) if whole else values


@dataclass(frozen=True)
class Drawn:
    """A parameter drawn for every market, a whole number from `low` to `high`, both included."""

    low: int
    high: int

    def over(self, markets: int) -> np.ndarray:
        """Return one value per market, the same whenever it is asked."""
        return np.random.default_rng(0).integers(self.low, self.high, markets, endpoint=True)


@dataclass(frozen=True)
class Case:
    """One call-auction ensemble; what is not given has the default of `bookwarp.simulate`."""

    name: str
    markets: int = 1024
    agents: int = 256
    levels: int = 128
    steps: int = 500
    seed: int = 0
    threads: int | None = None
    """None: all processors that the process may use."""
    stream: str = "default"
    window: str = "fixed"
    record: tuple[str, ...] = ()
    mix: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Other parameters; a `Spread` or `Drawn` in them or in `mix` gives one value per market."""
    plain_engines: bool = False
    """Whether the engines that are not built for speed are timed too, over fewer steps."""
    group: Group = Group.PROCESSOR
    sweeps: tuple[str, ...] = ()
    """Where the paper shows it: "markets", "agents", "fixed", "latency". The baselines of a GPU
    run these cases."""
    trials: int | None = None
    """Trials, where they are not the number that was asked for."""
    one_step_a_call: bool = False
    """Whether every step is a call of its own, as in a learner's loop."""

    def arguments(self) -> dict[str, Any]:
        """Return the keywords of `bookwarp.Simulation`, without engine and steps."""
        found: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("markets", "agents", "levels", "seed", "threads", "stream", "window")
        }
        found |= {name: self._resolved(value) for name, value in self.parameters.items()}
        found["record"] = self.record
        if self.mix:
            found["mix"] = {name: self._resolved(value) for name, value in self.mix.items()}
        return found

    def small(self) -> "Case":
        """Return the same case with few markets and steps: enough to compare, and to compile."""
        return replace(self, markets=min(self.markets, 8), steps=min(self.steps, 40))

    def quick(self) -> "Case":
        """Return the same case, smaller, to see that everything works."""
        return replace(self, markets=min(self.markets, 32), steps=min(self.steps, 25))

    def _resolved(self, value: Any) -> Any:
        return value.over(self.markets) if isinstance(value, Spread | Drawn) else value


_BY_MARKET: dict[str, Any] = {
    "mix": {"noise": "rest", "momentum": Spread(0.0, 0.3), "maker": 0.15},
    "parameters": {
        "max_qty": Spread(1, 8),
        "noise_spread": Spread(1, 6),
        "market_order_prob": Spread(0.05, 0.20),
        "maker_half_spread": Spread(1, 3),
        "open_price": Spread(40, 90),
    },
}
# What the kernel that counts can run: no noise order more than three ticks off. Beside it, what the
# most of these parameters make of every market.
_NEAR: dict[str, Any] = {
    "parameters": {**_BY_MARKET["parameters"], "noise_spread": Spread(1, 3)},
}
_ALIKE: dict[str, Any] = {
    "parameters": {
        "max_qty": 8,
        "noise_spread": 3,
        "market_order_prob": 0.125,
        "maker_half_spread": 3,
        "open_price": 65,
    },
}
_RECORDED: dict[str, Any] = {"record": ("last", "volume")}
_FOLLOWING: dict[str, Any] = {
    "window": "following",
    "mix": {"noise": "rest", "momentum": 0.40, "maker": 0.15},
}


def _paper(name: str, markets: int, *sweeps: str, agents: int = 256, **more: Any) -> Case:
    return Case(name, markets, agents, plain_engines=True, group=Group.PAPER, sweeps=sweeps, **more)


def _device(name: str, markets: int = 8192, **more: Any) -> Case:
    return Case(name, markets, group=Group.DEVICE, **more)


AUCTION = (
    Case("one thread", threads=1, plain_engines=True),
    Case("all threads"),
    Case("stream paper, one thread", stream="paper", threads=1),
    Case("stream paper", stream="paper"),
    Case("parameters per market", **_BY_MARKET),
    Case("price and volume recorded", **_RECORDED),
    Case("following window", **_FOLLOWING),
    # What matters most first: what a budget of time leaves out is at the end.
    _paper("8192 markets of 256", 8192, "fixed", "agents"),
    _paper("4096 markets", 4096, "markets", "latency", trials=11),
    _paper("64 markets", 64, "markets"),
    _paper("1024 agents", 8192, "agents", agents=1024),
    _paper("16 agents", 8192, "agents", agents=16),
    _paper("16384 markets", 16384, "markets"),
    _paper("1024 markets", 1024, "markets"),
    _paper("256 markets", 256, "markets"),
    _paper("64 agents", 8192, "agents", agents=64),
    _device("device: stream paper", stream="paper"),
    _device("device: parameters per market", **_BY_MARKET),
    _device("device: parameters per market, near", **_NEAR),
    _device("device: one value of these parameters", **_ALIKE),
    _device("device: price and volume recorded", **_RECORDED),
    _device("device: following window", **_FOLLOWING),
    _device("device: an auction every 5 steps", parameters={"clearing_interval": 5}),
    _device(
        "device: an auction every 1 to 50 steps", parameters={"clearing_interval": Drawn(1, 50)}
    ),
    _device("device: parent orders worked", parameters={"parent_qty": 5000, "parent_horizon": 500}),
    _device("device: 65536 markets of 1024", 65536, agents=1024),
    _device("device: one step a call", 4096, trials=11, one_step_a_call=True),
)
