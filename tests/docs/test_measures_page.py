"""The page of measures lists every output of every measure, with its unit."""

import re
from pathlib import Path

import bookwarp as bw

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measures.md"
ROW = re.compile(r"^\| `(?P<name>\w+)` \| (?P<unit>\w+) \| [^|]+ \| [\d, ]*\|$", re.MULTILINE)


def test_every_output_is_on_the_page_under_its_measure():
    _, *sections = re.split(r"^#{2,3} ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    told = {}
    for section in sections:
        rows = {row["name"]: row["unit"] for row in ROW.finditer(section)}
        if rows:
            told[section.splitlines()[0]] = rows
    wanted = {
        group.name: {name: output.unit for name, output in group.outputs.items()}
        for group in bw.measures.stylised_facts.groups
    }
    assert told == wanted


def test_cont_is_followed_as_far_as_the_eleven_facts_go():
    cells = re.findall(r"\| ([\d, ]+) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    facts = {int(number) for cell in cells for number in cell.split(",") if number.strip()}
    assert facts == set(range(1, 12))
