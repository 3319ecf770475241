"""keccak256, trees of rows and proofs: known answers of another program, and trees by hand."""

import struct
import sys
from dataclasses import replace

import numpy as np
import pytest

from bookwarp import ParameterError
from bookwarp.consensus import keccak as keccak_module
from bookwarp.consensus.keccak import keccak256
from bookwarp.consensus.merkle import prove_row, row_root, verify_row

EMPTY = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
# Of lengths around a block of 136 bytes, as pycryptodome gives them.
ANSWERS = {
    b"": EMPTY,
    b"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
    bytes(135): "29e3704feeca7fb9ba229f0fa04d9b36449cf3ad6e1d85d9cfff3a10df9abc3e",
    bytes(136): "3a5912a7c5faa06ee4fe906253e339467a9ce87d533c65be3c15cb231cdb25f9",
    bytes(137): "bee7fbb405cb0d91a8775e338c4a5e4b5d6b2d051f687fa942043cffdc73bd28",
    bytes(range(256)) * 3: "00e77ce2c4f77212a0d5df106b08157b77058479357a98a6039b457c469723e4",
}


@pytest.mark.parametrize("data", ANSWERS, ids=len)
def test_keccak256_gives_known_answers(data):
    assert keccak256(data).hex() == ANSWERS[data]


def test_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sha3", None)
    keccak_module.keccak_hasher.cache_clear()
    said = r'keccak256 needs the package safe-pysha3, .*: pip install "bookwarp\[consensus\]"'
    with pytest.raises(ParameterError, match=said):
        row_root(np.zeros((1, 64), np.uint8))


def drawn_rows(count):
    return np.random.default_rng(count).integers(0, 256, (count, 64), np.uint8)


def leaf(rows, index):
    return keccak256(b"\0" + keccak256(rows[index].tobytes() + struct.pack("<I", index)))


def node(left, right):
    return keccak256(b"\1" + left + right)


def test_small_trees_have_the_shapes_of_the_standard():
    a, b, c, d, e, f, g = (leaf(drawn_rows(7), index) for index in range(7))
    abcd = node(node(a, b), node(c, d))
    shapes = [a, node(a, b), node(node(a, b), c), abcd, node(abcd, e)]
    shapes += [node(abcd, node(e, f)), node(abcd, node(node(e, f), g))]
    found = [row_root(drawn_rows(7)[:count]) for count in range(1, 8)]
    assert found == shapes
    assert row_root(drawn_rows(0)).hex() == EMPTY


def tree_by_definition(leaves):
    """RFC 6962, 2.1: split at the largest power of two below the number of leaves."""
    if len(leaves) == 1:
        return leaves[0]
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return node(tree_by_definition(leaves[:left]), tree_by_definition(leaves[left:]))


@pytest.mark.parametrize("count", [8, 9, 15, 16, 17, 31, 33, 100, 257])
def test_roots_are_those_of_the_definition(count):
    rows = drawn_rows(count)
    assert row_root(rows) == tree_by_definition([leaf(rows, index) for index in range(count)])


def test_structured_rows_are_taken_as_their_bytes():
    rows = np.zeros(3, [("number", "<u8"), ("code", "u1", (5,))])
    rows["number"] = [1, 2, 3]
    assert row_root(rows) == row_root(rows.view(np.uint8).reshape(3, 13))


@pytest.mark.parametrize("count", range(1, 18))
def test_every_row_can_be_proved_and_no_other_in_its_place(count):
    rows = drawn_rows(count)
    root = row_root(rows)
    for index in range(count):
        proof = prove_row(rows, index)
        assert verify_row(root, rows[index].tobytes(), proof)
        assert not verify_row(root, (rows[index] ^ 1).tobytes(), proof)
        assert not verify_row(keccak256(root), rows[index].tobytes(), proof)
        for other in range(count):
            if other != index:
                moved = replace(proof, index=other)
                assert not verify_row(root, rows[index].tobytes(), moved)


def test_proofs_that_are_cut_or_made_up_are_refused():
    rows = drawn_rows(11)
    root, row, proof = row_root(rows), rows[4].tobytes(), prove_row(rows, 4)
    wrong = [
        replace(proof, path=proof.path[:-1]),
        replace(proof, path=(*proof.path, bytes(32))),
        replace(proof, path=(proof.path[0][:-1], *proof.path[1:])),
        replace(proof, path=tuple(reversed(proof.path))),
        replace(proof, rows=4),
        replace(proof, index=-1),
        replace(proof, rows=2**32 + 1),
    ]
    assert verify_row(root, row, proof)
    assert not any(verify_row(root, row, each) for each in wrong)


def test_what_are_no_rows_is_refused():
    with pytest.raises(ParameterError, match="rows must be"):
        row_root(np.zeros(3))
    with pytest.raises(ParameterError, match="index = 3 is none of 3 rows"):
        prove_row(drawn_rows(3), 3)
