"""What the doctor is right to tell of entries of the op table."""

from __future__ import annotations

import pytest

# Some of their samples have no elements, or one and a correction for it: what they give is not a number.
WITHOUT_A_VALUE = {
    "mean", "var", "std", "nanmean", "cov", "corrcoef", "nll_loss_forward", "nll_loss2d_forward", "poisson_nll_loss",
}  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        entry = item.callspec.params.get("entry") if hasattr(item, "callspec") else None
        if getattr(entry, "name", "") in WITHOUT_A_VALUE:
            item.add_marker(pytest.mark.told("nan_origin", why="the mean of nothing", sometimes=True))
