"""Paths of results: checked by trying, and written whole or not at all."""

import os

import pytest

from bookwarp.results import output
from bookwarp.results.output import as_path, check_absent, check_folder, written_whole
from bookwarp.spec.errors import ParameterError, StoreError


def files_in(folder):
    return sorted(each.name for each in folder.iterdir())


def test_file_appears_when_the_block_ends(tmp_path):
    target = tmp_path / "result"
    with written_whole(target) as temporary:
        temporary.write_text("whole")
        assert not target.exists()
        assert temporary.parent == target.parent
    assert target.read_text() == "whole"
    assert files_in(tmp_path) == ["result"]


@pytest.mark.parametrize("error", [OSError(5, "broken"), ValueError("wrong"), KeyboardInterrupt()])
def test_nothing_appears_when_the_block_fails(tmp_path, error):
    def write_half():
        with written_whole(tmp_path / "result") as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(StoreError if isinstance(error, OSError) else type(error)):
        write_half()
    assert files_in(tmp_path) == []


def test_folder_takes_the_place_of_a_folder(tmp_path):
    for content in ("old", "new"):
        with written_whole(tmp_path / "store.zarr") as temporary:
            temporary.mkdir()
            (temporary / "zarr.json").write_text(content)
    assert (tmp_path / "store.zarr" / "zarr.json").read_text() == "new"
    assert files_in(tmp_path) == ["store.zarr"]


def test_old_folder_is_put_back_if_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    store = tmp_path / "store.zarr"
    store.mkdir()
    (store / "zarr.json").write_text("old")
    rename = type(store).rename

    def fail_for_the_new(path, target):
        if path.suffix == ".tmp":
            raise OSError(5, "broken")
        return rename(path, target)

    monkeypatch.setattr(type(store), "rename", fail_for_the_new)
    with pytest.raises(StoreError, match="broken"), written_whole(store) as temporary:
        temporary.mkdir()
    assert (store / "zarr.json").read_text() == "old"
    assert files_in(tmp_path) == ["store.zarr"]


def test_what_appeared_meanwhile_is_not_overwritten(tmp_path):
    target = tmp_path / "result"

    def write_both():
        with written_whole(target, overwrite=False) as temporary:
            temporary.write_text("ours")
            target.write_text("theirs")

    with pytest.raises(StoreError, match="exists"):
        write_both()
    assert target.read_text() == "theirs"
    assert files_in(tmp_path) == ["result"]


def test_long_name_can_be_written(tmp_path):
    target = tmp_path / ("x" * 255)
    check_folder(target)
    with written_whole(target) as temporary:
        temporary.write_text("whole")
    assert target.read_text() == "whole"


def test_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    order = []
    fsync, replace = os.fsync, output._replace
    monkeypatch.setattr(os, "fsync", lambda file: (order.append("flush"), fsync(file)))
    monkeypatch.setattr(
        output, "_replace", lambda old, new: (order.append("name"), replace(old, new))
    )
    with written_whole(tmp_path / "result") as temporary:
        temporary.write_text("whole")
    assert order == ["flush", "name"]


def test_path_may_be_text_or_a_path(tmp_path):
    assert as_path(str(tmp_path)) == as_path(tmp_path) == tmp_path
    with pytest.raises(ParameterError, match="not 3"):
        as_path(3)


def test_dangling_link_is_no_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "missing")
    check_absent(tmp_path / "link", overwrite=False)
    with written_whole(tmp_path / "link") as temporary:
        temporary.write_text("whole")
    assert (tmp_path / "missing").read_text() == "whole"
