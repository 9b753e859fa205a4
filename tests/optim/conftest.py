"""Every test that asks for `torch` runs on retrograd and, where it is installed, on PyTorch: what it expects is what PyTorch does."""

import importlib

import pytest


@pytest.fixture(params=["retrograd", "torch"])
def torch(request):
    if request.param == "torch":
        pytest.importorskip("torch")
    return importlib.import_module(request.param)
