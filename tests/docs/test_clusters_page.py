"""The plan on paper for a large cluster has the counts that its design has."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import bookwarp as bw
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.worker import Job

PAGE = Path(__file__).resolve().parents[2] / "docs" / "clusters.md"


def read_plan():
    """Return the table of the plan: count and derivation, by what is counted."""
    text = PAGE.read_text(encoding="utf-8").partition("\n## A plan for 10^12\n")[2]
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {name.strip(): [cell.strip() for cell in rest] for name, *rest in lines}


@pytest.fixture(scope="module")
def plan():
    shares = {"momentum": np.linspace(0, 0.6, 1000), "maker": np.linspace(0, 0.3, 1000)}
    design = bw.grid(**shares, noise="rest", replicas=1000)
    return SweepPlan.of(design, bw.measures.stylised_facts, {"agents": 256, "steps": 1000})


def test_counts_of_the_plan_are_those_of_the_design(plan):
    rows = read_plan()
    blocks, arrays = plan.blocks.count, len(plan.outputs) + len(plan.exact)
    assert int(rows["blocks"][0]) == blocks
    assert int(rows["files of blocks"][0]) == blocks * (arrays + 1)
    assert f"{arrays} results" in rows["files of blocks"][1]
    assert int(rows["bytes of results"][0]) == plan.design.markets * plan.market_nbytes
    first, stop = plan.blocks.markets(0)
    assert rows["blocks"][1] == f"{stop - first:_} markets each, 65 MB of results".replace("_", " ")
    assert 64.5e6 < (stop - first) * plan.market_nbytes < 65.5e6
    assert f"{len(plan.measure.series)} series" in rows["rows on each GPU"][1]
    job = Job("/scratch/sweep.zarr", "/scratch/sweep.zarr/.partial/" + 32 * "0", 64 * "0", "0.1.0",
              "auto", None, None, None)  # fmt: skip
    assert 250 < len(pickle.dumps(job)) < 350
    assert 23e6 < len(pickle.dumps(plan)) < 25e6


def test_other_choices_of_the_plan_have_the_counts_of_the_page(plan):
    given = {"agents": 256, "steps": 1000}
    large = SweepPlan.of(plan.design, plan.measure, given, block=10**6)
    assert large.blocks.count == 1000
    assert large.blocks.count * (len(large.outputs) + len(large.exact) + 1) == 37_000
    assert SweepPlan.of(plan.design, bw.measures.prices, given).market_nbytes == 80
