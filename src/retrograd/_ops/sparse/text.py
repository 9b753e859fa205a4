"""How a sparse tensor prints."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import _C, _tensor_str as dense
from retrograd._ops.sparse.construct import NAMES
from retrograd._ops.sparse.tensor import COO


def _part(name: str, t: Any) -> str:
    prefix = f"{name}=tensor("
    body = dense._numbers(t, 7 + len(prefix)) if t.numel() else f"[], size={tuple(t.shape)}"
    return f"{prefix}{body})"


def text(x: Any) -> str:
    """The text of repr(x)."""
    parts = x.parts
    with _C.DisableTorchFunction():
        names = ("indices", "values") if parts.layout is COO else (*NAMES[parts.layout][:2], "values")
        body = "tensor(" + ",\n       ".join(_part(n, t) for n, t in zip(names, parts.tensors, strict=True))
        suffixes = [] if x.device.type == "cpu" else [f"device='{x.device}'"]
        suffixes += [f"size={tuple(x.shape)}", f"nnz={parts.values.shape[0]}"]
        if x.dtype not in (torch.get_default_dtype(), torch.int64, torch.bool):
            suffixes.append(f"dtype={x.dtype}")
        suffixes += [f"layout={parts.layout}", *dense._history(x)]
        if parts.layout is COO:
            body, suffixes = f"{body},\n       {suffixes[0]}", suffixes[1:]
        whole = dense._join(body, suffixes, 7) + ")"
    return "Parameter containing:\n" + whole if getattr(x, "_is_param", False) else whole
