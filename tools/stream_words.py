"""Write the words of the default stream to stdout, for statistical batteries that read raw bits.

    python tools/stream_words.py --order seed,market,step,agent | dieharder -a -g 200

Every agent's 32-bit word of a narrow market (docs/streams.md), in the byte order of this machine.
`--order` names the four coordinates from the slowest to the fastest; the first of them counts on
until the reader has had enough, the others start again when their size is reached. Needs numba.
"""

import argparse
import os
import sys
from itertools import permutations

import numba
import numpy as np

from bookwarp.spec.random import (
    PHILOX_KEY_INCREMENT,
    PHILOX_MULTIPLIER,
    PHILOX_ROUNDS,
    SPLITMIX_INCREMENT,
    SPLITMIX_MULTIPLIER_1,
    SPLITMIX_MULTIPLIER_2,
)

COORDINATES = ("seed", "market", "step", "agent")
CHUNK_WORDS = 1 << 18

_u64 = np.uint64


@numba.njit(inline="always")
def _splitmix64(value: np.uint64) -> np.uint64:
    value += _u64(SPLITMIX_INCREMENT)
    value = (value ^ (value >> _u64(30))) * _u64(SPLITMIX_MULTIPLIER_1)
    value = (value ^ (value >> _u64(27))) * _u64(SPLITMIX_MULTIPLIER_2)
    return value ^ (value >> _u64(31))


@numba.njit(inline="always")
def _agent_word(key: np.uint64, step: np.uint64, agent: np.uint64) -> np.uint64:
    """Return the word of `agent`: a half of the hash of its block."""
    low = _u64(0xFFFFFFFF)
    word0, word1 = step, (agent >> _u64(1)) ^ (key >> _u64(32))
    round_key = key & low
    for _ in range(PHILOX_ROUNDS):
        product = word0 * _u64(PHILOX_MULTIPLIER)
        word0, word1 = (product >> _u64(32)) ^ round_key ^ word1, product & low
        round_key = (round_key + _u64(PHILOX_KEY_INCREMENT)) & low
    return word1 if agent & _u64(1) else word0


@numba.njit
def fill_words(
    words: np.ndarray, at: np.ndarray, order: np.ndarray, sizes: np.ndarray, first_seed: np.uint64
) -> None:
    """Fill `words` from the coordinates `at` on, and leave there where to go on.

    Args:
        words: uint32 [word], filled.
        at: uint64 [4], where to start: (seed - first_seed, market, step, agent).
        order: int64 [4], the coordinates from the slowest to the fastest.
        sizes: uint64 [4]; the size of the slowest coordinate is not used.
        first_seed: uint64.
    """
    key, key_seed, key_market = _u64(0), _u64(0), _u64(0)
    fresh = True
    for i in range(len(words)):
        if fresh or at[0] != key_seed or at[1] != key_market:
            key_seed, key_market = at[0], at[1]
            key = _splitmix64(_splitmix64(first_seed + key_seed) + key_market)
            fresh = False
        words[i] = _agent_word(key, at[2], at[3])
        for place in range(3, -1, -1):
            coordinate = order[place]
            at[coordinate] += _u64(1)
            if place == 0 or at[coordinate] < sizes[coordinate]:
                break
            at[coordinate] = _u64(0)


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    orders = [",".join(order) for order in permutations(COORDINATES)]
    parser.add_argument("--order", default=orders[0], choices=orders, metavar="SLOWEST,..,FASTEST")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    for name, size in {"seeds": 1024, "markets": 1024, "steps": 1024, "agents": 256}.items():
        parser.add_argument(f"--{name}", type=int, default=size, help="default: %(default)s")
    parser.add_argument("--words", type=int, help="how many; without end if not given")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Write the words that the command line asks for."""
    asked = parse_arguments(arguments)
    order = np.array([COORDINATES.index(name) for name in asked.order.split(",")])
    sizes = np.array([asked.seeds, asked.markets, asked.steps, asked.agents], np.uint64)
    at = np.zeros(4, np.uint64)
    left = asked.words
    while left is None or left > 0:
        words = np.empty(CHUNK_WORDS if left is None else min(left, CHUNK_WORDS), np.uint32)
        fill_words(words, at, order, sizes, np.uint64(asked.seed))
        try:
            sys.stdout.buffer.write(words.data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            # The reader has had enough; nothing is left to flush when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        left = None if left is None else left - len(words)
    return 0


if __name__ == "__main__":
    sys.exit(main())
