"""What measures make of the sums of one market: floats by name, in groups.

The formulas are those of `bookwarp.measures`, in float64, operation by operation: every engine
makes the same bits of the same sums. A sum is only used where it is exact (`exact_sums`).
"""

from bookwarp.spec.measure_sums import LENGTHS

# group -> blocks of sums that its facts are made of
USES: dict[str, tuple[str, ...]] = {
    "prices": ("prices",),
    "returns": ("returns",),
    "tails": ("tail",),
    "memory": ("returns", "memory"),
    "clustering": ("returns", "windows"),
    "volume": ("returns", "volume"),
    "spread": ("book",),
}

_LAG, _HORIZON = ("lag",), ("horizon",)

# group -> name -> dimensions after the market
FACTS: dict[str, dict[str, tuple[str, ...]]] = {
    "prices": {
        "mean_price": (),
        "price_std": (),
        "price_low": (),
        "price_high": (),
        "max_drawdown": (),
        "max_drawup": (),
        "gain_loss_asymmetry": (),
    },
    "returns": {
        "return_mean": _HORIZON,
        "return_variance": _HORIZON,
        "return_skewness": _HORIZON,
        "excess_kurtosis": _HORIZON,
    },
    "tails": {
        "hill": (),
        "tail_index": (),
    },
    "memory": {
        "acf_returns": _LAG,
        "acf_abs_returns": _LAG,
        "leverage": _LAG,
    },
    "clustering": {
        "volatility_fano": (),
        "volatility_ratio": (),
        "conditional_kurtosis": (),
        "coarse_to_fine": (),
        "fine_to_coarse": (),
        "scale_asymmetry": (),
    },
    "volume": {
        "volume_per_step": (),
        "volume_std": (),
        "traded_share": (),
        "volume_volatility": (),
    },
    "spread": {
        "mean_spread": (),
        "spread_std": (),
        "bid_depth": (),
        "ask_depth": (),
        "no_bid_share": (),
        "no_ask_share": (),
        "empty_side_share": (),
    },
}


def fact_shapes(groups: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Return the shape after the market of every fact of some groups, in the order of `FACTS`."""
    return {
        name: tuple(LENGTHS[dim] for dim in dims)
        for group in FACTS
        if group in groups
        for name, dims in FACTS[group].items()
    }


def blocks_of(groups: tuple[str, ...]) -> tuple[str, ...]:
    """Return the blocks of sums that some groups are made of, each once."""
    return tuple(dict.fromkeys(block for group in groups for block in USES[group]))
