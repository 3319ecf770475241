"""The page of a report: one HTML file that needs nothing else, and no network."""

from collections.abc import Sequence
from html import escape

from bookwarp.reporting.facts import (
    describe_design,
    describe_fixed,
    describe_source,
    infeasible_count,
    infeasible_settings,
)
from bookwarp.reporting.figure import Figure
from bookwarp.reporting.numbers_table import Cell, NumbersTable
from bookwarp.reporting.stylesheet import STYLESHEET
from bookwarp.reporting.swept import Swept

_MOST_LISTED = 20


def write_page(
    title: str,
    swept: Swept,
    figures: Sequence[tuple[str, Sequence[Figure]]],
    table: NumbersTable,
    notes: Sequence[str],
) -> str:
    """Return the page as text.

    Args:
        title: of the page.
        swept: what it is about.
        figures: sections, each a heading and its figures.
        table: the numbers behind them.
        notes: sentences about what is missing, shown first.
    """
    sections = "".join(
        f'<h2>{escape(heading)}</h2>\n<div class="figures">\n'
        + "".join(map(_figure, shown))
        + "</div>\n"
        for heading, shown in figures
        if shown
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLESHEET}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n"
        + "".join(f'<p class="note" role="note">{escape(note)}</p>\n' for note in notes)
        + "<h2>What was swept</h2>\n"
        + _facts([*describe_design(swept), *describe_source(swept)])
        + _details("Parameters that all settings share", _facts(describe_fixed(swept)))
        + _infeasible(infeasible_settings(swept), infeasible_count(swept))
        + sections
        + "<h2>Numbers</h2>\n"
        + _numbers(table)
        + "</body>\n</html>\n"
    )


def _figure(figure: Figure) -> str:
    label = escape(figure.alt, quote=True)
    svg = figure.svg().replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    wide = figure.drawing.get_figwidth() > 6
    kind = ' class="wide"' if wide else ""
    return (
        f'<figure id="{figure.name}"{kind}>\n<h3>{escape(figure.title)}</h3>\n{svg}\n'
        f"<figcaption>{escape(figure.caption)}</figcaption>\n</figure>\n"
    )


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    lines = (
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>\n'
        for name, value in facts
    )
    return f'<div class="scroll"><table class="facts">\n{"".join(lines)}</table></div>\n'


def _details(heading: str, content: str) -> str:
    return f"<details><summary>{escape(heading)}</summary>\n{content}</details>\n"


def _infeasible(settings: Sequence[str], count: int) -> str:
    if not count:
        return ""
    shown = settings[: min(count, _MOST_LISTED)]
    listed = "".join(f"<li>{escape(each)}</li>\n" for each in shown)
    if count > len(shown):
        said = "their places are in the coordinate feasible of the dataset"
        listed += f"<li>and {count - len(shown)} more: {said}</li>"
    settings_cannot = "1 setting cannot run" if count == 1 else f"{count} settings cannot run"
    return _details(settings_cannot, f"<ul>\n{listed}</ul>\n")


def _numbers(table: NumbersTable) -> str:
    heads = [*table.parameters, *(quantity.label for quantity in table.quantities)]
    top = "".join(f'<th scope="col">{escape(head.replace("_", " "))}</th>' for head in heads)
    lines = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{escape(word)}</th>' for word in words)
        + "".join(map(_cell, cells))
        + "</tr>\n"
        for words, cells in table.rows
    )
    shown = ""
    if len(table.rows) < table.settings:
        shown = f" The first {len(table.rows)} of {table.settings:,} settings; the dataset has all."
    return (
        f"<p>Mean over replicas ± half the width of its 95 % interval.{shown}</p>\n"
        f'<div class="scroll"><table class="numbers">\n<thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{lines}</tbody></table></div>\n"
    )


def _cell(cell: Cell) -> str:
    return f'<td><data value="{cell.mean!r}">{cell}</data></td>'
