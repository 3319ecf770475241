"""An assertion about every market, that says where it does not hold."""

from typing import Any

import numpy as np


def assert_everywhere(holds: np.ndarray, sentence: str, **values: Any) -> None:
    """Raise `sentence`, filled in for the first place in index order where `holds` is false.

    `{place}` names market and level; of an array among `values` the element there is taken.
    """
    wrong = np.argwhere(~np.asarray(holds, bool))
    if not len(wrong):
        return
    at = tuple(int(index) for index in wrong[0])
    names = zip(("market", "level"), at, strict=False)
    place = "[" + ", ".join(f"{name} {index}" for name, index in names) + "]"
    there = {n: v[at] if isinstance(v, np.ndarray) else v for n, v in values.items()}
    raise AssertionError(sentence.format(place=place, **there))
