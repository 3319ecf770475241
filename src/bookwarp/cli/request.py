"""What a command asks for: a file and options, made into a `bookwarp.Simulation`."""

from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.cli.config import naming_config, read_config
from bookwarp.cli.options import DEFAULT_MARKETS, DRAWN, EXACT, parse_given
from bookwarp.simulation import Simulation
from bookwarp.spec.agents import draw_agent_types
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.market import CallAuction

_BYTES_TO_DRAW_A_TYPE = 25
"""Two float64 or int64 temporaries and a result of NumPy's choice, and the int8 that is kept."""


def build_simulation(config: Path | None, given: dict[str, str | None]) -> Simulation:
    """Return the simulation that a file and options describe; options win over the file.

    Raises:
        ParameterError: something is wrong with them; of a value in the file, it says so.
        EngineError: the engine does not work here.
    """
    written = read_config(config) if config else {}
    options = parse_given(given)
    values = {"markets": DEFAULT_MARKETS} | written | options
    with naming_config(config, set(written) - set(options)):
        return Simulation(**with_agent_types(values))


def with_agent_types(values: dict[str, Any]) -> dict[str, Any]:
    """Return the same with the agent types themselves for the word that says where they are from.

    Raises:
        ParameterError: they cannot be drawn or read.
    """
    values = dict(values)
    who = values.pop("agent_types", EXACT)
    if who == DRAWN:
        values["agent_types"] = _draw_types(values)
        values.pop("mix", None)
    elif who != EXACT:
        values["agent_types"] = _read_types(Path(who))
    return values


def _draw_types(values: dict[str, Any]) -> np.ndarray:
    """Return types drawn from the run's mix and seed, as the published engine draws them."""
    # What is wrong or does not fit in memory is refused here, before anything is drawn.
    auction = Simulation(**values).auction
    if isinstance(auction.seed, np.ndarray):
        raise ParameterError(f"agent_types {DRAWN} needs one seed, not one per market")
    _check_drawing(auction, values.get("memory_limit"))
    return draw_agent_types(auction.markets, auction.agents, auction.mix, int(auction.seed))


def _check_drawing(auction: CallAuction, limit: int | None) -> None:
    """Refuse to draw more types than fit in memory."""
    import psutil

    needed = auction.markets * auction.agents * _BYTES_TO_DRAW_A_TYPE
    free = limit or psutil.virtual_memory().available
    if needed > free:
        raise ParameterError(
            f"drawing agent_types for {auction.markets} markets of {auction.agents} agents would "
            f"take {needed / 1e9:.3g} GB of {free / 1e9:.3g} GB: lower markets or agents, or use "
            f"agent_types {EXACT}"
        )


def _read_types(path: Path) -> np.ndarray:
    """Return the array in a file of NumPy's; its shape and codes are checked later."""
    try:
        with path.open("rb") as file:
            loaded = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise ParameterError(
            f"agent_types must be {EXACT}, {DRAWN} or an .npy file; {path} cannot be read: "
            f"{error.strerror}"
        ) from None
    except ValueError as error:
        raise ParameterError(f"agent_types: {path} is not an .npy file: {error}") from None
    return loaded
