"""What kind of market is it? Momentum agents against makers, and against those who know a value.

    python examples/studies/phase_diagram.py

The repository of the KineticSim paper has such a diagram: volatility and kurtosis by the shares of
agents, on its fixed grid. Here it is drawn on that grid and in a window that follows the price.
"""

import numpy as np
from output import Found, cells_of, picture_of, run_study

import bookwarp as bw

MAKER = 0.15
PUBLISHED = {
    "maker": {
        (0.0, 0.05): (0.9513, 3.467),
        (0.2, 0.05): (1.9740, 2.469),
        (0.4, 0.05): (12.808, 0.605),
        (0.7, 0.05): (21.324, 21.71),
        (0.0, 0.30): (0.9473, 2.093),
        (0.2, 0.30): (0.9796, 1.794),
        (0.4, 0.30): (6.6241, 0.387),
        (0.7, 0.30): (1.0792, -0.953),
    },
    "fundamental": {
        (0.0, 0.05): (0.2144, 64.17),
        (0.2, 0.05): (0.5411, 17.80),
        (0.4, 0.05): (16.685, 4.489),
        (0.7, 0.05): (21.532, 4.966),
        (0.0, 0.15): (0.0510, 217.4),
        (0.2, 0.15): (0.6131, 19.64),
        (0.4, 0.15): (13.871, -0.319),
        (0.7, 0.15): (5.5893, 24.34),
    },
}
"""benchmarks/phase_diagram.csv there: (momentum, second share) -> volatility, kurtosis; means over
1024 markets whose agents were drawn at random, so that the shares hold on average only."""
AXES = {"maker": {}, "fundamental": {"maker": MAKER}}
"""The second axis of each diagram, and the shares that are the same everywhere in it."""
NAMES = ("price_std", "excess_kurtosis")


def main(full: bool) -> Found:
    """Sweep both diagrams on both windows."""
    size = {"agents": 256, "steps": 1000} if full else {"agents": 32, "steps": 100}
    replicas = 128 if full else 3
    momentum = np.round(np.arange(15) * 0.05, 2)
    other = np.round(np.arange(15) * 0.025, 3)
    if not full:
        momentum, other = momentum[[0, 4, 8, 14]], other[[0, 2, 6, 12]]
    found = Found(facts={"replicas": replicas, **size, "digests": []})
    for name, fixed in AXES.items():
        for window in ("fixed", "following"):
            varied = {"momentum": momentum, name: other}
            design = bw.grid(**varied, noise="rest", window=window, replicas=replicas, **fixed)
            measure = bw.measures.all_of(bw.measures.prices, bw.measures.returns)
            data = bw.sweep(design, measure=measure, seed=42, infeasible="nan", **size)
            found.facts["digests"].append(data.digest)
            shown = NAMES if window == "fixed" else NAMES[:1]
            report = bw.report(data, measures=shown)
            for short, figure in zip(shown, report.figures, strict=False):
                found.pictures[f"{name}_{window}_{short}"] = picture_of(report, figure.name)
            found.tables[f"{name} {window}"] = table_of(data, name)
            if window == "fixed":
                found.tables[f"{name} published"] = table_beside(data, name)
    return found


def table_of(data, name: str) -> list[list[str]]:
    """Return the standard deviation of the price at five values along each axis."""
    means = data.price_std.mean("replica")
    rows = np.unique(np.linspace(0, data.sizes["momentum"] - 1, 8).round().astype(int))
    columns = np.unique(np.linspace(0, data.sizes[name] - 1, 5).round().astype(int))
    lines = [["momentum", *(f"{name} {data[name].values[each]:g}" for each in columns)]]
    for row in rows:
        values = means.values[row, columns]
        cells = ("cannot run" if np.isnan(each) else f"{each:.2f}" for each in values)
        lines.append([f"{data.momentum.values[row]:g}", *cells])
    return lines


def table_beside(data, name: str) -> list[list[str]]:
    """Return what is published beside what is found, on the fixed grid."""
    means = bw.measures.over_replicas(data.sel(horizon=1))
    heads = ["momentum", name, "volatility, published", "here", "kurtosis, published", "here"]
    lines = [heads]
    for (momentum, share), (volatility, kurtosis) in PUBLISHED[name].items():
        here = means.sel({"momentum": momentum, name: share}, method="nearest")
        ours = cells_of(here, NAMES, ())
        published = (f"{volatility:.2f}", f"{kurtosis:.2f}")
        lines.append([f"{momentum:g}", f"{share:g}", published[0], ours[0], published[1], ours[1]])
    return lines


if __name__ == "__main__":
    run_study("phase", __doc__.partition("\n")[0], main)
