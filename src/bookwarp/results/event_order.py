"""Events, which engines give by book, in the order of the messages that caused them."""

import numpy as np


def by_message(message: np.ndarray, messages: int) -> np.ndarray:
    """Return where the events lie, in the order of their messages. int64 [event].

    Args:
        message: uint32 [event], of each event its message; those of one message lie together.
        messages: how many messages there are.
    """
    if not len(message):
        return np.zeros(0, np.int64)
    opens = np.concatenate([[True], message[1:] != message[:-1]])
    firsts = np.flatnonzero(opens)
    counts = np.diff(np.append(firsts, len(message)))
    # Few messages have no event, so that a table by message costs less than sorting.
    runs = np.zeros(messages, np.int64)
    runs[message[firsts]] = counts
    begins = np.cumsum(runs) - runs
    target = np.repeat(begins[message[firsts]] - firsts, counts) + np.arange(len(message))
    order = np.empty(len(message), np.int64)
    order[target] = np.arange(len(message))
    return order
