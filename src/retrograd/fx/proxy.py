"""Stand-ins for values while a function is traced: what is done with a Proxy becomes nodes of a graph."""

from __future__ import annotations

import collections
import dataclasses
import dis
import inspect
import operator
import traceback
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import retrograd as torch
from retrograd import overrides
from retrograd.fx import _names
from retrograd.fx._codegen import magic_methods, reflectable_magic_methods
from retrograd.fx.graph import Graph
from retrograd.fx.node import Argument, Node, Target, base_types, map_aggregate

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "MetaProxy",
    "ParameterProxy",
    "Proxy",
    "Scope",
    "ScopeContextManager",
    "TraceError",
    "TracerBase",
]


class TraceError(ValueError):
    """A function does something with its arguments that depends on their values."""


class Scope:
    """The module that is being traced: its path and its type."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """Another module is being traced, until the block ends."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._before = Scope(scope.module_path, scope.module_type)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type
        self._scope = scope

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._scope.module_path, self._scope.module_type = self._before.module_path, self._before.module_type


class TracerBase:
    """What turns operations on proxies into nodes of `graph`."""

    graph: Graph
    record_stack_traces: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"
    scope: Scope
    module_stack: collections.OrderedDict[str, tuple[str, Any]]
    node_name_to_scope: dict[str, tuple[str, type]]

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Adds a node, with what is known of where it comes from."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if hasattr(self, "node_name_to_scope"):
            self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if getattr(self, "module_stack", None):
            node.meta["nn_module_stack"] = collections.OrderedDict(self.module_stack)
        if self.record_stack_traces:
            node.stack_trace = "".join(_user_frames().format()).strip()
        return node

    def proxy(self, node: Node) -> Proxy:
        """The stand-in for the result of a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Adds a node for arguments that may contain proxies, and returns the stand-in for its result."""
        node_args, node_kwargs = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(node_args, tuple) or not isinstance(node_kwargs, dict):
            raise AssertionError("create_arg() has to leave a tuple a tuple and a dict a dict")
        node = self.create_node(kind, target, node_args, node_kwargs, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a: Any) -> Argument:
        """A value as an argument of a node: proxies become their nodes, structures are walked, plain values stay."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple):
            if hasattr(a, "_fields"):
                return type(a)(*map(self.create_arg, a))
            return tuple(map(self.create_arg, a))
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return {_plain_key(self.create_arg(k), k): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        if isinstance(a, (*base_types, Node)) or a is None or a is ... or isinstance(a, (torch.Generator,)):
            return a
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj: Proxy) -> bool:
        """Called where a proxy decides what the program does next."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Called where a proxy is iterated over."""
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs function "
            "argument: its length is not known while a function is traced. Unpacking into a fixed number of names works."
        )

    def keys(self, obj: Proxy) -> Any:
        """Called where the keys of a proxy are asked for, as `**` does."""
        return Attribute(obj, "keys")()


def _plain_key(made: Any, key: Any) -> Any:
    if any(isinstance(part, Node) for part in (made if isinstance(made, tuple) else (made,))):
        raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {made}")
    return made


def _user_frames() -> traceback.StackSummary:
    """The lines of the program on the stack, without those of this package."""
    package = torch._package_dir
    return traceback.StackSummary.from_list(
        [entry for entry in traceback.extract_stack() if not entry.filename.startswith(package) and not entry.filename.startswith("<")]
    )


class GraphAppendingTracer(TracerBase):
    """Adds to a graph that is there."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.node_name_to_scope = {}


class Proxy:
    """Stands for the result of a node. Operators, calls, attributes and functions of torch on it add nodes to the graph.

    What depends on the value cannot be traced: `if`, `for`, `len`, `int`. Unpacking into a fixed number of names can.
    """

    node: Node
    tracer: TracerBase

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k in ("node", "tracer") or (k.startswith("__") and k.endswith("__")):  # not there: asked by copy, pickle, numpy
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{k}'")
        return Attribute(self, k)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Proxy]:
        frame = inspect.currentframe()
        caller = frame.f_back if frame is not None else None
        if caller is None:
            raise AssertionError("no calling frame")
        here = next((i for i in dis.get_instructions(caller.f_code) if i.offset == caller.f_lasti), None)
        if here is not None and here.opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(here.argval))
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def keys(self) -> Any:
        """The keys, as a node, unless the tracer knows better."""
        return self.tracer.keys(self)

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        made = object.__new__(type(self))
        memo[id(self)] = made
        made.node, made.tracer = self.node, self.tracer
        return made

    def __contains__(self, item: Any) -> bool:
        return item in iter(self.tracer.iter(self))

    @classmethod
    def __torch_function__(
        cls, orig_method: Callable[..., Any], types: tuple[type, ...], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        tracers: dict[Any, None] = {}

        def note(x: Any) -> Any:
            if isinstance(x, Proxy):
                tracers.setdefault(x.tracer)
            return x

        map_aggregate((args, kwargs), note)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}")
        tracer = next(iter(tracers))
        if overrides.is_tensor_method_or_property(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        return _call_function(tracer, orig_method, args, kwargs)

    # Operators follow: see _define.
    def __getitem__(self, index: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.getitem, (self, index), {})


def _call_function(tracer: TracerBase, function: Any, args: Any, kwargs: Any) -> Proxy:
    if function in _names.METHODS:
        return tracer.create_proxy("call_method", function.__name__, args, kwargs)
    args, kwargs = _names.as_handed_over(function, args, kwargs)
    return tracer.create_proxy("call_function", function, args, kwargs, name=tracer.graph._target_to_str(_base_name(function)))


def _base_name(function: Any) -> str:
    name = _names.torch_name(function)
    return name.rpartition(".")[2] if name else str(function.__name__)


class Attribute(Proxy):
    """An attribute of a proxy: a node once somebody wants its value, part of a call if it is called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A proxy of a parameter whose shape the program may ask for while it is traced."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        return self.param.shape

    def size(self, *args: Any) -> Any:
        return self.param.size(*args)

    def dim(self) -> int:
        return self.param.dim()

    @property
    def ndim(self) -> int:
        return self.param.ndim

    def numel(self) -> int:
        return self.param.numel()

    def nelement(self) -> int:
        return self.param.numel()


class MetaProxy(Proxy):
    """A proxy whose nodes take over metadata."""

    def __init__(self, node: Node, tracer: TracerBase | None = None, fake_mode: Any = None) -> None:
        super().__init__(node, tracer)
        self.fake_mode = fake_mode

    def __repr__(self) -> str:
        return f"MetaProxy({self.node.name})"


def _define(name: str) -> None:
    def compute(*args: Any, **kwargs: Any) -> Proxy:
        return args[0].tracer.create_proxy("call_function", function, args, kwargs)

    function = getattr(operator, name)
    compute.__name__ = method = f"__{name.strip('_')}__"
    setattr(Proxy, method, compute)


def _define_reflected(name: str) -> None:
    def compute(self: Proxy, rhs: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (rhs, self), {})

    function = getattr(operator, name)
    compute.__name__ = method = f"__r{name.strip('_')}__"
    setattr(Proxy, method, compute)


for _name in magic_methods:
    _define(_name)
for _name in reflectable_magic_methods:
    _define_reflected(_name)
