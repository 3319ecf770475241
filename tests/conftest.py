"""What all tests share: the model they are held against, and how examples are drawn."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bookwarp.engines.registry import BOOK_ENGINES, engine_status

# Modules of the tests, no part of the package: tables of cases, the plain model, a played GPU.
sys.path[:0] = [
    str(Path(__file__).parent / name)
    for name in ("parity", "golden", "property", "unit", "support")
]

_COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
# The default draws the same examples everywhere; `--hypothesis-profile=search` draws new ones.
settings.register_profile(
    "fixed", derandomize=True, database=None, print_blob=True, max_examples=100, **_COMMON
)
settings.register_profile("search", max_examples=2000, print_blob=True, **_COMMON)
settings.load_profile("fixed")

# What was found to be fast on this machine is no part of what is tested.
os.environ["BOOKWARP_IGNORE_TUNED"] = "1"

# The cuda engine has tests of its own: tests/device on a GPU, tests/unit on one that is played.
WORKING_ENGINES = [
    name for name, reason in engine_status().items() if reason is None and name != "cuda"
]
WORKING_BOOK_ENGINES = [name for name in BOOK_ENGINES if name in WORKING_ENGINES]
FAST_ENGINES = [name for name in WORKING_ENGINES if name != "reference"]


@pytest.fixture(scope="session", params=WORKING_ENGINES)
def engine(request):
    """The name of every engine that works here, the reference among them."""
    return request.param


@pytest.fixture(scope="session", params=FAST_ENGINES)
def fast_engine(request):
    """The name of every engine that works here and is held against the reference."""
    return request.param


@pytest.fixture(scope="session", params=WORKING_BOOK_ENGINES)
def book_engine(request):
    """The name of every engine for continuous books that works here, the reference among them."""
    return request.param


@pytest.fixture(scope="session", params=[n for n in WORKING_BOOK_ENGINES if n != "reference"])
def fast_book_engine(request):
    """The name of every working engine for continuous books that is held to the reference."""
    return request.param
