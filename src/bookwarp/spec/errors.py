"""The errors bookwarp raises on purpose; every one says what to change."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class BookwarpError(Exception):
    """Base of every error that bookwarp raises on purpose."""


class ParameterError(BookwarpError, ValueError):
    """A parameter is outside its domain, does not fit the others, or does not exist.

    Attributes:
        wrong_markets: bool [market], which markets break the rule that the message names; None if
            it is broken by what all of them share.
    """

    def __init__(self, message: str, wrong_markets: Any = None) -> None:
        super().__init__(message)
        self.wrong_markets = wrong_markets


class EngineError(BookwarpError, RuntimeError):
    """An engine cannot run on this machine."""


class StoreError(BookwarpError, OSError):
    """A file cannot be read or written, is damaged, or was not written by bookwarp."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """Return the sentence for a name that does not exist, with the nearest one that does."""
    names = [str(each) for each in known]
    nearest = get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]!r}?" if nearest else f"it is one of {', '.join(names)}."
    return f"unknown {kind} {str(name)!r}: {hint}"
