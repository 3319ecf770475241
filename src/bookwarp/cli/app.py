"""The program and its commands."""

from typing import Annotated

import typer

from bookwarp.cli.consensus import consensus
from bookwarp.cli.errors import Program
from bookwarp.cli.info import info
from bookwarp.cli.match import match
from bookwarp.cli.replay import replay
from bookwarp.cli.report import report
from bookwarp.cli.reproduce import reproduce
from bookwarp.cli.rerun import rerun
from bookwarp.cli.show import show
from bookwarp.cli.simulate import simulate
from bookwarp.cli.sweep import sweep
from bookwarp.cli.tune import tune

app = typer.Typer(
    name="bookwarp",
    cls=Program,
    invoke_without_command=True,
    rich_markup_mode="rich",
    help="Simulate thousands of limit order books at once, with the same bits on every engine.",
    epilog="bookwarp simulate alone is a good start; every command has its own --help.",
)
for command in (simulate, sweep, report, match, replay, show, rerun, tune, info):
    app.command()(command)
app.add_typer(consensus)
app.add_typer(reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"bookwarp {version('bookwarp')}")
        raise typer.Exit


@app.callback()
def start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Print the help if no command is asked for."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)
