"""Every kernel of continuous books compiles without a GPU, and within its budget of registers.

book_budgets.json is written by measure_book_kernels.py.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from bookwarp.engines.cuda.availability import packages_installed
from bookwarp.engines.cuda.books import layout
from bookwarp.engines.cuda.books.compile import compile_kernels, join_sources
from bookwarp.spec.errors import EngineError

sys.path.insert(0, str(Path(__file__).parent))

from book_keys import CASES, KERNELS, key_of
from budget import assert_within_budget
from kernel_keys import ARCHS
from measure_book_kernels import BUDGETS

pytestmark = pytest.mark.skipif(
    not packages_installed(), reason="needs the compiler of the extra: pip install 'bookwarp[cuda]'"
)

MOST_REGISTERS = 64
"""With more, a multiprocessor does not run 32 books at once."""


@pytest.fixture(scope="session")
def budgets():
    return json.loads(BUDGETS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("case", CASES)
def test_kernel_compiles_within_its_budget(budgets, case, arch):
    code, log = compile_kernels(key_of(case), arch)
    assert_within_budget(code, log, budgets[case][arch])


def test_budgets_are_those_of_the_cases(budgets):
    assert sorted(budgets) == sorted(CASES)
    assert all(sorted(each) == sorted(ARCHS) for each in budgets.values())


def test_enough_books_in_slots_fit_a_multiprocessor(budgets):
    first = next(iter(KERNELS))
    for case, by_arch in budgets.items():
        if case.startswith(first):
            assert by_arch["sm_90"]["registers"] <= MOST_REGISTERS, case


@pytest.mark.parametrize("name", ["Batch", "Room"])
def test_a_structure_that_is_laid_out_otherwise_does_not_compile(monkeypatch, name):
    dtype = getattr(layout, name.upper())
    fields = [(field, dtype.fields[field][0]) for field in dtype.names]
    changed = np.dtype([*fields, ("more", np.int64)], align=True)
    monkeypatch.setattr(layout, name.upper(), changed)
    with pytest.raises(EngineError, match=f"{name} is not laid out as in layout.py"):
        compile_kernels(key_of(CASES[0]), "sm_90")


@pytest.mark.parametrize("name", ["ORDER", "EVENT", "RESTING"])
def test_a_record_of_another_size_does_not_compile(monkeypatch, name):
    monkeypatch.setattr(layout, name, np.dtype([("all", "V40")]))
    with pytest.raises(EngineError, match="is not of 40 bytes"):
        compile_kernels(key_of(CASES[0]), "sm_90")


def test_errors_name_the_file_and_its_line(monkeypatch):
    key = key_of(CASES[0])
    broken = join_sources(key).replace("match_books(", "match_books(int;", 1)
    monkeypatch.setattr("bookwarp.engines.cuda.books.compile.join_sources", lambda key: broken)
    with pytest.raises(EngineError, match=r"books/match\.cu\(\d+\): error"):
        compile_kernels(key, "sm_90")
