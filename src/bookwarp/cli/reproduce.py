"""`bookwarp reproduce`: results of the KineticSim paper, computed again."""

from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from bookwarp.cli.errors import FAILURE
from bookwarp.cli.options import OUTPUT, Json, Quiet, parse_given, with_run_options
from bookwarp.cli.outputs import wrong_use
from bookwarp.cli.progress import show_progress
from bookwarp.cli.tables import print_json

reproduce = typer.Typer(
    name="reproduce", help="Compute a figure or a table of the KineticSim paper again."
)

Folder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FOLDER",
        help="write what was found here",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]


@reproduce.command()
@with_run_options(
    "markets",
    "steps",
    "stream",
    "engine",
    "threads",
    markets="64 a setting",
    steps="1000",
    stream="paper",
)
def figure7(
    *, out: Folder = None, as_json: Json = False, quiet: Quiet = False, **given: str | None
) -> None:
    """Momentum share 0 to 0.70: volatility, tails, volume, memory, on both price windows.

    With --out it writes figure7.png, figure7.nc and figure7.json into FOLDER.
    """
    from bookwarp.reproduce import figure7 as module

    _compute(module, out, as_json, quiet, parse_given(given))


@reproduce.command()
@with_run_options("markets", "steps", "engine", "threads", markets="4096", steps="500")
def table2(
    *, out: Folder = None, as_json: Json = False, quiet: Quiet = False, **given: str | None
) -> None:
    """Clearing price and volume of 256 agents, beside the paper's. Exit code 1 if they differ.

    With --out it writes table2.json into FOLDER.
    """
    from bookwarp.reproduce import table2 as module

    _compute(module, out, as_json, quiet, parse_given(given))


def _compute(
    module: ModuleType, folder: Path | None, as_json: bool, quiet: bool, values: dict[str, Any]
) -> None:
    """Run one of the modules of `bookwarp.reproduce`, and show and keep what it finds."""
    from bookwarp.reproduce.files import check_folder

    if folder is not None:
        with wrong_use():
            check_folder(folder, module.FILES)
    with show_progress(quiet) as progress:
        found = module.reproduce(**values, progress=progress)
    written = found.save(folder) if folder is not None else []
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        typer.echo(found.table())
        for path in written:
            typer.echo(f"wrote {path}")
    if found.agrees is False:
        raise typer.Exit(FAILURE)
