"""Which facts are to be made anew, as `bookwarp.spec.exact_sums` says of the sums of each group."""

from bookwarp.engines.cpu.compile import inlined


@inlined
def find_inexact_prices(sums, limits, again):  # type: ignore[no-untyped-def]
    """Say of every market whether a sum over its prices may not fit."""
    for m in range(len(again)):
        first = sums.price_first[m]
        reach = max(sums.price_high[m] - first, first - sums.price_low[m])
        again[m] = reach > limits.square


@inlined
def find_inexact_returns(sums, limits, again):  # type: ignore[no-untyped-def]
    """Say of every market whether returns over some horizon have fourth powers that may not fit."""
    for m in range(len(again)):
        again[m] = False
        for h in range(len(limits.returns)):
            again[m] |= sums.return_most[h, m] > limits.returns[h]


@inlined
def find_inexact_windows(sums, limits, again):  # type: ignore[no-untyped-def]
    """Say of every market whether a sum over its returns or windows may not fit."""
    find_inexact_returns(sums, limits, again)
    for m in range(len(again)):
        again[m] |= sums.return_most[0, m] > limits.window


@inlined
def find_inexact_lots(sums, limits, again):  # type: ignore[no-untyped-def]
    """Say of every market whether a sum over its returns or traded lots may not fit."""
    find_inexact_returns(sums, limits, again)
    for m in range(len(again)):
        again[m] |= max(sums.lots_most[m], sums.return_most[0, m]) > limits.square


@inlined
def find_inexact_book(sums, limits, again):  # type: ignore[no-untyped-def]
    """Say of every market whether a sum over its spreads or depths may not fit."""
    for m in range(len(again)):
        deep = max(sums.bid_lots_most[m], sums.ask_lots_most[m]) > limits.depth
        again[m] = deep | (sums.spread_most[m] > limits.square)
