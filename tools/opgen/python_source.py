"""The signatures of functions that are written in Python, for the stub of Tensor to repeat: the sources are read, not imported."""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent / "src"
SPARSE_METHODS = "retrograd._ops.sparse.methods"
# Tensor has methods of these names: in its body the builtins go by others.
BUILTINS = {"int": "_int", "float": "_float", "bool": "_bool", "type": "builtins.type"}
IN_C = {"dtype": "_dtype", "layout": "_layout", "memory_format": "_memory_format", "device": "_device"}


@functools.cache
def parsed(module: str) -> ast.Module:
    path = SOURCE / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(), str(path))


def definition(module: str, name: str) -> ast.FunctionDef:
    """The definition that runs, which is the last."""
    found = [node for node in parsed(module).body if isinstance(node, ast.FunctionDef) and node.name == name]
    return copy.deepcopy(found[-1])


def functions(module: str, name: str) -> list[ast.FunctionDef]:
    """The overloads of a function where it has some, else its one definition."""
    found = [node for node in parsed(module).body if isinstance(node, ast.FunctionDef) and node.name == name]
    overloads = [node for node in found if any(ast.unparse(d) == "overload" for d in node.decorator_list)]
    if not found:
        raise ValueError(f"{module} has no function {name}")
    return copy.deepcopy(overloads or found)


class _Renamed(ast.NodeTransformer):
    """An annotation as the stub of Tensor spells it. `result` is its name for the named tuples of the function's module."""

    def __init__(self, module: str, result: str) -> None:
        self.own = {node.name for node in parsed(module).body if isinstance(node, ast.ClassDef)}
        self.result = result

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.result if node.id in self.own else BUILTINS.get(node.id, node.id))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "_C":
            return ast.Name(IN_C.get(node.attr, node.attr))
        return node


def method(node: ast.FunctionDef, module: str, name: str, doc: str = "") -> str:
    """`def name(self, ...) -> ...` for a function whose first argument is the tensor."""
    renamed = _Renamed(module, f"return_types.{name}")
    arguments = node.args
    if arguments.args:
        arguments = ast.arguments(**{**vars(arguments), "args": [ast.arg("self"), *arguments.args[1:]]})
    else:  # f(*args): the tensor is the first of them
        arguments = ast.arguments(**{**vars(arguments), "args": [ast.arg("self")]})
    for argument in [*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None and argument.annotation is not None:
            argument.annotation = renamed.visit(argument.annotation)
    returns = "Any" if node.returns is None else ast.unparse(renamed.visit(node.returns))
    doc = doc or ast.get_docstring(node) or ""
    return f"def {name}({ast.unparse(arguments)}) -> {returns}: " + (f'"""{doc.splitlines()[0]}"""' if doc else "...")


def parameters(node: ast.FunctionDef) -> str:
    """The parameters of a function without their annotations."""
    arguments = node.args
    for argument in [*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            argument.annotation = None
    return ast.unparse(arguments)


def tensor_methods() -> Iterator[tuple[str, list[str]]]:
    """What retrograd._tensor puts on Tensor, and how: (name, lines of the stub). The methods of sparse tensors are defined elsewhere."""
    for node in parsed("retrograd._tensor").body:
        kinds = [ast.unparse(d) for d in node.decorator_list] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.FunctionDef) and kinds[:1] in (["_method"], ["_property"]):
            text = method(node, "retrograd._tensor", node.name)
            yield node.name, ["@property", text] if kinds[0] == "_property" else [text]
    for node in sparse_methods():
        yield node.name, [method(node, SPARSE_METHODS, node.name)]


def sparse_methods() -> list[ast.FunctionDef]:
    """Methods of Tensor that are about sparse tensors, and imported when one is first called."""
    found = [node for node in parsed(SPARSE_METHODS).body if isinstance(node, ast.FunctionDef) and node.args.args[0].arg == "self"]
    return copy.deepcopy(found)
