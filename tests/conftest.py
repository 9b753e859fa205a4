"""Settings for every test: a fixed seed, and no test leaves a mode, a default or an op handler behind."""

from __future__ import annotations

import os

import pytest

import retrograd


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("RETROGRAD_SLOW_TESTS"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="set RETROGRAD_SLOW_TESTS=1"))


@pytest.fixture(autouse=True)
def _same_start():
    retrograd.manual_seed(0)
    before = (retrograd.is_grad_enabled(), retrograd.is_inference_mode_enabled(), retrograd.get_default_dtype())
    yield
    after = (retrograd.is_grad_enabled(), retrograd.is_inference_mode_enabled(), retrograd.get_default_dtype())
    assert after == before, "the test left a mode or the default dtype changed"
