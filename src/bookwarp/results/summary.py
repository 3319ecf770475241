"""A run in a few numbers."""

from typing import TYPE_CHECKING, Any, final

import numpy as np

if TYPE_CHECKING:
    from bookwarp.results.run import Run

# Where the name is not what a reader wants to see.
_LABELS = {"elapsed_s": "elapsed", "agent_events_per_s": "agent events per second"}
_UNITS = {
    "elapsed_s": "s",
    "mean_last_price": "tick",
    "std_last_price": "tick",
    "mean_volume": "lot",
}


@final
class Summary(dict[str, Any]):
    """Numbers of a run by name; JSON takes it as it is, and `print` shows a table.

    `seed` is an integer, or a list with one for each market. Means and the standard deviation
    (the population's) are over the markets, after the last step.
    """

    def lines(self) -> list[tuple[str, str]]:
        """Return (name, value with its unit) of every number, as text to be read."""
        return [
            (_LABELS.get(name, name.replace("_", " ")), _text(name, value))
            for name, value in self.items()
        ]

    def __str__(self) -> str:
        lines = self.lines()
        width = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:{width}}  {value}" for name, value in lines)

    __repr__ = __str__


def summarise(run: "Run") -> Summary:
    """Return the summary of a run."""
    seed = run.seed
    return Summary(
        markets=run.markets,
        agents=run.agents,
        levels=run.levels,
        steps=run.steps,
        seed=seed.tolist() if isinstance(seed, np.ndarray) else seed,
        stream=run.stream,
        engine=run.engine,
        agent_events=run.agent_events,
        elapsed_s=run.elapsed_s,
        agent_events_per_s=run.agent_events_per_s,
        mean_last_price=float(run.last_price.mean()),
        std_last_price=float(run.last_price.std()),
        mean_volume=float(run.volume.mean()),
        mean_trades=float(run.trades.mean()),
        digest=run.digest(),
    )


def _text(name: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, list):
        return "one for each market"
    if isinstance(value, str):
        return value
    if name.startswith(("mean", "std")):
        shown = f"{value:,.4f}"
    elif name == "seed":
        shown = str(value)
    elif isinstance(value, float):
        shown = f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"
    else:
        shown = f"{value:,}"
    return f"{shown} {_UNITS[name]}" if name in _UNITS else shown
