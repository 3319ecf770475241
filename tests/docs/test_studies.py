"""The studies: each runs at its small size, and the page shows what it found at full size."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
STUDIES = {
    path.stem: path
    for path in sorted((REPOSITORY / "examples" / "studies").glob("*.py"))
    if path.stem != "output"
}
NAMES = {
    "figure7": "figure7",
    "phase_diagram": "phase",
    "clearing_interval": "clearing",
    "block_trade": "block",
}
PAGE = REPOSITORY / "docs" / "studies.md"
TABLE = re.compile(r"<!-- table: (\w+) ([^>]+) -->\n(.*?)\n<!-- end of table -->", re.DOTALL)
MOST_BYTES = 200_000


def numbers(name):
    return json.loads((REPOSITORY / "docs" / "studies" / f"{name}.json").read_text("utf-8"))


def test_every_study_has_its_numbers():
    assert set(STUDIES) == set(NAMES)
    assert all(numbers(name)["full"] for name in NAMES.values())


@pytest.mark.parametrize("study", NAMES)
def test_study_runs_at_its_small_size_and_keeps_what_it_found(study, tmp_path):
    options = ["--numbers", tmp_path, "--pictures", tmp_path]
    done = subprocess.run(
        [sys.executable, "-W", "error", STUDIES[study], *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / f"{NAMES[study]}.json").read_text("utf-8"))
    whole = numbers(NAMES[study])
    assert found["full"] is False
    assert list(found["tables"]) == list(whole["tables"])
    for name, table in found["tables"].items():
        assert len(table) > 1
        assert name in done.stdout
        assert {len(line) for line in table} == {len(table[0])}
    pictures = {path.name for path in tmp_path.glob("*.png")}
    kept = {path.name for path in (REPOSITORY / "docs/images").glob(f"study_{NAMES[study]}_*")}
    assert pictures == kept


def test_tables_of_the_page_are_what_the_studies_found():
    shown = TABLE.findall(PAGE.read_text(encoding="utf-8"))
    assert {study for study, _, _ in shown} == set(NAMES.values())
    for study, name, text in shown:
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n")]
        del lines[1]
        assert lines == numbers(study)["tables"][name], (study, name)


def test_page_shows_every_picture_and_none_is_large():
    text = PAGE.read_text(encoding="utf-8")
    pictures = sorted((REPOSITORY / "docs" / "images").glob("study_*.png"))
    assert pictures
    for picture in pictures:
        assert f"(images/{picture.name})" in text
        assert picture.stat().st_size < MOST_BYTES


def test_sweep_gave_the_numbers_of_the_reproduction():
    found = numbers("figure7")
    assert found["difference_fixed"] < 2e-12
    assert found["difference_following"] < 2e-12
