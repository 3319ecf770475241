"""Laws of measures, for rows of any integers."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_facts import make_facts_of
from measure_rows import assert_same_sums, reference_sums

import bookwarp as bw
from bookwarp.spec.codes import NO_PRICE

ALL = bw.measures.stylised_facts
CORRELATIONS = ("acf_returns", "acf_abs_returns", "leverage", "coarse_to_fine", "volume_volatility")
MOST = 2**48
"""No price is farther from the first of a run, and no run has 2**14 rows here."""


@st.composite
def recorded_rows(draw):
    """Rows of every series: small numbers, or numbers without a scale."""
    shape = draw(st.tuples(st.integers(1, 64), st.integers(1, 4)))
    most = draw(st.sampled_from([1, 3, 100, 2**15, 2**32, MOST]))
    prices = arrays(np.int64, shape, elements=st.integers(-most, most))
    lots = arrays(np.int64, shape, elements=st.integers(0, most))
    bid, ask = draw(prices), draw(lots)
    rows = {"last": draw(prices), "volume": draw(lots), "best_bid": bid, "best_ask": bid + ask + 1}
    for side in ("best_bid", "best_ask"):
        rows[side] = np.where(draw(arrays(np.bool_, shape)), rows[side], NO_PRICE)
    return rows | {"bid_depth": draw(lots), "ask_depth": draw(lots)}


@given(rows=recorded_rows())
@settings(max_examples=60)
def test_sums_and_facts_are_those_of_the_reference(rows):
    with np.errstate(all="raise"):
        sums, facts = make_facts_of(rows, ALL, "cpu")
        _, expected = make_facts_of(rows, ALL, "reference")
    assert_same_sums(sums, reference_sums(rows), len(rows["last"]))
    for name, values in expected.items():
        assert facts[name].tobytes() == values.tobytes(), name


@given(rows=recorded_rows())
@settings(max_examples=60)
def test_facts_are_where_such_facts_can_be(rows):
    _, facts = make_facts_of(rows, ALL, "cpu")
    for name in CORRELATIONS:
        inside = np.abs(facts[name][~np.isnan(facts[name])])
        assert (inside <= 1).all(), name
    for name in ("price_std", "volume_std", "max_drawdown", "max_drawup", "volatility_fano"):
        assert not (facts[name] < 0).any(), name
    kurtosis, skewness = facts["excess_kurtosis"], facts["return_skewness"]
    varies = facts["return_variance"] > 0
    # K. Pearson: no distribution has a fourth moment below the square of the third, and 1.
    assert (kurtosis + 2 - skewness**2 >= -1e-9 * (1 + skewness**2))[varies].all()
    assert (facts["max_drawdown"] <= facts["price_high"] - facts["price_low"]).all()
    assert (facts["empty_side_share"] >= np.maximum(facts["no_bid_share"], 0)).all()


@given(rows=recorded_rows(), number=st.integers(0, 3))
@settings(max_examples=40)
def test_a_market_has_the_facts_that_it_has_alone(rows, number):
    markets = rows["last"].shape[1]
    market = number % markets
    _, facts = make_facts_of(rows, ALL, "cpu")
    _, alone = make_facts_of({name: array[:, [market]] for name, array in rows.items()}, ALL, "cpu")
    for name, values in alone.items():
        assert facts[name][..., [market]].tobytes() == values.tobytes(), name
