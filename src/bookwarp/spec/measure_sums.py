"""The integers that measures are made of: sums over the recorded rows of one market.

They are exact, and so none depends on the order of additions. An engine adds in 64 bits; where the
largest values that it met do not prove that a sum fits, the sum may be anything, and is not used
(`bookwarp.spec.exact_sums`). What is called a largest or a first value always fits.

With p_t the last price of row t = 0 .. T-1, the returns are r_t = p_(t+1) - p_t, t = 0 .. n-1,
with n = T - 1, and those over a horizon h are p_(t+h) - p_t, t = 0 .. T-h-1, so that they overlap.
Products at lag k are over t = 0 .. n-k-1. Windows are of `WINDOW` returns, one after the other
from t = 0; what does not fill the last one is left out of them.
"""

HORIZONS = (1, 2, 5, 10, 20, 50)
"""Rows over which returns are taken."""
LAGS = 50
"""Products are taken at the lags 1 .. 50, in rows."""
WINDOW = 10
"""Returns in a window of volatility."""
TAIL_SHARE = 20
"""The tail is the largest of each so many absolute returns: 5 % of them."""
LOG_BITS = 24
"""Binary digits after the point of a logarithm to base 2."""
LOG_UNIT = 0.6931471805599453 / 2**LOG_BITS
"""A unit of such a logarithm, to base e: ln 2 in its last place."""

# block of sums -> name -> (dimensions before the market, meaning)
SUMS: dict[str, dict[str, tuple[tuple[str, ...], str]]] = {
    "prices": {
        "price_first": ((), "p_0"),
        "price_low": ((), "least p_t"),
        "price_high": ((), "largest p_t"),
        "price_moved": ((), "sum of p_t - p_0"),
        "price_moved_square": ((), "sum of (p_t - p_0)**2"),
        "drawdown": ((), "largest fall from a price to a later one"),
        "drawup": ((), "largest rise from a price to a later one"),
    },
    "returns": {
        "return_sum": (("horizon",), "sum of returns over a horizon"),
        "return_square": (("horizon",), "sum of their squares"),
        "return_cube": (("horizon",), "sum of their third powers"),
        "return_fourth": (("horizon",), "sum of their fourth powers"),
        "return_most": (("horizon",), "largest absolute one"),
        "return_abs": ((), "sum of |r_t|"),
    },
    "memory": {
        "lag_product": (("lag",), "sum of r_t r_(t+k)"),
        "lag_abs_product": (("lag",), "sum of |r_t r_(t+k)|"),
        "lag_square_product": (("lag",), "sum of r_t r_(t+k)**2"),
        "head": (("lag",), "r_0, r_1, ...; 0 from r_n on"),
        "foot": (("lag",), "r_(n-1), r_(n-2), ...; 0 before r_0"),
    },
    "windows": {
        "net": ((), "sum of g_j, the sum of the returns of window j"),
        "net_abs": ((), "sum of |g_j|"),
        "net_square": ((), "sum of g_j**2"),
        "path": ((), "sum of f_j, the sum of the absolute returns of window j"),
        "path_square": ((), "sum of f_j**2"),
        "energy": ((), "sum of q_j, the sum of the squared returns of window j"),
        "energy_square": ((), "sum of q_j**2"),
        "net_energy": ((), "sum of g_j q_j"),
        "coarse_to_fine": ((), "sum of |g_j| f_(j+1)"),
        "fine_to_coarse": ((), "sum of f_j |g_(j+1)|"),
        "net_abs_first": ((), "|g| of the first window"),
        "net_abs_last": ((), "|g| of the last window"),
        "path_first": ((), "f of the first window"),
        "path_last": ((), "f of the last window"),
    },
    "tail": {
        "tail_start": ((), "u, the largest |r_t| but k, k = n // TAIL_SHARE"),
        "tail_log": ((), "sum over |r_t| > u of log2|r_t| - log2 u, in 2**-LOG_BITS"),
    },
    "volume": {
        "lots": ((), "sum of v_t, the lots traded after row t-1 and up to row t"),
        "lots_first": ((), "v_0"),
        "lots_square": ((), "sum of v_t**2"),
        "lots_most": ((), "largest v_t"),
        "lots_by_return": ((), "sum of v_(t+1) |r_t|"),
        "traded": ((), "rows with v_t > 0"),
    },
    "book": {
        "two_sided": ((), "rows with a best bid and a best ask"),
        "no_bid": ((), "rows without a best bid"),
        "no_ask": ((), "rows without a best ask"),
        "spread": ((), "sum of the spreads of two-sided rows"),
        "spread_square": ((), "sum of their squares"),
        "spread_most": ((), "largest of them; 0 if there is none"),
        "bid_lots": ((), "sum of the bid depths of all rows"),
        "ask_lots": ((), "sum of the ask depths of all rows"),
        "bid_lots_most": ((), "largest bid depth"),
        "ask_lots_most": ((), "largest ask depth"),
    },
}

# block -> recorded series that it reads
READS: dict[str, tuple[str, ...]] = {
    "prices": ("last",),
    "returns": ("last",),
    "memory": ("last",),
    "windows": ("last",),
    "tail": ("last",),
    "volume": ("last", "volume"),
    "book": ("best_bid", "best_ask", "bid_depth", "ask_depth"),
}

LENGTHS = {"horizon": len(HORIZONS), "lag": LAGS}
"""Entries of each dimension."""


def sum_shapes(blocks: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Return the shape before the market of every sum of some blocks, in the order of `SUMS`."""
    return {
        name: tuple(LENGTHS[dim] for dim in dims)
        for block in SUMS
        if block in blocks
        for name, (dims, _) in SUMS[block].items()
    }


def tail_count(returns: int) -> int:
    """Return how many of the largest absolute returns are the tail."""
    return returns // TAIL_SHARE


def binary_log(value: int) -> int:
    """Return log2 of a positive integer in units of 2**-LOG_BITS, by integers alone.

    The mantissa, 31 bits after the point, is squared for each digit, and what is below its last bit
    is cut off. So the result may be a unit or two too small; it is 0 for 1, and never falls.
    """
    whole = value.bit_length() - 1
    mantissa = (value << 31) >> whole
    digits = whole
    for _ in range(LOG_BITS):
        mantissa = (mantissa * mantissa) >> 31
        carry = mantissa >> 32
        mantissa >>= carry
        digits = 2 * digits + carry
    return digits
