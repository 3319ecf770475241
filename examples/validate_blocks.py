"""Two validators execute the same blocks on different engines, and must end with the same roots.

    python examples/validate_blocks.py

The second one works on one thread, with the plain engine and small tiles. A third party then checks
one trade of the last block against the root of its trades, without having the others.
"""

import numpy as np

from bookwarp.consensus import flat, prove_row, row_root, verify_row

BOOKS, ORDERS, BLOCKS = 16, 500, 3


def draw_block(height: int) -> tuple[np.ndarray, np.ndarray]:
    """Return limit and IOC orders around 100, and the book of each."""
    random = np.random.default_rng(height)
    orders = np.zeros(ORDERS, flat.FLAT_ORDER)
    orders["order_id"] = height * ORDERS + np.arange(ORDERS)
    orders["user_id"] = random.integers(1, 50, ORDERS)
    orders["side"] = random.integers(0, 2, ORDERS)
    orders["type"] = random.choice([flat.FlatType.LIMIT, flat.FlatType.IOC], ORDERS, p=[0.8, 0.2])
    quarters = random.integers(396, 405, ORDERS)
    orders["price_integer"] = quarters // 4
    orders["price_fraction"] = (quarters % 4).astype(np.uint64) << np.uint64(62)
    orders["quantity"] = orders["remaining"] = random.integers(1, 20, ORDERS)
    orders["timestamp"] = height
    return orders, random.integers(0, BOOKS, ORDERS)


def main() -> None:
    """Execute the blocks twice, and compare."""
    validators = [
        flat.FlatBooks(BOOKS, engine="cpu"),
        flat.FlatBooks(BOOKS, engine="reference", tile=3, threads=1),
    ]
    parent = bytes(32)
    for height in range(BLOCKS):
        orders, book = draw_block(height)
        blocks = [books.execute(orders, book) for books in validators]
        one, other = (block.root(parent, height) for block in blocks)
        if one != other:
            raise SystemExit(f"the validators differ at height {height}")
        parent = one
        fills = blocks[0].fills_per_order
        print(f"height {height}: {fills:.3f} fills an order, root {parent.hex()[:16]}...")
        trades = blocks[0].trades
    root, number = row_root(trades), len(trades) // 2
    proof = prove_row(trades, number)
    held = verify_row(root, trades[number].tobytes(), proof)
    print(f"trade {number} of {len(trades)}: {len(proof.path)} hashes show it is there: {held}")


if __name__ == "__main__":
    main()
