"""Who is what: shares of the four agent types, and the two ways to assign them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bookwarp.spec.codes import MIXED_TYPES
from bookwarp.spec.errors import ParameterError, shown, unknown_name
from bookwarp.spec.parameters import regular_array

REST = "rest"
_SUM_TOLERANCE = 1e-9
_QUOTA_UNITS = 10**9


@dataclass(frozen=True, eq=False)
class Mix:
    """Shares of the population, by agent type; they sum to 1.

    Each share is a number or one number per market. One of them may be "rest": what the others
    leave.
    """

    noise: Any = 0.70
    momentum: Any = 0.15
    maker: Any = 0.15
    fundamental: Any = 0.0

    @classmethod
    def of(cls, value: "Mix | Mapping[str, Any]") -> "Mix":
        """Return `value` as a Mix; a mapping must use the names of the shares."""
        if isinstance(value, Mix):
            return value
        if not isinstance(value, Mapping):
            raise ParameterError(f"mix must be a Mix or a mapping of shares, not {shown(value)}")
        names = [field.name for field in fields(cls)]
        for name in value:
            if name not in names:
                raise ParameterError(unknown_name("share of the mix", name, names))
        return cls(**{name: value.get(name, 0.0) for name in names})

    def resolved(self, count: int, of: str = "market") -> dict[str, float | np.ndarray]:
        """Return the four shares, checked, "rest" filled in: a float or float64 [count] each.

        Args:
            count: how many values a share has that varies.
            of: what each of them is of, for messages.
        """
        names = [field.name for field in fields(self)]
        given = {name: getattr(self, name) for name in names}
        rest = [name for name in names if isinstance(given[name], str) and given[name] == REST]
        if len(rest) > 1:
            raise ParameterError(f"mix: only one share can be {REST!r}, not {' and '.join(rest)}")
        shares = {n: _check_share(n, given[n], count, of) for n in names if n not in rest}
        total: Any = sum(shares.values())
        if rest:
            left = np.round(1.0 - np.asarray(total), 12)
            value = left if left.ndim else float(left)
            shares[rest[0]] = _check_share(rest[0], value, count, of)
            return {name: shares[name] for name in names}
        off = np.abs(np.asarray(total) - 1.0)
        if np.any(off > _SUM_TOLERANCE):
            where = "" if off.ndim == 0 else f" in {of} {int(np.argmax(off))}"
            worst = np.asarray(total).reshape(-1)[int(np.argmax(off))]
            terms = " + ".join(names)
            wrong = off > _SUM_TOLERANCE if off.ndim else None
            raise ParameterError(f"mix must sum to 1, but {terms} = {worst:.10g}{where}", wrong)
        return shares


def _check_share(name: str, value: Any, count: int, of: str) -> float | np.ndarray:
    share = regular_array(f"mix.{name}", value)
    if share.dtype.kind not in "iuf":
        raise ParameterError(f"mix.{name} must be a number, not {shown(value)}")
    if share.ndim > 1 or (share.ndim == 1 and len(share) != count):
        raise ParameterError(
            f"mix.{name} has shape {share.shape}; it must be one number or one per {of}, "
            f"shape ({count},)"
        )
    bad = ~((share >= 0) & (share <= 1))
    if np.any(bad):
        first = share.reshape(-1)[int(np.argmax(bad))]
        wrong = bad if share.ndim else None
        raise ParameterError(f"mix.{name} = {first:g} is outside 0 .. 1", wrong)
    if share.ndim == 0:
        return float(share)
    share = share.astype(np.float64)
    share.flags.writeable = False
    return share


def exact_type_counts(share: np.ndarray, agents: int) -> np.ndarray:
    """Return how many agents have each type, by largest remainder of share * agents.

    Quotas are rounded to 9 decimals first, so that 0.29 of 100 is 29, and 1.4 and 0.4 have equal
    remainders; ties go to the lower code.

    Args:
        share: float64 [market, type], rows sum to 1.
        agents: agents of each market.

    Returns:
        int64 [market, type]; rows sum to `agents`.
    """
    # Markets with the same shares mostly follow each other, as the replicas of a setting do.
    changes = (share[1:] != share[:-1]).any(axis=1)
    first = np.flatnonzero(np.concatenate(([True], changes)))
    return np.repeat(
        _largest_remainders(share[first], agents), np.diff(first, append=len(share)), axis=0
    )


def _largest_remainders(share: np.ndarray, agents: int) -> np.ndarray:
    quota = np.rint(share * agents * _QUOTA_UNITS).astype(np.int64)
    counts, remainder = np.divmod(quota, _QUOTA_UNITS)
    missing = agents - counts.sum(axis=1)
    order = np.argsort(-remainder, axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    counts += rank < missing[:, None]
    return np.asarray(counts)


def exact_agent_types(counts: np.ndarray) -> np.ndarray:
    """Return each agent's type, agents ordered by type. int8 [market, agent]."""
    agents = int(counts[0].sum())
    upper = np.cumsum(counts, axis=1)
    number = np.arange(agents)
    types = np.zeros((len(counts), agents), np.int8)
    for code in MIXED_TYPES[:-1]:
        types += number[None, :] >= upper[:, code, None]
    return types


def draw_agent_types(
    markets: int, agents: int, mix: "Mix | Mapping[str, Any] | None" = None, seed: int = 0
) -> np.ndarray:
    """Draw every agent's type at random, as the published KineticSim engine does.

    Args:
        markets, agents: shape of the result.
        mix: shares, the same for every market; the default mix if None.
        seed: seed of numpy.random.default_rng.

    Returns:
        int8 [market, agent], for `agent_types=`.

    Source: the published engine of arXiv:2606.21784.
    """
    shares = (Mix() if mix is None else Mix.of(mix)).resolved(markets)
    if any(isinstance(share, np.ndarray) for share in shares.values()):
        raise ParameterError("draw_agent_types takes one mix for all markets, not one per market")
    codes = [code.value for code in MIXED_TYPES]
    chances = np.array(list(shares.values()))
    drawn = np.random.default_rng(seed).choice(codes, size=markets * agents, p=chances)
    return np.asarray(drawn.astype(np.int8).reshape(markets, agents))
