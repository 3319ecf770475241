"""The table of what several GPUs bring; a row is one line of benchmarks/rows."""

from collections.abc import Iterable
from typing import Any

from markdown_table import markdown

Row = dict[str, Any]


def scaling(rows: Iterable[Row]) -> str:
    """Return rates on one GPU and on several, strong and weak."""
    heads = (
        "ensemble",
        "scaling",
        "GPUs",
        "markets",
        "agents",
        "10^9 agent events/s",
        "times one GPU",
    )
    heads += ("spread", "efficiency")
    body = []
    for row in rows:
        if row["kind"] == "scaling":
            times = row["times_faster"]
            line = [row["of"], row["scaling"], f"{row['devices']} x {row['gpus'][0]}"]
            line += [str(row["markets"]), str(row["agents"])]
            line += [f"{row['agent_events_per_s']['median'] / 1e9:.4g}", f"{times['median']:.2f}"]
            line += [f"{times['min']:.2f} .. {times['max']:.2f}"]
            body.append([*line, f"{100 * row['efficiency']['median']:.0f} %"])
    return markdown(heads, body, right=(3, 4, 5, 6, 8)) if body else "Not measured yet."
