"""What is written on the command line, turned into the values of parameters."""

import re
from typing import Any

import numpy as np

from bookwarp.spec.errors import ParameterError
from bookwarp.spec.parameters import PARAMETERS

NOTHING = "none"
EVERYTHING = "all"
_LARGEST_RANGE = 10_000_000
_SHOWN = 60
_UNITS = {"": 1, "b": 1}
_UNITS |= {f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", 1)}
_UNITS |= {f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)}


def parse_text(name: str, text: str) -> str:
    """Return `text` as it is."""
    return text


def parse_integer(name: str, text: str) -> int:
    """Return the integer in `text`."""
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{name} must be an integer, not {_shown(text)}") from None


def parse_number(name: str, text: str) -> float:
    """Return the number in `text`."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{name} must be a number, not {_shown(text)}") from None


def parse_parameter(name: str, text: str) -> Any:
    """Return one number, or a list with one number per market where `text` has commas."""
    parse = parse_number if PARAMETERS[name].real else parse_integer
    values = [parse(name, part) for part in text.split(",")]
    return values if len(values) > 1 else values[0]


def parse_mix(name: str, text: str) -> dict[str, Any]:
    """Return the shares in "noise=.7,maker=.3"; a share may be "rest", or one per market.

    A number without a name belongs to the share before it: "maker=.1,.2,noise=rest" holds maker
    0.1 in the first market and 0.2 in the second.
    """
    shares: dict[str, list[Any]] = {}
    share = None
    for part in text.split(","):
        before, equals, value = part.rpartition("=")
        if equals:
            share = before.strip()
            if share in shares:
                raise ParameterError(f"{name}: {share} is given twice")
            shares[share] = []
        if share is None:
            raise ParameterError(
                f"{name} must be shares as in noise=.7,momentum=.15,maker=.15, not {_shown(text)}"
            )
        word = value.strip()
        shares[share].append(word if word == "rest" else parse_number(f"{name}.{share}", word))
    return {each: values if len(values) > 1 else values[0] for each, values in shares.items()}


def parse_names(name: str, text: str) -> tuple[str, ...]:
    """Return the names between commas; "none" is no name."""
    if text == NOTHING:
        return ()
    return tuple(part.strip() for part in text.split(","))


def parse_name_or_names(name: str, text: str) -> str | tuple[str, ...]:
    """Return one name, or one name per market where `text` has commas."""
    names = parse_names(name, text)
    return names if len(names) > 1 else text


def parse_integers(name: str, text: str) -> list[int]:
    """Return the integers between commas."""
    return [parse_integer(name, part) for part in text.split(",")]


def parse_indices(name: str, text: str) -> np.ndarray:
    """Return the integers in "0,1,5" or "0:10", a half-open range, or both. int64 [index]."""
    parts = [_parse_range(name, part) for part in text.split(",")]
    if sum(part.stop - part.start for part in parts) > _LARGEST_RANGE:
        raise ParameterError(f"{name}: {_shown(text)} is more than {_LARGEST_RANGE} values")
    try:
        return np.concatenate([np.array(part, np.int64) for part in parts])
    except OverflowError:
        raise ParameterError(f"{name}: {_shown(text)} does not fit in 64 bits") from None


def parse_devices(name: str, text: str) -> str | list[int]:
    """Return the integers in "0,1", or "all"."""
    return text if text == EVERYTHING else parse_integers(name, text)


def _parse_range(name: str, text: str) -> range:
    start, colon, stop = text.partition(":")
    first = parse_integer(name, start)
    last = parse_integer(name, stop) if colon else first + 1
    if last <= first:
        raise ParameterError(f"{name}: {_shown(text)} is an empty range")
    return range(first, last)


def parse_bytes(name: str, text: str) -> int:
    """Return the bytes in "2000000000", "2GB" (powers of 1000) or "2GiB" (powers of 1024)."""
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in _UNITS:
        raise ParameterError(
            f"{name} must be a number of bytes as in 2000000000, 2GB or 2GiB, not {_shown(text)}"
        )
    return int(float(match[1]) * _UNITS[match[2]])


def _shown(text: str) -> str:
    """Return `text` in quotes, cut where it is too long to show."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
