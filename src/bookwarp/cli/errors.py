"""How the program fails: one paragraph on stderr, and an exit code that says what kind it was."""

import os
import re
import shutil
import sys
import textwrap
import traceback
from typing import Any

from typer.core import TyperGroup

from bookwarp.spec.errors import BookwarpError, ParameterError

FAILURE = 1
WRONG_USE = 2
TRACEBACK = "BOOKWARP_TRACEBACK"


class Program(TyperGroup):
    """The program: whatever goes wrong in a command ends as a paragraph and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command line; ends in SystemExit."""
        try:
            code = super().main(*args, **(kwargs | {"standalone_mode": False}))
        except Exception as error:  # noqa: BLE001
            if os.environ.get(TRACEBACK):
                traceback.print_exc()
            message, code = describe(error)
            print_error(message)
        sys.exit(code or 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise BookwarpError("interrupted") from None


def describe(error: Exception) -> tuple[str, int]:
    """Return the paragraph that says what went wrong, and the exit code."""
    if isinstance(error, ParameterError):
        return str(error), WRONG_USE
    if isinstance(error, BookwarpError):
        return str(error), FAILURE
    if hasattr(error, "format_message"):
        return _describe_usage(error), getattr(error, "exit_code", WRONG_USE)
    if isinstance(error, MemoryError):
        return f"out of memory: lower markets, levels, or what is recorded ({error})", FAILURE
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename is not None else ""
        return f"{error.strerror}{where}", FAILURE
    kind = type(error).__name__
    return f"{kind}: {error} (unexpected; {TRACEBACK}=1 shows where it comes from)", FAILURE


def _describe_usage(error: Any) -> str:
    """Return what the parser of the command line says, and where help is.

    Typer's own classes of errors are private and have moved; their attributes have not.
    """
    name, near = getattr(error, "option_name", None), getattr(error, "possibilities", None)
    if name and near:
        message = f"no such option {name}: did you mean {near[0]}?"
    else:
        message = error.format_message().rstrip(".")
        message = message[0].lower() + message[1:] + ("" if message.endswith("?") else ".")
    context = getattr(error, "ctx", None)
    return f"{message} See `{context.command_path} --help`." if context else message


def print_error(message: str) -> None:
    """Print one paragraph on stderr; in a terminal its lines break between words.

    What stands between backquotes is a command to copy: it is not broken.
    """
    text = "error: " + " ".join(message.split())
    text = "".join(each if each.isprintable() else "?" for each in text)
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        whole = re.sub(r"`[^`]*`", lambda command: command[0].replace(" ", "\0"), text)
        lines = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False)
        text = "\n".join(lines).replace("\0", " ")
    print(text, file=sys.stderr)
