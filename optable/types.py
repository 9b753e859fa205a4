"""The types of parameters and results: one row says all that depends on a type, here and in C++.

A new parameter type is a row, and the C++ that no row can say: a `case` in csrc/python/parse.cpp (the argument from Python), an accessor in
csrc/python/bind.h (on to the op) and, if handlers are to see it, a `box` in csrc/python/intercept.h. tests/meta/test_types.py holds them together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

# ---- what a graph node keeps for its formulas ----


@dataclass(frozen=True)
class Saved:
    """A field of a node, and the statements that fill it and give it back."""

    type: str
    field: str = "Other"  # FieldKind (csrc/autograd/node.h): how it is freed, and shown to Python
    save: str = "fn->{name} = {value};"
    unpack: str = "const auto& {name} = fn->{name};"
    unpacked: str = ""  # of tensors, which hooks may have to compute: the type, to leave empty what no formula reads


TENSOR = Saved("SavedTensor", "Tensor", "fn->{name}.save({value});", "const auto {name} = fn->{name}.unpack(fn);", "Tensor")
OPERAND = Saved("SavedOperand", "Operand", TENSOR.save, "const auto {name} = unpack(fn->{name}, fn);", "OwnedOperand")
TENSORS = replace(TENSOR, type="SavedTensorList", field="TensorList", unpacked="std::vector<Tensor>")
INTS = Saved("SavedInts", "IntList", TENSOR.save, "const IntSpan {name} = fn->{name}.get();")
SOME_INTS = Saved(
    "SavedInts",
    "OptIntList",
    "if ({value}) fn->{name}.save(*{value});",
    "const auto {name} = fn->{name}.has_value() ? OptInts(fn->{name}.get()) : OptInts();",
)
TEXT = Saved("SavedText", "Other", TENSOR.save, "const auto {name} = fn->{name}.get();")

# What a formula may ask of a tensor, `<tensor>_<suffix>`: how it is kept, and the expression ({0}: the tensor; `_shapes` and `_dtypes` are of lists).
GEOMETRY = {
    "sizes": (INTS, "{0}.sizes()"),
    "strides": (INTS, "{0}.strides()"),
    "dtype": (Saved("DType", "DType"), "{0}.dtype()"),
    "dim": (Saved("int64_t", "Int"), "{0}.dim()"),
    "numel": (Saved("int64_t", "Int"), "{0}.numel()"),
    "offset": (Saved("int64_t", "Int"), "{0}->offset()"),
    "shapes": (INTS, "flatten_shapes({0})"),
    "dtypes": (INTS, "flatten_dtypes({0})"),
    "device": (Saved("Device"), "{0}.device()"),
    "columnwise": (Saved("bool", "Bool"), "runs_along_columns({0}.get())"),
}

# ---- defaults, as DefaultValue of csrc/python/bind.h holds them ----


def integer(text: str) -> str:
    return f"{{.i = {text}}}"


def floating(text: str) -> str:
    return f"{{.d = {text}}}"


def number(text: str) -> str:
    return f"{{.d = {text}, .is_float = true}}" if "." in text or "e" in text else integer(text)


def truth(text: str) -> str:
    return integer(str(int(text == "True")))


def integers(text: str) -> str:
    values = text.strip("[]")
    return f"{{.count = {len(values.split(',')) if values else 0}, .ints = {{{values}}}}}"


def quoted(text: str) -> str:
    return f'{{.text = "{text.strip(chr(34) + chr(39))}"}}'


def dtype(text: str) -> str:
    return integer(f"static_cast<int>(DType::{text})")


# ---- parameters ----


@dataclass(frozen=True)
class ParamType:
    spelling: str  # in schemas
    cpp: str  # a parameter of a C++ function; empty: only ops that are Python functions take it
    kind: str  # Kind (generated, param_kinds.h): what the parser goes by
    accessor: str  # of Parsed: the argument for the call
    word: str  # in the errors of a call
    stub: str  # in *.pyi, where int, float and bool go by _int, _float and _bool
    default: Callable[[str], str] = floating  # a default other than None, in C++
    saved: Saved | None = None  # None: formulas cannot use it
    tensors: str = ""  # "one" tensor, an "operand" (a tensor or a number), a "list"
    shown: str = ""  # in schemas as Python shows them, where not as above


def optional(row: ParamType, **changes) -> ParamType:
    """The same, or None."""
    saved = row.saved and Saved(f"std::optional<{row.saved.type}>", "Opt" + row.saved.field)
    same = {
        "spelling": row.spelling + "?",
        "cpp": f"std::optional<{row.cpp}>",
        "kind": row.kind + "Opt",
        "accessor": "opt_" + row.accessor,
        "stub": row.stub + " | None",
        "saved": saved,
    }
    return replace(row, **(same | changes))


_TENSOR = ParamType("Tensor", "const Tensor&", "Tensor", "tensor", "Tensor", "Tensor", saved=TENSOR, tensors="one")
_TENSORS = ParamType(
    "Tensor[]", "std::span<const Tensor>", "Tensors", "tensors", "tuple of Tensors", "Sequence[Tensor]", saved=TENSORS, tensors="list"
)
_SCALAR = ParamType("Scalar", "Scalar", "Scalar", "scalar", "Number", "Number", number, Saved("Scalar", "Scalar"))
_INT = ParamType("int", "int64_t", "Int", "integer", "int", "_int", integer, Saved("int64_t", "Int"))
_FLOAT = ParamType("float", "double", "Float", "number", "float", "_float", floating, Saved("double", "Float"))
_BOOL = ParamType("bool", "bool", "Bool", "boolean", "bool", "_bool", truth, Saved("bool", "Bool"))
_INTS = ParamType("int[]", "IntSpan", "Ints", "ints", "tuple of ints", "_int | Sequence[_int]", integers, INTS)
# Sizes, which have to be a list, though a call that has no other arguments may spread them: view(2, 3). PyTorch's schemas call these int[], the others int[1], int[2], ...
_LIST = replace(_INTS, spelling="int[+]", kind="IntList", shown="int[]", stub="Sequence[_int]")
_DTYPE = ParamType("dtype", "DType", "Dtype", "dtype", "torch.dtype", "_dtype", dtype, Saved("DType", "DType"))
_DEVICE = ParamType("device", "Device", "Device", "device", "torch.device", "_DeviceLike")
_STR = ParamType("str", "std::string_view", "Str", "text", "str", "str", quoted, TEXT)
_FORMAT = ParamType("memory_format", "MemoryFormat", "MemoryFormat", "memory_format", "torch.memory_format", "_memory_format")
_LAYOUT = ParamType("layout", "Layout", "Layout", "layout", "torch.layout", "_layout")
_GENERATOR = ParamType("Generator", "Generator*", "Generator", "generator", "torch.Generator", "Generator")
_FLOATS = ParamType("float[]", "", "", "", "tuple of floats", "Sequence[_float]")

_ROWS = (
    _TENSOR,
    optional(_TENSOR, cpp=_TENSOR.cpp, accessor="tensor", saved=TENSOR),  # undefined for None
    ParamType("Operand", "const Operand&", "Operand", "operand", "Tensor", "Tensor | Number", number, OPERAND, tensors="operand"),
    _TENSORS,
    replace(_TENSORS, spelling="Tensor?[]", kind="TensorOptList", stub="Sequence[Tensor | None]"),
    _SCALAR,
    optional(_SCALAR),
    _INT,
    optional(_INT),
    _FLOAT,
    optional(_FLOAT),
    _BOOL,
    optional(_BOOL),
    _INTS,
    _LIST,
    optional(_INTS, cpp="OptInts", saved=SOME_INTS),
    _DTYPE,
    optional(_DTYPE, saved=Saved("std::optional<DType>")),
    optional(_DEVICE),
    _STR,
    optional(_STR, saved=replace(TEXT, type="SavedOptText")),
    optional(_GENERATOR, cpp=_GENERATOR.cpp, accessor="generator"),  # null for None
    optional(_FORMAT),
    optional(_LAYOUT),
    optional(_FLOATS, cpp="", kind="", accessor=""),
)
PARAM_TYPES = {row.spelling: row for row in _ROWS}

# ---- results ----


@dataclass(frozen=True)
class ReturnType:
    spelling: str  # in schemas
    cpp: str
    stub: str
    wrap: str = "wrap({call})"  # the Python object of a call's result


RETURN_TYPES = {
    row.spelling: row
    for row in (
        ReturnType("Tensor", "Tensor", "Tensor"),
        ReturnType("Tensor[]", "std::vector<Tensor>", "tuple[Tensor, ...]", "wrap_tuple({call})"),
        ReturnType("Scalar", "Scalar", "Number"),
        ReturnType("int", "int64_t", "_int"),
        ReturnType("float", "double", "_float"),
        ReturnType("bool", "bool", "_bool"),
        ReturnType("None", "void", "None", "({call}, none())"),
    )
}
