"""The public names of `bookwarp.consensus` and `flat` are what they say, whatever was loaded."""

import subprocess
import sys

import pytest

from bookwarp import consensus
from bookwarp.consensus import flat


@pytest.mark.parametrize("module", [consensus, flat])
def test_every_public_name_is_there_and_nothing_else(module):
    for name in module.__all__:
        assert getattr(module, name) is not module
        assert name in dir(module)
    with pytest.raises(AttributeError, match="has no attribute 'match_blocks'"):
        _ = module.match_blocks


def test_no_public_name_is_hidden_by_a_module_of_the_same_name():
    code = (
        "import importlib, pkgutil\n"
        "from bookwarp import consensus\n"
        "from bookwarp.consensus import flat\n"
        "for package in (consensus, flat):\n"
        "    modules = {each.name for each in pkgutil.iter_modules(package.__path__)}\n"
        "    assert not modules & set(package.__all__), modules & set(package.__all__)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_blocks_need_no_package_for_roots():
    code = (
        "import sys\n"
        "sys.modules['sha3'] = None\n"
        "from bookwarp.consensus import flat\n"
        "block = flat.match_block(bytes(0))\n"
        "assert block.digest()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
