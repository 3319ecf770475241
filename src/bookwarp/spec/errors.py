"""The errors bookwarp raises on purpose; every one says what to change."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

_MOST_SHOWN = 100


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
    names, said = [str(each) for each in known], shown(name, str)
    nearest = get_close_matches(said, names, n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]!r}?" if nearest else f"it is one of {', '.join(names)}."
    return f"unknown {kind} {said!r}: {hint}"


def shown(value: object, write: Callable[[object], str] = repr) -> str:
    """Return a value as a sentence shows it: what is long is cut."""
    try:
        text = write(value)
    except ValueError:
        # Python does not write integers of more than some thousand digits.
        return "an integer of thousands of digits"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
