"""What is written on the command line, as values of parameters."""

import numpy as np
import pytest

from bookwarp.cli import values
from bookwarp.spec.errors import ParameterError


@pytest.mark.parametrize(
    "name, text, value",
    [
        ("agents", "256", 256),
        ("open_price", "-5", -5),
        ("seed", "18446744073709551615", 2**64 - 1),
        ("seed", "1,18446744073709551615", [1, 2**64 - 1]),
        ("market_order_prob", ".1", 0.1),
        ("market_order_prob", "0,1e-3", [0.0, 0.001]),
    ],
)
def test_parameter_is_one_number_or_one_per_market(name, text, value):
    assert values.parse_parameter(name, text) == value


def test_name_is_one_or_one_per_market():
    assert values.parse_name_or_names("schedule", "share") == "share"
    assert values.parse_name_or_names("schedule", "twap, share") == ("twap", "share")


def test_integers_are_those_between_commas():
    assert values.parse_integers("volume_profile", "3,0,10") == [3, 0, 10]
    with pytest.raises(ParameterError, match="volume_profile must be an integer, not '0:10'"):
        values.parse_integers("volume_profile", "0:10")


@pytest.mark.parametrize("text", ["", "x", "1.5", "1,", ",1", "1;2", "0x10", "1" * 5000])
def test_parameter_that_is_no_integer_is_refused_by_name(text):
    with pytest.raises(ParameterError, match="noise_spread must be an integer, not '") as refused:
        values.parse_parameter("noise_spread", text)
    assert len(str(refused.value)) < 150


def test_parameter_that_is_no_number_is_refused_by_name():
    with pytest.raises(ParameterError, match="market_order_prob must be a number, not 'p'"):
        values.parse_parameter("market_order_prob", "p")


@pytest.mark.parametrize(
    "text, shares",
    [
        ("noise=.7,momentum=.15,maker=.15", {"noise": 0.7, "momentum": 0.15, "maker": 0.15}),
        ("noise=1", {"noise": 1.0}),
        (" noise = rest , maker = .3 ", {"noise": "rest", "maker": 0.3}),
        ("maker=.1,.2,noise=rest", {"maker": [0.1, 0.2], "noise": "rest"}),
    ],
)
def test_mix_is_shares_by_name(text, shares):
    assert values.parse_mix("mix", text) == shares


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "mix must be shares as in"),
        (".7,.3", "mix must be shares as in"),
        ("noise", "mix must be shares as in"),
        ("noise=", "mix.noise must be a number, not ''"),
        ("noise=a", "mix.noise must be a number, not 'a'"),
        ("noise=.5,noise=.5", "mix: noise is given twice"),
    ],
)
def test_mix_without_shares_is_refused(text, said):
    with pytest.raises(ParameterError, match=said):
        values.parse_mix("mix", text)


def test_names_are_separated_by_commas_and_none_is_no_name():
    assert values.parse_names("record", "last, volume") == ("last", "volume")
    assert values.parse_names("record", "none") == ()


@pytest.mark.parametrize(
    "text, indices",
    [("3", [3]), ("0,1,2", [0, 1, 2]), ("0:4", [0, 1, 2, 3]), ("7,0:2", [7, 0, 1])],
)
def test_indices_are_numbers_and_half_open_ranges(text, indices):
    parsed = values.parse_indices("tape_steps", text)
    assert parsed.dtype == np.int64
    assert parsed.tolist() == indices


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "tape_steps must be an integer, not ''"),
        ("a", "tape_steps must be an integer, not 'a'"),
        ("0:a", "tape_steps must be an integer, not 'a'"),
        (":3", "tape_steps must be an integer, not ''"),
        ("5:5", "tape_steps: '5:5' is an empty range"),
        ("5:2", "tape_steps: '5:2' is an empty range"),
        ("0:20000000000000000000000", "is more than 10000000 values"),
        ("0:10000001", "is more than 10000000 values"),
        ("9223372036854775808", "does not fit in 64 bits"),
    ],
)
def test_indices_that_are_none_or_too_many_are_refused(text, said):
    with pytest.raises(ParameterError, match=said):
        values.parse_indices("tape_steps", text)


@pytest.mark.parametrize(
    "text, count",
    [
        ("1000", 1000),
        ("2GB", 2_000_000_000),
        ("2 GB", 2_000_000_000),
        ("2gb", 2_000_000_000),
        ("1.5kB", 1500),
        ("1GiB", 2**30),
        ("3b", 3),
        ("1tib", 2**40),
    ],
)
def test_bytes_have_units(text, count):
    assert values.parse_bytes("memory_limit", text) == count


@pytest.mark.parametrize("text", ["", "GB", "2 G", "two GB", "-1GB", "1e9", "nan", "2GBs"])
def test_bytes_in_no_known_unit_are_refused(text):
    with pytest.raises(ParameterError, match="memory_limit must be a number of bytes"):
        values.parse_bytes("memory_limit", text)


@pytest.mark.parametrize("text, devices", [("all", "all"), ("0", [0]), ("1, 0", [1, 0])])
def test_devices_are_numbers_or_all(text, devices):
    assert values.parse_devices("devices", text) == devices


@pytest.mark.parametrize("text", ["", "0,", "both", "0:2", "0.5"])
def test_devices_that_are_neither_are_refused(text):
    with pytest.raises(ParameterError, match="devices must be an integer, not '"):
        values.parse_devices("devices", text)
