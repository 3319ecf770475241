"""Memory that a worker freed is used again, though Dask's environment would give it back."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import numpy as np
from bookwarp.sweeping.freed_memory import keep_freed_memory

if sys.argv[1] == "keep":
    keep_freed_memory()

def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        np.ones(2**20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults(2)
print(faults(20))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it is about the C library of Linux")
def test_rows_come_from_memory_that_was_freed():
    # Large pages would be few faults in any case.
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536", "NUMPY_MADVISE_HUGEPAGE": "0"}
    given, kept = (
        int(subprocess.check_output([sys.executable, "-c", PROGRAM, word], env=environment))
        for word in ("leave", "keep")
    )
    if given < 1000:
        pytest.skip("this C library keeps freed memory anyway")
    assert kept < given / 20
