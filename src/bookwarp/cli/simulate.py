"""`bookwarp simulate`: run an ensemble, show what happened, keep it."""

from pathlib import Path
from typing import Annotated

import typer

from bookwarp.cli.options import (
    MACHINE,
    OUTPUT,
    RUN_OPTIONS,
    Json,
    Out,
    Overwrite,
    Plot,
    Quiet,
    with_run_options,
)
from bookwarp.cli.values import parse_number
from bookwarp.spec.errors import ParameterError

_EVERY = "60"

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="parameters in TOML, under the names of these options; what is given here wins",
        show_default=False,
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="PATH",
        help="go on from a checkpoint, or from that of the run to be saved at PATH",
        show_default=False,
    ),
]
CheckpointEvery = Annotated[
    str,
    typer.Option(
        "--checkpoint-every",
        metavar="SECONDS",
        help=f"with --out: keep a checkpoint, PATH.ckpt, this often ({_EVERY})",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]


@with_run_options(*RUN_OPTIONS)
def simulate(
    *,
    config: Config = None,
    resume: Resume = None,
    out: Out = None,
    plot: Plot = None,
    overwrite: Overwrite = False,
    checkpoint_every: CheckpointEvery = _EVERY,
    as_json: Json = False,
    quiet: Quiet = False,
    **given: str | None,
) -> None:
    """Run an ensemble of call-auction markets and say what happened.

    Without options it runs 1024 markets of 256 agents for 500 steps on the best engine here.
    What stands in brackets is the default. N[,N...] takes one number, or one for each market.
    """
    from bookwarp.cli.execute import Job, execute
    from bookwarp.cli.outputs import Outputs
    from bookwarp.cli.request import build_simulation
    from bookwarp.cli.resume import (
        default_out,
        find_checkpoint,
        refuse_description,
        resume_simulation,
    )
    from bookwarp.cli.summary import describe_next, print_run
    from bookwarp.cli.tables import print_facts

    every = parse_number("checkpoint_every", checkpoint_every)
    if not every > 0:
        raise ParameterError(f"checkpoint_every = {every:g} is not above 0 (seconds)")
    checkpoint = None
    if resume is None:
        simulation = build_simulation(config, given)
    else:
        refuse_description(config, given)
        checkpoint = find_checkpoint(resume)
        out = out or default_out(checkpoint)
        simulation = resume_simulation(checkpoint, given)
    outputs = Outputs(out, plot, overwrite)
    outputs.check(simulation.plan, checkpoint)
    words = _machine_words(given)
    words += ["--checkpoint-every", checkpoint_every] if checkpoint_every != _EVERY else []
    words += ["--plot", str(plot)] if plot else []
    flags = {"--overwrite": overwrite, "--json": as_json, "--quiet": quiet}
    words += [flag for flag, on in flags.items() if on]
    run = execute(Job(simulation, outputs, every, quiet, tuple(words)))
    if as_json or not quiet:
        print_run(run, as_json)
    if not (as_json or quiet):
        print()
        print_facts(describe_next(outputs))


def _machine_words(given: dict[str, str | None]) -> list[str]:
    """Return the options that were given and say how to run, as they were written."""
    machine = (option for option in RUN_OPTIONS.values() if option.panel == MACHINE)
    return [word for o in machine if (text := given[o.name]) is not None for word in (o.flag, text)]
