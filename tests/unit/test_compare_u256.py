"""The comparison that is run by hand: it passes where engines agree, and names what differs."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from bookwarp.engines.cpu.u256.engine import CpuU256Engine

TOOL = Path(__file__).resolve().parents[2] / "tools" / "compare_u256.py"


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("compare_u256", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(tool, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["compare_u256.py", *words])
    return tool.main()


SMALL = ("--orders", "6000", "--batch", "2000", "--books", "50")


def test_engines_that_agree_pass(tool, monkeypatch, capsys):
    assert run(tool, monkeypatch, *SMALL, "--engine", "cpu", "--threads", "2") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "6,000 orders agree"


def test_wrong_result_is_named(tool, monkeypatch, capsys):
    match = CpuU256Engine.match

    def spoil(self, calldata, book, tile=None):
        results = match(self, calldata, book, tile)
        if len(results):
            results[-1, 67] ^= 1
        return results

    monkeypatch.setattr(CpuU256Engine, "match", spoil)
    assert run(tool, monkeypatch, *SMALL) == 1
    assert "seed 1, order " in capsys.readouterr().out


def test_wrong_arena_is_named(tool, monkeypatch, capsys):
    read = CpuU256Engine.read_arenas

    def spoil(self, first, stop):
        arenas = np.array(read(self, first, stop))
        arenas[7, 3] ^= 1
        return arenas

    monkeypatch.setattr(CpuU256Engine, "read_arenas", spoil)
    assert run(tool, monkeypatch, *SMALL) == 1
    assert capsys.readouterr().out == "seed 1, arena of book 7\n"
