"""Where a replay goes: memory, files, comparison, picture; all of it in one pass."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.engines.replay_protocol import ReplayBooks
from bookwarp.results.day import Day
from bookwarp.results.output import as_path, check_absent, check_folder, written_whole
from bookwarp.spec.errors import ParameterError
from bookwarp.spec.market_data import MarketRows, ReplayBlock

if TYPE_CHECKING:
    from bookwarp.analysis.day_canvas import DayCanvas
    from bookwarp.io.lobster_book import BookCheck
    from bookwarp.io.replay_orders import OrdersExport
    from bookwarp.replaying import Replay

_PARQUET = ".parquet"
_GIGABYTE = 1e9


@dataclass
class _Kept:
    """Blocks that are kept in memory, up to a limit."""

    limit: int
    level_count: int
    blocks: list[ReplayBlock] = field(default_factory=list)
    nbytes: int = 0

    def add(self, block: ReplayBlock) -> None:
        """Keep a block.

        Raises:
            ParameterError: it would not fit.
        """
        levels = np.ascontiguousarray(block.levels[:, : self.level_count])
        kept = ReplayBlock(block.first_row, block.rows, levels)
        self.nbytes += kept.nbytes
        # All is held twice while it is joined.
        if 2 * self.nbytes > self.limit:
            raise ParameterError(
                f"the rows up to {block.first_row} already take {self.nbytes / _GIGABYTE:.3g} GB, "
                f"and twice that while they are joined; {self.limit / _GIGABYTE:.3g} GB may be "
                "used: give collect=False and out=, read bw.Replay block by block, or set "
                "memory_limit"
            )
        self.blocks.append(kept)

    def join(self) -> dict[str, Any]:
        """Return all rows and levels, as fields of `Day`."""
        if not self.blocks:
            return {}
        columns = zip(*(block.rows for block in self.blocks), strict=True)
        rows = MarketRows(*(np.concatenate(column) for column in columns))
        return {"rows": rows, "levels": np.concatenate([block.levels for block in self.blocks])}


@dataclass
class ReplayOutputs:
    """What becomes of a replay; build it with `of`, which checks it."""

    run: "Replay"
    levels: int
    kept: _Kept | None
    check: "BookCheck | None"
    out: Path | None
    orders: Path | None
    lobster: Path | None
    plot: Path | None
    overwrite: bool

    @classmethod
    def of(
        cls,
        run: "Replay",
        *,
        levels: int,
        kept_bytes: int | None,
        check: Any,
        out: Any,
        orders: Any,
        lobster: Any,
        plot: Any,
        overwrite: bool,
    ) -> "ReplayOutputs":
        """Check all paths, before any work.

        Raises:
            ParameterError: a path has an unknown suffix, or is not for this format.
            StoreError: a path exists or cannot be written, or the published books not read.
        """
        made = cls(
            run=run,
            levels=levels,
            kept=None if kept_bytes is None else _Kept(kept_bytes, levels),
            check=None,
            out=_parquet_path("out", out, overwrite),
            orders=_parquet_path("orders", orders, overwrite),
            lobster=None if lobster is None else as_path(lobster),
            plot=None if plot is None else as_path(plot),
            overwrite=overwrite,
        )
        for path in made.lobster_files():
            check_absent(path, overwrite)
            check_folder(path)
        if made.plot is not None:
            from bookwarp.analysis.plots import check_plot

            check_plot(made.plot, overwrite)
        if check is not None:
            made.check = _open_check(run, check, levels)
        return made

    def lobster_files(self) -> tuple[Path, ...]:
        """Return where messages and books go, if they are written."""
        if self.lobster is None:
            return ()
        from bookwarp.io.lobster_files import lobster_paths

        return lobster_paths(self.lobster, self.levels)

    def write(self) -> Day:
        """Replay everything, and return what was counted.

        Raises:
            ParameterError: what is to be kept does not fit, or there is more than one symbol.
            StoreError: a file is damaged, or cannot be written.
        """
        canvas = self._canvas()
        export = self._export()
        with ExitStack() as files:
            takers = self._open(files)
            if export is not None:
                takers.append(self._open_orders(files, export))
            for block in self.run.blocks(_applier(canvas, export)):
                for take in takers:
                    take(block)
            day = self._day(export)
        if canvas is not None and self.plot is not None:
            from bookwarp.analysis.day_plot import plot_day

            plot_day(canvas, day, self.plot, self.overwrite)
        return day

    def _canvas(self) -> "DayCanvas | None":
        if self.plot is None:
            return None
        from bookwarp.analysis.day_canvas import DayCanvas

        return DayCanvas()

    def _export(self) -> "OrdersExport | None":
        if self.orders is None:
            return None
        from bookwarp.io.replay_orders import OrdersExport

        return OrdersExport()

    def _open(self, files: ExitStack) -> list[Callable[[ReplayBlock], None]]:
        """Open what is written, and return what takes the blocks."""
        takers: list[Callable[[ReplayBlock], None]] = []
        if self.kept is not None:
            takers.append(self.kept.add)
        if self.check is not None:
            check = self.check
            takers.append(lambda block: check.add(block.levels))
        if self.out is not None:
            from bookwarp.io.replay_table import ParquetWriter

            path = files.enter_context(written_whole(self.out, self.overwrite))
            writer = ParquetWriter(path, self.levels, self.run.format)
            files.callback(lambda: writer.close(self.run.day().summary()))
            takers.append(lambda block: writer.add(block, self.run.symbols))
        if self.lobster is not None:
            from bookwarp.io.lobster_files import LobsterWriter

            paths = [
                files.enter_context(written_whole(path, self.overwrite))
                for path in self.lobster_files()
            ]
            opened = [files.enter_context(path.open("wb")) for path in paths]
            takers.append(LobsterWriter(opened[0], opened[1], self.levels).add)
        return takers

    def _open_orders(
        self, files: ExitStack, export: "OrdersExport"
    ) -> Callable[[ReplayBlock], None]:
        from bookwarp.io.replay_table import OrdersParquet

        assert self.orders is not None
        path = files.enter_context(written_whole(self.orders, self.overwrite))
        writer = OrdersParquet(path)
        files.callback(writer.close)
        return lambda block: writer.add(*export.take())

    def _day(self, export: "OrdersExport | None") -> Day:
        fields: dict[str, Any] = {} if self.kept is None else self.kept.join()
        counts = None if export is None else export.summary()
        return self.run.day(check=self.check, order_counts=counts, **fields)


def _applier(
    canvas: "DayCanvas | None", export: "OrdersExport | None"
) -> Callable[[ReplayBooks, MarketRows, np.ndarray], None]:
    """Return what applies rows, and lets those look on that need to."""
    from bookwarp.replaying import apply_all

    apply = apply_all if export is None else export.apply
    return apply if canvas is None else partial(canvas.apply, apply=apply)


def _parquet_path(name: str, path: Any, overwrite: bool) -> Path | None:
    if path is None:
        return None
    given = as_path(path)
    if given.suffix.lower() != _PARQUET:
        raise ParameterError(f"{name}: {given} has the suffix {given.suffix!r}, not {_PARQUET}")
    check_absent(given, overwrite)
    check_folder(given)
    return given


def _open_check(run: "Replay", path: Any, levels: int) -> "BookCheck":
    from bookwarp.io.lobster_book import BookCheck

    if run.format != "lobster":
        raise ParameterError("check is for format 'lobster' only")
    return BookCheck(path, 0 if run.initial_depth is None else 1, levels)
