"""The GPU's own clock, its memory, and what it is; through the CUDA driver, imported when used."""

import subprocess
import time
from collections.abc import Callable
from typing import Any

_QUERY = {
    "gpu": "name",
    "driver": "driver_version",
    "sm_clock_mhz": "clocks.sm",
    "sm_clock_max_mhz": "clocks.max.sm",
    "memory_clock_mhz": "clocks.mem",
    "power_limit_w": "power.limit",
}


def describe_gpu() -> dict[str, Any]:
    """Return name, driver and clocks of the first GPU, from nvidia-smi; None each without one."""
    words = ["nvidia-smi", "-i", "0", f"--query-gpu={','.join(_QUERY.values())}"]
    try:
        done = subprocess.run(
            [*words, "--format=csv,noheader,nounits"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return dict.fromkeys(_QUERY)
    values = [value.strip() for value in done.stdout.splitlines()[0].split(",")]
    return dict(zip(_QUERY, values, strict=True))


def time_on_stream(
    work: Callable[[], object],
    stream: int | None,
    finish: Callable[[], object] = lambda: None,
) -> tuple[float, float | None]:
    """Return how long `work` takes, in seconds: on the wall until all is done, and on `stream`.

    Args:
        work: what puts work on the stream.
        stream: the CUDA stream as a number; None if it is not known, and so is its time.
        finish: what the caller has to do until all is done.
    """
    synchronize()
    events = [] if stream is None else [call_driver("cuEventCreate", 0) for _ in range(2)]
    began = time.perf_counter()
    if events:
        call_driver("cuEventRecord", events[0], stream)
    work()
    if events:
        call_driver("cuEventRecord", events[1], stream)
    finish()
    synchronize()
    seconds = time.perf_counter() - began
    if not events:
        return seconds, None
    milliseconds = call_driver("cuEventElapsedTime", *events)
    for event in events:
        call_driver("cuEventDestroy", event)
    return seconds, milliseconds / 1e3


def synchronize() -> None:
    """Wait until the GPU has nothing to do."""
    call_driver("cuCtxSynchronize")


def gpu_present() -> bool:
    """Return whether the driver finds a GPU; needs the package cuda-bindings."""
    try:
        call_driver("cuInit", 0)
        return int(call_driver("cuDeviceGetCount")) > 0
    except (ImportError, RuntimeError):
        return False


def call_driver(name: str, *arguments: Any) -> Any:
    """Call the driver and return what it returns beside its status."""
    from cuda.bindings import driver

    status, *found = getattr(driver, name)(*arguments)
    if int(status) != 0:
        raise RuntimeError(f"{name}: the CUDA driver answers {status.name}")
    return found[0] if len(found) == 1 else tuple(found)
