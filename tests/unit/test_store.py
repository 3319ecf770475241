"""Runs in files: they come back exactly, or not at all and with the reason."""

import dataclasses
import errno
import os
import warnings

import numpy as np
import pytest
import xarray as xr

import bookwarp as bw
from bookwarp.results import provenance, store
from bookwarp.results.store import check_output, load
from bookwarp.spec.errors import ParameterError, StoreError

WHOLE = ("run.zarr", "run.nc")
ALL = (*WHOLE, "run.parquet")


def files_in(folder):
    """Return what is in a folder, hidden files too."""
    return sorted(each.name for each in folder.iterdir())


def data_files(path):
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


@pytest.mark.parametrize("name", WHOLE)
def test_run_comes_back_exactly(run, tmp_path, name, same_run):
    run.save(tmp_path / name)
    same_run(load(tmp_path / name), run)
    assert files_in(tmp_path) == [name]


@pytest.mark.parametrize("name", WHOLE)
def test_run_that_came_back_is_saved_as_it_was(varied, tmp_path, name, same_run):
    varied.save(tmp_path / name)
    load(tmp_path / name).save(tmp_path / f"again.{name}")
    same_run(load(tmp_path / f"again.{name}"), varied)


@pytest.mark.parametrize("name", WHOLE)
def test_run_that_came_back_is_rerun_to_the_same_digest(run, tmp_path, name):
    run.save(tmp_path / name)
    assert load(tmp_path / name).rerun().digest() == run.digest()


@pytest.mark.parametrize("name", WHOLE)
def test_xarray_opens_the_file_without_a_warning_and_keeps_integers(varied, tmp_path, name):
    varied.save(tmp_path / name)
    engine = "zarr" if name.endswith(".zarr") else "h5netcdf"
    with xr.open_dataset(tmp_path / name, engine=engine) as dataset:
        xr.testing.assert_equal(dataset.load(), varied.to_xarray())
        for each, variable in varied.to_xarray().variables.items():
            assert dataset[each].dtype == variable.dtype, each
        assert set(dataset.coords) == set(varied.to_xarray().coords)


@pytest.mark.parametrize("name", ALL)
def test_suffix_may_be_in_capitals(plain, tmp_path, name):
    plain.save(str(tmp_path / name).upper().replace(str(tmp_path).upper(), str(tmp_path)))
    assert files_in(tmp_path) == [name.upper()]


@pytest.mark.parametrize("path", ["run.hdf5", "run", "run.zarr.zip", ".zarr", "run.ckpt"])
def test_suffix_that_is_not_known_is_refused_with_those_that_are(plain, tmp_path, path):
    for call in (plain.save, load, check_output):
        with pytest.raises(ParameterError, match=r"\.zarr or \.nc.*\.parquet"):
            call(tmp_path / path)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("path", [None, 7, b"run.zarr", "", "a\0.zarr"])
def test_what_is_no_path_is_refused(plain, path):
    for call in (plain.save, load, check_output):
        with pytest.raises(ParameterError, match="path must"):
            call(path)


@pytest.mark.parametrize("name", ALL)
def test_existing_path_is_refused_and_left_alone(plain, tmp_path, name):
    (tmp_path / name).write_text("precious")
    for call in (plain.save, check_output):
        with pytest.raises(StoreError, match=f"{name} exists"):
            call(tmp_path / name)
    assert (tmp_path / name).read_text() == "precious"


@pytest.mark.parametrize("name", ALL)
def test_existing_run_is_replaced_when_that_is_asked_for(plain, varied, tmp_path, name):
    plain.save(tmp_path / name)
    before = [each.read_bytes() for each in data_files(tmp_path / name)]
    check_output(tmp_path / name, overwrite=True)
    varied.save(tmp_path / name, overwrite=True)
    assert [each.read_bytes() for each in data_files(tmp_path / name)] != before
    assert files_in(tmp_path) == [name]
    if name in WHOLE:
        assert load(tmp_path / name).digest() == varied.digest()


@pytest.mark.parametrize("name", ALL)
def test_folder_that_is_no_store_is_never_replaced(plain, tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.tex").write_text("precious")
    for call in (plain.save, check_output):
        with pytest.raises(StoreError, match="not overwritten"):
            call(tmp_path / name, overwrite=True)
    assert files_in(tmp_path / name) == ["thesis.tex"]


@pytest.mark.parametrize("name", ALL)
def test_missing_folder_is_refused(plain, tmp_path, name):
    for call in (plain.save, check_output):
        with pytest.raises(StoreError, match="there is no folder"):
            call(tmp_path / "missing" / name)


@pytest.mark.parametrize("name", ALL)
def test_folder_that_cannot_be_written_to_is_refused(plain, closed_folder, name):
    for call in (plain.save, check_output):
        with pytest.raises(StoreError, match=f"{name} cannot be written"):
            call(closed_folder / name)


def test_check_of_an_output_leaves_nothing_behind(tmp_path):
    for name in ALL:
        check_output(tmp_path / name)
    assert files_in(tmp_path) == []


def test_table_of_nothing_is_refused_before_and_after_the_run(tmp_path):
    run = bw.simulate(3, 4, levels=8, steps=2, record=(), engine="reference")
    with pytest.raises(ParameterError, match="record"):
        check_output(tmp_path / "run.parquet", plan=run.plan)
    with pytest.raises(ParameterError, match="record"):
        run.save(tmp_path / "run.parquet")
    check_output(tmp_path / "run.zarr", plan=run.plan)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("name", WHOLE)
def test_missing_run_is_named(tmp_path, name):
    with pytest.raises(StoreError, match=f"there is no saved run .*{name}"):
        load(tmp_path / name)


def test_table_is_not_a_run(plain, tmp_path):
    plain.save(tmp_path / "run.parquet")
    with pytest.raises(StoreError, match=r"table of steps.*\.zarr or \.nc"):
        load(tmp_path / "run.parquet")


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("content", [b"", b"a text\n", b"\x89HDF\r\n\x1a\n", bytes(5000)])
def test_file_of_another_kind_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(StoreError, match=f"{name} cannot be read: it is damaged, or not"):
        load(tmp_path / name)


@pytest.mark.parametrize("name", WHOLE)
def test_folder_of_another_kind_is_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(StoreError, match=f"{name} cannot be read: it is damaged, or not"):
        load(tmp_path / name)


def test_store_of_another_program_is_refused(tmp_path):
    dataset = xr.Dataset({"volume": ("market", np.arange(3))})
    dataset.to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    dataset.to_zarr(tmp_path / "other.zarr", zarr_format=3, consolidated=False)
    for name in ("other.nc", "other.zarr"):
        with pytest.raises(StoreError, match=f"{name} was not written by bookwarp"):
            load(tmp_path / name)


@pytest.mark.parametrize("name", WHOLE)
def test_store_of_a_newer_format_asks_for_an_upgrade(plain, tmp_path, name, monkeypatch):
    with monkeypatch.context() as newer:
        newer.setattr(provenance, "FORMAT", provenance.FORMAT + 1)
        plain.save(tmp_path / name)
    with pytest.raises(StoreError, match="newer bookwarp"):
        load(tmp_path / name)


@pytest.mark.parametrize("name", WHOLE)
def test_run_whose_books_are_not_those_of_its_digest_is_damaged(plain, tmp_path, name, monkeypatch):
    state = plain.state.copy()
    state.bid[2, 3] += 1
    damaged = dataclasses.replace(plain, state=state)
    with monkeypatch.context() as stale:
        stale.setattr(type(plain), "digest", lambda run: plain.state.digest())
        damaged.save(tmp_path / name)
    with pytest.raises(StoreError, match=f"{name} is damaged: its contents"):
        load(tmp_path / name)


@pytest.mark.parametrize("name", WHOLE)
def test_flipped_bit_gives_the_same_run_or_none(varied, tmp_path, name, same_run):
    """A bit of a description or of unused room may change; a value never does unseen."""
    varied.save(tmp_path / name)
    files = data_files(tmp_path / name)
    random = np.random.default_rng(1)
    refused = 0
    for _ in range(40):
        file = files[random.integers(len(files))]
        whole = file.read_bytes()
        changed = bytearray(whole)
        changed[random.integers(len(whole))] ^= 1 << random.integers(8)
        file.write_bytes(changed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                same_run(load(tmp_path / name), varied)
            except StoreError:
                refused += 1
        file.write_bytes(whole)
    assert refused > 5
    same_run(load(tmp_path / name), varied)


def test_truncated_file_is_refused(varied, tmp_path):
    varied.save(tmp_path / "run.nc")
    whole = (tmp_path / "run.nc").read_bytes()
    for length in range(1, len(whole) - 1, len(whole) // 20):
        (tmp_path / "run.nc").write_bytes(whole[:length])
        with pytest.raises(StoreError, match=r"run\.nc"):
            load(tmp_path / "run.nc")


def test_missing_chunk_of_a_history_is_not_read_as_zeros(varied, tmp_path):
    varied.save(tmp_path / "run.zarr")
    for chunk in (tmp_path / "run.zarr" / "history_volume" / "c").rglob("*"):
        if chunk.is_file():
            chunk.unlink()
    with pytest.raises(StoreError, match="is damaged"):
        load(tmp_path / "run.zarr")


@pytest.mark.parametrize("name", ALL)
def test_full_disk_is_said_and_leaves_nothing(varied, tmp_path, name, monkeypatch):
    """The library that writes meets the error in the middle of its work."""

    def fail(run, path):
        path.mkdir() if name == "run.zarr" else path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setitem(store._WRITERS, name[3:], fail)
    with pytest.raises(StoreError, match=f"{name} cannot be written: the disk is full"):
        varied.save(tmp_path / name)
    assert files_in(tmp_path) == []


def test_netcdf_that_cannot_be_written_ends_in_an_error_and_not_in_a_crash(varied, tmp_path):
    """Every write is refused after some bytes, as on a full disk."""
    from bookwarp.results import netcdf

    class FullFile(netcdf._SwallowingFile):
        room = 0

        def write(self, data):
            self.room -= len(memoryview(data).cast("B"))
            if self.room < 0 and self.error is None:
                self.error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data)

    for room in (0, 600, 5_000, 50_000):
        FullFile.room = room
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(netcdf, "_SwallowingFile", FullFile)
            with pytest.raises(StoreError, match="the disk is full"):
                varied.save(tmp_path / "run.nc")
        assert files_in(tmp_path) == []


@pytest.mark.parametrize("name", ALL)
def test_old_run_survives_a_failure_to_replace_it(plain, varied, tmp_path, name, monkeypatch):
    plain.save(tmp_path / name)
    before = [each.read_bytes() for each in data_files(tmp_path / name)]

    def fail(run, path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setitem(store._WRITERS, name[3:], fail)
    with pytest.raises(StoreError):
        varied.save(tmp_path / name, overwrite=True)
    assert [each.read_bytes() for each in data_files(tmp_path / name)] == before


def test_interrupt_leaves_nothing_behind(plain, tmp_path, monkeypatch):
    def interrupt(run, path):
        path.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setitem(store._WRITERS, ".zarr", interrupt)
    with pytest.raises(KeyboardInterrupt):
        plain.save(tmp_path / "run.zarr")
    assert files_in(tmp_path) == []


def test_link_to_a_store_is_followed(plain, varied, tmp_path):
    plain.save(tmp_path / "real.zarr")
    (tmp_path / "link.zarr").symlink_to(tmp_path / "real.zarr")
    varied.save(tmp_path / "link.zarr", overwrite=True)
    assert (tmp_path / "link.zarr").is_symlink()
    assert load(tmp_path / "real.zarr").digest() == varied.digest()


def test_file_has_the_permissions_of_any_new_file(plain, tmp_path):
    (tmp_path / "other").touch()
    plain.save(tmp_path / "run.nc")
    mode = (tmp_path / "run.nc").stat().st_mode
    assert mode == (tmp_path / "other").stat().st_mode


def test_chunks_are_bounded_and_cover_the_array():
    for shape in [(3,), (10**7,), (10**5, 128), (500, 10**6), (7, 3, 65_536), (1, 1)]:
        chunk = store._chunk_shape(shape, 8)
        assert 8 * np.prod(chunk) <= store._CHUNK_BYTES
        assert all(1 <= part <= whole for part, whole in zip(chunk, shape, strict=True))
        assert np.prod(chunk) == np.prod(shape) or 16 * np.prod(chunk) > store._CHUNK_BYTES
