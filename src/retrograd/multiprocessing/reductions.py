"""Memory that processes share: segments that each of them maps, found again by the address they have here."""

from __future__ import annotations

import mmap
import os
import weakref
from multiprocessing import reduction
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd._utils import _rebuild_tensor
from retrograd.nn.parameter import Parameter
from retrograd.storage import _bytes_of


class Segment(mmap.mmap):
    """A block of shared memory, with the handle by which another process can map it. Tensors in it keep it alive."""

    handle: int
    inode: int

    @classmethod
    def over(cls, handle: int, size: int) -> Segment:
        """Maps the memory behind a handle, which belongs to the segment from here on."""
        self = cls(handle, size)
        self.handle = handle
        self.inode = os.fstat(handle).st_ino
        weakref.finalize(self, os.close, handle)
        _by_inode[self.inode] = self
        return self

    @classmethod
    def new(cls, size: int) -> Segment:
        if not hasattr(os, "memfd_create"):
            raise NotImplementedError("memory that processes share needs memfd_create, which this system has not")
        handle = os.memfd_create("retrograd")
        os.ftruncate(handle, size)
        return cls.over(handle, size)

    def elements(self, dtype: Any) -> Tensor:
        """Its memory as a tensor."""
        flat: Tensor = _C._from_buffer(self)[0]
        _by_address[flat.data_ptr()] = self
        return flat.view(dtype)


_by_address: weakref.WeakValueDictionary[int, Segment] = weakref.WeakValueDictionary()
_by_inode: weakref.WeakValueDictionary[int, Segment] = weakref.WeakValueDictionary()


def segment_of(tensor: Tensor) -> Segment | None:
    """The segment that a tensor lies in."""
    return _by_address.get(tensor._storage_info()[0])


def share(tensor: Tensor) -> Tensor:
    """Moves a tensor, and with it all views that are made of it later, to memory that forked processes have too."""
    if tensor.device.type != "cpu" or segment_of(tensor) is not None:
        return tensor
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "share_memory_(): a tensor with a history cannot move to other memory; call it on a leaf, or on detach().clone()"
        )
    _, size, owners, *_ = tensor._storage_info()
    moved = [tensor] if tensor._base is None else [tensor, tensor._base]
    if owners > len(moved):
        raise RuntimeError(
            f"share_memory_(): {owners - 1} other tensors lie in the same memory and would stay behind. Call it before views are made, or on a "
            "clone()."
        )
    segment = Segment.new(max(size, tensor.element_size()))
    with _C.no_grad():
        segment.elements(_C.uint8).as_strided((size,), (1,)).copy_(_bytes_of(tensor))
        for t in moved:
            t.data = _rebuild_tensor(segment.elements(t.dtype), t.storage_offset(), t.shape, t.stride())
    return tensor


def _attached(handle: Any, inode: int, size: int) -> Segment:
    """The segment that another process sent: the one that is mapped already where it was sent before."""
    descriptor = handle.detach()
    known = _by_inode.get(inode)
    if known is not None and os.fstat(descriptor).st_ino == inode:
        os.close(descriptor)
        return known
    return Segment.over(descriptor, size)


def rebuild_tensor(
    handle: Any,
    inode: int,
    size: int,
    dtype: Any,
    offset: int,
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    kind: type,
) -> Tensor:
    """The tensor that another process sent."""
    flat = _attached(handle, inode, size).elements(dtype)
    tensor = _rebuild_tensor(flat, offset, shape, stride)
    return Parameter(tensor, requires_grad) if kind is Parameter else tensor.requires_grad_(requires_grad)


def reduce_tensor(tensor: Tensor) -> Any:
    """How a tensor goes into a queue or a pipe. One in shared memory is sent as that memory; of another a copy is made there."""
    if tensor.device.type != "cpu" or type(tensor) not in (Tensor, Parameter) or tensor.layout != _C.strided:
        return tensor.__reduce_ex__(2)
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing process "
            "boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing (e.g., putting it on "
            "the queue)."
        )
    sent = tensor
    segment = segment_of(tensor)
    if segment is None:
        sent = share(tensor.detach().resolve_conj().resolve_neg().clone())
        segment = segment_of(sent)
        assert segment is not None
    handle = reduction.DupFd(segment.handle)
    where = (sent.storage_offset(), tuple(sent.shape), sent.stride())
    return rebuild_tensor, (handle, segment.inode, len(segment), sent.dtype, *where, tensor.requires_grad, type(tensor))


def init_reductions() -> None:
    """Lets Python's queues, pipes and processes send tensors so."""
    for kind in (Tensor, Parameter):
        reduction.ForkingPickler.register(kind, reduce_tensor)
