"""Sweeps on a Dask cluster of processes: the same bytes, whoever runs, dies, or is stopped."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import cluster_workers
import pytest
import xarray as xr
from cluster_workers import DeadlyMeasure, SlowMeasure, WrongMeasure
from distributed import Client, LocalCluster
from tiny_measure import TinyMeasure
from typer.testing import CliRunner

import bookwarp as bw
from bookwarp.cli.app import app
from bookwarp.spec.errors import EngineError, ParameterError, StoreError
from bookwarp.sweeping import cluster as clusters
from bookwarp.sweeping.store import SweepStore, open_sweep
from bookwarp.sweeping.sweep import sweep

GIVEN = {"agents": 8, "levels": 16, "steps": 20, "block_markets": 3, "engine": "reference"}
BLOCKS = 24
DESIGN = bw.grid(
    momentum=[i / 40 for i in range(BLOCKS // 2)],
    window=["fixed", "following"],
    noise="rest",
    replicas=3,
)
PATHS = {"momentum": [0.05, 0.2], "replica": 1}


class _LocalCluster(LocalCluster):
    """A cluster that can be closed after workers were killed.

    That of distributed 2026.8 fails then at times: a worker may go before it was told that it came.
    """

    def _update_worker_status(self, op, msg):
        if op != "remove" or msg in self.scheduler_info["workers"]:
            super()._update_worker_status(op, msg)


@pytest.fixture(scope="module")
def client():
    given = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    with (
        _LocalCluster(n_workers=2, **given) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The files of the sweep as this process alone writes them."""
    path = tmp_path_factory.mktemp("whole") / "sweep.zarr"
    stored(path)
    return contents(path)


@pytest.fixture
def many_tasks(monkeypatch):
    """As many tasks as blocks."""
    monkeypatch.setattr(clusters, "_TASK_EVENTS", 1)


def stored(path, client=None, design=DESIGN, **given):
    given = {"measure": SlowMeasure(), "paths": PATHS, **GIVEN, **given}
    return sweep(design, out=path, client=client, **given)


def contents(path):
    return {
        str(each.relative_to(path)): each.read_bytes() for each in path.rglob("*") if each.is_file()
    }


def blocks_in(path):
    return len(list(path.glob("block_sha256/c.*")))


def wait_for_blocks(path, count):
    latest = time.monotonic() + 30
    while blocks_in(path) < count:
        assert time.monotonic() < latest, "no block is written"
        time.sleep(0.01)


def processes(client):
    return list(client.run(os.getpid).values())


def tasks_done(client):
    return sum(client.run(cluster_workers.tasks_done).values())


# -- the same bytes


def test_workers_write_what_one_process_writes(client, whole, many_tasks, tmp_path):
    seen, before = [], client.run(cluster_workers.tasks_done)
    found = stored(tmp_path / "sweep.zarr", client, progress=lambda *each: seen.append(each))
    assert contents(tmp_path / "sweep.zarr") == whole
    assert found.digest == open_sweep(tmp_path / "sweep.zarr").digest
    after = client.run(cluster_workers.tasks_done)
    assert all(after[worker] > before[worker] for worker in before)
    assert seen[-1][0] == seen[-1][1] == DESIGN.markets * 8 * 20
    assert len(seen) == BLOCKS


def test_small_blocks_are_few_tasks(client, whole, tmp_path):
    before = tasks_done(client)
    stored(tmp_path / "sweep.zarr", client)
    assert 2 <= tasks_done(client) - before <= BLOCKS / 2
    assert contents(tmp_path / "sweep.zarr") == whole


def test_a_few_tasks_are_under_way_at_any_time(client, many_tasks, tmp_path, monkeypatch):
    under_way = []
    submit = clusters._Tasks._submit

    def submit_and_count(tasks, done):
        submit(tasks, done)
        under_way.append(len(tasks._under_way))

    monkeypatch.setattr(clusters._Tasks, "_submit", submit_and_count)
    stored(tmp_path / "sweep.zarr", client, measure=TinyMeasure())
    assert max(under_way) == 4
    assert under_way[: BLOCKS - 3] == [4] * (BLOCKS - 3)


def test_a_function_that_workers_cannot_import_goes_to_them(client, tmp_path):
    above = 5
    measure = bw.measures.custom(
        lambda rows: {"highest": rows["last"].max(axis=0) + above}, series="last", outputs="highest"
    )
    found = stored(tmp_path / "sweep.zarr", client, measure=measure, engine="cpu", threads=1)
    expected = stored(tmp_path / "here.zarr", measure=measure, engine="cpu")
    xr.testing.assert_identical(found.load(), expected.load())
    assert contents(tmp_path / "sweep.zarr") == contents(tmp_path / "here.zarr")


def test_a_cluster_without_workers_is_waited_for(whole, tmp_path):
    path = tmp_path / "sweep.zarr"
    with (
        _LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        late = threading.Timer(0.5, cluster.scale, [1])
        late.start()
        stored(path, client)
        late.join()
    assert contents(path) == whole


def said_of_absence(caplog):
    return [each for each in caplog.messages if "has no worker" in each]


def scale_when_said(cluster, caplog, times):
    """Let a worker come once it was said so often that there is none."""
    latest = time.monotonic() + 30
    while len(said_of_absence(caplog)) < times:
        assert time.monotonic() < latest, "nobody says that there is no worker"
        time.sleep(0.01)
    cluster.scale(1)


def test_a_cluster_that_has_no_worker_or_loses_the_last_one_is_said(
    whole, many_tasks, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(clusters, "_PATIENCE_SECONDS", 0.3)
    path = tmp_path / "sweep.zarr"
    with (
        _LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):

        def come_and_go():
            scale_when_said(cluster, caplog, 1)
            wait_for_blocks(path, 2)
            cluster.scale(0)
            scale_when_said(cluster, caplog, 2)

        other = threading.Thread(target=come_and_go)
        other.start()
        stored(path, client)
        other.join()
        address = client.scheduler.address
    assert contents(path) == whole
    said = f"the Dask cluster of {address} has no worker: the sweep waits for one to come"
    assert said_of_absence(caplog) == [said, said]


# -- death, and interrupts


@pytest.mark.parametrize("tasks", ["many_tasks", None])
def test_a_worker_that_is_killed_changes_nothing(client, whole, tmp_path, tasks, request):
    if tasks:
        request.getfixturevalue(tasks)
    path, victim = tmp_path / "sweep.zarr", processes(client)[0]

    def kill():
        wait_for_blocks(path, 6)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    stored(path, client)
    killer.join()
    assert victim not in processes(client)
    assert contents(path) == whole


def test_blocks_that_kill_every_worker_are_said(client, tmp_path, monkeypatch):
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(EngineError, match=r"1 workers died .* tcp://.* is their memory too small"):
        stored(tmp_path / "sweep.zarr", client, measure=DeadlyMeasure())
    client.wait_for_workers(2, timeout=30)


def test_a_cluster_that_is_closed_is_said_and_another_one_goes_on(client, whole, tmp_path):
    path = tmp_path / "sweep.zarr"
    with (
        _LocalCluster(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as lost,
    ):

        def close():
            wait_for_blocks(path, 3)
            cluster.close()

        closer = threading.Thread(target=close)
        closer.start()
        with pytest.raises(EngineError, match="the cluster has given up blocks: was its"):
            stored(path, lost)
        closer.join()
    stored(path, client)
    assert contents(path) == whole


STUDY = """
block_markets = 4
[design]
replicas = 4
[vary]
momentum = { from = 0.0, to = 0.5, step = 0.02 }
[parameters]
noise = "rest"
agents = 64
steps = 100
[measure]
names = "prices"
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    return ["sweep", "study.toml", "--engine", "reference"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_client_that_is_stopped_leaves_what_the_next_one_goes_on_with(
    client, study, tmp_path, number
):
    path, scheduler = tmp_path / "study.zarr", client.scheduler.address
    command = [sys.executable, "-m", "bookwarp", *study, "--scheduler", scheduler]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for_blocks(path, 4)
    process.send_signal(number)
    _, said = process.communicate()
    assert 4 <= blocks_in(path) < 26
    if number == signal.SIGINT:
        assert process.returncode == 1
        assert "of 26 blocks are in study.zarr, and the same sweep goes on there." in said
        again = f"sweep study.toml --out study.zarr --scheduler {scheduler} --engine reference"
        assert f"`bookwarp {again}` does so." in said
    (tmp_path / "scheduler.json").write_text(json.dumps({"address": scheduler}))
    for words in (["--scheduler", "scheduler.json", "--json"], ["--out", "here.zarr"]):
        result = CliRunner().invoke(app, [*study, *words])
        assert result.exit_code == 0, result.output
    assert contents(path) == contents(tmp_path / "here.zarr")


# -- refused, and failed


def test_a_store_that_a_worker_does_not_see_is_refused_before_any_run(client, tmp_path):
    """What /proc/self/cwd is differs from process to process."""
    if not Path("/proc/self/cwd").exists():
        pytest.skip("this system has no /proc")
    elsewhere, other = tmp_path / "elsewhere", list(client.run(os.getcwd))[1]
    elsewhere.mkdir()
    home = client.run(os.getcwd)[other]
    before = tasks_done(client)
    client.run(os.chdir, str(elsewhere), workers=[other])
    here = Path.cwd()
    os.chdir(home)
    path = Path("/proc/self/cwd") / f"{tmp_path.name}.zarr"
    try:
        said = rf"worker {other}: the store /proc/self/cwd/.* is not there .* all workers see"
        with pytest.raises(StoreError, match=said):
            stored(path, client)
        assert blocks_in(path) == 0
        assert tasks_done(client) == before
    finally:
        subprocess.run(["rm", "-r", str(path)], check=True)
        os.chdir(here)
        client.run(os.chdir, home, workers=[other])


def test_files_of_a_worker_must_be_seen_here(whole, tmp_path, monkeypatch):
    path = tmp_path / "sweep.zarr"
    stored(path)
    store = SweepStore(path, plan_of_store(), create=False)
    found = {number: store.exact_sha256(number) for number in range(BLOCKS)}
    marker = path / "block_sha256" / "c.5.0"
    content = marker.read_bytes()
    marker.unlink()
    late = threading.Timer(0.3, marker.write_bytes, [content])
    late.start()
    clusters._await_blocks(store, found)
    late.join()
    marker.unlink()
    monkeypatch.setattr(clusters, "_SEEN_SECONDS", 0.2)
    with pytest.raises(StoreError, match=r"has written block 5, but it is not in .* share"):
        clusters._await_blocks(store, found)


def plan_of_store():
    given = {name: GIVEN[name] for name in ("agents", "levels", "steps")}
    return bw.sweeping.plan.SweepPlan.of(DESIGN, SlowMeasure(), given, paths=PATHS, block=3)


def test_a_disk_that_is_full_on_a_worker_stops_the_sweep_which_goes_on_later(
    client, whole, many_tasks, tmp_path
):
    worker = list(client.run(os.getpid))[1]
    client.run(cluster_workers.fill_disk, workers=[worker])
    try:
        said = rf"worker {worker}: .*sweep\.zarr cannot be written: the disk is full; the blocks"
        with pytest.raises(StoreError, match=said):
            stored(tmp_path / "sweep.zarr", client)
    finally:
        client.run(cluster_workers.empty_disk, workers=[worker])
    stored(tmp_path / "sweep.zarr", client)
    assert contents(tmp_path / "sweep.zarr") == whole


def test_an_engine_that_a_worker_has_not_is_said(client, tmp_path):
    with pytest.raises(EngineError, match=r"worker tcp://.*: engine 'cuda' is not available"):
        stored(tmp_path / "sweep.zarr", client, engine="cuda")


def test_a_fault_of_a_measure_is_raised_with_the_worker_it_was_on(client, tmp_path):
    with pytest.raises(ZeroDivisionError, match="a fault of the measure") as caught:
        stored(tmp_path / "sweep.zarr", client, measure=WrongMeasure())
    assert any("on worker tcp://" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    "version, said",
    [("9.9", r"has bookwarp 9\.9, and this process \d"), (None, r"has no bookwarp: install \d")],
)
def test_a_worker_of_another_version_is_refused_before_anything_is_made(
    client, tmp_path, version, said
):
    worker = list(client.run(os.getpid))[1]
    client.run(cluster_workers.pretend_version, version, workers=[worker])
    try:
        with pytest.raises(EngineError, match=f"worker {worker} {said}"):
            stored(tmp_path / "sweep.zarr", client)
    finally:
        client.run(cluster_workers.end_pretence, workers=[worker])
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_run_on_a_cluster_is_refused(client, tmp_path):
    path = tmp_path / "sweep.zarr"
    with pytest.raises(ParameterError, match="client needs out: workers write"):
        stored(None, client)
    with pytest.raises(ParameterError, match=r"must be a dask\.distributed\.Client, not 'tcp:"):
        stored(path, "tcp://10.0.0.1:8786")
    with pytest.raises(ParameterError, match="threads"):
        stored(path, client, threads=0)
    with pytest.raises(ParameterError, match="memory_limit must be"):
        stored(path, client, memory_limit=-1)
    with pytest.raises(ParameterError, match=r"worker tcp://.*: unknown engine 'cpuu'"):
        stored(path, client, engine="cpuu")
    with Client(client.scheduler.address, set_as_default=False) as other:
        pass
    with pytest.raises(ParameterError, match="client is closed"):
        stored(path, other)


@pytest.mark.parametrize(
    "scheduler, said",
    [
        ("localhost", "--scheduler must be an address, .*: missing port number"),
        ("ftp://localhost:8786", "--scheduler must be an address, .*: unknown address scheme"),
        ("none.json", r"--scheduler: none\.json cannot be read: No such file"),
        ("study.json", r"--scheduler: study\.json is not the file of a Dask scheduler"),
        ("tcp://127.0.0.1:9", r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"),
    ],
)
def test_a_scheduler_that_is_none_is_said(study, tmp_path, monkeypatch, scheduler, said):
    monkeypatch.setattr("bookwarp.cli.scheduler._PATIENCE_SECONDS", 0.5)
    (tmp_path / "study.json").write_text("{}")
    result = CliRunner().invoke(app, [*study, "--scheduler", scheduler])
    assert result.exit_code in (1, 2)
    assert re.search(f"^error: {said}", result.stderr)
    assert not (tmp_path / "study.zarr").exists()
