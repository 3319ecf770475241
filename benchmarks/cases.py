"""What is measured, as data: one entry a case."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


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
    """Other parameters of the model; a `Spread` in it or in `mix` gives one value per market."""
    plain_engines: bool = False
    """Whether the engines that are not built for speed are timed too, over fewer steps."""

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
        return value.over(self.markets) if isinstance(value, Spread) else value


AUCTION = (
    Case("one thread", threads=1, plain_engines=True),
    Case("all threads"),
    Case("16 agents", agents=16, plain_engines=True),
    Case("64 agents", agents=64, plain_engines=True),
    Case("1024 agents", agents=1024, plain_engines=True),
    Case("64 markets", markets=64, plain_engines=True),
    Case("256 markets", markets=256, plain_engines=True),
    Case("4096 markets", markets=4096, plain_engines=True),
    Case("16384 markets", markets=16384, plain_engines=True),
    Case("stream paper, one thread", stream="paper", threads=1),
    Case("stream paper", stream="paper"),
    Case(
        "parameters per market",
        mix={"noise": "rest", "momentum": Spread(0.0, 0.3), "maker": 0.15},
        parameters={
            "max_qty": Spread(1, 8),
            "noise_spread": Spread(1, 6),
            "market_order_prob": Spread(0.05, 0.20),
            "maker_half_spread": Spread(1, 3),
            "open_price": Spread(40, 90),
        },
    ),
    Case("price and volume recorded", record=("last", "volume")),
    Case(
        "following window",
        window="following",
        mix={"noise": "rest", "momentum": 0.40, "maker": 0.15},
    ),
)
