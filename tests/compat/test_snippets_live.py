"""Small programs of transforms, forward mode and checkpoints, on PyTorch and on retrograd: see snippets/__init__.py."""

import pytest

torch = pytest.importorskip("torch")

from tests.compat.snippets import differences, load, run  # noqa: E402

torch.set_num_threads(1)
FILES = ("vmap", "func", "forward_ad", "functional", "checkpoint")
SNIPPETS = [s for name in FILES for s in load(name)]


@pytest.mark.parametrize("snippet", [s for s in SNIPPETS if not s.differs], ids=lambda s: s.name)
def test_outcomes_agree(snippet):
    found = differences(snippet, run("retrograd", snippet), run("torch", snippet))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("snippet", [s for s in SNIPPETS if s.differs], ids=lambda s: s.name)
def test_what_differs_on_purpose_still_does(snippet):
    assert differences(snippet, run("retrograd", snippet), run("torch", snippet))


def test_names_are_unique():
    names = [s.name for s in SNIPPETS]
    assert len(names) == len(set(names)) and len(names) > 600
