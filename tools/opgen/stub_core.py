"""The stub of what is written in C++ by hand, described by hand. stub.py fills in the rest.

Tensor has methods called int, float and bool, and the package dtypes of these names: the builtins go by _int, _float and _bool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent / "csrc" / "python"

HEAD = """\
import builtins
from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType, TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self, SupportsIndex, TypeAlias, TypeVar, final, overload

from retrograd._generated import native, return_types

_int: TypeAlias = builtins.int
_float: TypeAlias = builtins.float
_bool: TypeAlias = builtins.bool
Number: TypeAlias = _int | _float | _bool | builtins.complex

_C = TypeVar("_C")
_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T", bound=Tensor)

class dtype:
    is_floating_point: _bool
    is_complex: _bool
    is_signed: _bool
    itemsize: _int
    _title: str
    _cpp_name: str
    def to_real(self) -> dtype: ...
    def to_complex(self) -> dtype: ...

class device:
    type: str
    index: _int | None
    @overload
    def __init__(self, device: device | str | _int) -> None: ...
    @overload
    def __init__(self, type: str, index: _int) -> None: ...
    def __hash__(self) -> _int: ...
    def __enter__(self) -> device: ...
    def __exit__(self, *exc_info: object) -> None: ...

class layout: ...
class memory_format: ...

_dtype: TypeAlias = dtype
_device: TypeAlias = device
_layout: TypeAlias = layout
_memory_format: TypeAlias = memory_format
_DeviceLike: TypeAlias = device | str | _int

class _Items(Protocol):  # lists, and arrays of other libraries
    def __len__(self) -> _int: ...
    def __getitem__(self, index: Any, /) -> Any: ...

_Index: TypeAlias = SupportsIndex | slice | EllipsisType | Tensor | _Items | None

class Size(tuple[_int, ...]):
    def numel(self) -> _int: ...
    @overload  # type: ignore[override]
    def __getitem__(self, index: slice) -> Size: ...
    @overload
    def __getitem__(self, index: _int) -> _int: ...
    def __add__(self, other: tuple[_int, ...]) -> Size: ...  # type: ignore[override]
    def __radd__(self, other: tuple[_int, ...]) -> Size: ...
    def __mul__(self, count: _int) -> Size: ...  # type: ignore[override]
    def __rmul__(self, count: _int) -> Size: ...  # type: ignore[override]

class Generator:
    @property
    def device(self) -> _device: ...
    def __init__(self, device: _DeviceLike = ...) -> None: ...
    def manual_seed(self, seed: _int) -> Generator: ...
    def seed(self) -> _int: ...
    def initial_seed(self) -> _int: ...
    def get_state(self) -> Tensor: ...
    def set_state(self, state: Tensor) -> Generator: ...
    def clone_state(self) -> Generator: ...

class Node:
    metadata: dict[Any, Any]
    next_functions: tuple[tuple[Node | None, _int], ...]
    def name(self) -> str: ...
    def register_hook(self, hook: Callable[..., Any]) -> Any: ...
    def register_prehook(self, hook: Callable[..., Any]) -> Any: ...
    def __call__(self, *grads: Tensor | None) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

class _GradMode:
    def __enter__(self) -> Any: ...
    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None: ...

class _DecoratorContextManager:
    @overload
    def __call__(self, orig_func: type[_C]) -> type[_C]: ...
    @overload
    def __call__(self, orig_func: _F) -> _F: ...
    def clone(self) -> Self: ...

class _GradSwitch(_DecoratorContextManager):
    prev: _bool
    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...
    @overload
    def __new__(cls, orig_func: _F) -> _F: ...  # type: ignore[misc]
    def __enter__(self) -> None: ...
    def __exit__(self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None) -> None: ...

class no_grad(_GradSwitch): ...
class enable_grad(_GradSwitch): ...

class set_grad_enabled(_DecoratorContextManager):
    mode: _bool
    prev: _bool
    def __init__(self, mode: _bool) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None) -> None: ...

class inference_mode(_DecoratorContextManager):
    mode: _bool
    @overload
    def __new__(cls, mode: _bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: _F) -> _F: ...  # type: ignore[misc]
    def __enter__(self) -> None: ...
    def __exit__(self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None) -> None: ...

class DisableTorchFunction(_GradMode): ...
class DisableTorchFunctionSubclass(_GradMode): ...

class _FunctionBase:
    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any: ...

class Tensor:
    data: Tensor
    real: Tensor
    imag: Tensor
    grad: Tensor | None
    grad_dtype: _dtype | None
    __dict__: dict[str, Any]
    requires_grad: _bool
    _grad: Tensor | None
    _name: str | None
    _backward_hooks: dict[_int, Callable[[Tensor], Tensor | None]] | None
    _post_accumulate_grad_hooks: dict[_int, Callable[[Tensor], None]] | None
    __array_priority__: _int
    @property
    def T(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    @property
    def H(self) -> Tensor: ...
    @property
    def mH(self) -> Tensor: ...
    @property
    def shape(self) -> Size: ...
    @property
    def dtype(self) -> _dtype: ...
    @property
    def device(self) -> _device: ...
    @property
    def name(self) -> str | None: ...
    @property
    def grad_fn(self) -> Node | None: ...
    @property
    def _grad_fn(self) -> Node | None: ...
    @property
    def _base(self) -> Tensor | None: ...
    @property
    def _cut(self) -> list[tuple[Any, ...]]: ...
{properties}
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __getitem__(self, index: _Index) -> Tensor: ...
    def __setitem__(self, index: _Index, value: Tensor | Number) -> None: ...
    def __delitem__(self, index: _Index) -> None: ...
    def __len__(self) -> _int: ...
    def __bool__(self) -> _bool: ...
    def __int__(self) -> _int: ...
    def __float__(self) -> _float: ...
    def __complex__(self) -> builtins.complex: ...
    def __index__(self) -> _int: ...
    def __hash__(self) -> _int: ...
    def __buffer__(self, flags: _int, /) -> memoryview: ...
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = ..., kwargs: dict[str, Any] | None = ...) -> Any: ...
    @staticmethod
    def _make_subclass(cls: builtins.type[_T], data: Tensor, require_grad: _bool = ...) -> _T: ...
{operators}
    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: _bool | None = None,
        create_graph: _bool = False,
        inputs: Tensor | Sequence[Any] | None = None,
    ) -> None: ...
    def requires_grad_(self, requires_grad: _bool = True) -> Self: ...
    def detach_(self) -> Self: ...
    @overload
    def size(self) -> Size: ...
    @overload
    def size(self, dim: _int) -> _int: ...
    @overload
    def stride(self) -> tuple[_int, ...]: ...
    @overload
    def stride(self, dim: _int) -> _int: ...
    def is_contiguous(self, memory_format: _memory_format = ...) -> _bool: ...
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    @overload
    def type(self) -> str: ...
    @overload
    def type(self, dtype: Any, non_blocking: _bool = ...) -> Tensor: ...
    def _typed_storage(self) -> Any: ...
    def _storage_resize(self, nbytes: _int) -> None: ...
    def as_subclass(self, cls: builtins.type[_T]) -> _T: ...
    def _storage_info(self) -> tuple[Any, ...]: ...
    def _mark_requires_grad(self, requires_grad: _bool) -> Self: ...
    def _bump_version(self) -> None: ...
    def _set_version(self, version: _int) -> None: ...
    def _set_retains_grad(self, retains: _bool) -> None: ...
{questions}
"""
TAIL = '''
class Parameter(NamedTuple):
    """A parameter of an op of the table."""

    name: str
    type: str
    """As schemas spell it: Tensor, int[], Scalar?."""
    default: Any
    """None where there is none, too: see required."""
    keyword_only: _bool
    required: _bool

@final
class Op:
    """An op of the table, in one of its forms: out of place, in place (add_) or into out= (add.out). What op handlers get to see."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the op below the handler that was given it."""
    @property
    def name(self) -> str:
        """With the overload: sum.dim; in place add_, into out= add.out."""
    @property
    def __name__(self) -> str: ...
    @property
    def overload(self) -> str:
        """What is after the dot; empty for none."""
    @property
    def schema(self) -> str: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]: ...
    @property
    def results(self) -> tuple[str, ...]:
        """The names of the results; empty where they have none."""
    @property
    def mutates(self) -> tuple[str, ...]:
        """The names of the arguments that it writes."""
    @property
    def aliases(self) -> tuple[tuple[str, str], ...]:
        """What each result shares memory with, (argument, how); empty for nothing.

        How: "view", "memory" (without being a view), "maybe" (the argument, a view of it or a copy), "same" (the argument itself)."""
    @property
    def functional(self) -> Op | None:
        """The op that computes the same and writes nothing."""
    @property
    def composite(self) -> _bool:
        """Whether it is made of other ops, which handlers see too."""
    @property
    def elementwise(self) -> _bool:
        """Whether it broadcasts its arguments and works element by element."""
    @property
    def random(self) -> _bool:
        """Whether it draws numbers."""
    @property
    def crosses_devices(self) -> _bool:
        """Whether it takes tensors of several devices."""
    @property
    def syncs(self) -> _bool:
        """Whether it reads values back, for a size or a check."""
    @property
    def uninitialized(self) -> _bool:
        """Whether the values of its result mean nothing."""
    @property
    def autocast(self) -> str | None:
        """How autocast runs it: "lower precision", "float32", "promote", "as it is" (and what it is made of); None: as it comes."""
    @property
    def batching(self) -> tuple[str, ...]:
        """The rule of vmap and what the op table says to it: ("elementwise",), ("along", "dim"), ("parts",) for a composite."""
    @property
    def vmap_name(self) -> str | None:
        """What vmap calls it in errors; None: aten::name."""
    @property
    def forward(self) -> str:
        """The rule of forward mode: elementwise, symmetric, linear, multilinear, zero, formula, transposed (backward), parts, none."""
    @property
    def out(self) -> str | None:
        """The dtype that out= has to have: "exact" (that of the result), "castable", "any"; None where there is no out=."""

def can_cast(from_: dtype, to: dtype, /) -> _bool: ...
def promote_types(type1: dtype, type2: dtype, /) -> dtype: ...
@overload
def result_type(tensor: Tensor | Number, other: Tensor | Number) -> dtype: ...
@overload
def result_type(scalar: Number, tensor: Tensor) -> dtype: ...
@overload
def result_type(scalar1: Number, scalar2: Number) -> dtype: ...
def get_default_dtype() -> dtype: ...
def set_default_dtype(d: dtype, /) -> None: ...
def get_num_threads() -> _int: ...
def set_num_threads(threads: _int, /) -> None: ...
def is_autocast_cache_enabled() -> _bool: ...
def clear_autocast_cache() -> None: ...
def autocast_increment_nesting() -> _int: ...
def autocast_decrement_nesting() -> _int: ...
def is_grad_enabled() -> _bool: ...
def is_inference_mode_enabled() -> _bool: ...

default_generator: Generator
strided: layout
sparse_coo: layout
sparse_csr: layout
sparse_csc: layout
sparse_bsr: layout
sparse_bsc: layout
jagged: layout
contiguous_format: memory_format
preserve_format: memory_format
channels_last: memory_format
channels_last_3d: memory_format
{dtypes}

# For the package alone.
_ops = native
_functions: Any
def _find_op(name: str, /) -> Op | None: ...
def _op_names() -> list[str]: ...
SavedTensor: Any
{private}
'''
DTYPES = """
bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 char short int long half float double
cfloat cdouble float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu
complex32 float4_e2m1fn_x2 int1 int2 int3 int4 int5 int6 int7
uint1 uint2 uint3 uint4 uint5 uint6 uint7 bits8 bits16 bits1x8 bits2x4 bits4x2
qint8 quint8 qint32 quint4x2 quint2x4 chalf
""".split()  # noqa: SIM905 - a paragraph reads better than a list of strings


def read_only_properties() -> Iterator[str]:
    flags = "is_leaf retains_grad is_cpu is_cuda is_meta is_mkldnn is_mps is_nested is_quantized is_sparse is_sparse_csr is_xla is_xpu"
    flags += " is_ipu is_maia is_mtia is_vulkan volatile"
    for kind, names in (("_int", "ndim itemsize nbytes output_nr _version"), ("_bool", f"{flags} _has_history")):
        for name in names.split():
            yield f"    @property\n    def {name}(self) -> {kind}: ..."


def operators() -> Iterator[str]:
    for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split():  # noqa: SIM905
        for form in (name, f"r{name}", f"i{name}"):
            yield f"    def __{form}__(self, other: Tensor | Number) -> {'Self' if form == f'i{name}' else 'Tensor'}: ..."
    yield "    def __matmul__(self, other: Tensor) -> Tensor: ..."
    yield "    def __rmatmul__(self, other: Tensor) -> Tensor: ..."
    for name in ("lt", "le", "gt", "ge"):
        yield f"    def __{name}__(self, other: Tensor | Number) -> Tensor: ..."
    for name in ("eq", "ne"):
        yield f"    def __{name}__(self, other: Any) -> Tensor: ...  # type: ignore[override]"
    for name in ("neg", "pos", "abs", "invert"):
        yield f"    def __{name}__(self) -> Tensor: ..."


def questions() -> Iterator[str]:
    """Methods without arguments that give a number or an answer."""
    counts = "dim ndimension numel nelement element_size storage_offset data_ptr const_data_ptr"
    answers = "is_complex is_conj is_floating_point is_inference is_neg is_signed _is_view _is_dense is_distributed _is_zerotensor"
    for kind, names in (("_int", counts), ("_bool", answers)):
        for name in names.split():
            yield f"    def {name}(self) -> {kind}: ..."


def private_functions() -> Iterator[str]:
    """What the C++ sources offer to the package: functions in tables of methods, those of types among them, and objects added to the module."""
    text = "".join(path.read_text() for path in sorted(SOURCE.glob("*.cpp")))
    found = re.findall(r'\{"(_[a-z]\w+)",[^{}]*?METH_|PyModule_AddObject\(module, "(_\w+)"', text)
    for name in sorted({function or value for function, value in found} - set(re.findall(r"^(?:class |def )?(_\w+)\b", HEAD + TAIL, re.M))):
        yield f"{name}: Any"


def head() -> str:
    filled = {"properties": read_only_properties(), "operators": operators(), "questions": questions()}
    return HEAD.format(**{key: "\n".join(lines) for key, lines in filled.items()})


def tail() -> str:
    return TAIL.format(dtypes="\n".join(f"{name}: dtype" for name in DTYPES), private="\n".join(private_functions()))
