"""Check and time continuous books: `python benchmarks/run_books.py --engines cuda --rows FILE`.

The books open with some hundred orders each, then all messages are matched in one call, from a flat
table on the host to events on the host, grouping by book included. Before a rate counts, the events
of some books are compared with the reference's, and all events, books and counters with what the
other engines give. One JSON line per case and engine is appended as soon as it is measured.
"""

import argparse
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from drawn_flow import BookFlow, draw_flow
from gpu import describe_gpu
from row_file import Row, append_row, describe_run, spread

from bookwarp.engines.book_protocol import BookEngine
from bookwarp.engines.registry import available_threads, book_engine_class
from bookwarp.reference.book_engine import ReferenceBookEngine
from bookwarp.spec.book_rules import BookRules
from bookwarp.spec.book_state import BookState
from bookwarp.spec.events import EVENT, Counter, Matched

CASES = {
    "65 536 books of 512 messages": (65_536, 512),
    "10 000 books of 512 messages": (10_000, 512),
    "1 048 576 books of 32 messages": (1_048_576, 32),
    "1 000 books of 512 messages": (1_000, 512),
}
_SAMPLE = 24
"""Books that the reference matches too."""


class Stages:
    """What the stages of an engine took in its last batch, in seconds, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def watch(self, engine: Any, name: str, stage: str, clock: Callable[..., Any]) -> None:
        """Note under `stage` what the method `name` of `engine` takes."""
        method = getattr(engine, name)

        def watched(*arguments: Any) -> Any:
            kept = []
            self.seconds[stage] = self.seconds.get(stage, 0.0) + clock(
                lambda: kept.append(method(*arguments))
            )
            return kept[0]

        setattr(engine, name, watched)


def on_the_wall(work: Callable[[], object]) -> float:
    """Return how long `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def on_the_stream(gpu: Any) -> Callable[[Callable[[], object]], float]:
    """Return what measures how long work takes on the stream of a GPU."""

    def clock(work: Callable[[], object]) -> float:
        begin = gpu.mark_time()
        work()
        return float(gpu.seconds_between(begin, gpu.mark_time()))

    return clock


def watch_stages(engine: Any) -> Stages:
    """Watch the stages of the cuda engine: those that end on the host by the wall."""
    stages = Stages()
    stages.watch(engine, "_run", "match_kernels", on_the_stream(engine._gpu))
    stages.watch(engine._gpu, "send", "send", on_the_wall)
    stages.watch(engine, "_prepare", "send_and_group", on_the_wall)
    stages.watch(engine, "_gather_events", "gather_and_fetch_events", on_the_wall)
    stages.watch(engine, "_keep", "keep_books", on_the_wall)
    return stages


def check_sample(flow: BookFlow, opened: BookState, matched: Matched) -> str:
    """Compare some books, all of their events, with the reference.

    Raises:
        SystemExit: they differ.
    """
    sample = np.unique(np.linspace(0, flow.books - 1, _SAMPLE).astype(np.int64))
    places = np.flatnonzero(np.isin(flow.orders["book"], sample))
    in_sample = flow.orders["book"][places]
    for number in sample.tolist():
        first, last = opened.order_offsets[number : number + 2]
        resting = opened.orders[first:last].copy()
        resting["book"] = 0
        index = places[in_sample == number]
        own = flow.orders[index]
        own["book"] = 0
        reference = ReferenceBookEngine(BookRules(), 1)
        counters, flags = np.zeros((1, len(Counter)), np.int64), np.zeros(1, np.uint32)
        offsets = np.array([0, len(resting)])
        reference.write_state(BookState(resting, offsets, counters, flags))
        expected = reference.match(own, None).events
        assert expected is not None
        assert matched.events is not None
        assert matched.event_offsets is not None
        start, stop = matched.event_offsets[number : number + 2]
        found = matched.events[start:stop].copy()
        found["message"] = np.searchsorted(index, found["message"])
        if not np.array_equal(found, expected):
            raise SystemExit(f"book {number} differs from the reference")
    return f"all events of {len(sample)} books equal the reference's"


def measure(
    name: str, flow: BookFlow, engines: Sequence[str], trials: int, threads: int
) -> Iterator[Row]:
    """Yield a row per engine; each must give the events and books of the one before."""
    before: tuple[Matched, str] | None = None
    for each in engines:
        engine: BookEngine = book_engine_class(each)(BookRules(), flow.books, threads)
        engine.match(flow.opening, None, events=False)
        opened = engine.read_state()
        stages = watch_stages(engine) if each == "cuda" else Stages()
        found: list[dict[str, float]] = []
        # The first time memory is claimed, which is then kept.
        for _ in range(1 + trials):
            engine.write_state(opened)
            matched = None
            gc.collect()
            stages.seconds.clear()
            began = time.perf_counter()
            matched = engine.match(flow.orders, None, events=True)
            found.append({"call": time.perf_counter() - began, **stages.seconds})
        assert matched is not None
        checks = [check_sample(flow, opened, matched)]
        after = engine.read_state()
        digest = after.digest(b"")
        if before is not None:
            checks.append(compare(before, matched, digest))
        before = matched, digest
        yield {
            "kind": "books",
            "case": name,
            "engine": each,
            "threads": None if each == "cuda" else threads,
            **figures(flow, opened, after, matched),
            "first_call_s": found[0]["call"],
            **seconds_and_rates(found[1:], len(flow.orders)),
            "digest_of_books": digest,
            "check": "; ".join(checks),
            **(describe_gpu() if each == "cuda" else {}),
        }
        del engine


def compare(before: tuple[Matched, str], matched: Matched, digest: str) -> str:
    """Compare everything with another engine's.

    Raises:
        SystemExit: something differs.
    """
    other, other_digest = before
    for name in ("event_offsets", "events"):
        if not np.array_equal(getattr(other, name), getattr(matched, name)):
            raise SystemExit(f"{name} differ between the engines")
    if other_digest != digest:
        raise SystemExit("books differ between the engines")
    return "all events, books and counters equal the other engine's"


def figures(flow: BookFlow, opened: BookState, after: BookState, matched: Matched) -> Row:
    """Return what was matched."""
    assert matched.events is not None
    counted = (after.counters - opened.counters).sum(axis=0)
    accepted, trades = int(counted[Counter.ACCEPTED]), int(counted[Counter.TRADES])
    return {
        "books": flow.books,
        "messages": len(flow.orders),
        "live_before": len(opened.orders) / flow.books,
        "live_after": len(after.orders) / flow.books,
        "most_live_after": int(np.diff(after.order_offsets).max()),
        "accepted": accepted,
        "trades": trades,
        "fills_per_order": trades / accepted,
        "rejected": int(counted[Counter.LOTS + 1 :].sum()),
        "events": len(matched.events),
        "event_bytes": len(matched.events) * EVENT.itemsize,
    }


def seconds_and_rates(found: Sequence[dict[str, float]], messages: int) -> Row:
    """Return the seconds of every stage, and messages a second of the call and of the kernels."""
    row: Row = {"trials": len(found)}
    for stage in found[0]:
        seconds = [each[stage] for each in found]
        row[f"{stage}_s"] = spread(seconds)
        if stage in ("call", "match_kernels"):
            row[f"{stage}_messages_per_s"] = spread([messages / each for each in seconds])
    return row


def line_of(row: Row) -> str:
    """Return what is printed of a row."""
    rates = [
        f"{row[f'{stage}_messages_per_s']['median'] / 1e6:.1f} M messages/s ({words})"
        for stage, words in (("match_kernels", "kernels"), ("call", "host to host"))
        if f"{stage}_s" in row
    ]
    stages = [
        f"{stage.removesuffix('_s')} {value['median'] * 1e3:.1f} ms"
        for stage, value in row.items()
        if stage.endswith("_s") and isinstance(value, dict) and "per_s" not in stage
    ]
    return (
        f"{row['case']}, {row['engine']}: {', '.join(rates)}; {row['fills_per_order']:.3f} fills "
        f"an order, {row['events'] / row['messages']:.2f} events a message, live "
        f"{row['live_before']:.0f} -> {row['live_after']:.0f}; {', '.join(stages)}; "
        f"first call {row['first_call_s'] * 1e3:.0f} ms"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engines", default="cpu", help="with commas between (cpu)")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=[next(iter(CASES))])
    parser.add_argument("--books", type=int, help="another number of books than the case has")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--threads", type=int, default=available_threads())
    parser.add_argument("--rows", type=Path, help="file that lines of JSON are appended to")
    parser.add_argument("--commit", help="the commit to note where there is no Git to ask")
    options = parser.parse_args(arguments)
    common = describe_run("books", options.commit)
    for name in options.cases:
        books, messages = CASES[name]
        flow = draw_flow(options.books or books, messages)
        engines = options.engines.split(",")
        for row in measure(name, flow, engines, options.trials, options.threads):
            print(line_of(row), flush=True)
            if options.rows is not None:
                append_row(options.rows, common | row)


if __name__ == "__main__":
    main()
