"""One result from those of several pieces of a batch."""

from collections.abc import Sequence

import numpy as np

from bookwarp.spec.events import EVENT, Matched


def join_pieces(pieces: Sequence[Matched], starts: Sequence[int]) -> Matched:
    """Return what one batch would have given, from consecutive pieces of it.

    Args:
        pieces: results, all with the same fields; messages are counted from the piece's first.
        starts: index of the first message of every piece in the batch.
    """
    depths = [piece.levels for piece in pieces if piece.levels is not None]
    levels = np.concatenate(depths) if depths else None
    offsets = [piece.event_offsets for piece in pieces if piece.event_offsets is not None]
    if not offsets:
        return Matched(None, None, levels)
    all_offsets = np.sum(offsets, axis=0)
    events = np.empty(int(all_offsets[-1]), EVENT)
    next_of_book = all_offsets[:-1].copy()
    for piece, own, start in zip(pieces, offsets, starts, strict=True):
        assert piece.events is not None
        counts = np.diff(own)
        places = np.arange(len(piece.events)) + np.repeat(next_of_book - own[:-1], counts)
        events[places] = piece.events
        events["message"][places] += np.uint32(start)
        next_of_book += counts
    return Matched(events, all_offsets, levels)
