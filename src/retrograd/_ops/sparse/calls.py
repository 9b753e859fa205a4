"""Which function a call on sparse tensors is. What is not here is refused in words, so that nothing is ever computed from a tensor without memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from retrograd import _C, Tensor, autograd
from retrograd._ops.sparse import arithmetic, methods, old_names, products, reduce, shape, writes
from retrograd._ops.sparse.history import to_dense, values_of, with_parts
from retrograd._ops.sparse.tensor import COO, detached, is_sparse, refuse


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = getattr(func, "__name__", "")
    home = getattr(func, "__module__", None) or ""
    if home.rpartition(".")[2] in ("linalg", "special", "masked", "fft"):  # linalg.norm is not norm
        name = f"{home.rpartition('.')[2]}_{name}"
    name = _OPERATORS.get(name, name)
    found = CALLS.get(name)
    if found is None or kwargs.get("out") is not None:
        refuse(f"{name}.out" if found else name, _first((*args, *kwargs.values())))
    # As in a function of the table: `input` and `self` are one name.
    if "input" in kwargs and name not in ("addmm", "sspaddmm"):
        args, kwargs = (kwargs["input"], *args), {k: v for k, v in kwargs.items() if k != "input"}
    kwargs.pop("out", None)
    if name not in ANYWHERE and not (args and is_sparse(args[0])):
        refuse(name, _first((*args, *kwargs.values())))
    return found(*args, **kwargs)


def _first(args: Any) -> Any:
    for a in args:
        if is_sparse(a):
            return a
        if isinstance(a, (tuple, list)):
            found = _first(a)
            if found is not None:
                return found
    return None


# -- dtypes, devices, copies ----------------------------------------------------------------------


def to(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Another dtype or device; the tensor itself where nothing changes."""
    if args and is_sparse(args[0]):
        args = (args[0].device, args[0].dtype, *args[1:])
    if not is_sparse(self):
        return self.to(*args, **kwargs)
    held = self.parts.values
    new = held.to(*args, **kwargs)
    if new is held:
        return self
    device = new.device
    values = values_of(self).to(*args, **kwargs)
    copies = new.dtype == held.dtype and new.device == held.device
    moved = self.parts.moved(lambda part: part.clone() if copies else part.to(device))
    return with_parts(self.shape, moved._replace(values=values))


def as_dtype(dtype: Any) -> Callable[..., Any]:
    return lambda self, memory_format=None: to(self, dtype)


def type_of(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    from retrograd._types import dtype_of_name, name_of_dtype

    if dtype is None:
        if self.parts.layout is not COO:
            raise RuntimeError("Unimplemented backend SparseCsrCPU")
        return "torch.sparse." + name_of_dtype(self.dtype)
    if isinstance(dtype, str):
        dtype = dtype.replace("torch.sparse.", "torch.")
    return to(self, dtype_of_name(dtype) if isinstance(dtype, (str, type)) else dtype)


def clone(input: Any, *, memory_format: Any = None) -> Any:
    parts = input.parts
    copied = parts.moved(Tensor.clone)
    return with_parts(input.shape, copied._replace(values=values_of(input).clone()))


# -- what is refused in words of its own ----------------------------------------------------------


def refusing(kind: type[Exception], words: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise kind(words)

    return function


def item(self: Any) -> Any:
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    return to_dense(self).item()


def truth(self: Any) -> bool:
    if self.numel() != 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(to_dense(self))


def number(kind: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(self: Any) -> Any:
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return kind(to_dense(self).item())

    return function


# -- autograd -------------------------------------------------------------------------------------


def backward(self: Any, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None) -> None:
    autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def hook_method(name: str) -> Callable[..., Any]:
    return getattr(Tensor, name).__wrapped__


# Functions that look for themselves where the sparse tensor is. All others take it first.
ANYWHERE = frozenset(
    {
        "add", "sub", "subtract", "rsub", "mul", "multiply", "div", "divide", "true_divide", "pow", "add_", "sub_", "mul_", "div_", "mm", "mv",
        "bmm", "matmul", "linalg_matmul", "addmm", "addmm_", "linear", "sspaddmm", "cat", "concat", "concatenate", "stack", "vstack", "hstack", "copy_", "to",
        "type_as", "sparse_mask", "resize_as_sparse_", "is_same_size", "result_type", "grad", "backward",
    }
)  # fmt: skip

_PARTS = ("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices")
# Operators that are methods of their own, by what they do.
_OPERATORS = {
    "__rsub__": "rsub", "__rtruediv__": "reciprocal", "__floordiv__": "floor_divide", "__pow__": "pow", "__ipow__": "pow_", "__eq__": "eq", "__and__": "bitwise_and",
    "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__invert__": "bitwise_not",
}  # fmt: skip

CALLS: dict[str, Callable[..., Any]] = {
    **{name: arithmetic.function_of(name, False) for name in arithmetic.ZERO_TO_ZERO},
    **{name: arithmetic.function_of(name, True) for name in arithmetic.ADDITIVE},
    **{name: getattr(arithmetic, name) for name in ("add", "sub", "rsub", "mul", "div", "floor_divide", "pow", "any", "norm")},
    "subtract": arithmetic.sub,
    "multiply": arithmetic.mul,
    "divide": arithmetic.div,
    "true_divide": arithmetic.div,
    **{name: getattr(products, name) for name in ("mm", "mv", "bmm", "matmul", "addmm", "linear")},
    **{name: getattr(products, name).__wrapped__ for name in ("smm", "sspaddmm", "hspmm")},
    **{f"{part}_copy": getattr(old_names, f"{part}_copy").__wrapped__ for part in _PARTS},
    **{
        name: getattr(shape, name)
        for name in (
            "permute",
            "transpose",
            "t",
            "adjoint",
            "unsqueeze",
            "select",
            "unbind",
            "index_select",
            "cat",
            "stack",
            "vstack",
            "hstack",
        )
    },
    "linalg_matmul": products.matmul,
    "swapaxes": shape.transpose,
    "swapdims": shape.transpose,
    "concat": shape.cat,
    "concatenate": shape.cat,
    "__getitem__": shape.getitem,
    "sum": reduce.sum,
    **{
        name: getattr(writes, name)
        for name in ("add_", "sub_", "mul_", "div_", "addmm_", "zero_", "copy_", "transpose_", "t_", "zeros_like", "new_zeros")
    },
    "empty_like": writes.zeros_like,
    "new_empty": writes.new_zeros,
    "new_tensor": lambda self, data, **options: self.parts.values.new_tensor(data, **options),
    "multiply_": writes.mul_,
    "divide_": writes.div_,
    **{
        f"{name}_": writes.in_place(f"{name}_", arithmetic.function_of(name, False), coalesced=True)
        for name in arithmetic.ZERO_TO_ZERO
        if hasattr(Tensor, f"{name}_")
    },
    "neg_": writes.in_place("neg_", arithmetic.function_of("neg", True)),
    "negative_": writes.in_place("negative_", arithmetic.function_of("neg", True)),
    "to": to,
    "type": type_of,
    **{
        name: as_dtype(getattr(_C, dtype))
        for name, dtype in {
            "float": "float32",
            "double": "float64",
            "half": "float16",
            "bfloat16": "bfloat16",
            "int": "int32",
            "long": "int64",
            "short": "int16",
            "char": "int8",
            "byte": "uint8",
            "bool": "bool",
            "cfloat": "complex64",
            "cdouble": "complex128",
        }.items()
    },
    "type_as": lambda self, other: to(self, other),
    "as_tensor": lambda data, dtype=None, device=None: to(data, device or data.device, dtype or data.dtype),
    "cpu": lambda self, memory_format=None: to(self, "cpu"),
    "cuda": hook_method("cuda"),
    "clone": clone,
    "detach": detached,
    "get_device": lambda self: -1 if self.device.index is None else self.device.index,
    "is_same_size": lambda self, other: self.shape == other.shape,
    "is_complex": lambda input: input.is_complex(),
    "is_floating_point": lambda input: input.is_floating_point(),
    "is_conj": lambda input: False,
    "is_neg": lambda input: False,
    "is_signed": lambda input: input.parts.values.is_signed(),
    "numel": lambda input: input.numel(),
    "result_type": lambda a, b: _C.result_type(*(x.parts.values if is_sparse(x) else x for x in (a, b))),
    "is_pinned": lambda self, device=None: False,
    "item": item,
    "is_nonzero": truth,
    "__bool__": truth,
    "__float__": number(float),
    "__int__": number(int),
    "__index__": number(int),
    "__complex__": number(complex),
    "__format__": lambda self, spec: object.__format__(self, spec),
    "numpy": refusing(TypeError, "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."),
    "__array__": refusing(TypeError, "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."),
    "__dlpack__": refusing(BufferError, "Can't export tensors with layout other than torch.strided"),
    "tolist": refusing(RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage: call to_dense() first"),
    "reshape": refusing(RuntimeError, "reshape is not implemented for sparse tensors"),
    "flatten": refusing(RuntimeError, "reshape is not implemented for sparse tensors"),
    "expand": refusing(RuntimeError, "expand is unsupported for Sparse tensors"),
    "contiguous": refusing(RuntimeError, "unsupported memory format option Contiguous: a sparse tensor has no strides"),
    "storage": refusing(NotImplementedError, "Cannot access storage of SparseTensorImpl"),
    "untyped_storage": refusing(NotImplementedError, "Cannot access storage of SparseTensorImpl"),
    "share_memory_": refusing(NotImplementedError, "Cannot access storage of SparseTensorImpl"),
    "pin_memory": hook_method("pin_memory"),
    **{name: f for name, f in vars(methods).items() if getattr(f, "__module__", "") == methods.__name__ and hasattr(Tensor, name)},
    "backward": backward,
    "grad": autograd._grad,
    **{name: hook_method(name) for name in ("register_hook", "register_post_accumulate_grad_hook", "retain_grad")},
}
