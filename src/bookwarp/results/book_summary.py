"""What continuous books counted together, as one object that JSON holds."""

from typing import Any

import numpy as np

from bookwarp.spec.book_state import BookState
from bookwarp.spec.events import REJECT_REASONS, Counter, Flag


def summarise_books(state: BookState, engine: str, elapsed_s: float) -> dict[str, Any]:
    """Return the sums over all books, and the rate; `Books.summary` says what is in it.

    Args:
        state: of the books.
        engine: name of the engine.
        elapsed_s: seconds in which it took the messages that the books counted.
    """
    total = {counter: _exact_sum(state.counters[:, counter]) for counter in Counter}
    by_reason = {reason.name.lower(): total[_counter_of(reason)] for reason in REJECT_REASONS}
    accepted, messages = total[Counter.ACCEPTED], total[Counter.MESSAGES]
    return {
        "books": state.books,
        **{each.name.lower(): total[each] for each in Counter if each <= Counter.LOTS},
        "rejected": sum(by_reason.values()),
        "rejected_by_reason": by_reason,
        "flags": {
            str(flag.name).lower(): int(np.count_nonzero(state.flags & int(flag))) for flag in Flag
        },
        "resting_orders": len(state.orders),
        "fills_per_order": total[Counter.TRADES] / accepted if accepted else None,
        "engine": engine,
        "elapsed_s": elapsed_s,
        "messages_per_s": messages / elapsed_s if elapsed_s > 0 else None,
    }


def _counter_of(reason: int) -> Counter:
    return Counter(Counter.LOTS + reason)


def _exact_sum(column: np.ndarray) -> int:
    """Return the sum of fewer than 2**32 int64 values, which need not fit in one."""
    return (int((column >> 32).sum()) << 32) + int((column & 0xFFFFFFFF).sum())
