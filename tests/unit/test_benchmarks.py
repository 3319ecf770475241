"""The benchmarks measure the right thing, and the tables of the documentation are their rows."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bookwarp.analysis.stylised import price_moments
from bookwarp.simulation import Simulation
from bookwarp.spec.agents import draw_agent_types

REPOSITORY = Path(__file__).resolve().parents[2]
# The benchmarks are programs and no part of the package: they import each other as such.
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

import cases  # noqa: E402
import checks  # noqa: E402
import contenders  # noqa: E402
import memory  # noqa: E402
import report  # noqa: E402
import run as run_benchmarks  # noqa: E402
from baselines.numpy_engine import NumpyMarkets, clear_auction  # noqa: E402
from baselines.numpy_tuned import TunedNumpyMarkets  # noqa: E402

BASELINES = [NumpyMarkets, TunedNumpyMarkets]
TINY = cases.Case("tiny", markets=6, agents=16, levels=32, steps=12, plain_engines=True)


def test_baseline_clears_the_worked_case_of_the_paper():
    buy = np.array([[10, 5, 8, 0, 2]], np.float32)
    sell = np.array([[0, 4, 7, 6, 3]], np.float32)
    price, volume, bid, ask = clear_auction(buy, sell)
    assert (price.tolist(), volume.tolist()) == ([2], [10])
    assert bid.tolist() == [[10, 5, 0, 0, 0]]
    assert ask.tolist() == [[0, 0, 1, 6, 3]]


@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize("fundamental", [0.0, 0.1])
def test_baseline_simulates_the_same_model(baseline, fundamental):
    """Same populations, other draws: volume, price and volatility agree, to 0.2 % in volume."""
    markets, agents, steps = 384, 128, 150
    mix = {"noise": "rest", "momentum": 0.15, "maker": 0.15, "fundamental": fundamental}
    types = draw_agent_types(markets, agents, mix)
    engine = Simulation(markets, agents, 64, steps, agent_types=types, record=("last",))
    wanted = engine.step(steps).history["last"]
    simulated = baseline(types, 64)
    found = np.empty_like(wanted)
    for row in found:
        simulated.run(1)
        row[:] = simulated.last

    volume = engine.state().volume
    assert simulated.volume.mean() == pytest.approx(volume.mean(), rel=2e-3)
    assert abs(deviation(simulated.volume, volume)) < 4
    for moment, other in zip(price_moments(found), price_moments(wanted), strict=True):
        assert abs(deviation(moment, other)) < 4
    assert found.mean() == pytest.approx(wanted.mean(), rel=5e-3)
    assert simulated.trades.mean() == pytest.approx(engine.state().trades.mean(), rel=1e-3)


def deviation(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the mean difference of the same markets, in its standard errors."""
    difference = found - wanted
    return difference.mean() / (difference.std() / np.sqrt(len(difference)))


def test_baseline_never_crosses_and_keeps_quantity():
    simulated = NumpyMarkets(draw_agent_types(20, 50), 32)
    simulated.run(40)
    levels = np.arange(32)
    best_bid = np.where(simulated.bid > 0, levels, -1).max(axis=1)
    best_ask = np.where(simulated.ask > 0, levels, 32).min(axis=1)
    assert np.all(best_bid < best_ask)
    assert simulated.bid.min() >= 0
    assert simulated.ask.min() >= 0
    assert np.array_equal(simulated.bid, np.rint(simulated.bid))


@pytest.mark.parametrize("case", cases.AUCTION, ids=lambda case: case.name)
def test_case_is_a_run_that_can_be_made(case):
    small = case.small()
    simulation = Simulation(steps=2, engine="reference", **small.arguments())
    assert simulation.step(2).auction.markets == small.markets
    if any(isinstance(value, cases.Spread) for value in case.parameters.values()):
        shares = {"mix_momentum", "mix_noise"} if case.mix else set()
        assert set(simulation.auction.varied) == {*case.parameters, *shares}


def test_names_of_cases_are_unique():
    names = [case.name for case in cases.AUCTION]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["cpu", "reference"])
def test_engine_passes_its_checks(name):
    contender = contenders.CONTENDERS[name]
    assert "digest equals" in checks.check_small(contender, TINY)
    outcome = contender.run(TINY, TINY.steps)
    assert "3 whole markets equal" in checks.check_sample(contender, TINY, outcome.state)


@pytest.mark.parametrize("name", ["numpy", "numpy-tuned"])
def test_baseline_passes_its_check(name):
    assert "standard errors" in checks.check_small(contenders.CONTENDERS[name], TINY)


def test_engine_with_one_wrong_lot_is_refused():
    class OffByOneLot(contenders.BookwarpEngine):
        def run(self, case, steps):
            outcome = super().run(case, steps)
            outcome.state.bid[-1, 0] += 1
            return outcome

    wrong = OffByOneLot("cpu", plain=False)
    with pytest.raises(checks.ParityError, match="differs"):
        checks.check_small(wrong, TINY)
    with pytest.raises(checks.ParityError, match="differs"):
        checks.check_sample(wrong, TINY, wrong.run(TINY, TINY.steps).state)


def test_baseline_of_another_model_is_refused():
    def shy(types, levels, seed):
        return NumpyMarkets(types, levels, seed, market_order_prob=0.05)

    wrong = contenders.NumpyBaseline("shy", shy)
    with pytest.raises(checks.ParityError, match="standard errors"):
        checks.check_small(wrong, replace(TINY, agents=64, steps=60))


def test_trials_that_end_differently_are_refused():
    class Restless(contenders.BookwarpEngine):
        trial = 0

        def run(self, case, steps):
            self.trial += 1
            return super().run(replace(case, seed=self.trial), steps)

    restless = Restless("reference", plain=False)
    outcomes = [restless.run(TINY, 3), restless.run(TINY, 3)]
    with pytest.raises(SystemExit, match="the trials of reference end in"):
        run_benchmarks._digest(restless, TINY, outcomes)


@pytest.fixture(scope="module")
def rows(tmp_path_factory) -> list[dict[str, object]]:
    path = tmp_path_factory.mktemp("rows") / "auction.jsonl"
    words = ["auction", "--quick", "--rows", str(path), "--engines", "cpu,numpy"]
    run_benchmarks.main([*words, "--cases", "one thread", "following window"])
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_row_holds_what_is_needed_to_repeat_it(rows):
    kinds = [(row["kind"], row["case"], row["engine"]) for row in rows]
    assert kinds == [
        ("time", "one thread", "cpu"),
        ("time", "one thread", "numpy"),
        ("ratio", "one thread", "cpu"),
        ("time", "following window", "cpu"),
    ]
    timed = rows[0]
    for name in ("stream", "window", "markets", "agents", "levels", "steps", "threads", "trials"):
        assert timed[name] is not None
    for name in ("commit", "dirty", "bookwarp", "numpy", "numba", "python", "cpu", "cores", "time"):
        assert name in timed
    rate = timed["agent_events_per_s"]
    assert 0 < rate["min"] <= rate["median"] <= rate["max"]
    case = next(case for case in cases.AUCTION if case.name == "one thread").quick()
    alone = Simulation(steps=case.steps, engine="reference", **case.arguments()).step(case.steps)
    assert timed["digest"] == alone.digest()


def test_ratio_is_that_of_the_rates_per_core(rows):
    fast, slow, ratio = rows[:3]
    assert ratio["over"] == "numpy"
    found = ratio["ratio_per_core"]
    rates = fast["agent_events_per_s"], slow["agent_events_per_s"]
    assert found["min"] >= rates[0]["min"] / rates[1]["max"] / fast["threads"]
    assert found["max"] <= rates[0]["max"] / rates[1]["min"] / fast["threads"]


@pytest.mark.skipif(not memory._CLEAR.exists(), reason="needs /proc/self/clear_refs")
def test_memory_of_a_run_is_at_least_that_of_its_books(rows):
    # Large enough that no memory which compiling has left behind can hold it; and in a process of
    # its own, for other tests leave more.
    code = (
        f"import sys; sys.path.insert(0, {str(REPOSITORY / 'benchmarks')!r})\n"
        "from dataclasses import replace; import cases, contenders, memory\n"
        "case = replace(cases.AUCTION[1], markets=65_536, steps=1)\n"
        "print(memory.peak_growth(contenders.CONTENDERS['cpu'], case))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    books = 2 * 8 * 65_536 * cases.AUCTION[1].levels
    assert books < int(done.stdout) < 10 * books
    assert rows[0]["bytes_per_market"] == rows[0]["peak_bytes"] / rows[0]["markets"]


def test_newest_row_of_a_machine_counts(tmp_path):
    def row(**more):
        return json.dumps({"cpu": "A", "cores": 2, "kind": "time", "case": "x", **more}) + "\n"

    (tmp_path / "a.jsonl").write_text(
        row(engine="cpu", rate=1) + row(engine="numpy", rate=2) + row(engine="cpu", rate=3)
    )
    found = report.read_rows(tmp_path)
    assert [(each["engine"], each["rate"]) for each in found] == [("numpy", 2), ("cpu", 3)]


def test_tables_are_made_from_rows(rows, monkeypatch):
    monkeypatch.setattr(report, "read_rows", lambda: rows)
    table = report.speed_table().splitlines()
    assert len(table) == 2 + 3
    rate = rows[0]["agent_events_per_s"]["median"] / 1e6
    shown = [cell.strip() for cell in table[2].strip("|").split("|")]
    assert shown[0] == "one thread"
    assert float(shown[6]) == pytest.approx(rate, rel=5e-3)
    assert "`numpy`" in report.ratio_table()
    assert rows[0]["commit"][:10] in report.machine_table()


def test_table_without_rows_says_so(monkeypatch):
    monkeypatch.setattr(report, "read_rows", list)
    assert report.speed_table() == "Not measured yet."


def test_page_is_filled_between_its_marks_and_nowhere_else(monkeypatch):
    monkeypatch.setitem(report.TABLES, "speed", lambda: "| new |")
    page = "a\n<!-- table: speed -->\n| old |\n<!-- end of table -->\nb | old |\n"
    assert report.fill_page(page) == page.replace("| old |\n<!--", "| new |\n<!--")


@pytest.mark.parametrize("page", report.PAGES)
def test_tables_of_the_documentation_are_those_of_the_rows(page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    assert report.fill_page(text) == text, "run: python benchmarks/report.py"


def test_documentation_shows_every_table():
    texts = "".join((REPOSITORY / page).read_text(encoding="utf-8") for page in report.PAGES)
    shown = set(re.findall(r"<!-- table: ([\w-]+) -->", texts))
    assert shown >= set(report.TABLES) - {"summary"}
