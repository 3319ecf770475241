"""Three ways in JAX to add the agents' orders to the book, equal in result and not in speed.

Functions take the rules, the book int32 [market, side, level], twice the mid int32 [market], and
code and quantity of every agent's order int32 [market, agent]; they return the book.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from baselines.fixed_rules import FixedRules

_COUNTER_BITS, _COUNTERS = 16, 4
_COLUMNS = 16


def slot_cells(rules: FixedRules, mid2: jax.Array) -> jax.Array:
    """Return the cell of each code, int32 [market, code]."""
    low, high = (jnp.asarray(edge, jnp.int32) for edge in rules.slot_limits())
    half_ticks = mid2[:, None] + jnp.asarray(rules.slot_offsets(), jnp.int32)
    tick = half_ticks >> 1
    tick = tick + (tick & half_ticks & 1) + low // rules.levels * rules.levels
    return jnp.clip(tick, low, high)


def order_cells(rules: FixedRules, mid2: jax.Array, code: jax.Array) -> jax.Array:
    """Return the cell of every agent's order, int32 [market, agent]."""
    selling = (code >= rules.slots).astype(jnp.int32)
    slot = code - selling * rules.slots
    half_ticks = mid2[:, None] + 2 * (slot - rules.reach)
    tick = half_ticks >> 1
    tick = jnp.clip(tick + (tick & half_ticks & 1), 0, rules.levels - 1)
    edge = (1 - selling) * (rules.levels - 1)
    return jnp.where(slot == rules.slots - 1, edge, tick) + selling * rules.levels


def gather_by_scatter(
    rules: FixedRules, book: jax.Array, mid2: jax.Array, code: jax.Array, qty: jax.Array
) -> jax.Array:
    """Add every order to its cell: atomic additions in device memory on a GPU."""
    start = jnp.arange(rules.markets, dtype=jnp.int32)[:, None] * (2 * rules.levels)
    cell = start + order_cells(rules, mid2, code)
    flat = book.reshape(-1).at[cell].add(qty, mode="promise_in_bounds")
    return flat.reshape(book.shape)


def gather_by_matmul(
    rules: FixedRules, book: jax.Array, mid2: jax.Array, code: jax.Array, qty: jax.Array
) -> jax.Array:
    """Add orders by a product of one-hot matrices: high part of the cell times its low part."""
    cell = order_cells(rules, mid2, code)
    rows = -(-2 * rules.levels // _COLUMNS)
    high = (cell // _COLUMNS)[:, :, None] == jnp.arange(rows, dtype=jnp.int32)
    low = (cell % _COLUMNS)[:, :, None] == jnp.arange(_COLUMNS, dtype=jnp.int32)
    weighted = jnp.where(high, qty[:, :, None], 0).astype(jnp.bfloat16)
    lots = jnp.einsum(
        "mar,mac->mrc", weighted, low.astype(jnp.bfloat16), preferred_element_type=jnp.float32
    )
    flat = lots.reshape(rules.markets, -1)[:, : 2 * rules.levels].astype(jnp.int32)
    return book + flat.reshape(book.shape)


def gather_by_count(
    rules: FixedRules, book: jax.Array, mid2: jax.Array, code: jax.Array, qty: jax.Array
) -> jax.Array:
    """Sum the lots of each code over the agents, four counters a word: the engine's own idea.

    No longer a program to put any agent in: a rule that may ask for any price needs the others.
    """
    if rules.agents * rules.max_qty >= 2**_COUNTER_BITS:
        raise ValueError("more lots than a counter holds")
    codes = 2 * rules.slots
    place = (code % _COUNTERS * _COUNTER_BITS).astype(jnp.uint64)
    lots = qty.astype(jnp.uint64) << place
    word = code // _COUNTERS
    words = range((codes - 1) // _COUNTERS + 1)
    sums = [jnp.where(word == at, lots, jnp.uint64(0)).sum(1) for at in words]
    shifts = jnp.arange(_COUNTERS, dtype=jnp.uint64) * jnp.uint64(_COUNTER_BITS)
    packed = jnp.stack(sums, 1)[:, :, None] >> shifts
    counts = (packed & jnp.uint64(2**_COUNTER_BITS - 1)).astype(jnp.int32)
    counts = counts.reshape(rules.markets, -1)[:, :codes]
    cell = slot_cells(rules, mid2)
    hit = cell[:, :, None] == jnp.arange(2 * rules.levels, dtype=jnp.int32)
    return book + jnp.where(hit, counts[:, :, None], 0).sum(1, dtype=jnp.int32).reshape(book.shape)


GATHER: dict[str, Callable[..., jax.Array]] = {
    "scatter": gather_by_scatter,
    "matmul": gather_by_matmul,
    "count": gather_by_count,
}
