"""What only a GPU and processors that do nothing else can tell: time, and memory that is left.

Leave out -n, which runs tests beside each other.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from on_device import device_tests

import bookwarp as bw
from bookwarp.engines.cuda.gpu import Gpu
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import EngineError

pytestmark = [
    *device_tests,
    pytest.mark.skipif("PYTEST_XDIST_WORKER" in os.environ, reason="not beside other tests"),
]

STEP_SECONDS = 30e-6
"""Most that a single step of 4096 markets may cost between two actions of a learner."""


def test_a_long_run_is_cut_in_pieces_with_progress():
    told = []
    simulation = Simulation(2000, steps=200_000, record=(), engine="cuda")
    began = time.perf_counter()
    simulation.step(200_000, progress=lambda done, wanted: told.append(time.perf_counter()))
    spent = time.perf_counter() - began
    pauses = np.diff([began, *told])
    assert max(pauses) < 1.0
    assert spent > 0.25, "too short to tell anything"
    assert simulation.elapsed_s == pytest.approx(spent, rel=0.2, abs=0.05)


@pytest.mark.parametrize("record", [(), ("last", "volume")])
def test_a_single_step_costs_little(record):
    simulation = Simulation(4096, 256, steps=100_000, record=record, engine="cuda")
    for _ in range(200):
        simulation.step()
    simulation.state()
    costs = []
    for _ in range(20):
        began = time.perf_counter()
        for _ in range(100):
            simulation.step()
        simulation._engine.wait()
        costs.append((time.perf_counter() - began) / 100)
    typical, least = np.median(costs) * 1e6, min(costs) * 1e6
    print(f"\nrecord={record}: {typical:.1f} us a step, at least {least:.1f}")
    assert np.median(costs) < (STEP_SECONDS if not record else 4 * STEP_SECONDS)


def test_compiled_code_is_kept_for_the_next_process(tmp_path):
    code = (
        "import json, time; began = time.perf_counter();"
        "import bookwarp as bw; run = bw.simulate(64, 48, 40, steps=10, engine='cuda');"
        "print(json.dumps([run.digest(), time.perf_counter() - began]))"
    )
    environment = os.environ | {"BOOKWARP_CACHE_DIR": str(tmp_path)}
    found = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
        files = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        assert len(files) == 2  # what opens books, and what runs steps
        if len(found) == 2:
            for path in files:
                path.write_bytes(path.read_bytes()[:-1])
    print(f"\nseconds of a first process, a second one, one with a damaged file: {found}")
    assert len({digest for digest, _ in found}) == 1


def test_too_many_markets_for_the_memory_of_the_gpu_are_refused():
    free = Gpu(0).free_bytes()
    markets = int(1.1 * free / (4 * 65_536))
    with pytest.raises(EngineError, match=r"GB on GPU 0, which has .* GB left: lower markets"):
        Simulation(markets, 1, 65_536, steps=1, engine="cuda", record=(), memory_limit=10**15)
    assert Gpu(0).free_bytes() > 0.9 * free


def test_memory_is_given_back_when_a_simulation_is_gone():
    gpu = Gpu(0)
    before = gpu.free_bytes()
    simulation = Simulation(20_000, 16, 1024, steps=2, engine="cuda", record=()).step(2)
    during = gpu.free_bytes()
    del simulation
    assert during < before - 70 * 10**6
    assert gpu.free_bytes() > before - 10 * 10**6


def test_whoever_asks_for_memory_after_a_sweep_waits_until_it_is_free():
    """A sweep frees it beside what follows, which takes some time for gigabytes of rows."""
    given = {"agents": 24, "levels": 24, "steps": 2000, "measure": bw.measures.prices}
    design = bw.grid(momentum=[0.1, 0.3], noise="rest", replicas=100_000)
    bw.sweep(design, engine="cuda", **given).close()
    free = Gpu(0).free_bytes()
    for _ in range(3):
        bw.sweep(design, engine="cuda", **given).close()
        assert Gpu(0).free_bytes() > free - 10 * 10**6
