"""What to measure of a run, where its rows are: stylised facts, volume, spread, or a function."""

from bookwarp.measures.combining import all_of
from bookwarp.measures.custom import custom
from bookwarp.measures.decay import decay_exponent
from bookwarp.measures.facts import FactMeasure
from bookwarp.measures.named import (
    clustering,
    memory,
    named,
    prices,
    returns,
    spread,
    stylised_facts,
    tails,
    volume,
)
from bookwarp.measures.protocol import Measure, Output
from bookwarp.measures.replicas import over_replicas

__all__ = [
    "FactMeasure",
    "Measure",
    "Output",
    "all_of",
    "clustering",
    "custom",
    "decay_exponent",
    "memory",
    "named",
    "over_replicas",
    "prices",
    "returns",
    "spread",
    "stylised_facts",
    "tails",
    "volume",
]
