"""`bookwarp report`: figures and tables of a stored sweep."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bookwarp.cli.options import OUTPUT, Json, Overwrite, Quiet
from bookwarp.cli.outputs import wrong_use
from bookwarp.cli.tables import print_facts, print_json
from bookwarp.spec.errors import ParameterError

SweepStoreArgument = Annotated[
    Path, typer.Argument(metavar="STORE", help="the store of a sweep, .zarr")
]
ReportOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PAGE",
        help="write the page here, .html (the name of STORE, in this folder)",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Png = Annotated[
    Path | None,
    typer.Option(
        "--png",
        metavar="FOLDER",
        help="also write every figure as PNG into this folder",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
MeasureNames = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        metavar="NAME[:VALUE]",
        help="what to show, several times for several: a variable, and a value of its own "
        "dimension, as in acf_returns:5 (the usual ones)",
        show_default=False,
    ),
]
AxisNames = Annotated[
    list[str] | None,
    typer.Option(
        "--axis",
        metavar="NAME",
        help="swept parameter to show, once or twice for a grid (the longest two); over the "
        "others is averaged",
        show_default=False,
    ),
]
Chosen = Annotated[
    list[str] | None,
    typer.Option(
        "--at",
        metavar="NAME=VALUE",
        help="show only the settings with this value of a swept parameter (all)",
        show_default=False,
    ),
]


def report(
    store: SweepStoreArgument,
    out: ReportOut = None,
    png: Png = None,
    measure: MeasureNames = None,
    axis: AxisNames = None,
    at: Chosen = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw what a sweep measured: one HTML page that needs nothing else, and pictures."""
    from bookwarp.reporting.report import check_page, check_pictures, draw_report
    from bookwarp.reporting.request import Request

    page = out or Path(store.with_suffix(".html").name)
    slices = dict(map(_read_at, at or ()))
    if not store.exists():
        raise ParameterError(f"there is no sweep {store}")
    request = Request.of(store, measure or None, axis or None, slices)
    with wrong_use():
        check_page(page, overwrite)
        if png is not None:
            check_pictures(png)
    made = draw_report(request)
    # Pictures first: one that is there already is said before anything else is written.
    with wrong_use():
        pictures = [] if png is None else made.save_png(png, overwrite)
    made.save(page, overwrite)
    facts = {"page": str(page), "pictures": [str(path) for path in pictures], **made.facts}
    if as_json:
        print_json(facts)
    elif not quiet:
        print_facts(_said(facts))


def _read_at(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise ParameterError(f"at must be NAME=VALUE, not {text!r}")
    return name, value


def _said(facts: dict[str, Any]) -> dict[str, str]:
    """Return the facts as text to be read."""
    said = {
        "page": facts["page"],
        "settings": f"{facts['settings']:,}, {facts['infeasible']:,} of which cannot run",
        "replicas": f"{facts['replicas']:,}",
        "measures": ", ".join(facts["measures"]),
        "figures": f"{len(facts['figures'])}",
    }
    if facts["pictures"]:
        said["pictures"] = str(Path(facts["pictures"][0]).parent)
    if facts["missing_markets"]:
        said["missing"] = f"{facts['missing_markets']:,} of {facts['markets']:,} markets"
    return said
