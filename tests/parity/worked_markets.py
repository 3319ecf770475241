"""Markets that clear every few steps and have execution agents, drawn for a kernel of one key.

All that is drawn is one value for each market, so that ensembles of one shape share a kernel.
"""

import numpy as np

from bookwarp.spec.market import CallAuction


def draw_worked(seed, *, markets=7, levels=24, stream="default", window="following"):
    """Return an ensemble that the counting kernel can run, all of it drawn at random."""
    rng = np.random.default_rng(seed)

    def each(*values):
        return rng.choice(values, markets)

    shares = rng.dirichlet((1, 1, 1, 1), markets)
    names = ("noise", "momentum", "maker", "fundamental")
    return CallAuction.of(
        markets,
        agents=13,
        levels=levels,
        stream=stream,
        window=window,
        seed=each(0, 1, 2**40 + 3),
        max_qty=each(1, 4, 9),
        noise_spread=each(0, 1, 2),
        maker_half_spread=each(0, 1, 2, 3),
        market_order_prob=each(0, 0.1, 0.5, 1),
        open_price=rng.integers(1, levels - 1, markets),
        open_depth=each(0, 8, 100),
        mix=dict(zip(names, shares.T, strict=True)),
        clearing_interval=each(1, 2, 3, 5, 8, 1000),
        parent_qty=each(0, 1, 30, 500, 2**31 - 1),
        parent_side=each(-1, 1),
        parent_start=each(0, 0, 3, 20),
        parent_horizon=each(1, 9, 30, 2**31 - 1),
        schedule=rng.integers(0, 3, markets),
        volume_profile=rng.integers(0, 9, 7) + np.eye(7, dtype=np.int64)[3],
        volume_share=each(0, 0.1, 0.37, 1),
    )
