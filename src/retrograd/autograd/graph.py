"""The graph: nodes, edges, hooks on them, and what nodes save.

* `Node`, `GradientEdge`, `get_gradient_edge`: the graph itself;
* `register_multi_grad_hook`: one hook for the gradients of several tensors;
* `saved_tensors_hooks`, `save_on_cpu`, `disable_saved_tensors_hooks`: how tensors are kept between forward and backward;
* `allow_mutation_on_saved_tensors`, `increment_version`: saved tensors and in-place writes.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from retrograd import _C
from retrograd._C import Node, Tensor
from retrograd.utils.hooks import RemovableHandle

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_warn_on_accumulate_grad_stream_mismatch",
]

# -- edges --------------------------------------------------------------------


class GradientEdge(NamedTuple):
    """One output of a node: where a gradient can be fed in or asked for.

    Takes the place of a tensor in `autograd.grad` and `autograd.backward`, without keeping the tensor's memory alive.
    """

    node: Node
    output_nr: int
    ownership_token: Any = None


class _Geometry(NamedTuple):
    """What an edge remembers of its tensor, so that a gradient of one can be made for a scalar."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge along which the gradient of a tensor arrives.

    Example::

        >>> x = retrograd.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> edge = retrograd.autograd.graph.get_gradient_edge(y)
        >>> retrograd.autograd.grad(edge, x)
        (tensor(6.),)
    """
    if not tensor.requires_grad:
        from retrograd._cuts import explain

        raise RuntimeError(f"It is not possible to get the gradient edge for a Tensor that does not require gradients{explain(tensor)}")
    node, output_nr = _C._gradient_edge(tensor)
    return GradientEdge(node, output_nr, _Geometry(tuple(tensor.shape), tensor.dtype, tensor.device))


def _geometry(edge: GradientEdge) -> _Geometry | None:
    """What is known of the tensor of an edge. Nodes of operations do not remember their results; `get_gradient_edge` does."""
    if isinstance(edge.ownership_token, _Geometry):
        return edge.ownership_token
    about = getattr(edge.node, "_input_metadata", None)
    if about is None or edge.output_nr not in range(len(about)) or about[edge.output_nr] is None:
        return None
    return _Geometry(*about[edge.output_nr])


def _gradient_for(edge: GradientEdge, grad: Tensor | None, index: int) -> Tensor | None:
    """The gradient to start with at an edge: the one given, or one for a tensor of one element; None where that is not known."""
    geometry = _geometry(edge)
    if geometry is None:
        return grad
    shape, dtype, device = geometry
    if grad is None:
        return None if any(n != 1 for n in shape) else _C._ops.ones(shape, dtype=dtype, device=device)
    if tuple(grad.shape) != tuple(shape):
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {grad.shape} and output[{index}] has a shape of {_C.Size(shape)}."
        )
    if grad.device != device:
        raise RuntimeError(f"invalid gradient at index {index} - expected device {device} but got {grad.device}")
    if grad.dtype == dtype:
        return grad
    if grad.dtype.is_complex != dtype.is_complex:
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. Got grad_output[{index}] of dtype "
            f"{grad.dtype} and output[{index}] of dtype {dtype}."
        )
    return grad.to(dtype)


class _InputMetadata(NamedTuple):
    """What a node knows of a tensor whose gradient it takes."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any

    @property
    def is_nested_tensor(self) -> bool:
        return False

    @property
    def is_cpp_nested_tensor(self) -> bool:
        return False


def _input_metadata(self: Node) -> list[_InputMetadata | None]:
    """Shape, dtype and device of the gradients a node takes: known for leaves and for custom Functions."""
    if hasattr(type(self), "_output_info"):
        return [None if about is None else _InputMetadata(_C.Size(about[0]), *about[1:]) for about in self._output_info]
    if self.name() == "torch::autograd::AccumulateGrad":
        leaf = self.variable
        return [_InputMetadata(leaf.shape, leaf.grad_dtype or leaf.dtype, leaf.device)]
    raise AttributeError(f"{self.name()}._input_metadata: nodes of operations keep no shapes")


def _register_hook_dict(self: Node, tensor: Tensor) -> None:
    """Lets the hooks of `tensor` run for the output of this node that it is."""
    if not isinstance(tensor, Tensor):
        raise TypeError("_register_hook_dict expected a variable")
    if tensor._backward_hooks is not None:
        self._tensor_hooks = {**(self._tensor_hooks or {}), tensor.output_nr: tensor._backward_hooks}


Node._input_metadata = property(_input_metadata)  # type: ignore[attr-defined]
Node._register_hook_dict = _register_hook_dict  # type: ignore[attr-defined]


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted for PyTorch's sake: gradients are accumulated on the stream they were computed on, so there is nothing to warn about."""
    if not isinstance(enabled, bool):
        raise TypeError(f"set_warn_on_accumulate_grad_stream_mismatch(): 'enabled' must be bool, not {type(enabled).__name__}")


# -- hooks on nodes -----------------------------------------------------------


def _register(node: Node, attribute: str, hook: Callable[..., Any]) -> RemovableHandle:
    hooks = getattr(node, attribute)
    if hooks is None:
        hooks = OrderedDict()
        setattr(node, attribute, hooks)
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _register_hook(self: Node, fn: Callable[[Sequence[Tensor], Sequence[Tensor]], Any]) -> RemovableHandle:
    """Calls fn(grad_inputs, grad_outputs) after this node ran; a returned tuple takes the place of grad_inputs.

    Runs only in a backward that runs the node; what the node's tensor receives is seen by `Tensor.register_hook`.
    """
    return _register(self, "_hooks", fn)


def _register_prehook(self: Node, fn: Callable[[Sequence[Tensor]], Any]) -> RemovableHandle:
    """Calls fn(grad_outputs) before this node runs; a returned tuple takes its place."""
    return _register(self, "_pre_hooks", fn)


Node.register_hook = _register_hook  # type: ignore[method-assign, assignment]
Node.register_prehook = _register_prehook  # type: ignore[method-assign, assignment]


# -- one hook for several tensors ---------------------------------------------


class _MultiHandle(RemovableHandle):
    """Removes the hooks of all tensors of one `register_multi_grad_hook`."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple[RemovableHandle, ...]:
        return self.handles

    def __setstate__(self, state: tuple[RemovableHandle, ...]) -> None:
        self.handles = state


class _Gathering:
    """The gradients of one backward that a multi-grad hook waits for. Lives as long as that backward, which holds it as a callback."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.grads: list[Tensor | None] = [None] * len(nodes)
        self.missing = sum(_C._will_engine_execute_node(node) for node in nodes)
        _C._queue_callback(self.over)

    def over(self) -> None:
        self.grads.clear()


_Gatherings = weakref.WeakValueDictionary[int, _Gathering]  # by backward


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None] | Callable[[Tensor], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandle:
    """Calls one hook for the gradients of several tensors, once per backward.

    With mode "all", `fn` gets the list of gradients when the last one that this backward computes is there; None stands
    for tensors it does not reach. With mode "any", `fn` gets the first gradient of any of them. `fn` must not change the
    gradients.

    Example::

        >>> a, b = retrograd.ones(2, requires_grad=True), retrograd.ones(2, requires_grad=True)
        >>> handle = retrograd.autograd.graph.register_multi_grad_hook([a, b], lambda grads: print([g is not None for g in grads]))
        >>> (a * 2).sum().backward()
        [True, False]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    for i, tensor in enumerate(tensors):
        if not tensor.requires_grad and mode == "all":
            raise AssertionError(f"Expected gradient function to be set: tensor {i} does not require grad")
    hook_of = _all_hook(tensors, fn) if mode == "all" else _any_hook(fn)
    return _MultiHandle(tuple(tensor.register_hook(hook_of(i)) for i, tensor in enumerate(tensors) if tensor.requires_grad))


def _all_hook(tensors: Sequence[Tensor], fn: Callable[..., None]) -> Callable[[int], Callable[[Tensor | None], None]]:
    nodes = [_C._gradient_edge(tensor)[0] for tensor in tensors]
    lock = threading.Lock()
    running = _Gatherings()

    def arrived(index: int, grad: Tensor | None) -> None:
        task = _C._current_graph_task_id()
        if task == -1:
            raise RuntimeError("expected this hook to be called inside a backward call")
        with lock:
            gathering = running.get(task)
            if gathering is None:
                gathering = running[task] = _Gathering(nodes)
            gathering.grads[index] = grad
            gathering.missing -= 1
            complete = gathering.missing == 0
        if complete:
            fn(gathering.grads)

    return lambda index: functools.partial(arrived, index)


def _any_hook(fn: Callable[..., None]) -> Callable[[int], Callable[[Tensor | None], None]]:
    lock = threading.Lock()
    done = _Gatherings()

    def arrived(grad: Tensor | None) -> None:
        task = _C._current_graph_task_id()
        with lock:
            if task in done:
                return
            done[task] = _Gathering(())
        fn(grad)

    return lambda index: arrived


# -- hooks on what nodes save -------------------------------------------------


class saved_tensors_hooks:
    """Calls `pack_hook(tensor)` when a tensor is saved for backward, and `unpack_hook(packed)` when it is needed again.

    What pack_hook returns is kept instead of the tensor; unpack_hook must return a tensor with the same contents. Holds for what
    is saved inside the block. With several blocks around an operation the innermost pair is used.

    pack_hook must not change the tensor. A result that its own operation saves (`exp` does) arrives without its history.

    Inside transforms (`func.grad`, `vmap`, ...) and levels of forward mode pack_hook gets the data alone, inside `vmap` of all samples. Histories and
    tangents are kept beside it.

    Example::

        >>> x = retrograd.ones(3, requires_grad=True)
        >>> with retrograd.autograd.graph.saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
        ...     y = x * x
        >>> y.sum().backward()
        >>> x.grad
        tensor([2., 2., 2.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc_info: object) -> None:
        _C._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Keeps what is saved for backward in main memory, and brings it back to its device when it is needed.

    Args:
        pin_memory: keep it in page-locked memory, which makes the copies to and from `device_type` asynchronous.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            return (tensor.device, tensor.detach().clone() if pin_memory and tensor.is_cpu else tensor.cpu())

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Makes `saved_tensors_hooks` an error with this message inside the block: for code that cannot work with them."""
    before = _C._saved_tensors_hooks_disabled_error()
    _C._disable_saved_tensors_hooks(error_message)
    try:
        yield
    finally:
        if before is None:
            _C._enable_saved_tensors_hooks()
        else:
            _C._disable_saved_tensors_hooks(before)


# -- saved tensors and in-place writes ----------------------------------------


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Tells autograd that the data of tensors was changed in a way it could not see.

    A tensor that was saved before is then refused in backward, as after any write in place.
    """
    if not isinstance(tensor, (Tensor, Iterable)):
        raise RuntimeError(f"increment_version expect a Iterable[Tensor] as input, got {type(tensor).__name__}")
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(t, Tensor):
            raise RuntimeError(f"increment_version expects each element of the iterable to be a tensor, got {type(t).__name__}")
        t._bump_version()


class _Kept:
    """A saved tensor that is replaced by a copy when its memory is about to be written; None once it was dropped."""

    __slots__ = ("__weakref__", "tensor", "version")

    tensor: Tensor | None
    version: int | None  # None for a copy, that nobody else can write to

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.version = None if tensor.is_inference() else tensor._version


class _AllowMutationOnSavedContext:
    """What `allow_mutation_on_saved_tensors` gives its block."""

    def __init__(self) -> None:
        self._by_memory: dict[int, list[weakref.ref[_Kept]]] = {}  # what a write would change
        self._copied: weakref.WeakSet[_Kept] = weakref.WeakSet()  # what was written since, and is a copy now

    def clear(self) -> None:
        """Forgets everything saved so far: graphs recorded up to here can no longer be run."""
        for references in self._by_memory.values():
            for reference in references:
                kept = reference()
                if kept is not None:
                    kept.tensor = None
        for kept in self._copied:
            kept.tensor = None
        self._by_memory.clear()
        self._copied.clear()

    def _pack(self, tensor: Tensor) -> _Kept:
        kept = _Kept(tensor)
        references = self._by_memory.setdefault(tensor._storage_info()[0], [])
        if len(references) > 8:  # nodes that were freed since
            references[:] = [r for r in references if r() is not None]
        references.append(weakref.ref(kept))
        return kept

    def _unpack(self, kept: _Kept) -> Tensor:
        if kept.tensor is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally recorded, "
                "or after clear() of that context."
            )
        if kept.version is not None and kept.tensor._version != kept.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation that "
                "'allow_mutation_on_saved_tensors' could not see: a tensor of "
                f"shape {list(kept.tensor.shape)} is at version {kept.tensor._version}; expected version {kept.version} instead. Was it written "
                "before that block was entered, or on another thread? Hint: write to a clone()."
            )
        return kept.tensor

    def _before_write(self, tensor: Tensor) -> None:
        copies: dict[Any, Tensor] = {}  # those that saved the same elements share one
        for reference in self._by_memory.pop(tensor._storage_info()[0], ()):
            kept = reference()
            if kept is not None and (old := kept.tensor) is not None:
                elements = (old.storage_offset(), tuple(old.shape), old.stride(), old.dtype, old.is_conj(), old.is_neg())
                if elements not in copies:
                    with _C.no_grad():
                        copies[elements] = old.detach().clone()
                kept.tensor = copies[elements]
                kept.version = None
                self._copied.add(kept)

    def _handle(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.mutates:
            for parameter, value in zip(op.parameters, args, strict=False):
                if parameter.name in op.mutates:
                    for tensor in value if isinstance(value, (tuple, list)) else (value,):
                        if tensor is not None:
                            self._before_write(tensor)
        return op(*args, **kwargs)


_mutation_allowed = threading.local()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Lets tensors that were saved for backward be written in place: a copy of the old contents is made just before.

    The backward must run inside the block too. Writes that are no operations (through NumPy, for example) are not seen.

    Example::

        >>> with retrograd.autograd.graph.allow_mutation_on_saved_tensors():
        ...     a = retrograd.ones(2, requires_grad=True)
        ...     b = a.clone()
        ...     out = (b**2).sum()
        ...     _ = b.sin_()
        ...     out.backward()
        >>> a.grad
        tensor([2., 2.])
    """
    if getattr(_mutation_allowed, "on", False):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    _mutation_allowed.on = True
    try:
        with saved_tensors_hooks(context._pack, context._unpack):
            _C._push_op_handler(context._handle)
            try:
                yield context
            finally:
                _C._pop_op_handler()
    finally:
        _mutation_allowed.on = False
        context.clear()
