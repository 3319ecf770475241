"""Facts of the sums of some markets, by compiled kernels, one for every group.

Each owns the facts and flags of the markets that it is given, and its scratch memory. One kernel
for all groups would take twice as long to compile.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bookwarp.engines.cpu.compile import entry_point, source_digest
from bookwarp.engines.cpu.measures.cluster_facts import make_cluster_facts
from bookwarp.engines.cpu.measures.exact_sums import (
    find_inexact_book,
    find_inexact_lots,
    find_inexact_prices,
    find_inexact_returns,
    find_inexact_windows,
)
from bookwarp.engines.cpu.measures.layout import (
    allocate_lag_scratch,
    lay_out_group,
)
from bookwarp.engines.cpu.measures.market_facts import (
    make_book_facts,
    make_price_facts,
    make_return_facts,
    make_tail_facts,
    make_volume_facts,
)
from bookwarp.engines.cpu.measures.memory_facts import make_memory_facts
from bookwarp.spec.exact_sums import exact_limits


def _build(digest: str) -> dict[str, Any]:
    # Each takes: sums and facts of the group, rows, steps between them, limits, memory to work in,
    # and the bool [market] that says which facts are to be made anew. They are written out because
    # Numba finds code on disk by the function and its closure: the digest there is the same in
    # every process, functions that it has compiled are not.

    @entry_point
    def make_prices(sums, rows, every, limits, work, facts, again):  # type: ignore[no-untyped-def]
        _ = digest
        find_inexact_prices(sums, limits, again)
        make_price_facts(sums, rows, facts)

    @entry_point
    def make_returns(sums, rows, every, limits, work, facts, again):  # type: ignore[no-untyped-def]
        _ = digest
        find_inexact_returns(sums, limits, again)
        make_return_facts(sums, rows, facts)

    @entry_point
    def make_tails(sums, rows, every, limits, work, facts, again):  # type: ignore[no-untyped-def]
        _ = digest
        make_tail_facts(sums, rows, facts)

    @entry_point
    def make_memory(sums, rows, every, limits, work, facts, again):  # type: ignore[no-untyped-def]
        _ = digest
        find_inexact_returns(sums, limits, again)
        make_memory_facts(sums, rows, work, facts)

    @entry_point
    def make_clustering(sums, rows, every, limits, work, facts, again):  # type: ignore[no-untyped-def]
        _ = digest
        find_inexact_windows(sums, limits, again)
        make_cluster_facts(sums, rows, facts)

    @entry_point
    def make_volume(sums, rows, every, limits, work, facts, again):  # type: ignore[no-untyped-def]
        _ = digest
        find_inexact_lots(sums, limits, again)
        make_volume_facts(sums, rows, every, facts)

    @entry_point
    def make_spread(sums, rows, every, limits, work, facts, again):  # type: ignore[no-untyped-def]
        _ = digest
        find_inexact_book(sums, limits, again)
        make_book_facts(sums, rows, facts)

    return {
        "prices": make_prices,
        "returns": make_returns,
        "tails": make_tails,
        "memory": make_memory,
        "clustering": make_clustering,
        "volume": make_volume,
        "spread": make_spread,
    }


KERNELS = _build(source_digest())
"""By group: each is compiled when it is first used."""


def make_facts(
    sums: Mapping[str, np.ndarray],
    groups: tuple[str, ...],
    rows: int,
    every: int,
    facts: Mapping[str, np.ndarray],
) -> np.ndarray:
    """Implements `bookwarp.engines.measure_protocol.compiled_facts`."""
    again = np.zeros((len(groups), next(iter(sums.values())).shape[-1]), bool)
    limits, work = exact_limits(rows), allocate_lag_scratch()
    for group, own in zip(groups, again, strict=True):
        given, made = lay_out_group(group, sums, facts)
        KERNELS[group](given, rows, every, limits, work, made, own)
    return again
