"""The programs of tests/autograd/hidden_writes.py on PyTorch: the gradients of the right ones agree, those of the wrong ones are wrong in silence."""

import pytest

from tests.autograd.hidden_writes import RIGHT, WRONG

torch = pytest.importorskip("torch")


def flat(values):
    return [v for item in values for v in flat(item)] if isinstance(values, list) else [values]


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT.keys())
def test_right(program):
    got, want = program(torch)
    assert flat(got) == pytest.approx(flat(want))


@pytest.mark.parametrize("program", WRONG.values(), ids=WRONG.keys())
def test_wrong(program):
    got, want = program(torch)
    assert flat(got) != pytest.approx(flat(want), rel=1e-12)
