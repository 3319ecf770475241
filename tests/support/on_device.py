"""What the tests that need a GPU share: when they run, and which kernels they are held against."""

import pytest

from bookwarp.engines.cuda import kernel_key
from bookwarp.engines.cuda.availability import unavailable_reason
from bookwarp.engines.cuda.kernel_key import Arrangement

REASON = unavailable_reason()
device_tests = [
    pytest.mark.device,
    pytest.mark.skipif(REASON is not None, reason=f"needs a GPU: {REASON}"),
]

KERNELS = {
    "one a warp": Arrangement(1, False),
    "two a warp": Arrangement(2, False),
    "four a warp": Arrangement(4, False),
    "draws ahead": Arrangement(1, True),
    "general": None,
}
"""How the counting kernel puts markets on warps, and the kernel that runs everything."""


def force_kernel(patch, name):
    """Let every ensemble that can be run by one of `KERNELS` be run by it."""
    wanted = KERNELS[name]
    if wanted is None:
        patch.setattr(kernel_key, "counts_orders", lambda orders: False)
        return

    def choose(auction, orders, shape):
        possible = kernel_key.arrangements(orders)
        return wanted if wanted in possible else possible[0]

    patch.setattr(kernel_key, "_choose_arrangement", choose)


@pytest.fixture(params=KERNELS)
def kernel(request, monkeypatch):
    """Runs a test on every kernel."""
    force_kernel(monkeypatch, request.param)
    return request.param
