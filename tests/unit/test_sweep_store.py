"""Stores of sweeps: the same bytes whatever happened on the way, and a no to what is wrong."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import killed_sweep
import numpy as np
import pytest
import xarray as xr
from tiny_measure import TinyMeasure

from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.sweeping import plan as plans
from bookwarp.sweeping import store as stores
from bookwarp.sweeping.design import grid, zipped
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.plan import SweepPlan
from bookwarp.sweeping.running import Block, run_block
from bookwarp.sweeping.store import SweepStore, open_sweep
from bookwarp.sweeping.sweep import sweep

GIVEN = {"agents": 12, "levels": 16, "steps": 30, "infeasible": "nan", "block_markets": 7}
DESIGN = grid(
    momentum=[0.0, 0.2, 0.4, 0.6, 0.95],
    window=["fixed", "following"],
    noise="rest",
    maker=0.1,
    replicas=3,
)
PATHS = {"momentum": [0.2, 0.6], "replica": 1}


def stored(path, design=DESIGN, engine="reference", **given):
    given = {"measure": TinyMeasure(), "paths": PATHS, **GIVEN, **given}
    return sweep(design, out=path, engine=engine, **given)


def contents(path):
    return {
        str(each.relative_to(path)): each.read_bytes() for each in path.rglob("*") if each.is_file()
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "whole.zarr"
    stored(path)
    return path


@pytest.fixture
def copy(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "copy.zarr")
    return tmp_path / "copy.zarr"


def test_store_holds_what_the_sweep_in_memory_returns(whole):
    in_memory = stored(None)
    xr.testing.assert_identical(open_sweep(whole).load(), in_memory)
    with xr.open_dataset(whole, engine="zarr", chunks=None) as plain:
        xr.testing.assert_identical(plain.drop_vars("block_sha256").load(), in_memory)


def test_text_along_a_zipped_dimension_is_a_coordinate_in_both(tmp_path):
    design = zipped(momentum=[0.1, 0.2], window=["fixed", "following"], noise="rest", replicas=2)
    paths = {"paths": {"window": "fixed"}}
    found = stored(tmp_path / "zipped.zarr", design, **paths)
    assert found.window.dims == ("setting",)
    xr.testing.assert_identical(found.load(), stored(None, design, **paths))


@pytest.mark.parametrize("threads", [1, 3])
def test_any_engine_and_threads_write_the_same_bytes(whole, tmp_path, fast_engine, threads):
    found = stored(tmp_path / "other.zarr", engine=fast_engine, threads=threads)
    assert contents(tmp_path / "other.zarr") == contents(whole)
    assert found.digest == open_sweep(whole).digest


def test_a_complete_store_is_returned_without_any_run(copy, whole, monkeypatch):
    monkeypatch.setattr("bookwarp.sweeping.running.Simulation", None)
    xr.testing.assert_identical(stored(copy).load(), open_sweep(whole).load())
    assert contents(copy) == contents(whole)


def test_only_missing_blocks_are_run_again(copy, whole, monkeypatch):
    run = []
    began = stores.SweepStore.write
    monkeypatch.setattr(
        stores.SweepStore,
        "write",
        lambda store, block: run.append(block.number) or began(store, block),
    )
    (copy / "block_sha256" / "c.2.0").unlink()
    (copy / "trades" / "c.1.0.0").unlink()
    (copy / "mean_move" / "c.3.0.0.0").write_bytes(b"")
    damaged = copy / "mean_price" / "c.4.0.0"
    damaged.write_bytes(damaged.read_bytes()[::-1])
    told = []
    stored(copy, progress=lambda *given: told.append(given))
    assert run == [1, 2, 3, 4]
    assert contents(copy) == contents(whole)
    # What is there already counts; the settings of the last block cannot run.
    block = 6 * GIVEN["agents"] * GIVEN["steps"]
    assert min(told)[0] >= block
    assert told[-1] == (4 * block, 4 * block)


def test_a_store_that_is_not_complete_can_be_read_and_says_so(tmp_path, whole):
    def stop(done, wanted):
        if done > wanted / 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stored(tmp_path / "half.zarr", progress=stop, threads=1)
    with open_sweep(tmp_path / "half.zarr") as half:
        assert "digest" not in half.attrs
        present = ~np.isnan(half.mean_price.values)
        assert 0 < present.sum() < present.size
        np.testing.assert_array_equal(
            half.mean_price.values[present], open_sweep(whole).mean_price.values[present]
        )
    stored(tmp_path / "half.zarr")
    assert contents(tmp_path / "half.zarr") == contents(whole)


def test_workers_may_write_blocks_in_any_order_and_twice(tmp_path, whole):
    plan = SweepPlan.of(
        DESIGN,
        TinyMeasure(),
        {"agents": 12, "levels": 16, "steps": 30},
        infeasible="nan",
        paths=PATHS,
        block=7,
    )
    path, machine = tmp_path / "workers.zarr", Machine.of("reference")
    SweepStore(path, plan).prepare()
    for number in [3, 0, 4, 1, 3, 2]:
        worker = SweepStore(path, plan, create=False)
        with pytest.raises(StoreError, match="lacks block"):
            worker.finish()
        worker.write(run_block(plan, number, machine))
    SweepStore(path, plan, create=False).finish()
    assert contents(path) == contents(whole)
    with pytest.raises(StoreError, match="there is no store"):
        SweepStore(tmp_path / "none.zarr", plan, create=False)


# -- killed


def start(path, *words):
    command = [sys.executable, killed_sweep.__file__, path, *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "sweeping\n"
    return process


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The store of a sweep that was not killed, and how long it took."""
    path = tmp_path_factory.mktemp("undisturbed") / "sweep.zarr"
    process, began = start(path), time.perf_counter()
    assert process.communicate()[0]
    assert process.returncode == 0
    return contents(path), time.perf_counter() - began


def test_killed_at_random_moments_it_ends_in_the_same_bytes(undisturbed, tmp_path):
    expected, seconds = undisturbed
    path, draw = tmp_path / "sweep.zarr", random.Random(5)
    for _ in range(4):
        process = start(path)
        time.sleep(draw.random() * seconds / 2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert start(path).communicate()[0]
    assert contents(path) == expected


def test_killed_at_any_file_it_ends_in_the_same_bytes(undisturbed, tmp_path):
    """Between two files of a block, before its marker, and before the last of all."""
    path = tmp_path / "sweep.zarr"
    files_of_a_block = 3 + 2 + 1 + 1
    for last_file in (2, files_of_a_block, 3 * files_of_a_block + 1, 5 * files_of_a_block + 4):
        process = start(path, last_file)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    # Several blocks may have been on their way: those that have a marker are there.
    there = len(list((path / "block_sha256").glob("c.*")))
    assert there <= 8
    before_the_digest = (killed_sweep.BLOCKS - there) * files_of_a_block + 1
    process = start(path, before_the_digest)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with open_sweep(path) as dataset:
        assert "digest" not in dataset.attrs
        assert not np.isnan(dataset.mean_price).any()
    assert start(path).communicate()[0]
    assert contents(path) == undisturbed[0]


# -- refused


@pytest.mark.parametrize(
    "change, said",
    [
        ({"steps": 31}, "parameters.steps is 30 there and 31 here"),
        ({"max_qty": 5}, "parameters.max_qty is 4 there and 5 here"),
        ({"seed": 1}, "parameters.seed is 0 there and 1 here"),
        ({"measure": TinyMeasure((1, 3))}, r"measure.lags is \[1, 2\] there and \[1, 3\] here"),
        ({"paths": None}, "paths is .* there and .* here"),
        ({"block_markets": 3}, "chunk is .* there and .* here"),
        (
            {"design": grid(momentum=[0.0, 0.2, 0.6], noise="rest", replicas=3)},
            "design.dims.momentum is 5 there and 3 here",
        ),
        (
            {"design": grid(noise="rest", maker=0.1, momentum=[0.0, 0.2, 0.6], replicas=3)},
            "design.columns.momentum.values is .* there and .* here",
        ),
    ],
)
def test_the_store_of_another_sweep_is_refused(copy, whole, change, said):
    with pytest.raises(StoreError, match=f"copy.zarr holds another sweep: .*{said}"):
        stored(copy, **change)
    assert contents(copy) == contents(whole)


def test_the_store_of_another_version_is_refused(copy, whole, monkeypatch):
    monkeypatch.setattr(plans, "version", lambda name: "9.9")
    with pytest.raises(StoreError, match=r'bookwarp is "0\.\d\.\d" there and "9\.9" here'):
        stored(copy)
    assert contents(copy) == contents(whole)


def test_what_is_no_store_of_a_sweep_is_refused(tmp_path, varied):
    varied.save(tmp_path / "run.zarr")
    with pytest.raises(StoreError, match="damaged, or not the store of a sweep of bookwarp"):
        stored(tmp_path / "run.zarr")
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises(StoreError, match=r"there is no sweep in .*empty\.zarr"):
        stored(tmp_path / "empty.zarr")
    (tmp_path / "file.zarr").write_text("text")
    with pytest.raises(StoreError, match="not the store of a sweep"):
        stored(tmp_path / "file.zarr")
    with pytest.raises(StoreError, match="there is no sweep in"):
        open_sweep(tmp_path / "none.zarr")
    with pytest.raises(ParameterError, match="out must be a Zarr store"):
        stored(Path("here.nc"))


# -- a disk that is full, a folder that is closed


class FullDisk:
    """Lets so many bytes be written to files, and no more."""

    def __init__(self, room, monkeypatch):
        write_file = stores._write_file

        def write(path, content):
            nonlocal room
            room -= len(content)
            if room < 0:
                write_file(path, content[: max(0, room + len(content))])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
            write_file(path, content)

        monkeypatch.setattr(stores, "_write_file", write)


@pytest.mark.parametrize("room", [10, 1000, 2500])
def test_a_full_disk_is_said_and_the_sweep_goes_on_when_there_is_room(
    whole, tmp_path, monkeypatch, room
):
    path = tmp_path / "full.zarr"
    with monkeypatch.context() as patch:
        FullDisk(room, patch)
        said = (
            r"full\.zarr cannot be written: the disk is full; the blocks written before are kept, "
            r"and the same sweep goes on from them$"
        )
        with pytest.raises(StoreError, match=said):
            stored(path, threads=1)
    stored(path)
    assert contents(path) == contents(whole)


def test_a_system_that_writes_a_part_of_a_file_is_asked_again(tmp_path, whole, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:100]))
    stored(tmp_path / "here.zarr")
    assert contents(tmp_path / "here.zarr") == contents(whole)


def test_a_disk_that_is_full_at_the_very_end_leaves_a_store_that_can_be_read(
    copy, whole, monkeypatch
):
    root = copy / "zarr.json"
    said = json.loads(root.read_bytes())
    del said["attributes"]["digest"]
    root.write_text(json.dumps(said))
    with monkeypatch.context() as patch:
        FullDisk(100, patch)
        with pytest.raises(StoreError, match="the disk is full"):
            stored(copy)
    assert "digest" not in open_sweep(copy).attrs
    stored(copy)
    assert contents(copy) == contents(whole)


def test_a_disk_that_is_full_at_the_start_leaves_nothing(tmp_path, monkeypatch):
    def fail(*given, **named):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("zarr.create_hierarchy", fail)
    with pytest.raises(StoreError, match=r"full\.zarr cannot be written: the disk is full"):
        stored(tmp_path / "full.zarr")
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_somebody_else_has_made_meanwhile_is_left_alone(tmp_path, whole):
    """Whatever it is: it was not looked at."""
    path = tmp_path / "here.zarr"
    store = SweepStore(path, SweepPlan.of(grid(max_qty=[1]), TinyMeasure(), {"steps": 9}))
    stored(path)
    with pytest.raises(StoreError, match=r"here\.zarr.* exists"):
        store.prepare()
    assert contents(path) == contents(whole)


def test_a_folder_that_cannot_be_written_to_is_said_before_any_run(
    closed_folder, tmp_path, monkeypatch
):
    monkeypatch.setattr("bookwarp.sweeping.running.Simulation", None)
    with pytest.raises(StoreError, match=r"here\.zarr cannot be written"):
        stored(closed_folder / "here.zarr")
    with pytest.raises(StoreError, match="there is no folder"):
        stored(tmp_path / "none" / "here.zarr")


def test_interrupt_says_how_many_blocks_are_kept(tmp_path, whole):
    def interrupt(done, wanted):
        if done > wanted / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        stored(tmp_path / "here.zarr", progress=interrupt, threads=1)
    assert caught.value.__notes__ == [
        f"2 of 5 blocks are in {tmp_path / 'here.zarr'}, and the same sweep goes on there"
    ]
    stored(tmp_path / "here.zarr")
    assert contents(tmp_path / "here.zarr") == contents(whole)


def test_blocks_are_checked_file_by_file(tmp_path):
    plan = SweepPlan.of(grid(max_qty=[1, 2], replicas=50_000), TinyMeasure(), {"steps": 30})
    assert plan.blocks.count == 1
    store = SweepStore(tmp_path / "large.zarr", plan)
    store.prepare()
    results = {
        **{name: np.ones((100_000, *each.shape)) for name, each in plan.outputs.items()},
        **{name: np.ones(100_000, np.int64) for name in plan.exact},
    }
    store.write(Block(0, results, slice(None), np.zeros((0, 30), np.int64), bytes(32)))
    largest = max(each.nbytes for each in results.values())
    tracemalloc.start()
    try:
        assert store.missing() == []
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert largest < most < 2 * largest < sum(each.nbytes for each in results.values())
