"""Checkpoints: what is resumed ends as what never stopped; what is damaged is not resumed."""

import errno
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import bookwarp as bw
from bookwarp.results import archive as archives
from bookwarp.results import output, provenance
from bookwarp.results.checkpoint import check_writable, read_checkpoint, write_checkpoint
from bookwarp.spec.errors import ParameterError, StoreError

STEPS = 12
SETTINGS = {
    "plain": {},
    "everything": {
        "seed": np.array([0, 2**64 - 1, 3, 4, 5], np.uint64),
        "open_price": -(2**40),
        "window": "following",
        "stream": "paper",
        "mix": bw.Mix(noise="rest", momentum=np.linspace(0, 0.7, 5), maker=0.15),
        "record": ("last", "volume", "mid2", "best_bid", "bid_depth", "book", "tape"),
        "record_every": 3,
        "book_markets": [0, 4],
        "tape_markets": [2],
        "tape_steps": [0, 5, 11],
    },
    "worked": {
        "clearing_interval": [1, 3, 5, 2, 4],
        "parent_qty": [30, 9, 0, 100, 8],
        "parent_start": [0, 1, 2, 3, 4],
        "parent_horizon": 6,
        "parent_side": [1, -1, 1, -1, 1],
        "schedule": ["twap", "profile", "share", "share", "profile"],
        "volume_profile": [1, 2],
        "record": ("last", "mid2", "tape"),
        "tape_markets": [1, 3],
        "tape_steps": [1, 2, 8],
    },
    "types": {"agent_types": bw.draw_agent_types(5, 8, seed=1), "record": ()},
}

# Resumes every checkpoint in a folder with so many threads, and keeps where each ended.
RESUME = """
import sys
from pathlib import Path
import bookwarp as bw
for path in sorted(Path(sys.argv[1]).glob("*.ckpt")):
    simulation = bw.Simulation.resume(path, engine=sys.argv[2], threads=int(sys.argv[3]))
    simulation.step(simulation.steps - simulation.steps_done).save(path.with_suffix(".end"))
"""


def simulation_of(setting, engine="reference"):
    return bw.Simulation(5, 8, 16, STEPS, engine=engine, **SETTINGS[setting])


def files_in(folder):
    return sorted(each.name for each in folder.iterdir())


@pytest.fixture
def saved(tmp_path):
    """A checkpoint after five steps of everything."""
    path = tmp_path / "here.ckpt"
    simulation_of("everything").step(5).save(path)
    return path


@pytest.mark.parametrize("setting", SETTINGS)
def test_resumed_at_any_step_it_ends_as_if_it_had_not_stopped(setting, tmp_path, same_run):
    whole = simulation_of(setting).run()
    for cut in range(STEPS + 1):
        simulation_of(setting).step(cut).save(tmp_path / "here.ckpt")
        resumed = bw.Simulation.resume(tmp_path / "here.ckpt", engine="reference")
        assert (resumed.steps, resumed.steps_done) == (STEPS, cut)
        same_run(resumed.run(), whole, timed=False)


def test_resumed_after_every_step_it_ends_as_if_it_had_not_stopped(tmp_path, same_run):
    simulation = simulation_of("everything")
    for _ in range(STEPS):
        simulation.step().save(tmp_path / "here.ckpt")
        simulation = bw.Simulation.resume(tmp_path / "here.ckpt", engine="reference")
    same_run(simulation.result(), simulation_of("everything").run(), timed=False)


def test_resumed_in_another_process_with_other_threads_it_ends_the_same(
    fast_engine, tmp_path, same_run
):
    for setting in SETTINGS:
        for cut in range(STEPS + 1):
            path = tmp_path / f"{setting}-{cut}.ckpt"
            simulation_of(setting, fast_engine).step(cut).save(path)
    command = [sys.executable, "-c", RESUME, tmp_path, fast_engine, "3"]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    for setting in SETTINGS:
        whole = simulation_of(setting).run()
        for cut in range(STEPS + 1):
            end = bw.Simulation.resume(tmp_path / f"{setting}-{cut}.end", engine=fast_engine)
            same_run(end.result(), whole, timed=False)


def test_checkpoint_holds_what_the_simulation_was(saved, same_auction):
    simulation = simulation_of("everything").step(5)
    kept = read_checkpoint(saved)
    same_auction(kept.auction, simulation.auction)
    assert kept.plan.names == simulation.plan.names
    assert kept.state.digest() == simulation.digest()
    assert (kept.state.step, kept.steps, kept.engine) == (5, STEPS, "reference")
    assert kept.elapsed_s > 0
    assert list(kept.rows) == list(simulation.history)
    np.testing.assert_array_equal(kept.rows["last"], simulation.history["last"])


def test_time_of_both_parts_is_counted(saved):
    before = read_checkpoint(saved).elapsed_s
    assert bw.Simulation.resume(saved, engine="reference").run().elapsed_s > before


def test_checkpoint_replaces_the_one_before_it(saved, tmp_path):
    simulation_of("plain").step(7).save(saved)
    assert read_checkpoint(saved).state.step == 7
    assert files_in(tmp_path) == ["here.ckpt"]


def test_numpy_opens_the_file(saved):
    with np.load(saved, allow_pickle=False) as archive:
        assert archive["state/bid"].shape == (5, 16)


def test_every_flipped_bit_is_found(tmp_path):
    path = tmp_path / "small.ckpt"
    bw.Simulation(1, 1, 8, 1, engine="reference", record=()).save(path)
    whole = path.read_bytes()
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 1 << (position % 8)
        path.write_bytes(changed)
        with pytest.raises(StoreError, match=r"small\.ckpt is (damaged|not a checkpoint)"):
            read_checkpoint(path)
    path.write_bytes(whole)
    read_checkpoint(path)


def test_truncated_file_is_refused(saved):
    whole = saved.read_bytes()
    for length in {0, 1, 29, 30, 100, *range(0, len(whole), 97), len(whole) - 1}:
        saved.write_bytes(whole[:length])
        with pytest.raises(StoreError, match=r"here\.ckpt is (damaged|not a checkpoint)"):
            read_checkpoint(saved)


def test_file_with_something_behind_it_is_refused(saved):
    saved.write_bytes(saved.read_bytes() + b"\n")
    with pytest.raises(StoreError, match="is damaged: its SHA-256"):
        read_checkpoint(saved)


def test_empty_file_is_said_to_be_empty(tmp_path):
    (tmp_path / "empty.ckpt").touch()
    with pytest.raises(StoreError, match=r"empty\.ckpt is not a checkpoint .*empty"):
        read_checkpoint(tmp_path / "empty.ckpt")


def test_file_of_something_else_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", state=np.zeros(3))
    (tmp_path / "text.ckpt").write_text("a text\n" * 100)
    (tmp_path / "pickle.ckpt").write_bytes(b"\x80\x04K\x01." * 100)
    for name in ("other.npz", "text.ckpt", "pickle.ckpt"):
        with pytest.raises(StoreError, match=f"{name} is not a checkpoint of bookwarp"):
            read_checkpoint(tmp_path / name)


def test_folder_is_refused(tmp_path):
    with pytest.raises(StoreError, match="is a folder"):
        read_checkpoint(tmp_path)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"there is no checkpoint .*here\.ckpt"):
        bw.Simulation.resume(tmp_path / "here.ckpt")


@pytest.mark.parametrize("path", [None, 3, ""])
def test_what_is_no_path_is_refused(path):
    for call in (read_checkpoint, check_writable, simulation_of("plain").save):
        with pytest.raises(ParameterError, match="path must"):
            call(path)


def test_newer_format_asks_for_an_upgrade(tmp_path, monkeypatch):
    with monkeypatch.context() as newer:
        newer.setattr(provenance, "FORMAT", provenance.FORMAT + 1)
        simulation_of("plain").save(tmp_path / "here.ckpt")
    with pytest.raises(StoreError, match=r"here\.ckpt .*newer bookwarp"):
        read_checkpoint(tmp_path / "here.ckpt")


def test_books_that_do_not_fit_the_parameters_are_refused(saved):
    """As a file that another program wrote and sealed."""
    kept = read_checkpoint(saved)
    kept.state.bid = kept.state.bid[:, :-1]
    write_checkpoint(saved, kept)
    with pytest.raises(StoreError, match="is damaged: its books do not fit"):
        read_checkpoint(saved)


def test_no_code_is_run_from_a_checkpoint(saved):
    with zipfile.ZipFile(saved) as archive:
        for name in archive.namelist():
            if name.endswith(".npy"):
                with archive.open(name) as member:
                    np.lib.format.read_array(member, allow_pickle=False)
            else:
                json.loads(archive.read(name))


def test_check_of_a_path_leaves_nothing_behind(tmp_path):
    check_writable(tmp_path / "here.ckpt")
    assert files_in(tmp_path) == []


def test_checkpoint_or_nothing_may_be_replaced_and_nothing_else(saved, tmp_path):
    check_writable(saved)
    (tmp_path / "reserved.ckpt").touch()
    check_writable(tmp_path / "reserved.ckpt")
    (tmp_path / "thesis.tex").write_text("precious")
    (tmp_path / "folder.ckpt").mkdir()
    for name in ("thesis.tex", "folder.ckpt"):
        for call in (check_writable, simulation_of("plain").save):
            with pytest.raises(StoreError, match=f"{name} exists .*not overwritten"):
                call(tmp_path / name)
    assert (tmp_path / "thesis.tex").read_text() == "precious"


def test_folder_that_is_missing_or_closed_is_refused(tmp_path, closed_folder):
    with pytest.raises(StoreError, match="there is no folder"):
        check_writable(tmp_path / "missing" / "here.ckpt")
    with pytest.raises(StoreError, match="cannot be written"):
        check_writable(closed_folder / "here.ckpt")


def test_full_disk_leaves_the_checkpoint_before_it(saved, tmp_path, monkeypatch):
    before = saved.read_bytes()

    def fail(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(archives, "_seal", fail)
    with pytest.raises(StoreError, match=r"here\.ckpt cannot be written: the disk is full"):
        simulation_of("plain").step(7).save(saved)
    assert saved.read_bytes() == before
    assert files_in(tmp_path) == ["here.ckpt"]


def test_interrupt_leaves_the_checkpoint_before_it(saved, tmp_path, monkeypatch):
    def interrupt(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "_flush", interrupt)
    with pytest.raises(KeyboardInterrupt):
        simulation_of("plain").step(7).save(saved)
    assert read_checkpoint(saved).state.step == 5
    assert files_in(tmp_path) == ["here.ckpt"]


def test_simulation_goes_on_after_a_checkpoint(tmp_path):
    simulation = simulation_of("plain").step(5)
    simulation.save(tmp_path / "here.ckpt")
    assert simulation.run().digest() == simulation_of("plain").run().digest()
