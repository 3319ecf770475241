"""Hold an engine for books of 256-bit numbers against the reference, over random orders.

    python tools/compare_u256.py --engine cpu --orders 3000000

Every result and every arena is compared, byte for byte; ends with 1 at the first difference. Runs
for hours if it is asked to: the reference takes some ten microseconds an order.
"""

import argparse
import sys
from random import Random

import numpy as np

from bookwarp.consensus import U256Books
from bookwarp.spec.u256 import ORDER_BYTES
from bookwarp.testing.u256_orders import draw_orders

_CAPACITIES = (1, 2, 3, 8, 32, 200)
_TILES = (1, 3, 64, 65_536)


def compare(seed: int, engine: str, books: int, orders: int, threads: int | None) -> str | None:
    """Compare one batch; return what differs, or None."""
    random = Random(seed)
    capacity, tile = random.choice(_CAPACITIES), random.choice(_TILES)
    counts = [random.randint(0, 2 * orders // books) for _ in range(books)]
    calldata = np.concatenate(
        [
            np.frombuffer(draw_orders(random, count), np.uint8).reshape(-1, ORDER_BYTES)
            for count in counts
        ]
    )
    book = np.repeat(np.arange(books), counts)
    arrival = np.random.default_rng(seed).permutation(len(book))
    calldata, book = calldata[arrival], book[arrival]
    expected = U256Books(books, capacity, engine="reference")
    found = U256Books(books, capacity, engine=engine, threads=threads)
    half = len(book) // 2
    for part in (slice(0, half), slice(half, None)):
        one = expected.match(calldata[part], book[part])
        other = found.match(calldata[part], book[part], tile)
        if not np.array_equal(one, other):
            order = int(np.argmax((one != other).any(axis=1)))
            return (
                f"seed {seed}, order {order} of book {book[part][order]}: "
                f"{other[order].tobytes().hex()} instead of {one[order].tobytes().hex()}"
            )
    wrong = (expected.arenas() != found.arenas()).any(axis=1)
    return f"seed {seed}, arena of book {int(np.argmax(wrong))}" if wrong.any() else None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--orders", type=int, default=1_000_000)
    parser.add_argument("--books", type=int, default=500, help="of a batch")
    parser.add_argument("--batch", type=int, default=50_000, help="orders of a batch, about")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for number in range(-(-options.orders // options.batch)):
        seed = options.seed + number
        differs = compare(seed, options.engine, options.books, options.batch, options.threads)
        if differs is not None:
            print(differs)
            return 1
        print(f"{(number + 1) * options.batch:,} orders agree", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
