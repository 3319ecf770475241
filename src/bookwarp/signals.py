"""Signals that wait until what must not be cut is done."""

import signal
import threading
from types import FrameType
from typing import Any


class SignalsDeferred:
    """Holds Ctrl-C and termination back until the piece that is running is whole.

    A context manager without a generator, since it is entered for every single step.
    """

    def __enter__(self) -> None:
        self._caught: list[int] = []
        self._before: dict[int, Any] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        self._before[signal.SIGINT] = signal.signal(signal.SIGINT, self._remember)
        # By default this one ends the process at once, and there is nothing left to spoil.
        if callable(signal.getsignal(signal.SIGTERM)):
            self._before[signal.SIGTERM] = signal.signal(signal.SIGTERM, self._remember)

    def __exit__(self, *raised: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._caught:
            signal.raise_signal(self._caught[0])

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._caught.append(number)
