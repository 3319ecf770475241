"""Small sweeps of every kind of design, for tests of what is drawn of them."""

import bookwarp as bw

GIVEN = {"agents": 10, "levels": 16, "steps": 60, "engine": "reference"}


def two_axes(out=None, **given):
    """Momentum by maker, in which one corner cannot run."""
    design = bw.grid(momentum=[0.0, 0.2, 0.4, 0.7], maker=[0.1, 0.2, 0.4], noise="rest", replicas=3)
    paths = {"momentum": [0.0, 0.7], "replica": [0, 2]}
    return bw.sweep(design, out=out, infeasible="nan", paths=paths, **{**GIVEN, **given})


def one_axis(**given):
    design = bw.grid(clearing_interval=[1, 2, 5, 10, 20], replicas=3)
    return bw.sweep(design, **{**GIVEN, **given})


def three_axes(**given):
    design = bw.grid(momentum=[0.0, 0.1, 0.3], max_qty=[1, 4], window=["fixed", "following"])
    return bw.sweep(design, noise="rest", **{**GIVEN, **given})


def drawn(**given):
    design = bw.random_design(
        7, momentum=(0.0, 0.5), window=["fixed", "following"], noise="rest", replicas=2
    )
    return bw.sweep(design, **{**GIVEN, **given})


def one_setting(**given):
    return bw.sweep(bw.grid(replicas=2), **{**GIVEN, **given})
