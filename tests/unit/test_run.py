"""The run object: what its properties are, its summary, running it again."""

import dataclasses
import json

import numpy as np
import pytest

import bookwarp as bw
from bookwarp.results.run import Run
from bookwarp.spec.record import RecordPlan

# Backend kineticsim_cuda of the published results, 64 markets. It computes in float32.
PUBLISHED_64 = {"mean": 63.75, "std": 1.6488631963729858, "volume": 96937.75, "trades": 500.0}


def test_properties_are_the_state(varied):
    state = varied.state
    for name in ("bid", "ask", "base", "volume", "trades", "prev_mid2", "pruned_bid", "pruned_ask"):
        assert getattr(varied, name) is getattr(state, name)
    assert varied.last_price is state.last
    assert (varied.markets, varied.agents, varied.levels, varied.steps) == (6, 9, 17, 11)
    assert (varied.stream, varied.window) == ("default", "following")
    assert varied.digest() == state.digest()


def test_history_steps_say_after_which_step_a_row_was_taken(varied, plain):
    assert varied.history_steps.tolist() == [1, 3, 5, 7, 9]
    assert plain.history_steps.tolist() == list(range(12))
    assert len(varied.history["last"]) == 5
    assert varied.history["book_bid"].shape == (5, 2, 17)


def test_seed_is_a_number_or_one_for_each_market(varied, plain):
    assert plain.seed == 7
    assert varied.seed.dtype == np.uint64


def test_agent_events_are_all_orders(plain):
    assert plain.agent_events == 4 * 10 * 12
    assert plain.agent_events_per_s == pytest.approx(480 / plain.elapsed_s)


def test_rate_of_a_run_that_took_no_time_is_unknown(plain):
    run = dataclasses.replace(plain, elapsed_s=0.0)
    assert run.agent_events_per_s is None
    assert json.loads(json.dumps(run.summary()))["agent_events_per_s"] is None
    assert "unknown" in str(run.summary())


def test_summary_has_the_published_figures():
    types = bw.draw_agent_types(64, 256, seed=0)
    run = bw.simulate(64, 256, 128, 500, 0, agent_types=types, stream="paper", record=())
    summary = run.summary()
    assert summary["mean_last_price"] == PUBLISHED_64["mean"]
    assert run.last_price.astype(np.float32).std() == np.float32(PUBLISHED_64["std"])
    assert summary["std_last_price"] == pytest.approx(PUBLISHED_64["std"], rel=1e-7)
    assert summary["mean_volume"] == PUBLISHED_64["volume"]
    assert summary["mean_trades"] == PUBLISHED_64["trades"]


def test_summary_is_what_json_takes(run):
    summary = run.summary()
    assert list(summary) == [
        *("markets", "agents", "levels", "steps", "seed", "stream", "engine", "agent_events"),
        *("elapsed_s", "agent_events_per_s", "mean_last_price", "std_last_price", "mean_volume"),
        *("mean_trades", "digest"),
    ]
    read = json.loads(json.dumps(summary))
    assert read == summary
    assert read["seed"] == np.asarray(run.seed).tolist()


def test_summary_prints_as_a_table_with_a_line_for_each_number(plain, varied):
    lines = str(plain.summary()).splitlines()
    assert len(lines) == len(plain.summary())
    assert lines[0].split() == ["markets", "4"]
    assert lines[-1].split() == ["digest", plain.digest()]
    (price,) = (line for line in lines if line.startswith("mean last price"))
    assert price.endswith(" tick")
    assert repr(plain.summary()) == str(plain.summary())
    assert "one for each market" in str(varied.summary())


def test_summary_of_an_ensemble_larger_than_a_thousand_is_grouped():
    run = bw.simulate(1500, 1, levels=8, steps=1, engine="reference")
    assert str(run.summary()).splitlines()[0].split() == ["markets", "1,500"]


def test_rerun_ends_the_same(run, same_run):
    same_run(run.rerun(engine="reference"), run, timed=False)


def test_rerun_on_another_engine_ends_the_same(fast_engine, varied, same_run):
    again = varied.rerun(engine=fast_engine, threads=2)
    assert again.engine == fast_engine
    same_run(again, varied, timed=False)


def test_run_that_was_cut_short_is_rerun_as_far_as_it_went():
    recording = {"record": ("last", "tape"), "tape_markets": [1], "tape_steps": [2, 15]}
    simulation = bw.Simulation(4, 8, levels=16, steps=20, engine="reference", **recording)
    part = simulation.step(7).result()
    assert part.steps == 7
    assert len(part.history["last"]) == 7
    again = part.rerun(engine="reference")
    assert again.digest() == part.digest()
    np.testing.assert_array_equal(again.tape, part.tape)
    np.testing.assert_array_equal(again.history["last"], part.history["last"])


def test_run_beyond_the_plan_is_rerun_as_far_as_it_went():
    part = bw.Simulation(4, 8, levels=16, steps=5, engine="reference").step(9).result()
    assert part.rerun(engine="reference").digest() == part.digest()


def test_representation_is_one_line(run):
    assert repr(run).startswith("Run(markets=")
    assert "\n" not in repr(run)
    assert len(repr(run)) < 200


def test_run_cannot_be_changed_by_assignment(plain):
    with pytest.raises(AttributeError):
        plain.engine = "other"


def test_run_made_elsewhere_keeps_what_made_it(plain):
    made = {"bookwarp": "9.9", "created": "then"}
    run = Run(
        auction=plain.auction,
        plan=RecordPlan(),
        state=plain.state,
        history={},
        tape=None,
        engine="other",
        elapsed_s=1.0,
        made_by=made,
    )
    assert run.made_by == made
    assert run.to_xarray().attrs["bookwarp_version"] == "9.9"


def test_saving_through_the_run_is_loading_back(plain, tmp_path, same_run):
    plain.save(tmp_path / "run.nc")
    same_run(bw.load(tmp_path / "run.nc"), plain)
