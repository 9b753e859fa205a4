"""The programs of examples/ print PyTorch's losses: as stored, and beside PyTorch where it is installed.

Run as a program, this stores what PyTorch prints.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
STORED = ROOT / "tests" / "examples.json"
HELPERS = {"glyphs.py", "cartpole.py"}
EXAMPLES = sorted(p.stem for p in (ROOT / "examples").glob("*.py") if p.name not in HELPERS)
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")


def printed(command, name):
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [*command, str(ROOT / "examples" / f"{name}.py"), "--short"], capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def ours(name):
    return printed([sys.executable, "-m", "retrograd", "run"], name)


def compare(got, want, tolerance=2e-4):
    """The same words, and the same numbers to rounding; bfloat16's own rounding is in the tolerance of its program."""
    assert NUMBER.sub("#", got) == NUMBER.sub("#", want)
    assert [float(x) for x in NUMBER.findall(got)] == pytest.approx([float(x) for x in NUMBER.findall(want)], rel=tolerance, abs=tolerance)


TOLERANCES = {"mixed_precision": 5e-3}


@pytest.mark.parametrize("name", EXAMPLES)
def test_as_stored(name):
    compare(ours(name), json.loads(STORED.read_text())[name], TOLERANCES.get(name, 2e-4))


@pytest.mark.parametrize("name", EXAMPLES)
def test_as_pytorch(oracle, name):
    compare(ours(name), printed([sys.executable], name), TOLERANCES.get(name, 2e-4))


def test_the_page_lists_them_all():
    page = (ROOT / "examples" / "README.md").read_text()
    assert sorted(set(re.findall(r"`(\w+)\.py`", page)) - {p.removesuffix(".py") for p in HELPERS}) == EXAMPLES


if __name__ == "__main__":
    STORED.write_text(json.dumps({name: printed([sys.executable], name) for name in EXAMPLES}, indent=1) + "\n")
