"""`bookwarp sweep`: run the settings of a study, and keep what is measured."""

import shlex
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from bookwarp.cli.interrupts import first_signal_interrupts
from bookwarp.cli.options import (
    MACHINE,
    OUTPUT,
    RUN_OPTIONS,
    Json,
    Quiet,
    parse_given,
    with_run_options,
)
from bookwarp.cli.outputs import wrong_use
from bookwarp.cli.tables import print_facts, print_json
from bookwarp.spec.errors import BookwarpError, ParameterError

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="the study, a TOML file")]
SweepOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="STORE",
        help="keep the results here, .zarr (the name of STUDY, in this folder)",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="run on the workers of this Dask scheduler, an address or its file (this machine)",
        show_default=False,
        rich_help_panel=MACHINE,
    ),
]
_MACHINE = ("engine", "threads", "devices", "memory_limit")


@with_run_options(*_MACHINE)
def sweep(
    *,
    study: StudyFile,
    out: SweepOut = None,
    scheduler: Scheduler = None,
    as_json: Json = False,
    quiet: Quiet = False,
    **given: str | None,
) -> None:
    """Run every setting of a study, and keep what is measured of every market.

    Results are stored block by block: the same command goes on where it was stopped.
    """
    from bookwarp.cli.scheduler import connected
    from bookwarp.cli.study import read_study
    from bookwarp.results.output import check_folder
    from bookwarp.sweeping.identity import OtherStoreError
    from bookwarp.sweeping.sweep import sweep as run_sweep

    asked = read_study(study)
    store = out or Path(study.with_suffix(".zarr").name)
    machine = parse_given(given)
    if not store.exists():
        with wrong_use():
            check_folder(store)
    began = time.perf_counter()
    with first_signal_interrupts():
        try:
            with nullcontext() if scheduler is None else connected(scheduler) as client:
                dataset = run_sweep(
                    asked.design,
                    measure=asked.measure,
                    out=store,
                    progress=not quiet and sys.stderr.isatty(),
                    client=client,
                    **asked.arguments,
                    **machine,
                )
        except OtherStoreError as error:
            raise ParameterError(str(error)) from None
        except KeyboardInterrupt as interrupt:
            note = " ".join(getattr(interrupt, "__notes__", ())) or "nothing was run yet"
            flags = {"--json": as_json, "--quiet": quiet}
            where = [] if scheduler is None else ["--scheduler", scheduler]
            words = [*where, *_machine_words(given), *(flag for flag, on in flags.items() if on)]
            command = shlex.join(["bookwarp", "sweep", str(study), "--out", str(store), *words])
            raise BookwarpError(f"interrupted: {note}. `{command}` does so.") from None
    facts = {
        "store": str(store),
        "settings": asked.design.settings,
        "infeasible": int((~dataset.feasible).sum()) if "feasible" in dataset.coords else 0,
        "replicas": asked.design.replicas,
        "measured": list(dataset.data_vars),
        "elapsed_s": time.perf_counter() - began,
        "digest": dataset.attrs["digest"],
    }
    if as_json:
        print_json(facts)
    elif not quiet:
        print_facts(_said(facts))


def _machine_words(given: dict[str, str | None]) -> list[str]:
    """Return the options that say how to run, as they were written."""
    return [w for n, text in given.items() if text is not None for w in (RUN_OPTIONS[n].flag, text)]


def _said(facts: dict[str, Any]) -> dict[str, str]:
    """Return the facts as text to be read."""
    said = {n: f"{value:,}" if isinstance(value, int) else str(value) for n, value in facts.items()}
    said["measured"] = f"{len(facts['measured'])} variables: {', '.join(facts['measured'])}"
    said["elapsed_s"] = f"{facts['elapsed_s']:.3g} s"
    return {("elapsed" if name == "elapsed_s" else name): text for name, text in said.items()}
