"""Ctrl-C and termination, made into one KeyboardInterrupt that leaves time to keep what is done."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def first_signal_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first Ctrl-C or SIGTERM, and ignore those that follow."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {each: signal.signal(each, interrupt) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
