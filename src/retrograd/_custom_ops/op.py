"""A custom op: what was registered for it, and how a call finds its way: autocast, recording and vmap, meta tensors, the kernel of a device."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import Any

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._custom_ops.schema import Schema, bind
from retrograd.autograd import Function
from retrograd.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

Kernel = Callable[..., Any]

watchers: list[Callable[..., None]] = []  # called with (op, args, kwargs, results) after a call
_running = threading.local()  # .calls: those whose Function is being applied, innermost last


class _Call:
    """The structure of the arguments of one call, and of its results."""

    def __init__(self, op: CustomOp, positional: list[Any], by_name: dict[str, Any]) -> None:
        self.op = op
        self.flat, self.spec = tree_flatten((positional, by_name), is_leaf=lambda v: v is None)
        self.widths = [len(tree_leaves(v, is_leaf=lambda v: v is None)) for v in positional]
        self.results: Any = None

    def arguments(self, flat: Iterable[Any]) -> tuple[list[Any], dict[str, Any]]:
        return tree_unflatten(flat, self.spec)


def _current() -> _Call:
    return _running.calls[-1]


class _Recorded(Function):
    """The node of a custom op. Each op has a subclass, by whose name the node goes."""

    @staticmethod
    def forward(*flat: Any) -> Any:
        call = _current()
        positional, by_name = call.arguments(flat)
        out, call.results = tree_flatten(call.op._compute(positional, by_name), is_leaf=lambda v: v is None)
        return tuple(out)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx._call = call = _current()
        op = call.op
        if op.setup_context is None:
            return
        positional, by_name = call.arguments(inputs)
        results = tree_unflatten(output, call.results)
        if by_name:
            op.setup_context(ctx=ctx, inputs=tuple(positional), keyword_only_inputs=by_name, output=results)
        else:
            op.setup_context(ctx=ctx, inputs=tuple(positional), output=results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        call = ctx._call
        if call.op.backward is None:
            raise RuntimeError(
                f"Trying to backward through {call.op} but no autograd formula was registered. Please use register_autograd to add one."
            )
        whole = tree_unflatten(grads, call.results)
        found = call.op.backward(ctx, *(whole if isinstance(whole, tuple) else (whole,)))
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(call.widths):
            raise RuntimeError(
                f"the backward of {call.op} gave {len(found)} gradients, where the op has {len(call.widths)} positional arguments: one each, "
                "None where there is none"
            )
        flat: list[Any] = []
        for grad, width in zip(found, call.widths, strict=True):
            flat += [None] * width if grad is None else list(grad) if isinstance(grad, (list, tuple)) else [grad]
        return (*flat, *[None] * (len(call.flat) - len(flat)))

    @staticmethod
    def vmap(info: Any, in_dims: Any, *flat: Any) -> Any:
        call = _current()
        op, (positional, by_name) = call.op, call.arguments(flat)
        if op.vmap_rule is not None:
            dims, _ = call.arguments(in_dims)
            out, out_dims = op.vmap_rule(info, tuple(dims), *positional, **by_name)
            leaves, call.results = tree_flatten(out, is_leaf=lambda v: v is None)
            if isinstance(out_dims, (tuple, list)):
                return tuple(leaves), tuple(tree_leaves(out_dims, is_leaf=lambda v: v is None))
            return tuple(leaves), (out_dims,) * len(leaves)
        samples = []
        for i in range(info.batch_size):
            one = [v.select(d, i) if d is not None else v for v, d in zip(flat, in_dims, strict=True)]
            leaves, call.results = tree_flatten(op._run(*call.arguments(one)), is_leaf=lambda v: v is None)
            samples.append(leaves)
        first = samples[0] if samples else []
        batched = [isinstance(v, Tensor) for v in first]
        out = tuple(torch.stack([s[i] for s in samples]) if is_tensor else first[i] for i, is_tensor in enumerate(batched))
        return out, tuple(0 if is_tensor else None for is_tensor in batched)


class CustomOp:
    """`torch.ops.<namespace>.<name>.<overload>`: calls what was registered for the device of its tensors."""

    def __init__(self, schema: Schema, guarded: bool) -> None:
        self._schema = schema
        self.namespace, _, self._opname = schema.name.partition("::")
        self._overloadname = schema.overload_name or "default"
        self.guarded = guarded  # by custom_op: results are new, and without a formula backward is an error
        self.kernels: dict[str, Kernel] = {}  # by kind of device; "": of any, recorded op by op
        self.disabled: set[str] = set()
        self.fake: Kernel | None = None
        self.backward: Kernel | None = None
        self.setup_context: Kernel | None = None
        self.vmap_rule: Kernel | None = None
        self.autocast: dict[str, Any] = {}
        self.python_name = self._opname
        name = f"GeneratedBackwardFor_{self.namespace}_{self._opname}_{self._overloadname}"
        self._node: type[Function] = type(name, (_Recorded,), {})

    __name__ = property(lambda self: f"{self._opname}.{self._overloadname}")

    def name(self) -> str:
        """With its namespace, as in schemas."""
        return self._schema.name + (f".{self._schema.overload_name}" if self._schema.overload_name else "")

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self.namespace}.{self._opname}.{self._overloadname}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        positional, by_name = bind(self._schema, args, kwargs)
        if _C._overloaded(tuple(positional), by_name):
            return _C._call_torch_function(self, tuple(positional), by_name)
        out = self._run(positional, by_name)
        for watch in watchers:
            watch(self, positional, by_name, out)
        return out

    def _run(self, positional: list[Any], by_name: dict[str, Any]) -> Any:
        for kind, dtype in self.autocast.items():
            if torch.is_autocast_enabled(kind):
                from retrograd.amp.autocast_mode import _cast

                with torch.autocast(kind, enabled=False):
                    return self._run(_cast(positional, kind, dtype), _cast(by_name, kind, dtype))
        written = self._schema.mutated
        needs = torch.is_grad_enabled() and any(isinstance(v, Tensor) and v.requires_grad for v in tree_leaves((positional, by_name)))
        if _C._surroundings()[1] or (needs and not written and (self.guarded or self.backward is not None)):
            return self._recorded(positional, by_name)
        if not written or not self.guarded:
            return self._compute(positional, by_name)
        return self._write(positional, by_name)

    def _recorded(self, positional: list[Any], by_name: dict[str, Any]) -> Any:
        call = _Call(self, positional, by_name)
        if not hasattr(_running, "calls"):
            _running.calls = []
        _running.calls.append(call)
        try:
            out = self._node.apply(*call.flat)
        finally:
            _running.calls.pop()
        return tree_unflatten(out if isinstance(out, tuple) else (out,), call.results)

    def _write(self, positional: list[Any], by_name: dict[str, Any]) -> Any:
        """A call that writes: autograd is told, whatever the kernel writes with."""
        names = [a.name for a in self._schema.arguments if not a.kwarg_only]
        values = dict(zip(names, positional, strict=True)) | by_name
        written = [t for n in self._schema.mutated for t in tree_leaves(values[n]) if isinstance(t, Tensor)]
        if torch.is_grad_enabled() and any(t.requires_grad for t in written):
            raise RuntimeError(f"{self}: an argument that it writes requires grad, and autograd could not follow. Call it under no_grad().")
        with torch.no_grad():
            out = self._compute(positional, by_name)
        torch.autograd.graph.increment_version(written)
        return out

    def _compute(self, positional: list[Any], by_name: dict[str, Any]) -> Any:
        tensors = [v for v in tree_leaves((positional, by_name)) if isinstance(v, Tensor)]
        kinds = {t.device.type for t in tensors} or {"cpu"}
        if "meta" in kinds and "meta" not in self.kernels:
            return self._computed_fake(positional, by_name)
        kind = next((k for k in kinds if k != "cpu"), "cpu")
        kernel = None if kind in self.disabled else self.kernels.get(kind)
        kernel = kernel or self.kernels.get("")
        if kernel is None:
            there = ", ".join(sorted(self.kernels)) or "none"
            raise NotImplementedError(
                f"Could not run '{self.name()}' with arguments from the '{kind.upper()}' backend: there are kernels for {there}. Register one "
                f"with torch.library.register_kernel or Library.impl."
            )
        out = kernel(*positional, **by_name)
        if self.guarded:
            self._check_new(tensors, out)
        return out

    def _computed_fake(self, positional: list[Any], by_name: dict[str, Any]) -> Any:
        if self.fake is None and "" in self.kernels and not self.guarded:
            return self.kernels[""](*positional, **by_name)
        if self.fake is None:
            raise RuntimeError(
                f"There was no fake impl registered for <CustomOpDef({self._schema.name})>. This is necessary for torch.compile/export/fx "
                f"tracing to work. Please use `{self.python_name}.register_fake` to add an fake impl."
            )
        return self.fake(*positional, **by_name)

    def _check_new(self, tensors: list[Tensor], out: Any) -> None:
        if not tensors:
            return
        seen = {t.untyped_storage().data_ptr() for t in tensors if t.device.type != "meta" and t.numel() and not t.is_sparse}
        for t in tree_leaves(out):
            if not isinstance(t, Tensor):
                continue
            alike = any(t is other for other in tensors)
            if not alike and t.device.type != "meta" and t.numel() and not t.is_sparse:
                place = t.untyped_storage().data_ptr()
                alike = place in seen
                seen.add(place)
            if alike:
                raise RuntimeError(
                    f"{self._opname} (with implementation in {self.kernels and next(iter(self.kernels.values())).__module__}): The output of this "
                    "custom operator (1) must not also be an input to this custom operator and (2) may not alias any inputs to this custom "
                    "operator or other returns. The most common way to trigger this error is if we have y = custom_op(x) and y and x are the "
                    "same Tensor. Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) or refactor the "
                    "custom operator to not return y."
                )


class Packet:
    """`torch.ops.<namespace>.<name>`: all overloads of an op; calling it takes the first that the arguments fit."""

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace, self._op_name = namespace, name
        self._qualified_op_name = f"{namespace}::{name}"
        self._found: dict[str, CustomOp] = {}
        self.__name__ = name

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return list(self._found)

    def __getattr__(self, overload: str) -> CustomOp:
        found = self.__dict__.get("_found", {}).get(overload)
        if found is None:
            raise AttributeError(
                f"The underlying op of '{self.__dict__.get('_namespace')}.{self.__dict__.get('_op_name')}' has no overload name '{overload}'"
            )
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        ops = list(self._found.values())
        for op in ops[:-1]:
            try:
                bind(op._schema, args, kwargs)
            except RuntimeError:
                continue
            return op(*args, **kwargs)
        return ops[-1](*args, **kwargs)

    def __str__(self) -> str:
        return f"{self._namespace}.{self._op_name}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


registry: dict[str, dict[str, Packet]] = {}


def define(schema: Schema, guarded: bool = False, again: bool = False) -> CustomOp:
    """Makes an op of a schema known; `again`: in place of one that there is."""
    namespace, _, name = schema.name.partition("::")
    packet = registry.setdefault(namespace, {}).setdefault(name, Packet(namespace, name))
    overload = schema.overload_name or "default"
    if overload in packet._found and not again:
        raise RuntimeError(
            f"Tried to register an operator ({schema}) with the same name and overload name multiple times. Each overload's schema should only "
            "be registered with a single call to def()."
        )
    packet._found[overload] = op = CustomOp(schema, guarded)
    return op


def find(op: Any) -> CustomOp:
    """The op of a name, `mylib::foo` or `mylib::foo.overload`, or of what stands for it."""
    if isinstance(op, CustomOp):
        return op
    if isinstance(op, Packet):
        return op._found.get("default") or next(iter(op._found.values()))
    if hasattr(op, "_opoverload"):
        return op._opoverload
    if not isinstance(op, str):
        raise ValueError(f"Expected an op or its name, as in 'mylib::foo', got {op!r}")
    namespace, _, rest = op.partition("::")
    name, _, overload = rest.partition(".")
    packet = registry.get(namespace, {}).get(name)
    found = packet._found.get(overload or "default") if packet else None
    if found is None:
        raise RuntimeError(f"Could not find the operator {op}. Define it first, with torch.library.define or custom_op.")
    return found


@contextmanager
def swapped(place: set[str], kind: str, on: bool) -> Any:
    """A block in which the kernel of a device is on or off."""
    before = kind in place
    (place.discard if on else place.add)(kind)
    try:
        yield
    finally:
        (place.add if before else place.discard)(kind)


def on_meta(values: Any) -> Any:
    """Arguments with their tensors on the meta device."""
    return tree_map(lambda v: v.detach().to("meta").requires_grad_(v.requires_grad) if isinstance(v, Tensor) else v, values)
