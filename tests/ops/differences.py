"""Where retrograd and PyTorch are not compared, each with its reason. What a single op needs for itself stands in its entry (`test=`)."""

from __future__ import annotations

import ops

NOT_IN_TORCH = {
    "_linear_recurrence": "ours: the scan that derivatives of cumulative products are made of",
    "_nonzero": "ours: nonzero as one matrix, without the as_tuple choice",
    "_block_diag": "ours: block_diag of matrices only",
}

# PyTorch's result is the less accurate or the less sensible one: (op, what) -> why.
PYTORCH_IS_OFF = {
    ("hardsigmoid", "gradient"): "PyTorch rounds the slope 1/6 to float32 in float64 too",
}


# The result follows the memory of the input, by definition.
LAYOUT_MATTERS = {
    "view": "refuses memory it cannot view",
    "view_as": "refuses memory it cannot view",
    "_unsafe_view": "refuses memory it cannot view",
    "resize": "keeps the memory and gives it another shape",
    "resize_as": "keeps the memory and gives it another shape",
    "set": "takes over the memory of another tensor",
}


def any_layout(entry: ops.Op) -> bool:
    return entry.name not in LAYOUT_MATTERS and entry.test.get("noncontiguous") is not False


def comparable(entry: ops.Op) -> bool:
    return entry.qualified not in NOT_IN_TORCH and entry.name not in NOT_IN_TORCH and entry.test.get("compat") is not False


def excused(entry: ops.Op, message: str) -> bool:
    return any(entry.name == name and message.startswith(what) for name, what in PYTORCH_IS_OFF)
