"""The options of the commands: every one is declared here, once."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bookwarp.cli import values
from bookwarp.engines.registry import ENGINES
from bookwarp.spec.parameters import PARAMETERS, Parameter
from bookwarp.spec.record import RECORDABLE

MODEL, RECORDING, MACHINE, OUTPUT = "Model", "Recording", "Machine", "Output"
DEFAULT_MARKETS = 1024
EXACT, DRAWN = "exact", "drawn"
"""Ways to assign agent types, beside a file that holds them."""

_DEFAULTS = {
    "markets": str(DEFAULT_MARKETS),
    "open_price": "levels // 2",
    "market_ids": "0:markets",
}


@dataclass(frozen=True)
class RunOption:
    """An option of a run; `name` is the keyword of `bookwarp.Simulation` and the key in a file."""

    name: str
    panel: str
    metavar: str
    help: str
    default: str
    """In words: what is not given is left to `bookwarp.Simulation`."""
    parse: Callable[[str, str], Any]
    """From (name, what is written) to the value for `bookwarp.Simulation`."""

    @property
    def flag(self) -> str:
        """The option as it is written on the command line."""
        return "--" + self.name.replace("_", "-")


def _from_parameter(parameter: Parameter) -> RunOption:
    """Return the option of a parameter of the model, from the table of parameters."""
    name = parameter.name
    number = "P" if parameter.real else "N"
    several = f"{number},..." if name == "market_ids" else f"{number}[,{number}...]"
    return RunOption(
        name=name,
        panel=MODEL,
        metavar=several if parameter.per_market else number,
        help=f"{parameter.meaning}; {_limit(parameter.low)} .. {_limit(parameter.high)}",
        default=_DEFAULTS.get(name, str(parameter.default)),
        parse=values.parse_indices if name == "market_ids" else values.parse_parameter,
    )


def _limit(value: int) -> str:
    """Return a limit of a domain as the documentation writes it: 2^31-1."""
    for exponent in range(20, 65):
        for less, text in ((0, f"2^{exponent}"), (1, f"2^{exponent}-1")):
            if abs(value) == 2**exponent - less:
                return f"-({text})" if value < 0 else text
    return str(value)


_TABLE = (
    *(_from_parameter(each) for each in PARAMETERS.values() if each.name != "schedule"),
    RunOption(
        "schedule",
        MODEL,
        "NAME[,NAME...]",
        PARAMETERS["schedule"].meaning,
        "twap",
        values.parse_name_or_names,
    ),
    RunOption(
        "volume_profile",
        MODEL,
        "N,...",
        "weights of the points of schedule profile, spread evenly over the horizon",
        "none",
        values.parse_integers,
    ),
    RunOption(
        "mix",
        MODEL,
        "NAME=P,...",
        "shares of noise, momentum, maker and fundamental agents; one may be rest, and one left "
        "out is 0",
        "noise=.7,momentum=.15,maker=.15",
        values.parse_mix,
    ),
    RunOption(
        "agent_types",
        MODEL,
        "WHO",
        f"{EXACT}: counts from mix; {DRAWN}: at random from mix and seed; FILE.npy: an array of "
        "codes by market and agent",
        EXACT,
        values.parse_text,
    ),
    RunOption(
        "stream", MODEL, "NAME", "random stream: default, paper", "default", values.parse_text
    ),
    RunOption("window", MODEL, "NAME", "price grid: fixed, following", "fixed", values.parse_text),
    RunOption(
        "record",
        RECORDING,
        "NAME,...",
        f"what to record: {', '.join(RECORDABLE)}; or none",
        "last,volume",
        values.parse_names,
    ),
    RunOption(
        "record_every", RECORDING, "N", "steps between recorded rows", "1", values.parse_integer
    ),
    RunOption(
        "depth_ticks",
        RECORDING,
        "N",
        "reach of bid_depth and ask_depth from the best price, in ticks",
        "5",
        values.parse_integer,
    ),
    RunOption(
        "book_markets",
        RECORDING,
        "N,...",
        "markets whose whole book is recorded, as in 0,5 or 0:8; with book in record",
        "none",
        values.parse_indices,
    ),
    RunOption(
        "tape_markets",
        RECORDING,
        "N,...",
        "markets whose orders are recorded; with tape in record",
        "none",
        values.parse_indices,
    ),
    RunOption(
        "tape_steps",
        RECORDING,
        "N,...",
        "steps whose orders are recorded, as in 0,1,2 or 0:10",
        "none",
        values.parse_indices,
    ),
    RunOption(
        "engine",
        MACHINE,
        "NAME",
        f"{', '.join(ENGINES)}, all with the same result; or auto, the best here",
        "auto",
        values.parse_text,
    ),
    RunOption("threads", MACHINE, "N", "threads of engine cpu", "all", values.parse_integer),
    RunOption(
        "devices",
        MACHINE,
        "N,...",
        "GPUs of engine cuda that share the markets, as in 0,1; or all",
        "0",
        values.parse_devices,
    ),
    RunOption(
        "memory_limit",
        MACHINE,
        "SIZE",
        "most memory to take, as in 2GB",
        "90 % of what is free",
        values.parse_bytes,
    ),
)
RUN_OPTIONS: dict[str, RunOption] = {option.name: option for option in _TABLE}


def with_run_options(
    *names: str, **defaults: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options of a run: it gets their text in its keyword arguments `**given`.

    All parameters of the command are keyword-only.

    Args:
        *names: names in `RUN_OPTIONS`.
        **defaults: in words, by name, the defaults of this command that differ.
    """

    def declare(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        kept = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        added = [_declare(RUN_OPTIONS[name], defaults.get(name)) for name in names]
        # Typer reads a command's options from its signature.
        command.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*added, *kept]
        )
        return command

    return declare


def _declare(option: RunOption, default: str | None) -> inspect.Parameter:
    declared = typer.Option(
        option.flag,
        metavar=option.metavar,
        help=f"{option.help} ({default or option.default})",
        show_default=False,
        rich_help_panel=option.panel,
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[str | None, declared],
    )


def parse_given(given: dict[str, str | None]) -> dict[str, Any]:
    """Return the values of the options that were written, by name."""
    return {n: RUN_OPTIONS[n].parse(n, text) for n, text in given.items() if text is not None}


Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="save the run: .zarr, .nc, or .parquet (the table of steps)",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="PATH",
        help="draw the run: .png, .svg or .pdf",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="replace what is at PATH", rich_help_panel=OUTPUT)
]
Json = Annotated[
    bool,
    typer.Option("--json", help="print one JSON object and nothing else", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", help="print no table and no progress", rich_help_panel=OUTPUT),
]
Store = Annotated[Path, typer.Argument(metavar="STORE", help="a saved run, .zarr or .nc")]
