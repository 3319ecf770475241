"""`bookwarp show`: what a saved run holds."""

from bookwarp.cli.options import Json, Overwrite, Plot, Store
from bookwarp.cli.outputs import Outputs, load_run
from bookwarp.cli.summary import print_run


def show(
    store: Store, plot: Plot = None, overwrite: Overwrite = False, as_json: Json = False
) -> None:
    """Print the summary of a saved run, and draw it."""
    outputs = Outputs(None, plot, overwrite)
    run = load_run(store)
    outputs.check(run.plan)
    outputs.draw(run)
    print_run(run, as_json)
