"""Symbolic tracing: a module or function is run once on proxies, and what it does is written down."""

from __future__ import annotations

import builtins
import collections
import contextlib
import copy
import functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import retrograd as torch
from retrograd import _C, nn
from retrograd.fx._codegen import PyTreeCodeGen, PyTreeInfo
from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import Argument, Node, base_types, has_side_effect, map_aggregate
from retrograd.fx.proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase
from retrograd.utils import _pytree as pytree

_proxyable_classes: dict[type, None] = {}
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}
_wrapped_methods_to_patch: list[tuple[type, str]] = []
_tracing = 0


def is_fx_tracing() -> bool:
    """Whether a function is being traced."""
    return _tracing > 0


is_fx_symbolic_tracing = is_fx_tracing


class ProxyableClassMeta(type):
    """The metaclass of classes whose construction from proxies becomes a node."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        instance = cls.__new__(cls)  # type: ignore[call-overload]
        if not is_fx_tracing():
            cls.__init__(instance, *args, **kwargs)  # type: ignore[misc]
            return instance
        proxies = _find_proxy(args, kwargs)
        if proxies is None:
            cls.__init__(instance, *args, **kwargs)  # type: ignore[misc]
            return instance
        return proxies.tracer.create_proxy("call_function", cls, args, kwargs)


class PHBase:
    """In `concrete_args`, what stays an argument."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """A placeholder with a key to tell it by."""

    def __init__(self, ph_key: str | None = None) -> None:
        self.ph_key = ph_key


@has_side_effect
def _assert_is_none(value: Any, msg: str) -> None:
    assert value is None, msg


# -- the tracer ---------------------------------------------------------------


class Tracer(TracerBase):
    """Traces modules and functions. Override `is_leaf_module`, `call_module`, `create_arg` and the like to change what becomes a node.

    Args:
        autowrap_modules: modules whose functions become nodes when they are called with proxies.
        autowrap_functions: functions likewise.
        param_shapes_constant: whether shapes of parameters are numbers, not nodes.
    """

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        self._autowrap_function_ids = {id(v) for m in autowrap_modules for n, v in vars(m).items() if not n.startswith("_") and callable(v)}
        self._autowrap_function_ids |= {id(f) for f in autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[nn.Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}
        self.root: nn.Module = nn.Module()
        self.tensor_attrs: dict[Any, str] = {}

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name for an attribute that the root does not have yet."""
        i = 0
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        return f"{prefix}{i}"

    def create_arg(self, a: Any) -> Argument:
        if isinstance(a, torch.Tensor):
            return self._tensor(a)
        if isinstance(a, nn.Module):
            for name, module in self.root.named_modules():
                if module is a:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(map(self.create_arg, a)), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def _tensor(self, a: torch.Tensor) -> Node:
        """A tensor that is not an argument: an attribute of the root, an old one or a new one."""
        if isinstance(a, nn.Parameter):
            for name, parameter in self.root.named_parameters():
                if parameter is a:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        for name, buffer in self.root.named_buffers():
            if buffer is a:
                return self.create_node("get_attr", name, (), {})
        found = self.tensor_attrs.get(id(a))
        if found is None:
            found = self.get_fresh_qualname("_tensor_constant")
            self.tensor_attrs[id(a)] = found
            setattr(self.root, found, a)
        return self.create_node("get_attr", found, (), {})

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a call of the module becomes one node. Those of torch.nn do, but for containers that only call others."""
        home = type(m).__module__
        return home.startswith(("retrograd.nn", "torch.nn")) and not isinstance(m, nn.Sequential)

    def path_of_module(self, mod: nn.Module) -> str:
        """Where in the root the module is."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            return path
        for name, module in self.root.named_modules():
            if mod is module:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Called for each call of a module: a node if it is a leaf, else its `forward` is traced."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            count = self.num_calls.get(path, 0)
            key = f"{path}@{count}" if count > 0 else path
            self.num_calls[path] = count + 1
            self.module_stack[key] = (path, type(m))
            try:
                if not self.is_leaf_module(m, path):
                    return forward(*args, **kwargs)
                return self.create_proxy("call_module", path, args, kwargs)
            finally:
                self.module_stack.popitem(last=True)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """Called for each attribute of a module that is found in its tables: parameters become nodes."""
        wanted = isinstance(attr_val, nn.Parameter) or (
            self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor) and not isinstance(attr_val, nn.Parameter)
        )
        if not wanted:
            return attr_val
        collection = self.root.named_parameters() if isinstance(attr_val, nn.Parameter) else self.root.named_buffers()
        for name, value in collection:
            if attr_val is value:
                if name not in parameter_proxy_cache:
                    options: dict[str, Any] = {}
                    if self.param_shapes_constant and isinstance(attr_val, nn.Parameter):
                        options["proxy_factory_fn"] = lambda node, name=name: ParameterProxy(self, node, name, attr_val)
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, **options)
                return parameter_proxy_cache[name]
        return attr_val

    # -- arguments of the root

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: dict[str, Any] | tuple[Any, ...] | None = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Placeholders for the parameters of a function; the function to call with their proxies, and those."""
        fn: Any = inspect.unwrap(root_fn)
        code, signature = fn.__code__, inspect.signature(fn)
        names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        args: list[Any] = []
        if is_module:
            if not names:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            names = names[1:]
            args.append(self.root)
        if isinstance(concrete_args, tuple):
            if len(names) != len(concrete_args):
                raise RuntimeError(f"Tracing expected {len(names)} arguments but got {len(concrete_args)} concrete arguments")
            concrete_args = dict(zip(names, concrete_args, strict=True))
        args += [self._proxy_placeholder(name, concrete_args, signature, fn) for name in names]
        rest: list[str] = []
        if code.co_flags & inspect.CO_VARARGS:
            rest.append("*" + code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
        if code.co_flags & inspect.CO_VARKEYWORDS:
            rest.append("**" + code.co_varnames[code.co_argcount + code.co_kwonlyargcount + len(rest)])
        keyword_only = [n for n, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY]
        proxies = [self._proxy_placeholder(name, concrete_args, signature, fn) for name in rest]
        if keyword_only or rest:
            root_fn = _patched(root_fn, len(args) - len(keyword_only), keyword_only, rest)
        args += proxies
        if concrete_args is not None:
            return self._structured(root_fn, args, [*(["self"] if is_module else []), *names, *rest], is_module)
        return root_fn, args

    def _proxy_placeholder(
        self, name: str, concrete_args: dict[str, Any] | None, sig: inspect.Signature, fn_for_analysis: Callable[..., Any]
    ) -> Any:
        parameter = sig.parameters[name.lstrip("*")]
        default = () if name[0] == "*" or parameter.default is parameter.empty else (parameter.default,)
        if concrete_args is None or name not in concrete_args:
            kind = None if name[0] == "*" else _annotation(fn_for_analysis, name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=kind)
        count = 0

        def specialize(x: Any) -> Any:
            nonlocal count
            count += 1
            out = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(x, PHBase):
                if type(x) is not PHBase:
                    out.node.meta.update(vars(x))
                return out
            message = f"{name} has been specialized to have value {x} but got another value"
            if isinstance(x, base_types) and not isinstance(x, torch.Tensor):
                torch._assert(out == x, message)
            elif x is None:
                self.create_proxy("call_function", _assert_is_none, (out, message), {})
            else:
                warnings.warn(
                    f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to the user to "
                    "make sure that your inputs match the inputs you specialized the function with.",
                    stacklevel=2,
                )
            return x

        return pytree.tree_map(specialize, concrete_args[name])

    def _structured(self, root_fn: Any, args: list[Any], names: list[str], is_module: bool) -> tuple[Any, list[Any]]:
        """Where arguments are structures, the graph gets their leaves."""
        own, given = (args[:1], args[1:]) if is_module else ([], args)
        flat, in_spec = pytree.tree_flatten(tuple(given))
        if all(child.is_leaf() for child in in_spec.children()):
            return root_fn, args
        self.graph._codegen = codegen = PyTreeCodeGen(PyTreeInfo(names, in_spec, None))

        def flattened(*leaves):
            result, out_spec = pytree.tree_flatten(root_fn(*own, *pytree.tree_unflatten(list(leaves), in_spec)))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return result

        return flattened, flat

    # -- tracing

    def trace(self, root: nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of a module or function.

        Args:
            concrete_args: values of parameters that are not to be traced; structures with `fx.PH` where they are.
        """
        if isinstance(root, nn.Module):
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
            self.root, fn = root, getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root, fn = nn.Module(), root
        if isinstance(fn, MethodType):
            fn = _without_self(fn)
        if not isinstance(fn, FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(fn)}")
        self.graph = Graph(tracer_cls=getattr(self, "__class__", None))
        self.tensor_attrs = {id(v): n for n, v in _attributes(self.root)}
        fn_globals = fn.__globals__
        fn, args = self.create_args_for_root(fn, isinstance(root, nn.Module), concrete_args)
        with self._patched(fn_globals):
            result = fn(*args)
        self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=_annotation(fn, "return"))
        self.submodule_paths = None
        return self.graph

    @contextlib.contextmanager
    def _patched(self, fn_globals: dict[str, Any]) -> Iterator[None]:
        """Calls and attributes of modules come to this tracer, and wrapped functions become nodes, until the block ends."""
        global _tracing
        cache: dict[str, Proxy] = {}
        call, find = nn.Module.__call__, nn.Module.__getattr__
        patches = _Patches()

        @functools.wraps(find)
        def find_attribute(module: Any, name: str) -> Any:
            return self.getattr(name, find(module, name), cache)

        @functools.wraps(call)
        def call_module(module: Any, *args: Any, **kwargs: Any) -> Any:
            patches.autowrap(getattr(module.forward, "__globals__", {}), self._autowrap_function_ids)
            return self.call_module(module, lambda *a, **k: call(module, *a, **k), args, kwargs)

        try:
            _tracing += 1
            nn.Module.__getattr__ = find_attribute  # type: ignore[method-assign]
            nn.Module.__call__ = call_module  # type: ignore[method-assign, assignment]
            patches.wrapped_functions()
            patches.autowrap(fn_globals, self._autowrap_function_ids)
            for module in self._autowrap_search:
                patches.autowrap(vars(module), self._autowrap_function_ids)
            yield
        finally:
            patches.undo()
            nn.Module.__getattr__, nn.Module.__call__ = find, call  # type: ignore[method-assign]
            _tracing -= 1
            if not _tracing:
                _quicken(nn.Module)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for name, value in self.__dict__.items():
            if name == "_autowrap_search":
                made.__dict__[name] = list(value)
            else:
                made.__dict__[name] = copy.deepcopy(value, memo)
        return made


def _quicken(cls: type) -> None:
    """Gives the module classes back the slots that assigning to `nn.Module` took. See Note [Quick modules] in csrc/python/module_type.cpp."""
    stack, seen = [cls], set()
    while stack:
        kind = stack.pop()
        if kind not in seen:
            seen.add(kind)
            _C._quicken_module(kind)
            stack.extend(type.__subclasses__(kind))


def _attributes(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """Tensors that are plain attributes of a module or its submodules, with their paths."""
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor):
                yield (f"{path}.{name}" if path else name), value


def _annotation(function: Any, name: str) -> Any:
    """What a function says of a parameter. Those of this package say it to type checkers, in names that code elsewhere does not have."""
    found = function.__annotations__.get(name)
    return None if isinstance(found, str) and function.__code__.co_filename.startswith(torch._package_dir) else found


def _without_self(method: MethodType) -> Any:
    """A bound method as a function of its other parameters."""
    function, owner = method.__func__, method.__self__
    names = list(inspect.signature(method).parameters)
    source = f"lambda {', '.join(names)}: function(owner, {', '.join(names)})"
    made = eval(source, {"function": function, "owner": owner})
    made.__name__, made.__annotations__ = function.__name__, dict(getattr(function, "__annotations__", {}))
    made.__defaults__ = function.__defaults__
    return made


def _patched(fn: Callable[..., Any], positional: int, keyword_only: list[str], rest: list[str]) -> Callable[..., Any]:
    """The function, taking all that it takes by position, what `*args` and `**kwargs` stand for included, as one proxy each."""
    code = fn.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = positional + len(keyword_only) + len(rest)
    changed = code.replace(co_flags=flags, co_argcount=count, co_kwonlyargcount=0, co_posonlyargcount=0)
    made = FunctionType(changed, fn.__globals__, fn.__name__, None, fn.__closure__)
    made.__annotations__ = fn.__annotations__
    return made


# -- functions that become nodes ----------------------------------------------


class _Patches:
    """Entries of dictionaries that were replaced, and how to put them back."""

    def __init__(self) -> None:
        self._undo: list[tuple[dict[str, Any], str, Any, bool]] = []
        self._visited: set[int] = set()

    def replace(self, scope: dict[str, Any], name: str, value: Any) -> None:
        self._undo.append((scope, name, scope.get(name), name in scope))
        value.__fx_already_patched = True
        scope[name] = value

    def wrapped_functions(self) -> None:
        """What `wrap` named."""
        for (_, name), scope in list(_wrapped_fns_to_patch.items()):
            original = scope[name] if name in scope else getattr(builtins, name)
            self.replace(scope, name, _create_wrapped_func(original))

    def autowrap(self, scope: dict[str, Any], ids: set[int]) -> None:
        """What a tracer wraps by itself, wherever a module has it."""
        if id(scope) in self._visited:
            return
        self._visited.add(id(scope))
        for name, value in list(scope.items()):
            if not name.startswith("_") and callable(value) and id(value) in ids:
                self.replace(scope, name, _create_wrapped_func(value))

    def undo(self) -> None:
        for scope, name, value, there in reversed(self._undo):
            if there:
                scope[name] = value
            else:
                scope.pop(name, None)


def _find_proxy(*objects: Any) -> Proxy | None:
    """A proxy among arguments, if there is one."""
    found: list[Proxy] = []

    def look(x: Any) -> Any:
        if isinstance(x, Proxy):
            found.append(x)
        return x

    map_aggregate(objects, look)
    return found[0] if found else None


def _create_wrapped_func(orig_fn: Callable[..., Any]) -> Any:
    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", orig_fn, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return wrapped


def wrap(fn_or_name: str | Callable[..., Any]) -> str | Callable[..., Any]:
    """Makes calls of a function of this module, given by name or as a decorator, nodes of their own instead of being traced through.

    Has to be called at the top level of a module.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    if callable(fn_or_name):
        if isinstance(fn_or_name, str):
            raise AssertionError("a name cannot be called")
        name = fn_or_name.__name__
    else:
        name = fn_or_name
    frame = inspect.currentframe()
    caller = frame.f_back if frame is not None else None
    if caller is None or caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[(id(caller.f_globals), name)] = caller.f_globals
    return fn_or_name


def symbolic_trace(root: nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """A module with the graph of `root`, a module or function, found by running it once on proxies.

    Args:
        concrete_args: values of parameters that are fixed, so that the program may look at them; `fx.PH` inside structures stays open.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
