"""Why the cuda engine is not available, and what follows: asked of a driver that is played."""

import ctypes
import logging
import subprocess
import sys

import pytest

from bookwarp.engines import registry
from bookwarp.engines.cuda import availability
from bookwarp.engines.registry import choose_engine, device_options, engine_status
from bookwarp.simulation import Simulation
from bookwarp.spec.errors import EngineError, ParameterError


class Driver:
    """Has what is asked of libcuda."""

    def __init__(self, status=0, version=13_000, capabilities=((9, 0),)):
        self.status = status
        self.version = version
        self.capabilities = capabilities

    def cuInit(self, flags):  # noqa: N802
        return self.status

    def cuDriverGetVersion(self, number):  # noqa: N802
        number._obj.value = self.version
        return 0

    def cuDeviceGetCount(self, count):  # noqa: N802
        count._obj.value = len(self.capabilities)
        return 0

    def cuDeviceGetAttribute(self, value, attribute, device):  # noqa: N802
        value._obj.value = self.capabilities[device][attribute - 75]
        return 0


@pytest.fixture
def play(monkeypatch):
    """Return a function that puts a driver, and packages, in place of those that are here."""

    def put(driver, packages=True, needed="13.5.0"):
        def load(name):
            if driver is None:
                raise OSError(f"{name}: cannot open shared object file")
            return driver

        monkeypatch.setattr(ctypes, "CDLL", load)
        monkeypatch.setattr(availability, "version", lambda name: needed)
        monkeypatch.setattr(availability, "packages_installed", lambda: packages)
        monkeypatch.setattr(registry, "packages_installed", lambda: packages)
        forget()

    yield put
    forget()


def forget():
    for remembered in (availability._load_driver, availability._driver_reason, registry._say_once):
        remembered.cache_clear()


REASONS = {
    "no driver": (None, "there is no NVIDIA driver: install one, version 580 or newer"),
    "no GPU": (
        Driver(status=100),
        "the NVIDIA driver finds no GPU: see what nvidia-smi and CUDA_VISIBLE_DEVICES say",
    ),
    "broken driver": (
        Driver(status=803),
        "the NVIDIA driver does not start (CUDA error 803): see what nvidia-smi says",
    ),
    "old driver": (
        Driver(version=12_040),
        (
            "the NVIDIA driver knows CUDA up to 12.4, and the installed packages are for CUDA 13: "
            "install driver 580 or newer"
        ),
    ),
    "old GPU": (
        Driver(capabilities=((7, 5), (6, 1))),
        (
            "the GPU has compute capability 7.5, and 8.0 or higher is needed (Ampere, 2020, or "
            "newer): use engine 'cpu'"
        ),
    ),
}


@pytest.mark.parametrize("driver, reason", REASONS.values(), ids=REASONS)
def test_the_reason_is_a_sentence_with_a_remedy(play, driver, reason):
    play(driver)
    assert engine_status()["cuda"] == reason
    with pytest.raises(EngineError) as caught:
        choose_engine("cuda")
    assert str(caught.value) == f"engine 'cuda' is not available: {reason}"
    with pytest.raises(EngineError, match="engine 'cuda' is not available: "):
        Simulation(2, engine="cuda")


def test_packages_that_are_missing_are_named_by_their_extra(play):
    play(Driver(), packages=False)
    assert engine_status()["cuda"] == (
        "its packages are not installed: pip install 'bookwarp[cuda]'"
    )


@pytest.mark.parametrize("capabilities", [((8, 0),), ((7, 5), (9, 0)), ((12, 1),)])
@pytest.mark.parametrize(
    "version, needed",
    [(13_000, "13.5.0"), (13_020, "13.0.1"), (14_000, "13.5.0"), (12_080, "12.9.1")],
)
def test_a_driver_and_a_gpu_that_are_new_enough_are_available(play, capabilities, version, needed):
    play(Driver(version=version, capabilities=capabilities), needed=needed)
    assert engine_status()["cuda"] is None
    assert choose_engine("cuda") == choose_engine("auto") == "cuda"


def test_auto_is_an_engine_without_devices_where_that_is_asked_for(play):
    play(Driver())
    assert choose_engine("auto", devices=False) == "cpu"


@pytest.mark.parametrize("driver, reason", REASONS.values(), ids=REASONS)
def test_auto_says_once_why_it_does_not_use_the_gpu(play, caplog, driver, reason):
    play(driver)
    with caplog.at_level(logging.INFO, "bookwarp"):
        assert [choose_engine("auto") for _ in range(3)] == ["cpu"] * 3
        assert choose_engine("cpu") == "cpu"
    (record,) = caplog.records
    assert record.getMessage() == f"engine 'cuda' is not used: {reason}"
    assert record.levelname == ("INFO" if driver is None else "WARNING")


def test_auto_is_silent_where_the_packages_are_not_installed(play, caplog):
    play(None, packages=False)
    with caplog.at_level(logging.DEBUG):
        assert choose_engine("auto") == "cpu"
    assert not caplog.records


@pytest.mark.parametrize(
    "given, names",
    [
        ({"devices": "all"}, "devices"),
        ({"cuda_stream": object()}, "cuda_stream"),
        ({"devices": 0, "cuda_stream": object()}, "devices and cuda_stream"),
    ],
)
def test_devices_are_refused_by_an_engine_that_has_none(play, given, names):
    play(None)
    for engine in ("auto", "cpu", "reference"):
        with pytest.raises(ParameterError) as caught:
            Simulation(2, engine=engine, **given)
        chosen = "cpu" if engine == "auto" else engine
        assert str(caught.value) == (
            f"{names} needs engine 'cuda', not {chosen!r} (cuda is not available: there is no "
            f"NVIDIA driver: install one, version 580 or newer)"
        )
    assert device_options("cuda", devices=None, cuda_stream=None) == {}
    assert device_options("cuda", **{"devices": None, "cuda_stream": None} | given) == given


def test_arrays_on_a_device_are_refused_by_an_engine_that_has_none(engine):
    with pytest.raises(EngineError, match="keeps no state on a device: use state"):
        Simulation(2, engine=engine).device_arrays()


def test_asking_for_the_engines_imports_no_package_of_cuda():
    code = (
        "import sys, bookwarp.engines.registry as registry; registry.engine_status(); "
        "print([name for name in sys.modules if name.split('.')[0] == 'cuda'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("[]", "['cuda']")
