"""Tables of docs/reproduce.md, from what `bookwarp reproduce` wrote into docs/reproduced."""

import json
from pathlib import Path
from typing import Any

from markdown_table import markdown

from bookwarp.reproduce.published import SWEEP, SWEEP_SHARES

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reproduced"
_LAGS = (1, 2, 3, 4, 5, 10, 20)
_WORDS = {
    "price_std": ("standard deviation of the price, momentum share", 2),
    "volume_per_step": ("volume a step, momentum share", 1),
    "acf_returns": ("autocorrelation of returns, lag", 3),
    "acf_abs_returns": ("autocorrelation of absolute returns, lag", 3),
    "excess_kurtosis": ("highest excess kurtosis of returns, here at momentum share", 2),
}

Row = dict[str, Any]


def read(folder: str, name: str) -> Row | None:
    """Return what a reproduction wrote, or None if it is not there."""
    path = FOLDER / folder / name
    if not path.exists():
        return None
    found: Row = json.loads(path.read_text(encoding="utf-8"))
    return found


def table2() -> str:
    """Return Table II of the paper beside our own run."""
    found = read("table2", "table2.json") or {"rows": []}
    heads = ("source", "back end", "markets", "clearing price (tick)", "volume a market (lot)")
    names = ("source", "backend", "markets", "mean_last_price", "mean_volume")
    body = [[str(line[name]) for name in names] for line in found["rows"]]
    return markdown(heads, body, right=(2, 3, 4))


def figure7() -> str:
    """Return volatility, volume and prices of the sweep, both windows side by side."""
    heads = ["momentum share", "std, fixed", "std, following", "volume, fixed", "following"]
    heads += ["prices, fixed", "following", "at the edge, fixed", "drift, following"]
    heads += ["std about a line, following"]
    body = []
    for fixed, following in _pairs("figure7"):
        body.append(
            [
                f"{fixed['momentum_share']:.2f}",
                *(_mean(row, "price_std", 2) for row in (fixed, following)),
                *(_mean(row, "volume_per_step", 1) for row in (fixed, following)),
                *(f"{row['price_low']} .. {row['price_high']}" for row in (fixed, following)),
                f"{fixed['edge_share']:.0%}",
                f"{following['price_drift']:.2f}",
                f"{following['price_std_about_line']:.2f}",
            ]
        )
    return markdown(heads, body, right=range(10))


def figure7_tails() -> str:
    """Return the excess kurtosis: mean and median, both windows, and with exact shares."""
    heads = ["momentum share", "published sweep", "fixed: mean", "median", "following: mean"]
    heads += ["median", "exact shares, fixed: mean", "median"]
    sweep = dict(zip(SWEEP_SHARES.tolist(), SWEEP["excess_kurtosis"].tolist(), strict=True))
    body = []
    drawn, exact = _pairs("figure7"), _pairs("figure7-default")
    for (fixed, following), (exact_fixed, _) in zip(drawn, exact, strict=True):
        line = [f"{fixed['momentum_share']:.2f}", f"{sweep[fixed['momentum_share']]:.2f}"]
        for row in (fixed, following, exact_fixed):
            line += [_mean(row, "excess_kurtosis", 2), f"{row['excess_kurtosis_median']:.2f}"]
        body.append(line)
    return markdown(heads, body, right=range(8))


def figure7_memory() -> str:
    """Return the autocorrelations at a few lags."""
    found = read("figure7", "figure7.json") or {"memory": []}
    body = [
        [str(row["lag"]), _mean(row, "acf_returns", 3), _mean(row, "acf_abs_returns", 3)]
        for row in found["memory"]
        if row["window"] == "fixed" and row["lag"] in _LAGS
    ]
    return markdown(("lag", "returns", "absolute returns"), body, right=range(3))


def figure7_paper() -> str:
    """Return what the paper states beside what is found on the fixed grid."""
    found = read("figure7", "figure7.json") or {"comparison": []}
    body = []
    for line in found["comparison"]:
        words, digits = _WORDS[line["statistic"]]
        here = f"{line['found']:.{digits}f} ± {line['half_width']:.{digits}f}"
        body.append([f"{words} {line['at']:g}", str(line["published"]), here])
    return markdown(("statistic", "paper", "bookwarp"), body, right=(1, 2))


def _pairs(folder: str) -> list[tuple[Row, Row]]:
    """Return the rows of both windows, share by share."""
    found = read(folder, "figure7.json") or {"rows": []}
    half = len(found["rows"]) // 2
    return list(zip(found["rows"][:half], found["rows"][half:], strict=True))


def _mean(row: Row, name: str, digits: int) -> str:
    return f"{row[name]:.{digits}f} ± {row[f'{name}_half_width']:.{digits}f}"
