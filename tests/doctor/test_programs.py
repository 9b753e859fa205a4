"""Broken programs are diagnosed, with the right code and lines, in both modes; correct ones that look like them are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.programs import BROKEN, CORRECT, expected, run, verdict

CASES = [pytest.param(path, mode, id=f"{path.stem}-{mode}") for path in BROKEN for mode in expected(path).modes]


@pytest.mark.parametrize(("path", "mode"), CASES)
def test_broken(path: Path, mode: str) -> None:
    wrong = verdict(path, mode)
    assert not wrong, wrong


@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize("path", CORRECT, ids=lambda path: path.stem)
def test_correct(path: Path, mode: str) -> None:
    outcome = run(path, mode)
    assert not outcome.failure, outcome.failure
    assert not outcome.told, "\n".join(t.text for t in outcome.told)
