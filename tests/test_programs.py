"""The programs of tests/programs on retrograd show what is stored of PyTorch, for which PyTorch is not needed."""

import pytest

import retrograd
from tests.programs import TOPICS, missing, programs, read
from tests.programs.runner import all_agree, difference, shown, stored, without

OUTCOMES = {topic: read(topic) for topic in TOPICS}
PROGRAMS = [program for topic in TOPICS for program in programs(topic)]


def _param(program):
    return pytest.param(program, id=str(program), marks=[pytest.mark.told(*program.told, why=program.why)] if program.told else [])


@pytest.mark.parametrize("program", [_param(program) for program in PROGRAMS])
def test_program(program):
    want = OUTCOMES[program.topic].get(program.name)
    assert want, "no stored outcome: run tools/make_references.py programs"
    got = shown(retrograd, program.function)
    if program.differs:
        assert not all_agree(want["torch"], got), "no longer different"
        want = want["retrograd"]
    if program.own:
        assert not all_agree(want, got), "agrees without the mark"
        want, got = without(program.own, want), without(program.own, got)
    assert all_agree(want, got), difference(want, got)
    assert all(any(words in line for line in got) for words in program.says)


def test_every_program_has_its_outcome():
    assert not missing()
    assert len(PROGRAMS) > 1300


def test_what_differs_is_told_apart():
    """The comparison itself: of values, warnings, exceptions and their words."""

    def agrees(one, other):
        return all_agree(stored(shown(retrograd, one)), shown(retrograd, other))

    def one(show, leaf):
        show(1, leaf(2.0))

    assert agrees(one, one)
    assert agrees(one, lambda show, leaf: show(1, leaf(2.000001)))
    for other in (
        lambda show, leaf: show(1, leaf(2.0001)),
        lambda show, leaf: show(2, leaf(2.0)),
        lambda show, leaf: show(1, leaf(2.0).detach()),
        lambda show, leaf: show(1, leaf(2.0).double()),
        lambda show: show(1),
        lambda show, leaf: (one(show, leaf), show(2)),
    ):
        assert not agrees(one, other)

    def refused(torch, attempt):
        attempt(lambda: torch.ones(2).backward())

    assert agrees(refused, refused)
    for other in (
        lambda torch, attempt: attempt(lambda: torch.ones(2) + torch.ones(3)),
        lambda attempt: attempt(lambda: 1 / 0),
        lambda torch, kind: kind(lambda: torch.ones(2).backward()),
        lambda torch: torch.ones(2).backward(),
    ):
        assert not agrees(refused, other)

    def warned(torch, show):
        with torch.autograd.detect_anomaly():
            show(1)

    assert agrees(warned, warned)
    assert not agrees(warned, lambda show: show(1))
    assert agrees(lambda show: show(-1.5e-9 + 2j, [0.0]), lambda show: show(-1.5000001e-9 + 2j, [0.0]))
    for other in (lambda show: show(1.5e-9 + 2j, [0.0]), lambda show: show(-1.5e-9 - 2j, [0.0]), lambda show: show(-1.5e-9 + 2j, [-0.0])):
        assert not agrees(lambda show: show(-1.5e-9 + 2j, [0.0]), other)
