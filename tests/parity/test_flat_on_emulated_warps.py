"""Blocks of flat rows through the cuda engine, its kernels run by emulated warps.

A part of what tests/device asks of a GPU, for machines without one.
"""

import pytest
from emulated_books import play_gpu
from emulated_kernels import needs_compiler
from test_flat_blocks import follow

from bookwarp.engines import registry
from bookwarp.testing.flat_orders import random_flat_orders

pytestmark = needs_compiler


@pytest.mark.parametrize("tile", [65_536, 3])
def test_blocks_are_those_of_the_plain_matcher(tile, monkeypatch):
    play_gpu(monkeypatch)
    monkeypatch.setattr(registry, "_reason_against", lambda name: None)
    blocks = [random_flat_orders(400, 7, seed, ids=4) for seed in range(2)]
    running = follow(blocks, "cuda", tile, 1)
    assert running.engine == "cuda"
    assert running.next_trade_id > 300
