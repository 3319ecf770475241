"""What tests do in the workers of a Dask cluster, which import it by name: faults, and slowness."""

import errno
import importlib.metadata
import os
import signal
import time

from tiny_measure import TinyMeasure

from bookwarp.sweeping import store

_KEPT = {}


class SlowMeasure(TinyMeasure):
    """Takes a while, so that there is time for something to happen."""

    def of_simulation(self, simulation):
        time.sleep(0.04)
        return super().of_simulation(simulation)


class DeadlyMeasure(TinyMeasure):
    """Ends the process that computes it, as a system does that is out of memory."""

    def of_simulation(self, simulation):
        os.kill(os.getpid(), signal.SIGKILL)


class WrongMeasure(TinyMeasure):
    """Has a fault of its own."""

    def of_simulation(self, simulation):
        raise ZeroDivisionError("a fault of the measure")


def pretend_version(version):
    """Have another version of bookwarp from now on; none at all if None."""

    def installed(name):
        if version is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return version

    _KEPT["version"] = importlib.metadata.version
    importlib.metadata.version = installed


def end_pretence():
    importlib.metadata.version = _KEPT.pop("version")


def fill_disk():
    """Have no room for any file from now on."""

    def write(path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    _KEPT["write"] = store._write_file
    store._write_file = write


def empty_disk():
    store._write_file = _KEPT.pop("write")


def tasks_done(dask_worker):
    """Return how many tasks a worker has run."""
    return dask_worker.state.executed_count
