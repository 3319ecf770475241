"""What the C library does with memory that was freed, in a worker process of Dask."""

import ctypes

# Of glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
# Arrays below it come from memory that was freed before; glibc takes no more.
_MMAP_BYTES = 2**25
# So much that is free is kept, for each of its arenas.
_TRIM_BYTES = 2**27


def keep_freed_memory() -> None:
    """Have glibc keep the memory of rows for the simulation that comes next.

    Dask starts its workers with an environment (`MALLOC_TRIM_THRESHOLD_`) in which glibc gives all
    of it back to the system at once, and gets the same pages again, one fault each, a moment later.
    That takes a fifth of the time of a sweep. Other C libraries are left as they are.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES)
    mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES)
