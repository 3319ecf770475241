"""What must hold for the tracked files as a whole: pins, versions, no traces of one machine."""

import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).resolve().parents[2]
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.!+]*")
# None of these patterns matches its own text here.
REGISTRY_HOSTS = re.compile(r"pypi\.org|pythonhosted\.org|anaconda\.org|registry\.npmjs")
MACHINE_PATHS = re.compile(r"(?<![\w.-])[/](?:work|root|home|Users)[/]\w")
LEFT_FOR_LATER = re.compile(r"\b(?:[T]ODO|[F]IXME|[X]XX)\b")


@pytest.fixture(scope="module")
def tracked_texts() -> dict[str, str]:
    if not (REPOSITORY / ".git").exists():
        pytest.skip("not a git checkout, so there is no list of tracked files")
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, check=True, capture_output=True, text=True
    )
    texts = {}
    for name in filter(None, listing.stdout.split("\0")):
        path = REPOSITORY / name
        if path.is_file():
            data = path.read_bytes()
            if b"\0" not in data:
                texts[name] = data.decode("utf-8")
    assert "pyproject.toml" in texts
    return texts


@pytest.mark.parametrize(
    "pattern", [REGISTRY_HOSTS, MACHINE_PATHS, LEFT_FOR_LATER], ids=["hosts", "paths", "later"]
)
def test_tracked_files_do_not_hold(tracked_texts, pattern):
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in tracked_texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found


def test_patterns_find_what_they_look_for():
    assert REGISTRY_HOSTS.search("https://pypi" + ".org/simple")
    assert MACHINE_PATHS.search("open('/ro" + "ot/data.csv')")
    assert not MACHINE_PATHS.search("tests/work/x and https://host/home/")


def read_pins() -> dict[str, str]:
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {canonicalize_name(name): version for name, version in (x.split("==") for x in lines)}


def installed_version(name: str) -> str | None:
    try:
        return distribution(name).version
    except PackageNotFoundError:
        return None


def test_constraints_are_exact_versions_and_nothing_else():
    for line in (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert PIN.fullmatch(line), line


def test_constraints_pin_everything_that_the_development_installation_needs():
    pins = read_pins()
    for name, version in pins.items():
        if installed_version(name) not in (None, version):
            pytest.skip(f"this environment was not installed with constraints.txt: {name} differs")
    todo: list[tuple[str, tuple[str, ...]]] = [("bookwarp", ("dev",))]
    seen = set()
    while todo:
        name, extras = todo.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        if name != "bookwarp":
            assert name in pins, f"{name} is needed and not pinned"
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        for text in needs:
            need = Requirement(text)
            environments = [{"extra": extra} for extra in (*extras, "")]
            if need.marker is None or any(need.marker.evaluate(e) for e in environments):
                todo.append((canonicalize_name(need.name), tuple(sorted(need.extras))))
    assert len(seen) > 50


def test_version_is_told_the_same_everywhere():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = project["version"]
    assert re.search(
        rf"^version: {re.escape(version)}$", (REPOSITORY / "CITATION.cff").read_text(), re.MULTILINE
    )
    assert f"## [{version}]" in (REPOSITORY / "CHANGELOG.md").read_text()
