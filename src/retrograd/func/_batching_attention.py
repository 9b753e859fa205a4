"""Attention."""

from __future__ import annotations

from typing import Any

from retrograd.func._batching import Batch, Flags, Values, place, rule, tensor_places


@rule("attention")
def _attention(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    """The examples are more of the batch that the op has already. A mask that is one for all stays so."""
    query, mask = place(op, "query"), place(op, "attn_mask")
    examples = values[query].size(int(batched[query]))
    for i in tensor_places(op):
        value = values[i]
        if value is None or (i == mask and not batched[i] and value.size(0) == 1):
            continue
        value = batch.full(value, batched[i])
        if i == mask:
            value = value.expand(-1, examples, -1, -1, -1)
        values[i] = value.flatten(0, 1)
    return [None if r is None else r.unflatten(0, (batch.size, examples)) for r in op(*values)]
