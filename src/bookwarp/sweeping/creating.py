"""A new store of a sweep: all its metadata and coordinates, and no block."""

from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from bookwarp.sweeping.layout import Variable, attributes, coordinates
from bookwarp.sweeping.plan import SweepPlan

MARKERS = "block_sha256"
SEPARATOR = "."
"""Of the numbers in the name of a chunk's file: so all files of an array are in one folder, and not
each in some of its own."""
_TEXT = "text"
SHA256_BYTES = 32
"""A marker is two of these."""


def create_store(path: Path, plan: SweepPlan, variables: Mapping[str, Variable]) -> None:
    """Write a store without any block."""
    # All metadata at once, and in memory first: an array after the other takes four times as long.
    from zarr import Array, create_hierarchy
    from zarr.core.group import ConsolidatedMetadata, GroupMetadata
    from zarr.core.metadata import ArrayV3Metadata
    from zarr.storage import MemoryStore

    found = coordinates(plan)
    wanted = {**variables, MARKERS: _marker_variable(plan)}
    wanted |= {name: _coordinate_variable(*each) for name, each in found.items()}
    arrays = {name: ArrayV3Metadata.from_dict(_document(each)) for name, each in wanted.items()}
    root = GroupMetadata(
        attributes=root_attributes(plan, None),
        # Every reader of ours and of xarray's takes it; others list the folders instead.
        consolidated_metadata=ConsolidatedMetadata(metadata=dict(sorted(arrays.items()))),
    )
    files: dict[str, Any] = {}
    for name, made in create_hierarchy(store=MemoryStore(files), nodes={"": root, **arrays}):
        if isinstance(made, Array) and name in found:
            made[...] = found[name][1]
    for name, content in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.to_bytes())


def _coordinate_variable(dims: tuple[str, ...], values: np.ndarray, said: Any) -> Variable:
    text = values.dtype == object
    dtype = _TEXT if text else values.dtype.newbyteorder("<").str
    return Variable(dims, values.shape, values.shape, dtype, "" if text else 0, said)


def _document(variable: Variable) -> dict[str, Any]:
    """Return the metadata of an array as the specification of Zarr 3 has them."""
    kind = None if variable.dtype == _TEXT else np.dtype(variable.dtype)
    codec: dict[str, Any] = {"name": "vlen-utf8"}
    if kind is not None:
        codec = {"name": "bytes"}
        if kind.itemsize > 1:
            codec["configuration"] = {"endian": "little"}
    fill = variable.fill
    if isinstance(fill, float) and isnan(fill):
        fill = "NaN"
    elif kind is not None and kind.kind == "b":
        fill = bool(fill)
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": variable.shape,
        "data_type": "string" if kind is None else kind.name,
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": [max(1, length) for length in variable.chunk]},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": SEPARATOR}},
        "fill_value": fill,
        "codecs": [codec],
        "attributes": variable.attributes,
        "dimension_names": variable.dims,
    }


def root_attributes(plan: SweepPlan, digest: str | None) -> dict[str, Any]:
    """Return the attributes of the group: those of the dataset, and which variables label others.

    Args:
        plan: of the sweep.
        digest: of all blocks; None as long as some are missing.
    """
    labels = sorted(name for name, (dims, _, _) in coordinates(plan).items() if dims != (name,))
    # Where it has none, there is no such attribute: xarray takes every name in it for a variable.
    said = {"coordinates": " ".join(labels)} if labels else {}
    return attributes(plan, digest) | said


def _marker_variable(plan: SweepPlan) -> Variable:
    meaning = "SHA-256 of a block's exact results, then of its files; all 0: not written yet"
    said = {"units": "1", "long_name": meaning}
    shape = (plan.blocks.count, 2 * SHA256_BYTES)
    return Variable(("block", "byte"), shape, (1, 2 * SHA256_BYTES), "|u1", 0, said)
