"""What the tests that need a GPU share: when they run, and which kernels they are held against."""

import pytest

from bookwarp.engines.cuda import engine, kernel_key
from bookwarp.engines.cuda.availability import unavailable_reason

REASON = unavailable_reason()
device_tests = [
    pytest.mark.device,
    pytest.mark.skipif(REASON is not None, reason=f"needs a GPU: {REASON}"),
]

KERNELS = ("alone", "together", "general")
"""A market to a warp, two to a warp, and the kernel that runs everything."""


def force_kernel(patch, name):
    """Let every ensemble that can be run by one of `KERNELS` be run by it."""
    if name == "general":
        patch.setattr(kernel_key, "_markets_per_warp", lambda auction, counts, warps: 0)
    else:
        patch.setattr(engine, "WARPS_PER_MULTIPROCESSOR", 0 if name == "together" else 10**6)


@pytest.fixture(params=KERNELS)
def kernel(request, monkeypatch):
    """Runs a test on every kernel."""
    force_kernel(monkeypatch, request.param)
    return request.param
