"""Reads and writes the results that PyTorch gave for the samples of the table: one file per family, made by tools/make_references.py.

A record is found by the op and the key of its case (which changes with the sample), so a stale file is noticed, never believed. Floating
numbers are kept to 40 bits of mantissa, and float32 results only where they are not those of float64 rounded.
"""

from __future__ import annotations

import base64
import functools
import gzip
import json
import struct
from pathlib import Path
from typing import Any

import optable
from tests.ops.cases import Case
from tests.ops.harness import Output, Record
from tests.ops.tensors import INEXACT

FOLDER = Path(__file__).parent / "references"


def pack(values: list[Any] | None, floating: bool) -> Any:
    if values is None or not floating:
        return values
    return base64.b64encode(b"".join(struct.pack(">d", x)[:6] for x in values)).decode().rstrip("=")


def unpack(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    data = base64.b64decode(text + "=" * (-len(text) % 4))
    return [struct.unpack(">d", data[i : i + 6] + b"\0\0")[0] for i in range(0, len(data), 6)]


def to_json(record: Record) -> list[Any]:
    if record.error:
        return [record.error, record.message[:80]]
    outputs = [[o.dtype, o.shape, o.stride, o.requires_grad, o.node, pack(o.values, o.dtype in INEXACT)] for o in record.outputs]
    return [outputs, [pack(g, True) for g in record.grads]]


def from_json(data: list[Any]) -> Record:
    if isinstance(data[0], str):
        return Record(data[0], [], [], data[1])
    outputs = [
        Output(d, tuple(shape), None if stride is None else tuple(stride), grad, node, unpack(v))
        for d, shape, stride, grad, node, v in data[0]
    ]
    return Record("", outputs, [unpack(g) for g in data[1]])


def write(family: str, content: dict[str, Any]) -> None:
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    (FOLDER / f"{family}.json.gz").write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


@functools.cache
def read(family: str) -> dict[str, Any]:
    path = FOLDER / f"{family}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes())) if path.exists() else {}


def stored(case: Case, dtype: str) -> Record | None:
    """PyTorch's result, or None where the file has none: not made for this dtype, or made from another sample."""
    entry = optable.target(case.entry)  # an alias has the results of the op it names
    dtypes = read(entry.family).get(entry.qualified, {}).get(case.key, {})
    if dtype not in dtypes:
        return None
    record = from_json(dtypes[dtype])
    if dtype == "float32" and "float64" in dtypes:
        wide = from_json(dtypes["float64"])
        for narrow, full in zip(record.outputs, wide.outputs, strict=False):
            narrow.values = full.values if narrow.values is None else narrow.values
        record.grads = wide.grads
    return record
