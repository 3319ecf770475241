"""What a report is asked to show of a sweep, checked before anything is drawn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bookwarp.reporting.choice import check_axes
from bookwarp.reporting.quantity import Quantity, choose
from bookwarp.reporting.swept import Swept, store_name
from bookwarp.spec.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Request:
    """A sweep, and what is to be shown of it."""

    name: str
    """How the report calls the sweep; empty if it has no name."""
    swept: Swept
    quantities: list[Quantity]
    axes: tuple[str, ...] | None
    """Swept parameters to show; None for the usual ones."""
    missing: int
    """Markets that have not been run, ..."""
    wanted: int
    """... of so many."""

    @classmethod
    def of(
        cls,
        source: Any,
        measures: str | Iterable[str] | None = None,
        axes: str | Iterable[str] | None = None,
        at: Mapping[str, Any] | None = None,
    ) -> "Request":
        """Check what is asked for.

        Args:
            source, measures, axes, at: as for `bookwarp.report`.

        Raises:
            ParameterError: there is no such measure, parameter or value, `source` is no sweep, or
                nothing of it was run.
            StoreError: there is no store, or it is damaged.
        """
        swept = Swept.of(source).sliced(at or {})
        missing, wanted = swept.count_missing()
        if wanted == missing:
            raise ParameterError(
                f"there is nothing to report: none of {wanted:,} markets has been run; run the "
                f"sweep"
            )
        return cls(
            name=store_name(source),
            swept=swept,
            quantities=choose(swept, measures),
            axes=None if axes is None else check_axes(swept, axes),
            missing=missing,
            wanted=wanted,
        )
