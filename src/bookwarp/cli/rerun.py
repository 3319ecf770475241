"""`bookwarp rerun`: a saved run, run again from what it says of itself."""

import typer

from bookwarp.cli.errors import FAILURE
from bookwarp.cli.options import Json, Store, parse_given, with_run_options
from bookwarp.cli.outputs import load_run
from bookwarp.cli.tables import print_facts, print_json


@with_run_options("engine", "threads")
def rerun(*, store: Store, as_json: Json = False, **given: str | None) -> None:
    """Run a saved run again and say whether the digest agrees. Exit code 1 if it does not."""
    values = parse_given(given)
    saved = load_run(store)
    again = saved.rerun(**values)
    digests = {"saved": saved.digest(), "again": again.digest()}
    agrees = digests["saved"] == digests["again"]
    if as_json:
        print_json({"store": str(store), "engine": again.engine, **digests, "agrees": agrees})
    else:
        print_facts({**digests, "verdict": "the digests agree" if agrees else "THE DIGESTS DIFFER"})
    if not agrees:
        raise typer.Exit(FAILURE)
