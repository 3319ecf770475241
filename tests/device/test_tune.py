"""Tuning on a GPU: every kernel ends in the same bits, and what was found is used."""

import numpy as np
import pytest
from on_device import device_tests

import bookwarp as bw
from bookwarp.engines.cuda import tuned
from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.engines.cuda.variants import choice_of

pytestmark = device_tests

SMALL = {"agents": 40, "levels": 24, "steps": 60, "seed": 5}
KINDS = {
    "counted": {},
    "of the paper": {"stream": "paper", "record": ()},
    "general": {"noise_spread": 9, "window": "following"},
    "general, in memory": {"noise_spread": 9, "levels": 3000, "record": ()},
}


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("BOOKWARP_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("BOOKWARP_IGNORE_TUNED")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_found_is_used_and_changes_no_bit(kind):
    given = {**SMALL, **KINDS[kind]}
    found = bw.tune(900, **given, trials=3)
    whole = bw.simulate(900, **given, engine="cpu")
    assert found.digest == whole.digest()
    assert found.remembered
    for timing in found.timings:
        print(f"\n{kind}: {timing.median_s * 1e6:.0f} us {dict(timing.choice)}", end="")
        assert 0 < timing.min_s <= timing.median_s <= timing.max_s < 1
    run = bw.simulate(900, **given, engine="cuda")
    assert run.digest() == whole.digest()
    for name, series in whole.history.items():
        np.testing.assert_array_equal(run.history[name], series)


def test_engines_run_what_was_found(monkeypatch):
    simulation = bw.Simulation(900, **SMALL, engine="cuda")
    engine = CudaEngine(simulation.auction, simulation.plan)
    default, *_, other = engine.equivalent_keys(1)
    gpu = engine.gpus[0]
    assert tuned.remember_choice(gpu.name, gpu.arch, default, 900, choice_of(other), {})
    assert CudaEngine(simulation.auction, simulation.plan)._key(False, True) == other
