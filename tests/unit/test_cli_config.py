"""The file of --config."""

import numpy as np
import pytest

from bookwarp.cli.config import read_config
from bookwarp.cli.request import build_simulation
from bookwarp.spec.agents import draw_agent_types
from bookwarp.spec.errors import ParameterError

WHOLE = """
markets = 3
agents = 10
levels = 16
steps = 20
seed = [1, 2, 18446744073709551615]
open_price = 8
noise_spread = [1, 2, 3]
market_order_prob = 0.25
stream = "paper"
record = ["last", "book"]
record_every = 5
book_markets = "0:2"
engine = "reference"
memory_limit = "1GB"

[mix]
noise = "rest"
maker = [0.1, 0.2, 0.3]
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "run.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_every_kind_of_value_can_stand_in_a_file(write):
    simulation = build_simulation(write(WHOLE), {})
    auction = simulation.auction
    assert (auction.markets, auction.agents, auction.levels, simulation.steps) == (3, 10, 16, 20)
    assert auction.seed.tolist() == [1, 2, 2**64 - 1]
    assert auction.noise_spread.tolist() == [1, 2, 3]
    assert auction.market_order_prob == 0.25
    assert auction.stream.name == "PAPER"
    assert auction.mix["maker"].tolist() == [0.1, 0.2, 0.3]
    assert auction.mix["noise"].tolist() == [0.9, 0.8, 0.7]
    assert simulation.plan.names == ("last", "book")
    assert simulation.plan.every == 5
    assert simulation.plan.book_markets.tolist() == [0, 1]
    assert simulation.engine == "reference"


@pytest.mark.parametrize(
    "text, codes",
    [('"share"', 2), ('["twap", "share"]', [0, 2]), ('"twap,profile"', [0, 1]), ("[1, 2]", [1, 2])],
)
def test_a_parent_order_can_stand_in_a_file(write, text, codes):
    rest = 'markets = 2\nparent_qty = [5, 0]\nengine = "reference"\nvolume_profile = [3, 0, 1]\n'
    auction = build_simulation(write(f"{rest}schedule = {text}"), {}).auction
    assert np.asarray(auction.schedule).tolist() == codes
    assert auction.parent_qty.tolist() == [5, 0]
    assert auction.volume_profile.tolist() == [3, 0, 1]


def test_options_win_over_the_file(write):
    given = {"markets": "2", "seed": "9", "noise_spread": "4", "mix": "noise=1", "agents": None}
    auction = build_simulation(write(WHOLE), given).auction
    assert (auction.markets, auction.agents, auction.seed, auction.noise_spread) == (2, 10, 9, 4)
    assert auction.mix == {"noise": 1.0, "momentum": 0.0, "maker": 0.0, "fundamental": 0.0}


def test_agent_types_are_looked_for_beside_the_file(write, tmp_path, monkeypatch):
    types = draw_agent_types(2, 10, seed=3)
    np.save(tmp_path / "types.npy", types)
    path = write('markets = 2\nagents = 10\nagent_types = "types.npy"\nengine = "reference"\n')
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(build_simulation(path, {}).auction.agent_types, types)


def test_agent_types_are_drawn_with_the_mix_and_the_seed_of_the_run(write):
    size = 'markets = 2\nagents = 10\nseed = 3\nengine = "reference"\n'
    path = write(f"{size}[mix]\nnoise = 0.5\nmaker = 0.5\n")
    drawn = build_simulation(path, {"agent_types": "drawn"}).auction
    wanted = draw_agent_types(2, 10, {"noise": 0.5, "maker": 0.5}, seed=3)
    np.testing.assert_array_equal(drawn.agent_types, wanted)
    assert drawn.mix is None


@pytest.mark.parametrize(
    "text, said",
    [
        ("agnts = 5", "run.toml: unknown key 'agnts': did you mean 'agents'?"),
        ("out = 'run.zarr'", "run.toml: unknown key 'out'"),
        ("agents = ", "run.toml is not TOML: "),
        ("agents = 5\nagents = 6", "run.toml is not TOML: "),
        (b"agents = 5 # \xff", "run.toml is not TOML: "),
        ("mix = 0.5", r"run.toml: mix must be a table of shares, \[mix\]"),
        ("[agents]\nx = 1", "run.toml: agents must be a value, not a table"),
        ("stream = 1", "run.toml: stream must be text, not 1"),
        ("engine = ['cpu']", r"run.toml: engine must be text, not \['cpu'\]"),
        ("record = 5", r"run.toml: record must be a list of names, not \[5\]"),
        ("record = ['last', 1]", "run.toml: record must be a list of names"),
        ("book_markets = [[0], [1, 2]]", "run.toml: book_markets must be a list of integers"),
        ("book_markets = '0:'", "run.toml: book_markets must be an integer, not ''"),
        ("seed = [true, 1]", "run.toml: seed must hold numbers"),
        ("volume_profile = '1,a'", "run.toml: volume_profile must be an integer, not 'a'"),
        ("memory_limit = 'much'", "run.toml: memory_limit must be a number of bytes"),
    ],
)
def test_file_that_says_nothing_sensible_is_refused_by_its_name_and_key(write, text, said):
    with pytest.raises(ParameterError, match=said):
        read_config(write(text))


@pytest.mark.parametrize(
    "text, said",
    [
        ("agents = 0", r"agents = 0 is outside 1 .. 1073741824 \(agents: from config .*run.toml\)"),
        ("agents = '256'", r"agents must be an integer, not '256' \(agents: from config"),
        ("seed = 1.5", r"seed must be an integer, not 1.5 \(seed: from config"),
        ("seed = 2026-01-01", r"seed must be an integer, not .* \(seed: from config"),
        ("threads = true", r"threads must be an integer, not True \(threads: from config"),
        ("stream = 'papers'", r"did you mean 'paper'\? \(stream: from config"),
        ("schedule = 'vwap'", r"schedule 'vwap': did you mean 'twap'\? \(schedule: from config"),
        ("schedule = 3", r"schedule = 3 is outside 0 .. 2 \(schedule: from config"),
        ("volume_profile = [1.5]", r"list of integers, not \[1.5\] \(volume_profile: from config"),
        ("parent_side = 0", r"parent_side = 0 is neither 1 nor -1 \(parent_side: from config"),
        ("seed = [1, 2]", r"seed has shape .* \(markets, seed: from config|seed: from config"),
        ("[mix]\nnoise = 0.5", r"mix must sum to 1, .* = 0.5 \(mix: from config"),
        ("[mix]\nnosie = 1", r"did you mean 'noise'\? \(mix: from config"),
        ("agent_types = 'no.npy'", r"cannot be read: .* \(agent_types: from config"),
    ],
)
def test_value_outside_its_domain_is_traced_to_the_file(write, text, said):
    with pytest.raises(ParameterError, match=said):
        build_simulation(write(text), {})


def test_wrong_option_is_not_blamed_on_the_file(write):
    with pytest.raises(ParameterError) as refused:
        build_simulation(write("agents = 5"), {"agents": "0"})
    assert str(refused.value) == "agents = 0 is outside 1 .. 1073741824"


def test_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"none.toml cannot be read: No such file"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ParameterError, match="cannot be read: Is a directory"):
        read_config(tmp_path)
