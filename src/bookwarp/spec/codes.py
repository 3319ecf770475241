"""Integer codes shared by every engine. Append only: a code never changes its meaning."""

from enum import IntEnum

NO_PRICE = -(2**63)
"""Recorded in place of a best price where a side of the book is empty (int64 minimum)."""


class Side(IntEnum):
    """Side of an order."""

    SELL = -1
    BUY = 1


class AgentType(IntEnum):
    """The rules an agent can follow."""

    NOISE = 0
    MOMENTUM = 1
    MAKER = 2
    FUNDAMENTAL = 3
    EXECUTION = 4
    """Works a parent order; at most one a market, beyond its other agents."""


MIXED_TYPES = (AgentType.NOISE, AgentType.MOMENTUM, AgentType.MAKER, AgentType.FUNDAMENTAL)
"""The types of a market's `agents`, in the order of their codes: those of a mix."""


class Schedule(IntEnum):
    """What an execution agent's order follows."""

    TWAP = 0
    PROFILE = 1
    SHARE = 2


class Stream(IntEnum):
    """Where the agents' draws come from."""

    DEFAULT = 0
    PAPER = 1


class Window(IntEnum):
    """What the price grid does when the price moves."""

    FIXED = 0
    FOLLOWING = 1
