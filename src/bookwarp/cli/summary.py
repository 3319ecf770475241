"""What a run is said to have been: a table for people, an object for programs."""

from typing import TYPE_CHECKING, Any

from bookwarp.cli.outputs import Outputs
from bookwarp.cli.tables import print_facts, print_json

if TYPE_CHECKING:
    from bookwarp.results.run import Run


def print_run(run: "Run", as_json: bool) -> None:
    """Print the summary of a run."""
    if as_json:
        print_json(run.summary())
    else:
        print_facts(describe_run(run))


def describe_run(run: "Run") -> dict[str, str]:
    """Return the summary of a run in words, a line for each thing."""
    found: dict[str, Any] = run.summary()
    seed = found["seed"]
    rate, price, spread = (
        found[name] for name in ("agent_events_per_s", "mean_last_price", "std_last_price")
    )
    speed = "" if rate is None else f" in {found['elapsed_s']:.3g} s: {rate / 1e6:,.4g} M a second"
    return {
        "markets": f"{run.markets:,} of {run.agents:,} agents, {run.levels:,} levels",
        "steps": f"{run.steps:,}",
        "seed": f"{'one a market' if isinstance(seed, list) else seed}, stream {run.stream}",
        "window": run.window,
        "engine": run.engine,
        "agent events": f"{found['agent_events']:,}{speed}",
        "last price": f"mean {price:,.4f}, std {spread:,.4f} tick",
        "volume": f"mean {found['mean_volume']:,.2f} lot a market",
        "trades": f"mean {found['mean_trades']:,.2f} auctions a market",
        "digest": found["digest"],
    }


def describe_next(outputs: Outputs) -> dict[str, str]:
    """Return what was written, and where to look next."""
    steps = {}
    if outputs.out is not None:
        steps["saved"] = str(outputs.out)
    if outputs.plot is not None:
        steps["drawn"] = str(outputs.plot)
    if not steps:
        steps["keep it"] = "bookwarp simulate --out run.zarr --plot run.png"
    return steps | {
        "options": "bookwarp simulate --help",
        "in Python": "import bookwarp as bw; run = bw.simulate(markets=1024)",
        "tutorial": "docs/tutorial.md, beside the source",
    }
