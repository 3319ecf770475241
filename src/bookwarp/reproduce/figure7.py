"""Figure 7 of the KineticSim paper: prices, tails and volume as momentum agents take over.

Fifteen settings, a momentum share of 0 to 0.70 by 0.05 with a maker share of 0.15 and noise
agents for the rest, run together as one ensemble: once on the paper's fixed grid, once in a
window that follows the price.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bookwarp.analysis.stylised import mean_interval
from bookwarp.progress import Progress
from bookwarp.reproduce.figure7_sweep import (
    AGENTS,
    LAGS,
    LEVELS,
    MAKER_SHARE,
    MEMORY,
    SEED,
    SHARES,
    WINDOWS,
    measure_sweep,
    sweep_simulation,
)
from bookwarp.reproduce.files import make_folder, provenance, write_json
from bookwarp.reproduce.published import SWEEP, SWEEP_MARKETS, SWEEP_STEPS
from bookwarp.spec.errors import ParameterError, StoreError
from bookwarp.spec.parameters import PARAMETERS, check_value

if TYPE_CHECKING:
    import xarray as xr

FILES = ("figure7.png", "figure7.nc", "figure7.json")


@dataclass(frozen=True, eq=False)
class Figure7:
    """What `reproduce` found, by window."""

    markets: int
    """Markets of each setting."""
    steps: int
    stream: str
    statistics: dict[str, dict[str, np.ndarray]]
    """window -> name of `STATISTICS` -> float64 [share, market]."""
    memory: dict[str, dict[str, np.ndarray]]
    """window -> name of `MEMORY` -> float64 [lag, market], at `STANDARD_SHARE`."""
    digests: dict[str, str]
    """window -> digest of the final state of the run."""
    elapsed_s: float
    provenance: dict[str, Any]

    @property
    def agrees(self) -> bool | None:
        """Whether the fixed window equals the published sweep to 12 digits; None if not the same.

        The published sweep has 1024 markets a setting, 1000 steps, drawn types, stream "paper".
        """
        if (self.markets, self.steps, self.stream) != (SWEEP_MARKETS, SWEEP_STEPS, "paper"):
            return None
        found = self.statistics["fixed"]
        return all(
            np.allclose(found[name].mean(axis=1), wanted, rtol=1e-12, atol=0)
            for name, wanted in SWEEP.items()
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one line per window and share: means over markets, with 95 % half widths."""
        lines = []
        for window in WINDOWS:
            found = self.statistics[window]
            for index, share in enumerate(SHARES.tolist()):
                line: dict[str, Any] = {"window": window, "momentum_share": share}
                for name in ("price_std", "excess_kurtosis", "volume_per_step"):
                    mean, half = mean_interval(found[name][index])
                    line |= {name: float(mean), f"{name}_half_width": float(half)}
                line["excess_kurtosis_median"] = float(np.median(found["excess_kurtosis"][index]))
                line["price_low"] = int(found["price_low"][index].min())
                line["price_high"] = int(found["price_high"][index].max())
                line["largest_return"] = int(found["largest_return"][index].max())
                for name in ("price_drift", "price_std_about_line", "edge_share"):
                    if name in found:
                        line[name] = float(found[name][index].mean())
                lines.append(line)
        return lines

    def memory_rows(self) -> list[dict[str, Any]]:
        """Return one line per window and lag: mean autocorrelations, with 95 % half widths."""
        lines = []
        for window in WINDOWS:
            for index, lag in enumerate(LAGS):
                line: dict[str, Any] = {"window": window, "lag": lag}
                for name in MEMORY:
                    mean, half = mean_interval(self.memory[window][name][index])
                    line |= {name: float(mean), f"{name}_half_width": float(half)}
                lines.append(line)
        return lines

    def comparison(self) -> list[dict[str, Any]]:
        """Return one line per value that the paper states: statistic, at, published, found.

        `found` is the mean over markets on the fixed grid, `half_width` that of its 95 % interval;
        `at` is a momentum share, or a lag for the autocorrelations.
        """
        from bookwarp.reproduce.figure7_report import compare

        return compare(self)

    def table(self) -> str:
        """Return the statistics by share, then what the paper states beside them, as text."""
        from bookwarp.reproduce.figure7_report import text_table

        return text_table(self)

    def plot(self, path: str | Path) -> None:
        """Draw the four panels into a file; its suffix says which format.

        Raises:
            StoreError: it cannot be written.
        """
        from bookwarp.reproduce.figure7_plot import draw

        draw(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything that the table and the text need, as plain values, for JSON."""
        return {
            "markets": self.markets,
            "agents": AGENTS,
            "levels": LEVELS,
            "steps": self.steps,
            "seed": SEED,
            "stream": self.stream,
            "maker_share": MAKER_SHARE,
            "agrees": self.agrees,
            "digests": dict(self.digests),
            "elapsed_s": self.elapsed_s,
            "rows": self.rows(),
            "memory": self.memory_rows(),
            "comparison": self.comparison(),
            "provenance": dict(self.provenance),
        }

    def to_xarray(self) -> "xr.Dataset":
        """Return every statistic of every market, dims (window, share | lag, market)."""
        from bookwarp.reproduce.figure7_report import dataset

        return dataset(self)

    def save(self, folder: str | Path) -> list[Path]:
        """Write figure7.png, figure7.nc and figure7.json into `folder` and return their paths.

        Raises:
            StoreError: one of them exists already, or cannot be written.
        """
        picture, data, text = (make_folder(folder, FILES) / name for name in FILES)
        self.plot(picture)
        try:
            self.to_xarray().to_netcdf(data, engine="h5netcdf")
        except OSError as error:
            raise StoreError(f"{data} cannot be written: {error}") from None
        write_json(text, self.to_dict())
        return [picture, data, text]


def reproduce(
    *,
    markets: int = 64,
    steps: int = SWEEP_STEPS,
    stream: str = "paper",
    engine: str = "auto",
    threads: int | None = None,
    progress: Progress = None,
) -> Figure7:
    """Run the sweep of Figure 7 on both windows.

    Args:
        markets: markets of each of the 15 settings, 64 in the paper.
        steps: 1000 in the paper; at least 23, for the autocorrelation.
        stream: "paper": the published engine's draws, with types drawn at random as it does;
            "default": our draws, with exact shares. Market m of every setting draws as market m.
        engine, threads: as for `bookwarp.simulate`.
        progress: True for a bar on stderr, or a function of (steps done, steps wanted) for the
            two runs together.

    Raises:
        ParameterError: a parameter is outside its domain, before any work.
    """
    markets = int(check_value(PARAMETERS["markets"], markets))
    steps = int(check_value(PARAMETERS["steps"], steps))
    if steps < LAGS[-1] + 3:
        raise ParameterError(
            f"steps = {steps} is too few for {LAGS[-1]} lags: at least {LAGS[-1] + 3}"
        )
    simulations = {
        window: sweep_simulation(markets, steps, stream, window, engine, threads)
        for window in WINDOWS
    }
    statistics, memory, digests = {}, {}, {}
    for number, (window, simulation) in enumerate(simulations.items()):
        simulation.step(steps, _shifted(progress, number * steps, len(WINDOWS) * steps))
        statistics[window], memory[window] = measure_sweep(simulation, markets)
        digests[window] = simulation.digest()
    return Figure7(
        markets=markets,
        steps=steps,
        stream=stream,
        statistics=statistics,
        memory=memory,
        digests=digests,
        elapsed_s=sum(simulation.elapsed_s for simulation in simulations.values()),
        provenance=provenance(simulations["fixed"]),
    )


def _shifted(progress: Progress, done_before: int, total: int) -> Progress:
    """Return a progress function for one of several runs."""
    if not callable(progress):
        return progress
    report = progress
    return lambda done, _: report(done_before + done, total)
