"""Which line wrote to the memory of a tensor from outside: through a NumPy array, where no version counter moves.

Nobody sees such a write. But the array is usually still in a variable, or was handed to a function, and the statements of the program that can write to it are few.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Any

from retrograd import _C
from retrograd.doctor import _names
from retrograd.doctor._places import Place, function_around, of_node, tree_of

_WRITING_METHODS = {"fill", "sort", "put", "partition", "itemset", "setfield", "byteswap"}
_WRITING_FUNCTIONS = {"copyto", "put", "place", "putmask", "fill_diagonal", "shuffle"}


def writer(tensor: Any, node: Any) -> str | None:
    """The line that wrote to memory which a node had saved, as a message names it; None where it cannot be told."""
    saved = of_node(node)
    tree = tree_of(saved.file) if saved is not None else None
    if saved is None or tree is None:
        return None
    writes = list(_writes(tree))
    around = function_around(saved)
    inside = range(getattr(around, "lineno", 0), getattr(around, "end_lineno", None) or sys.maxsize)
    near = [(line, name) for line, name in writes if line in inside]
    arrays = _array_names(tensor)
    named = {name for name in arrays if not name.endswith(")")}  # x.numpy() of another function is another x
    for names, candidates in ((arrays, near), (named, writes), (_handed_over(tree), near)):
        lines = [line for line, name in candidates if name in names]
        after = [line for line in lines if line > saved.line]
        if lines:
            return str(Place(saved.file, min(after) if after else lines[-1], ""))
    handed = _handed_over(tree)
    only = {line for line, name in writes if name in handed}
    if len(only) == 1:  # in a function that arrays are handed to, and no other line can have done it
        return str(Place(saved.file, only.pop(), ""))
    return None


def _array_names(tensor: Any) -> set[str]:
    """What the running frames call arrays on the memory of a tensor."""
    begin = tensor.data_ptr()
    end = begin + tensor.numel() * tensor.element_size()
    names = set()
    for frame in _names.user_frames():
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                if _overlaps(value, begin, end):
                    names.add(name)
                elif isinstance(value, _C.Tensor) and value.layout == _C.strided and begin <= value.data_ptr() < end:
                    names.add(f"{name}.numpy()")
                members = getattr(value, "__dict__", None)
                if type(members) is dict and not isinstance(value, type):
                    names.update(member for member, held in list(members.items()) if _overlaps(held, begin, end))
    return names


def _overlaps(value: Any, begin: int, end: int) -> bool:
    if type(value).__module__ != "numpy" or not hasattr(value, "__array_interface__") or not hasattr(value, "nbytes"):
        return False
    first = value.__array_interface__["data"][0]
    return bool(first < end and begin < first + value.nbytes)


def _base(target: ast.expr) -> str | None:
    """`a` of a[i], `buffer` of self.buffer[i], `x.numpy()` of x.numpy()[i]."""
    while isinstance(target, ast.Subscript):
        target = target.value
    if isinstance(target, ast.Call) and _is_array_of_tensor(target) and not target.args:
        base = _base(target.func.value)  # type: ignore[attr-defined]
        return f"{base}.numpy()" if base else None
    if isinstance(target, ast.Attribute):
        return target.attr
    return target.id if isinstance(target, ast.Name) else None


def _writes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The statements that can write to an array, with its name."""
    for node in ast.walk(tree):
        written: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            written = [target for target in node.targets if isinstance(target, ast.Subscript)]
        elif isinstance(node, ast.AugAssign):
            written = [node.target]
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            written = [keyword.value for keyword in node.keywords if keyword.arg == "out"]
            if name in _WRITING_FUNCTIONS and node.args:
                written.append(node.args[0])
            elif name in _WRITING_METHODS and isinstance(node.func, ast.Attribute):
                written.append(node.func.value)
        for target in written:
            base = _base(target)
            if base is not None:
                yield target.lineno, base


def _is_array_of_tensor(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("numpy", "asarray", "from_dlpack")


def _handed_over(tree: ast.Module) -> set[str]:
    """Names in functions that have returned: what was assigned from x.numpy(), and parameters of functions that were given it."""
    names: set[str] = set()
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_array_of_tensor(node.value):
            names.update(base for target in node.targets if (base := _base(target)))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        definition = functions.get(name)
        if definition is None:
            continue
        parameters = [a.arg for a in definition.args.args]
        if parameters[:1] == ["self"]:
            parameters = parameters[1:]
        for parameter, value in zip(parameters, node.args, strict=False):
            if _is_array_of_tensor(value) or (_base(value) or "") in names:
                names.add(parameter)
    return names
