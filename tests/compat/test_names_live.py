"""`from retrograd import *` and `dir()` beside PyTorch's."""

import types

import pytest

import retrograd

torch = pytest.importorskip("torch")


def test_star_import_gives_what_pytorchs_gives():
    """Every name of PyTorch's `__all__` that exists here, and beside them only functions about memory: PyTorch has those under torch.cuda."""
    shared = {name for name in torch.__all__ if hasattr(retrograd, name)}
    assert {name for name in shared - set(retrograd.__all__) if not isinstance(getattr(retrograd, name), types.ModuleType)} == set()
    extra = {name for name in retrograd.__all__ if not hasattr(torch, name)}
    assert {name for name in extra if getattr(retrograd, name).__module__ not in ("retrograd._settings", "retrograd._memory")} == set()


@pytest.mark.parametrize("name", ["nn.functional", "linalg", "special", "fft", "signal.windows"])
def test_namespaces_hold_no_other_names(name):
    ours, theirs = retrograd, torch
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    assert [n for n in dir(ours) if not hasattr(theirs, n)] == []
