"""Mixed precision trains as PyTorch's does: losses step by step, of 16 bits with the noise that those have."""

import json

import pytest

import retrograd
from tests.amp.training import STEPS, STORED, losses

WANTED = json.loads(STORED.read_text())
TOLERANCE = {"float32": 2e-3, "bfloat16": 0.06, "float16": 0.02}


@pytest.mark.parametrize("precision", WANTED)
def test_losses(precision):
    got, wanted = losses(retrograd, precision), WANTED[precision]
    assert len(wanted) == STEPS
    worst = max(abs(a - b) for a, b in zip(got, wanted, strict=True))
    assert worst < TOLERANCE[precision], (worst, got, wanted)
    assert got[-1] < 0.5 * got[0]
