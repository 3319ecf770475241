"""A TOML file that the command line is given."""

import tomllib
from pathlib import Path
from typing import Any

from bookwarp.spec.errors import ParameterError


def read_toml(path: Path, noun: str) -> dict[str, Any]:
    """Return what is in a file; `noun` is what errors call it.

    Raises:
        ParameterError: it cannot be read, or is not TOML.
    """
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise ParameterError(f"{noun} {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{noun} {path} is not TOML: {error}") from None
    except (ValueError, RecursionError):
        # Limits of Python on what it reads.
        raise ParameterError(
            f"{noun} {path} cannot be read: it has an integer of thousands of digits, or lists in "
            f"lists without end"
        ) from None
