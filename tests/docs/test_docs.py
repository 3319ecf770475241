"""Every page does what it says: its Python and its commands run, its tables match the code.

The blocks of a page run in order, in one folder and one namespace, as a reader would run them.
"""

import doctest
import hashlib
import importlib
import os
import re
import shlex
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md"]
PAGES += sorted((REPOSITORY / "docs").glob("*.md"))
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<kind>[^`]*)$")
PROMPT = "$ "

SET_UP = "python3 -m venv .venv && .venv/bin/pip install -q"
# Commands that set up an environment, or run everything that runs this test: looked at, not run.
CHECKED_FOR_FORM = (
    re.compile(rf'{re.escape(SET_UP)} (\.|-e "\.\[dev\]") -c constraints\.txt( && (.+))?'),
    re.compile(r"(\.venv/bin/)?python -m pytest( .*)?"),
    re.compile(r"\.ci/run"),
    re.compile(r'(\.venv/bin/)?pip install "?(\.|bookwarp)(\[[a-z,]+\])?"?( -c constraints\.txt)?'),
    re.compile(r"(source|\.) \.venv/bin/activate"),
    re.compile(r"pre-commit install"),
    re.compile(r"git clone \S+"),
    re.compile(r"python3\.11 tools/update_constraints\.py"),
)
OUTPUT_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    kind: str
    text: str
    place: str
    line: int


def read_blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a Markdown page, in order."""
    blocks: list[Block] = []
    opened: tuple[re.Match[str], int, list[str]] | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None:
            if fence:
                opened = (fence, number + 1, [])
            continue
        start, first, lines = opened
        if fence and not fence["kind"].strip() and len(fence["ticks"]) >= len(start["ticks"]):
            kind, text = start["kind"].strip(), "\n".join(lines) + "\n"
            blocks.append(Block(kind, text, f"{page.name}:{first}", first))
            opened = None
        else:
            lines.append(line.removeprefix(start["indent"]))
    assert opened is None, f"{page.name}: a block is not closed"
    return blocks


def run_python(block: Block, namespace: dict[str, object]) -> None:
    # Empty lines in front give every line the number it has in the page.
    code = compile("\n" * (block.line - 1) + block.text, block.place.split(":")[0], "exec")
    exec(code, namespace)


def split_commands(block: Block) -> list[tuple[str, str]]:
    """Return (command, output shown below it) for each `$ ` line of a console block."""
    commands: list[tuple[str, str]] = []
    for line in block.text.splitlines():
        if line.startswith(PROMPT):
            commands.append((line.removeprefix(PROMPT), ""))
        else:
            assert commands, f"{block.place}: output before the first command"
            command, output = commands[-1]
            if command.endswith("\\"):
                commands[-1] = (command[:-1] + line.strip().removeprefix("> "), output)
            else:
                commands[-1] = (command, f"{output}{line}\n")
    return commands


def is_checked_for_form(command: str) -> bool:
    return any(form.fullmatch(command) for form in CHECKED_FOR_FORM)


def run_console(block: Block, folder: Path) -> None:
    """Run the commands of a block with the installed program, and compare their output.

    Benchmarks run where they lie. Output that a page shows must be what is printed, up to white
    space; `...` stands for anything.
    """
    for command, shown in split_commands(block):
        if is_checked_for_form(command):
            continue
        words = shlex.split(command)
        benchmark = words[0] == "python" and words[1].startswith("benchmarks/")
        assert benchmark or words[0] == "bookwarp", (
            f"{block.place}: no form is known for: {command}"
        )
        scripts = sysconfig.get_path("scripts")
        environment = os.environ | {
            "PATH": os.pathsep.join([scripts, os.environ.get("PATH", "")]),
            "COLUMNS": "100",
            "TERM": "dumb",
        }
        done = subprocess.run(
            command,
            shell=True,
            cwd=REPOSITORY if benchmark else folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{block.place}: {command}\n{done.stdout}{done.stderr}"
        if shown.strip():
            checker = doctest.OutputChecker()
            assert checker.check_output(shown, done.stdout, OUTPUT_OPTIONS), (
                f"{block.place}: {command}\nshown:\n{shown}\nprinted:\n{done.stdout}"
            )


def write_file(block: Block, folder: Path) -> None:
    """Write a file that a page shows; its first line is a comment with its name."""
    name = block.text.partition("\n")[0].removeprefix("# ")
    assert re.fullmatch(r"[\w-]+\.toml", name), f"{block.place}: no name in the first line"
    (folder / name).write_text(block.text, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in read_blocks(page):
        if block.kind == "python":
            run_python(block, namespace)
        elif block.kind == "console":
            run_console(block, tmp_path)
        elif block.kind == "toml":
            write_file(block, tmp_path)
        else:
            assert block.kind == "text" or block.kind.startswith("{"), (
                f"{block.place}: a block of kind {block.kind!r} is neither run nor plain text"
            )


def test_pages_hold_something_to_run():
    kinds = [block.kind for page in PAGES for block in read_blocks(page)]
    assert kinds.count("python") >= 8
    assert kinds.count("console") >= 5


def test_runner_finds_wrong_code_and_wrong_output(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n")
    first, second = read_blocks(page)
    namespace: dict[str, object] = {}
    run_python(first, namespace)
    with pytest.raises(AssertionError) as failure:
        run_python(second, namespace)
    assert failure.traceback[-1].lineno == 5

    wrong = Block("console", "$ bookwarp --help\nnot what it prints\n", "page.md:1", 1)
    with pytest.raises(AssertionError, match="not what it prints"):
        run_console(wrong, tmp_path)
    for command in ("rm -r .", "python tools/elsewhere.py"):
        foreign = Block("console", f"$ {command}\n", "page.md:1", 1)
        with pytest.raises(AssertionError, match="no form is known"):
            run_console(foreign, tmp_path)


def console_commands(page: str) -> list[str]:
    blocks = read_blocks(REPOSITORY / page)
    return [c for b in blocks if b.kind == "console" for c, _ in split_commands(b)]


def test_readme_shows_one_command_to_run_and_one_to_test():
    run, test = console_commands("README.md")
    assert run == f"{SET_UP} . -c constraints.txt && .venv/bin/bookwarp simulate"
    assert test.startswith(f'{SET_UP} -e ".[dev]" -c constraints.txt && .venv/bin/python -m pytest')
    check_all = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    pytest_words = test.partition(".venv/bin/")[2].partition(".venv/bin/")[2]
    assert f'"tests (pytest)" {pytest_words}\n' in check_all, "both run the tests the same way"


def read_table(page: str, heading: str) -> dict[str, list[str]]:
    """Return the first table below a heading: the other cells of each row, by its first cell."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    lines = text.partition(f"\n{heading}\n")[2].splitlines()
    rows: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("|"):
            first, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            for name in first.split(","):
                rows[name.strip(" `")] = rest
        elif rows:
            break
    return dict(list(rows.items())[2:])


def test_model_page_lists_every_parameter_with_its_domain_and_default():
    parameters = importlib.import_module("bookwarp.spec.parameters").PARAMETERS
    rows = read_table("docs/model.md", "## Parameters")
    assert set(rows) == {*parameters, "mix"}
    for name, parameter in parameters.items():
        default, domain, _unit, _meaning = rows[name]
        if parameter.default is not None:
            assert float(default) == parameter.default, name
        if name != "open_price":
            low, high = domain.partition(";")[0].split(" .. ")
            assert int(low) == parameter.low, name
            assert read_number(high) == parameter.high, name


def read_number(text: str) -> int:
    """Return the value of 128, 2^30 or 2^31-1."""
    power, _, less = text.partition("-")
    base, _, exponent = power.partition("^")
    return int(base) ** int(exponent or 1) - int(less or 0)


def test_model_page_lists_every_series_with_its_unit():
    record = importlib.import_module("bookwarp.spec.record")
    text = (REPOSITORY / "docs/model.md").read_text(encoding="utf-8")
    marker = "\n| name | unit | meaning |\n"
    assert marker in text
    rows = read_table("docs/model.md", text.partition(marker)[0].splitlines()[-2])
    assert {n: rows[n][0] for n in rows} == {n: unit for n, (unit, _) in record.SERIES.items()}


def test_api_page_names_every_public_name():
    public = set(importlib.import_module("bookwarp").__all__) - {"__version__"}
    text = (REPOSITORY / "docs/api.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"auto\w+:: bookwarp\.(\w+)$", text, re.MULTILINE))
    assert documented == public


BASE_ARRAYS = "bid ask last_price prev_mid2 base volume trades pruned_bid pruned_ask"
WAITING_ARRAYS = "waiting_buy waiting_sell"
EXECUTION_ARRAYS = "execution_waiting execution_filled execution_cost arrival_mid2 start_volume"


@pytest.mark.parametrize(
    "parameters, names",
    [
        ({}, BASE_ARRAYS),
        ({"clearing_interval": [1, 4, 2]}, f"{BASE_ARRAYS} {WAITING_ARRAYS}"),
        ({"parent_qty": [0, 40, 9]}, f"{BASE_ARRAYS} {EXECUTION_ARRAYS}"),
        (
            {"clearing_interval": 2, "parent_qty": 40, "parent_horizon": 9},
            f"{BASE_ARRAYS} {WAITING_ARRAYS} {EXECUTION_ARRAYS}",
        ),
    ],
)
def test_digest_is_what_the_model_page_says(parameters, names):
    bookwarp = importlib.import_module("bookwarp")
    run = bookwarp.simulate(3, steps=9, window="following", open_price=-50, **parameters)
    hasher = hashlib.sha256(b"bookwarp call-auction state 1\n")
    hasher.update(np.array([run.markets, run.levels, run.steps], "<i8").tobytes())
    for name in names.split():
        hasher.update(np.ascontiguousarray(getattr(run, name), "<i8").tobytes())
    assert hasher.hexdigest() == run.digest()
