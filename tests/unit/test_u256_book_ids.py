"""Book ids: every order finds the book of its id, however many there are, and how alike."""

import numpy as np
import pytest

from bookwarp.consensus import book_ids
from bookwarp.consensus.book_ids import BookIds
from bookwarp.spec.errors import ParameterError


def ids_of(*words):
    """Return ids of four words each, which differ in one of them only."""
    found = {}
    for place in range(4):
        for word in words:
            each = bytearray(32)
            each[8 * place : 8 * place + 8] = word.to_bytes(8, "big")
            found[bytes(each)] = None
    return list(found)


def calldata_of(ids):
    rows = np.full((len(ids), 117), 7, np.uint8)
    rows[:, 85:] = np.frombuffer(b"".join(ids), np.uint8).reshape(-1, 32)
    return rows


@pytest.mark.parametrize("size", [1, 2, 3, 5000])
def test_every_id_finds_its_book(size):
    ids = ids_of(*range(size))
    mapping = {each: number * 7 % (size * 4) for number, each in enumerate(ids)}
    known = BookIds.of(mapping, size * 4)
    order = np.random.default_rng(1).integers(0, len(ids), 30_000)
    found = known.find(calldata_of([ids[each] for each in order]))
    assert found.tolist() == [mapping[ids[each]] for each in order]
    assert known.to_dict() == mapping


def test_ids_that_meet_in_the_table_are_told_apart(monkeypatch):
    monkeypatch.setattr(BookIds, "_slots", lambda self, words: np.zeros(len(words), np.int64) + 5)
    ids = ids_of(*range(9))
    known = BookIds.of({each: number for number, each in enumerate(ids)}, len(ids))
    assert known.find(calldata_of(ids)).tolist() == list(range(len(ids)))
    with pytest.raises(ParameterError, match="order 0"):
        known.find(calldata_of([bytes([255]) * 32]))


def test_first_order_of_an_unknown_id_is_named(monkeypatch):
    monkeypatch.setattr(book_ids, "_PIECE", 4)
    known = BookIds.of({bytes(32): 0, bytes(31) + b"\1": 1}, 2)
    ids = [bytes(32)] * 6 + [bytes(31) + b"\2", bytes(31) + b"\3"]
    with pytest.raises(ParameterError, match=r"order 6: its book id at offset 85, 0{63}2, is not"):
        known.find(calldata_of(ids))


def test_several_ids_may_name_one_book():
    known = BookIds.of({bytes(32): 3, bytes([1]) * 32: 3}, 4)
    assert known.find(calldata_of([bytes([1]) * 32, bytes(32)])).tolist() == [3, 3]
