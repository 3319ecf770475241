"""Sweeps in memory: the markets they run, what they return, how few launches they take."""

import hashlib
import pickle
from contextlib import nullcontext
from threading import Event
from time import sleep

import numpy as np
import pytest
import xarray as xr
from emulated_gpu import PINNED, EmulatedGpu, wait_for_nothing_pinned
from emulated_gpu import emulated_gpus as emulated_gpus
from emulated_kernels import needs_compiler
from emulated_measures import MeasuringGpu, play_kernels
from tiny_measure import TinyMeasure

import bookwarp as bw
from bookwarp.engines import pinned, registry
from bookwarp.engines.cuda import engine as cuda_engine
from bookwarp.spec.errors import EngineError, ParameterError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.runs import Runs
from bookwarp.sweeping import markets, running
from bookwarp.sweeping.design import grid, zipped
from bookwarp.sweeping.machine import Machine
from bookwarp.sweeping.plan import EXACT, SweepPlan
from bookwarp.sweeping.running import run_block, running_blocks
from bookwarp.sweeping.sweep import sweep

SMALL = {"agents": 12, "levels": 16, "steps": 30}
DESIGN = grid(momentum=[0.0, 0.2, 0.4], max_qty=[1, 5], noise="rest", maker=0.1, replicas=3)


def small(design=DESIGN, engine="reference", measure=None, **given):
    return sweep(design, measure=measure or TinyMeasure(), engine=engine, **{**SMALL, **given})


@pytest.fixture(scope="module")
def dataset():
    return small()


def test_every_setting_and_replica_is_the_market_that_simulate_runs(dataset):
    assert dict(dataset.sizes) == {"momentum": 3, "max_qty": 2, "replica": 3, "lag": 2}
    for momentum in dataset.momentum.values:
        for max_qty in dataset.max_qty.values:
            mix = bw.Mix(noise="rest", momentum=momentum, maker=0.1)
            run = bw.simulate(3, **SMALL, max_qty=int(max_qty), mix=mix, engine="reference")
            own = dataset.sel(momentum=momentum, max_qty=max_qty)
            price = run.history["last"]
            np.testing.assert_array_equal(own.mean_price, price.mean(axis=0))
            np.testing.assert_array_equal(
                own.mean_move.sel(lag=2), (price[2:] - price[:-2]).mean(axis=0)
            )
            np.testing.assert_array_equal(own.last_price, run.last_price)
            np.testing.assert_array_equal(own.total_volume, run.volume)
            np.testing.assert_array_equal(own.trades, run.trades)


def test_settings_share_their_random_numbers():
    """With one setting given twice, replica r of both is the same market."""
    twice = small(zipped(momentum=[0.2, 0.2], noise="rest", replicas=5))
    first, second = twice.isel(setting=0, drop=True), twice.isel(setting=1, drop=True)
    xr.testing.assert_equal(first, second)
    assert len(np.unique(first.mean_price)) > 1


@pytest.mark.parametrize("given", [{"threads": 1}, {"threads": 3}, {"memory_limit": 10**9}])
def test_results_do_not_depend_on_the_machine(dataset, fast_engine, given):
    found = small(engine=fast_engine, **given)
    xr.testing.assert_identical(found, dataset)
    assert found.digest == dataset.digest


def test_cutting_a_block_into_simulations_changes_nothing(dataset, monkeypatch):
    monkeypatch.setattr(Machine, "markets_at_once", lambda *given: 2)
    xr.testing.assert_identical(small(), dataset)


def test_digest_is_the_hash_of_the_exact_results_block_by_block():
    found = small(block_markets=3)
    whole = hashlib.sha256(b"bookwarp sweep 1\n")
    for setting in range(6):
        block = hashlib.sha256(b"bookwarp sweep block 1\n")
        for name in ("last_price", "total_volume", "trades"):
            values = found[name].values.reshape(6, 3)[setting]
            block.update(f"{name} 3\n".encode() + values.astype("<i8").tobytes())
        whole.update(block.digest())
    assert found.digest == whole.hexdigest()
    assert small(seed=1, block_markets=3).digest != found.digest


def test_size_of_the_blocks_changes_no_value(dataset):
    found = small(block_markets=4)
    assert "[1, 1, 3]" in found.attrs["sweep"]
    xr.testing.assert_equal(found, dataset)


def test_a_block_is_a_pure_function_of_the_plan():
    plan = SweepPlan.of(DESIGN, TinyMeasure(), SMALL, block=4)
    machine = Machine.of("reference")
    with running_blocks(plan, range(plan.blocks.count), machine) as blocks:
        together = list(blocks)
    assert [block.number for block in together] == [0, 1, 2, 3, 4, 5]
    for block in together:
        alone = run_block(plan, block.number, machine)
        assert alone.exact_sha256 == block.exact_sha256
        for name, array in block.results.items():
            np.testing.assert_array_equal(alone.results[name], array)


def test_a_plan_can_be_sent_to_another_process():
    plan = SweepPlan.of(DESIGN, bw.measures.stylised_facts, SMALL, paths=1, block=4)
    sent = pickle.loads(pickle.dumps(plan))
    machine = Machine.of("reference")
    for number in range(plan.blocks.count):
        here, there = run_block(plan, number, machine), run_block(sent, number, machine)
        assert here.exact_sha256 == there.exact_sha256
        np.testing.assert_array_equal(here.paths, there.paths)
    assert sent.description == plan.description


def test_any_parameter_of_a_market_can_be_swept_and_does_something():
    swept = {
        "seed": [1, 2**64 - 1],
        "open_price": [7, 8],
        "open_depth": [1, 20],
        "noise_spread": [0, 3],
        "market_order_prob": [0.0, 0.9],
        "maker_half_spread": [1, 3],
        "fundamental": [0.0, 0.3],
        "agents": [8, 12],
        "levels": [16, 24],
        "steps": [30, 31],
        "stream": ["default", "paper"],
        "window": ["fixed", "following"],
    }
    for name, values in swept.items():
        given = {n: v for n, v in SMALL.items() if n != name}
        shares = {"noise": "rest", "maker": 0.2, "momentum": 0.5}
        design = grid(**shares, **{name: values}, replicas=4)
        dataset = sweep(design, measure=TinyMeasure(), engine="reference", **given)
        assert dataset.sizes[name] == 2
        first, second = (dataset.isel({name: i}, drop=True) for i in (0, 1))
        assert not first.equals(second), name


def test_intervals_and_parent_orders_are_swept_in_one_run_and_reported():
    swept = {
        "clearing_interval": [1, 5],
        "parent_qty": [0, 40],
        "schedule": ["twap", "share"],
    }
    fixed = {"parent_start": 2, "parent_horizon": 20, "parent_side": -1, "volume_share": 0.5}
    found = small(grid(**swept, replicas=2), **fixed)
    assert found.schedule.values.tolist() == swept["schedule"]
    for interval in (1, 5):
        for schedule in swept["schedule"]:
            given = {"clearing_interval": interval, "parent_qty": 40, "schedule": schedule}
            run = bw.simulate(2, **SMALL, **given, **fixed, engine="reference")
            own = found.sel(given)
            np.testing.assert_array_equal(own.execution_filled, run.state.own_filled)
            np.testing.assert_array_equal(own.execution_cost, run.state.own_cost)
            np.testing.assert_array_equal(own.arrival_mid2, run.state.arrival_mid2)
            np.testing.assert_array_equal(own.last_price, run.last_price)
    assert (found.execution_filled.sel(parent_qty=0) == 0).all()
    assert (found.execution_filled.sel(parent_qty=40) > 0).any()
    assert "execution_filled" not in small(grid(clearing_interval=[1, 5]), **fixed)


def test_what_is_not_given_takes_the_default_of_simulate():
    dataset = sweep(grid(replicas=3), measure=TinyMeasure(), engine="reference", **SMALL)
    run = bw.simulate(3, **SMALL, engine="reference")
    np.testing.assert_array_equal(dataset.last_price, run.last_price)
    assert (dataset.noise, dataset.momentum, dataset.maker) == (0.7, 0.15, 0.15)


def test_a_mix_may_be_given_whole_beside_shares_that_vary():
    given = {"mix": {"noise": "rest", "maker": 0.1}, "max_qty": [1, 5]}
    with pytest.raises(ParameterError, match="a design names the shares themselves"):
        grid(**given)
    design = grid(momentum=[0.0, 0.2, 0.4], max_qty=[1, 5], replicas=3)
    found = small(design, mix=given["mix"])
    np.testing.assert_array_equal(found.last_price, small().last_price)


# -- settings that cannot run


INFEASIBLE = grid(momentum=[0.0, 0.6, 0.8], maker=[0.1, 0.3], noise="rest", replicas=2)


def test_every_number_of_the_dataset_has_a_unit_and_a_meaning():
    found = small(grid(momentum=[0.1, 0.2], noise="rest"), measure=bw.measures.stylised_facts)
    for name, variable in found.variables.items():
        assert {"units", "long_name"} <= variable.attrs.keys(), name
    assert found.lag.attrs["units"] == found.horizon.attrs["units"] == "row"


def test_a_schedule_is_named_also_where_it_is_the_usual_one():
    assert small().attrs["schedule"] == "twap"
    assert small().attrs["sweep"] == small(schedule="twap").attrs["sweep"]


def test_settings_that_cannot_run_are_refused_and_listed():
    said = (
        r"some settings cannot run \(1 of 6\): momentum=0\.8, maker=0\.3: mix\.noise = -0\.1 is "
        r"outside 0 \.\. 1; infeasible='nan' leaves them NaN"
    )
    with pytest.raises(ParameterError, match=said):
        small(INFEASIBLE)


def test_settings_that_cannot_run_are_nan_when_asked(engine):
    found = small(INFEASIBLE, engine, infeasible="nan")
    assert found.feasible.values.tolist() == [[True, True], [True, True], [True, False]]
    assert found.infeasible == ["momentum=0.8, maker=0.3: mix.noise = -0.1 is outside 0 .. 1"]
    for name in ("mean_price", "mean_move", *EXACT):
        wrong = np.isnan(found[name]).any(dim=[d for d in found[name].dims if d == "lag"])
        assert (~wrong).equals(found.feasible.broadcast_like(wrong)), name
    others = small(grid(momentum=[0.0, 0.6], maker=[0.1, 0.3], noise="rest", replicas=2))
    np.testing.assert_array_equal(found.mean_price[:2], others.mean_price)


def test_a_sweep_without_a_setting_that_can_run_is_refused():
    with pytest.raises(ParameterError, match=r"no setting can run \(2 of 2\): open_price=0: .*"):
        small(grid(open_price=[0, 15]), infeasible="nan")


def test_a_long_list_of_settings_that_cannot_run_is_cut():
    with pytest.raises(ParameterError, match=r"\(8 of 12\): .*; and 3 more; infeasible"):
        small(grid(momentum=np.arange(12) / 12, maker=0.75, noise="rest"))


@pytest.mark.parametrize(
    "given, said",
    [
        ({"infeasible": "skip"}, "infeasible must be 'error' or 'nan', not 'skip'"),
        ({"infeasible": np.array(["nan", "nan"])}, "infeasible must be 'error' or 'nan', not arr"),
        ({"volume_profile": [1, True]}, r"volume_profile must be a list of integers, not \[1, T"),
        ({"momentum": 0.1}, "momentum is given by the design, and again beside it"),
        ({"noise": 0.1}, "noise is given by the design, and again beside it"),
        ({"agent": 3}, "did you mean 'agents'"),
        ({"agents": 0}, r"agents = 0 is outside 1 \.\. "),
        ({"agents": [1, 2]}, r"agents must be one value for all settings, not \[1, 2\]"),
        ({"measure": "prices"}, "measure must be one of bookwarp.measures, .* not 'prices'"),
        ({"measure": [bw.measures.prices]}, "measure must be one of bookwarp.measures"),
        ({"volume_profile": [[1], 2]}, "volume_profile is not a regular array"),
        ({"memory_limit": 100}, "results of 18 markets take .* give out="),
        ({"steps": 2**32}, r"steps = 4294967296 is outside"),
        ({"devices": [0], "engine": "cpu"}, "devices needs engine 'cuda', not 'cpu'"),
        ({"engine": "gpu"}, "unknown engine 'gpu'"),
        ({"threads": 0}, r"threads = 0 is outside 1 \.\. 1024"),
        ({"paths": "all"}, "paths must be a number of replicas, or a mapping"),
        ({"paths": {"momentum": [0.1]}}, r"momentum = 0\.1 is not in the design: 0\.0, 0\.2, 0\.4"),
        ({"paths": {"maker": [0.1]}}, "unknown parameter 'maker'"),
        ({"paths": True}, "paths must be a number of replicas, or a mapping .* not True"),
        ({"paths": 4}, r"paths: replicas = 4 is outside 0 \.\. 3"),
        ({"paths": 10**9}, r"paths: replicas = 1000000000 is outside 0 \.\. 3"),
        ({"paths": {"momentum": []}}, "paths: momentum must be a list with at least one value"),
        ({"paths": {"momentum": "0.2"}}, r"paths: momentum must be a number, not '0\.2'"),
        ({"paths": {"momentum": ["low"]}}, "paths: momentum must be a number, not 'low'"),
        ({"paths": {"momentum": [[0.2]]}}, r"paths: momentum must be a list of numbers, not of"),
        ({"paths": {"max_qty": True}}, "paths: max_qty must be an integer, not True"),
        ({"paths": {"replica": []}}, "paths: replica must be a list with at least one value"),
        ({"paths": {"replica": ["0"]}}, "paths: replica must be an integer, not '0'"),
        ({"paths": {"replica": range(10**30)}}, r"paths: replica = 3 is outside 0 \.\. 2"),
        ({"paths": {"replica": [3]}}, r"paths: replica = 3 is outside 0 \.\. 2"),
        ({"progress": 3}, "progress must be True, False, None or a function of .* not 3"),
        ({"progress": "bar", "out": "here.nc"}, "progress must be"),
        ({"out": "here.nc"}, r"out must be a Zarr store, \*\.zarr, not 'here\.nc'"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(given, said, monkeypatch):
    monkeypatch.setattr(running, "Simulation", None)
    with pytest.raises((ParameterError, EngineError), match=said):
        small(**given)
    with pytest.raises(ParameterError, match="design must be made by grid, zipped"):
        small({"momentum": [0.1]})


# -- which markets run together


@pytest.mark.parametrize("numbers", [[0, 1, 2, 3, 4, 5, 6, 7], [0, 2, 3, 6], [5], [1, 2, 3]])
@pytest.mark.parametrize(
    "swept",
    [
        {"max_qty": [1, 2, 3, 4]},
        {"steps": [20, 30, 20, 30], "max_qty": [1, 2, 3, 4]},
        {"steps": [20, 20, 30, 30], "maker": [0.1, 0.9, 0.9, 0.2]},
    ],
)
@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_markets_of_some_blocks_run_with_their_settings(numbers, swept, most, monkeypatch):
    """In simulations of one group each, and with the replicas that they are."""
    design = zipped(**swept, momentum=0.2, noise="rest", replicas=5)
    fixed = {name: value for name, value in SMALL.items() if name not in swept}
    plan = SweepPlan.of(design, TinyMeasure(), fixed, "nan", block=3)
    assert plan.blocks.count == 8
    machine = Machine.of("reference")
    begun = []

    def note(markets, *given, **named):
        begun.append((markets, named))
        return bw.Simulation(markets, *given, **named)

    monkeypatch.setattr(Machine, "blocks_at_once", lambda *given: len(numbers))
    monkeypatch.setattr(Machine, "markets_at_once", lambda *given: most)
    with monkeypatch.context() as patch:
        patch.setattr(running, "Simulation", note)
        with running_blocks(plan, numbers, machine) as blocks:
            together = list(blocks)
    assert all(markets <= most for markets, _ in begun)
    wanted = [m for number in numbers for m in range(*plan.blocks.markets(number))]
    wanted = [m for m in wanted if plan.settings.group_of[m // 5] >= 0]
    assert sum(markets for markets, _ in begun) == len(wanted)
    for block in together:
        alone = run_block(plan, block.number, machine)
        assert alone.exact_sha256 == block.exact_sha256
        first, stop = plan.blocks.markets(block.number)
        for name, array in block.results.items():
            assert array.shape[0] == stop - first
            np.testing.assert_array_equal(alone.results[name], array)


# -- paths


def test_paths_are_the_prices_of_the_chosen_markets(engine):
    paths = {"momentum": [0.2, 0.4], "max_qty": 5, "replica": [0, 2]}
    found = small(engine=engine, paths=paths, block_markets=4)
    assert found.path_price.dims == ("path", "path_step")
    assert found.path_momentum.values.tolist() == [0.2, 0.2, 0.4, 0.4]
    assert found.path_max_qty.values.tolist() == [5] * 4
    assert found.path_replica.values.tolist() == [0, 2, 0, 2]
    for path in range(4):
        one = found.isel(path=path)
        mix = bw.Mix(noise="rest", momentum=float(one.path_momentum), maker=0.1)
        run = bw.simulate(3, **SMALL, max_qty=5, mix=mix, engine="reference")
        np.testing.assert_array_equal(one.path_price, run.history["last"][:, one.path_replica])


def test_paths_of_settings_with_fewer_steps_end_in_nan():
    found = sweep(
        grid(steps=[20, 30], replicas=2),
        measure=TinyMeasure(),
        engine="reference",
        paths=1,
        agents=8,
        levels=16,
    )
    price = found.path_price.values
    assert np.isnan(price[0, 20:]).all()
    assert not np.isnan(price[0, :20]).any()
    assert not np.isnan(price[1]).any()


def test_paths_of_settings_that_cannot_run_are_left_out():
    found = small(INFEASIBLE, infeasible="nan", paths=1)
    assert found.sizes["path"] == 5


# -- launches


@pytest.fixture
def gpus(emulated_gpus, monkeypatch):
    monkeypatch.setattr(registry, "unavailable_reason", lambda: None)
    return emulated_gpus


def count_launches(gpus):
    return sum(len(gpu.launches) for gpu in gpus)


@pytest.mark.parametrize("devices", [0, "all"])
@pytest.mark.parametrize("out", [None, "here.zarr"])
def test_nothing_is_pinned_after_a_sweep_or_an_error(gpus, out, devices, tmp_path, monkeypatch):
    monkeypatch.setattr(pinned, "_LEAST_BYTES", 1)
    given = {"engine": "cuda", "devices": devices, "block_markets": 4}
    given |= {"out": out and tmp_path / out}
    pin = EmulatedGpu.pin
    held = []
    monkeypatch.setattr(
        EmulatedGpu, "pin", lambda gpu, array: held.append(array.nbytes) or pin(gpu, array)
    )
    small(**given).close()
    assert held
    wait_for_nothing_pinned()
    if out is None:
        monkeypatch.setattr(EmulatedGpu, "send_rows", None)
        held.clear()
        with pytest.raises(TypeError) as caught:
            small(**given)
        # However long the error is kept, and all that it knows.
        assert held
        assert not PINNED
        assert caught.tb is not None


@pytest.mark.parametrize("fails", [False, True])
def test_exact_results_are_there_before_their_memory_is_let_go(gpus, fails, monkeypatch):
    """Also where the measure has taken nothing that came after them, or has failed."""

    class Idle(TinyMeasure):
        def of_simulation(self, simulation):
            if fails:
                raise ZeroDivisionError
            markets = simulation.auction.markets
            return {"mean_price": np.zeros(markets), "mean_move": np.zeros((markets, 2))}

    monkeypatch.setattr(pinned, "_LEAST_BYTES", 1)
    # Nobody else waits for them.
    monkeypatch.setattr(
        running._Batch, "finish", lambda batch: (work.result() for work in batch._running)
    )
    unpin, sent = EmulatedGpu.unpin, []

    def note(gpu, array):
        sent.extend(len(other.sent) for other in gpus)
        unpin(gpu, array)

    monkeypatch.setattr(EmulatedGpu, "unpin", note)
    plan = SweepPlan.of(DESIGN, Idle(), SMALL, block=4)
    machine = Machine.of("cuda", devices=[0, 1])
    failure = pytest.raises(ZeroDivisionError) if fails else nullcontext()
    with failure, running_blocks(plan, range(plan.blocks.count), machine) as blocks:
        assert len(list(blocks)) == 2
    wait_for_nothing_pinned()
    assert len(sent) == len(gpus) * (2 + len(EXACT))
    assert not any(sent)


def test_an_error_waits_for_the_other_device(gpus):
    """Which may still write to memory that nobody holds any longer then."""
    begun, ended = Event(), []

    class OneFails(TinyMeasure):
        def of_simulation(self, simulation):
            if simulation._engine.gpus[0].ordinal == 0:
                assert begun.wait(30)
                raise ZeroDivisionError
            begun.set()
            sleep(0.2)
            ended.append(simulation)
            return super().of_simulation(simulation)

    with pytest.raises(ZeroDivisionError):
        small(engine="cuda", devices="all", measure=OneFails())
    assert ended


def test_all_settings_of_one_shape_run_in_one_launch(gpus, dataset):
    found = small(engine="cuda", block_markets=4)
    assert count_launches(gpus) == 1
    np.testing.assert_array_equal(found.mean_price, dataset.mean_price)
    np.testing.assert_array_equal(found.trades, dataset.trades)


def test_every_device_has_one_launch(gpus, dataset):
    found = small(engine="cuda", devices="all")
    ran = {gpu.ordinal: len(gpu.launches) for gpu in gpus if gpu.launches}
    assert ran == {0: 1, 1: 1}
    xr.testing.assert_identical(found, dataset)


@pytest.fixture
def dealt(monkeypatch):
    """Let few markets be dealt to devices, as many are: what each simulation had."""
    monkeypatch.setattr(markets, "_SHORTEST_RUN", 1)
    monkeypatch.setattr(markets, "_RUNS_EACH", 2)
    seen = []
    measure = running._Batch._measure

    def note(batch, group, own, *given):
        seen.append(own)
        return measure(batch, group, own, *given)

    monkeypatch.setattr(running._Batch, "_measure", note)
    return seen


def test_every_device_gets_markets_from_all_over(gpus, dealt, dataset):
    found = small(engine="cuda", devices="all")
    assert sorted(each.first for each in dealt) == [0, 3]
    assert {(each.count, each.run, each.apart) for each in dealt} == {(9, 3, 6)}
    xr.testing.assert_identical(found, dataset)
    cut = small(engine="cuda", devices="all", block_markets=4)
    assert not all(each.is_one for each in dealt)
    assert cut.equals(dataset)


def test_one_device_gets_neighbours(gpus, dealt):
    small(engine="cuda", block_markets=18)
    assert dealt == [Runs.one(0, 18)]


@needs_compiler
@pytest.mark.parametrize("momentum", [[0.1, 0.5], [0.1, 0.9, 0.5]])
@pytest.mark.parametrize("out", [None, "here.zarr"])
def test_facts_and_fills_of_dealt_markets_are_in_their_places(
    gpus, dealt, monkeypatch, out, momentum, tmp_path
):
    """With settings that have no parent order, and where one cannot run; in blocks and without."""
    monkeypatch.setattr(cuda_engine, "Gpu", MeasuringGpu)
    play_kernels(monkeypatch)
    design = grid(momentum=momentum, parent_qty=[0, 40], noise="rest", maker=0.2, replicas=7)
    given = SMALL | {"measure": bw.measures.stylised_facts, "infeasible": "nan"}
    given |= {"parent_horizon": 9, "block_markets": 5}
    expected = sweep(design, engine="reference", **given)
    dealt.clear()
    where = out and tmp_path / out
    found = sweep(design, engine="cuda", devices="all", out=where, **given)
    assert dealt
    assert {isinstance(each, Runs) for each in dealt} == {len(momentum) == 2}
    assert not any(isinstance(each, Runs) and each.is_one for each in dealt)
    xr.testing.assert_identical(found.load(), expected)


def test_two_devices_take_twice_the_markets_of_one_at_once(gpus, monkeypatch):
    plan = SweepPlan.of(DESIGN, TinyMeasure(), SMALL, block=3)
    (group,) = plan.settings.groups
    whole = Machine.of("cuda")
    one = whole.device_memory / whole.markets_at_once(plan, group)
    free = int(one * 7 / 0.75) + 99
    monkeypatch.setattr(
        "bookwarp.engines.cuda.engine.free_device_bytes", lambda devices: [free] * len(devices)
    )
    blocks = list(range(plan.blocks.count))
    assert len(blocks) == 6
    assert Machine.of("cuda", devices=[0]).blocks_at_once(plan, blocks) == 2
    assert Machine.of("cuda", devices=[0, 1]).blocks_at_once(plan, blocks) == 4


def test_every_shape_has_one_launch(gpus):
    design = grid(agents=[8, 12], steps=[20, 30], max_qty=[1, 2, 5], replicas=2)
    given = {"measure": TinyMeasure(), "levels": 16}
    found = sweep(design, engine="cuda", block_markets=5, **given)
    assert count_launches(gpus) == 4
    xr.testing.assert_equal(found, sweep(design, engine="reference", **given))


def test_a_launch_has_no_more_markets_than_fit_into_the_memory_of_the_device(
    gpus, dataset, monkeypatch
):
    machine = Machine.of("cuda")
    plan = SweepPlan.of(DESIGN, TinyMeasure(), SMALL)
    (group,) = plan.settings.groups
    assert machine.markets_at_once(plan, group) > plan.design.markets
    one = machine.device_memory / machine.markets_at_once(plan, group)
    monkeypatch.setattr(
        "bookwarp.engines.cuda.engine.free_device_bytes", lambda devices: [int(one * 5 / 0.75) + 99]
    )
    found = small(engine="cuda", block_markets=4)
    assert count_launches(gpus) == -(-18 // 5) + 2  # blocks of 3 markets: one at a time
    np.testing.assert_array_equal(found.mean_price, dataset.mean_price)


def test_a_market_that_does_not_fit_is_refused():
    with pytest.raises(ParameterError, match="does not fit into memory: lower steps"):
        small(steps=10_000, memory_limit=100_000, threads=1)


# -- progress and interruption


def test_progress_is_told_in_agent_events():
    told = []
    small(block_markets=4, threads=1, progress=lambda *given: told.append(given))
    events = 18 * 12 * 30
    assert told[-1] == (events, events)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) >= 6


def test_a_bar_shows_the_rate_and_the_time_left(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    small(progress=True)
    assert "agent events/s" in capsys.readouterr().err


def test_interrupt_says_that_nothing_was_kept_in_memory():
    def interrupt(done, wanted):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        small(progress=interrupt)
    assert "nothing was kept" in caught.value.__notes__[0]


# -- measures


def test_a_measure_whose_variables_depend_on_the_steps_is_refused():
    class Growing(TinyMeasure):
        def outputs(self, steps):
            return TinyMeasure(range(1, steps // 10)).outputs(steps)

    with pytest.raises(ParameterError, match="gives other variables after 40 steps than after 30"):
        sweep(grid(steps=[30, 40]), measure=Growing(), agents=8, levels=16)


@pytest.mark.parametrize("name", ["last_price", "momentum", "replica", "path_price"])
def test_a_measure_cannot_take_the_name_of_something_else(name):
    class Named(TinyMeasure):
        def outputs(self, steps):
            return {name: super().outputs(steps)["mean_price"]}

    with pytest.raises(ParameterError, match=f"'{name}', which is the name of something else"):
        small(measure=Named())


# -- many settings


def test_many_settings_are_told_apart_without_a_list_of_them():
    design = zipped(momentum=np.arange(1001) / 2000, noise="rest")
    values = design.describe()["columns"]["momentum"]["values"]
    assert values.startswith("1001 of SHA-256 ")
    other = zipped(momentum=np.arange(1001) / 2001, noise="rest")
    assert other.describe() != design.describe()
    assert zipped(momentum=np.arange(1001) / 2000, noise="rest").describe() == design.describe()


def test_many_settings_that_cannot_run_are_listed_up_to_a_thousand():
    found = small(zipped(momentum=[0.1, *[0.9] * 1005], noise="rest", maker=0.2), infeasible="nan")
    assert len(found.infeasible) == 1001
    assert found.infeasible[-1] == "and 5 more"
    assert (~found.feasible).sum() == 1005


# Every value is one that its parameter may have; many break a rule with others, some several.
CLASHING = {
    "momentum": (0.2, 0.7),
    "maker": (0.1, 0.3),
    "levels": (8, 32),
    "open_price": (5, 20),
    "window": ("fixed", "following"),
    "stream": ("default", "paper"),
    "max_qty": (4, 2**25),
    "noise_spread": (3, 2**24),
    "parent_qty": (0, 2**31 - 1),
    "parent_side": (1, 0),
    "open_depth": (8, 2**63 - 1),
    "steps": (10, 2**32 - 1),
    "schedule": ("twap", "profile"),
}


def reason_against(columns, setting, noise):
    """Return why a setting cannot run when it is alone; None if it can."""
    alone = zipped(noise=noise, **{name: [values[setting]] for name, values in columns.items()})
    try:
        SweepPlan.of(alone, TinyMeasure())
    except ParameterError as error:
        return str(error).partition(": ")[2]
    return None


@pytest.mark.parametrize("noise", ["rest", 0.7])
def test_every_setting_is_refused_for_what_is_wrong_with_it_alone(noise):
    count = 300
    second = np.random.default_rng(3).random((len(CLASHING), count)) < 0.12
    columns = {
        name: [pair[int(each)] for each in row]
        for (name, pair), row in zip(CLASHING.items(), second, strict=True)
    }
    found = SweepPlan.of(zipped(noise=noise, **columns), TinyMeasure(), infeasible="nan").settings
    alone = [reason_against(columns, setting, noise) for setting in range(count)]
    reasons = {setting: said for setting, said in enumerate(alone) if said is not None}
    assert found.refused.tolist() == list(reasons)
    assert found.refusals == tuple(reasons.values())
    assert len({said.rpartition(": ")[2].split()[0] for said in reasons.values()}) >= 6
    runs = np.concatenate([group.settings for group in found.groups])
    assert sorted(runs.tolist()) == sorted(set(range(count)).difference(reasons))


def test_settings_that_cannot_run_are_found_together(monkeypatch):
    checks, of = [], CallAuction.of

    def counted(markets, **given):
        checks.append(markets)
        return of(markets, **given)

    monkeypatch.setattr(CallAuction, "of", counted)
    design = zipped(
        momentum=np.arange(20_000) / 20_000,
        open_price=np.where(np.arange(20_000) % 3, 16, 0),
        maker=0.5,
        noise="rest",
    )
    plan = SweepPlan.of(design, TinyMeasure(), {"levels": 32}, "nan")
    assert len(plan.settings.refused) > 10_000
    assert len(checks) == 3
    assert len(plan.settings.refusals) == 1000
    assert plan.description is plan.description


def test_auto_is_the_cores_where_no_gpu_can_be_asked(gpus, monkeypatch, dataset):
    def fail(devices):
        raise EngineError("the GPU failed")

    monkeypatch.setattr("bookwarp.engines.cuda.engine.free_device_bytes", fail)
    with pytest.raises(EngineError, match="the GPU failed"):
        Machine.of("cuda")
    with pytest.raises(EngineError, match="the GPU failed"):
        Machine.of("auto", devices=[0])
    machine = Machine.of("auto", devices="all")
    assert (machine.engine, machine.devices) == ("cpu", ())


@pytest.mark.parametrize(
    "changed, said",
    [
        (lambda facts: {"mean_price": facts["mean_price"]}, r"returned \['mean_price'\]"),
        (lambda facts: facts | {"more": facts["mean_price"]}, r"returned \[.*'more'\]"),
        (lambda facts: facts | {"mean_price": facts["mean_price"][:0]}, r"float64 \(0,\); it must"),
        (lambda facts: facts | {"mean_price": facts["mean_price"].astype(str)}, "must be numbers"),
    ],
)
@pytest.mark.parametrize("block_markets", [None, 1])
def test_a_measure_that_returns_something_else_than_its_outputs_is_refused(
    monkeypatch, changed, said, block_markets
):
    """Nothing that no measure wrote is ever a result."""
    of_simulation = TinyMeasure.of_simulation
    monkeypatch.setattr(
        TinyMeasure, "of_simulation", lambda self, run: changed(of_simulation(self, run))
    )
    with pytest.raises(ParameterError, match=f"the measure TinyMeasure .*{said}"):
        small(engine="cpu", block_markets=block_markets)
