"""Whether an engine gives what a file of vectors says, byte for byte."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.consensus.u256_books import U256Books
from bookwarp.consensus.vector_files import Slots, Vector, read_vectors
from bookwarp.spec.u256 import (
    ARENA_COLUMNS,
    FILL_COUNT_AT,
    FILLED_AT,
    NUMBER_BYTES,
    RESULT_BYTES,
    VWAP_AT,
    column_at,
)

_FIELDS = {
    "filled quantity": (FILLED_AT, VWAP_AT),
    "average price": (VWAP_AT, FILL_COUNT_AT),
    "number of fills": (FILL_COUNT_AT, RESULT_BYTES),
}


@dataclass(frozen=True)
class Difference:
    """The first thing that is not as it should be."""

    vector: str
    step: int | None
    """Counted from 0; None: the results agree, and the book in the end does not."""
    field: str
    expected: str
    found: str

    def __str__(self) -> str:
        where = "the book in the end"
        if self.step is not None:
            where = f"step {self.step} (counted from 0)"
        return (
            f"vector {self.vector!r}, {where}: {self.field} is {self.found}, "
            f"and should be {self.expected}"
        )


@dataclass(frozen=True)
class Verification:
    """What was compared, and the first difference."""

    engine: str
    steps: int
    agreeing_steps: int
    books: int
    """Books whose end the file says."""
    agreeing_books: int
    first: Difference | None

    @property
    def agrees(self) -> bool:
        """Whether there is no difference."""
        return self.first is None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {"agrees": self.agrees, **asdict(self)}

    def __str__(self) -> str:
        found = (
            f"{self.agreeing_steps} of {self.steps} steps agree, {self.agreeing_books} of "
            f"{self.books} books; engine {self.engine}"
        )
        return found if self.first is None else f"{found}\nfirst difference: {self.first}"


def verify(
    path: str | Path | None = None, engine: str = "auto", threads: int | None = None
) -> Verification:
    """Match the orders of a file of vectors, and compare results and books.

    Args:
        path: the file, in the form of docs/consensus.md; None: the vectors that come with bookwarp.
        engine, threads: as of `U256Books`.

    Raises:
        StoreError: the file cannot be read, or something in it is wrong, naming vector and step.
        ParameterError: there is no engine of that name.
        EngineError: the engine does not work here.
    """
    vectors = read_vectors(path)
    steps = agreeing_steps = books = agreeing_books = 0
    first: Difference | None = None
    name = engine
    for vector in vectors:
        book = U256Books(1, vector.capacity, engine, threads)
        name = book.engine
        results = book.match(vector.calldata)
        expected = np.frombuffer(b"".join(vector.results), np.uint8).reshape(results.shape)
        equal = (results == expected).all(axis=1)
        steps, agreeing_steps = steps + len(equal), agreeing_steps + int(equal.sum())
        if first is None and not equal.all():
            first = _step_difference(vector, int(np.argmin(equal)), results)
        if vector.bids is None or vector.asks is None:
            continue
        wrong = _book_difference(vector, book.arena(), vector.bids, vector.asks)
        books, agreeing_books = books + 1, agreeing_books + (wrong is None)
        first = first or wrong
    return Verification(name, steps, agreeing_steps, books, agreeing_books, first)


def _step_difference(vector: Vector, step: int, results: np.ndarray) -> Difference:
    expected, found = vector.results[step], results[step].tobytes()
    name, (at, end) = next(
        (name, place)
        for name, place in _FIELDS.items()
        if expected[slice(*place)] != found[slice(*place)]
    )
    return Difference(vector.name, step, name, _number(expected[at:end]), _number(found[at:end]))


def _book_difference(vector: Vector, arena: bytes, bids: Slots, asks: Slots) -> Difference | None:
    for number, side in enumerate(("bids", "asks")):
        slots = (bids, asks)[number]
        count = int.from_bytes(arena[4 * number : 4 * number + 4], "little")
        if count != len(slots):
            return Difference(vector.name, None, f"n_{side}", str(len(slots)), str(count))
        for column in ARENA_COLUMNS[2 * number : 2 * number + 2]:
            for index, slot in enumerate(slots):
                at = column_at(column, vector.capacity) + NUMBER_BYTES * index
                found = int.from_bytes(arena[at : at + NUMBER_BYTES], "big")
                expected = slot[ARENA_COLUMNS.index(column) % 2]
                if found != expected:
                    field = f"{column}[{index}]"
                    return Difference(vector.name, None, field, hex(expected), hex(found))
    return None


def _number(data: bytes) -> str:
    return hex(int.from_bytes(data, "big"))
