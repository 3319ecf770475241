"""What made a run, as a JSON document and arrays, and the way back from them to a description."""

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from bookwarp.spec.agents import Mix
from bookwarp.spec.errors import StoreError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.parameters import PARAMETERS
from bookwarp.spec.record import BOOK, TAPE, RecordPlan

FORMAT = 2
"""Format of the document; a version of bookwarp reads all formats up to its own."""

SHARED = ("agents", "levels")
PER_MARKET = tuple(p.name for p in PARAMETERS.values() if p.per_market and p.name != "market_ids")
"""The parameters that may differ from market to market, the mix aside."""
_SHARE = "mix_"
_PACKAGES = ("bookwarp", "numpy", "numba")


def made_now() -> dict[str, str | None]:
    """Return the versions that make a run here and now, and the time; None: not installed."""
    made: dict[str, str | None] = {name: _version(name) for name in _PACKAGES}
    made["python"] = platform.python_version()
    made["created"] = datetime.now(UTC).isoformat(timespec="seconds")
    return made


def auction_keywords(auction: CallAuction) -> dict[str, Any]:
    """Return the arguments with which `CallAuction.of` makes `auction` again."""
    keywords: dict[str, Any] = {"markets": auction.markets}
    keywords |= {name: getattr(auction, name) for name in (*SHARED, *PER_MARKET)}
    keywords |= {"stream": auction.stream.name.lower(), "window": auction.window.name.lower()}
    if auction.volume_profile is not None:
        keywords["volume_profile"] = auction.volume_profile
    if auction.mix is None:
        keywords["agent_types"] = auction.agent_types
    else:
        keywords["mix"] = Mix(**auction.mix)
    if not np.array_equal(auction.market_ids, np.arange(auction.markets)):
        keywords["market_ids"] = auction.market_ids
    return keywords


def plan_keywords(plan: RecordPlan) -> dict[str, Any]:
    """Return the arguments with which `simulate` makes `plan` again."""
    keywords: dict[str, Any] = {
        "record": plan.names,
        "record_every": plan.every,
        "depth_ticks": plan.depth_ticks,
    }
    if BOOK in plan.names:
        keywords["book_markets"] = plan.book_markets
    if TAPE in plan.names:
        keywords |= {"tape_markets": plan.tape_markets, "tape_steps": plan.tape_steps}
    return keywords


def describe(
    auction: CallAuction,
    plan: RecordPlan,
    engine: str,
    elapsed_s: float,
    made_by: Mapping[str, str | None],
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return all that made a run: a document that JSON holds exactly, and the arrays it names.

    Args:
        auction, plan: the ensemble and what it records.
        engine: name of the engine.
        elapsed_s: seconds spent in the engine.
        made_by: as from `made_now`.

    Returns:
        The document, and by name every array: parameters and shares ("mix_noise") that differ
        by market, agent_types, market_ids, book_markets, tape_markets, tape_steps.
    """
    ensemble, recording = auction_keywords(auction), plan_keywords(plan)
    if auction.mix is not None:
        del ensemble["mix"]
        ensemble |= {_SHARE + name: share for name, share in auction.mix.items()}
    both = {**ensemble, **recording}
    arrays = {name: value for name, value in both.items() if isinstance(value, np.ndarray)}
    document = {
        "format": FORMAT,
        "made_by": dict(made_by),
        "engine": engine,
        "elapsed_s": elapsed_s,
        "auction": {name: value for name, value in ensemble.items() if name not in arrays},
        "plan": {name: value for name, value in recording.items() if name not in arrays},
        "arrays": sorted(arrays),
    }
    return document, arrays


def parse_document(text: str | bytes, source: str) -> dict[str, Any]:
    """Return the document in `text`, of a format that this version reads.

    Args:
        text: JSON.
        source: names the file in the error.

    Raises:
        StoreError: it is no document, or of a newer format.
    """
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    written = document.get("format") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(written, int) or written < 1:
        raise StoreError(f"{source} is damaged: it does not describe the run that is in it")
    if written > FORMAT:
        raise StoreError(
            f"{source} was written by a newer bookwarp, in format {written}; this version reads "
            f"formats up to {FORMAT}: upgrade bookwarp to read it"
        )
    return document


def rebuild(
    document: Mapping[str, Any], arrays: Mapping[str, np.ndarray], source: str
) -> tuple[CallAuction, RecordPlan]:
    """Return the ensemble and the plan of a document from `describe`, checked as if they were new.

    Args:
        document, arrays: as `describe` returned them.
        source: names the file in the error.

    Raises:
        StoreError: they do not make an ensemble.
    """
    try:
        ensemble, recording = dict(document["auction"]), dict(document["plan"])
        for name in document["arrays"]:
            plans = name in ("book_markets", "tape_markets", "tape_steps")
            (recording if plans else ensemble)[name] = arrays[name]
        shares = [name for name in ensemble if name.startswith(_SHARE)]
        if shares:
            ensemble["mix"] = {name.removeprefix(_SHARE): ensemble.pop(name) for name in shares}
        auction = CallAuction.of(**ensemble)
        recording["every"] = recording.pop("record_every")
        return auction, RecordPlan.of(auction, **recording)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"{source} is damaged: the description of its run makes no ensemble ({error})"
        ) from error


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
