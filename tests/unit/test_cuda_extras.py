"""What only some ensembles have on a GPU: lots that wait, and the orders of execution agents."""

import numpy as np
import pytest
from emulated_gpu import array_at
from emulated_gpu import emulated_gpus as emulated_gpus

from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.engines.cuda.kernel_key import (
    Arrangement,
    GpuShape,
    arrangements,
    bound_orders,
    choose_key,
)
from bookwarp.engines.cuda.layout import (
    EXECUTION_SCALARS,
    MARKET,
    PARENT,
    lay_out_book,
    lay_out_parameters,
    lay_out_parents,
    lay_out_profile,
    lay_out_scalars,
    read_out_state,
)
from bookwarp.engines.cuda.part import part_nbytes
from bookwarp.reference.engine import ReferenceEngine
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan
from bookwarp.spec.runs import Runs

NO_ROWS = RecordPlan()
WAITS = {"clearing_interval": [1, 3, 5]}
EXECUTES = {"parent_qty": [0, 7, 90], "parent_horizon": 20, "schedule": "share"}


def small(**given):
    return CallAuction.of(3, agents=5, **{"levels": 16, **given})


def state_after(auction, steps):
    running = ReferenceEngine(auction, NO_ROWS)
    running.run(steps, {})
    return running.read_state()


def orders_of(auction):
    return bound_orders(auction, auction.type_counts())


def key_of(auction, multiprocessors=0.01, wide_lots=False):
    orders, shape = orders_of(auction), GpuShape(multiprocessors, 32)
    return choose_key(auction, orders, wide_lots=wide_lots, recording=False, shape=shape)


def test_a_kernel_has_what_some_market_needs():
    for given, needs in (
        ({}, (False, False)),
        ({"clearing_interval": 1, "parent_qty": 0}, (False, False)),
        ({"clearing_interval": [1, 1, 2]}, (True, False)),
        ({"parent_qty": [0, 0, 1]}, (False, True)),
        ({**WAITS, **EXECUTES}, (True, True)),
    ):
        key = key_of(small(**given))
        assert (key.waits, key.executes) == needs
        assert (key.macros()["WAITS"], key.macros()["EXECUTES"]) == needs
        assert key.kernel == "counted"


def test_neither_changes_how_markets_may_be_put_on_warps():
    plain, both = small(), small(**WAITS, **EXECUTES)
    possible = arrangements(orders_of(both))
    assert possible == arrangements(orders_of(plain))
    assert Arrangement(4, False) in possible


def test_registers_are_kept_free_for_fewer_blocks_where_more_is_held():
    assert [key_of(small(**each)).blocks_per_sm for each in ({}, WAITS, EXECUTES)] == [32, 24, 24]
    assert [key_of(small(**each), wide_lots=True).blocks_per_sm for each in ({}, WAITS)] == [16, 16]


def test_parents_and_intervals_are_laid_out_by_market():
    auction = small(
        clearing_interval=[1, 2, 2**31 - 1],
        parent_qty=[0, 5, 2**31 - 1],
        parent_side=[1, -1, 1],
        parent_start=[0, 7, 2**31 - 1],
        parent_horizon=[1, 9, 2**31 - 1],
        schedule=["twap", "profile", "share"],
        volume_profile=[3, 0, 2**31 - 4],
        volume_share=[0, 0.5, 1],
    )
    markets = lay_out_parameters(auction, auction.type_counts())
    assert markets["clearing_interval"].tolist() == [1, 2, 2**31 - 1]
    parents = lay_out_parents(auction)
    assert parents.tolist() == [
        (0, 0, 1, 0, 1, 0, 0),
        (2**31, 5, -1, 7, 9, 1, 0),
        (2**32, 2**31 - 1, 1, 2**31 - 1, 2**31 - 1, 2, 0),
    ]
    profile = lay_out_profile(auction)
    assert (profile.dtype, profile.tolist()) == (np.uint32, [3, 0, 3, 3, 2**31 - 1])
    assert lay_out_profile(small()).tolist() == [1, 0, 1]
    assert (MARKET.itemsize, PARENT.itemsize) == (80, 32)


@pytest.mark.parametrize("lots", [np.int32, np.int64])
def test_a_state_with_all_there_is_comes_back(lots):
    auction = small(**WAITS, **EXECUTES)
    state = state_after(auction, 7)
    assert state.waiting_buy.any()
    assert state.own_filled.any()
    book, scalars = lay_out_book(state, np.dtype(lots)), lay_out_scalars(state)
    assert scalars.shape == (14, 32)
    waiting = np.stack([state.waiting_buy, state.waiting_sell]).astype(lots)
    halves = [book[:1], book[1:]], [scalars[:, :1], scalars[:, 1:]]
    found = read_out_state(7, *halves, [waiting[:, :1], waiting[:, 1:]])
    assert found.digest() == state.digest()


@pytest.mark.parametrize("given", [WAITS, EXECUTES, {**WAITS, **EXECUTES}])
@pytest.mark.parametrize("devices", [0, "all"])
def test_memory_is_known_before_it_is_taken(emulated_gpus, given, devices):
    auction = small(**given)
    running = CudaEngine(auction, NO_ROWS, devices=devices)
    running.run(4, {})
    key = key_of(auction)
    wanted = [part_nbytes(key, p.slice, NO_ROWS, p.gpu.multiprocessors) for p in running._parts]
    assert wanted == [gpu.peak_nbytes for gpu in emulated_gpus]
    assert running.device_nbytes == sum(wanted)
    if "clearing_interval" in given:
        # What opening took of it is given back; the books of more levels have room for that.
        assert sum(wanted) > sum(gpu.held_nbytes for gpu in emulated_gpus)
    emulated_gpus.clear()
    auction = small(**given, levels=32)
    running = CudaEngine(auction, NO_ROWS, devices=devices)
    held = [gpu.held_nbytes for gpu in emulated_gpus]
    assert running.device_nbytes == sum(held)
    key = key_of(auction)
    wanted = [part_nbytes(key, p.slice, NO_ROWS, p.gpu.multiprocessors) for p in running._parts]
    assert wanted == held


@pytest.mark.parametrize("devices", [0, "all"])
def test_arrays_on_the_device_are_those_of_the_state(emulated_gpus, devices):
    auction = small(**WAITS, **EXECUTES)
    running = CudaEngine(auction, NO_ROWS, devices=devices)
    running.run(7, {})
    expected, seen = state_after(auction, 7).arrays(), 0
    for number, part in enumerate(running._parts):
        arrays = running.device_arrays(number)
        own = slice(part.slice.first, part.slice.stop)
        for name in ("waiting_buy", "waiting_sell", *EXECUTION_SCALARS):
            shown = name.replace("own", "execution")
            pointer, _ = arrays[shown].__cuda_array_interface__["data"]
            found = array_at(pointer, arrays[shown].dtype, *arrays[shown].shape)
            assert found.tolist() == expected[name][own].tolist(), name
            seen += 1
    assert seen == 7 * len(running._parts)
    for places in (Runs.one(0, auction.markets), Runs(3, auction.markets, 2, 5)):
        scalars = {name: np.zeros(places.stop, np.int64) for name in EXECUTION_SCALARS}
        running.send_scalars(scalars, places)()
        own = {name: array[places.array()].tolist() for name, array in scalars.items()}
        assert own == {name: expected[name].tolist() for name in EXECUTION_SCALARS}


def test_arrays_that_an_ensemble_does_not_need_are_not_there(emulated_gpus):
    for given, there in ((WAITS, "waiting_buy"), (EXECUTES, "execution_filled")):
        arrays = CudaEngine(small(**given), NO_ROWS).device_arrays()
        assert there in arrays
        assert ("waiting_sell" in arrays, "execution_cost" in arrays) == (
            given is WAITS,
            given is EXECUTES,
        )
    assert not {"waiting_buy", "execution_filled"} & set(
        CudaEngine(small(), NO_ROWS).device_arrays()
    )


def test_a_parent_order_counts_where_lots_are_bounded(emulated_gpus):
    fits = 2**31 - 1 - 8 - 5 * 4
    for qty, dtype in ((fits, np.int32), (fits + 1, np.int64)):
        running = CudaEngine(small(parent_qty=[0, 1, qty]), NO_ROWS)
        running.run(1, {})
        assert running.device_arrays()["book"].dtype == dtype


def test_lots_that_wait_count_where_lots_are_bounded(emulated_gpus):
    auction = small(clearing_interval=10)
    for qty, dtype in ((2**31 - 1 - 20, np.int32), (2**31 - 20, np.int64)):
        state = state_after(auction, 0)
        state.step = 1
        state.bid[:], state.ask[:] = 0, 0
        state.waiting_sell[2, 4] = qty
        running = CudaEngine(auction, NO_ROWS)
        running.write_state(state)
        running.run(1, {})
        arrays = running.device_arrays()
        assert arrays["book"].dtype == arrays["waiting_sell"].dtype == dtype
        assert running.read_state().waiting_sell[2, 4] >= qty
