"""Facts that an engine makes of rows made up for a test."""

import numpy as np

from bookwarp.engines.measure_protocol import row_sums
from bookwarp.measures.making import write_facts
from bookwarp.spec.measure_facts import fact_shapes

UNWRITTEN = 7.5e300
"""What stands in memory for facts before any are written."""


def allocate_facts(groups, markets):
    """Return memory for the facts of some groups, float64 [market, ...] by name."""
    shapes = fact_shapes(groups)
    return {name: np.full((markets, *shape), UNWRITTEN) for name, shape in shapes.items()}


def make_facts_of(rows, measure, engine="cpu"):
    """Return the sums of rows and the facts that a measure makes of them, [..., market] by name."""
    source = row_sums(engine, rows, measure.blocks)
    sums = source.sums(0, source.markets)

    def read_rows(markets):
        return {name: array[:, markets] for name, array in rows.items()}

    groups = tuple(group.name for group in measure.groups)
    found = allocate_facts(groups, source.markets)
    count = len(rows["last"])
    write_facts(engine, measure.groups, sums, count, measure.every, read_rows, found)
    facts = {
        name: np.ascontiguousarray(np.moveaxis(found[name], 0, -1))
        for name in measure.outputs(count * measure.every)
    }
    return sums, facts
