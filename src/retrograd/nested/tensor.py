"""The class of nested tensors: tensors of as many dimensions, of different sizes. A call on one is a call on each of its parts, or is refused in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import retrograd as torch
from retrograd import _C, Tensor

# What is computed part by part, by the name of the function: each element of the result comes from the elements in its place.
_ELEMENTWISE = """
    abs acos add angle asin atan atan2 bitwise_and bitwise_not bitwise_or bitwise_xor ceil clamp clamp_max clamp_min clone contiguous conj cos cosh deg2rad
    detach digamma div dropout elu eq erf erfc erfinv exp exp2 expm1 float floor floor_divide fmod frac ge gelu gt half hardsigmoid hardswish hardtanh
    isfinite isinf isnan ldexp le leaky_relu lerp lgamma log log10 log1p log2 logical_and logical_not logical_or logical_xor logit logsigmoid lt maximum
    minimum mish mul nan_to_num ne neg ones_like pow rad2deg rand_like randn_like reciprocal relu relu6 remainder round rsqrt rsub selu sgn sigmoid sign
    silu sin sinc sinh softplus softsign sqrt square sub subtract tan tanh tanhshrink threshold to true_divide trunc type where xlogy zeros_like double int
    long bool bfloat16 multiply divide masked_fill true_divide negative absolute
    __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __pow__ __rpow__ __neg__ __abs__ __gt__ __lt__ __ge__ __le__ __ne__ __eq__
    __floordiv__ __rfloordiv__ __mod__ __rmod__ __and__ __or__ __xor__ __invert__ __lshift__ __rshift__
"""
# Those along dimensions that all parts have, which are counted from the end, and products with a weight on the last.
_TRAILING = {"linear", "softmax", "log_softmax", "layer_norm", "rms_norm", "embedding"}
_NAMES = frozenset(_ELEMENTWISE.split())


class NestedTensor(Tensor):
    """A nested tensor. Tensor's attributes that one tensor alone has are refused."""

    _parts: tuple[Tensor, ...]
    _layout: Any
    _ragged: int  # the dimension of the parts in which those of a jagged tensor differ

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        with _C.DisableTorchFunctionSubclass():
            return _call(func, args, kwargs or {})

    # -- what is asked of it --

    is_nested = True

    @property
    def layout(self) -> Any:
        return self._layout

    @property
    def dtype(self) -> Any:
        return self._parts[0].dtype if self._parts else _C.get_default_dtype()

    @property
    def device(self) -> Any:
        return self._parts[0].device if self._parts else _C.device("cpu")

    @property
    def requires_grad(self) -> bool:  # type: ignore[override]
        return any(part.requires_grad for part in self._parts)

    @property
    def grad(self) -> Any:  # type: ignore[override]
        grads = [part.grad for part in self._parts if part.grad is not None]
        return nested(grads, self._layout) if grads and len(grads) == len(self._parts) else None

    @property
    def grad_fn(self) -> Any:
        return next((part.grad_fn for part in self._parts if part.grad_fn is not None), None)

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None

    @property
    def shape(self) -> Any:
        return self.size()

    @property
    def ndim(self) -> int:
        return self.dim()

    def dim(self) -> int:
        """One more than a part."""
        return 1 + (self._parts[0].dim() if self._parts else 0)

    def numel(self) -> int:
        """Of all parts."""
        return sum(part.numel() for part in self._parts)

    def size(self, dim: int | None = None) -> Any:
        """Of a dimension that all parts have alike."""
        if dim is None:
            raise RuntimeError("a nested tensor has no one size, as its parts differ: ask size(dim), or unbind() it")
        at = dim + self.dim() if dim < 0 else dim
        if at == 0:
            return len(self._parts)
        sizes = {part.size(at - 1) for part in self._parts}
        if len(sizes) != 1 or (self._layout is _jagged() and at == 1 + self._ragged):
            raise RuntimeError(f"Given dimension {at} is irregular and does not have a size.")
        return sizes.pop()

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """The parts."""
        if dim != 0:
            raise RuntimeError(f"NestedTensor can only be unbound along dimension 0 got dimension {dim} instead.")
        return self._parts

    def values(self) -> Tensor:
        """The parts of a jagged tensor, one behind the other."""
        return _C._ops.cat(list(self._parts), self._ragged)

    def offsets(self) -> Tensor:
        """Where the parts of values() begin and end."""
        return torch.tensor([0, *(part.size(self._ragged) for part in self._parts)]).cumsum(0)

    def lengths(self) -> None:
        """None: the parts lie close together."""

    def is_contiguous(self, *options: Any) -> bool:
        return all(part.is_contiguous() for part in self._parts)

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> Tensor:
        """One ordinary tensor, with `padding` where parts end."""
        if not self._parts:
            raise RuntimeError("to_padded_tensor: at least one constituent tensor should have non-zero numel")
        largest = [max(sizes) for sizes in zip(*(part.shape for part in self._parts), strict=True)]
        if output_size is not None:
            wanted = list(output_size)[1:]
            if len(wanted) != len(largest) or any(w < n for w, n in zip(wanted, largest, strict=True)):
                raise RuntimeError("Value in output_size is less than NestedTensor padded size. Truncation is not supported.")
            largest = wanted
        padded = []
        for part in self._parts:
            ends = [end for size, n in zip(reversed(part.shape), reversed(largest), strict=True) for end in (0, n - size)]
            padded.append(torch.nn.functional.pad(part, ends, value=padding))
        return torch.stack(padded)

    def requires_grad_(self, requires_grad: bool = True) -> NestedTensor:
        """Of all parts."""
        for part in self._parts:
            part.requires_grad_(requires_grad)
        return self

    def backward(self, *args: Any, **kwargs: Any) -> NoReturn:
        _refuse("backward")

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Any:
        return iter(self._parts)

    @property
    def mT(self) -> Any:
        return self.transpose(-1, -2)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int):
            return self._parts[index]
        if isinstance(index, tuple) and len(index) == 2 and index[0] is ... and isinstance(index[1], int):
            return self.select(-1, index[1])
        return _refuse("indexing with anything but a number, alone or behind an ellipsis")

    def __repr__(self, *args: Any, **kwargs: Any) -> str:  # type: ignore[override]
        if self._layout is _jagged():
            rest = "".join(f", {'j' if i == self._ragged else n}" for i, n in enumerate(self._parts[0].shape if self._parts else (0,)))
            return f"NestedTensor(size=({len(self._parts)}{rest}), offsets={self.offsets()}, contiguous={self.is_contiguous()})"
        inner = ",\n".join("  " + repr(part).replace("\n", "\n  ") for part in self._parts)
        return f"nested_tensor([\n{inner}\n]{', requires_grad=True' if self.requires_grad and self.is_leaf else ''})"

    def __deepcopy__(self, memo: Any) -> Any:
        import copy

        return nested([copy.deepcopy(part, memo) for part in self._parts], self._layout, self._ragged)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return nested, (list(self._parts), self._layout, self._ragged)

    __hash__ = Tensor.__hash__


def _jagged() -> Any:
    return torch.jagged


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(
        f"{what}: not supported for nested tensors, which are made, taken apart by unbind(), padded by to_padded_tensor() and computed with element by "
        "element. Do it with the parts, or with the padded tensor"
    )


def nested(parts: list[Tensor], layout: Any = None, ragged: int | None = 0) -> NestedTensor:
    """A nested tensor of these very tensors; jagged ones differ in the dimension `ragged` alone (None: they are not looked at, and the first that differs is it)."""
    layout = _C.strided if layout is None else layout
    if layout not in (_C.strided, _jagged()):
        raise RuntimeError(f"Specified layout is unsupported for nested tensors: {layout}")
    for i, part in enumerate(parts):
        if part.dim() != parts[0].dim():
            raise RuntimeError(f"All Tensors given to nested_tensor must have the same dimension. Found dimension {part.dim()} for Tensor at index {i} and "
                               f"dimension {parts[0].dim()} for Tensor at index 0.")  # fmt: skip
        if (
            layout is _jagged()
            and ragged is not None
            and part.shape[:ragged] + part.shape[ragged + 1 :] != parts[0].shape[:ragged] + parts[0].shape[ragged + 1 :]
        ):
            raise RuntimeError("Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the jagged layout only allows for a "
                               "single ragged dimension. For example: (B, *, D_0, D_1, ..., D_N), with ragged * dim.")  # fmt: skip
    made: Any = Tensor.as_subclass(_C._ops.empty((0,)), NestedTensor)
    if ragged is None:
        ragged = next((i for i in range(parts[0].dim()) if len({part.size(i) for part in parts}) > 1), 0)
    made._parts, made._layout, made._ragged = tuple(parts), layout, ragged
    return made


def _call(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = getattr(func, "__name__", str(func))
    if hasattr(NestedTensor, name) and name in vars(NestedTensor) and name not in _NAMES and args and isinstance(args[0], NestedTensor):
        return getattr(args[0], name)(*args[1:], **kwargs)  # torch.unbind(x) and the like
    given = [x for x in (*args, *kwargs.values()) if isinstance(x, NestedTensor)]
    from retrograd.nested.dims import CALLS

    if name in CALLS:
        return CALLS[name](*args, **kwargs)
    if (name not in _NAMES and name not in _TRAILING) or not given:
        _refuse(name)
    if name in ("softmax", "log_softmax"):
        args, kwargs = _of_parts(name, given[0], args, kwargs)
    first = given[0]
    if any(len(x._parts) != len(first._parts) for x in given):
        raise RuntimeError(f"{name} does not support broadcasting when given a NestedTensor")
    for x in given[1:]:
        if any(a.shape != b.shape for a, b in zip(x._parts, first._parts, strict=True)):
            raise RuntimeError(f"{name} does not support broadcasting when given a NestedTensor")
    results = []
    for i, part in enumerate(first._parts):
        own = [x._parts[i] if isinstance(x, NestedTensor) else x for x in args]
        named = {key: x._parts[i] if isinstance(x, NestedTensor) else x for key, x in kwargs.items()}
        result = func(*own, **named)
        if name in _NAMES and result.shape != part.shape:
            raise RuntimeError(f"{name} does not support broadcasting when given a NestedTensor")
        results.append(result)
    return nested(results, first._layout, first._ragged)


def _of_parts(name: str, tensor: NestedTensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with the dimension counted in a part."""
    dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
    if not isinstance(dim, int) or dim % tensor.dim() == 0:
        _refuse(f"{name} with dim={dim}, which the parts do not have")
    return (args[0],), {**kwargs, "dim": dim % tensor.dim() - 1}
