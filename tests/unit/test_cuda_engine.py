"""The cuda engine's own code, on GPUs that the host plays: what it lays out, keeps and brings."""

import threading

import numpy as np
import pytest
from emulated_gpu import EmulatedGpu, array_at
from emulated_gpu import emulated_gpus as emulated_gpus
from hypothesis import HealthCheck, given, settings
from parity_cases import build, everything

from bookwarp.engines import registry
from bookwarp.engines.cpu.engine import CpuEngine
from bookwarp.engines.cuda import rows as row_module
from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.engines.cuda.layout import lay_out_book, lay_out_scalars
from bookwarp.engines.cuda.part import part_nbytes
from bookwarp.reference.engine import ReferenceEngine
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import EngineError, ParameterError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import SERIES, RecordPlan
from bookwarp.spec.state import opening_state
from bookwarp.testing.parity import assert_engines_agree, find_difference
from bookwarp.testing.strategies import runs

NO_ROWS = RecordPlan()


class OnTwoDevices(CudaEngine):
    """The engine with its markets split over two devices."""

    def __init__(self, auction, plan, threads=None):
        super().__init__(auction, plan, devices="all")


@pytest.fixture(params=[CudaEngine, OnTwoDevices])
def cuda(request, emulated_gpus):
    return request.param


@pytest.fixture
def few_rows(monkeypatch):
    """Let a half of the memory for rows hold two of them."""
    monkeypatch.setattr(row_module, "MOST_ROWS", 2)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs(max_markets=6, max_agents=4, max_levels=20, max_steps=1))
def test_markets_open_on_a_device_as_they_do_in_a_state(emulated_gpus, case):
    state = opening_state(case.auction)
    for engine in (CudaEngine, OnTwoDevices):
        for part in engine(case.auction, NO_ROWS)._parts:
            own = part.slice.of_state(state)
            book, scalars, waiting = part.read()
            np.testing.assert_array_equal(book, lay_out_book(own, part.lots))
            np.testing.assert_array_equal(scalars, lay_out_scalars(own))
            assert waiting is None or not waiting.any()


@pytest.fixture(params=["here", "in threads"])
def delivery(request, monkeypatch):
    """Let rows be brought by the thread that wants them, or row by row by others."""
    if request.param == "in threads":
        monkeypatch.setattr(row_module, "PIECE_BYTES", 1)
    return request.param


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(runs(max_markets=4, max_agents=20, max_levels=30, max_steps=7))
def test_engine_gives_the_kernels_what_the_model_needs(emulated_gpus, case):
    engines = ("reference", CudaEngine, OnTwoDevices)
    assert_engines_agree(case.auction, case.steps, case.plan, engines)


@pytest.mark.parametrize("mix", ["all", "given", "per market"])
@pytest.mark.parametrize("window", ["fixed", "following"])
@pytest.mark.parametrize("stream", ["default", "paper"])
def test_every_series_comes_from_the_device(cuda, few_rows, stream, window, mix):
    auction, _ = build(window, stream, mix, agents=9)
    assert_engines_agree(auction, 15, everything(auction), ("reference", cuda))
    assert_engines_agree(auction, 15, everything(auction, every=4), ("reference", cuda))


@pytest.mark.parametrize("agents", [1, 63, 64, 65])
def test_types_are_given_in_rows_of_64(cuda, agents):
    auction, _ = build("fixed", "default", "given", agents=agents)
    assert_engines_agree(auction, 3, NO_ROWS, ("reference", cuda))


@pytest.mark.parametrize(
    "markets, together, blocks, threads",
    [(16, 1, 16, 64), (17, 2, 9, 32), (64, 2, 32, 32), (65, 4, 17, 32)],
)
def test_the_more_markets_the_more_share_a_warp(emulated_gpus, markets, together, blocks, threads):
    auction = CallAuction.of(markets, agents=3, levels=8)
    assert_engines_agree(auction, 3, NO_ROWS, ("reference", CudaEngine))
    (grid, block, _), key, _ = emulated_gpus[0].launches[0]
    assert (key.markets_per_warp, grid, block) == (together, blocks, threads)


def launch_steps(gpu):
    """Return (first step, steps) of every launch on a GPU."""
    return [(int(arguments[7]), int(arguments[8])) for _, _, arguments in gpu.launches]


@pytest.mark.parametrize("cuts", [[40], [1] * 40, [3, 0, 17, 20], [39, 1]])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.usefixtures("few_rows", "delivery")
def test_any_cut_brings_the_same_rows(cuda, cuts, every):
    auction, _ = build("following", "default", "runaway", agents=9)
    plan = everything(auction, every)
    whole = ReferenceEngine(auction, plan)
    expected = plan.allocate(auction, plan.rows(0, 40))
    whole.run(40, expected)

    found = plan.allocate(auction, plan.rows(0, 40))
    running = cuda(auction, plan)
    step = row = 0
    for steps in cuts:
        count = plan.rows(step, step + steps)
        running.run(steps, {name: array[row : row + count] for name, array in found.items()})
        step, row = step + steps, row + count
    assert find_difference(whole.read_state(), expected, running.read_state(), found) is None


def test_nothing_is_fetched_before_it_is_wanted(emulated_gpus):
    auction, _ = build("fixed", "default", "default", agents=5)
    plan = RecordPlan.of(auction, "last")
    running = CudaEngine(auction, plan)
    rows = plan.allocate(auction, 6)
    rows["last"][:] = -77
    for step in range(6):
        running.run(1, {"last": rows["last"][step : step + 1]})
    (gpu,) = emulated_gpus
    assert launch_steps(gpu) == [(step, 1) for step in range(6)]
    assert not gpu.fetching
    assert (rows["last"] == -77).all()
    running.wait()
    assert (rows["last"] != -77).all()


def test_a_full_half_is_fetched_while_the_other_fills(emulated_gpus, few_rows):
    auction, _ = build("fixed", "default", "default", agents=5)
    plan = RecordPlan.of(auction, "last")
    running = CudaEngine(auction, plan)
    rows = plan.allocate(auction, 7)
    rows["last"][:] = -77
    running.run(7, rows)
    assert launch_steps(emulated_gpus[0]) == [(0, 2), (2, 2), (4, 2), (6, 1)]
    filled = (rows["last"] != -77).all(axis=1).tolist()
    assert filled == [True] * 4 + [False] * 3
    running.wait()
    assert (rows["last"] != -77).all()


@pytest.mark.parametrize("steps", [1, 7])
def test_rows_of_several_devices_come_beside_each_other(
    emulated_gpus, few_rows, monkeypatch, steps
):
    auction, _ = build("fixed", "default", "default", agents=5)
    plan = RecordPlan.of(auction, "last")
    running = OnTwoDevices(auction, plan)
    both = threading.Barrier(len(emulated_gpus), timeout=30)
    finish = EmulatedGpu.finish_fetch

    def finish_together(gpu, event):
        both.wait()
        assert all(each.fetching for each in emulated_gpus), "all copies are on their way"
        both.wait()
        finish(gpu, event)

    monkeypatch.setattr(EmulatedGpu, "finish_fetch", finish_together)
    rows = plan.allocate(auction, steps)
    running.run(steps, rows)
    running.wait()
    whole = ReferenceEngine(auction, plan)
    expected = plan.allocate(auction, steps)
    whole.run(steps, expected)
    np.testing.assert_array_equal(rows["last"], expected["last"])


def test_few_rows_are_brought_by_the_thread_that_wants_them(emulated_gpus, delivery, monkeypatch):
    auction, _ = build("fixed", "default", "default", agents=5)
    plan = everything(auction)
    running = CudaEngine(auction, plan)
    finish, finishing = EmulatedGpu.finish_fetch, set()

    def finish_noting_where(gpu, event):
        finishing.add(threading.current_thread())
        finish(gpu, event)

    monkeypatch.setattr(EmulatedGpu, "finish_fetch", finish_noting_where)
    for _ in range(3):
        running.run(1, plan.allocate(auction, 1))
    running.wait()
    assert finishing
    assert (threading.current_thread() in finishing) == (delivery == "here")


def test_single_steps_have_room_for_a_piece_of_rows():
    assert row_module.choose_capacity(2 * 4096 * 8, wanted=1) == 64
    assert row_module.choose_capacity(8, wanted=1) == row_module.MOST_ROWS
    assert row_module.choose_capacity(1 << 20, wanted=1) == 16
    assert row_module.choose_capacity(1 << 40, wanted=1) == 1
    assert row_module.choose_capacity(2 * 4096 * 8, wanted=65) == 128
    assert row_module.choose_capacity(2 * 4096 * 8, wanted=1, free=1 << 20) == 2


def test_memory_for_rows_is_made_anew_only_for_more_than_it_holds(emulated_gpus, monkeypatch):
    monkeypatch.setattr(row_module, "PIECE_BYTES", 1)
    auction, _ = build("fixed", "default", "default", agents=5)
    plan = RecordPlan.of(auction, "last")
    running, whole = CudaEngine(auction, plan), ReferenceEngine(auction, plan)
    (part,), made = running._parts, []
    for steps in (1, 2, 16, 17, 20):
        found, expected = (plan.allocate(auction, steps) for _ in range(2))
        running.run(steps, found)
        whole.run(steps, expected)
        made.append(part.rows)
        running.wait()
        np.testing.assert_array_equal(found["last"], expected["last"])
    assert made[0] is made[1] is made[2] is not made[3]
    assert made[3] is made[4]


@pytest.mark.usefixtures("few_rows", "delivery")
def test_rows_survive_an_interrupted_delivery(emulated_gpus, monkeypatch):
    auction, _ = build("fixed", "default", "default", agents=5)
    plan = RecordPlan.of(auction, "last")
    running = CudaEngine(auction, plan)
    rows = plan.allocate(auction, 8)
    running.run(3, {"last": rows["last"][:3]})

    def interrupt(event):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(emulated_gpus[0], "finish_fetch", interrupt)
        with pytest.raises(KeyboardInterrupt):
            running.wait()
    emulated_gpus[0].fetching.clear()
    running.run(5, {"last": rows["last"][3:]})
    state = running.read_state()
    whole = ReferenceEngine(auction, plan)
    expected = plan.allocate(auction, 8)
    whole.run(8, expected)
    assert find_difference(whole.read_state(), expected, state, rows) is None


def test_a_plan_that_records_may_run_without_rows(cuda):
    auction, _ = build("fixed", "default", "all")
    running = cuda(auction, everything(auction))
    running.run(5, {})
    whole = ReferenceEngine(auction, NO_ROWS)
    whole.run(5, {})
    assert running.read_state().digest() == whole.read_state().digest()


INT32_MAX = 2**31 - 1


def test_lots_are_narrow_as_long_as_no_side_can_pass_their_bound(emulated_gpus):
    # 4 agents send at most 10 lots each: after 3 steps at most 120 more than at first.
    auction = CallAuction.of(2, agents=4, levels=8, max_qty=10, open_depth=INT32_MAX - 120)
    running = CudaEngine(auction, NO_ROWS)
    running.run(3, {})
    running.run(1, {})
    wide = [key.wide_lots for _, key, _ in emulated_gpus[0].launches]
    assert wide == [False, True]
    whole = ReferenceEngine(auction, NO_ROWS)
    whole.run(4, {})
    assert running.read_state().digest() == whole.read_state().digest()


def test_lots_are_wide_from_the_start_where_they_must_be(emulated_gpus):
    auction = CallAuction.of(2, agents=4, levels=8, max_qty=10, open_depth=[8, INT32_MAX - 39])
    assert_engines_agree(auction, 1, NO_ROWS, ("reference", CudaEngine))
    assert [key.wide_lots for _, key, _ in emulated_gpus[0].launches] == [True]


def test_lots_fit_the_state_that_is_written(emulated_gpus):
    auction = CallAuction.of(2, agents=4, levels=8, max_qty=10)
    state = opening_state(auction)
    state.bid[0, 0] = 2**40
    running = CudaEngine(auction, NO_ROWS)
    running.run(1, {})
    running.write_state(state)
    running.run(2, {})
    running.write_state(opening_state(auction))
    running.run(3, {})
    whole = ReferenceEngine(auction, NO_ROWS)
    whole.run(3, {})
    assert running.read_state().digest() == whole.read_state().digest()
    assert [key.wide_lots for _, key, _ in emulated_gpus[0].launches] == [False, True, False]


def test_the_paper_can_draw_an_order_one_lot_larger(emulated_gpus):
    given = {"agents": 4, "levels": 8, "max_qty": 10, "open_depth": INT32_MAX - 40}
    for stream in ("default", "paper"):
        CudaEngine(CallAuction.of(1, **given, stream=stream), NO_ROWS).run(1, {})
    assert [gpu.launches[0][1].wide_lots for gpu in emulated_gpus] == [False, True]


def test_engine_continues_from_a_state_and_leaves_it_alone(cuda):
    auction, _ = build("following", "default", "runaway")
    whole = ReferenceEngine(auction, NO_ROWS)
    whole.run(30, {})
    given_state = whole.read_state()
    before = given_state.digest()
    running = cuda(auction, NO_ROWS)
    running.run(2, {})
    running.write_state(given_state)
    read = running.read_state()
    running.run(10, {})
    assert given_state.digest() == read.digest() == before
    whole.run(10, {})
    assert running.read_state().digest() == whole.read_state().digest()


def test_a_crossed_level_is_refused(cuda):
    auction, _ = build("fixed", "default", "all")
    running = cuda(auction, NO_ROWS)
    state = opening_state(auction)
    state.bid[2, 5], state.ask[2, 5] = 3, 4
    with pytest.raises(EngineError, match=r"level 5 of market 2 holds 3 lots to buy and 4 to sell"):
        running.write_state(state)


@pytest.mark.parametrize(
    "devices, numbers", [(None, [0]), (1, [1]), ([1, 0], [1, 0]), ("all", [0, 1]), ((0,), [0])]
)
def test_markets_go_to_the_devices_that_were_asked_for(emulated_gpus, devices, numbers):
    auction = CallAuction.of(5, agents=3, levels=8)
    running = CudaEngine(auction, NO_ROWS, devices=devices)
    running.run(1, {})
    assert [gpu.ordinal for gpu in emulated_gpus] == numbers
    counts = [int(gpu.launches[0][2][6]) for gpu in emulated_gpus]
    assert counts == ([5] if len(numbers) == 1 else [2, 3])


def test_no_device_is_left_without_a_market(emulated_gpus):
    CudaEngine(CallAuction.of(1, agents=3, levels=8), NO_ROWS, devices="all")
    assert len(emulated_gpus) == 1


@pytest.mark.parametrize(
    "given, message",
    [
        ({"devices": 2}, r"devices: 2 is outside 0 \.\. 1"),
        ({"devices": [0, -1]}, r"devices: -1 is outside 0 \.\. 1"),
        ({"devices": [0, 0]}, r"devices: \[0, 0\] names a device twice"),
        ({"devices": []}, r"devices must be the numbers of GPUs"),
        ({"devices": "both"}, r"devices must be the numbers of GPUs, as \[0, 1\], or 'all', not"),
        ({"devices": 0.5}, r"devices must be the numbers of GPUs"),
        ({"devices": "all", "cuda_stream": object()}, r"cuda_stream belongs to one device, not to"),
    ],
)
def test_wrong_devices_are_refused(emulated_gpus, given, message):
    with pytest.raises(ParameterError, match=message):
        CudaEngine(CallAuction.of(4, agents=3, levels=8), NO_ROWS, **given)
    assert not emulated_gpus


def test_too_little_memory_is_refused_before_it_is_taken(emulated_gpus, monkeypatch):
    monkeypatch.setattr(EmulatedGpu, "free", 10**6)
    message = r"this run would take 0\.00\d+ GB on GPU 0, which has 0\.001 GB left: lower markets"
    with pytest.raises(EngineError, match=message):
        CudaEngine(CallAuction.of(1000, agents=3, levels=512), NO_ROWS)
    assert not emulated_gpus[0].blocks


@pytest.fixture
def chosen_by_auto(emulated_gpus, monkeypatch):
    monkeypatch.setattr(registry, "unavailable_reason", lambda: None)
    registry._say_once.cache_clear()
    yield
    registry._say_once.cache_clear()


def test_auto_falls_back_where_the_gpu_has_too_little_memory(chosen_by_auto, monkeypatch, caplog):
    given = {"markets": 50, "agents": 3, "levels": 512, "steps": 2}
    assert Simulation(**given).engine == "cuda"
    monkeypatch.setattr(EmulatedGpu, "free", 10**3)
    simulations = [Simulation(**given) for _ in range(3)]
    assert {simulation.engine for simulation in simulations} == {"cpu"}
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith("engine 'cuda' is not used: this run would take ")
    whole = Simulation(**given, engine="reference")
    assert simulations[0].run().digest() == whole.run().digest()


@pytest.mark.parametrize("asked", [{"engine": "cuda"}, {"devices": 0}, {"devices": "all"}])
def test_who_asks_for_the_gpu_is_told_of_too_little_memory(chosen_by_auto, monkeypatch, asked):
    monkeypatch.setattr(EmulatedGpu, "free", 10**3)
    with pytest.raises(EngineError, match="this run would take "):
        Simulation(50, 3, 512, steps=2, **asked)


def test_an_error_of_another_engine_is_no_reason_to_fall_back(monkeypatch):
    monkeypatch.setattr(registry, "unavailable_reason", lambda: "no reason")

    def fail(self, auction, plan, threads=None):
        raise EngineError("out of order")

    monkeypatch.setattr(CpuEngine, "__init__", fail)
    with pytest.raises(EngineError, match="out of order"):
        Simulation(2)


def test_all_memory_is_given_back(emulated_gpus):
    auction, _ = build("following", "paper", "given")
    running = CudaEngine(auction, everything(auction))
    rows = everything(auction).allocate(auction, 3)
    running.run(3, rows)
    running.wait()
    assert emulated_gpus[0].blocks
    del running
    assert not emulated_gpus[0].blocks


@pytest.mark.parametrize(
    "given, record",
    [
        ({}, ()),
        ({}, ("last", "volume")),
        ({"mix": None, "agent_types": np.zeros((9, 70), int)}, "last"),
        ({"noise_spread": 40, "levels": 9000}, ()),
    ],
)
def test_memory_is_told_to_the_byte_and_asked_for_before(cuda, emulated_gpus, given, record):
    auction = CallAuction.of(9, **{"agents": 70, "levels": 24, **given})
    plan = RecordPlan.of(auction, record)
    running = cuda(auction, plan)
    running.run(2, plan.allocate(auction, 2))
    assert running.device_nbytes == sum(gpu.held_nbytes for gpu in emulated_gpus)
    key = emulated_gpus[0].launches[0][1]
    for part in running._parts:
        assert part.gpu.held_nbytes == part_nbytes(
            key, part.slice, plan, EmulatedGpu.multiprocessors
        )


def test_memory_that_was_given_back_still_counts(emulated_gpus):
    auction = CallAuction.of(2, agents=4, levels=8, max_qty=10, open_depth=INT32_MAX - 120)
    running = CudaEngine(auction, NO_ROWS)
    running.run(3, {})
    narrow = emulated_gpus[0].held_nbytes
    running.run(1, {})
    assert emulated_gpus[0].held_nbytes == narrow + 2 * 8 * 4
    assert running.device_nbytes == narrow + 2 * 8 * 8, "both books are there for a moment"


@pytest.mark.parametrize("open_depth", [8, 2**40])
def test_arrays_on_the_device_are_the_state(cuda, emulated_gpus, open_depth):
    auction, _ = build("following", "default", "runaway", open_price=-5, open_depth=open_depth)
    running = cuda(auction, NO_ROWS)
    running.run(30, {})
    found = {name: [] for name in running.device_arrays()}
    for part in range(len(emulated_gpus)):
        for name, array in running.device_arrays(part).items():
            interface = array.__cuda_array_interface__
            assert (interface["shape"], interface["typestr"]) == (array.shape, array.dtype.str)
            assert interface["strides"] is None
            found[name].append(array_at(interface["data"][0], array.dtype, *array.shape).copy())
    found = {name: np.concatenate(parts) for name, parts in found.items()}
    state = running.read_state()
    np.testing.assert_array_equal(found.pop("book"), state.bid - state.ask)
    np.testing.assert_array_equal(found.pop("last_price"), state.last)
    best_bid, best_ask = found.pop("best_bid_level"), found.pop("best_ask_level")
    for market in range(auction.markets):
        assert best_bid[market] == max(np.flatnonzero(state.bid[market]), default=-1)
        assert best_ask[market] == min(np.flatnonzero(state.ask[market]), default=auction.levels)
    for name, array in found.items():
        np.testing.assert_array_equal(array, getattr(state, name), err_msg=name)
        assert array.dtype == np.int64
    with pytest.raises(ParameterError, match=r"part = 5 is outside 0 \.\. [01]"):
        running.device_arrays(5)


def views_of(engine, parts):
    """Return what NumPy makes of the arrays on the devices, without a copy."""
    found = []
    for part in range(parts):
        interfaces = {n: a.__cuda_array_interface__ for n, a in engine.device_arrays(part).items()}
        found.append(
            {n: array_at(i["data"][0], i["typestr"], *i["shape"]) for n, i in interfaces.items()}
        )
    return found


def test_markets_are_set_back_by_writing_into_the_arrays(cuda, emulated_gpus):
    auction, _ = build("following", "default", "runaway")
    running, whole = cuda(auction, NO_ROWS), ReferenceEngine(auction, NO_ROWS)
    parts = len(emulated_gpus)
    opening = [{n: a.copy() for n, a in own.items()} for own in views_of(running, parts)]
    for engine in (running, whole):
        engine.run(20, {})
    for own, before in zip(views_of(running, parts), opening, strict=True):
        for name, array in own.items():
            array.setflags(write=True)
            array[1::2] = before[name][1::2]
    state, first = whole.read_state(), opening_state(auction)
    odd = [m for part in np.array_split(range(4), parts) for m in part[1::2]]
    for name, array in state.arrays().items():
        array[odd] = getattr(first, name)[odd]
    whole.write_state(state)
    for engine in (running, whole):
        engine.run(20, {})
    assert running.read_state().digest() == whole.read_state().digest()


def test_series_and_books_of_a_plan_are_all_recordable(emulated_gpus):
    auction, _ = build("fixed", "default", "all")
    for name in SERIES:
        plan = RecordPlan.of(auction, name, every=2)
        assert_engines_agree(auction, 5, plan, ("reference", CudaEngine, OnTwoDevices))
