"""The measures by name."""

from collections.abc import Iterable

from bookwarp.measures.book_facts import SPREAD
from bookwarp.measures.cluster_facts import CLUSTERING
from bookwarp.measures.facts import FactMeasure
from bookwarp.measures.memory_facts import MEMORY
from bookwarp.measures.price_facts import PRICES
from bookwarp.measures.return_facts import RETURNS
from bookwarp.measures.tail_facts import TAILS
from bookwarp.measures.volume_facts import VOLUME
from bookwarp.spec.errors import ParameterError, unknown_name

_GROUPS = {
    group.name: group for group in (PRICES, RETURNS, TAILS, MEMORY, CLUSTERING, VOLUME, SPREAD)
}
_ALL = "stylised_facts"

prices = FactMeasure((PRICES,))
"""Moments and range of the price, its largest fall and rise."""
returns = FactMeasure((RETURNS,))
"""Moments of the returns over the horizons 1, 2, 5, 10, 20 and 50."""
tails = FactMeasure((TAILS,))
"""Hill's estimate of the tail of absolute returns."""
memory = FactMeasure((MEMORY,))
"""Autocorrelations of returns and absolute returns, and the leverage effect, at lags 1 to 50."""
clustering = FactMeasure((CLUSTERING,))
"""Volatility in windows of 10 returns: bursts, conditional tails, and one time scale on another."""
volume = FactMeasure((VOLUME,))
"""The volume, and its correlation with volatility."""
spread = FactMeasure((SPREAD,))
"""Spread, depth, and how often a side of the book is empty."""
stylised_facts = FactMeasure(tuple(_GROUPS.values()))
"""All of them."""


def named(names: str | Iterable[str], every: int = 1) -> FactMeasure:
    """Return the measure of one or several names, as a configuration file has them.

    Args:
        names: prices, returns, tails, memory, clustering, volume, spread or stylised_facts.
        every: steps between two rows.

    Raises:
        ParameterError: there is no measure of a name, or no name.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    if not wanted:
        raise ParameterError(f"no measure is named: choose of {', '.join((*_GROUPS, _ALL))}")
    groups = []
    for name in wanted:
        if name not in _GROUPS and name != _ALL:
            raise ParameterError(unknown_name("measure", name, (*_GROUPS, _ALL)))
        groups += list(_GROUPS.values()) if name == _ALL else [_GROUPS[name]]
    return FactMeasure(tuple(dict.fromkeys(groups)), every)
