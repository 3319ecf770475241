"""How much memory a run takes: the growth of the peak resident size of a fresh process.

Run as a program it measures one case and one contender, and prints the bytes; Linux only.
"""

import gc
import json
import subprocess
import sys
from pathlib import Path

from cases import AUCTION, Case
from contender import Contender
from contenders import CONTENDERS

METHOD = "growth of VmHWM in a fresh process during one run, after a small one"
_STEPS = 20
"""Steps of the measured run, unless the case records: what is recorded grows with the steps."""


def measure_in_fresh_process(contender: Contender, case: Case, quick: bool) -> int | None:
    """Return the bytes that one run takes, or None where this cannot be measured."""
    if not _STATUS.exists():
        return None
    words = [sys.executable, __file__, case.name, contender.name, *(["--quick"] if quick else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return int(json.loads(done.stdout))


def peak_growth(contender: Contender, case: Case) -> int:
    """Return by how many bytes the peak resident size grows during one run."""
    small = case.small()
    contender.run(small, small.steps)
    gc.collect()
    _CLEAR.write_text("5", encoding="ascii")
    before = _resident("VmRSS")
    contender.run(case, case.steps if case.record else min(case.steps, _STEPS))
    return _resident("VmHWM") - before


_STATUS = Path("/proc/self/status")
# Writing 5 here sets the peak back to the present size: proc_pid_clear_refs(5).
_CLEAR = Path("/proc/self/clear_refs")


def _resident(name: str) -> int:
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"{_STATUS} has no {name}")


def main(arguments: list[str]) -> None:
    case = next(each for each in AUCTION if each.name == arguments[0])
    if "--quick" in arguments:
        case = case.quick()
    print(json.dumps(peak_growth(CONTENDERS[arguments[1]], case)))


if __name__ == "__main__":
    main(sys.argv[1:])
