"""The scheduler of a Dask cluster, as it is named on the command line."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bookwarp.spec.errors import EngineError, ParameterError

_SUFFIX = ".json"
_PATIENCE_SECONDS = 10


@contextmanager
def connected(scheduler: str) -> Iterator[Any]:
    """Yield a client of a scheduler that runs already.

    Args:
        scheduler: its address, as in tcp://10.0.0.1:8786, or the file that it wrote (.json).

    Raises:
        ParameterError: Dask is not installed, or this is neither an address nor such a file.
        EngineError: no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ParameterError('--scheduler needs Dask: pip install "bookwarp[cluster]"') from None
    address = _read_address(scheduler) if scheduler.endswith(_SUFFIX) else scheduler
    _check_address(address, scheduler)
    try:
        client = Client(address, timeout=_PATIENCE_SECONDS, set_as_default=False)
    except OSError as error:
        raise EngineError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        yield client


def _read_address(path: str) -> str:
    """Return the address in the file of a scheduler."""
    try:
        return str(json.loads(Path(path).read_bytes())["address"])
    except OSError as error:
        raise ParameterError(f"--scheduler: {path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise ParameterError(f"--scheduler: {path} is not the file of a Dask scheduler") from None


def _check_address(address: str, scheduler: str) -> None:
    """Refuse what cannot be the address of a scheduler: a client would try it without end."""
    from distributed.comm.addressing import get_address_host_port, normalize_address

    try:
        get_address_host_port(normalize_address(address), strict=True)
    except ValueError as error:
        raise ParameterError(
            f"--scheduler must be an address, as in tcp://10.0.0.1:8786, or the file that the "
            f"scheduler wrote, *{_SUFFIX}, not {scheduler!r}: {error}"
        ) from None
