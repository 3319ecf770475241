"""`bookwarp match`: match a file of orders on continuous books, say what happened, keep it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bookwarp.cli.options import MACHINE, OUTPUT, Json, Overwrite
from bookwarp.cli.values import parse_integer
from bookwarp.engines.registry import BOOK_ENGINES
from bookwarp.spec.book_rules import ModifyRule, QtyMeaning, SelfTrade
from bookwarp.spec.errors import ParameterError

if TYPE_CHECKING:
    from bookwarp.matching import Books

RULES = "Rules"


def _names(codes: Any) -> str:
    return ", ".join(code.name.lower() for code in codes)


def _option(flag: str, metavar: str, meaning: str, panel: str) -> Any:
    return typer.Option(
        flag, metavar=metavar, help=meaning, show_default=False, rich_help_panel=panel
    )


File = Annotated[Path, typer.Argument(metavar="FILE", help="orders, .parquet or .csv")]
BookCount = Annotated[
    str | None,
    _option("--books", "N", "how many books there are (one more than the largest number)", RULES),
]
Modify = Annotated[
    str | None,
    _option("--modify", "NAME", f"a modified order's place: {_names(ModifyRule)} (keep)", RULES),
]
Qty = Annotated[
    str | None,
    _option("--qty", "NAME", f"quantity of a modification: {_names(QtyMeaning)} (open)", RULES),
]
Stp = Annotated[
    str | None,
    _option("--stp", "NAME", f"self-trade prevention: {_names(SelfTrade)} (none)", RULES),
]
Capacity = Annotated[
    str | None,
    _option(
        "--capacity",
        "N[,N]",
        "orders, and price levels, that a book has room for (no limit)",
        RULES,
    ),
]
PriceRange = Annotated[
    str | None,
    _option("--price-range", "LOW,HIGH", "limits that a book accepts (any)", RULES),
]
SideValues = Annotated[
    str | None,
    _option("--side-values", "BUY,SELL", "what stands for buy and sell (1,-1; B,S)", RULES),
]
Engine = Annotated[
    str,
    _option("--engine", "NAME", f"{', '.join(BOOK_ENGINES)}; or auto, the best (auto)", MACHINE),
]
Threads = Annotated[str | None, _option("--threads", "N", "threads of engine cpu (all)", MACHINE)]
Resume = Annotated[
    Path | None,
    _option("--resume", "PATH", "go on with the books of --save, and with their rules", RULES),
]
Save = Annotated[
    Path | None, _option("--save", "PATH", "keep the books, to go on from them", OUTPUT)
]
Events = Annotated[
    Path | None, _option("--events", "PATH", "write what happened as a table, .parquet", OUTPUT)
]
Orders = Annotated[
    Path | None,
    _option("--resting", "PATH", "write the orders that rest in the end, .parquet", OUTPUT),
]


def match(
    file: File,
    books: BookCount = None,
    modify: Modify = None,
    qty: Qty = None,
    stp: Stp = None,
    capacity: Capacity = None,
    price_range: PriceRange = None,
    side_values: SideValues = None,
    resume: Resume = None,
    engine: Engine = "auto",
    threads: Threads = None,
    events: Events = None,
    resting: Orders = None,
    save: Save = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Match a file of orders on continuous books, by price and time.

    One row is one message; docs/matching.md says what the columns are. What stands in brackets is
    the default.
    """
    from bookwarp.cli.outputs import wrong_use
    from bookwarp.cli.tables import print_facts, print_json
    from bookwarp.matching import Books, match
    from bookwarp.results.book_store import BOOKS
    from bookwarp.results.book_tables import check_table, write_table

    with wrong_use():
        for path in filter(None, (events, resting)):
            check_table(path, overwrite)
        if save is not None:
            BOOKS.check_writable(save)
    on: dict[str, Any] = {"engine": engine, "threads": _integer("threads", threads)}
    rules: dict[str, Any] = {
        "modify": modify,
        "qty": qty,
        "stp": stp,
        "capacity": _integers("capacity", capacity),
        "price_range": _integers("price_range", price_range),
    }
    given = {name: value for name, value in rules.items() if value is not None}
    sides: dict[str, Any] = {} if side_values is None else {"side_values": _sides(side_values)}
    count = _integer("books", books)
    if resume is None:
        done = match(file, count, **given, **on, **sides)
    else:
        for name in [*given, *(["books"] if count is not None else [])]:
            option = "--" + name.replace("_", "-")
            raise ParameterError(f"{option} is given, but the books of --resume have theirs")
        done = Books.load(resume, **on).match(file, **sides)
    if events is not None:
        write_table(done.events, events, overwrite)
    if resting is not None:
        write_table(done.books.level3(), resting, overwrite)
    if save is not None:
        done.books.save(save)
    if as_json:
        print_json(done.summary() | {"digest": done.digest()})
    else:
        print_facts(_describe(done.books))


def _describe(books: "Books") -> dict[str, str]:
    """Return what happened in words, a line for each thing."""
    found = books.summary()
    rate = found["messages_per_s"]
    speed = "" if rate is None else f" in {found['elapsed_s']:.3g} s: {rate / 1e6:,.4g} M a second"
    fills = found["fills_per_order"]
    reasons = [f"{n} {each:,}" for n, each in found["rejected_by_reason"].items() if each]
    flags = [f"{n} in {each:,} books" for n, each in found["flags"].items() if each]
    return {
        "messages": f"{found['messages']:,} for {found['books']:,} books{speed}",
        "accepted": f"{found['accepted']:,} orders",
        "modified": f"{found['modified']:,}",
        "cancelled": f"{found['cancelled']:,}",
        "trades": f"{found['trades']:,} of {found['lots']:,} lots"
        + ("" if fills is None else f", {fills:.4g} for each order"),
        "rejected": f"{found['rejected']:,}" + (f" ({', '.join(reasons)})" if reasons else ""),
        "flags": ", ".join(flags) or "none",
        "resting": f"{found['resting_orders']:,} orders",
        "engine": found["engine"],
        "digest": books.digest(),
    }


def _integer(name: str, text: str | None) -> int | None:
    return None if text is None else parse_integer(name, text)


def _integers(name: str, text: str | None) -> Any:
    if text is None:
        return None
    found = tuple(parse_integer(name, part) for part in text.split(","))
    return found[0] if len(found) == 1 else found


def _sides(text: str) -> tuple[Any, ...]:
    """Return what stands for buy and sell: two integers, or two words."""
    parts = [part.strip() for part in text.split(",")]
    try:
        return tuple(int(part) for part in parts)
    except ValueError:
        return tuple(parts)
