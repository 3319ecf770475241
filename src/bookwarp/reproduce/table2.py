"""Table II of the KineticSim paper: mean clearing price and volume of a market."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.progress import Progress
from bookwarp.reproduce.files import make_folder, provenance, write_json
from bookwarp.reproduce.published import (
    END_OF_RUN,
    END_OF_RUN_STEPS,
    PAPER,
    TABLE2,
    TABLE2_MARKETS,
    EndOfRun,
    equals_published,
)
from bookwarp.simulation import Simulation
from bookwarp.spec.agents import draw_agent_types

AGENTS = 256
LEVELS = 128
SEED = 0
FILES = ("table2.json",)


@dataclass(frozen=True, eq=False)
class Table2:
    """What `reproduce` found, beside what is published."""

    markets: int
    steps: int
    mean_last_price: float
    std_last_price: float
    mean_volume: float
    mean_trades: float
    digest: str
    elapsed_s: float
    provenance: dict[str, Any]

    @property
    def published(self) -> EndOfRun | None:
        """The published engine's own means for this many markets and steps, if there are any."""
        if self.steps != END_OF_RUN_STEPS:
            return None
        found = [each for each in END_OF_RUN if (each.markets, each.agents) == (self.markets, 256)]
        return found[0] if found else None

    @property
    def agrees(self) -> bool | None:
        """Whether price and volume equal the published digits, all of them; None without any."""
        if self.published is None:
            return None
        return equals_published(
            self.mean_last_price, self.published.mean_last_price
        ) and equals_published(self.mean_volume, self.published.mean_volume)

    def rows(self) -> list[dict[str, Any]]:
        """Return the lines of the table: source, back end, markets, price, volume.

        The paper's lines are those of its Table II, which is for 4096 markets.
        """
        lines: list[tuple[str, str, int, float, float]] = [
            (f"{PAPER}, Table II", backend, TABLE2_MARKETS, price, volume)
            for backend, price, volume in TABLE2
        ]
        if self.published is not None:
            given = self.published
            price, volume = given.mean_last_price, given.mean_volume
            lines.append(("published results", "KineticSim", self.markets, price, volume))
        own = f"bookwarp {self.provenance['engine']}"
        lines.append(("this run", own, self.markets, self.mean_last_price, self.mean_volume))
        names = ("source", "backend", "markets", "mean_last_price", "mean_volume")
        return [dict(zip(names, line, strict=True)) for line in lines]

    def verdict(self) -> str:
        """Return in one sentence whether this run agrees with what is published."""
        if self.agrees is None:
            backend, price, volume = TABLE2[-1]
            return (
                f"nothing is published for {self.markets} markets and {self.steps} steps; against "
                f"{backend} in Table II the price is {self.mean_last_price / price - 1:+.2%}, "
                f"the volume {self.mean_volume / volume - 1:+.2%}"
            )
        if self.agrees:
            return f"agrees with the published results of {self.markets} markets in every digit"
        return f"DIFFERS from the published results of {self.markets} markets"

    def table(self) -> str:
        """Return the lines and the verdict as plain text."""
        heads = ("", "back end", "markets", "clearing price (tick)", "volume a market (lot)")
        body = [heads] + [_cells(row) for row in self.rows()]
        widths = [max(len(line[column]) for line in body) for column in range(len(heads))]
        lines = ["  ".join(_align(line, widths)).rstrip() for line in body]
        return "\n".join([*lines, "", self.verdict()])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        own = {name: value for name, value in asdict(self).items() if name != "provenance"}
        return own | {
            "agents": AGENTS,
            "levels": LEVELS,
            "seed": SEED,
            "stream": "paper",
            "agrees": self.agrees,
            "rows": self.rows(),
            "provenance": dict(self.provenance),
        }

    def save(self, folder: str | Path) -> list[Path]:
        """Write table2.json into `folder` and return its path.

        Raises:
            StoreError: it exists already, or cannot be written.
        """
        path = make_folder(folder, FILES) / FILES[0]
        write_json(path, self.to_dict())
        return [path]


def reproduce(
    *,
    markets: int = TABLE2_MARKETS,
    steps: int = END_OF_RUN_STEPS,
    engine: str = "auto",
    threads: int | None = None,
    progress: Progress = None,
) -> Table2:
    """Run the ensemble of Table II: 256 agents of drawn types, stream "paper", seed 0.

    Args:
        markets: 4096 in the paper; results are also published for 64, 256, 1024 and 16384.
        steps: 500 in the paper.
        engine, threads, progress: as for `bookwarp.simulate`.

    Raises:
        ParameterError: a parameter is outside its domain, before any work.
    """
    simulation = _simulation(markets, steps, engine, threads)
    simulation.step(steps, progress)
    state = simulation.state()
    return Table2(
        markets=markets,
        steps=steps,
        mean_last_price=float(state.last.mean()),
        std_last_price=float(state.last.astype(np.float32).std()),
        mean_volume=float(state.volume.mean()),
        mean_trades=float(state.trades.mean()),
        digest=state.digest(),
        elapsed_s=simulation.elapsed_s,
        provenance=provenance(simulation),
    )


def _simulation(markets: int, steps: int, engine: str, threads: int | None) -> Simulation:
    common: dict[str, Any] = {
        "agents": AGENTS,
        "levels": LEVELS,
        "steps": steps,
        "seed": SEED,
        "stream": "paper",
        "engine": engine,
        "threads": threads,
        "record": (),
    }
    # What is wrong or does not fit in memory is refused here, before the types are drawn.
    Simulation(markets, **common)
    types = draw_agent_types(markets, AGENTS, seed=SEED)
    return Simulation(markets, **common, agent_types=types)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["source"],
        row["backend"],
        str(row["markets"]),
        str(row["mean_last_price"]),
        str(row["mean_volume"]),
    )


def _align(line: tuple[str, ...], widths: list[int]) -> list[str]:
    text, numbers = line[:2], line[2:]
    padded = [cell.ljust(width) for cell, width in zip(text, widths[:2], strict=True)]
    return padded + [c.rjust(w) for c, w in zip(numbers, widths[2:], strict=True)]
