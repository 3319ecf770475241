"""The kernels for continuous books, by name, and how a test is run on one of them."""

from bookwarp.engines.cuda.books import engine

BOOK_KERNELS = {"128 slots": (4, 0), "256 slots": (8, 0), "levels": (0,)}
"""Slots a lane of the kernels that are tried in turn where one is to be tested."""


def force_book_kernel(patch, name):
    """Let every book begin with a kernel."""
    patch.setattr(engine, "slot_ladder", lambda rules, live: BOOK_KERNELS[name])
