"""What made a run, as a document and arrays, and back."""

import json

import numpy as np
import pytest

from bookwarp.results.provenance import (
    FORMAT,
    describe,
    made_now,
    parse_document,
    rebuild,
)
from bookwarp.spec.errors import StoreError
from bookwarp.spec.market import CallAuction
from bookwarp.spec.record import RecordPlan


def described(run):
    document, arrays = describe(run.auction, run.plan, run.engine, run.elapsed_s, run.made_by)
    return json.loads(json.dumps(document)), arrays


def test_ensemble_comes_back_from_json_and_arrays_exactly(run, same_auction):
    auction, plan = rebuild(*described(run), "a file")
    same_auction(auction, run.auction)
    assert plan.names == run.plan.names
    for name in ("every", "depth_ticks"):
        assert getattr(plan, name) == getattr(run.plan, name)
    for name in ("book_markets", "tape_markets", "tape_steps"):
        np.testing.assert_array_equal(getattr(plan, name), getattr(run.plan, name))


def test_arrays_are_those_that_differ_by_market(varied):
    document, arrays = described(varied)
    assert set(arrays) == {
        *("seed", "open_price", "open_depth", "max_qty", "noise_spread", "market_order_prob"),
        *("maker_half_spread", "mix_noise", "mix_momentum", "market_ids"),
        *("book_markets", "tape_markets", "tape_steps"),
    }
    assert document["arrays"] == sorted(arrays)
    assert arrays["seed"] is varied.auction.seed, "described, not copied"


def test_market_ids_are_left_out_when_they_only_count(plain):
    assert described(plain)[1] == {}


def test_ensemble_of_some_markets_comes_back(varied, same_auction):
    part = varied.auction.subset(np.array([1, 4]))
    document, arrays = describe(part, RecordPlan(), "cpu", 0.0, made_now())
    same_auction(rebuild(json.loads(json.dumps(document)), arrays, "a file")[0], part)


@pytest.mark.parametrize("share", [0.1, 0.29, 1 / 3, 0.7 - 2**-54])
def test_shares_come_back_with_the_same_counts_of_agents(share):
    auction = CallAuction.of(3, agents=1000, mix={"noise": "rest", "maker": share})
    document, arrays = describe(auction, RecordPlan(), "cpu", 0.0, made_now())
    found, _ = rebuild(json.loads(json.dumps(document)), arrays, "a file")
    assert found.mix == auction.mix
    np.testing.assert_array_equal(found.type_counts(), auction.type_counts())


def test_versions_and_time_are_named():
    made = made_now()
    assert set(made) == {"bookwarp", "numpy", "numba", "python", "created"}
    assert made["numpy"] == np.__version__
    assert made["created"].endswith("+00:00")


def test_missing_array_is_an_error_and_no_default(varied):
    document, arrays = described(varied)
    del arrays["seed"]
    with pytest.raises(StoreError, match=r"a file is damaged.*seed"):
        rebuild(document, arrays, "a file")


@pytest.mark.parametrize(
    "change",
    [{"levels": 1}, {"markets": 5}, {"leverage": 2}, {"stream": "other"}, {"mix_noise": "many"}],
)
def test_description_of_no_ensemble_is_refused(varied, change):
    document, arrays = described(varied)
    document["auction"] |= change
    document["arrays"] = [name for name in document["arrays"] if name not in change]
    with pytest.raises(StoreError, match="a file is damaged"):
        rebuild(document, arrays, "a file")


def test_newer_format_asks_for_an_upgrade():
    assert parse_document(f'{{"format": {FORMAT}}}', "a file") == {"format": FORMAT}
    with pytest.raises(StoreError, match=rf"a file .*format {FORMAT + 1}.*upgrade"):
        parse_document(f'{{"format": {FORMAT + 1}}}', "a file")


def test_first_format_knows_no_waiting_and_no_parent_orders(varied, same_auction):
    document, arrays = described(varied)
    later = ("clearing_interval", "parent_qty", "parent_side", "parent_start", "parent_horizon")
    for name in (*later, "schedule", "volume_share"):
        del document["auction"][name]
    written = parse_document(json.dumps(document | {"format": 1}), "a file")
    same_auction(rebuild(written, arrays, "a file")[0], varied.auction)


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "[]", "null", '{"format": null}', '{"format": 0}', '{"format": "1"}']
)
def test_document_without_a_format_is_damaged(text):
    with pytest.raises(StoreError, match="a file is damaged"):
        parse_document(text, "a file")
