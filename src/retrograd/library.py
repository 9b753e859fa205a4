"""torch.library: ops that programs define. `custom_op` makes one of a function; `define`, `impl` and the `register_*` functions say the parts one by one.

A custom op is found as `torch.ops.<namespace>.<name>`, takes part in autograd, `vmap`, meta tensors and autocast by what is registered for it, and
checks its arguments by its schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from retrograd._custom_ops.check import OpCheckError as OpCheckError, opcheck
from retrograd._custom_ops.op import CustomOp, define as _define, find as _find, swapped as _swapped
from retrograd._custom_ops.schema import infer_schema, parse as _parse

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "get_kernel", "impl", "impl_abstract", "infer_schema", "opcheck",
    "register_autocast", "register_autograd", "register_fake", "register_kernel", "register_torch_dispatch", "register_vmap", "triton_op", "wrap_triton",
]  # fmt: skip

_RESERVED = ("prim", "aten")
# Dispatch keys of PyTorch, and the kind of device that a kernel registered for one is for; "" is any.
_KEYS = {"CPU": "cpu", "CUDA": "cuda", "Meta": "meta", "XPU": "xpu", "MPS": "mps"}
_ANY = ("", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "default", "DEFAULT")


def fallthrough_kernel() -> NoReturn:
    """Registered for a key, it says that the key has no say in the op. It is not called."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


# ---- registering ----


def _place(op: CustomOp, key: str, function: Callable[..., Any]) -> None:
    """Registers a kernel under a dispatch key, or a kind of device."""
    if function is fallthrough_kernel:
        return
    if key in ("Autograd", "AutogradCPU"):
        op.kernels["cpu"] = op.kernels.get("cpu") or function
        op.kernels[""] = function
    elif key in _ANY:
        op.kernels[""] = function
    elif key in _KEYS or key.islower():
        op.kernels[_KEYS.get(key, key)] = function
    else:
        raise RuntimeError(f"could not parse dispatch key: {key}: kernels are for a kind of device, as in 'CPU', or for any, as in ''")


class Library:
    """A collection of definitions and kernels of ops of one namespace.

    Args:
        ns: the namespace.
        kind: "DEF" for a new one, "FRAGMENT" for more of one, "IMPL" for kernels.
        dispatch_key: what `impl` registers for where it is not told.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim" or (ns in _RESERVED and kind in ("DEF", "FRAGMENT")):
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Makes an op known by its schema, `foo(Tensor x) -> Tensor`."""
        if self.kind == "IMPL":
            raise RuntimeError("Cannot define ops with a Library of kind IMPL: use DEF or FRAGMENT")
        found = _parse(schema, self.ns)
        _define(found)
        return found.name.partition("::")[2] + (f".{found.overload_name}" if found.overload_name else "")

    def _named(self, op_name: Any) -> str:
        if isinstance(op_name, CustomOp):
            return op_name.name()
        name = str(op_name)
        return name if "::" in name else f"{self.ns}::{name}"

    def impl(
        self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False, allow_override: bool = False
    ) -> None:
        """Registers a kernel of an op for a dispatch key: CPU, Meta, or "" for any."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        name = self._named(op_name)
        if name.startswith("aten::"):
            raise NotImplementedError(
                f"a kernel of PyTorch's own op {name} cannot be replaced here: the ops of the table have one for each device"
            )
        _place(_find(name), dispatch_key or self.dispatch_key, fn)

    def fallback(self, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> NoReturn:
        """Kernels for all ops of a key are not there."""
        raise NotImplementedError("Library.fallback: there are no dispatch keys here; an op handler sees every op")

    def _register_fake(self, op_name: str, fn: Callable[..., Any], *_: Any, **__: Any) -> None:
        _find(self._named(op_name)).fake = fn

    def _destroy(self) -> None:
        """Ops stay: somebody may hold them."""


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Makes an op known: its name, `mylib::foo`, and its schema, `(Tensor x) -> Tensor`."""
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, colons, name = qualname.partition("::")
    if not colons:
        raise ValueError(f"Expected qualname to be of the form 'namespace::name', got {qualname!r}")
    if not schema.lstrip().startswith("("):
        raise ValueError(f'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got "{schema}"')
    name, _, overload = name.partition(".")
    _define(_parse((f"{name}.{overload}" if overload else name) + schema, namespace))


def _decorator(register: Callable[[Callable[..., Any]], Any], function: Callable[..., Any] | None) -> Any:
    def registered(function: Callable[..., Any]) -> Callable[..., Any]:
        register(function)
        return function

    return registered if function is None else registered(function)


def impl(qualname: Any, types: str | Sequence[str] = "", func: Callable[..., Any] | None = None, *, lib: Library | None = None) -> Any:
    """Registers a kernel of an op for kinds of devices, "default" for all; a decorator without `func`."""
    if isinstance(qualname, Library):  # impl(lib, name, dispatch_key)
        library, key = qualname, func if isinstance(func, str) else ""
        return _decorator(lambda f: library.impl(types, f, key), None)
    kinds = [types] if isinstance(types, str) else list(types)

    def register(function: Callable[..., Any]) -> None:
        for kind in kinds:
            _place(_find(qualname), "" if kind == "default" else kind, function)

    return _decorator(register, func)


def register_kernel(
    op: Any, device_types: str | Sequence[str] | None, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Any:
    """Registers a kernel for kinds of devices, or for all with None; a decorator without `func`."""
    return impl(_find(op), "" if device_types is None else device_types, func)


def register_fake(
    op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None, _stacklevel: int = 1, allow_override: bool = True
) -> Any:
    """Registers what an op does on meta tensors: sizes, dtype and device of its results. A decorator without `func`."""
    found = _find(op)
    return _decorator(lambda f: setattr(found, "fake", f), func)


def impl_abstract(qualname: Any, func: Callable[..., Any] | None = None, *, lib: Library | None = None, _stacklevel: int = 1) -> Any:
    """The older name of `register_fake`."""
    return register_fake(qualname, func)


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None, lib: Library | None = None
) -> None:
    """Registers the derivative of an op.

    Args:
        backward: backward(ctx, *grads) gives a gradient for each positional argument, None where there is none.
        setup_context: setup_context(ctx, inputs, output) saves what it needs.
    """
    found = _find(op)
    if found._schema.mutated:
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {found} with schema {found._schema}. Please create a functional "
            "operator and register an autograd formula for that."
        )
    found.backward, found.setup_context = backward, setup_context


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None) -> Any:
    """Registers how `vmap` runs an op: func(info, in_dims, *args) gives results and their dims. Without, it runs sample by sample."""
    found = _find(op)
    return _decorator(lambda f: setattr(found, "vmap_rule", f), func)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None) -> None:
    """Registers the dtype that autocast casts the tensors of an op to, for a kind of device."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type}")
    _find(op).autocast[device_type] = cast_inputs


def register_torch_dispatch(op: Any, torch_dispatch_class: Any, func: Any = None, /, *, lib: Library | None = None) -> NoReturn:
    """There is no __torch_dispatch__ here."""
    raise NotImplementedError(
        "torch.library.register_torch_dispatch: there are no __torch_dispatch__ classes here; __torch_function__ sees the call of a custom op"
    )


def get_kernel(op: Any, dispatch_key: Any) -> Callable[..., Any]:
    """The kernel that was registered under a dispatch key."""
    found, key = _find(op), str(dispatch_key).rpartition(".")[2]
    kernel = found.kernels.get("" if key in _ANY else _KEYS.get(key, key.lower()))
    if kernel is None:
        raise RuntimeError(f"no kernel for {key} on {found}")
    return kernel


def get_ctx() -> NoReturn:
    """Sizes that depend on data have no symbols here."""
    raise RuntimeError(
        "torch.library.get_ctx(): sizes that depend on values have no symbols here: on meta tensors such an op cannot be computed"
    )


def triton_op(name: str, fn: Any = None, /, *, mutates_args: Any, schema: str | None = None) -> NoReturn:
    """Triton compiles for GPUs."""
    raise NotImplementedError(
        f"torch.library.triton_op({name!r}): Triton kernels need a GPU. Use torch.library.custom_op with a CPU kernel."
    )


def wrap_triton(triton_kernel: Any, /) -> NoReturn:
    """Triton compiles for GPUs."""
    raise NotImplementedError("torch.library.wrap_triton: Triton kernels need a GPU")


# ---- of a function ----


class CustomOpDef:
    """What `custom_op` makes of a function: the op, and what else can be registered for it."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable[..., Any]) -> None:
        self._namespace, self._name, self._init_fn = namespace, name, fn
        self._schema = schema
        self._opoverload = _define(_parse(name + schema, namespace), guarded=True, again=True)
        self._opoverload.python_name = getattr(fn, "__name__", name)

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types: str | Sequence[str] | None, fn: Callable[..., Any] | None = None, /) -> Any:
        """See `torch.library.register_kernel`."""
        return register_kernel(self._opoverload, device_types, fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """See `torch.library.register_fake`."""
        return register_fake(self._opoverload, fn)

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None) -> None:
        """See `torch.library.register_autograd`."""
        register_autograd(self._opoverload, backward, setup_context=setup_context)

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """See `torch.library.register_vmap`."""
        return register_vmap(self._opoverload, func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """See `torch.library.register_autocast`."""
        register_autocast(self._opoverload, device_type, cast_inputs)

    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: Any = None, /) -> NoReturn:
        """See `torch.library.register_torch_dispatch`."""
        register_torch_dispatch(self._opoverload, torch_dispatch_class, fn)

    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Any:
        """A block in which the kernel of a kind of device is used or not; without, the function itself runs."""
        return _swapped(self._opoverload.disabled, device_type, enabled)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Makes an op of a function, which autograd and transforms do not look into; a decorator.

    Args:
        name: `mylib::name`.
        mutates_args: the names of the arguments that the function writes; "unknown": all tensors may be.
        device_types: the kinds of devices that the function is for; None: any.
        schema: `(Tensor x, float y) -> Tensor`; by default that of the annotations.

    Example:
        >>> @torch.library.custom_op("docs::twice", mutates_args=())
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return x * 2
        >>> torch.ops.docs.twice(torch.ones(2))
        tensor([2., 2.])
    """

    def made(fn: Callable[..., Any]) -> CustomOpDef:
        text = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
        namespace, colons, opname = name.partition("::")
        if not colons or not opname:
            raise ValueError(f"custom_op: expected a name with a namespace, as in 'mylib::foo', got {name!r}")
        result = CustomOpDef(namespace, opname, text, fn)
        if schema is not None and not isinstance(mutates_args, str):
            said, written = set(mutates_args), set(result._opoverload._schema.mutated)
            if said != written:
                raise ValueError(
                    "Attempted to create a custom op with `mutates_args` and `schema` that disagree about mutation: "
                    f"mutates_args={sorted(said)}, the schema writes {sorted(written)}"
                )
        result.register_kernel(device_types, fn)
        return result

    return made if fn is None else made(fn)
