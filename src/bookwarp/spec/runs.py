"""Which entries of an array belong to some markets, where these follow each other in runs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from bookwarp.spec.errors import ParameterError


@dataclass(frozen=True)
class Runs:
    """Numbers that increase: in runs of as many, which begin equally far from each other.

    The last run may be shorter.

    Raises:
        ParameterError: one of the four is too small.
    """

    first: int
    """The smallest number, at least 0."""
    count: int
    """How many numbers there are, at least 0."""
    run: int
    """How many follow each other, at least 1."""
    apart: int
    """From the beginning of one run to that of the next, at least `run`."""

    def __post_init__(self) -> None:
        least = {"first": 0, "count": 0, "run": 1, "apart": self.run}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise ParameterError(f"{name} = {getattr(self, name)} is less than {low}")

    @classmethod
    def one(cls, first: int, stop: int) -> "Runs":
        """Return the numbers `first` .. `stop`, half-open: a single run."""
        return cls(first, stop - first, max(1, stop - first), max(1, stop - first))

    def __len__(self) -> int:
        return self.count

    @property
    def is_one(self) -> bool:
        """Whether no number is left out between the first and the last."""
        return self.count <= self.run or self.run == self.apart

    @property
    def stop(self) -> int:
        """One more than the last number."""
        return self.at(self.count - 1) + 1 if self.count else self.first

    @property
    def index(self) -> slice | np.ndarray:
        """What an array is indexed by to have these entries: a slice, for a view, or int64."""
        if self.is_one:
            return slice(self.first, self.first + self.count)
        return self.array()

    def array(self) -> np.ndarray:
        """Return the numbers, int64."""
        runs = self.first + np.arange(-(-self.count // self.run)) * self.apart
        return (runs[:, None] + np.arange(self.run)).reshape(-1)[: self.count]

    def at(self, place: int) -> int:
        """Return the number that so many are before."""
        return self.first + place // self.run * self.apart + place % self.run

    def in_runs_of(self, length: int) -> "Runs":
        """Return the same numbers as runs of a length, which has to be theirs if they are many."""
        if self.is_one:
            return Runs(self.first, self.count, length, length)
        if self.run != length:
            raise ParameterError(f"runs of {self.run} numbers are no runs of {length}")
        return self

    def between(self, first: int, stop: int) -> "Iterator[Runs]":
        """Yield the numbers at the places `first` .. `stop`, half-open.

        First what is left of a run, then the runs that follow.
        """
        whole = min(stop, -(-first // self.run) * self.run)
        if first < whole:
            yield Runs.one(self.at(first), self.at(first) + whole - first)
        if whole < stop:
            yield Runs(self.at(whole), stop - whole, self.run, self.apart)

    def views(self, array: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the entries of an array that has these numbers as its first index.

        Yields:
            How many entries were before, and a view [run, entry of the run, ...]: of all whole
            runs, then of the last one, if that is shorter.
        """
        if self.stop > len(array):
            raise IndexError(f"entry {self.stop - 1} of an array of {len(array)}")
        whole, rest = divmod(self.count, self.run)
        if whole:
            shape = whole, self.run, *array.shape[1:]
            pitch = self.apart * array.strides[0]
            yield 0, as_strided(array[self.first :], shape, (pitch, *array.strides))
        if rest:
            last = self.at(whole * self.run)
            yield whole * self.run, array[None, last : last + rest]
