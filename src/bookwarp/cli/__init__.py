"""The command line: `bookwarp simulate`, `show`, `rerun`, `reproduce`, `info`."""


def main() -> None:
    """Run the program with the arguments it was started with; ends in SystemExit."""
    from bookwarp.cli.app import app

    app(prog_name="bookwarp")
