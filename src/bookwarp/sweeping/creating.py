"""A new store of a sweep: all its metadata and coordinates, and no block."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bookwarp.sweeping.layout import Variable, attributes, coordinates
from bookwarp.sweeping.plan import SweepPlan

MARKERS = "block_sha256"
SEPARATOR = "."
"""Of the numbers in the name of a chunk's file: so all files of an array are in one folder, and not
each in some of its own."""
SHA256_BYTES = 32
"""A marker is two of these."""


def create_store(path: Path, plan: SweepPlan, variables: Mapping[str, Variable]) -> None:
    """Write a store without any block."""
    import zarr

    with warnings.catch_warnings():
        # Every reader of ours and of xarray's takes it; others list the folders instead.
        warnings.filterwarnings("ignore", "Consolidated metadata is currently not part")
        group = zarr.create_group(path, zarr_format=3, attributes=root_attributes(plan, None))
        for name, variable in {**variables, MARKERS: _marker_variable(plan)}.items():
            group.create_array(
                name,
                shape=variable.shape,
                chunks=tuple(max(1, length) for length in variable.chunk),
                dtype=variable.dtype,
                fill_value=variable.fill,
                compressors=None,
                filters=None,
                dimension_names=variable.dims,
                attributes=variable.attributes,
                chunk_key_encoding={"name": "default", "separator": SEPARATOR},
            )
        for name, (dims, values, said) in coordinates(plan).items():
            text = values.dtype == object
            array = group.create_array(
                name,
                shape=values.shape,
                chunks=tuple(max(1, length) for length in values.shape),
                dtype=str if text else values.dtype.newbyteorder("<"),
                fill_value="" if text else values.dtype.type(0),
                compressors=None,
                filters=None,
                dimension_names=dims,
                attributes=said,
            )
            array[...] = values
        zarr.consolidate_metadata(path)


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
