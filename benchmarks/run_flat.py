"""Check and time a block of flat orders for many books: `python benchmarks/run_flat.py`.

One block of orders goes to books in which the block before has left orders. Before anything is
timed, its orders, trades and resting orders must be those of the plain matcher, byte for byte, and
the fills of an order those that it counts; else there is no rate. Timed are a call of
`FlatBooks.execute`, from orders as they come in to orders and trades as they go out, and of these
the execution root and the digest. One JSON line per case is appended to benchmarks/rows/flat.jsonl.
"""

import argparse
import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gpu import describe_gpu
from machine import REPOSITORY
from row_file import Row, append_row, describe_run, spread

from bookwarp.consensus.flat import FlatBooks
from bookwarp.consensus.flat.block import FlatBlock
from bookwarp.engines.registry import available_threads
from bookwarp.reference.flat import match_flat
from bookwarp.testing.flat_orders import FlatOrders, random_flat_orders

ROWS = REPOSITORY / "benchmarks" / "rows" / "flat.jsonl"
ORDERS, BOOKS = 1_000_000, 10_000
_PARENT, _HEIGHT = bytes(32), 1


def plain_blocks(blocks: Sequence[FlatOrders]) -> tuple[bytes, bytes, list[bytes]]:
    """Return what the plain matcher makes of the last block."""
    resting, base = [b""] * blocks[0].books, 0
    found = (b"", b"", resting)
    for block in blocks:
        found = match_flat(block.orders.tobytes(), block.book.tolist(), resting, base)
        resting, base = found[2], base + len(found[1]) // 80
    return found


def check_block(done: FlatBlock, expected: tuple[bytes, bytes, list[bytes]]) -> str:
    """Hold a block against the plain matcher.

    Raises:
        SystemExit: they differ, or nothing traded.
    """
    orders, trades, resting = expected
    if not trades:
        raise SystemExit("nothing traded: there is no rate without fills")
    fills = len(trades) / 80 / (len(orders) / 64)
    if done.fills_per_order != fills:
        raise SystemExit(f"{done.fills_per_order:.6f} fills an order, not {fills:.6f}")
    found = (done.orders.tobytes(), done.trades.tobytes(), done.state.orders.tobytes())
    for name, one, other in zip(
        ("orders", "trades", "books"), found, (orders, trades, b"".join(resting)), strict=True
    ):
        if one != other:
            raise SystemExit(f"{name} differ from the plain matcher's")
    return "all orders, trades and books are the plain matcher's"


def time_blocks(
    blocks: Sequence[FlatOrders],
    expected: tuple[bytes, bytes, list[bytes]],
    engine: str,
    threads: int,
    trials: int,
) -> Row:
    """Return the row of the last block on an engine."""
    seconds = []
    done = None
    # The first time memory is claimed, which is then kept.
    for _ in range(1 + trials):
        done = None
        books = FlatBooks(blocks[0].books, engine=engine, threads=threads)
        for block in blocks[:-1]:
            books.execute(block.orders, block.book)
        gc.collect()
        began = time.perf_counter()
        done = books.execute(blocks[-1].orders, blocks[-1].book)
        seconds.append(time.perf_counter() - began)
    assert done is not None
    check = check_block(done, expected)
    block = done
    root = time_of(lambda: block.root(_PARENT, _HEIGHT), 3)
    digest = time_of(block.digest, 3)
    rows = len(done.orders) + len(done.trades) + len(done.state.orders)
    return {
        "kind": "flat block",
        "case": f"{len(done.orders):,} orders, {blocks[0].books:,} books, {threads} threads",
        "engine": engine,
        "threads": threads,
        "books": blocks[0].books,
        "orders": len(done.orders),
        "trades": len(done.trades),
        "fills_per_order": done.fills_per_order,
        "resting_after": len(done.state.orders),
        "trials": trials,
        "load_average": os.getloadavg()[0],
        "wall_s": spread(seconds[1:]),
        "orders_per_s": spread([len(done.orders) / each for each in seconds[1:]]),
        "root_s": root,
        "hashes_per_s": 3 * rows / root["median"],
        "digest_s": digest,
        "digest": done.digest(),
        "root": done.root(_PARENT, _HEIGHT).hex(),
        "check": check,
        **(describe_gpu() if engine == "cuda" else {}),
    }


def time_of(work: Callable[[], object], trials: int) -> dict[str, float]:
    """Return the spread of the seconds that `work` takes."""
    found = []
    for _ in range(trials):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return spread(found)


def measure(orders: int, books: int, engines: Sequence[str], trials: int) -> Iterator[Row]:
    """Yield the row of every engine; of the cores on one thread and on all."""
    blocks = [random_flat_orders(orders, books, seed) for seed in (1, 2)]
    expected = plain_blocks(blocks)
    for engine in engines:
        counts = {1, available_threads()} if engine == "cpu" else {available_threads()}
        for threads in sorted(counts):
            yield time_blocks(blocks, expected, engine, threads, trials)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engines", default="cpu", help="with commas between (cpu)")
    parser.add_argument("--orders", type=int, default=ORDERS)
    parser.add_argument("--books", type=int, default=BOOKS)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--rows", type=Path, default=ROWS, help=f"file to append to ({ROWS.name})")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    options = parser.parse_args(arguments)
    common = describe_run("flat", options.commit)
    engines = options.engines.split(",")
    for row in measure(options.orders, options.books, engines, options.trials):
        rate, root = row["orders_per_s"]["median"], row["root_s"]["median"]
        print(
            f"{row['case']}, {row['engine']}: {rate / 1e6:.2f} M orders/s, "
            f"{row['fills_per_order']:.3f} fills an order; root in {root:.2f} s, "
            f"{row['hashes_per_s'] / 1e6:.2f} M hashes/s; digest in "
            f"{row['digest_s']['median']:.3f} s; {row['check']}",
            flush=True,
        )
        append_row(options.rows, common | row)


if __name__ == "__main__":
    main()
