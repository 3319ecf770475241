"""The call-auction ensemble in JAX: one jitted scan over the steps, its state donated.

Everything between two steps stays in one compiled program; XLA fuses what it can. Draws are those
of stream "default" (docs/streams.md): a counter hash has no state to carry, is cheaper than
jax.random's Threefry, and makes the books those of the reference to the last bit. The hash
multiplies 32-bit words into 64 bits, so the module turns JAX's 64-bit types on for the process;
books, prices and orders are int32.

How orders reach the book (`jax_gather.GATHER`), and how demand and supply are summed (`SUM`), are
chosen by name. The forms are equal in result and not in speed.

Source: arXiv:2606.21784, sections III.A, IV (back ends).
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

# JAX would take three quarters of a GPU that other contenders use too.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np

from baselines.fixed_rules import FixedRules, opening_book
from baselines.jax_gather import GATHER
from bookwarp.spec.market import CallAuction
from bookwarp.spec.random import PHILOX_KEY_INCREMENT, PHILOX_MULTIPLIER, PHILOX_ROUNDS
from bookwarp.spec.state import State, opening_state

jax.config.update("jax_enable_x64", True)

_EXACT_FLOAT32 = 2**24


class Carried(NamedTuple):
    """What a step hands to the next."""

    book: jax.Array
    """int32 [market, side, level], buys first."""
    last: jax.Array
    prev_mid2: jax.Array
    volume: jax.Array
    trades: jax.Array
    step: jax.Array


def sum_by_scan(book: jax.Array) -> jax.Array:
    """Return the lots at each level and below, int32 [market, side, level]."""
    return jnp.cumsum(book, axis=2, dtype=jnp.int32)


def sum_by_matmul(book: jax.Array) -> jax.Array:
    """The same by a product with a triangular matrix in float32, exact below 2**24 lots."""
    upper = jnp.triu(jnp.ones((book.shape[2],) * 2, jnp.float32))
    exact = jax.lax.Precision.HIGHEST
    return jnp.matmul(book.astype(jnp.float32), upper, precision=exact).astype(jnp.int32)


def clear_auction(
    book: jax.Array, sum_levels: Callable[[jax.Array], jax.Array] = sum_by_scan
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Clear one call auction per market.

    Args:
        book: resting plus incoming quantity, int32 [market, side, level], buys first.
        sum_levels: one of `SUM`.

    Returns:
        price int32 [market], level; volume int32 [market]; what rests, int32 [market, side, level].
    """
    below = sum_levels(book)
    ahead = jnp.stack([below[:, 0, -1:] - below[:, 0], below[:, 1] - book[:, 1]], 1)
    executable = jnp.minimum(ahead[:, 0] + book[:, 0], below[:, 1])
    price = jnp.argmax(executable, axis=1).astype(jnp.int32)
    volume = executable.max(axis=1)
    filled = jnp.clip(volume[:, None, None] - ahead, 0, book)
    return price, volume, book - filled


def hash_words(rules: FixedRules, step: jax.Array) -> jax.Array:
    """Return the words of stream "default" of all agents in a step, uint64 [market, agent]."""
    low32, multiplier = jnp.uint64(0xFFFFFFFF), jnp.uint64(PHILOX_MULTIPLIER)
    half = jnp.uint64(32)
    key = jnp.asarray(rules.key_low, jnp.uint64)[:, None]
    key_high = jnp.asarray(rules.key_high, jnp.uint64)[:, None]
    counter0 = step.astype(jnp.uint64)
    counter1 = jnp.arange((rules.agents + 1) // 2, dtype=jnp.uint64) ^ key_high
    for _ in range(PHILOX_ROUNDS):
        product = counter0 * multiplier
        counter0, counter1 = (product >> half) ^ key ^ counter1, product & low32
        key = (key + jnp.uint64(PHILOX_KEY_INCREMENT)) & low32
    counter1 = jnp.broadcast_to(counter1, counter0.shape)
    return jnp.stack([counter0, counter1], 2).reshape(rules.markets, -1)[:, : rules.agents]


def decide_codes(
    rules: FixedRules, words: jax.Array, mid2: jax.Array, ret: jax.Array, step: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return code and quantity of every agent's order, int32 [market, agent]."""
    half, low32 = jnp.uint64(32), jnp.uint64(0xFFFFFFFF)
    product = words * jnp.uint64(2 * rules.max_qty)
    side_size = (product >> half).astype(jnp.int32)
    left = product & low32
    product = left * jnp.uint64(2 * rules.noise_spread + 1)
    slot = (product >> half).astype(jnp.int32)
    noise = jnp.asarray(rules.noise)
    left = jnp.where(noise, product & low32, left)
    marketable = left < jnp.asarray(rules.threshold, jnp.uint64)

    turn = jnp.asarray(rules.turn) * (1 - 2 * (step % 2)).astype(jnp.int32)
    pull = jnp.sign(2 * rules.open_price - mid2)
    direction = turn + jnp.asarray(rules.momentum) * ret[:, None]
    direction = direction + jnp.asarray(rules.fundamental) * pull[:, None]
    drawn_to_buy = side_size >= rules.max_qty
    buys = jnp.where(direction == 0, drawn_to_buy, direction > 0)
    step_away = jnp.where(buys, jnp.asarray(rules.slot_buying), jnp.asarray(rules.slot_selling))
    slot = jnp.where(noise, slot + (rules.reach - rules.noise_spread), step_away)
    slot = jnp.where(marketable, rules.slots - 1, slot)
    qty = jnp.where(drawn_to_buy, side_size - rules.max_qty, side_size) + 1
    return jnp.where(buys, slot, slot + rules.slots), qty


SUM: dict[str, Callable[[jax.Array], jax.Array]] = {"scan": sum_by_scan, "matmul": sum_by_matmul}


def run_step(rules: FixedRules, gather: str, sum_levels: str, carried: Carried) -> Carried:
    """Return what one step makes of the state."""
    book, last, prev_mid2, volume, trades, step = carried
    level = np.arange(rules.levels, dtype=np.int32)
    rank = jnp.asarray(np.stack([level + 1, rules.levels - level]))
    best = jnp.where(book > 0, rank, 0).max(axis=2)
    quoted = best[:, 0] + rules.levels - 1 - best[:, 1]
    mid2 = jnp.where(best.min(axis=1) > 0, quoted, 2 * last)
    words = hash_words(rules, step)
    code, qty = decide_codes(rules, words, mid2, jnp.sign(mid2 - prev_mid2), step)
    book = GATHER[gather](rules, book, mid2, code, qty)
    price, traded, book = clear_auction(book, SUM[sum_levels])
    last = jnp.where(traded > 0, price, last)
    return Carried(book, last, mid2, volume + traded, trades + (traded > 0), step + 1)


class JaxMarkets:
    """M independent markets in one jitted scan.

    Args:
        auction: fixed window, one value of each parameter, default stream.
        device: "cuda" or "cpu".
        gather, sum_levels: names in `GATHER` and `SUM`.
        unroll: steps a turn of the loop runs.
    """

    def __init__(
        self,
        auction: CallAuction,
        device: str,
        gather: str = "scatter",
        sum_levels: str = "scan",
        unroll: int = 1,
    ) -> None:
        self.auction = auction
        self.rules = FixedRules.of(auction)
        self._device = jax.devices(device)[0]
        self._step = partial(run_step, self.rules, gather, sum_levels)
        self._unroll = unroll
        self._compiled: dict[int, Any] = {}
        self._exact = _EXACT_FLOAT32 if "matmul" in (gather, sum_levels) else 2**31
        self.reset()

    def reset(self) -> None:
        """Go back to the opening state."""
        rules = self.rules
        opened = np.full(rules.markets, rules.open_price, np.int32)
        counted = np.zeros(rules.markets, np.int64)
        arrays = Carried(
            opening_book(rules), opened, 2 * opened, counted, counted.copy(), np.int64(0)
        )
        self._carried = jax.device_put(arrays, self._device)
        self.steps_done = 0

    def prepare(self, steps: int) -> Any:
        """Return the program that runs `steps` steps, compiled."""
        if steps not in self._compiled:

            def run(carried: Carried) -> Carried:
                done, _ = jax.lax.scan(
                    lambda before, _: (self._step(before), None),
                    carried,
                    None,
                    length=steps,
                    unroll=self._unroll,
                )
                return done

            self._compiled[steps] = jax.jit(run, donate_argnums=0).lower(self._carried).compile()
        return self._compiled[steps]

    def run(self, steps: int) -> None:
        """Run `steps` steps and wait for their end."""
        rules = self.rules
        lots = rules.open_depth + rules.agents * rules.max_qty * (self.steps_done + steps)
        if lots >= self._exact:
            raise ValueError(f"{lots} lots are more than this form of the sums holds")
        self._carried = jax.block_until_ready(self.prepare(steps)(self._carried))
        self.steps_done += steps

    def device_nbytes(self, steps: int) -> int:
        """Return what the compiled program holds on the device: state, constants and scratch."""
        sizes = self.prepare(steps).memory_analysis()
        constants = self.rules.key_low.nbytes + self.rules.key_high.nbytes
        return int(
            sizes.argument_size_in_bytes
            + sizes.output_size_in_bytes
            - sizes.alias_size_in_bytes
            + sizes.temp_size_in_bytes
            + constants
        )

    def read_state(self) -> State:
        """Return the state in host memory, in the layout of the engines."""
        state = opening_state(self.auction)
        state.step = self.steps_done
        book = np.asarray(self._carried.book)
        state.bid[:], state.ask[:] = book[:, 0], book[:, 1]
        for name in ("last", "prev_mid2", "volume", "trades"):
            getattr(state, name)[:] = np.asarray(getattr(self._carried, name))
        return state
