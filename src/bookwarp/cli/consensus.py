"""`bookwarp consensus`: check an engine for 256-bit books against vectors, and time it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bookwarp.cli.errors import FAILURE, Program
from bookwarp.cli.options import MACHINE, Json
from bookwarp.cli.tables import print_json
from bookwarp.cli.values import parse_integer
from bookwarp.engines.registry import U256_ENGINES
from bookwarp.spec.errors import ParameterError, unknown_name

if TYPE_CHECKING:
    from bookwarp.consensus.bench import Timing

_FLOWS = ("seed", "mixed", "all")

consensus = typer.Typer(
    name="consensus",
    cls=Program,
    help="Check and time 256-bit books, whose bytes are the same on every engine.",
)


def _option(flag: str, metavar: str, meaning: str, panel: str | None = None) -> Any:
    return typer.Option(
        flag, metavar=metavar, help=meaning, show_default=False, rich_help_panel=panel
    )


Engine = Annotated[
    str,
    _option("--engine", "NAME", f"{', '.join(U256_ENGINES)}; or auto, the best (auto)", MACHINE),
]
Threads = Annotated[str | None, _option("--threads", "N", "threads of engine cpu (all)", MACHINE)]
Vectors = Annotated[
    Path | None,
    typer.Argument(metavar="VECTORS.json", help="a file of vectors (those of bookwarp)"),
]
Flow = Annotated[str, _option("--flow", "NAME", f"{', '.join(_FLOWS)} (all)")]
Books = Annotated[str, _option("--books", "N", "how many books (65536)")]
Capacity = Annotated[str, _option("--capacity", "N", "slots a side of a book (32)")]
Passes = Annotated[str, _option("--passes", "N", "orders of each book (32)")]
Trials = Annotated[str, _option("--trials", "N", "how often each way is timed (3)")]


@consensus.command()
def verify(
    vectors: Vectors = None,
    engine: Engine = "auto",
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Match the orders of a file of vectors, and compare results and books byte for byte.

    Says how many steps agree, and the first that does not; ends with 1 if there is one.
    """
    from bookwarp.cli.outputs import wrong_use
    from bookwarp.consensus.vector_files import read_vectors
    from bookwarp.consensus.verification import verify

    with wrong_use():
        read_vectors(vectors)
    found = verify(vectors, engine, _threads(threads))
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))
    if not found.agrees:
        raise typer.Exit(FAILURE)


@consensus.command()
def bench(
    flow: Flow = "all",
    books: Books = "65536",
    capacity: Capacity = "32",
    passes: Passes = "32",
    trials: Trials = "3",
    engine: Engine = "auto",
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Time workloads whose fills are known; nothing is printed of what is not exactly right.

    seed: 32 asks of quantity 10 a book, each pass one crossing bid of quantity 1. mixed: orders
    that rest, fill in part, sweep, and meet full sides.
    """
    from bookwarp.consensus.bench import time_workload
    from bookwarp.consensus.workload import FLOWS, make_workload

    if flow not in _FLOWS:
        raise ParameterError(unknown_name("flow", flow, _FLOWS))
    sizes = {
        name: parse_integer(name, text)
        for name, text in (("books", books), ("capacity", capacity), ("passes", passes))
    }
    count = parse_integer("trials", trials)
    for each in FLOWS if flow == "all" else (flow,):
        workload = make_workload(each, sizes["capacity"], sizes["passes"])
        for timing in time_workload(workload, sizes["books"], engine, _threads(threads), count):
            if as_json:
                print_json(timing.to_dict())
            else:
                typer.echo(describe(timing))


def describe(timing: "Timing") -> str:
    """Return a line: the rate beside its fills per order."""
    rates = {name: rate / 1e6 for name, rate in timing.rates().items()}
    where = "on the device" if timing.on_device else "host to host"
    threads = f", {timing.threads} threads" if timing.engine == "cpu" else ""
    return (
        f"{timing.flow}, {timing.way} ({where}; {timing.engine}{threads}): "
        f"{rates['median']:,.4g} M orders/s ({rates['min']:,.4g} .. {rates['max']:,.4g}), "
        f"{timing.fills_per_order:.3f} fills an order"
    )


def _threads(text: str | None) -> int | None:
    return None if text is None else parse_integer("threads", text)
