"""Messages by book on a GPU: a stable radix sort of their indexes."""

from typing import Any

import numpy as np

from bookwarp.engines.cuda.books.kernel_key import BLOCK, TILE
from bookwarp.engines.cuda.books.transfer import TableGpu
from bookwarp.engines.cuda.books.workspace import Workspace
from bookwarp.engines.cuda.gpu import Memory

_DIGIT_BITS, _DIGITS = 8, 256
SCAN_BLOCK = 1024
_WORD = 4


def group_messages(
    gpu: TableGpu, code: Any, space: Workspace, messages: Memory, count: int, books: int
) -> tuple[Memory, Memory]:
    """Put the grouping of a batch on the stream.

    Args:
        gpu: where.
        code: the kernels of group.cu.
        space: what it works in.
        messages: `ORDER` [message].
        count: messages, > 0.
        books: how many there are.

    Returns:
        Indexes of the messages by book, uint32 [message]; and where those of each book start among
        them, uint32 [book + 1].
    """
    keys = take_keys(space, count)
    config = gpu.configure(-(-count // BLOCK), BLOCK, 0)
    kernel = code.get_kernel("read_books")
    gpu.launch(config, kernel, messages.pointer, keys.pointer, np.uint32(count))
    return group_by_book(gpu, code, space, count, books)


def take_keys(space: Workspace, count: int) -> Memory:
    """Return where `group_by_book` finds the books of `count` messages, uint32 [message]."""
    return space.take("books 0", _WORD * count)


def group_by_book(
    gpu: TableGpu, code: Any, space: Workspace, count: int, books: int
) -> tuple[Memory, Memory]:
    """Put the grouping of what was written to `take_keys` on the stream; see `group_messages`."""
    keys = [space.take(f"books {turn}", _WORD * count) for turn in range(2)]
    indexes = [space.take(f"indexes {turn}", _WORD * count) for turn in range(2)]
    tiles = -(-count // TILE)
    counts = space.take("digit counts", _WORD * _DIGITS * tiles)
    places = space.take("digit places", 8 * (_DIGITS * tiles + 1))
    size = np.uint32(count)

    def launch(name: str, grid: int, *arguments: Any) -> None:
        gpu.launch(gpu.configure(grid, BLOCK, 0), code.get_kernel(name), *arguments)

    passes = -(-max(1, (books - 1).bit_length()) // _DIGIT_BITS)
    source = 0
    for number in range(passes):
        shift = np.uint32(number * _DIGIT_BITS)
        launch("count_digits", tiles, keys[source].pointer, size, shift, counts.pointer)
        sum_counts(gpu, code, counts, _DIGITS * tiles, places)
        launch(
            *("place_digits", tiles, keys[source].pointer),
            *(indexes[source].pointer if number else 0, size, shift, places.pointer),
            *(keys[1 - source].pointer, indexes[1 - source].pointer),
        )
        source = 1 - source
    first = space.take("first message", _WORD * (books + 1))
    launch(
        *("find_first_messages", -(-(books + 1) // BLOCK), keys[source].pointer, size),
        *(np.uint32(books), first.pointer),
    )
    return indexes[source], first


def sum_counts(gpu: TableGpu, code: Any, counts: Memory, count: int, offsets: Memory) -> None:
    """Put on the stream: offsets, int64 [count + 1], from counts, uint32 [count]."""
    config = gpu.configure(1, SCAN_BLOCK, 0)
    kernel = code.get_kernel("sum_counts")
    gpu.launch(config, kernel, counts.pointer, np.uint32(count), offsets.pointer)
