"""Whether CUDA works here: asked of the driver itself, since that is quicker than its packages."""

import ctypes
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

PACKAGES = ("cuda.core", "cuda.bindings")
LOWEST_CAPABILITY = (8, 0)
"""The kernels use instructions that came with this compute capability (2020)."""

_NO_DEVICE = 100
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76
# The first driver that knows a major version of CUDA.
_FIRST_DRIVER = {12: "525", 13: "580"}


def packages_installed() -> bool:
    """Return whether the packages of the extra `cuda` are here; none of them is imported."""
    return all(_is_installed(name) for name in PACKAGES)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def unavailable_reason() -> str | None:
    """Return why CUDA does not work here, with a remedy, or None if it does."""
    if not packages_installed():
        return "its packages are not installed: pip install 'bookwarp[cuda]'"
    return _driver_reason()


def driver_installed() -> bool:
    """Return whether there is an NVIDIA driver, and so most likely a GPU."""
    return _load_driver() is not None


@cache
def _load_driver() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None


@cache
def _driver_reason() -> str | None:
    """Return why the driver cannot be used, or None; asked once, as the answer does not change."""
    driver = _load_driver()
    if driver is None:
        return "there is no NVIDIA driver: install one, version 580 or newer"
    status = driver.cuInit(0)
    if status == _NO_DEVICE:
        return "the NVIDIA driver finds no GPU: see what nvidia-smi and CUDA_VISIBLE_DEVICES say"
    if status != 0:
        return f"the NVIDIA driver does not start (CUDA error {status}): see what nvidia-smi says"
    return _version_reason(driver) or _capability_reason(driver)


def _version_reason(driver: ctypes.CDLL) -> str | None:
    number = ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(number))
    major, minor = number.value // 1000, number.value % 1000 // 10
    needed = _needed_major()
    if major >= needed:
        return None
    return (
        f"the NVIDIA driver knows CUDA up to {major}.{minor}, and the installed packages are for "
        f"CUDA {needed}: install driver {_FIRST_DRIVER.get(needed, 'of that CUDA')} or newer"
    )


def _needed_major() -> int:
    try:
        return int(version("cuda-bindings").partition(".")[0])
    except (PackageNotFoundError, ValueError):
        return min(_FIRST_DRIVER)


def _capability_reason(driver: ctypes.CDLL) -> str | None:
    found = _device_capabilities(driver)
    if any(each >= LOWEST_CAPABILITY for each in found):
        return None
    return old_gpu_sentence(max(found, default=(0, 0)))


def _device_capabilities(driver: ctypes.CDLL) -> list[tuple[int, int]]:
    """Return the compute capability of every GPU, in the order of their numbers."""
    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    found = []
    for device in range(count.value):
        values = []
        for attribute in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR):
            value = ctypes.c_int()
            driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            values.append(value.value)
        found.append((values[0], values[1]))
    return found


def old_gpu_sentence(capability: tuple[int, int]) -> str:
    """Return what is said of a GPU that is too old."""
    found, lowest = (".".join(map(str, each)) for each in (capability, LOWEST_CAPABILITY))
    return (
        f"the GPU has compute capability {found}, and {lowest} or higher is needed (Ampere, 2020, "
        f"or newer): use engine 'cpu'"
    )
