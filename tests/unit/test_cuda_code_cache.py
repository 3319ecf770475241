"""Compiled code on disk: found again, never read damaged, never in the way."""

import os
import threading
from pathlib import Path

import pytest

from bookwarp.engines.cuda import compile as compiling
from bookwarp.engines.cuda.code_cache import CodeCache, cache_folder

NAME = CodeCache.name_of("source", "sm_90")


def test_what_was_written_is_read(tmp_path):
    CodeCache(tmp_path / "new" / "folder").write(NAME, b"machine code")
    assert CodeCache(tmp_path / "new" / "folder").read(NAME) == b"machine code"


def test_what_was_not_written_is_absent(tmp_path):
    assert CodeCache(tmp_path).read(NAME) is None
    assert CodeCache(tmp_path / "nowhere").read(NAME) is None


def test_a_name_depends_on_every_text_and_where_it_ends():
    names = {
        CodeCache.name_of(*texts)
        for texts in (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["ab", "c", "13.0"])
    }
    assert len(names) == 5


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: b"",
        lambda data: data[:20],
        lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
        lambda data: bytes([data[0] ^ 1]) + data[1:],
        lambda data: data + b"\0",
    ],
)
def test_a_damaged_file_is_absent_and_is_replaced(tmp_path, damage):
    kept = CodeCache(tmp_path)
    kept.write(NAME, b"machine code of a kernel")
    file = tmp_path / NAME
    file.write_bytes(damage(file.read_bytes()))
    assert kept.read(NAME) is None
    kept.write(NAME, b"machine code of a kernel")
    assert kept.read(NAME) == b"machine code of a kernel"
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    kept = CodeCache(tmp_path / "file" / "folder")
    kept.write(NAME, b"machine code")
    assert kept.read(NAME) is None


def test_nothing_is_left_of_a_write_that_fails(tmp_path, monkeypatch):
    def fail(self, target):
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", fail)
    CodeCache(tmp_path).write(NAME, b"machine code")
    assert list(tmp_path.iterdir()) == []


def test_writers_at_the_same_time_leave_one_whole_file(tmp_path):
    kept, found = CodeCache(tmp_path), []

    def write(number):
        for _ in range(20):
            kept.write(NAME, bytes([number]) * 100_000)
            found.append(kept.read(NAME))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {len(code) for code in found} == {100_000}
    assert {len(set(code)) for code in found} == {1}


@pytest.mark.skipif(os.name == "nt", reason="folders of another system")
def test_the_folder_is_the_users_unless_one_is_named(monkeypatch):
    monkeypatch.setenv("BOOKWARP_CACHE_DIR", "/somewhere/else")
    assert cache_folder() == Path("/somewhere/else")
    monkeypatch.delenv("BOOKWARP_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache/of/user")
    assert cache_folder() == Path("/cache/of/user/bookwarp")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/user")
    assert cache_folder() == Path("/user/.cache/bookwarp")


class Compiler:
    """Stands for NVRTC: counts what it is asked for."""

    def __init__(self, monkeypatch, folder):
        self.asked = []
        self.version = (13, 0)
        monkeypatch.setenv("BOOKWARP_CACHE_DIR", str(folder))
        monkeypatch.setattr(compiling, "join_sources", lambda key: f"source of {key}")
        monkeypatch.setattr(compiling, "_compiler_version", lambda: self.version)
        monkeypatch.setattr(compiling, "compile_source", self.compile)

    def compile(self, source, arch, what):
        key = source.removeprefix("source of ")
        self.asked.append((key, arch))
        return f"code of {key} for {arch}".encode(), "log"

    def find(self, key, arch="sm_90"):
        return compiling.find_code(key, arch)


def test_code_is_compiled_once_for_every_key_arch_and_compiler(tmp_path, monkeypatch):
    compiler = Compiler(monkeypatch, tmp_path)
    for _ in range(2):
        assert compiler.find("a") == b"code of a for sm_90"
        assert compiler.find("b") == b"code of b for sm_90"
        assert compiler.find("a", "sm_80") == b"code of a for sm_80"
    assert compiler.asked == [("a", "sm_90"), ("b", "sm_90"), ("a", "sm_80")]
    compiler.version = (13, 1)
    compiler.find("a")
    assert len(compiler.asked) == 4


def test_code_is_compiled_where_nothing_can_be_kept(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    compiler = Compiler(monkeypatch, tmp_path / "file")
    assert compiler.find("a") == compiler.find("a") == b"code of a for sm_90"
    assert len(compiler.asked) == 2
