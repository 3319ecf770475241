"""The script that times replays: its numbers are of the file it was given."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from lobster_text import write_day

import bookwarp as bw

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "replay_rate.py"


def test_rates_and_hash_are_of_the_file(tmp_path):
    write_day(tmp_path / "m.csv", 400)
    command = [sys.executable, SCRIPT, tmp_path / "m.csv", "--levels", "2", "--trials", "2"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    levels = bw.replay(tmp_path / "m.csv", levels=2).levels
    assert found["sha256"] == hashlib.sha256(levels.astype("<i8").tobytes()).hexdigest()
    assert found["rows"] == 400
    for name in ("rows_per_s", "apply_rows_per_s"):
        assert 0 < found[f"{name}_median"] <= found[name]
