"""Batches between processes: the memory of tensors apart from the rest, and where it is large, in a segment that both map."""

from __future__ import annotations

import io
import mmap
import os
import pickle
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd.nn.parameter import Parameter

# From here on a segment is quicker than a pipe.
SEGMENT = 1 << 17
_ALIGN = 64


def _restore(data: Any, dtype: Any, size: tuple[int, ...], stride: tuple[int, ...], requires_grad: bool, kind: type) -> Tensor:
    flat = torch.frombuffer(data, dtype=dtype) if data is not None else torch.empty(0, dtype=dtype)
    tensor = flat.as_strided(size, stride)
    return Parameter(tensor, requires_grad) if kind is Parameter else tensor.requires_grad_(requires_grad)


def _dense(tensor: Tensor) -> Tensor:
    """It, or a copy of it, as a tensor whose memory has no gaps; what lies around a view is not sent."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.is_contiguous():
        return tensor
    copy = tensor.clone()
    return tensor if copy.stride() == tensor.stride() else copy


class _Packer(reduction.ForkingPickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) not in (Tensor, Parameter) or value.device.type != "cpu" or value.layout != torch.strided:
            return NotImplemented
        if value.requires_grad and not value.is_leaf:
            raise RuntimeError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing process "
                "boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing (e.g., putting it on "
                "the queue)."
            )
        dense = _dense(value)
        data = None
        if dense.numel():
            data = pickle.PickleBuffer(memoryview(dense.as_strided((dense.numel(),), (1,)).view(torch.uint8)))
        return _restore, (data, dense.dtype, tuple(dense.shape), dense.stride(), value.requires_grad, type(value))


def _aligned(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def send(connection: Connection, value: Any, receiver: int) -> None:
    """Writes a value; `receiver` is the id of the process at the other end. Raises before anything is written where it cannot be pickled."""
    file = io.BytesIO()
    buffers: list[pickle.PickleBuffer] = []
    _Packer(file, 5, True, buffers.append).dump(value)
    parts = [buffer.raw() for buffer in buffers]
    sizes = [part.nbytes for part in parts]
    total = sum(map(_aligned, sizes))
    segment = total >= SEGMENT and hasattr(os, "memfd_create")
    handle = os.memfd_create("retrograd") if segment else -1
    try:
        if segment:
            os.ftruncate(handle, total)
            _fill(mmap.mmap(handle, total), parts)
        connection.send_bytes(pickle.dumps((sizes, segment)))
        connection.send_bytes(file.getbuffer())
        if segment:
            reduction.send_handle(connection, handle, receiver)
        elif total:
            memory = bytearray(total)
            _fill(memory, parts)
            connection.send_bytes(memory)
    finally:
        if segment:
            os.close(handle)


def _fill(memory: Any, parts: list[memoryview]) -> None:
    at = 0
    with memoryview(memory) as view:
        for part in parts:
            view[at : at + part.nbytes] = part
            at += _aligned(part.nbytes)


def receive(connection: Connection) -> Any:
    """Reads what `send` wrote. Tensors lie where their memory came to, which lives as long as they do."""
    sizes, segment = pickle.loads(connection.recv_bytes())
    body = connection.recv_bytes()
    total = sum(map(_aligned, sizes))
    memory: Any = b""
    if segment:
        handle = reduction.recv_handle(connection)
        try:
            memory = mmap.mmap(handle, total, flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
        finally:
            os.close(handle)
    elif total:
        memory = bytearray(total)
        connection.recv_bytes_into(memory)
    view = memoryview(memory)
    buffers, at = [], 0
    for size in sizes:
        buffers.append(view[at : at + size])
        at += _aligned(size)
    return pickle.loads(body, buffers=buffers)
