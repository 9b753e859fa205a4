"""Small programs about custom Functions, hooks, the engine and anomaly mode, run on PyTorch and on retrograd.

The programs are in `programs/*.txt`, one file a topic. A line `# name` that follows an empty line begins a program; `beside.py` says how they are
written. What the two libraries show has to be the same: values, dtypes, flags, names of nodes, warnings, types of exceptions, and the
beginning of their words.
"""

import re
from pathlib import Path

import pytest

import retrograd
from tests.compat.beside import Runner, all_agree, difference

torch = pytest.importorskip("torch")


def read(path):
    for block in re.split(r"\n\n(?=# )", path.read_text().strip()):
        title, _, code = block.partition("\n")
        yield f"{path.stem}: {title.lstrip('# ')}", code


PROGRAMS = [program for path in sorted((Path(__file__).parent / "programs").glob("*.txt")) for program in read(path)]


@pytest.fixture(autouse=True, scope="module")
def every_warning():
    """PyTorch gives some warnings once per process: here each program is to see them."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@pytest.mark.parametrize("code", [code for _, code in PROGRAMS], ids=[title for title, _ in PROGRAMS])
def test_program(code):
    theirs, ours = Runner(torch).run(code), Runner(retrograd).run(code)
    assert theirs, "a program that shows nothing tests nothing"
    assert all_agree(theirs, ours), difference(theirs, ours)


def test_programs_that_differ_are_told_apart():
    """The comparison itself: of values, warnings, exceptions and their words."""

    def lines(code):
        return Runner(retrograd).run(code)

    one = lines("show(1, leaf(2.))")
    assert all_agree(one, lines("show(1, leaf(2.))"))
    for other in ("show(1, leaf(3.))", "show(1, torch.tensor(2.))", "show(1, leaf(2.).double())", "show(1)", "show(1, leaf(2.)); show(2)"):
        assert not all_agree(one, lines(other))
    refused = lines("attempt(lambda: torch.ones(2).backward())")
    assert all_agree(refused, lines("attempt(lambda: torch.ones(2).backward())"))
    for other in ("attempt(lambda: torch.ones(2) + torch.ones(3))", "attempt(lambda: 1 / 0)", "kind(lambda: torch.ones(2).backward())"):
        assert not all_agree(refused, lines(other))
    warned = lines("import warnings\nwarnings.warn('mine')\nshow(1)")
    assert len(warned) == 2 and not all_agree(warned, lines("show(1)"))
