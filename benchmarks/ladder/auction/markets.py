"""Markets of a rung: its kernel joined and compiled, its arrays laid out, run on a GPU."""

import weakref
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
from gpu import call_driver
from rungs import SOURCES, Rung

from bookwarp.spec.codes import AgentType, Stream, Window
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import market_keys, probability_threshold
from bookwarp.spec.state import State, opening_state

_LANES = 32
_MOST_LOTS = 2**16

MARKET = np.dtype(
    [
        ("seed", np.uint64),
        ("key", np.uint64),
        ("market_id", np.uint32),
        ("threshold", np.uint32),
        ("probability", np.float32),
        ("two_max_qty", np.uint32),
        ("max_qty", np.int32),
        ("noise_spread", np.int32),
        ("maker_half_spread", np.int32),
        ("noise_end", np.uint32),
        ("momentum_end", np.uint32),
    ],
    align=True,
)
SCORE = np.dtype(
    [("volume", np.int64), ("trades", np.int64), ("last", np.int32), ("prev_mid2", np.int32)],
    align=True,
)


def check_auction(rung: Rung, auction: CallAuction) -> None:
    """Refuse an ensemble that has what the rungs do not have.

    Raises:
        ValueError: it does; the sentence says what.
    """
    spread = auction.per_market("noise_spread").astype(np.int64)
    half_spread = auction.per_market("maker_half_spread")
    lots = auction.per_market("max_qty").astype(np.int64)
    if auction.window is not Window.FIXED or auction.agent_types is not None:
        raise ValueError("the rungs have the fixed window, and agents ordered by type")
    if auction.type_counts()[:, AgentType.FUNDAMENTAL].any():
        raise ValueError("the rungs have no fundamental agents")
    if auction.stream is not Stream[rung.stream.upper()]:
        raise ValueError(f"the rung {rung.name} draws from stream {rung.stream!r}")
    if auction.stream is Stream.DEFAULT and (2 * lots * (2 * spread + 1) > 4096).any():
        raise ValueError("the rungs have no draws of two hashes: max_qty is too large")
    if "counted.cu" not in rung.sources:
        return
    if spread.min() < 1 or spread.max() > 3 or (half_spread > spread).any():
        raise ValueError("counting needs noise_spread 1 .. 3, maker_half_spread no larger")
    if lots.max() > 127 or (auction.agents * lots >= _MOST_LOTS).any():
        raise ValueError("counting needs orders of at most 127 lots, and 2^16 lots a step")


def macros_of(rung: Rung, auction: CallAuction) -> dict[str, str]:
    """Return the macros of a rung's kernel."""
    return {
        "LEVELS": str(auction.levels),
        "AGENTS": f"{auction.agents}u",
        "MOST_QTY": str(int(auction.per_market("max_qty").max())),
        "THREADS": str(threads_of(rung, auction)),
        "KEEP_KEYS": "0",
        "MULTIPLY_BY_SIDE": "0",
        "MARKETS_PER_WARP": "1",
        "WARPS_PER_BLOCK": "1",
        "UNROLL": "2",
        **{name: str(value) for name, value in rung.macros.items()},
    }


def threads_of(rung: Rung, auction: CallAuction) -> int:
    """Return the threads of a block."""
    return rung.threads or -(-auction.levels // _LANES) * _LANES


def join_sources(rung: Rung, auction: CallAuction) -> str:
    """Return the source of a rung: macros, then every file under its own name."""
    parts = [f"#define {name} {value}\n" for name, value in macros_of(rung, auction).items()]
    for name in rung.sources:
        parts.append(f'#line 1 "{name}"\n{(SOURCES / name).read_text(encoding="utf-8")}')
    return "".join(parts)


def compile_rung(rung: Rung, auction: CallAuction, architecture: str) -> tuple[Any, str]:
    """Return the module compiled for `architecture`, such as "sm_90", and the log; needs no GPU."""
    return _compile(join_sources(rung, auction), architecture)


@cache
def _compile(source: str, architecture: str) -> tuple[Any, str]:
    from cuda.core import Program, ProgramOptions

    log = StringIO()
    options = ProgramOptions(arch=architecture, std="c++17", ptxas_options=["-v"])
    return Program(source, "c++", options).compile("cubin", logs=log), log.getvalue()


def lay_out_markets(auction: CallAuction) -> np.ndarray:
    """Return the parameters of every market, MARKET [market]."""
    rows = np.zeros(auction.markets, MARKET)
    for name in ("seed", "max_qty", "noise_spread", "maker_half_spread"):
        rows[name] = auction.per_market(name)
    rows["two_max_qty"] = 2 * rows["max_qty"]
    rows["market_id"] = auction.market_ids
    rows["key"] = market_keys(auction.per_market("seed"), auction.market_ids)
    probability = auction.per_market("market_order_prob")
    rows["threshold"] = probability_threshold(probability)
    rows["probability"] = probability
    ends = np.cumsum(auction.type_counts(), axis=1)
    rows["noise_end"], rows["momentum_end"] = ends[:, AgentType.NOISE], ends[:, AgentType.MOMENTUM]
    return rows


def to_device_layout(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Return signed books, int32 [market, level], and SCORE [market]."""
    scores = np.zeros(len(state.last), SCORE)
    for name in scores.dtype.names or ():
        scores[name] = getattr(state, name)
    return (state.bid - state.ask).astype(np.int32), scores


def from_device_layout(
    auction: CallAuction, steps: int, books: np.ndarray, scores: np.ndarray
) -> State:
    """Return the state after `steps` steps from the arrays that the kernel left."""
    state = opening_state(auction)
    state.step = steps
    state.bid[:], state.ask[:] = np.maximum(books, 0), np.maximum(-books, 0)
    for name in scores.dtype.names or ():
        getattr(state, name)[:] = scores[name]
    return state


def grid_of(rung: Rung, auction: CallAuction) -> int:
    """Return the number of blocks."""
    return -(-auction.markets // rung.markets_per_block)


class LadderMarkets:
    """M independent markets on the current GPU, run by the kernel of a rung."""

    def __init__(self, rung: Rung, auction: CallAuction, stream: Any) -> None:
        from cuda.core import Device, LaunchConfig

        check_auction(rung, auction)
        self._rung, self.auction, self._stream = rung, auction, stream
        code, _ = compile_rung(rung, auction, f"sm_{Device().arch}")
        self._kernel = code.get_kernel("run")
        block = threads_of(rung, auction)
        self._config = LaunchConfig(grid=grid_of(rung, auction), block=block)
        self.device_nbytes = 0
        self._opening = to_device_layout(opening_state(auction))
        constant = lay_out_markets(auction)
        self._markets = self._allocate(constant)
        self._state = tuple(self._allocate(array) for array in self._opening)
        self._write(self._markets, constant)
        self.reset()

    def reset(self) -> None:
        """Go back to the opening state."""
        for address, array in zip(self._state, self._opening, strict=True):
            self._write(address, array)
        self.steps_done = 0

    def run(self, steps: int) -> None:
        """Launch `steps` steps; they may still be under way."""
        from cuda.core import launch

        piece = 1 if self._rung.launch_every_step else steps
        count = np.uint32(self.auction.markets)
        for first in range(self.steps_done, self.steps_done + steps, max(1, piece)):
            arguments = (self._markets, *self._state, count, np.uint32(first), np.uint32(piece))
            launch(self._stream, self._config, self._kernel, *arguments)
        self.steps_done += steps

    def read_state(self) -> State:
        """Return the state in host memory, in the layout of the engines."""
        self._stream.sync()
        arrays = tuple(np.empty_like(array) for array in self._opening)
        for address, array in zip(self._state, arrays, strict=True):
            call_driver("cuMemcpyDtoH", array.ctypes.data, address, array.nbytes)
        return from_device_layout(self.auction, self.steps_done, *arrays)

    def _allocate(self, array: np.ndarray) -> int:
        """Return the address of as many bytes as an array has, freed with this object."""
        address = call_driver("cuMemAlloc", array.nbytes)
        weakref.finalize(self, call_driver, "cuMemFree", address)
        self.device_nbytes += array.nbytes
        return int(address)

    def _write(self, address: int, array: np.ndarray) -> None:
        self._stream.sync()
        call_driver("cuMemcpyHtoD", address, array.ctypes.data, array.nbytes)
