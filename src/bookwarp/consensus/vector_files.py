"""Files of vectors: sequences of orders, with the results and the books that they must give."""

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.spec.u256 import MAX_CAPACITY, NUMBER_BYTES, ORDER_BYTES, RESULT_BYTES

_SIDES = ("final_bids", "final_asks")
_LIMIT = 1 << (8 * NUMBER_BYTES)

Slots = list[tuple[int, int]]


@dataclass(frozen=True)
class Vector:
    """A sequence of orders to one book, which is empty at first."""

    name: str
    capacity: int
    calldata: list[bytes]
    results: list[bytes]
    bids: Slots | None
    """What rests in the end, (price, quantity), the best first; None: the file does not say."""
    asks: Slots | None


def read_vectors(path: str | Path | None) -> list[Vector]:
    """Read a file of vectors, or those that come with bookwarp if it is None.

    The file is JSON: `vectors` is a list; each has a `name`, the capacity `cap` and `steps`, each
    of which has `calldata` and `out_exact` in hexadecimal digits; and maybe `final_bids` and
    `final_asks`, pairs of price and quantity in hexadecimal digits.

    Raises:
        StoreError: it cannot be read, or something in it is wrong, naming the vector and the step.
    """
    shown = "the vectors of bookwarp" if path is None else str(path)
    try:
        if path is None:
            text = files("bookwarp.consensus").joinpath("vectors/u256.json").read_text("utf-8")
        else:
            text = Path(path).read_text(encoding="utf-8")
        document = json.loads(text)
    except FileNotFoundError:
        raise StoreError(f"there is no file {shown}") from None
    except OSError as error:
        raise StoreError(f"{shown} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise StoreError(f"{shown} is not JSON: {error}") from None
    try:
        given = _field(document, "vectors", list)
        if not given:
            raise ParameterError("it holds no vectors")
        return [_read_vector(each, number) for number, each in enumerate(given)]
    except ParameterError as error:
        raise StoreError(f"{shown} is not a file of vectors: {error}") from None


def _read_vector(given: Any, number: int) -> Vector:
    where = f"vector {number}"
    name = _field(given, "name", str, where)
    where = f"vector {name!r}"
    capacity = _field(given, "cap", int, where)
    if isinstance(capacity, bool) or not 1 <= capacity <= MAX_CAPACITY:
        raise ParameterError(f"{where}: cap = {capacity} is outside 1 .. {MAX_CAPACITY}")
    steps = _field(given, "steps", list, where)
    calldata, results = [], []
    for index, step in enumerate(steps):
        place = f"{where}, step {index}"
        calldata.append(_bytes(step, "calldata", ORDER_BYTES, place))
        results.append(_bytes(step, "out_exact", RESULT_BYTES, place))
    sides = [_slots(given, side, where) if side in given else None for side in _SIDES]
    return Vector(name, capacity, calldata, results, *sides)


def _field(given: Any, name: str, kind: type, where: str = "the file") -> Any:
    if not isinstance(given, dict) or name not in given:
        raise ParameterError(f"{where} has no {name}")
    if not isinstance(given[name], kind):
        raise ParameterError(f"{where}: {name} is {type(given[name]).__name__}")
    return given[name]


def _bytes(step: Any, name: str, length: int, where: str) -> bytes:
    text = _field(step, name, str, where)
    data: bytes | None
    try:
        data = bytes.fromhex(text)
    except ValueError:
        data = None
    # `fromhex` leaves out spaces, which are no digits.
    if data is None or 2 * len(data) != len(text):
        raise ParameterError(f"{where}: {name} is not hexadecimal digits")
    if len(data) != length:
        raise ParameterError(f"{where}: {name} has {len(data)} bytes, and needs {length}")
    return data


def _slots(given: dict[str, Any], side: str, where: str) -> Slots:
    found: Slots = []
    for index, slot in enumerate(_field(given, side, list, where)):
        try:
            price, qty = (int(number, 16) for number in slot)
        except (TypeError, ValueError):
            raise ParameterError(
                f"{where}: {side}[{index}] is not a price and a quantity in hexadecimal digits"
            ) from None
        if not (0 <= price < _LIMIT and 0 <= qty < _LIMIT):
            raise ParameterError(f"{where}: {side}[{index}] does not fit in 256 bits")
        found.append((price, qty))
    return found
