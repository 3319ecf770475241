"""The tool that writes the words of the default stream for outside batteries."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from bookwarp.reference.random import hash_block
from bookwarp.spec.market import CallAuction

TOOL = Path(__file__).resolve().parents[2] / "tools" / "stream_words.py"
COORDINATES = ("seed", "market", "step", "agent")
FIRST_SEED = 2**64 - 2
SHAPE = (2, 3, 5, 7)


@pytest.fixture(scope="module")
def tool():
    spec = spec_from_file_location(TOOL.stem, TOOL)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference_words():
    """Return the words of the reference, uint32 [seed, market, step, agent]."""
    words = np.empty(SHAPE, np.uint32)
    seeds, markets, steps, agents = SHAPE
    for seed in range(seeds):
        auction = CallAuction.of(markets, agents=agents, seed=FIRST_SEED + seed)
        for step in range(steps):
            hashed = hash_block(auction, np.arange((agents + 1) // 2), step)
            pairs = np.stack([hashed >> np.uint64(32), hashed & np.uint64(2**32 - 1)], axis=-1)
            words[seed, :, step] = pairs.reshape(markets, -1)[:, :agents]
    return words


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 0, 1), (1, 3, 2, 0)])
def test_words_are_those_of_the_reference_in_the_order_asked_for(tool, capsysbinary, order):
    sizes = [f"--{name}s={size}" for name, size in zip(COORDINATES, SHAPE, strict=True)]
    names = ",".join(COORDINATES[place] for place in order)
    expected = reference_words().transpose(order).ravel()
    tool.main(["--order", names, "--seed", str(FIRST_SEED), *sizes, "--words", "210"])
    found = np.frombuffer(capsysbinary.readouterr().out, np.uint32)
    np.testing.assert_array_equal(found, expected)


def test_writing_ends_quietly_when_the_reader_has_had_enough():
    command = [sys.executable, TOOL]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writing:
        assert len(writing.stdout.read(8)) == 8
        writing.stdout.close()
        assert writing.stderr.read() == b""
    assert writing.returncode == 0
