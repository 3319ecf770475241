"""Figure 7 of the KineticSim paper by a sweep: prices, tails and volume as momentum agents grow.

    python examples/studies/figure7.py

The same markets as `bookwarp reproduce figure7 --stream default`, in one call for each window, and
so the same numbers: at full size they are compared with those of docs/reproduced.
"""

import json
from pathlib import Path

import numpy as np
from output import Found, cells_of, picture_of, run_study

import bookwarp as bw

SHARES = np.round(np.arange(15) * 0.05, 2)
NAMES = ("price_std", "excess_kurtosis", "volume_per_step")
REPRODUCED = Path(__file__).parents[2] / "docs/reproduced/figure7-default/figure7.json"


def main(full: bool) -> Found:
    """Sweep the share of momentum agents on both windows."""
    size = {"agents": 256, "steps": 1000} if full else {"agents": 32, "steps": 100}
    found = Found(facts={**size, "replicas": 64 if full else 4, "digests": []})
    for window in ("fixed", "following"):
        design = bw.grid(
            momentum=SHARES, maker=0.15, noise="rest", replicas=found.facts["replicas"]
        )
        data = bw.sweep(design, seed=42, levels=128, window=window, **size)
        found.facts["digests"].append(data.digest)
        found.tables[window] = table_of(data)
        if window == "fixed":
            report = bw.report(data, measures=NAMES)
            for short, figure in zip(NAMES, report.figures, strict=False):
                found.pictures[short] = picture_of(report, figure.name)
        if full:
            found.facts[f"difference_{window}"] = largest_difference(data, window)
    return found


def table_of(data) -> list[list[str]]:
    """Return a line for each share of momentum agents."""
    means = bw.measures.over_replicas(data.sel(horizon=1))
    lines = [["momentum share", *(name.replace("_", " ") for name in NAMES)]]
    for place, share in enumerate(SHARES.tolist()):
        lines.append([f"{share:.2f}", *cells_of(means, NAMES, place)])
    return lines


def largest_difference(data, window: str) -> float:
    """Return by how much a mean differs from the reproduction's at most, as a share of it."""
    rows = json.loads(REPRODUCED.read_text(encoding="utf-8"))["rows"]
    wanted = [row for row in rows if row["window"] == window]
    means = data.sel(horizon=1).mean("replica")
    found = np.array([means[name].values for name in NAMES])
    given = np.array([[row[name] for row in wanted] for name in NAMES])
    return float(np.abs(found / given - 1).max())


if __name__ == "__main__":
    run_study("figure7", __doc__.partition("\n")[0], main)
