"""Rewrite constraints.txt from a fresh installation of the development environment.

    python3.11 tools/update_constraints.py

Installs ``.[dev]`` without constraints into a temporary virtual environment and writes one
``name==version`` line for each package that came with it. Run it with the oldest Python the
project supports, so that the versions it finds exist for all of them; then run .ci/run with the
result.
"""

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
CONSTRAINTS = REPOSITORY / "constraints.txt"
OLDEST_PYTHON = (3, 11)
# The project itself, and what a virtual environment holds before anything is installed.
NOT_PINNED = frozenset({"bookwarp", "pip", "setuptools", "wheel"})


def install_environment(folder: Path) -> Path:
    """Make a virtual environment with the development installation, and return its interpreter."""
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    python = scripts / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", f"{REPOSITORY}[dev]"],
        check=True,
    )
    return python


def list_pins(python: Path) -> list[str]:
    """Name every package of an environment with its version, sorted by name."""
    listing = subprocess.run(
        [python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True, text=True
    )
    pins = {entry["name"].lower(): entry["version"] for entry in json.loads(listing.stdout)}
    return [f"{name}=={pins[name]}" for name in sorted(pins) if name not in NOT_PINNED]


def main() -> int:
    """Write constraints.txt and say how many packages it pins."""
    if sys.version_info[:2] != OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        print(f"run this with Python {wanted}, the oldest the project supports", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        pins = list_pins(install_environment(Path(folder) / "venv"))
    CONSTRAINTS.write_text("".join(f"{pin}\n" for pin in pins), encoding="utf-8")
    print(f"{CONSTRAINTS.name}: {len(pins)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
