"""`bookwarp tune`: find the fastest kernel for the GPU at hand, and remember it."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bookwarp.cli.options import (
    DEFAULT_MARKETS,
    MACHINE,
    MODEL,
    RECORDING,
    RUN_OPTIONS,
    Json,
    Quiet,
    parse_given,
    with_run_options,
)
from bookwarp.cli.progress import show_progress
from bookwarp.cli.tables import print_facts, print_json

if TYPE_CHECKING:
    from bookwarp.engines.cuda.tune import Tuning

_OPTIONS = [name for name, each in RUN_OPTIONS.items() if each.panel in (MODEL, RECORDING)]

Device = Annotated[
    int,
    typer.Option(
        "--device",
        metavar="N",
        help="the GPU to tune for (0)",
        show_default=False,
        rich_help_panel=MACHINE,
    ),
]
Trials = Annotated[
    int,
    typer.Option(
        "--trials",
        metavar="N",
        help="timed runs of each kernel (5)",
        show_default=False,
        rich_help_panel=MACHINE,
    ),
]
Forget = Annotated[
    bool,
    typer.Option("--forget", help="remove all that was found, and tune nothing"),
]


@with_run_options(*_OPTIONS)
def tune(
    *,
    device: Device = 0,
    trials: Trials = 5,
    forget: Forget = False,
    as_json: Json = False,
    quiet: Quiet = False,
    **given: str | None,
) -> None:
    """Find the fastest kernel for this GPU and such a run, and use it from now on.

    Every kernel that can run the ensemble does, all to the same bits; runs that follow use the
    fastest. Without options it is the one for what bookwarp simulate runs.
    """
    if forget:
        from bookwarp.engines.cuda.tuned import forget_choices

        count = forget_choices()
        if as_json:
            print_json({"forgotten": count})
        elif not quiet:
            typer.echo(f"forgot {count} choice{'' if count == 1 else 's'}")
        return
    from bookwarp.cli.request import with_agent_types
    from bookwarp.tuning import tune as tune_kernels

    values = {"markets": DEFAULT_MARKETS} | with_agent_types(parse_given(given))
    with show_progress(quiet) as progress:
        found = tune_kernels(**values, device=device, trials=trials, progress=progress)
    if as_json:
        print_json(asdict(found) | {"gain": found.gain})
    elif not quiet:
        print_facts(_facts(found))


def _facts(found: "Tuning") -> dict[str, str]:
    """Return what was found in words, the fastest first."""
    facts = {
        "gpu": found.gpu,
        "kernel": found.kernel,
        "for": f"up to {found.markets} markets of {found.agents} agents, {found.levels} levels",
        "digest": found.digest,
    }
    ordered = sorted(found.timings, key=lambda timing: timing.median_s)
    for number, timing in enumerate(ordered, 1):
        words = ", ".join(f"{name} {value}" for name, value in timing.choice.items())
        marks = [", the default"] if timing == found.default else []
        marks += [", chosen"] if timing == found.best else []
        spread = f"{1e3 * timing.min_s:.4g} .. {1e3 * timing.max_s:.4g}"
        facts[f"kernel {number}"] = (
            f"{1e3 * timing.median_s:.4g} ms ({spread}): {words}{''.join(marks)}"
        )
    facts["gain"] = f"{found.gain:.3f} times the speed of the default"
    facts["remembered"] = "yes" if found.remembered else "no: the folder cannot be written"
    return facts
