"""`pytest --retrograd-strict`: every test runs under the doctor's strict mode, so a mistake that would pass in silence fails its test."""

from __future__ import annotations

from typing import Any


def pytest_addoption(parser: Any) -> None:
    parser.getgroup("retrograd").addoption(
        "--retrograd-strict",
        action="store_true",
        help="let the doctor of retrograd fail tests whose code makes mistakes that pass in silence",
    )


def pytest_runtest_setup(item: Any) -> None:
    if item.config.getoption("--retrograd-strict"):
        from retrograd import doctor

        doctor.forget()
        doctor.strict()


def pytest_runtest_teardown(item: Any) -> None:
    if item.config.getoption("--retrograd-strict"):
        from retrograd import doctor

        doctor.strict(False)
