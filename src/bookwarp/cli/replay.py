"""`bookwarp replay`: apply market data to books, count what is odd, compare, write, draw."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bookwarp.cli.options import OUTPUT, Json, Overwrite
from bookwarp.cli.values import parse_integer
from bookwarp.spec.errors import ParameterError

if TYPE_CHECKING:
    from bookwarp.results.day import Day

DATA, EVENTS = "Data", "Tables of events"


def _option(flag: str, metavar: str, meaning: str, panel: str) -> Any:
    return typer.Option(
        flag, metavar=metavar, help=meaning, show_default=False, rich_help_panel=panel
    )


File = Annotated[Path, typer.Argument(metavar="FILE", help="market data, plain or .gz")]
Format = Annotated[str, _option("--format", "NAME", "lobster, itch, events (lobster)", DATA)]
Levels = Annotated[str, _option("--levels", "K", "price levels a side after every row (1)", DATA)]
Initial = Annotated[
    Path | None,
    _option("--initial", "BOOKFILE", "lobster: start from the first row of a book file", DATA),
]
Symbols = Annotated[
    str | None, _option("--symbols", "NAME,...", "itch: symbols to keep (all)", DATA)
]
Engine = Annotated[str, _option("--engine", "NAME", "cpu or reference (cpu)", DATA)]
Check = Annotated[
    Path | None,
    _option("--check", "BOOKFILE", "lobster: compare the books with published ones", OUTPUT),
]
Out = Annotated[
    Path | None, _option("--out", "PATH", "write rows and books as a table, .parquet", OUTPUT)
]
Orders = Annotated[
    Path | None,
    _option("--orders", "PATH", "write the orders that would cause the day, .parquet", OUTPUT),
]
Lobster = Annotated[
    Path | None,
    _option("--lobster", "PREFIX", "write PREFIX_message_K.csv and PREFIX_orderbook_K.csv", OUTPUT),
]
Plot = Annotated[
    Path | None,
    _option("--plot", "PATH", "draw prices, trades and depth: .png, .svg, .pdf", OUTPUT),
]
Columns = Annotated[
    str | None,
    _option("--columns", "OURS=THEIRS,...", "names of columns, as in qty=volume,id=oid", EVENTS),
]
Types = Annotated[
    str | None,
    _option("--types", "WORD=EVENT,...", "words for types, as in received=other", EVENTS),
]
Sides = Annotated[
    str | None, _option("--sides", "BUY,SELL", "what stands for buy and sell", EVENTS)
]
TradeSide = Annotated[
    str | None,
    _option("--trade-side", "NAME", "whose side an execution says: maker, taker (maker)", EVENTS),
]
PriceUnit = Annotated[
    str | None, _option("--price-unit", "UNIT", "a tick, as decimal text (1)", EVENTS)
]
QtyUnit = Annotated[str | None, _option("--qty-unit", "UNIT", "a lot, as decimal text (1)", EVENTS)]
TimeUnit = Annotated[
    str | None, _option("--time-unit", "NAME", "of times: ns, us, ms, s (ns)", EVENTS)
]
IdsGrow = Annotated[
    bool,
    typer.Option("--ids-grow", help="a lower id is an older order", rich_help_panel=EVENTS),
]


def replay(
    file: File,
    format: Format = "lobster",  # noqa: A002
    levels: Levels = "1",
    initial: Initial = None,
    symbols: Symbols = None,
    engine: Engine = "auto",
    columns: Columns = None,
    types: Types = None,
    sides: Sides = None,
    trade_side: TradeSide = None,
    price_unit: PriceUnit = None,
    qty_unit: QtyUnit = None,
    time_unit: TimeUnit = None,
    ids_grow: IdsGrow = False,
    check: Check = None,
    out: Out = None,
    orders: Orders = None,
    lobster: Lobster = None,
    plot: Plot = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Replay market data: apply every row to its book by id, and count what is odd.

    docs/replay.md says what the formats, columns and oddities are. What stands in brackets is the
    default. Memory does not grow with the file.
    """
    from bookwarp.cli.outputs import wrong_use
    from bookwarp.cli.tables import print_facts, print_json
    from bookwarp.replay_outputs import ReplayOutputs
    from bookwarp.replaying import Replay

    options: dict[str, Any] = {
        "columns": _pairs("columns", columns),
        "types": _pairs("types", types),
        "sides": None if sides is None else tuple(part.strip() for part in sides.split(",")),
        "trade_side": trade_side,
        "price_unit": price_unit,
        "qty_unit": qty_unit,
        "time_unit": time_unit,
        "ids_grow": ids_grow or None,
    }
    level_count = parse_integer("levels", levels)
    with wrong_use():
        outputs = ReplayOutputs.of(
            Replay(
                file,
                format,
                levels=level_count + (lobster is not None),
                initial=initial,
                symbols=None if symbols is None else symbols.split(","),
                engine=engine,
                **{name: value for name, value in options.items() if value is not None},
            ),
            levels=level_count,
            kept_bytes=None,
            check=check,
            out=out,
            orders=orders,
            lobster=lobster,
            plot=plot,
            overwrite=overwrite,
        )
    day = outputs.write()
    if as_json:
        print_json(day.summary())
    else:
        print_facts(_describe(day))


def _describe(day: "Day") -> dict[str, str]:
    """Return what happened in words, a line for each thing."""
    found = day.summary()
    rate = found["rows_per_s"]
    speed = "" if rate is None else f" in {found['elapsed_s']:.3g} s: {rate / 1e6:,.4g} M a second"
    kinds = ", ".join(f"{name} {count:,}" for name, count in found["messages"].items())
    odd = [f"{name} {count:,}" for name, count in found["oddities"].items() if count]
    facts = {
        "rows": f"{found['rows']:,}{speed}",
        "messages": kinds,
        "books": f"{found['books']:,}",
        "trades": f"{found['trades']:,} of {found['lots']:,} lots",
        "unknown ids": f"{found['unknown_ids']:,}",
        "oddities": ", ".join(odd) or "none",
    }
    if day.check is not None:
        check = found["check"]
        facts["books agree"] = f"{check['agree']:,} of {check['rows']:,} rows"
    if day.order_counts is not None:
        orders = found["orders"]
        facts["orders"] = f"{orders['orders']:,}, for {orders['trades']:,} trades"
    return facts


def _pairs(name: str, text: str | None) -> dict[str, str] | None:
    """Return the pairs in "a=b,c=d"."""
    if text is None:
        return None
    pairs = {}
    for part in text.split(","):
        before, equals, after = part.partition("=")
        if not (before.strip() and equals and after.strip()):
            raise ParameterError(f"{name} must be pairs as in a=b,c=d, not {text!r}")
        pairs[before.strip()] = after.strip()
    return pairs
