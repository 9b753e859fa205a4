"""From a graph to the text of a Python function, in PyTorch's form: one line for each node, values forgotten after their last use."""

from __future__ import annotations

import builtins
import enum
import inspect
import keyword
import math
import re
import types
import typing
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import retrograd as torch
from retrograd.fx import _pytree as fx_pytree
from retrograd.fx.node import Node, _get_qualified_name, _torch_module, _type_repr, map_arg
from retrograd.utils import _pytree as pytree

if TYPE_CHECKING:
    from retrograd.fx.graph import Graph

# Names that generated code finds without an import.
CUSTOM_BUILTINS: dict[str, Any] = {
    "inf": math.inf,
    "nan": math.nan,
    "NoneType": type(None),
    "torch": torch,
    "device": torch.device,
    "fx_pytree": fx_pytree,
    "pytree": pytree,
}
_BINARY = {
    "add": "+",
    "and_": "&",
    "eq": "==",
    "floordiv": "//",
    "ge": ">=",
    "gt": ">",
    "le": "<=",
    "lshift": "<<",
    "lt": "<",
    "matmul": "@",
    "mod": "%",
    "mul": "*",
    "ne": "!=",
    "or_": "|",
    "pow": "**",
    "rshift": ">>",
    "sub": "-",
    "truediv": "/",
    "xor": "^",
}
magic_methods = {
    **{name: f"{{}} {sign} {{}}" for name, sign in _BINARY.items()},
    "pos": "+{}",
    "neg": "-{}",
    "invert": "~{}",
    "getitem": "{}[{}]",
}
reflectable_magic_methods = {
    name: f"{{}} {_BINARY[name]} {{}}"
    for name in (
        "add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor", "matmul",
    )
}  # fmt: skip
inplace_methods = {
    f"i{name.rstrip('_')}": f"{{}} {sign}= {{}}" for name, sign in _BINARY.items() if name not in ("eq", "ge", "gt", "le", "lt", "ne")
} | {"setitem": "{}[{}] = {}"}


class Namespace:
    """Names in use: each once, none of them a keyword or something built in."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = defaultdict(int)

    def create_name(self, candidate: str, obj: Any) -> str:
        """A name like `candidate` that is free, and belongs to `obj` from now on unless that is None."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        numbered = re.match(r"(.+)_(\d+)$", candidate)
        base, number = (numbered[1], int(numbered[2])) if numbered else (candidate, 0)
        number = number or self._base_count[base]
        while candidate in self._used_names or self._is_illegal_name(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        self._base_count[base] = number
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Says that a name, which is not in use for anything else, is that of `obj`."""
        if self._obj_to_name.setdefault(obj, name) is not name and self._obj_to_name[obj] != name:
            raise AssertionError(f"obj {obj} is already associated with {self._obj_to_name[obj]}")

    def _is_illegal_name(self, name: str, obj: Any) -> bool:
        if keyword.iskeyword(name):
            return True
        if hasattr(builtins, name):
            return obj is not getattr(builtins, name)
        return name in CUSTOM_BUILTINS and obj is not CUSTOM_BUILTINS[name]

    def _rename_object(self, obj: Any, name: str) -> None:
        self._obj_to_name[obj] = name
        self._used_names.add(name)


@dataclass
class PythonCode:
    """The text of a function, and the globals it needs."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = None
    _prologue_start: int = 0
    _wrapped: list[str] = field(default_factory=list, repr=False)


class PyTreeInfo(NamedTuple):
    """How the arguments and results of a function relate to the flat ones of its graph."""

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


def format_target(base: str, target: str) -> str:
    """`base.a.b`, with getattr for parts that are not identifiers."""
    text = base
    for part in target.split("."):
        text = f"{text}.{part}" if part.isidentifier() else f'getattr({text}, "{part}")'
    return text


def last_uses(nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """For each node, those whose results nobody needs after it."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}
    for user in reversed(list(nodes)):

        def note(n: Node, user: Node = user) -> Node:
            if n not in seen:
                seen.add(n)
                found.setdefault(user, []).append(n)
            return n

        map_arg(user.args, note)
        map_arg(user.kwargs, note)
    return found


class CodeGen:
    """Writes the function of a graph. Subclasses change how it takes arguments and returns."""

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    # -- to override

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """The line with `def`."""
        if not free_vars or free_vars[0] != "self":
            free_vars = ["self", *free_vars]
        if expanded_def:
            arguments = "".join(f"\n    {var}," for var in free_vars) + "\n"
        else:
            arguments = ", ".join(free_vars)
        return f"def {self._func_name}({arguments}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[Any], str] = repr) -> str:
        """The line with `return`."""
        return f"return {repr_fn(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of the graph, from those of the function."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The result of the function, from that of the graph."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """What else the code needs: names and values."""
        return []

    # -- writing

    def _gen_python_code(self, nodes: Iterable[Node], root_module: str, namespace: Namespace, **options: Any) -> PythonCode:
        return _Writer(self, list(nodes), root_module, namespace, **options).write()


class PyTreeCodeGen(CodeGen):
    """For functions whose arguments are structures that the graph takes apart."""

    def __init__(self, pytree_info: PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        return pytree.tree_leaves(inputs)

    def process_outputs(self, out: Any) -> Any:
        if not isinstance(out, (list, tuple)):
            out = [out]
        if self.pytree_info.out_spec is None:
            raise AssertionError("the structure of the result is not known yet")
        return pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        names = self.pytree_info.orig_args
        if names[:1] != ["self"]:
            names = ["self", *names]
        text = super().gen_fn_def(names, maybe_return_annotation, expanded_def=expanded_def)
        if free_vars:
            plain = "".join(f"{var.split(':')[0].split(' =')[0].strip()}, " for var in free_vars)
            text += f"\n    {plain.rstrip(' ')} = fx_pytree.tree_flatten_spec([{', '.join(names[1:])}], self._in_spec)"
        return text

    def generate_output(self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[Any], str] = repr) -> str:
        return f"return pytree.tree_unflatten({repr_fn(output_args)}, self._out_spec)"


class _Writer:
    """One run over the nodes of a graph."""

    def __init__(
        self,
        codegen: CodeGen,
        nodes: list[Node],
        root_module: str,
        namespace: Namespace,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        record_func: bool = False,
        additional_meta: list[str] | None = None,
    ) -> None:
        self.codegen, self.nodes, self.root, self.namespace = codegen, nodes, root_module, namespace
        self.verbose, self.include_stride, self.include_device, self.expanded_def = verbose, include_stride, include_device, expanded_def
        self.forgotten = last_uses(nodes)
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.free_vars: list[str] = []
        self.body: list[str] = []
        self.annotation = ""
        self.told: str | None = ""  # the place in the program that the last comment named

    def write(self) -> PythonCode:
        for name, value in CUSTOM_BUILTINS.items():
            self.add_global(name, value)
        for name, value in self.codegen.additional_globals():
            self.add_global(name, value)
        for node in self.nodes:
            if self.verbose:
                self.say_where(node)
            self.emit(node)
        body = self.body or ["pass\n"]
        if self.codegen._body_transformer is not None:
            body = self.codegen._body_transformer(body)
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
        head = self.codegen.gen_fn_def(self.free_vars, self.annotation, expanded_def=self.expanded_def)
        code = "".join(body)
        code = "\n".join("    " + line for line in code.split("\n"))
        return PythonCode(f"\n{wraps}\n\n{head}\n{code}", self.globals, {}, wraps.count("\n") + 4, list(self.wrapped))

    # -- names of things

    def add_global(self, name_hint: str, obj: Any) -> str:
        """The name of something in the globals of the code. What is from torch is found through that."""
        if name_hint.partition(".")[0] == "torch" and "." in name_hint and _reached(name_hint) is obj:
            return name_hint
        hint = name_hint.replace(".", "_")
        for name, value in self.globals.items():
            if value is obj and self.namespace._obj_to_name.get(_Key(obj)) == name:
                return name
        name = self.namespace.create_name(hint, obj if getattr(builtins, hint, None) is obj or CUSTOM_BUILTINS.get(hint) is obj else None)
        self.namespace._obj_to_name[_Key(obj)] = name
        if getattr(builtins, name, None) is obj:
            return name
        self.globals[name] = obj
        return name

    def type_repr(self, o: Any) -> str:
        """A type, as an annotation."""
        if o in ((), None):
            return "()" if o == () else "None"
        if isinstance(o, types.UnionType):
            return "|".join(self.type_repr(a) for a in typing.get_args(o))
        origin, arguments = typing.get_origin(o), typing.get_args(o)
        if origin is not None and arguments:
            if isinstance(o, types.GenericAlias):
                name = self.add_global(_type_repr(origin), origin)
            else:
                home = typing.Union if origin is typing.Union else getattr(typing, getattr(o, "_name", None) or "", origin)
                name = self.add_global(f"typing.{o._name if origin is not typing.Union else 'Union'}", home)
            return f"{name}[{','.join(self.type_repr(a) for a in arguments)}]"
        if o is Ellipsis:
            return "..."
        if isinstance(o, list):
            return "[" + ",".join(self.type_repr(a) for a in o) + "]"
        return self.add_global(_type_repr(o), o)

    def repr(self, arg: Any) -> str:
        """An argument, as code."""
        if isinstance(arg, Node):
            return self.namespace.create_name(arg.name, arg)
        if isinstance(arg, tuple):
            if hasattr(arg, "_fields"):
                name = self.add_global(f"{_torch_module(type(arg).__module__)}.{type(arg).__qualname__}", type(arg))
                return f"{name}({', '.join(map(self.repr, arg))})"
            inside = ", ".join(map(self.repr, arg))
            return f"({inside},)" if len(arg) == 1 else f"({inside})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self.repr, arg))}]"
        if isinstance(arg, dict):
            return "{" + ", ".join(f"{k!r}: {self.repr(v)}" for k, v in arg.items()) + "}"
        if isinstance(arg, slice):
            return f"slice({self.repr(arg.start)}, {self.repr(arg.stop)}, {self.repr(arg.step)})"
        if isinstance(arg, enum.Enum):
            kind = self.add_global(f"{_torch_module(type(arg).__module__)}.{type(arg).__qualname__}", type(arg))
            return f"{kind}.{arg.name}"
        if isinstance(arg, type) or inspect.isroutine(arg):
            return self.add_global(_type_repr(arg) if isinstance(arg, type) else _get_qualified_name(arg), arg)
        return builtins.repr(arg)

    def arguments(self, args: Any, kwargs: Any) -> str:
        return ", ".join([*map(self.repr, args), *(f"{k} = {self.repr(v)}" for k, v in kwargs.items())])

    # -- lines

    def emit(self, node: Node) -> None:
        getattr(self, f"emit_{node.op}")(node)

    def line(self, node: Node, value: str) -> None:
        kind = f" : {self.type_repr(node.type)}" if node.type is not None else ""
        self.body.append(f"{self.repr(node)}{kind} = {value}{self.forget(node)}{self.shape_note(node)}\n")

    def forget(self, user: Node) -> str:
        """Sets to None what nobody uses any more."""
        names = [self.repr(n) for n in self.forgotten.get(user, ())]
        if not user.users:
            names.append(self.repr(user))
        return f";  {' = '.join([*names, 'None'])}" if names else ""

    def emit_placeholder(self, node: Node) -> None:
        kind = f" : {self.type_repr(node.type)}" if node.type is not None else ""
        kind += f" = {self.repr(node.args[0])}" if node.args else ""
        self.free_vars.append(f"{node.target}{kind}{self.shape_note(node)}")
        raw = str(node.target).replace("*", "")
        if raw != self.repr(node):
            self.body.append(f"{self.repr(node)} = {raw}\n")

    def emit_call_method(self, node: Node) -> None:
        target = format_target(self.repr(node.args[0]), str(node.target))
        self.line(node, f"{target}({self.arguments(node.args[1:], node.kwargs)})")

    def emit_call_function(self, node: Node) -> None:
        target: Any = node.target
        name = getattr(target, "__name__", "")
        if getattr(target, "__module__", None) == "_operator" and not node.kwargs:
            if name in magic_methods:
                self.line(node, magic_methods[name].format(*map(self.repr, node.args)))
                return
            if name in inplace_methods:
                first = self.repr(node.args[0])
                self.body.append(
                    f"{inplace_methods[name].format(*map(self.repr, node.args))};  {self.repr(node)} = {first}{self.forget(node)}\n"
                )
                return
        if target is getattr and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            self.line(node, format_target(self.repr(node.args[0]), node.args[1]))
            return
        found = self.add_global(_get_qualified_name(target), target)
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(found)
        self.line(node, f"{found}({self.arguments(node.args, node.kwargs)})")

    def emit_call_module(self, node: Node) -> None:
        self.line(node, f"{format_target(self.root, str(node.target))}({self.arguments(node.args, node.kwargs)})")

    def emit_get_attr(self, node: Node) -> None:
        self.line(node, format_target(self.root, str(node.target)))

    def emit_output(self, node: Node) -> None:
        if node.type is not None:
            self.annotation = f" -> {self.type_repr(node.type)}"
        self.body.append(self.codegen.generate_output(node.args[0], repr_fn=self.repr) + "\n")

    def emit_root(self, node: Node) -> None:
        raise NotImplementedError(f"node: {node.op} {node.target}")

    # -- what `print_readable` adds

    def shape_note(self, node: Node) -> str:
        meta: Any = node.meta.get("tensor_meta") if self.verbose and node.op != "placeholder" else None
        if not hasattr(meta, "shape"):
            return ""
        text = f"{_SHORT.get(meta.dtype, str(meta.dtype))}{list(meta.shape)}"
        return f"  # {text}{list(meta.stride) if self.include_stride else ''}"

    def say_where(self, node: Node) -> None:
        """A comment with the place in the program, wherever it changes."""
        if node.op in ("placeholder", "output") or node.stack_trace == self.told:
            return
        self.told = node.stack_trace
        if node.stack_trace is None:
            self.body.append("# No stacktrace found for following nodes\n")
            return
        place = re.findall(r'File "(.+)", line (\d+), in (.+)\n\s*(.*)', node.stack_trace)
        if place:
            file, line, function, text = place[-1]
            self.body.append(f"\n# File: {file}:{line} in {function}, code: {text}\n")


_SHORT = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.complex64: "c64",
    torch.complex128: "c128",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.bool: "b8",
    torch.uint8: "u8",
}


class _Key:
    """An object as a key by identity, also one without a hash."""

    def __init__(self, obj: Any) -> None:
        self.obj = obj

    def __hash__(self) -> int:
        return id(self.obj)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.obj is self.obj


def _reached(name: str) -> Any:
    """What `torch.a.b` is here; None when there is no such thing."""
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def graph_code(graph: Graph, root_module: str, **options: Any) -> PythonCode:
    """The code of a graph, with names of its own for nodes."""
    namespace = Namespace()
    return graph._codegen._gen_python_code(graph.nodes, root_module, namespace, **options)
