"""`bookwarp info`: what is installed here, and what it can do."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bookwarp.cli.options import Json
from bookwarp.cli.tables import print_facts, print_json

_PACKAGES = (
    *("bookwarp", "numpy", "numba", "cuda-core"),
    *("xarray", "zarr", "h5netcdf", "pyarrow", "matplotlib"),
)


def info(as_json: Json = False) -> None:
    """Print versions, cores, memory, and which engines work here."""
    facts = gather_facts()
    if as_json:
        print_json(facts)
    else:
        _print_table(facts)


def gather_facts() -> dict[str, Any]:
    """Return what `bookwarp info` prints; bytes are whole numbers, absent packages None."""
    import psutil

    from bookwarp.engines.cuda.tuned import remembered_choices
    from bookwarp.engines.registry import available_threads, choose_engine, engine_status

    memory = psutil.virtual_memory()
    status = engine_status()
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "usable_cores": available_threads(),
        "memory_bytes": memory.total,
        "free_memory_bytes": memory.available,
        "engines": {n: {"available": r is None, "reason": r} for n, r in status.items()},
        "engine_auto": choose_engine("auto"),
        "compiled_code": _compiled_code(),
        "tuned": remembered_choices(),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _compiled_code() -> str | None:
    """Return the folder of the compiled engine, or None where it cannot be compiled."""
    from bookwarp.engines.registry import engine_status

    if engine_status()["cpu"] is not None:
        return None
    from bookwarp.engines.cpu.kernel import run_markets

    return str(run_markets.stats.cache_path)


def _describe_choice(kept: dict[str, Any]) -> str:
    """Return in one line what `bookwarp tune` has found; a part that is not known is left out."""
    choice = ", ".join(f"{name} {value}" for name, value in kept["choice"].items())
    about = [kept["gpu"]]
    if {"markets", "agents", "stream"} <= kept.keys():
        about.append(
            f"up to {kept['markets']} markets of {kept['agents']} agents, stream {kept['stream']}"
        )
    return f"{', '.join(about)}: {choice}"


def _print_table(facts: dict[str, Any]) -> None:
    total, free = (facts[name] / 2**30 for name in ("memory_bytes", "free_memory_bytes"))
    versions = {name: facts[name] or "not installed" for name in _PACKAGES}
    rows = {"python": f"{facts['python']} on {facts['platform']}", **versions}
    rows["cores"] = f"{facts['usable_cores']} usable of {facts['cores']}"
    rows["memory"] = f"{free:.1f} GiB free of {total:.1f} GiB"
    for name, status in facts["engines"].items():
        chosen = ", chosen by auto" if name == facts["engine_auto"] else ""
        rows[f"engine {name}"] = status["reason"] or f"available{chosen}"
    rows["compiled code"] = facts["compiled_code"] or "none"
    for number, kept in enumerate(facts["tuned"], 1):
        rows[f"tuned {number}"] = _describe_choice(kept)
    print_facts(rows)
