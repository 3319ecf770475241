"""The file of `--config`: the parameters of a run in TOML, under the names of the options."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bookwarp.cli import values
from bookwarp.cli.options import DRAWN, EXACT, RUN_OPTIONS, RunOption
from bookwarp.cli.toml_file import read_toml
from bookwarp.spec.errors import ParameterError, unknown_name

# Options whose value may be written in a file as it is on the command line.
_TEXT_FORMS = (
    *(values.parse_text, values.parse_names, values.parse_indices, values.parse_bytes),
    *(values.parse_devices, values.parse_name_or_names, values.parse_integers),
)

_LISTED = {"names": str, "integers": int}


def read_config(path: Path) -> dict[str, Any]:
    """Return the values in a file, by the name of their parameter.

    Raises:
        ParameterError: the file cannot be read, is not TOML, has an unknown key, or a value of a
            kind that no parameter has; the message names the file and the key.
    """
    document = read_toml(path, "config")
    read = {}
    for key, value in document.items():
        if key not in RUN_OPTIONS:
            raise ParameterError(f"config {path}: {unknown_name('key', key, RUN_OPTIONS)}")
        try:
            read[key] = _convert(RUN_OPTIONS[key], value)
        except ParameterError as error:
            raise ParameterError(f"config {path}: {error}") from None
    who = read.get("agent_types")
    if who not in (None, EXACT, DRAWN):
        read["agent_types"] = str(path.parent / who)
    return read


@contextmanager
def naming_config(path: Path | None, names: set[str]) -> Iterator[None]:
    """Say of an error about one of `names` that its value stands in the file `path`."""
    try:
        yield
    except ParameterError as error:
        words = str(error).replace(".", " ").replace(":", " ").replace(",", " ").split()
        blamed = ", ".join(sorted(names.intersection(words)))
        if path is None or not blamed:
            raise
        raise ParameterError(f"{error} ({blamed}: from config {path})") from None


def _convert(option: RunOption, value: Any) -> Any:
    """Return a TOML value as the value of an option, its domain not yet checked."""
    name = option.name
    if (name == "mix") != isinstance(value, dict):
        kind = "a table of shares, [mix]" if name == "mix" else "a value, not a table"
        raise ParameterError(f"{name} must be {kind}")
    if isinstance(value, str) and option.parse in _TEXT_FORMS:
        return option.parse(name, value)
    if option.parse is values.parse_text:
        raise ParameterError(f"{name} must be text, not {value!r}")
    if option.parse in (values.parse_names, values.parse_indices):
        what = "names" if option.parse is values.parse_names else "integers"
        value = value if isinstance(value, list) else [value]
        if any(type(each) is not _LISTED[what] for each in value):
            raise ParameterError(f"{name} must be a list of {what}, not {value!r}")
    if isinstance(value, list) and any(isinstance(each, bool) for each in value):
        raise ParameterError(f"{name} must hold numbers, not {value!r}")
    return value
