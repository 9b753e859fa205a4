"""A module whose `forward` is the code of a graph."""

from __future__ import annotations

import copy
import itertools
import linecache
import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import retrograd as torch
from retrograd import nn
from retrograd.fx._codegen import PythonCode, PyTreeCodeGen
from retrograd.fx.graph import Graph

__all__ = ["GraphModule"]

_numbers = itertools.count()


def _compile(code: PythonCode) -> Callable[..., Any]:
    """The function of a piece of generated code, whose lines tracebacks can show."""
    name = f"<eval_with_key>.{next(_numbers)}"
    lines = code.src.splitlines(keepends=True)
    linecache.cache[name] = (len(code.src), None, lines, name)
    scope = dict(code.globals)
    exec(compile(code.src, name, "exec", dont_inherit=True), scope)
    return scope["forward"]


# -- attributes by path -------------------------------------------------------


def _place(module: nn.Module, path: list[str]) -> nn.Module:
    """The module at a path, made of empty ones where there is none."""
    for name in path:
        found = getattr(module, name, None)
        if found is None:
            found = nn.Module()
            setattr(module, name, found)
        module = found
    return module


def _assign_attr(value: Any, to: nn.Module, target: str) -> None:
    *path, name = target.split(".")
    holder = _place(to, path)
    if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
        holder.register_buffer(name, value)
    else:
        setattr(holder, name, value)


def _copy_attr(source: nn.Module, to: nn.Module, target: str) -> None:
    *path, name = target.split(".")
    for part in path:
        source = getattr(source, part)
        there = getattr(to, part, None)
        if source is there:  # it is in place already, with all it has
            return
        if there is None:
            there = nn.Module()
            setattr(to, part, there)
        to = there
    _assign_attr(getattr(source, name), to, name)


class GraphModule(nn.Module):
    """A module made from a graph.

    Args:
        root: where the attributes that the graph names are taken from: a module, or a dict from paths to values.
        graph: what it computes.
        class_name: what its class is called.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        # Each has a class of its own, whose forward is its code.
        kind = next(c for c in cls.__mro__ if "GraphModuleImpl" not in c.__qualname__)

        class GraphModuleImpl(kind):  # type: ignore[valid-type, misc]
            pass

        return super().__new__(GraphModuleImpl)

    def __init__(self, root: nn.Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, nn.Module):
            if hasattr(root, "training"):
                self.training = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, str(node.target))
        elif isinstance(root, dict):
            wanted = []
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    if node.target not in root:
                        raise RuntimeError(f"Node {node} referenced target {node.target} but that target was not provided in ``root``!")
                    wanted.append(str(node.target))
            for target in sorted(wanted, key=lambda t: t.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self._tracer_cls = graph._tracer_cls
        self._tracer_extras = graph._tracer_extras
        self.meta: dict[str, Any] = {}
        for hooks in ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks"):
            self.__dict__[hooks] = []
        self.graph = graph

    # -- code

    @property
    def graph(self) -> Graph:
        """The graph. Call `recompile()` after changing it."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self.__dict__["_graph"] = g
        g.owning_module = self
        self.recompile()

    def recompile(self) -> PythonCode:
        """Makes the code anew from the graph."""
        codegen = self._graph._codegen
        if isinstance(codegen, PyTreeCodeGen):
            self._in_spec, self._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
        code = self._graph.python_code(root_module="self")
        self.__dict__["_code"] = code.src
        type(self).forward = _compile(code)
        return code

    @property
    def code(self) -> str:
        """The text of `forward`."""
        return self._code

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        *,
        fast_sympy_print: bool = False,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:
        """The code as a class, with comments on where nodes come from; of graph modules inside, too."""
        options: dict[str, Any] = {"include_stride": include_stride, "include_device": include_device, "expanded_def": expanded_def}
        body = self._graph.python_code("self", verbose=True, **options).src.strip("\n").rstrip()
        parts = [f"class {self._get_name()}(torch.nn.Module):\n{textwrap.indent(body, '    ')}"]
        for name, child in self.named_children():
            if isinstance(child, GraphModule):
                inner = child.print_readable(False, **options).strip()
                inner = f"class {name}(torch.nn.Module):\n" + inner.partition("\n")[2]
                parts.append(textwrap.indent(inner, "    "))
        text = "\n\n".join(parts) + "\n"
        if print_output:
            print(text)
        return text

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Writes the module as a package that can be imported: its code, and its state beside it."""
        folder = Path(folder)
        folder.mkdir(exist_ok=True)
        torch.save(self.state_dict(), folder / "state_dict.pt")
        made = []
        for name, module in self.named_children():
            torch.save(module, folder / f"{name}.pt")
            made.append(f"self.add_module({name!r}, torch.load(folder / '{name}.pt', weights_only=False))")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                made.append(f"self.register_buffer({name!r}, torch.empty({list(buffer.shape)}, dtype={buffer.dtype}))")
        for name, parameter in self._parameters.items():
            if parameter is not None:
                empty = f"torch.empty({list(parameter.shape)}, dtype={parameter.dtype})"
                made.append(f"self.register_parameter({name!r}, torch.nn.Parameter({empty}))")
        text = (
            "from pathlib import Path\n\nimport torch\nfrom math import inf, nan\nfrom torch import device\nfrom torch.nn import *\n\n"
            f"folder = Path(__file__).parent\n\n\nclass {module_name}(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            + "".join(f"        {line}\n" for line in made)
            + "        self.load_state_dict(torch.load(folder / 'state_dict.pt'))\n\n"
            + textwrap.indent(self.code.strip("\n"), "    ")
        )
        (folder / "module.py").write_text(text.rstrip() + "\n")
        (folder / "__init__.py").write_text("from .module import *\n")

    # -- submodules

    def add_submodule(self, target: str, m: nn.Module) -> bool:
        """Puts a module at a path, with empty ones on the way; False where something else is in the way."""
        *path, name = target.split(".")
        module: nn.Module = self
        for part in path:
            found = getattr(module, part, None)
            if found is None:
                found = nn.Module()
                setattr(module, part, found)
            if not isinstance(found, nn.Module):
                return False
            module = found
        module.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Takes out the module at a path; False where there is none."""
        *path, name = target.split(".")
        module: Any = self
        for part in path:
            module = getattr(module, part, None)
            if not isinstance(module, nn.Module):
                return False
        if not isinstance(getattr(module, name, None), nn.Module):
            return False
        delattr(module, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Takes out the modules that the graph does not name."""
        used: set[str] = set()
        for node in self._graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = str(node.target).split(".")
            used |= {".".join(parts[:i]) for i in range(1, len(parts) + 1)}
            if node.op == "call_module":
                try:
                    inside = self.get_submodule(str(node.target)).named_modules()
                except AttributeError:  # a target that is missing is for lint() to say
                    continue
                used |= {f"{node.target}.{name}" for name, _ in inside if name}
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # -- copies

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        state = {k: copy.deepcopy(v, memo) for k, v in self.__dict__.items() if k not in ("_graph", "_code")}
        result = _rebuild(type(self).__mro__[1], state, copy.deepcopy(self._graph, memo))
        memo[id(self)] = result
        for hook in self._deepcopy_hooks:
            hook(result)
        return result

    def __copy__(self) -> GraphModule:
        state = {k: copy.copy(v) if k in ("_parameters", "_buffers", "_modules", "meta") else v for k, v in self.__dict__.items()}
        state = {k: v for k, v in state.items() if k not in ("_graph", "_code")}
        return _rebuild(type(self).__mro__[1], state, self._graph)

    def __reduce__(self) -> Any:
        state = {k: v for k, v in self.__dict__.items() if k not in ("_graph", "_code", "_tracer_cls")}
        return _rebuild, (type(self).__mro__[1], state, self._graph)

    # -- being told of changes

    def _register_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f: Callable[..., Any]) -> None:
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f: Callable[..., Any]) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Callable[..., Any]) -> None:
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f: Callable[..., Any]) -> None:
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f: Callable[..., Any]) -> None:
        self._deepcopy_hooks.append(f)

    def _unregister_deepcopy_hook(self, f: Callable[..., Any]) -> None:
        self._deepcopy_hooks.remove(f)

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self._code}\n# To see more debug info, please use `graph_module.print_readable()`"


def _rebuild(kind: type[GraphModule], state: dict[str, Any], graph: Graph) -> GraphModule:
    """A graph module from its attributes and its graph."""
    made = kind.__new__(kind)
    nn.Module.__init__(made)
    type(made).__name__ = "GraphModule"
    made.__dict__.setdefault("_tracer_cls", None)
    made.__dict__.update(state)
    made.graph = graph
    return made
