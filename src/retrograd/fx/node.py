"""A node of a graph: one operation, its arguments, and who uses its result.

Arguments are kept immutable; assigning `args` or `kwargs` keeps `users` of the nodes named in them right.
"""

from __future__ import annotations

import builtins
import inspect
import types
import typing
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import retrograd as torch
from retrograd.fx._names import torch_name
from retrograd.fx.immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from retrograd.fx.graph import Graph

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

BaseArgumentTypes = str | int | float | bool | complex | torch.dtype | torch.Tensor | torch.device | torch.memory_format | torch.layout
base_types = typing.get_args(BaseArgumentTypes)
Target = Callable[..., Any] | str
Argument = Any

_legal_ops = dict.fromkeys(("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"))
_side_effectful_functions: set[Callable[..., Any]] = {torch._assert}
_RANDOM = {
    getattr(torch, name)
    for name in (
        "bernoulli",
        "multinomial",
        "normal",
        "poisson",
        "rand",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "randperm",
    )
}


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Says that calls of a function must stay although nobody uses their results."""
    _side_effectful_functions.add(fn)
    return fn


# -- walking over arguments ---------------------------------------------------


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The same structure of tuples, lists, dictionaries and slices, with `fn` of each thing in it; what was mutable is immutable."""
    if isinstance(a, tuple):
        changed = tuple(map_aggregate(x, fn) for x in a)
        return type(a)(*changed) if hasattr(a, "_fields") else changed
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict([(k, map_aggregate(v, fn)) for k, v in a.items()])
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """`map_aggregate` for the nodes alone."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def nodes_in(*arguments: Any) -> dict[Node, None]:
    """The nodes that arguments name, each once, in order."""
    found: dict[Node, None] = {}
    map_arg(arguments, lambda n: found.setdefault(n))
    return found


# -- names --------------------------------------------------------------------


def _type_repr(obj: Any) -> str:
    """A type as its name, qualified unless it is built in."""
    if type(obj) is not types.GenericAlias and isinstance(obj, type):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return f"{_torch_module(obj.__module__)}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    return obj.__name__ if isinstance(obj, types.FunctionType) else repr(obj).replace("retrograd.", "torch.")


def _torch_module(name: str) -> str:
    return "torch" + name.removeprefix("retrograd") if name.partition(".")[0] == "retrograd" else name


def _find_module_of_method(orig_method: Any) -> str:
    for home, name in ((torch, "torch"), (torch.nn.functional, "torch.nn.functional")):
        if getattr(home, orig_method.__name__, None) is orig_method:
            return name
    raise RuntimeError(f"cannot find module for {orig_method}")


def _get_qualified_name(func: Any) -> str:
    known = torch_name(func)
    if known is not None:
        return known
    plain = getattr(func, "__name__", "")
    if getattr(builtins, plain, None) is func:
        return str(plain)
    if isinstance(func, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return f"{_torch_module(func.__objclass__.__module__)}.{func.__objclass__.__name__}.{func.__name__}"
    if not hasattr(func, "__name__"):
        return str(func)
    name = func.__name__
    if name == "<lambda>":
        # A lambda that was given a name in its module can be found under it.
        module = inspect.getmodule(func)
        name = next((k for k, v in vars(module).items() if v is func), name) if module else name
    module_name = getattr(func, "__module__", None)
    if module_name is None:
        module_name = _find_module_of_method(func)
    return f"{_torch_module(module_name)}.{name}"


def _format_arg(arg: Any, max_list_len: float = float("inf")) -> str:
    if hasattr(arg, "_custom_fx_repr_fn"):
        return str(arg._custom_fx_repr_fn())
    if isinstance(arg, (list, tuple)):
        shown = [_format_arg(a) for i, a in enumerate(arg) if i < max_list_len]
        inside = ", ".join(shown) + (f", ...[total_len={len(arg)}]" if len(arg) > max_list_len else "")
        if isinstance(arg, list):
            return f"[{inside}]"
        return f"({inside},)" if len(arg) == 1 else f"({inside})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


# -- the node -----------------------------------------------------------------


class Node:
    """One operation of a graph.

    Args:
        graph: where it stands.
        name: of its result, unique in the graph.
        op: what it does: "placeholder", "get_attr", "call_function", "call_module", "call_method" or "output".
        target: what is called: a function, the name of a method, or the path of a module or attribute.
        args, kwargs: its arguments, in which other nodes stand for their results.
        return_type: a type to annotate the result with.
    """

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if (op == "call_function") is not callable(target):
            kind = _type_repr(type(target)) if not callable(target) else _get_qualified_name(target)
            expected = "Callable" if op == "call_function" else "str"
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {kind} but a {expected} is expected")
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._args: Any = ()
        self._kwargs: Any = immutable_dict()
        self._prev = self._next = self
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self._set_arguments(args, kwargs)

    # -- place in the graph

    @property
    def next(self) -> Node:
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Puts `x`, a node of the same graph, before this one."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            torch_warn("Trying to prepend a node to itself. This behavior has no effect on the graph.")
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x
        self.graph._moved()

    def append(self, x: Node) -> None:
        """Puts `x`, a node of the same graph, after this one."""
        self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    # -- arguments

    @property
    def args(self) -> tuple[Argument, ...]:
        """The positional arguments. Assign to change them."""
        return self._args

    @args.setter
    def args(self, value: tuple[Argument, ...]) -> None:
        self._set_arguments(value, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The arguments by name. Assign to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value: dict[str, Argument]) -> None:
        self._set_arguments(self._args, value)

    def _set_arguments(self, args: Any, kwargs: Any) -> None:
        for old in self._input_nodes:
            old.users.pop(self, None)
        self._args, self._kwargs = map_aggregate(args, lambda x: x), map_aggregate(kwargs, lambda x: x)
        self._input_nodes = nodes_in(self._args, self._kwargs)
        for new in self._input_nodes:
            new.users.setdefault(self)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Changes one positional argument."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Puts an argument before the one at `idx`."""
        if not 0 <= idx <= len(self._args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Changes or adds one argument by name."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Uses `new_input` wherever `old_input` is an argument of this node."""

        def swap(n: Node) -> Node:
            return new_input if n is old_input else n

        self._tell_replaced(old_input, new_input)
        self._set_arguments(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] | None = None, *, propagate_meta: bool = False
    ) -> list[Node]:
        """Puts `replace_with` in the place of this node wherever it is an argument; `delete_user_cb` says of a user whether to change it.

        Returns:
            the users that were changed.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def _tell_replaced(self, old: Node, new: Node) -> None:
        module = self.graph.owning_module
        for hook in getattr(module, "_replace_hooks", ()) if module is not None else ():
            hook(old=old, new=new.name, user=self)

    # -- what it is

    @property
    def stack_trace(self) -> str | None:
        """Where the program did this, if the tracer recorded it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the node does something beside its result: writes, draws random numbers, checks."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            if self.target in _side_effectful_functions:
                return True
            return (impure_random and self.target in _RANDOM) or _writes(getattr(self.target, "__name__", ""))
        if self.op == "call_method":
            return _writes(str(self.target))
        if self.op == "call_module":
            module = self.graph.owning_module
            if module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            return bool(getattr(module.get_submodule(str(self.target)), "is_impure", False))
        return False

    def normalized_arguments(
        self, root: Any, arg_types: Any = None, kwarg_types: Any = None, normalize_to_only_use_kwargs: bool = False
    ) -> Any:
        """The arguments in the form the signature of the target gives them, as (args, kwargs); None where there is no signature to ask."""
        if self.op == "call_module":
            target: Any = root.get_submodule(str(self.target)).forward
        elif self.op == "call_function":
            target = self.target
        else:
            return None
        try:
            bound = inspect.signature(target).bind(*self._args, **self._kwargs)
        except (TypeError, ValueError):
            return None
        bound.apply_defaults()
        if normalize_to_only_use_kwargs:
            return (), dict(bound.arguments)
        return bound.args, bound.kwargs

    @staticmethod
    def _pretty_print_target(target: Any) -> str:
        """The target as the text of a graph shows it."""
        if isinstance(target, str):
            return target
        if getattr(target, "__module__", None) == "builtins":
            return f"builtins.{target.__name__}"
        if getattr(target, "__module__", None) == "_operator":
            return f"operator.{target.__name__}"
        return _get_qualified_name(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """The line for this node in the text of its graph."""
        kind = f"{_type_repr(self.type)} " if self.type is not None and self.type is not inspect.Signature.empty else ""
        start = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}[target={self._pretty_print_target(self.target)}]"
        if self.op == "placeholder":
            if not isinstance(self.target, str):
                raise AssertionError(f"Expected str target for a placeholder, got {type(self.target)}")
            if placeholder_names is not None:
                placeholder_names.append(self.name)
            return start + (f"(default={self._args[0]})" if self._args else "")
        if self.op == "get_attr":
            return start
        if self.op == "output":
            if self.type is not None and maybe_return_typename is not None:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self._args[0]}"
        return f"{start}(args = {_format_arg(self._args)}, kwargs = {_format_arg(self._kwargs)})"

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn is not None else self.name

    def __lt__(self, other: Node) -> bool:
        return self._before(other) if isinstance(other, Node) else NotImplemented

    def __gt__(self, other: Node) -> bool:
        return other._before(self) if isinstance(other, Node) else NotImplemented

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or self > other

    def _before(self, other: Node) -> bool:
        order = self.graph._order()
        return order[self] < order[other]

    def _rename(self, candidate: str) -> None:
        """Takes a new name, or one like it if it is taken."""
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)


def _writes(name: str) -> bool:
    """Whether a method of this name writes in place. PyTorch thinks that one whose result nobody uses can go."""
    return name.endswith("_") and not name.endswith("__")


def torch_warn(text: str) -> None:
    import warnings

    warnings.warn(text, stacklevel=3)


_SequenceOfNodes = Sequence[Node]
