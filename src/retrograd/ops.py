"""Ops by PyTorch's names: `ops.aten.mm.default` is the op that a policy of a selective checkpoint, or any op handler, gets to see; and those that
programs define with `torch.library`, by their namespaces.

One op here often stands for several overloads there: `ops.aten.add.Tensor` and `ops.aten.add.Scalar` are the same.
"""

from __future__ import annotations

from typing import Any

from retrograd import _C

# Where the table has another name: of the op, or of the overload.
_NAMES = {"_softmax": "softmax", "_log_softmax": "log_softmax", "_to_copy": "_to_copy"}
_OVERLOADS = {"dim_IntList": "dim", "float": "p"}
_PLAIN = ("default", "Tensor", "Scalar", "Scalar_Tensor", "Tensor_Scalar", "Tensor_Tensor", "self", "int")


# Of PyTorch and not of the table: libraries key tables by these, which no handler will ever be given.
_NEVER_SEEN = {
    "alias.default", "_pin_memory.default", "_sparse_addmm.default", "_sparse_mm_reduce_impl.default", "_local_scalar_dense.default",
    "_is_all_true.default", "_assert_async.default", "_assert_async.msg", "_assert_scalar.default", "_assert_tensor_metadata.default",
    "_grouped_mm.default", "detach_.default", "sym_size.int", "sym_constrain_range_for_size.default", "sort.stable", "unique_consecutive.default",
    "scaled_dot_product_attention.default", "any.dim", "to.dtype_layout", "mm.dtype",
}  # fmt: skip


class _NeverSeen:
    """An overload of PyTorch that is no op of its own here."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"aten.{self.name} is no op of its own here; call the function of torch that does this")

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self.name.partition('.')[0]}', overload='{self.name.partition('.')[2]}')>"


class _Overloads:
    """All overloads of an op; calling it calls the function of that name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, overload: str) -> Any:
        name = _NAMES.get(self._name, self._name)
        found: Any = _C._find_op(f"{name}.{_OVERLOADS.get(overload, overload)}")
        if found is None and overload in _PLAIN:
            found = _C._find_op(name)
        if found is None and f"{self._name}.{overload}" in _NEVER_SEEN:
            found = _NeverSeen(f"{self._name}.{overload}")
        if found is None:
            raise AttributeError(f"The underlying op of 'aten.{self._name}' has no overload name '{overload}'")
        setattr(self, overload, found)
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(_C._ops, self._name)(*args, **kwargs)

    def __repr__(self) -> str:
        return f"aten.{self._name}"


class _Aten:
    def __getattr__(self, name: str) -> _Overloads:
        known = any(hasattr(home, _NAMES.get(name, name)) for home in (_C._ops, _C.Tensor, _C._internal_ops))
        if name.startswith("__") or not (known or any(other.startswith(f"{name}.") for other in _NEVER_SEEN)):
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        packet = _Overloads(name)
        setattr(self, name, packet)
        return packet


aten = _Aten()


class _Namespace:
    """The custom ops of one namespace."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        from retrograd._custom_ops.op import registry

        found = registry.get(self.name, {}).get(name)
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        return found

    def __dir__(self) -> list[str]:
        from retrograd._custom_ops.op import registry

        return sorted(registry.get(self.name, {}))


def load_library(path: Any) -> None:
    """Libraries of compiled ops are for PyTorch's own interface in C++."""
    raise OSError(
        f"torch.ops.load_library({path!r}): libraries of ops compiled for PyTorch cannot be loaded here. Define ops with torch.library.custom_op."
    )


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'retrograd.ops' has no attribute {name!r}")
    return _Namespace(name)
