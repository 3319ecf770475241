"""What the commands print on stdout: pairs of a name and a value, or JSON."""

import json
import math
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text


def print_facts(facts: Mapping[str, str]) -> None:
    """Print one line for each fact, names in a column of their own.

    No line is broken: a digest or a path can be copied whole, from a terminal and from a pipe.
    """
    console = Console(highlight=False)
    width = max(map(len, facts))
    for name, value in facts.items():
        line = Text.assemble((f"{name:{width}}", "bold"), "  ", value)
        console.print(line, soft_wrap=True)


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object on one line; what is not finite becomes null, as JSON has no NaN."""
    print(json.dumps(_finite(content), allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
