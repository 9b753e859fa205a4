"""docs/doctor.md has a section for every code; its programs fail as it says, and its repairs repair."""

from __future__ import annotations

import re

import pytest

from retrograd import doctor
from tests.doctor.page import PAGE, sections, shown, told

SECTIONS = sections()


def _without_numbers(text: str) -> str:
    """Norms, times and random values differ between machines."""
    return re.sub(r"(?<![:\w.])\d[\d,]*(\.\d+)?(e[-+]?\d+)?\b", "#", text)


def test_the_page_opens_with_code_that_runs():
    opening = PAGE.read_text().partition("## How closely")[0]
    (block,) = re.findall(r"^```python\n(.*?)^```$", opening, re.M | re.S)
    exec(compile(block, PAGE.name, "exec"), {})


def test_every_code_has_a_section():
    assert list(SECTIONS) == list(doctor.CODES)


@pytest.mark.parametrize("code", SECTIONS)
def test_it_prints_what_the_page_says(code):
    [(found, text)] = told(SECTIONS[code].broken)
    assert found == code
    assert _without_numbers(shown(text)) == _without_numbers(SECTIONS[code].printed)


@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize("code", SECTIONS)
def test_the_repair_repairs(code, mode):
    assert told(SECTIONS[code].repaired, mode) == []
