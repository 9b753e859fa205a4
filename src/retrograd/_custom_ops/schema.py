"""Schemas of custom ops: `foo(Tensor(a!) x, int[] sizes, *, float p=0.5) -> (Tensor, Tensor)`, read, written, and inferred from annotations."""

from __future__ import annotations

import ast
import collections.abc
import functools
import inspect
import operator
import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from retrograd import _C, Tensor

MISSING: Any = inspect.Parameter.empty


@dataclass
class Argument:
    """An argument, or a result: its type without marks, the letter of the memory it shares, whether that is written."""

    name: str
    type: str
    default: Any = MISSING
    kwarg_only: bool = False
    alias: str = ""

    @property
    def written(self) -> bool:
        return self.alias.endswith("!")

    def __str__(self) -> str:
        kind = self.type.replace("Tensor", f"Tensor({self.alias})", 1) if self.alias else self.type
        text = f"{kind} {self.name}".rstrip()
        return text if self.default is MISSING else f"{text}={_literal(self.default)}"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return repr(value).removesuffix("0")
    if isinstance(value, _C.dtype):
        return str(value).rpartition(".")[2]
    return repr(value)


@dataclass
class Schema:
    name: str  # with its namespace: mylib::foo
    overload_name: str
    arguments: list[Argument]
    returns: list[Argument]

    @property
    def mutated(self) -> list[str]:
        return [a.name for a in self.arguments if a.written]

    def __str__(self) -> str:
        parts: list[str] = []
        for a in self.arguments:
            if a.kwarg_only and "*" not in parts:
                parts.append("*")
            parts.append(str(a))
        results = ", ".join(map(str, self.returns))
        overload = f".{self.overload_name}" if self.overload_name else ""
        return f"{self.name}{overload}({', '.join(parts)}) -> {results if len(self.returns) == 1 else f'({results})'}"


# ---- reading ----


def _split(text: str) -> list[str]:
    """At commas that are not inside brackets or quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in [*parts, text[start:]] if p.strip()]


_TYPE = re.compile(r"(?P<base>[A-Za-z_]\w*)(?P<alias>\([^)]*\))?(?P<rest>(\[\d*\]|\?)*)\s*(?P<name>\w*)\s*(=\s*(?P<default>.*))?$", re.S)
_WORDS = {"None": None, "True": True, "False": False}


def _default(text: str, kind: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if kind.startswith("ScalarType"):
        return getattr(_C, text, text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _argument(text: str, kwarg_only: bool, whole: str) -> Argument:
    found = _TYPE.match(text)
    if not found:
        raise RuntimeError(f"cannot read {text!r} in the schema {whole!r}: expected a type and a name, as in Tensor x or int n=2")
    kind = found["base"] + re.sub(r"\[\d+\]", "[]", found["rest"] or "")
    alias = (found["alias"] or "").strip("()").partition("->")[0].strip()
    default = MISSING if found["default"] is None else _default(found["default"].strip(), kind)
    return Argument(found["name"] or "", kind, default, kwarg_only, alias)


def parse(text: str, namespace: str = "", name: str = "") -> Schema:
    """A schema; without a name in front, `name` is its."""
    found = re.match(r"\s*(?:(?P<ns>\w+)::)?(?P<name>\w*)(?:\.(?P<overload>\w+))?\s*\((?P<args>.*)\)\s*->\s*(?P<returns>.*)$", text, re.S)
    if not found or not (found["name"] or name):
        raise RuntimeError(f"cannot read the schema {text!r}: expected something like foo(Tensor x, int n=2) -> Tensor")
    arguments, only = [], False
    for part in _split(found["args"]):
        if part == "*":
            only = True
        else:
            arguments.append(_argument(part, only, text))
    returns = found["returns"].strip()
    results = _split(returns[1:-1]) if returns.startswith("(") else [returns]
    qualified = f"{found['ns'] or namespace}::{found['name'] or name}"
    return Schema(qualified, found["overload"] or "", arguments, [_argument(r, False, text) for r in results])


# ---- inferring ----

_BASES = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", complex: "complex", _C.dtype: "ScalarType",
    _C.device: "Device", int | float | bool: "Scalar",
}  # fmt: skip
_LISTED = {"Tensor", "SymInt", "float", "bool", "Scalar", "Tensor?"}


def _spelled(kind: Any) -> str | None:
    """The type of an annotation in schemas, or None."""
    try:
        if kind in _BASES:
            return _BASES[kind]
    except TypeError:
        return None
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        rest = [a for a in inside if a is not type(None)]
        if len(rest) == len(inside):
            return _BASES.get(kind)
        one = _spelled(functools.reduce(operator.or_, rest))
        return f"{one}?" if one and not one.endswith("?") and one != "Tensor[]" else None
    if origin in (list, collections.abc.Sequence) and len(inside) == 1:
        one = _spelled(inside[0])
        return f"{one}[]" if one in _LISTED else None
    return None


def _results(kind: Any, fail: Callable[[str], Any]) -> str:
    if kind is None or kind is type(None):
        return "()"
    if typing.get_origin(kind) is tuple:
        inside = [_spelled(a) for a in typing.get_args(kind)]
        if not inside or None in inside:
            fail(f"Return has unsupported type {kind}.")
        return f"({', '.join(map(str, inside))})"
    one = _spelled(kind)
    return (
        one if one else fail(f"Return has unsupported type {kind}. The valid types are Tensor, List[Tensor], numbers and tuples of them.")
    )


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str], op_name: str | None = None, tags: Any = ()
) -> str:
    """The schema of a function by its annotations.

    Args:
        prototype_function: the function; every parameter and the result have an annotation.
        mutates_args: the names of arguments that it writes; "unknown": all tensors.
        op_name: put in front.
    """
    signature = inspect.signature(prototype_function)

    def fail(what: str) -> Any:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    try:
        hints = typing.get_type_hints(prototype_function)
    except (NameError, TypeError) as error:
        fail(f"The annotations cannot be read: {error}.")
    unknown = set() if isinstance(mutates_args, str) else set(mutates_args) - set(signature.parameters)
    if unknown:
        fail(
            f"{unknown} in mutates_args were not found in the custom op's signature. mutates_args should contain the names of all args that "
            "the custom op mutates, or just the string 'unknown' if you don't know."
        )
    parts, star = [], False
    for i, (name, p) in enumerate(signature.parameters.items()):
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            fail("We do not support positional-only args, varargs, or varkwargs.")
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if name not in hints:
            fail(f"Parameter {name} must have a type annotation.")
        kind: str = _spelled(hints[name]) or fail(
            f"Parameter {name} has unsupported type {hints[name]}. The valid types are: Tensor, int, float, bool, str, complex, dtype, device, "
            "Union[int, float, bool], Optional and Sequence of them."
        )
        written = mutates_args == "unknown" if isinstance(mutates_args, str) else name in mutates_args
        if written and kind.startswith("Tensor"):
            kind = kind.replace("Tensor", f"Tensor(a{i}!)", 1)
        elif written and not isinstance(mutates_args, str):
            fail(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
        default = "" if p.default is p.empty else f"={_literal(p.default) if not isinstance(p.default, float) else p.default}"
        parts.append(f"{kind} {name}{default}")
    if "return" not in hints:
        fail("No return type annotation was provided. Please add one.")
    return f"{op_name or ''}({', '.join(parts)}) -> {_results(hints['return'], fail)}"


# ---- arguments of a call ----


def _fits(value: Any, kind: str) -> bool:
    if kind.endswith("?"):
        return value is None or _fits(value, kind[:-1])
    if kind.endswith("[]"):
        return isinstance(value, (list, tuple, _C.Size)) and all(_fits(v, kind[:-2]) for v in value)
    number = isinstance(value, (int, float)) or (isinstance(value, Tensor) and value.ndim == 0)
    match kind:
        case "Tensor":
            return isinstance(value, Tensor)
        case "int" | "SymInt":
            return (isinstance(value, int) or hasattr(value, "__index__")) and not isinstance(value, float)
        case "float":
            return number
        case "bool":
            return isinstance(value, (bool, int))
        case "Scalar" | "complex":
            return number or isinstance(value, complex)
        case "str":
            return isinstance(value, str)
        case "ScalarType":
            return isinstance(value, _C.dtype)
        case "Device":
            return isinstance(value, (_C.device, str))
    return True


def bind(schema: Schema, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The values of all arguments, positional ones and those by keyword only; PyTorch's words for what does not fit."""
    given, positional, by_name, at = dict(kwargs), [], {}, list(args)
    for i, a in enumerate(schema.arguments):
        if at and not a.kwarg_only:
            value = at.pop(0)
            if a.name in given:
                raise RuntimeError(f"{schema.name}() got multiple values for argument '{a.name}'. Declaration: {schema}")
        elif a.name in given:
            value = given.pop(a.name)
        elif a.default is not MISSING:
            value = a.default
        else:
            raise RuntimeError(f"{schema.name}() is missing value for argument '{a.name}'. Declaration: {schema}")
        if not _fits(value, a.type):
            raise RuntimeError(
                f"{schema.name}() Expected a value of type '{a.type}' for argument '{a.name}' but instead found type "
                f"'{type(value).__name__}'. \nPosition: {i}\nValue: {value!r}\nDeclaration: {schema}"
            )
        if a.kwarg_only:
            by_name[a.name] = value
        else:
            positional.append(value)
    if at:
        most = sum(not a.kwarg_only for a in schema.arguments)
        raise RuntimeError(
            f"{schema.name}() expected at most {most} argument(s) but received {len(args)} argument(s). Declaration: {schema}"
        )
    if given:
        raise RuntimeError(f"Unknown keyword argument '{next(iter(given))}' for operator '{schema.name}'. Schema: {schema}")
    return positional, by_name
