"""A `Run` as an xarray Dataset, and back; arrays are shared, not copied."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bookwarp.reference.tape import TAPE_ROW
from bookwarp.results.provenance import PER_MARKET, describe, parse_document, rebuild
from bookwarp.results.run import Run
from bookwarp.spec.codes import MIXED_TYPES, NO_PRICE
from bookwarp.spec.errors import StoreError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.parameters import PARAMETERS
from bookwarp.spec.record import SERIES, RecordPlan
from bookwarp.spec.state import ALL_LAYOUT, STATE_LAYOUT, State

Variables = dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, Any]]]

_RENAMED = {
    "last": "last_price",
    "own_waiting": "execution_waiting",
    "own_filled": "execution_filled",
    "own_cost": "execution_cost",
}
FINAL = {name: _RENAMED.get(name, name) for name in ALL_LAYOUT}
"""Array of the state -> variable of the dataset and property of `Run`."""

# Chosen markets and steps: array of the provenance -> dimension, which is its coordinate too.
_CHOSEN = {
    "book_markets": "book_market",
    "tape_markets": "taped_market",
    "tape_steps": "taped_step",
}
_TAPE_MEANING = {
    "step": ("1", "step of the order, from 0"),
    "market": ("1", "market of the order"),
    "agent": ("1", "agent that sent the order"),
    "side": ("1", "1 buy, -1 sell"),
    "price": ("tick", "limit price"),
    "qty": ("lot", "size of the order"),
    "filled": ("lot", "lots of the order filled in its step"),
}
_TYPES = ", ".join(f"{code.value} {code.name.lower()}" for code in MIXED_TYPES)


def run_to_dataset(run: Run) -> xr.Dataset:
    """Return `run` as a Dataset; `Run.to_xarray` says what is in it.

    Cost: a SHA-256 over all of it; no copy of the books.
    """
    document, arrays = describe(run.auction, run.plan, run.engine, run.elapsed_s, run.made_by)
    document["step"] = run.steps
    document["history"] = list(run.history)
    document["tape"] = run.tape is not None
    text, digest = json.dumps(document), run.digest()
    others = {**_parameter_variables(run.auction, arrays), **_tape_variables(run.tape)}
    others |= _history_variables(run)
    return xr.Dataset(
        {**_final_variables(run.state), **_without(others, arrays)},
        coords={**_axes(run), **{_coordinate(name): others[_coordinate(name)] for name in arrays}},
        attrs={
            **_constants(run),
            "digest": digest,
            "contents_sha256": _hash_contents(text, digest, {n: v[1] for n, v in others.items()}),
            "provenance": text,
        },
    )


def dataset_to_run(dataset: xr.Dataset, source: str) -> Run:
    """Return the run in a dataset from `run_to_dataset`, checked against its digest.

    Args:
        dataset: what was written, read without decoding.
        source: names the file in errors.

    Raises:
        StoreError: it is not from bookwarp, was changed, or is of a newer format.
    """
    text = dataset.attrs.get("provenance")
    if not isinstance(text, str):
        raise StoreError(f"{source} was not written by bookwarp: it does not say what made it")
    document = parse_document(text, source)
    columns = [f"tape_{name}" for name in TAPE_ROW.names or ()] if document["tape"] else []
    history = [f"history_{name}" for name in document["history"]]
    coordinates = [_coordinate(name) for name in document["arrays"]]
    others = {name: dataset[name].values for name in coordinates + columns + history}
    kept = [n for n in ALL_LAYOUT if n in STATE_LAYOUT or FINAL[n] in dataset.data_vars]
    state = State(document["step"], **{name: dataset[FINAL[name]].values for name in kept})
    digest = dataset.attrs.get("digest")
    contents = _hash_contents(text, str(digest), others)
    if state.digest() != digest or contents != dataset.attrs.get("contents_sha256"):
        raise StoreError(f"{source} is damaged: its contents are not those that were saved")
    arrays = {name: others[_coordinate(name)] for name in document["arrays"]}
    auction, plan = rebuild(document, arrays, source)
    return Run(
        auction=auction,
        plan=plan,
        state=state,
        history={name.removeprefix("history_"): others[name] for name in history},
        tape=_join_tape({name: others[name] for name in columns}),
        engine=document["engine"],
        elapsed_s=document["elapsed_s"],
        made_by=document["made_by"],
    )


def series_attributes(name: str, plan: RecordPlan) -> dict[str, Any]:
    """Return units, meaning and sentinel of a recorded series."""
    unit, meaning = SERIES[name]
    attributes: dict[str, Any] = {"units": unit, "long_name": meaning}
    if name in ("best_bid", "best_ask"):
        attributes["no_price"] = NO_PRICE
    if name in ("bid_depth", "ask_depth"):
        attributes["depth_ticks"] = plan.depth_ticks
    return attributes


def parameter_attributes(name: str) -> dict[str, Any]:
    """Return units and meaning of a parameter, or of a share of the mix."""
    if name.startswith("mix_"):
        return {"units": "1", "long_name": f"share of {name.removeprefix('mix_')} agents"}
    return {"units": PARAMETERS[name].unit, "long_name": PARAMETERS[name].meaning}


def _final_variables(state: State) -> Variables:
    return {
        FINAL[name]: (ALL_LAYOUT[name][0], array, _attributes(name))
        for name, array in state.arrays().items()
    }


def _attributes(name: str) -> dict[str, Any]:
    """Return units and meaning of an array of the state."""
    _, unit, meaning = ALL_LAYOUT[name]
    return {"units": unit, "long_name": meaning}


def _history_variables(run: Run) -> Variables:
    variables: Variables = {}
    for name, rows in run.history.items():
        if name in SERIES:
            attributes = series_attributes(name, run.plan)
            variables[f"history_{name}"] = (("step", "market"), rows, attributes)
        else:
            attributes = _attributes(name.removeprefix("book_"))
            attributes["long_name"] += " after the step"
            variables[f"history_{name}"] = (("step", "book_market", "level"), rows, attributes)
    return variables


def _tape_variables(tape: np.ndarray | None) -> Variables:
    if tape is None:
        return {}
    variables: Variables = {}
    for name, (unit, meaning) in _TAPE_MEANING.items():
        column = np.ascontiguousarray(tape[name])
        variables[f"tape_{name}"] = (("order",), column, {"units": unit, "long_name": meaning})
    return variables


def _join_tape(columns: Mapping[str, np.ndarray]) -> np.ndarray | None:
    if not columns:
        return None
    tape = np.zeros(len(columns["tape_step"]), TAPE_ROW)
    for name, column in columns.items():
        tape[name.removeprefix("tape_")] = column
    return tape


def _parameter_variables(auction: CallAuction, arrays: Mapping[str, np.ndarray]) -> Variables:
    variables: Variables = {}
    for name, array in arrays.items():
        if name in _CHOSEN:
            meaning = f"{name.split('_')[1]} chosen for the {name.split('_')[0]}"
            attributes = {"units": "1", "long_name": meaning}
            variables[_CHOSEN[name]] = ((_CHOSEN[name],), array, attributes)
        elif name == "volume_profile":
            meaning = "weight of each point of the schedule profile"
            variables[name] = (("point",), array, {"units": "1", "long_name": meaning})
        elif name == "agent_types":
            attributes = {"units": "1", "long_name": f"type of each agent: {_TYPES}"}
            variables[name] = (("market", "agent"), array, attributes)
        else:
            variables[name] = (("market",), array, parameter_attributes(name))
    return variables


def _axes(run: Run) -> Variables:
    """Return the coordinates that number the markets, the levels and the recorded steps."""
    markets, levels = np.arange(run.markets), np.arange(run.levels)
    axes: Variables = {
        "market": (("market",), markets, {"units": "1", "long_name": "market, from 0"}),
        "level": (("level",), levels, {"units": "tick", "long_name": "tick counted from base"}),
    }
    if run.history:
        meaning = {"units": "1", "long_name": "step after which the row was taken, from 0"}
        axes["step"] = (("step",), run.history_steps, meaning)
    return axes


def _constants(run: Run) -> dict[str, Any]:
    """Return what is the same for all markets, as attributes of the dataset."""
    auction = run.auction
    constants: dict[str, Any] = {
        "title": "bookwarp call-auction ensemble",
        "bookwarp_version": run.made_by.get("bookwarp") or "unknown",
        "created": run.made_by.get("created") or "unknown",
        "engine": run.engine,
        "elapsed_s": run.elapsed_s,
        "markets": run.markets,
        "agents": run.agents,
        "levels": run.levels,
        "steps": run.steps,
        "stream": run.stream,
        "window": run.window,
        "record_every": run.plan.every,
        "no_price": NO_PRICE,
    }
    values = {name: getattr(auction, name) for name in PER_MARKET}
    values |= {f"mix_{name}": share for name, share in (auction.mix or {}).items()}
    constants |= {n: value for n, value in values.items() if not isinstance(value, np.ndarray)}
    return constants


def _coordinate(name: str) -> str:
    return _CHOSEN.get(name, name)


def _without(variables: Variables, arrays: Mapping[str, np.ndarray]) -> Variables:
    coordinates = {_coordinate(name) for name in arrays}
    return {name: each for name, each in variables.items() if name not in coordinates}


def _hash_contents(text: str, digest: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Return the SHA-256 of all that the digest does not cover, and of the digest itself."""
    hasher = hashlib.sha256(f"{text}\n{digest}\n".encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        hasher.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        hasher.update(array.data)
    return hasher.hexdigest()
