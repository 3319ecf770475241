"""Look up a record by its index."""

import numpy as np

from bookwarp.engines.cpu.compile import inlined


@inlined
def at(pool, index):  # type: ignore[no-untyped-def]
    """Return an element of an array; `index` is not negative.

    A negative one would count from the end, and to look for that takes a tenth of the time.
    """
    return pool[np.uint64(index)]
