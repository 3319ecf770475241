"""Tuning on GPUs that the host plays: what is tried, chosen, kept, found again and forgotten."""

import json
from dataclasses import replace

import emulated_gpu
import numpy as np
import pytest
from emulated_gpu import EmulatedGpu
from emulated_gpu import emulated_gpus as emulated_gpus
from typer.testing import CliRunner

import bookwarp as bw
from bookwarp.cli.app import app
from bookwarp.engines import registry
from bookwarp.engines.cuda import kernel_key, tuned
from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.engines.cuda.kernel_key import GpuShape, arrangements, bound_orders, choose_key
from bookwarp.engines.cuda.variants import choice_of, equivalent_keys, find_key
from bookwarp.reference.engine import ReferenceEngine
from bookwarp.spec.errors import EngineError, ParameterError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan

SMALL = {"markets": 3, "agents": 4, "levels": 8}
NO_ROWS = RecordPlan()
FASTEST = {"markets_per_warp": 1, "draws_ahead": 0, "blocks_per_sm": 24, "unroll_rounds": 4}
CHOICES = 3 * 5 * 3 + 3 * 3
"""Ways to run `SMALL`: three without a second warp, and one with it."""


@pytest.fixture(autouse=True)
def played(emulated_gpus, monkeypatch, tmp_path):
    """GPUs that the host plays, and an empty folder for what is found on them."""
    monkeypatch.setattr(registry, "unavailable_reason", lambda: None)
    monkeypatch.setattr(tuned, "code_name", lambda key, arch: f"{key} for {arch}")
    monkeypatch.setenv("BOOKWARP_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("BOOKWARP_IGNORE_TUNED")
    return emulated_gpus


@pytest.fixture
def fast(monkeypatch):
    """One kernel is ten times as fast as all others."""

    def seconds_of(key):
        return 0.1 if choice_of(key) == FASTEST else 1.0

    monkeypatch.setattr(EmulatedGpu, "seconds_of", staticmethod(seconds_of))


def tune(steps=1, record=(), **given):
    return bw.tune(**{**SMALL, **given}, steps=steps, record=record, trials=2)


def choice_used(steps=1, record=(), markets=3, devices=None, **given):
    """Return the choice of the kernel that an engine runs, and hold its result to the reference."""
    auction = CallAuction.of(markets, **{"agents": 4, "levels": 8, **given})
    plan = RecordPlan.of(auction, record)
    running, whole = CudaEngine(auction, plan, devices=devices), ReferenceEngine(auction, plan)
    for engine in (running, whole):
        engine.run(steps, plan.allocate(auction, plan.rows(0, steps)))
    assert running.read_state().digest() == whole.read_state().digest()
    (key,) = {key for gpu in running.gpus for _, key, _ in gpu.launches}
    return choice_of(key)


DEFAULT = {"markets_per_warp": 1, "draws_ahead": 1, "blocks_per_sm": 8, "unroll_rounds": 4}


def keys_of(markets, **given):
    auction = CallAuction.of(markets, **given)
    orders = bound_orders(auction, auction.type_counts())

    def choose(arrangement):
        flags = {"wide_lots": False, "recording": False, "shape": GpuShape(2, 32)}
        return choose_key(auction, orders, arrangement=arrangement, **flags)

    possible = arrangements(orders)
    return list(equivalent_keys(choose, possible)), choose, possible


@pytest.mark.parametrize(
    "given, kernel, together",
    [
        ({}, "counted", {1, 2, 4}),
        ({"mix": {"maker": 1}, "maker_half_spread": 8}, "counted", {1}),
        ({"noise_spread": 9}, "general", {1}),
    ],
)
def test_kernels_differ_in_what_changes_no_bit_and_in_nothing_else(given, kernel, together):
    keys, choose, possible = keys_of(5, **given)
    assert len(set(keys)) == len(keys) > 3
    assert {key.kernel for key in keys} == {kernel}
    assert {key.markets_per_warp for key in keys} == together
    free = ("blocks_per_sm", "unroll_rounds", "markets_per_warp", "draws_ahead", "rounds_per_sum")
    changes = dict.fromkeys(free, 0)
    assert {replace(key, **changes) for key in keys} == {replace(choose(None), **changes)}
    assert {choose(arrangement) for arrangement in (None, *possible)} <= set(keys)
    for key in keys:
        assert find_key(choose, possible, choice_of(key)) == key


@pytest.mark.parametrize(
    "choice",
    [None, {}, {"blocks_per_sm": 24}, {**FASTEST, "unroll_rounds": 3}, {**FASTEST, "x": 1}],
)
def test_a_choice_that_means_no_kernel_finds_none(choice):
    _, choose, possible = keys_of(5)
    assert find_key(choose, possible, choice) is None


def test_the_fastest_kernel_is_chosen_and_used_from_then_on(fast):
    assert choice_used() == DEFAULT
    found = tune()
    assert (found.best.choice, found.default.choice) == (FASTEST, DEFAULT)
    assert found.gain == 10
    assert found.remembered
    assert len(found.timings) == CHOICES
    assert found.digest == bw.simulate(**SMALL, steps=1, engine="reference").digest()
    assert choice_used() == FASTEST
    assert bw.Simulation(**SMALL, steps=1, record=(), engine="cuda").run().digest() == found.digest


def test_every_kernel_runs_once_untimed_and_then_in_turns(fast, played):
    told = []
    bw.tune(**SMALL, steps=1, record=(), trials=2, progress=lambda *each: told.append(each))
    assert told == [(done, 3 * CHOICES) for done in range(1, 3 * CHOICES + 1)]
    (gpu,) = (each for each in played if each.launches)
    order = [key for _, key, _ in gpu.launches]
    assert len(set(order[:CHOICES])) == CHOICES
    assert order[:CHOICES] == order[CHOICES : 2 * CHOICES] == order[2 * CHOICES :]


def test_what_is_hardly_faster_is_not_chosen(monkeypatch):
    def seconds_of(key):
        return 0.995 if choice_of(key) == FASTEST else 1.0

    monkeypatch.setattr(EmulatedGpu, "seconds_of", staticmethod(seconds_of))
    assert tune().best.choice == DEFAULT
    assert choice_used() == DEFAULT


@pytest.mark.parametrize("wrong", ["state", "rows"])
def test_a_kernel_with_other_bits_is_an_error_and_nothing_is_kept(fast, monkeypatch, wrong):
    right = emulated_gpu.run_kernel

    def run_wrongly(key, markets, books, scalars, types, rows, *more):
        right(key, markets, books, scalars, types, rows, *more)
        if choice_of(key) == FASTEST:
            address = scalars
            if wrong == "rows":
                address = int(emulated_gpu.array_at(rows, emulated_gpu.ROWS, 1)[0]["last"])
            emulated_gpu.array_at(address, np.int64, 1)[0] += 1

    monkeypatch.setattr(emulated_gpu, "run_kernel", run_wrongly)
    with pytest.raises(EngineError, match=r"'blocks_per_sm': 24, 'unroll_rounds': 4\} ends in "):
        tune(record="last")
    assert tuned.remembered_choices() == []


def test_a_choice_is_for_ensembles_of_that_kind(fast):
    tune(markets=3)
    assert choice_used(markets=4) == FASTEST, "as many up to the next power of two"
    for other in (
        {"markets": 5},
        {"markets": 2},
        {"agents": 5},
        {"levels": 9},
        {"window": "following"},
        {"record": "last"},
        {"clearing_interval": 2},
        {"parent_qty": 3},
    ):
        assert choice_used(**other) == DEFAULT
    assert choice_used(stream="paper") == {
        **DEFAULT,
        "draws_ahead": 0,
        "unroll_rounds": 1,
        "blocks_per_sm": 16,
    }
    tune(record="last")
    assert choice_used(record="volume") == FASTEST
    worked = {"clearing_interval": [1, 2, 3], "parent_qty": [0, 2, 9]}
    tune(steps=3, **worked)
    assert choice_used(steps=5, **worked) == FASTEST


def test_a_choice_is_for_that_gpu_and_that_code(fast, monkeypatch):
    tune()
    with monkeypatch.context() as patch:
        patch.setattr(EmulatedGpu, "name", "another one")
        assert choice_used() == DEFAULT
    with monkeypatch.context() as patch:
        patch.setattr(tuned, "code_name", lambda key, arch: "other sources")
        assert choice_used() == DEFAULT
    assert choice_used() == FASTEST


def test_devices_that_are_alike_use_what_was_found_for_their_share(fast, monkeypatch):
    tune(markets=3)
    assert choice_used(markets=6, devices=[0, 1]) == FASTEST
    assert choice_used(markets=3, devices=[0, 1]) == DEFAULT
    monkeypatch.setattr(EmulatedGpu, "name", property(lambda gpu: f"number {gpu.ordinal}"))
    tune(markets=3)
    assert choice_used(markets=3) == FASTEST
    assert choice_used(markets=6, devices=[0, 1]) == DEFAULT


def test_general_kernels_differ_in_their_blocks(monkeypatch):
    def seconds_of(key):
        return 1 / key.blocks_per_sm

    monkeypatch.setattr(EmulatedGpu, "seconds_of", staticmethod(seconds_of))
    monkeypatch.setattr(kernel_key, "_SHARED_BYTES", 0)  # each block takes memory of its own
    given = {"markets": 70, "noise_spread": 9}
    assert choice_used(**given) == {"markets_per_warp": 1, "draws_ahead": 0, "blocks_per_sm": 16}
    assert tune(**given).best.choice == {
        "markets_per_warp": 1,
        "draws_ahead": 0,
        "blocks_per_sm": 32,
    }
    assert choice_used(**given)["blocks_per_sm"] == 32


def test_a_process_can_ignore_what_was_found(fast, monkeypatch):
    tune()
    monkeypatch.setenv("BOOKWARP_IGNORE_TUNED", "1")
    assert choice_used() == DEFAULT
    monkeypatch.setenv("BOOKWARP_IGNORE_TUNED", "")
    assert choice_used() == FASTEST


def test_what_is_found_later_takes_the_place_of_what_was(fast, monkeypatch):
    tune()
    monkeypatch.setattr(EmulatedGpu, "seconds_of", staticmethod(lambda key: 1.0))
    assert tune().best.choice == DEFAULT
    assert choice_used() == DEFAULT
    assert len(tuned.remembered_choices()) == 1


def rewrite(path, change):
    """Write a file that is whole anew, with something else in it."""
    kept = tuned.CodeCache(path.parent)
    kept.write(path.name, change(kept.read(path.name)))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b'"format": 1', b'"format": 2'),
        lambda data: data.replace(b'"format": 1, ', b""),
        lambda data: data.replace(b'"unroll_rounds": 4', b'"unroll_rounds": 40'),
        lambda data: data.replace(b'"unroll_rounds": 4', b'"unroll_rounds": "4"'),
        lambda data: b'{"format": 1, "gpu": "any", "choice": 7}',
        lambda data: b'{"format": 1, "gpu": "any", "choice": {}}',
        lambda data: b"[1]",
        lambda data: b"",
        lambda data: b"\xff",
    ],
)
def test_a_file_of_another_kind_is_no_choice(fast, tmp_path, change):
    tune()
    (path,) = tmp_path.iterdir()
    rewrite(path, change)
    assert choice_used() == DEFAULT
    assert tune().remembered
    assert choice_used() == FASTEST


def test_a_damaged_file_is_no_choice_and_is_forgotten(fast, tmp_path):
    tune()
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    assert choice_used() == DEFAULT
    assert tuned.remembered_choices() == []
    assert tuned.forget_choices() == 1
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_the_choice_is_told_and_not_kept(fast, tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("BOOKWARP_CACHE_DIR", str(tmp_path / "file" / "folder"))
    found = tune()
    assert found.best.choice == FASTEST
    assert not found.remembered
    assert choice_used() == DEFAULT
    assert tuned.remembered_choices() == []
    assert tuned.forget_choices() == 0


@pytest.mark.parametrize(
    "given, message",
    [
        ({"progress": 3}, "progress must be True, False, None or a function"),
        ({"trials": 0}, r"trials = 0 is outside 1 \.\. 1000"),
        ({"trials": 2.5}, r"trials must be an integer, not 2\.5"),
        ({"steps": 0}, r"steps = 0 is outside 1 \.\. "),
        ({"device": 2}, r"devices: 2 is outside 0 \.\. 1"),
        ({"engine": "cpu"}, "tune takes no engine"),
        ({"devices": "all"}, "tune takes no devices"),
        ({"level": 8}, "unknown parameter 'level': did you mean 'levels'"),
        ({"noise_spread": -1}, "noise_spread = -1 is outside"),
    ],
)
def test_wrong_requests_are_refused(played, given, message):
    with pytest.raises(ParameterError, match=message):
        bw.tune(**{**SMALL, **given})
    assert not any(gpu.launches for gpu in played)


def run(line):
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 0, result.stderr
    return result.stdout


LINE = "tune --markets 3 --agents 4 --levels 8 --steps 1 --record none --trials 1"


def test_the_command_tunes_shows_and_forgets(fast):
    found = json.loads(run(f"{LINE} --json"))
    assert found["best"]["choice"] == FASTEST
    assert found["gain"] == 10
    assert len(found["timings"]) == CHOICES
    (kept,) = json.loads(run("info --json"))["tuned"]
    assert (kept["gpu"], kept["choice"], kept["markets"]) == (EmulatedGpu.name, FASTEST, 4)
    line = (
        "tuned 1           played by the host, up to 4 markets of 4 agents, stream default: "
        "markets_per_warp 1, draws_ahead 0, blocks_per_sm 24, unroll_rounds 4\n"
    )
    assert line in run("info")
    assert run("tune --forget") == "forgot 1 choice\n"
    assert json.loads(run("tune --forget --json")) == {"forgotten": 0}
    assert choice_used() == DEFAULT


def test_the_command_prints_the_fastest_first(fast):
    printed = run(LINE).splitlines()
    assert printed[0].split(maxsplit=1) == ["gpu", EmulatedGpu.name]
    first = next(line for line in printed if line.startswith("kernel 1 "))
    assert first.endswith(
        "markets_per_warp 1, draws_ahead 0, blocks_per_sm 24, unroll_rounds 4, chosen"
    )
    assert sum("the default" in line for line in printed) == 1 + 1
    assert printed[-1].split() == ["remembered", "yes"]
    assert run(f"{LINE} --quiet") == ""
