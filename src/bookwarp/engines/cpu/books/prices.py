"""Find a level by its price, and the next best one: a tree of bit masks for every side.

A price is a key, uint64, that is lower the better the price is, on either side; so the best level
is the lowest of its tree. A node looks at one digit of the key: bit `d` of its mask says whether
there is anything below digit `d`, `child[d]` what: a level if `shift` is 0, else another node.
Digits that all keys below a node have in common are skipped: `prefix` holds what stands above the
node's own digit. So any int64 price works, and dense prices lie close together.
"""

import numpy as np

from bookwarp.engines.cpu.books.instructions import highest_bit, lowest_bit
from bookwarp.engines.cpu.books.layout import (
    DIGIT_BITS,
    FREE_LEVEL,
    FREE_NODE,
    LEVELS_USED,
    NO_KEY,
    NOBODY,
    NODES_USED,
)
from bookwarp.engines.cpu.books.pools import at
from bookwarp.engines.cpu.compile import inlined

_SIGN = np.uint64(2**63)
_BITS = np.uint64(DIGIT_BITS)
_DIGIT = np.uint64((1 << DIGIT_BITS) - 1)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


@inlined
def key_of_price(price, side):  # type: ignore[no-untyped-def]
    """Return the key of a price on a side: lower is better."""
    rising = np.uint64(price) ^ _SIGN
    return ~rising if side & 1 == 0 else rising


@inlined
def price_of_key(key, side):  # type: ignore[no-untyped-def]
    """Return the price of a key on a side."""
    rising = ~key if side & 1 == 0 else key
    return np.int64(rising ^ _SIGN)


@inlined
def prefix_at(key, shift):  # type: ignore[no-untyped-def]
    """Return what stands above the digit at `shift`, which may be the highest."""
    return (key >> np.uint64(shift)) >> _BITS


@inlined
def digit_at(key, shift):  # type: ignore[no-untyped-def]
    """Return the digit at `shift`."""
    return (key >> np.uint64(shift)) & _DIGIT


@inlined
def has_digit(node, digit):  # type: ignore[no-untyped-def]
    """Say whether there is anything below a digit of a node."""
    return (node.mask >> digit) & _ONE != _ZERO


@inlined
def take_node(block, prefix, shift):  # type: ignore[no-untyped-def]
    """Return a node with nothing below it."""
    room = block.room
    index = room[FREE_NODE]
    if index == NOBODY:
        index = room[NODES_USED]
        room[NODES_USED] += 1
    else:
        room[FREE_NODE] = at(block.nodes, index).parent
    node = at(block.nodes, index)
    node.prefix, node.shift, node.mask = prefix, shift, 0
    return index


@inlined
def free_node(block, index):  # type: ignore[no-untyped-def]
    """Give a node back."""
    at(block.nodes, index).parent = block.room[FREE_NODE]
    block.room[FREE_NODE] = index


@inlined
def hang_node(block, side, parent, key, index):  # type: ignore[no-untyped-def]
    """Hang a node, whose keys begin like `key`, below another, or make it the root."""
    at(block.nodes, index).parent = parent
    if parent == NOBODY:
        at(block.sides, side).root = index
        return
    above = at(block.nodes, parent)
    digit = digit_at(key, above.shift)
    above.mask |= _ONE << digit
    above.child[digit] = index


@inlined
def find_place(block, side, key):  # type: ignore[no-untyped-def]
    """Return the level of a key, or NOBODY; the leaf, or NOBODY, that it hangs below, or would."""
    index = np.int64(at(block.sides, side).root)
    while index != NOBODY:
        node = at(block.nodes, index)
        digit = digit_at(key, node.shift)
        if prefix_at(key, node.shift) != node.prefix:
            break
        if not has_digit(node, digit):
            if node.shift == 0:
                return np.int64(NOBODY), index
            break
        if node.shift == 0:
            return np.int64(node.child[digit]), index
        index = np.int64(node.child[digit])
    return np.int64(NOBODY), np.int64(NOBODY)


@inlined
def grow_leaf(block, side, key):  # type: ignore[no-untyped-def]
    """Return a new leaf for a key that has none."""
    leaf = take_node(block, prefix_at(key, 0), 0)
    index, parent = np.int64(at(block.sides, side).root), np.int64(NOBODY)
    while index != NOBODY:
        node = at(block.nodes, index)
        differs = prefix_at(key, node.shift) ^ node.prefix
        if differs != _ZERO:
            # A node for the first digit in which they differ comes between.
            skipped = highest_bit(differs) // _BITS
            shift = np.int64(node.shift) + DIGIT_BITS * (np.int64(skipped) + 1)
            fork = take_node(block, prefix_at(key, shift), shift)
            hang_node(block, side, parent, key, fork)
            hang_node(block, side, fork, lowest_key(node), index)
            parent = fork
            break
        parent = index
        digit = digit_at(key, node.shift)
        index = np.int64(node.child[digit]) if has_digit(node, digit) else np.int64(NOBODY)
    hang_node(block, side, parent, key, leaf)
    return leaf


@inlined
def lowest_key(node):  # type: ignore[no-untyped-def]
    """Return the lowest key that begins with the prefix of a node."""
    return (node.prefix << _BITS) << np.uint64(node.shift)


@inlined
def drop_leaf(block, side, leaf):  # type: ignore[no-untyped-def]
    """Take a leaf with nothing below it out of its tree, and a fork that has one branch left."""
    node = at(block.nodes, leaf)
    key, parent = lowest_key(node), np.int64(node.parent)
    free_node(block, leaf)
    if parent == NOBODY:
        at(block.sides, side).root = NOBODY
        return
    fork = at(block.nodes, parent)
    mask = fork.mask & ~(_ONE << digit_at(key, fork.shift))
    fork.mask = mask
    if mask & (mask - _ONE) == _ZERO:
        branch = np.int64(fork.child[lowest_bit(mask)])
        hang_node(block, side, np.int64(fork.parent), key, branch)
        free_node(block, parent)


@inlined
def enter_level(block, side, key):  # type: ignore[no-untyped-def]
    """Return the level of a key, a new one if nothing rests there."""
    level, leaf = find_place(block, side, key)
    if level != NOBODY:
        return level
    return add_level(block, side, key, leaf)


@inlined
def add_level(block, side, key, leaf):  # type: ignore[no-untyped-def]
    """Return a new level, below a leaf if there is one already."""
    if leaf == NOBODY:
        leaf = grow_leaf(block, side, key)
    room = block.room
    index = room[FREE_LEVEL]
    if index == NOBODY:
        index = room[LEVELS_USED]
        room[LEVELS_USED] += 1
    else:
        room[FREE_LEVEL] = at(block.levels, index).first
    level, node = at(block.levels, index), at(block.nodes, leaf)
    level.key, level.qty, level.leaf = key, 0, leaf
    level.first = level.last = NOBODY
    digit = digit_at(key, 0)
    node.mask |= _ONE << digit
    node.child[digit] = index
    of_side = at(block.sides, side)
    if key < of_side.best_key or of_side.best == NOBODY:
        of_side.best_key, of_side.best = key, index
    at(block.books, side >> 1).levels += 1
    return index


@inlined
def leave_level(block, side, index):  # type: ignore[no-untyped-def]
    """Forget a level at which nothing rests any more, and find the next best one."""
    level = at(block.levels, index)
    leaf = np.int64(level.leaf)
    node = at(block.nodes, leaf)
    mask = node.mask & ~(_ONE << digit_at(level.key, 0))
    node.mask = mask
    level.first = block.room[FREE_LEVEL]
    block.room[FREE_LEVEL] = index
    at(block.books, side >> 1).levels -= 1
    if mask == _ZERO:
        drop_leaf(block, side, leaf)
    of_side = at(block.sides, side)
    if index != of_side.best:
        return
    best = np.int64(NOBODY)
    if mask != _ZERO:
        best = np.int64(node.child[lowest_bit(mask)])
    elif of_side.root != NOBODY:
        best = lowest_level(block, np.int64(of_side.root))
    of_side.best = best
    of_side.best_key = NO_KEY if best == NOBODY else at(block.levels, best).key


@inlined
def lowest_level(block, index):  # type: ignore[no-untyped-def]
    """Return the best level below a node."""
    node = at(block.nodes, index)
    while node.shift != 0:
        node = at(block.nodes, node.child[lowest_bit(node.mask)])
    return np.int64(node.child[lowest_bit(node.mask)])


@inlined
def next_level(block, index):  # type: ignore[no-untyped-def]
    """Return the level that comes after another in its tree, or NOBODY."""
    key = at(block.levels, index).key
    above = np.int64(at(block.levels, index).leaf)
    while above != NOBODY:
        node = at(block.nodes, above)
        digit = digit_at(key, node.shift)
        # Two shifts, since one by the width of the word has no meaning.
        later = (node.mask >> digit) >> _ONE
        if later != _ZERO:
            child = np.int64(node.child[digit + _ONE + lowest_bit(later)])
            return child if node.shift == 0 else lowest_level(block, child)
        above = np.int64(node.parent)
    return np.int64(NOBODY)
