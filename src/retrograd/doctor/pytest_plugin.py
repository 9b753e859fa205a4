"""`pytest --retrograd-strict`: every test runs under the doctor's strict mode, so a mistake that would pass in silence fails its test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


def pytest_addoption(parser: Any) -> None:
    parser.getgroup("retrograd").addoption(
        "--retrograd-strict",
        action="store_true",
        help="let the doctor of retrograd fail tests whose code makes mistakes that pass in silence",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Iterator[None]:
    if not item.config.getoption("--retrograd-strict"):
        return (yield)
    from retrograd import doctor

    doctor.forget()
    with doctor.strict():
        return (yield)
