"""How often should a market clear? From an auction in every step to one every 50 steps.

    python examples/studies/clearing_interval.py

All agents send as often as before; what they send waits for the next auction. Fundamental agents
know the value, which is the price at which markets open. Two questions of price discovery: how far
is the price from the value; and when a block has pushed it away, how much of that is still there
200 steps after the block was done?
"""

import numpy as np
import xarray as xr
from output import Found, cells_of, picture_of, run_study

import bookwarp as bw

INTERVALS = (1, 2, 5, 10, 20, 50)
VALUE = 64
MARKET = {"agents": 64, "levels": 128, "open_price": VALUE, "window": "following", "maker": 0.15}
HORIZON = 50
"""Returns over so many steps span at least one auction at every interval."""
BLOCK = {"parent_start": 200, "parent_horizon": 50}
BLOCK_QTY = 5000
AFTER = 200
"""Steps after the end of the block."""
END = BLOCK["parent_start"] + BLOCK["parent_horizon"]


def distance_from_value(rows):
    """Return the mean over the steps of how far the last price is from the value."""
    return {"distance": np.abs(rows["last"] - VALUE).mean(axis=0)}


DISTANCE = bw.measures.custom(
    distance_from_value,
    series="last",
    outputs={"distance": bw.measures.Output("tick", "mean distance of the last price from value")},
)
MEASURE = bw.measures.all_of(bw.measures.returns, bw.measures.volume, bw.measures.spread, DISTANCE)


def main(full: bool) -> Found:
    """Sweep the interval: in calm and restless markets, with and without those who know a value."""
    replicas, steps = (256, 1000) if full else (4, 200)
    design = bw.grid(
        momentum=[0.1, 0.3],
        fundamental=[0.0, 0.1],
        clearing_interval=INTERVALS,
        noise="rest",
        replicas=replicas,
    )
    data = bw.sweep(design, steps=steps, measure=MEASURE, **MARKET)
    data["volatility"] = np.sqrt(data.return_variance.sel(horizon=HORIZON))
    data["volatility"].attrs = {
        "units": "tick",
        "long_name": f"Standard deviation of returns over {HORIZON} steps",
    }
    shock = sweep_shock(8 if not full else 256)
    found = Found(
        facts={"replicas": replicas, "steps": steps, "digests": [data.digest, shock.digest]}
    )
    for momentum in data.momentum.values.tolist():
        for fundamental in data.fundamental.values.tolist():
            name = f"momentum {momentum}, fundamental {fundamental}"
            at = {"momentum": momentum, "fundamental": fundamental}
            found.tables[name] = table_of(bw.measures.over_replicas(data.sel(at)))
    found.tables["block"] = table_of_shock(shock)
    names = ["volatility", "mean_spread", "distance"]
    report = bw.report(
        data, measures=names, axes=["clearing_interval", "fundamental"], at={"momentum": 0.3}
    )
    found.pictures = {name: picture_of(report, f"curve_{name}") for name in names}
    return found


def table_of(means) -> list[list[str]]:
    """Return a line for each interval."""
    shown = {
        "volatility": "volatility over 50 steps (tick)",
        "mean_spread": "spread (tick)",
        "volume_per_step": "volume a step (lot)",
        "distance": "distance from value (tick)",
    }
    lines = [["steps from auction to auction", *shown.values()]]
    for place, interval in enumerate(INTERVALS):
        lines.append([str(interval), *cells_of(means, shown, place)])
    return lines


def sweep_shock(replicas: int):
    """Return markets with a block and the same markets without, with the path of every price."""
    design = bw.grid(clearing_interval=INTERVALS, parent_qty=[0, BLOCK_QTY], replicas=replicas)
    mix = {"noise": "rest", "momentum": 0.2, "fundamental": 0.1}
    return bw.sweep(
        design, steps=END + AFTER, measure=DISTANCE, paths=replicas, **MARKET, **mix, **BLOCK
    )


def table_of_shock(data) -> list[list[str]]:
    """Return how far the block moved the price, market by market, when it ended and later."""
    shape = (len(INTERVALS), 2, data.sizes["replica"], data.sizes["path_step"])
    price = data.path_price.values.reshape(shape)
    moved = price[:, 1] - price[:, 0]
    dims = ("interval", "replica")
    steps = {"at_end": END - 1, "later": END + AFTER - 1}
    means = bw.measures.over_replicas(
        xr.Dataset({name: (dims, moved[..., step]) for name, step in steps.items()})
    )
    lines = [["steps from auction to auction", "moved at its end (tick)", f"{AFTER} steps later"]]
    for place, interval in enumerate(INTERVALS):
        lines.append([str(interval), *cells_of(means, steps, place)])
    return lines


if __name__ == "__main__":
    run_study("clearing", __doc__.partition("\n")[0], main)
