"""100 steps of small models give PyTorch's losses, to the rounding of float32: from a file, and live where PyTorch is installed."""

import importlib.util
import json
import pathlib

import pytest

import retrograd

_spec = importlib.util.spec_from_file_location("training_models", pathlib.Path(__file__).with_name("training_models.py"))
models = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(models)

STORED = json.loads(models.LOSSES.read_text())


def compare(ours, theirs):
    assert theirs[-1] < theirs[0]  # it learns
    assert ours[:10] == pytest.approx(theirs[:10], rel=1e-5, abs=1e-6)
    assert ours == pytest.approx(theirs, rel=2e-4, abs=1e-5)  # what rounding has grown to by then


@pytest.mark.parametrize("name", models.MODELS)
def test_stored(name):
    compare(models.losses(retrograd, name), STORED[name])


@pytest.mark.parametrize("name", models.MODELS)
def test_live(oracle, name):
    assert models.losses(oracle, name) == pytest.approx(STORED[name], rel=2e-4, abs=1e-5)
    compare(models.losses(retrograd, name), models.losses(oracle, name))
