"""What does it cost to buy a block? Schedules and clearing intervals, over 10 000 markets each.

    python examples/studies/block_trade.py

One agent more buys 2000 lots over 200 steps. It is measured what that cost more than the mid at
its start (implementation shortfall), and how the price differs from the same markets without it,
which have the same random numbers.
"""

import io

import numpy as np
import xarray as xr
from output import Found, cells_of, run_study

import bookwarp as bw
from bookwarp.analysis.execution import shortfall_parts

SCHEDULES = {
    "twap": "equal parts",
    "profile": "U-shaped profile, 3 1 1 1 3",
    "share": "a fifth of the volume",
}
INTERVALS = (1, 5, 10, 50)
QTY, START, HORIZON, AFTER = 2000, 100, 200, 100
VALUE = 64
MARKET = {
    "agents": 64,
    "levels": 128,
    "open_price": VALUE,
    "window": "following",
    "momentum": 0.2,
    "fundamental": 0.1,
    "maker": 0.15,
    "noise": "rest",
    "steps": START + HORIZON + AFTER,
    "parent_start": START,
    "parent_horizon": HORIZON,
    "volume_profile": [3, 1, 1, 1, 3],
    "volume_share": 0.2,
}
DIMS = ("schedule", "clearing_interval", "replica")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


def mids(rows):
    """Return twice the mid after the last step of the block, and after the last of all."""
    bid, ask, last = rows["best_bid"], rows["best_ask"], rows["last"]
    quoted = (bid != bw.NO_PRICE) & (ask != bw.NO_PRICE)
    mid2 = np.where(quoted, np.where(quoted, bid, 0) + np.where(quoted, ask, 0), 2 * last)
    return {"mid2_at_end": mid2[-2], "mid2_later": mid2[-1]}


# A row every 100 steps is enough: the second last one is of the last step of the block.
MIDS = bw.measures.custom(
    mids,
    series=("best_bid", "best_ask", "last"),
    outputs=("mid2_at_end", "mid2_later"),
    every=AFTER,
)


def main(full: bool) -> Found:
    """Sweep schedules by intervals, and the same markets without a block."""
    replicas = 10_000 if full else 40
    design = bw.grid(schedule=list(SCHEDULES), clearing_interval=INTERVALS, replicas=replicas)
    data = bw.sweep(design, measure=MIDS, parent_qty=QTY, **MARKET)
    without = bw.sweep(
        bw.grid(clearing_interval=INTERVALS, replicas=replicas), measure=MIDS, **MARKET
    )
    cost = shortfall(data)
    found = Found(facts={"replicas": replicas, "digests": [data.digest, without.digest]})
    found.tables["cost"] = table_of(data, cost)
    found.tables["impact"] = table_of_impact(data, without)
    found.pictures["shortfall"] = draw(cost)
    return found


def shortfall(data) -> np.ndarray:
    """Return the implementation shortfall a lot, [schedule, interval, replica], tick."""
    qty = np.int64(QTY)
    final = data.mid2_at_end.values.astype(np.int64) - 2 * VALUE
    parts = shortfall_parts(
        np.int64(1),
        qty,
        data.execution_filled.values,
        data.execution_cost.values,
        data.arrival_mid2.values,
        final,
    )
    return sum(parts) / 2 / QTY


def table_of(data, cost: np.ndarray) -> list[list[str]]:
    """Return a line for each schedule and interval."""
    heads = ["schedule", "steps from auction to auction", "shortfall (tick a lot)"]
    lines = [[*heads, "standard deviation", "5 %", "median", "95 %", "filled"]]
    means = bw.measures.over_replicas(xr.Dataset({"cost": (DIMS, cost)}))
    filled = data.execution_filled.values.mean(axis=-1) / QTY
    for place, names in places():
        spread = [means.cost_std.values[place], *np.percentile(cost[place], [5, 50, 95])]
        numbers = (f"{each:.2f}" for each in spread)
        mean = cells_of(means, ["cost"], place, digits=3)
        lines.append([*names, *mean, *numbers, f"{filled[place]:.1%}"])
    return lines


def table_of_impact(data, without) -> list[list[str]]:
    """Return how far the block moved the mid, market by market, at its end and later."""
    names = ("mid2_at_end", "mid2_later")
    moved = {name: (DIMS, (data[name] - without[name]).values / 2) for name in names}
    means = bw.measures.over_replicas(xr.Dataset(moved))
    heads = ["schedule", "steps from auction to auction"]
    lines = [[*heads, "moved at its end (tick)", f"{AFTER} steps later"]]
    lines += [[*said, *cells_of(means, names, place)] for place, said in places()]
    return lines


def places():
    """Yield the place of every setting, and what it is called."""
    for row, schedule in enumerate(SCHEDULES):
        for column, interval in enumerate(INTERVALS):
            yield (row, column), (schedule, str(interval))


def draw(cost: np.ndarray) -> bytes:
    """Draw the share of markets whose shortfall is at most so much, a panel for each schedule."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    axes = figure.subplots(1, len(SCHEDULES), sharey=True)
    share = np.arange(1, cost.shape[-1] + 1) / cost.shape[-1]
    for axis, values, (schedule, said) in zip(axes, cost, SCHEDULES.items(), strict=True):
        for each, interval, colour in zip(values, INTERVALS, COLOURS, strict=True):
            axis.step(np.sort(each), share, color=colour, lw=1.3, label=f"every {interval}")
        axis.set_title(f"{schedule}: {said}", fontsize=10, loc="left")
        axis.set_xlabel("implementation shortfall [tick a lot]")
        axis.set_xlim(-1.2, 4.2)
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("share of the markets")
    axes[-1].legend(title="cleared", frameon=False, fontsize=9, loc="lower right")
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=120)
    return out.getvalue()


if __name__ == "__main__":
    run_study("block", __doc__.partition("\n")[0], main)
