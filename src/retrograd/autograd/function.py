"""Ops written in Python.

A subclass of `Function` has a static `forward(ctx, *args)` (or `forward(*args)` and `setup_context(ctx, inputs, output)`) and a static
`backward(ctx, *grads)` that returns one gradient per argument of forward. `MyFunction.apply(...)` runs it and records it as one
graph node, `MyFunctionBackward`, which is what `ctx` is.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import Tensor

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]

BackwardCFunction = _C._FunctionCtx  # the type of a ctx that is a node of the graph


def _save_for_forward(self: Any, *tensors: Any) -> None:
    """Keeps tensors for jvp."""
    for tensor in tensors:
        if tensor is not None and not isinstance(tensor, Tensor):
            raise AssertionError("save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx.")
    self.saved_for_forward = tensors


def _mark_shared_storage(self: Any, *pairs: Any) -> None:
    """Accepted for PyTorch's sake: tensors that share storage are recognised by themselves."""
    warnings.warn(
        "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked; the call can go.",
        FutureWarning,
        stacklevel=2,
    )


def _apply_backward(self: Any, *grads: Any) -> Any:
    """Calls backward with this ctx and these gradients."""
    return self._forward_cls._backward_by_hand(self, grads)


def _apply_boxed(self: Any, grads: list[Any]) -> Any:
    """Calls backward with this ctx and a list of gradients."""
    return self._forward_cls._backward_of(self, grads)


def _apply_jvp(self: Any, *tangents: Any) -> Any:
    """Calls jvp with this ctx and these tangents."""
    return self._forward_cls.jvp(self, *tangents)


BackwardCFunction.apply_boxed = _apply_boxed
BackwardCFunction.apply_jvp = _apply_jvp
BackwardCFunction.save_for_forward = _save_for_forward
BackwardCFunction.mark_shared_storage = _mark_shared_storage
BackwardCFunction.apply = _apply_backward


class _ContextMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or (cls is FunctionCtx and isinstance(instance, BackwardCFunction))


class FunctionCtx(metaclass=_ContextMeta):
    """What forward and backward of a Function see as ctx.

    Calls of `Function.apply` make a node of the graph that behaves like this and is an instance of it for `isinstance`. An object of this
    class itself only notes what it is told: that is enough to call forward by hand.
    """

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors for backward; they come back as ctx.saved_tensors."""
        self.to_save = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Says which inputs forward changed in place; they must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Says which outputs carry no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that are not there arrive as zeros (the default) or as None."""
        self.materialize_grads = value

    save_for_forward = _save_for_forward
    mark_shared_storage = _mark_shared_storage


class FunctionMeta(_ContextMeta):
    """The type of Function classes."""

    @property
    def _backward_cls(cls) -> type:
        """The type of the nodes that apply() makes."""
        return _C._function_node_type(cls)


class Function(_C._FunctionBase, FunctionCtx, metaclass=FunctionMeta):
    """Base of ops written in Python.

    Example::

        >>> class Double(retrograd.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         return grad * 2
        >>> x = retrograd.ones(2, requires_grad=True)
        >>> Double.apply(x).sum().backward()
        >>> x.grad
        tensor([2., 2.])
    """

    #: Whether the vmap rule is to be derived from forward, backward and jvp.
    generate_vmap_rule = False
    #: Whether backward takes its gradients in one list, `backward(ctx, grads)`. Nothing else holds them: one that is taken out of the list and dropped is freed.
    boxed_grads_call = False
    #: Whether `ctx.saved_tensors` hands the tensors over when it is read in backward: they are freed when backward drops them. It can be read once.
    clear_saved_tensors_on_access = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so call {type(self).__name__}.apply(...)",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Make forward and backward static methods, and call "
            "apply() of the class."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Computes the result. First argument is ctx, unless setup_context is defined too."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Saves what backward needs, for a forward without ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gives one gradient (or None) per argument of forward."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function: backward mode AD calls it."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Gives one tangent per output, for forward mode."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Says how to run on a batch: `args` with the batch at `in_dims` (None where there is none). Returns (output, out_dims)."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule to True."
        )

    @classmethod
    def _backward_of(cls, ctx: Any, *grads: Any) -> Any:
        """Calls backward, or vjp where that is what the class defines."""
        own_backward, own_vjp = cls.backward is not Function.backward, cls.vjp is not Function.vjp
        if own_backward and own_vjp:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. Keep one of them.")
        return (cls.vjp if own_vjp else cls.backward)(ctx, *grads)

    @classmethod
    def _backward_by_hand(cls, ctx: Any, grads: Any) -> Any:
        """Calls backward as the engine does, with gradients that came from elsewhere."""
        return cls._backward_of(ctx, list(grads)) if cls.boxed_grads_call else cls._backward_of(ctx, *grads)

    @classmethod
    def _forward_batched(cls, batch: Any, *args: Any) -> Any:
        """Forward for arguments that vmap has batched; see func/_function.py."""
        if cls.setup_context is Function.setup_context:
            raise RuntimeError(
                "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the "
                "setup_context staticmethod: move what forward does with ctx there."
            )
        from retrograd.func._function import forward_batched

        return forward_batched(cls, batch, args)

    @classmethod
    def _count_arguments(cls) -> int:
        """How many arguments setup_context() sees where some may be left out; 0 where that cannot be."""
        if cls.setup_context is Function.setup_context:
            return 0
        import inspect

        parameters = inspect.signature(cls.forward).parameters.values()
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return len(positional) if any(p.default is not p.empty for p in positional) else 0

    @classmethod
    def _apply_keywords(cls, *args: Any, **kwargs: Any) -> Any:
        """apply() with keyword arguments: bound to forward's signature. setup_context() sees the defaults of all that were left out."""
        import inspect

        signature = inspect.signature(cls.forward)
        if cls.setup_context is Function.setup_context:
            return cls.apply(*args, *_in_place(signature, args, kwargs))
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{cls.__name__}.apply(): keyword-only arguments of forward ({', '.join(bound.kwargs)}) cannot be recorded; make them "
                "positional"
            )
        return cls.apply(*bound.args)


def _in_place(signature: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Keyword arguments of forward(ctx, ...) in the places after `args`, up to the last that was given."""
    positional = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][1:]
    places = {p.name: i for i, p in enumerate(positional) if p.kind is p.POSITIONAL_OR_KEYWORD}
    for name in kwargs:
        if name not in places:
            parameter = signature.parameters.get(name)
            keyword_only = parameter is not None and parameter.kind is parameter.KEYWORD_ONLY
            hint = ": it is keyword-only there, and what is recorded are positions" if keyword_only else ""
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'{hint}")
        if places[name] < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    filled = []
    for i in range(len(args), max(map(places.__getitem__, kwargs)) + 1):
        parameter = positional[i]
        value = kwargs.get(parameter.name, parameter.default)
        if value is parameter.empty:
            raise TypeError(f"forward() missing required argument: '{parameter.name}' (position {i})")
        filled.append(value)
    return filled


_C._set_base_setup_context(Function.setup_context)


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Declares a backward that is not differentiable itself: differentiating its result is an error instead of wrong."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with _C.no_grad():
            outputs = fn(ctx, *args)
        grads = args[0] if len(args) == 1 and isinstance(args[0], list) else args  # boxed_grads_call
        if not _C.is_grad_enabled() or not any(isinstance(a, Tensor) and a.requires_grad for a in grads):
            return outputs
        single = not isinstance(outputs, tuple)
        message = "trying to differentiate twice a function that was marked with @once_differentiable"
        fresh = tuple(None if v is None else v.detach()._mark_requires_grad(True) for v in ((outputs,) if single else outputs))
        guarded = _C._delayed_error(message, fresh)
        return guarded[0] if single else guarded

    return wrapper


class InplaceFunction(Function):
    """Kept for PyTorch's sake."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """Kept for PyTorch's sake; use Function and nest inside forward."""
