"""The layers of design/0001-layers.md: who may import whom, read from the sources themselves."""

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "bookwarp"

# layer -> what it may import of ours, and which other packages, where the design restricts it
OURS = {
    "spec": {"spec"},
    "reference": {"spec", "reference"},
    "engines": {"spec", "engines"},
}
OTHERS = {
    "spec": {"numpy"},
    "reference": {"numpy"},
    "engines": {"numpy", "numba", "llvmlite", "cuda"},
}


def imported_modules(source: Path) -> list[tuple[int, str]]:
    """Return (line, dotted name) of everything that a source file imports, wherever it does so."""
    package = ("bookwarp", *source.relative_to(PACKAGE).parts[:-1])
    found = []
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            anchor = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*anchor, *filter(None, [node.module])))
            if module == "bookwarp":
                found += [(node.lineno, f"bookwarp.{alias.name}") for alias in node.names]
            else:
                found.append((node.lineno, module))
    return found


def layer_of(module: str) -> str:
    """Return the second part of a dotted name: bookwarp.spec.codes is in spec."""
    return module.partition(".")[2].partition(".")[0]


def files_of(layer: str) -> list[Path]:
    files = sorted((PACKAGE / layer).rglob("*.py"))
    assert files, f"the layer {layer} has no files"
    return files


@pytest.mark.parametrize("layer", OURS)
def test_layer_imports_only_the_layers_below_it(layer):
    wrong = [
        f"{source.relative_to(PACKAGE)}:{line} imports {module}"
        for source in files_of(layer)
        for line, module in imported_modules(source)
        if module.split(".")[0] == "bookwarp" and layer_of(module) not in OURS[layer]
    ]
    assert not wrong, f"{layer} may import {sorted(OURS[layer])} only: {wrong}"


@pytest.mark.parametrize("layer", OTHERS)
def test_layer_imports_only_the_packages_it_needs(layer):
    allowed = OTHERS[layer] | set(sys.stdlib_module_names) | {"bookwarp"}
    wrong = [
        f"{source.relative_to(PACKAGE)}:{line} imports {module}"
        for source in files_of(layer)
        for line, module in imported_modules(source)
        if module.split(".")[0] not in allowed
    ]
    assert not wrong, f"{layer} may import {sorted(OTHERS[layer])} only: {wrong}"


def test_engines_do_not_import_each_other():
    engines = [module.parent.name for module in (PACKAGE / "engines").glob("*/__init__.py")]
    assert "cpu" in engines
    wrong = [
        f"{source.relative_to(PACKAGE)}:{line} imports {module}"
        for engine in engines
        for source in files_of(f"engines/{engine}")
        for line, module in imported_modules(source)
        for other in engines
        if other != engine and f"{module}.".startswith(f"bookwarp.engines.{other}.")
    ]
    assert not wrong


def test_reader_of_imports_sees_every_form(tmp_path, monkeypatch):
    """The tests above are only as good as what they read."""
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    source = tmp_path / "spec" / "probe.py"
    source.parent.mkdir()
    source.write_text(
        "import bookwarp.results.run as r, os\n"
        "from bookwarp import simulate\n"
        "from bookwarp.cli import main\n"
        "from . import codes\n"
        "from .. import analysis\n"
        "from ..engines.cpu import engine\n"
        "def late():\n"
        "    import numba\n"
    )
    assert imported_modules(source) == [
        (1, "bookwarp.results.run"),
        (1, "os"),
        (2, "bookwarp.simulate"),
        (3, "bookwarp.cli"),
        (4, "bookwarp.spec"),
        (5, "bookwarp.analysis"),
        (6, "bookwarp.engines.cpu"),
        (8, "numba"),
    ]
