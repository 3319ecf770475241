"""The sources of the kernels, run by emulated warps, end in the reference's bits.

A part of what tests/device asks of a GPU, for machines without one.
"""

import emulated_gpu
import pytest
from emulated_gpu import emulated_gpus as emulated_gpus
from emulated_kernels import needs_compiler
from kernels_in_cpp import in_cpp, run_on_warps
from on_device import KERNELS, force_kernel
from parity_cases import CORNERS, build, everything

from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.testing.parity import assert_engines_agree

pytestmark = needs_compiler

# What differs from other corners in how a kernel works, not only in what it is given.
SELECTED = (
    *("levels 8", "levels 15", "levels 1000", "one market", "one agent", "257 agents"),
    *("200 steps", "no depth", "depth at the bound", "large orders", "narrowest wide cells"),
    *("many lots at few prices", "a side runs out near an edge", "makers beyond the grid"),
    "everything per market",
)


@pytest.fixture(params=KERNELS)
def warps(request, monkeypatch, emulated_gpus):
    """Runs what is launched on emulated warps, every ensemble by a kernel of one kind."""
    monkeypatch.setattr(emulated_gpu, "run_kernel", run_on_warps)
    force_kernel(monkeypatch, request.param)
    return request.param


@pytest.mark.parametrize("mix", ["all", "given", "per market"])
@pytest.mark.parametrize("window", ["fixed", "following"])
@pytest.mark.parametrize("stream", ["default", "paper"])
def test_kernels_agree(warps, stream, window, mix):
    auction, steps = build(window, stream, mix)
    assert_engines_agree(auction, steps, everything(auction), ("reference", CudaEngine))


@pytest.mark.parametrize("corner", SELECTED)
def test_kernels_agree_at_corners(warps, corner):
    auction, steps = build("following", "default", "default", **CORNERS[corner])
    plan = everything(auction, every=3)
    assert_engines_agree(auction, steps, plan, ("reference", CudaEngine))


def test_ptx_without_a_form_is_an_error():
    assert in_cpp('asm("shr.u32 %0, %1, 31;" : "=r"(bit) : "r"(f(a)));') == "bit = f(a) >> 31;"
    with pytest.raises(KeyError, match=r"popc\.b32"):
        in_cpp('asm("popc.b32 %0, %1;" : "=r"(count) : "r"(word));')
