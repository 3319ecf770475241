"""The command line: `bookwarp simulate`, `show`, `rerun`, `reproduce`, `tune`, `info`."""

import sys


def main() -> None:
    """Run the program with the arguments it was started with; ends in SystemExit."""
    try:
        from bookwarp.cli.app import app

        app(prog_name="bookwarp")
    except KeyboardInterrupt:
        sys.exit("error: interrupted")
