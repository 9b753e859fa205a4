"""Here the doctor is on, which tests/conftest.py leaves off, also in processes that tests start."""

from __future__ import annotations

import pytest

from retrograd import doctor


@pytest.fixture(autouse=True)
def _on(monkeypatch):
    monkeypatch.delenv("RETROGRAD_DOCTOR", raising=False)
    with doctor.on():
        yield
