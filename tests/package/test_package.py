"""The built package: it is complete, light to import, and runs outside the repository."""

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import bookwarp

REPOSITORY = Path(__file__).resolve().parents[2]
IMPORT_SECONDS = 0.3
HEAVY = ("matplotlib", "numba", "pandas", "pyarrow", "rich", "typer", "xarray", "zarr")


def project_version() -> str:
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]["version"]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> dict[str, Path]:
    """Build the sdist, and from it the wheel, as a release does."""
    folder = tmp_path_factory.mktemp("dist")
    backend = ["--no-isolation"] if importlib.util.find_spec("hatchling") else []
    command = [sys.executable, "-m", "build", *backend, "--outdir", folder, REPOSITORY]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory) -> Path:
    """Install the wheel alone into a fresh environment that borrows its dependencies from here."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    done = subprocess.run([*command, "--no-index", built["wheel"]], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (own,) = (folder / "lib").glob("python*/site-packages")
    (own / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin"


def run_outside(command: list[object], folder: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV"))}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel_holds_the_package_and_its_licence_and_nothing_else(built):
    names = zipfile.ZipFile(built["wheel"]).namelist()
    info = f"bookwarp-{project_version()}.dist-info"
    assert {name.split("/")[0] for name in names} == {"bookwarp", info}
    assert f"{info}/licenses/LICENSE" in names
    assert "bookwarp/py.typed" in names
    sources = {f"bookwarp/{p.relative_to(REPOSITORY / 'src/bookwarp')}" for p in source_files()}
    assert sources <= set(names)


def source_files() -> list[Path]:
    folder = REPOSITORY / "src" / "bookwarp"
    kernels = sorted(folder.rglob("*.cu*"))
    assert kernels
    vectors = sorted(folder.rglob("*.json"))
    assert vectors
    return sorted(folder.rglob("*.py")) + kernels + vectors


def test_sdist_holds_what_the_tests_need(built):
    with tarfile.open(built["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in ("pyproject.toml", "LICENSE", "README.md", "constraints.txt", "docs/model.md"):
        assert name in names
    assert "tests/package/test_package.py" in names
    assert {str(path.relative_to(REPOSITORY)) for path in source_files()} <= names


def test_wheel_runs_outside_the_repository(installed, tmp_path):
    code = "import bookwarp; print(bookwarp.__version__); print(bookwarp.__file__)"
    version, file = run_outside([installed / "python", "-c", code], tmp_path).split()
    assert version == project_version()
    assert installed.parent in Path(file).parents, "the installed package, not the repository"


def test_installed_command_simulates(installed, tmp_path):
    command = [installed / "bookwarp", "simulate", "--markets", "4", "--steps", "5", "--json"]
    result = json.loads(run_outside(command, tmp_path))
    assert (result["markets"], result["steps"]) == (4, 5)
    assert result["agent_events"] == 4 * 5 * result["agents"]
    assert len(result["digest"]) == 64


def import_seconds() -> float:
    code = (
        "import time; began = time.perf_counter(); import bookwarp; "
        "print(time.perf_counter() - began)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_import_is_fast():
    assert min(import_seconds() for _ in range(5)) < IMPORT_SECONDS


# Only our modules are forgotten between two names: loading the others anew takes half a second.
MODULES_BY_FIRST_NAME = """
import importlib, json, sys, types
import bookwarp

names = [name for name in bookwarp.__all__ if name != "__version__"]
found = {}
for first in names:
    for module in [m for m in sys.modules if m.partition(".")[0] == "bookwarp"]:
        del sys.modules[module]
    package = importlib.import_module("bookwarp")
    for name in (first, *names):
        getattr(package, name)
    found[first] = [n for n in names if isinstance(getattr(package, n), types.ModuleType)]
print(json.dumps(found))
"""


def test_public_names_are_the_same_whichever_is_used_first():
    """A module that is loaded for one name must not take the place of another name."""
    command = [sys.executable, "-c", MODULES_BY_FIRST_NAME]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert set(found) == set(bookwarp.__all__) - {"__version__"}
    assert {first: modules for first, modules in found.items() if modules != ["measures"]} == {}


def test_import_loads_no_heavy_package():
    code = f"import bookwarp, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
