"""A call-auction ensemble, described: every parameter checked, nothing run yet."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bookwarp.spec.agents import Mix, exact_type_counts
from bookwarp.spec.bounds import check_costs_fit, check_lots_fit, check_prices_fit
from bookwarp.spec.codes import MIXED_TYPES, AgentType, Schedule, Stream, Window
from bookwarp.spec.errors import ParameterError, unknown_name
from bookwarp.spec.execution import check_volume_profile, schedule_codes
from bookwarp.spec.parameters import (
    PAPER_MAX_QTY,
    PARAMETERS,
    Parameter,
    Value,
    check_value,
    regular_array,
)

SHARES = tuple(code.name.lower() for code in MIXED_TYPES)
_APART = (
    *("markets", "mix", "agent_types", "stream", "window", "market_ids", "market_settings"),
    "volume_profile",
)
_SETTING = "setting"
_SETTINGS = Parameter("market_settings", 0, 2**31 - 2, None, "1", "setting that a market has")
_COUNTED = ("agents", "levels")
_VARYING = (
    "seed",
    "open_price",
    "open_depth",
    "max_qty",
    "noise_spread",
    "market_order_prob",
    "maker_half_spread",
    "clearing_interval",
    "parent_qty",
    "parent_side",
    "parent_start",
    "parent_horizon",
    "schedule",
    "volume_share",
)


@dataclass(frozen=True, eq=False)
class CallAuction:
    """M independent call-auction markets; build one with `CallAuction.of`, which checks it.

    A field that varies is a read-only array with an entry for each market; or for each setting,
    where there are `market_settings`. The others are plain numbers.
    """

    markets: int
    agents: int
    levels: int
    stream: Stream
    window: Window
    seed: Value
    open_price: Value
    open_depth: Value
    max_qty: Value
    noise_spread: Value
    market_order_prob: Value
    maker_half_spread: Value
    clearing_interval: Value
    parent_qty: Value
    parent_side: Value
    parent_start: Value
    parent_horizon: Value
    schedule: Value
    """A `Schedule` as its code."""
    volume_share: Value
    volume_profile: np.ndarray | None
    """int64 [point], weights of the schedule "profile"; None without one."""
    mix: dict[str, float | np.ndarray] | None
    """Shares by type name; None when `agent_types` is given."""
    agent_types: np.ndarray | None
    """int8 [market, agent], or None: exact counts from `mix`, agents ordered by type."""
    market_ids: np.ndarray
    """int64 [market]; the number under which each market draws."""
    market_settings: np.ndarray | None
    """int64 [market]; which entry of the fields that vary each market has, or None: its own."""

    @classmethod
    def of(
        cls,
        markets: Any,
        *,
        mix: Any = None,
        agent_types: Any = None,
        stream: Any = "default",
        window: Any = "fixed",
        market_ids: Any = None,
        market_settings: Any = None,
        volume_profile: Any = None,
        **parameters: Any,
    ) -> "CallAuction":
        """Check every parameter and return the description.

        Args:
            markets: number of markets.
            mix: `Mix` or mapping of shares; the default mix if None.
            agent_types: int8 [market, agent], instead of a mix.
            stream: "default" or "paper".
            window: "fixed" or "following".
            market_ids: int [market]; 0 .. markets-1 if None.
            market_settings: int [market], the setting that each market has, of 0 .. the largest
                number there: what varies has one value per setting then. If None it has one per
                market.
            volume_profile: int [point], weights that the schedule "profile" follows.
            **parameters: names of `PARAMETERS`; what is left out or None takes its default. A
                schedule may also be given by its name.

        Raises:
            ParameterError: naming the field, the value and the limit.
        """
        known = (*_COUNTED, *_VARYING)
        for name in parameters:
            if name not in known:
                raise ParameterError(unknown_name("parameter", name, (*_APART, *known)))
        count = int(check_value(PARAMETERS["markets"], markets))
        settings = _check_numbers(_SETTINGS, market_settings, count)
        entries, of = (count, "market") if settings is None else (int(settings.max()) + 1, _SETTING)
        values: dict[str, Value] = {}
        for name in known:
            given = parameters.get(name)
            if name == "open_price" and given is None:
                given = int(values["levels"]) // 2
            if given is None:
                given = PARAMETERS[name].default
            if name == "schedule":
                given = schedule_codes(given)
            values[name] = check_value(PARAMETERS[name], given, entries, of)
        if mix is not None and agent_types is not None:
            raise ParameterError("give either mix or agent_types, not both")
        ids = _check_numbers(PARAMETERS["market_ids"], market_ids, count)
        shares = None
        if agent_types is None:
            shares = Mix.of(Mix() if mix is None else mix).resolved(entries, of)
        if ids is None:
            ids = np.arange(count)
            ids.flags.writeable = False
        auction = cls(
            markets=count,
            agents=int(values.pop("agents")),
            levels=int(values.pop("levels")),
            stream=Stream[_choice("stream", stream, Stream)],
            window=Window[_choice("window", window, Window)],
            mix=shares,
            agent_types=None,
            market_ids=ids,
            market_settings=settings,
            volume_profile=check_volume_profile(volume_profile),
            **values,
        )
        object.__setattr__(auction, "agent_types", _check_agent_types(agent_types, auction))
        _check_together(auction)
        # Given types are of markets.
        return auction if agent_types is None else auction.flat()

    @property
    def has_waiting_orders(self) -> bool:
        """Whether orders of some market wait from one step to the next."""
        return bool(np.max(self.clearing_interval) > 1)

    @property
    def has_execution_agents(self) -> bool:
        """Whether some market has an execution agent."""
        return bool(np.max(self.parent_qty) > 0)

    @property
    def entry(self) -> str:
        """What an entry of a field that varies is of: "market" or "setting"."""
        return "market" if self.market_settings is None else _SETTING

    @property
    def varied(self) -> tuple[str, ...]:
        """Names of the parameters that vary; shares as "mix_noise"."""
        names = [name for name in _VARYING if isinstance(getattr(self, name), np.ndarray)]
        names += [f"mix_{s}" for s, v in (self.mix or {}).items() if isinstance(v, np.ndarray)]
        return tuple(names)

    def per_market(self, name: str) -> np.ndarray:
        """Return parameter `name` with one value per market, read-only [market]."""
        return np.broadcast_to(self._of_markets(self.shared(name)), (self.markets,))

    def shared(self, name: str) -> np.ndarray:
        """Return parameter `name` once, [1], if all markets share it; else read-only [entry]."""
        value = (self.mix or {})[name[4:]] if name.startswith("mix_") else getattr(self, name)
        return np.atleast_1d(np.asarray(value, np.uint64 if name == "seed" else None))

    def type_counts(self) -> np.ndarray:
        """Return how many agents of each type every market has, int64 [market, type]."""
        counts = self._of_markets(self.shared_type_counts())
        return counts if len(counts) == self.markets else np.repeat(counts, self.markets, axis=0)

    def _of_markets(self, entries: np.ndarray) -> np.ndarray:
        """Return an entry for each market; or the one that all of them have."""
        if self.market_settings is None or len(entries) == 1:
            return entries
        each: np.ndarray = entries[self.market_settings]
        return each

    def shared_type_counts(self) -> np.ndarray:
        """Return `type_counts` once, [1, type], if all markets share a mix; else [entry, type]."""
        if self.agent_types is not None:
            columns = [(self.agent_types == code).sum(axis=1) for code in MIXED_TYPES]
            return np.stack(columns, axis=1).astype(np.int64)
        shares = np.broadcast_arrays(*(self.shared(f"mix_{share}") for share in SHARES))
        return exact_type_counts(np.stack(shares, axis=1), self.agents)

    def flat(self) -> "CallAuction":
        """Return the same ensemble without settings: what varies has a value for each market."""
        if self.market_settings is None:
            return self
        return self.subset(np.arange(self.markets))

    def subset(self, rows: np.ndarray) -> "CallAuction":
        """Return the ensemble of some markets alone; each draws as it does in the whole.

        It has no settings: what varies has a value for each market.
        """
        entries = rows if self.market_settings is None else self.market_settings[rows]

        def pick(value: Any) -> Any:
            if not isinstance(value, np.ndarray):
                return value
            own = value[entries]
            own.flags.writeable = False
            return own

        fields = {name: pick(getattr(self, name)) for name in _VARYING}
        mix = None if self.mix is None else {n: pick(v) for n, v in self.mix.items()}
        return CallAuction(
            markets=len(rows),
            agents=self.agents,
            levels=self.levels,
            stream=self.stream,
            window=self.window,
            mix=mix,
            agent_types=None if self.agent_types is None else self.agent_types[rows],
            market_ids=self.market_ids[rows],
            market_settings=None,
            volume_profile=self.volume_profile,
            **fields,
        )

    def check_horizon(self, steps: int, half_ticks: bool = False) -> None:
        """Refuse a run of `steps` steps in all in which an int64 could overflow.

        A side of a book, and what waits for it, never holds more than open_depth + agents * largest
        order * steps + parent_qty lots, and no price is farther from open_price than
        (steps + 1) * levels ticks.

        Args:
            steps: steps in all.
            half_ticks: whether doubled prices are wanted too ("mid2" is recorded).
        """
        check_value(PARAMETERS["steps"], steps)
        check_lots_fit(self, steps)
        check_prices_fit(self, steps, half_ticks)
        check_costs_fit(self, steps)


def _choice(name: str, value: Any, codes: Any) -> str:
    names = [code.name.lower() for code in codes]
    if isinstance(value, codes):
        return str(value.name)
    if value not in names:
        raise ParameterError(unknown_name(name, value, names))
    return str(value).upper()


def _check_numbers(parameter: Parameter, value: Any, markets: int) -> np.ndarray | None:
    """Return a number for each market, int64 [market]; None if there are none."""
    if value is None:
        return None
    # A list is checked as it is: NumPy makes integers of what is true or false in it.
    listed = isinstance(value, list | tuple)
    numbers = value if listed else np.atleast_1d(regular_array(parameter.name, value))
    checked = check_value(parameter, numbers, markets)
    assert isinstance(checked, np.ndarray)
    return checked


def _check_agent_types(value: Any, auction: CallAuction) -> np.ndarray | None:
    if value is None:
        return None
    types = regular_array("agent_types", value)
    shape = (auction.markets, auction.agents)
    if types.shape != shape:
        raise ParameterError(
            f"agent_types has shape {types.shape}; markets and agents ask for {shape}"
        )
    if types.dtype.kind not in "iu":
        raise ParameterError(f"agent_types must hold integer codes, not {types.dtype}")
    last = max(MIXED_TYPES)
    bad = (types < 0) | (types > last)
    if np.any(bad):
        market, agent = (int(i) for i in np.argwhere(bad)[0])
        code = types[market, agent]
        why = " (an execution agent comes of parent_qty)" if code == AgentType.EXECUTION else ""
        raise ParameterError(
            f"agent_types[{market}, {agent}] = {code} is outside 0 .. {last:d}{why}"
        )
    kept = types.astype(np.int8)
    kept.flags.writeable = False
    return kept


def _check_together(auction: CallAuction) -> None:
    """Check what depends on more than one parameter."""
    if auction.window is Window.FIXED:
        _check_all("open_price", auction, 1, auction.levels - 2, "levels - 2")
    if auction.stream is Stream.PAPER:
        _check_all("max_qty", auction, 1, PAPER_MAX_QTY, 'stream "paper"')
        _check_all("noise_spread", auction, 0, PAPER_MAX_QTY // 2 - 1, 'stream "paper"')
    _refuse("parent_side", auction, auction.shared("parent_side") == 0, "neither 1 nor -1")
    if auction.volume_profile is None:
        follows = auction.shared("schedule") == Schedule.PROFILE
        _refuse("schedule", auction, follows, "profile, and needs volume_profile")
    auction.check_horizon(0)


def _check_all(name: str, auction: CallAuction, low: int, high: int, why: str) -> None:
    values = auction.shared(name)
    _refuse(name, auction, (values < low) | (values > high), f"outside {low} .. {high} ({why})")


def _refuse(name: str, auction: CallAuction, bad: np.ndarray, why: str) -> None:
    """Refuse a parameter for what it is in the first entry where it is `bad`."""
    if np.any(bad):
        first = int(np.argmax(bad))
        varies = isinstance(getattr(auction, name), np.ndarray)
        where = f" in {auction.entry} {first}" if varies else ""
        message = f"{name} = {auction.shared(name)[first]}{where} is {why}"
        raise ParameterError(message, bad if varies else None)
