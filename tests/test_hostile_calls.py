"""A seeded part of the random calls of tests/hostile.py, in processes of their own: a crash is a failure that names the call."""

import os
import subprocess
import sys

import pytest

SANITIZED = bool(os.environ.get("RETROGRAD_SANITIZED"))  # shadow memory is beyond every limit, and calls take longer
CALLS = 250 if SANITIZED else 2500


@pytest.mark.parametrize("seed", range(6))
def test_nothing_crashes(seed, tmp_path):
    trace = tmp_path / "call"
    command = [sys.executable, "-m", "tests.hostile", "--seed", str(seed), "--calls", str(CALLS), "--trace", str(trace)]
    command += ["--memory", "0"] if SANITIZED else []
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=300)
    last = trace.read_text().strip() if trace.exists() else "none"
    told = f"call {last} of seed {seed}, again with: python -m tests.hostile --seed {seed} --only {last}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    assert done.returncode == 0, told
