"""The tool that compares programs and libraries on both engines, as far as it can be tested without them: tools/compat."""

import pathlib

import pytest

from tools.compat import compare, page
from tools.compat.libraries import LIBRARIES, Library
from tools.compat.programs import PROGRAMS, REVISIONS, Program

_FOLDER = pathlib.Path(compare.__file__).parent


def _watched(losses=(), tests=None, **more):
    return {"losses": list(losses), "tests": tests or {}, "seconds": 1.0, **more}


def _verdict(program, ours, theirs, unwatched=None):
    return compare._verdict(program, ours, theirs, unwatched or ours)


def test_the_page_is_what_the_tool_writes():
    assert page.PAGE.read_text() == page.text(), "run python -m tools.compat page"


def test_everything_listed_is_there():
    titles = [thing.title for thing in [*PROGRAMS, *LIBRARIES]]
    assert len(titles) == len(set(titles))
    assert {program.repository for program in PROGRAMS} == set(REVISIONS)
    scripts = {library.run[0] for library in LIBRARIES}
    assert scripts == {file.name for file in (_FOLDER / "small").glob("*.py")}
    assert {name for thing in [*PROGRAMS, *LIBRARIES] for name in thing.stand_ins} == {
        folder.name for folder in (_FOLDER / "stand_ins").iterdir()
    }


@pytest.mark.parametrize(
    ("ours", "theirs", "ok"),
    [
        ([1.0, 2.0], [1.0, 2.0], True),
        ([1.0, 2.00001], [1.0, 2.0], True),
        ([1.0, 2.01], [1.0, 2.0], False),
        ([1.0], [1.0, 2.0], False),
        ([], [], False),  # a program that computed nothing was not compared
        ([float("nan")], [1.0], False),
        ([float("nan")], [float("nan")], True),
        ([float("inf")], [1.0], False),
    ],
)
def test_losses_are_compared_step_by_step(ours, theirs, ok):
    assert _verdict(Library("x"), _watched(ours), _watched(theirs))["ok"] is ok


def test_every_test_that_passes_on_pytorch_has_to_pass():
    program = Program("a/b", "its tests", ("tests",), tests=True)
    theirs = _watched(tests={"one": "passed", "two": "failed"})
    assert _verdict(program, _watched(tests={"one": "passed"}), theirs)["ok"]
    row = _verdict(program, _watched(tests={"one": "failed", "two": "passed"}), theirs)
    assert not row["ok"] and row["differ"] == ["one"]


def test_a_failure_says_whose_it_is():
    assert "fails on PyTorch" in _verdict(Library("x"), _watched([1.0]), _watched(error="Traceback\nImportError: y"))["said"]
    row = _verdict(Library("x"), _watched(error="Traceback\nImportError: y"), _watched([1.0]))
    assert row["said"] == "ImportError: y" and not row["ok"]


def test_what_the_doctor_says_is_a_failure_unless_it_is_known_to_be_true():
    found = _watched([0.5], doctor_was_on=True, findings=[["nan_origin", "a.py:1", "[nan_origin] log(0)"]])
    row = _verdict(Library("x"), found, _watched([0.5]))
    assert not row["ok"] and row["diagnoses"] == ["[nan_origin] log(0)"]
    assert _verdict(Library("x", diagnoses={"nan_origin": "it is"}), found, _watched([0.5]))["ok"]
    off = _verdict(Library("x"), _watched([0.5], doctor_was_on=False), _watched([0.5]))
    assert not off["ok"] and off["diagnoses"] == ["the doctor was off"]
    assert not _verdict(Library("x"), _watched([0.5]), _watched([0.5]), _watched([0.25]))["ok"]
