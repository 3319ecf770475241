"""What the sweep of Figure 7 found, as an xarray dataset and as a table in plain text."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.reproduce.figure7 import Figure7
from bookwarp.reproduce.figure7_sweep import (
    AGENTS,
    LAGS,
    LEVELS,
    MAKER_SHARE,
    MEMORY,
    SEED,
    SHARES,
    STANDARD_SHARE,
    STATISTICS,
    WINDOWS,
)
from bookwarp.reproduce.published import (
    FIGURE7_KURTOSIS_PEAK,
    FIGURE7_KURTOSIS_SHARES,
    FIGURE7_TEXT,
    PAPER,
    SWEEP_MARKETS,
    SWEEP_STEPS,
)

if TYPE_CHECKING:
    import xarray as xr

_PAIRS = ("std", "kurtosis", "volume", "prices")


def dataset(found: Figure7) -> "xr.Dataset":
    """Return every statistic of every market, dims (window, share | lag, market).

    What is measured on the fixed grid alone has no window dimension.
    """
    import xarray as xr

    variables = {}
    for name, (unit, meaning) in STATISTICS.items():
        held = [
            found.statistics[window][name] for window in WINDOWS if name in found.statistics[window]
        ]
        variables[name] = _variable(held, "share", unit, meaning)
    for name, (unit, meaning) in MEMORY.items():
        held = [found.memory[window][name] for window in WINDOWS]
        variables[name] = _variable(
            held, "lag", unit, f"{meaning}, momentum share {STANDARD_SHARE}"
        )
    made = xr.Dataset(
        variables,
        coords={
            "window": ("window", list(WINDOWS), {"long_name": "price window"}),
            "share": ("share", SHARES, {"units": "1", "long_name": "share of momentum agents"}),
            "lag": ("lag", np.array(LAGS), {"units": "step", "long_name": "lag"}),
            "market": ("market", np.arange(found.markets), {"long_name": "number of the market"}),
        },
        attrs={
            "title": f"Figure 7 of {PAPER}, computed again by bookwarp",
            "agents": AGENTS,
            "levels": LEVELS,
            "steps": found.steps,
            "seed": SEED,
            "stream": found.stream,
            "maker_share": MAKER_SHARE,
            "digests": json.dumps(found.digests),
        },
    )
    made.attrs |= found.provenance
    return made


def _variable(
    held: list[np.ndarray], dim: str, unit: str, meaning: str
) -> tuple[tuple[str, ...], np.ndarray, dict[str, str]]:
    attrs = {"units": unit, "long_name": meaning}
    if len(held) == 1:
        return (dim, "market"), held[0], attrs
    return ("window", dim, "market"), np.stack(held), attrs


def compare(found: Figure7) -> list[dict[str, Any]]:
    """Return one line per value that the paper states; see `Figure7.comparison`."""
    shares = {row["momentum_share"]: row for row in found.rows() if row["window"] == "fixed"}
    lags = {row["lag"]: row for row in found.memory_rows() if row["window"] == "fixed"}
    stated = [(name, at, value) for (name, at), value in FIGURE7_TEXT.items()]
    low, high = FIGURE7_KURTOSIS_SHARES
    highest = max(
        (share for share in shares if low <= share <= high),
        key=lambda share: float(shares[share]["excess_kurtosis"]),
    )
    stated.append(("excess_kurtosis", highest, FIGURE7_KURTOSIS_PEAK))
    lines = []
    for name, at, value in stated:
        row = lags[int(at)] if name in MEMORY else shares[at]
        width = row[f"{name}_half_width"]
        line = {"statistic": name, "at": at, "published": value, "found": row[name]}
        lines.append(line | {"half_width": width})
    return lines


def text_table(found: Figure7) -> str:
    """Return the statistics by share, both windows, then the paper's values, as plain text."""
    rows = found.rows()
    half = len(rows) // len(WINDOWS)
    heads = [word for name in _PAIRS for word in (f"{name} fixed", "following")]
    body = [["share", *heads, "at the edge"]]
    for fixed, following in zip(rows[:half], rows[half:], strict=True):
        pairs = []
        for name, digits in (("price_std", 2), ("excess_kurtosis", 2), ("volume_per_step", 1)):
            pairs += [f"{fixed[name]:.{digits}f}", f"{following[name]:.{digits}f}"]
        ranges = [f"{row['price_low']} .. {row['price_high']}" for row in (fixed, following)]
        edge = f"{fixed['edge_share']:.0%}"
        body.append([f"{fixed['momentum_share']:.2f}", *pairs, *ranges, edge])
    paper = [["fixed grid", "share or lag", "in the paper", "here", "95 % interval"]]
    for line in found.comparison():
        values = [f"{line['published']:g}", f"{line['found']:.3f}", f"± {line['half_width']:.3f}"]
        paper.append([line["statistic"], f"{line['at']:g}", *values])
    return "\n".join([*_aligned(body), "", *_aligned(paper), "", _verdict(found)])


def _verdict(found: Figure7) -> str:
    if found.agrees is None:
        return (
            f"with {SWEEP_MARKETS} markets, {SWEEP_STEPS} steps and stream paper, every digit can "
            f"be compared with the published sweep"
        )
    if found.agrees:
        return f"agrees with the published sweep of {SWEEP_MARKETS} markets a setting in 12 digits"
    return f"DIFFERS from the published sweep of {SWEEP_MARKETS} markets a setting"


def _aligned(body: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*body, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in body
    ]
