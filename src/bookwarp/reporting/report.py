"""The report of a sweep."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookwarp.reporting.choice import choose_figures
from bookwarp.reporting.facts import infeasible_count
from bookwarp.reporting.figure import Figure
from bookwarp.reporting.numbers_table import NumbersTable
from bookwarp.reporting.page import write_page
from bookwarp.reporting.request import Request
from bookwarp.results.output import as_path, check_absent, check_folder, explain, written_whole
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.sweeping.varied import REPLICA

PAGE_SUFFIX = ".html"


@dataclass(frozen=True, eq=False)
class Report:
    """A report of a sweep: a page, its figures, and what is in it."""

    html: str
    """The page: one file with everything in it."""
    figures: tuple[Figure, ...]
    facts: dict[str, Any]
    """Numbers of settings, replicas and markets that are missing, names of what is shown."""

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write the page, and return its path.

        Raises:
            ParameterError: the suffix is not .html.
            StoreError: it exists, or cannot be written.
        """
        given = check_page(path, overwrite)
        with written_whole(given, overwrite) as temporary:
            temporary.write_text(self.html, encoding="utf-8")
        return given

    def save_png(self, folder: str | Path, overwrite: bool = False) -> list[Path]:
        """Write every figure as PNG into a folder, and return their paths.

        Raises:
            StoreError: one of them exists, or the folder cannot be made or written to.
        """
        given = check_pictures(folder)
        paths = [given / f"{figure.name}.png" for figure in self.figures]
        for path in paths:
            check_absent(path, overwrite)
        try:
            given.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(explain(error, given)) from error
        for path, figure in zip(paths, self.figures, strict=True):
            with written_whole(path, overwrite) as temporary:
                temporary.write_bytes(figure.png())
        return paths


def report(
    source: Any,
    *,
    measures: str | Iterable[str] | None = None,
    axes: str | Iterable[str] | None = None,
    at: Mapping[str, Any] | None = None,
    title: str | None = None,
) -> Report:
    """Return the report of a sweep: heat maps, curves with bands, paths, and the numbers.

    Args:
        source: the dataset that `bookwarp.sweep` returned, or the path of its store, which need
            not be complete.
        measures: names of variables, each as NAME or NAME:VALUE with a value of its own dimension,
            such as "excess_kurtosis:10"; the usual ones if None.
        axes: swept parameters to show, one or two of a grid; its longest dimensions if None. Of a
            design that is no grid, those to plot against; all if None. Settings along
            other dimensions are averaged.
        at: swept parameters, each with the one value of it that is shown.
        title: of the page.

    Raises:
        ParameterError: there is no such measure, parameter or value, or `source` is no sweep.
        StoreError: there is no store, or it is damaged.
    """
    return draw_report(Request.of(source, measures, axes, at), title)


def draw_report(request: Request, title: str | None = None) -> Report:
    """Draw what was asked for.

    Args:
        request: what is shown.
        title: of the page; named after the sweep if None.
    """
    swept, quantities = request.swept, request.quantities
    sections = choose_figures(swept, quantities, request.axes)
    table = NumbersTable.of(swept, quantities)
    page = write_page(
        title or (f"Sweep {request.name}" if request.name else "Sweep"),
        swept,
        sections,
        table,
        _notes(request.missing, request.wanted),
    )
    figures = tuple(figure for _, shown in sections for figure in shown)
    return Report(
        html=page,
        figures=figures,
        facts={
            "settings": table.settings,
            "infeasible": infeasible_count(swept),
            "replicas": swept.dataset.sizes[REPLICA],
            "markets": request.wanted,
            "missing_markets": request.missing,
            "measures": [quantity.name for quantity in quantities],
            "figures": [figure.name for figure in figures],
            "digest": swept.dataset.attrs.get("digest"),
        },
    )


def check_page(path: str | Path, overwrite: bool = False) -> Path:
    """Check that a page can be written, and return its path.

    Raises:
        ParameterError: the suffix is not .html.
        StoreError: it exists, or its folder cannot be written to.
    """
    given = as_path(path)
    if given.suffix.lower() != PAGE_SUFFIX:
        raise ParameterError(f"a report is written as *{PAGE_SUFFIX}, not as {str(given)!r}")
    check_absent(given, overwrite)
    check_folder(given)
    return given


def check_pictures(folder: str | Path) -> Path:
    """Check that pictures can be written to a folder, and return its path.

    Raises:
        StoreError: it is a file.
    """
    given = as_path(folder)
    if given.exists() and not given.is_dir():
        raise StoreError(f"{given} is not a folder: name a folder for the pictures")
    return given


def _notes(missing: int, wanted: int) -> list[str]:
    if not missing:
        return []
    said = (
        f"This sweep is not complete: {missing:,} of {wanted:,} markets ({missing / wanted:.1%}) "
        f"are missing. What is shown is of the others. It goes on where it stopped when it is run "
        f"again."
    )
    return [said]
