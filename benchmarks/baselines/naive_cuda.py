"""The naive CUDA baseline: `naive_cuda.cu`, compiled at run time, one launch a step.

Source: arXiv:2606.21784, section IV ("Naive Custom CUDA"), with two things left to its advantage:
neighbouring threads read neighbouring words, and orders go into the book itself.
"""

import weakref
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from gpu import call_driver

from bookwarp.spec.agents import exact_agent_types
from bookwarp.spec.codes import Stream, Window
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import market_keys, probability_threshold
from bookwarp.spec.state import State, opening_state

_SOURCE = Path(__file__).with_suffix(".cu")
_BLOCK = 64
"""Threads a block: small, so that a thousand markets spread over the multiprocessors."""
_STATE = {
    "bid": np.int32,
    "ask": np.int32,
    "last": np.int32,
    "prev_mid2": np.int32,
    "volume": np.int64,
    "trades": np.int64,
}


def macros_of(auction: CallAuction) -> dict[str, str]:
    """Return the macros of the kernel.

    Raises:
        ValueError: the ensemble has what this baseline does not have.
    """
    if auction.window is not Window.FIXED or set(auction.varied) - {"seed"}:
        raise ValueError("this baseline has the fixed window and one value of each parameter")
    probability = np.float32(auction.market_order_prob)
    return {
        "LEVELS": str(auction.levels),
        "AGENTS": f"{auction.agents}u",
        "MAX_QTY": str(auction.max_qty),
        "NOISE_SPREAD": str(auction.noise_spread),
        "THRESHOLD": f"{int(probability_threshold(auction.market_order_prob))}u",
        "PROBABILITY": f"{float(probability).hex()}f",
        "MAKER_HALF_SPREAD": str(auction.maker_half_spread),
        "OPEN_PRICE": str(auction.open_price),
        "PAPER": str(int(auction.stream is Stream.PAPER)),
        "TYPE_ROWS": f"{len(_type_rows(auction))}u",
    }


def compile_kernel(auction: CallAuction, architecture: str) -> Any:
    """Return the module compiled for `architecture`, such as "sm_90"; needs no GPU."""
    return _compile(tuple(macros_of(auction).items()), architecture)


@cache
def _compile(macros: tuple[tuple[str, str], ...], architecture: str) -> Any:
    from cuda.core import Program, ProgramOptions

    defined = "".join(f"#define {name} {value}\n" for name, value in macros)
    options = ProgramOptions(arch=architecture, std="c++17")
    text = defined + _SOURCE.read_text(encoding="utf-8")
    return Program(text, "c++", options).compile("cubin")


def constant_arrays(auction: CallAuction) -> tuple[np.ndarray, ...]:
    """Return what the kernel only reads: types [agent, row], keys [market], market numbers."""
    seeds = np.ascontiguousarray(auction.per_market("seed"))
    paper = auction.stream is Stream.PAPER
    return (
        np.ascontiguousarray(_type_rows(auction).T.astype(np.uint8)),
        seeds if paper else market_keys(seeds, auction.market_ids),
        auction.market_ids.astype(np.uint32),
    )


def to_device_layout(state: State) -> dict[str, np.ndarray]:
    """Return the arrays that the kernel changes, books as [level, market]."""
    return {
        name: np.ascontiguousarray(getattr(state, name).T.astype(dtype))
        for name, dtype in _STATE.items()
    }


def from_device_layout(auction: CallAuction, steps: int, arrays: dict[str, np.ndarray]) -> State:
    """Return the state after `steps` steps from the arrays that the kernel left."""
    state = opening_state(auction)
    state.step = steps
    for name, array in arrays.items():
        getattr(state, name)[:] = array.T
    return state


class NaiveCudaMarkets:
    """M independent markets on the current GPU."""

    def __init__(self, auction: CallAuction, stream: Any) -> None:
        from cuda.core import Device, LaunchConfig

        device = Device()
        self.auction = auction
        self._stream = stream
        self._nbytes: list[int] = []
        code = compile_kernel(auction, f"sm_{device.arch}")
        self._kernel = code.get_kernel("run_step")
        self._config = LaunchConfig(grid=-(-auction.markets // _BLOCK), block=_BLOCK)
        constant = constant_arrays(auction)
        self._opening = to_device_layout(opening_state(auction))
        self._state = {name: self._allocate(array) for name, array in self._opening.items()}
        self._constant = [self._allocate(array) for array in constant]
        for array, address in zip(constant, self._constant, strict=True):
            self._write(address, array)
        self.reset()

    def reset(self) -> None:
        """Go back to the opening state."""
        for name, address in self._state.items():
            self._write(address, self._opening[name])
        self.steps_done = 0

    def run(self, steps: int) -> None:
        """Launch `steps` steps; they may still be under way."""
        from cuda.core import launch

        arguments = (*self._state.values(), *self._constant, np.uint32(self.auction.markets))
        for step in range(self.steps_done, self.steps_done + steps):
            launch(self._stream, self._config, self._kernel, *arguments, np.uint32(step))
        self.steps_done += steps

    def read_state(self) -> State:
        """Return the state in host memory, in the layout of the engines."""
        self._stream.sync()
        arrays = {name: np.empty_like(array) for name, array in self._opening.items()}
        for name, array in arrays.items():
            call_driver("cuMemcpyDtoH", array.ctypes.data, self._state[name], array.nbytes)
        return from_device_layout(self.auction, self.steps_done, arrays)

    @property
    def device_nbytes(self) -> int:
        """Bytes on the device, the code not counted."""
        return sum(self._nbytes)

    def _allocate(self, array: np.ndarray) -> int:
        """Return the address of as many bytes as an array has, freed with this object."""
        address = call_driver("cuMemAlloc", array.nbytes)
        weakref.finalize(self, call_driver, "cuMemFree", address)
        self._nbytes.append(array.nbytes)
        return int(address)

    def _write(self, address: int, array: np.ndarray) -> None:
        self._stream.sync()
        call_driver("cuMemcpyHtoD", address, array.ctypes.data, array.nbytes)


def _type_rows(auction: CallAuction) -> np.ndarray:
    """Return the types of all markets, or one row if they are alike. int8 [row, agent]."""
    types = auction.agent_types
    if types is None:
        types = exact_agent_types(auction.type_counts())
    return types[:1] if np.all(types == types[:1]) else types
