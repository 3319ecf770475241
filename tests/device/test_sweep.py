"""Sweeps on a GPU: the same dataset and the same bytes as on the cores, in one launch."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from on_device import device_tests

import bookwarp as bw
from bookwarp.engines.cuda.engine import device_count
from bookwarp.engines.cuda.part import Part
from bookwarp.sweeping.machine import Machine

pytestmark = device_tests

SMALL = {"agents": 40, "levels": 32, "steps": 120, "infeasible": "nan"}
DESIGN = bw.grid(
    momentum=[0.0, 0.3, 0.6, 0.9], max_qty=[1, 5], maker=[0.1, 0.2], noise="rest", replicas=7
)
DESIGNS = {
    "shares": DESIGN,
    "intervals and parents": bw.grid(
        clearing_interval=[1, 3, 10],
        parent_qty=[0, 300],
        schedule=["twap", "share"],
        parent_horizon=60,
        parent_start=5,
        replicas=5,
    ),
    "shapes": bw.zipped(
        steps=[120, 90, 120], window=["fixed", "following", "following"], replicas=6
    ),
}


@pytest.fixture
def launches(monkeypatch):
    """The steps of every launch, in order."""
    seen = []
    launch = Part.launch

    def count(part, key, step, steps):
        seen.append(steps)
        launch(part, key, step, steps)

    monkeypatch.setattr(Part, "launch", count)
    return seen


def fixed_for(design):
    return {name: value for name, value in SMALL.items() if name not in design.columns}


def contents(path):
    return {
        str(each.relative_to(path)): each.read_bytes() for each in path.rglob("*") if each.is_file()
    }


@pytest.mark.parametrize("devices", ["one", "all"])
@pytest.mark.parametrize("name", DESIGNS)
def test_a_sweep_is_that_of_the_cores(name, devices, tmp_path):
    design = DESIGNS[name]
    given = {**fixed_for(design), "measure": bw.measures.stylised_facts, "paths": 1}
    expected = bw.sweep(design, engine="cpu", out=tmp_path / "cpu.zarr", **given)
    where = None if devices == "one" else "all"
    found = bw.sweep(design, engine="cuda", devices=where, out=tmp_path / "cuda.zarr", **given)
    assert found.digest == expected.digest
    xr.testing.assert_identical(found.load(), expected.load())
    assert contents(tmp_path / "cuda.zarr") == contents(tmp_path / "cpu.zarr")


@pytest.mark.parametrize("devices", [None, "all"])
def test_all_settings_are_one_launch_on_each_device(launches, devices):
    bw.sweep(DESIGN, engine="cuda", devices=devices, block_markets=20, **SMALL)
    assert launches == [SMALL["steps"]] * (1 if devices is None else device_count())


@pytest.mark.parametrize("out", [None, "here.zarr"])
def test_markets_that_are_dealt_are_in_their_places(launches, out, monkeypatch, tmp_path):
    """One GPU plays two, so that this runs wherever there is one."""
    design = bw.grid(momentum=np.linspace(0, 0.6, 7), maker=[0.1, 0.3], noise="rest", replicas=111)
    given = {"agents": 24, "levels": 24, "steps": 120}
    one = bw.sweep(design, engine="cuda", **given)
    of = Machine.of
    monkeypatch.setattr(Machine, "of", lambda *how: replace(of(*how), devices=(0, 0)))
    launches.clear()
    two = bw.sweep(design, engine="cuda", out=out and tmp_path / out, **given)
    assert launches == [120, 120]
    xr.testing.assert_identical(two.load(), one)


def test_memory_cuts_launches_and_changes_nothing(launches, monkeypatch):
    whole = bw.sweep(DESIGN, engine="cuda", **SMALL)
    launches.clear()
    free = [200_000]
    monkeypatch.setattr("bookwarp.engines.cuda.engine.free_device_bytes", lambda devices: free)
    found = bw.sweep(DESIGN, engine="cuda", **SMALL)
    assert len(launches) > 3
    xr.testing.assert_identical(found, whole)


def test_a_measure_of_ones_own_is_given_rows_from_the_device():
    def ranges(rows):
        return {"range": np.ptp(rows["last"], axis=0)}

    measure = bw.measures.custom(ranges, series="last", outputs="range")
    found, expected = (
        bw.sweep(DESIGN, measure=measure, engine=engine, **SMALL) for engine in ("cuda", "cpu")
    )
    xr.testing.assert_identical(found, expected)
