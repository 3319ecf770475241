"""Markets split over several GPUs: the same bits."""

import numpy as np
import pytest
from on_device import REASON, device_tests
from parity_cases import build, everything

from bookwarp.engines.cuda.engine import CudaEngine
from bookwarp.simulation import Simulation
from bookwarp.testing.parity import assert_engines_agree


def count():
    if REASON is not None:
        return 0
    from bookwarp.engines.cuda.gpu import device_count

    return device_count()


pytestmark = [
    *device_tests,
    pytest.mark.skipif(count() < 2, reason="needs two GPUs"),
    pytest.mark.filterwarnings("ignore"),
]

SMALL = {"agents": 40, "levels": 24, "steps": 60, "seed": 5, "window": "following"}


class OnAllDevices(CudaEngine):
    """The engine with its markets split over all GPUs."""

    def __init__(self, auction, plan, threads=None):
        super().__init__(auction, plan, devices="all")


@pytest.mark.parametrize("mix", ["all", "given", "per market"])
@pytest.mark.parametrize("stream", ["default", "paper"])
def test_all_devices_together_agree_with_the_reference(stream, mix):
    auction, steps = build("following", stream, mix)
    assert_engines_agree(auction, steps, everything(auction), ("reference", OnAllDevices))


@pytest.mark.parametrize("devices", [[0], [1], [0, 1], [1, 0], "all"])
@pytest.mark.parametrize("markets", [1, 2, 9])
def test_any_devices_end_in_the_same_digest_and_history(devices, markets):
    simulation = Simulation(markets, **SMALL, engine="cuda", devices=devices)
    for _ in range(6):
        simulation.step(10)
    whole = Simulation(markets, **SMALL, engine="reference").step(60)
    assert simulation.digest() == whole.digest()
    for name, series in whole.history.items():
        np.testing.assert_array_equal(simulation.history[name], series)


def test_every_device_shows_its_markets():
    cupy = pytest.importorskip("cupy")
    simulation = Simulation(9, **SMALL, engine="cuda", devices=[1, 0]).step(60)
    state = simulation.state()
    for part, (device, markets) in enumerate(((1, slice(0, 4)), (0, slice(4, 9)))):
        array = simulation.device_arrays(part)["volume"]
        assert array.__dlpack_device__() == (2, device)
        with cupy.cuda.Device(device):
            np.testing.assert_array_equal(cupy.asarray(array).get(), state.volume[markets])


def test_a_stream_of_another_device_is_refused():
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream(device=1)
    with pytest.raises(ValueError, match="cuda_stream is not a stream of device 0"):
        Simulation(2, engine="cuda", cuda_stream=stream)
    simulation = Simulation(9, **SMALL, engine="cuda", devices=1, cuda_stream=stream).step(60)
    whole = Simulation(9, **SMALL, engine="reference").step(60)
    assert simulation.digest() == whole.digest()


def test_the_current_device_of_the_caller_stays(capsys):
    torch = pytest.importorskip("torch")
    with torch.cuda.device(1):
        Simulation(9, **SMALL, engine="cuda", devices=0).step(60).state()
        assert torch.empty(1, device="cuda").device.index == 1
