"""The part of Module that calls forward with hooks around it, and the hooks that every module shares."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd._cells import line_text
from retrograd.utils.hooks import RemovableHandle

# -- tables -------------------------------------------------------------------

# Note [Hook tables]
# A module without hooks has no hook tables: Module.__getattr__ makes one when somebody first asks for it. Making one of those
# that a call has to look at sets `_hooked` on the module, the one flag that Module.__call__ tests, and it stays set: whoever
# holds the table may add to it at any time. Hooks for all modules set `_hooked` on the class Module.
CALL_TABLES = (
    "_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs",
    "_backward_hooks", "_backward_pre_hooks",
)  # fmt: skip
STATE_TABLES = ("_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")
TABLES = frozenset(CALL_TABLES + STATE_TABLES)
_NONE: OrderedDict[int, Any] = OrderedDict()  # read in place of a table that does not exist

_Hooks = OrderedDict[int, Callable[..., Any]]

_global_forward_pre_hooks: _Hooks = OrderedDict()
_global_forward_hooks: _Hooks = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_backward_pre_hooks: _Hooks = OrderedDict()
_global_backward_hooks: _Hooks = OrderedDict()
_global_is_full_backward_hook: bool | None = None
_global_parameter_registration_hooks: _Hooks = OrderedDict()
_global_buffer_registration_hooks: _Hooks = OrderedDict()
_global_module_registration_hooks: _Hooks = OrderedDict()


def _has_any_global_hook() -> bool:
    return bool(_global_backward_pre_hooks or _global_backward_hooks or _global_forward_hooks or _global_forward_pre_hooks)


def _register(
    hooks: _Hooks, hook: Callable[..., Any], extra: Sequence[OrderedDict[int, bool]] = (), prepend: bool = False
) -> RemovableHandle:
    handle = RemovableHandle(hooks, extra_dict=list(extra))
    hooks[handle.id] = hook
    for table in extra:
        table[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _register_for_calls(hooks: _Hooks, hook: Callable[..., Any], extra: Sequence[OrderedDict[int, bool]] = ()) -> RemovableHandle:
    CallWithHooks._hooked = True
    return _register(hooks, hook, extra)


# -- hooks of all modules -----------------------------------------------------


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, name, buffer) whenever a buffer is registered; a returned buffer takes its place."""
    return _register(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, name, submodule) whenever a module is registered in another; a returned module takes its place."""
    return _register(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, name, param) whenever a parameter is registered; a returned parameter takes its place."""
    return _register(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, args) before the forward of every module."""
    return _register_for_calls(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    """Calls hook(module, args, output) after the forward of every module."""
    extra = [_global_forward_hooks_with_kwargs] * with_kwargs + [_global_forward_hooks_always_called] * always_call
    return _register_for_calls(_global_forward_hooks, hook, extra)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """The old form of register_module_full_backward_hook: it sees the last operation of each forward only."""
    _set_global_kind(False)
    return _register_for_calls(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, grad_output) before the gradients of every module are computed."""
    return _register_for_calls(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, grad_input, grad_output) when the gradients with respect to the inputs of a module are known."""
    _set_global_kind(True)
    return _register_for_calls(_global_backward_hooks, hook)


def _set_global_kind(full: bool) -> None:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is not None and _global_is_full_backward_hook is not full:
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as a global Module hook. Use one kind.")
    _global_is_full_backward_hook = full


# -- calling ------------------------------------------------------------------


class CallWithHooks:
    """Registration of call hooks, and the call that runs them."""

    _hooked: bool = False
    _is_full_backward_hook: bool | None = None
    _forward_hooks: _Hooks
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: _Hooks
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: _Hooks
    _backward_pre_hooks: _Hooks
    forward: Callable[..., Any]

    def register_forward_pre_hook(self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """Calls hook(module, args) before forward; what it returns takes the place of the arguments.

        Args:
            prepend: call it before the hooks that are there already.
            with_kwargs: call hook(module, args, kwargs), which may return (args, kwargs).
        """
        self._hooked = True
        return _register(self._forward_pre_hooks, hook, [self._forward_pre_hooks_with_kwargs] * with_kwargs, prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Calls hook(module, args, output) after forward; what it returns takes the place of the output.

        Args:
            prepend: call it before the hooks that are there already.
            with_kwargs: call hook(module, args, kwargs, output).
            always_call: call it, with None for the output, even if forward raises.
        """
        self._hooked = True
        extra = [self._forward_hooks_with_kwargs] * with_kwargs + [self._forward_hooks_always_called] * always_call
        return _register(self._forward_hooks, hook, extra, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls hook(module, grad_output) before the gradients of the module are computed; a returned tuple takes its place."""
        self._hooked = True
        return _register(self._backward_pre_hooks, hook, (), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls hook(module, grad_input, grad_output) when the gradients with respect to the inputs are known.

        A returned tuple takes the place of grad_input.
        """
        self.__set_kind(True)
        return _register(self._backward_hooks, hook, (), prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The old form of register_full_backward_hook: it sees the last operation of forward only."""
        self.__set_kind(False)
        return _register(self._backward_hooks, hook)

    def __set_kind(self, full: bool) -> None:
        if self._is_full_backward_hook is not None and self._is_full_backward_hook is not full:
            raise RuntimeError("Cannot use both regular backward hooks and full backward hooks on a single Module. Use one kind.")
        self._is_full_backward_hook = full
        self._hooked = True

    def __table(self, name: str) -> OrderedDict[int, Any]:
        return self.__dict__.get(name, _NONE)

    def _get_backward_hooks(self) -> tuple[list[Callable[..., Any]], list[Callable[..., Any]]]:
        """(full, not full)"""
        full: list[Callable[..., Any]] = []
        other: list[Callable[..., Any]] = []
        (full if _global_is_full_backward_hook is True else other).extend(_global_backward_hooks.values())
        (full if self._is_full_backward_hook is True else other).extend(self.__table("_backward_hooks").values())
        return full, other

    def _get_backward_pre_hooks(self) -> list[Callable[..., Any]]:
        return [*_global_backward_pre_hooks.values(), *self.__table("_backward_pre_hooks").values()]

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """Runs forward with the hooks of this module and of all modules around it."""
        tables = self.__dict__
        if not _has_any_global_hook():
            CallWithHooks._hooked = False
            if not any(tables.get(name) for name in CALL_TABLES):
                return self.forward(*args, **kwargs)
        called: set[int] = set()
        try:
            return self.__run(called, args, kwargs)
        except Exception:
            self.__run_always_called(called, args, kwargs)
            raise

    def __run(self, called: set[int], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = self.__run_pre_hooks(args, kwargs)
        full, not_full = self._get_backward_hooks()
        backward_pre = self._get_backward_pre_hooks()
        backward_hook = BackwardHook(self, full, backward_pre) if full or backward_pre else None
        if backward_hook is not None:
            args = backward_hook.setup_input_hook(args)
        result = self.forward(*args, **kwargs)
        for key, hook in (*_global_forward_hooks.items(), *self.__table("_forward_hooks").items()):
            called.add(key)
            with_kwargs = key in self.__table("_forward_hooks_with_kwargs") or key in _global_forward_hooks_with_kwargs
            changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            if changed is not None:
                result = changed
        if backward_hook is not None:
            if not isinstance(result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                    + str(type(result)),
                    stacklevel=4,
                )
            result = backward_hook.setup_output_hook(result)
        if not_full:
            self.__run_not_full(not_full, args, result)
        return result

    def __run_pre_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for key, hook in (*_global_forward_pre_hooks.items(), *self.__table("_forward_pre_hooks").items()):
            if key in self.__table("_forward_pre_hooks_with_kwargs"):
                changed = hook(self, args, kwargs)
                if changed is None:
                    continue
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
                args, kwargs = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def __run_always_called(self, called: set[int], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """After an exception: the hooks registered with always_call=True that have not run yet."""
        for key, hook in (*_global_forward_hooks.items(), *self.__table("_forward_hooks").items()):
            always = key in _global_forward_hooks_always_called or key in self.__table("_forward_hooks_always_called")
            if not always or key in called:
                continue
            with_kwargs = key in self.__table("_forward_hooks_with_kwargs") or key in _global_forward_hooks_with_kwargs
            try:
                hook(self, args, kwargs, None) if with_kwargs else hook(self, args, None)
            except Exception as error:
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was silenced, because forward raised "
                    "another: " + str(error),
                    stacklevel=4,
                )

    def __run_not_full(self, hooks: list[Callable[..., Any]], args: tuple[Any, ...], result: Any) -> None:
        """Puts hooks of the old kind on the last operation of forward."""
        last = result
        while not isinstance(last, Tensor):
            last = next(v for v in last.values() if isinstance(v, Tensor)) if isinstance(last, dict) else last[0]
        node = last.grad_fn
        if node is None:
            return
        for hook in hooks:
            node.register_hook(lambda grad_input, grad_output, hook=hook: hook(self, grad_input, grad_output))
        self._maybe_warn_non_full_backward_hook(args, result, node)

    def _maybe_warn_non_full_backward_hook(self, inputs: Any, result: Any, grad_fn: Any) -> None:
        """Hooks of the old kind see one node; says so where that is not the whole module."""
        results, args = _tensors(result), _tensors(inputs)
        if results is None:
            _warn_not_full("s on a Module that does not return a single Tensor or a tuple of Tensors", "of the grad_output")
        elif args is None:
            _warn_not_full("s on a Module that does not take as input a single Tensor or a tuple of Tensors", "of the grad_input")
        elif {r.grad_fn for r in results if r.grad_fn is not None} != {grad_fn}:
            _warn_not_full(" when outputs are generated by different autograd Nodes", "grad_output")
        elif {a.grad_fn for a in args if a.grad_fn is not None} != {node for node, _ in grad_fn.next_functions}:
            _warn_not_full(" when the forward contains multiple autograd Nodes", "grad_input")


def _tensors(value: Any) -> tuple[Tensor, ...] | None:
    """A tensor or a tuple of tensors as a tuple; None for anything else."""
    values = value if isinstance(value, tuple) else (value,)
    return values if all(isinstance(v, Tensor) for v in values) else None


def _warn_not_full(case: str, missing: str) -> None:
    hook = "non-full backward hook" if case.startswith("s ") else "a non-full backward hook"
    warnings.warn(
        f"Using {hook}{case} is deprecated and will be removed in future versions. This hook will be missing some {missing}. Use "
        "register_full_backward_hook, which sees them all.",
        FutureWarning,
        stacklevel=7,
    )


class BackwardHook:
    """Full backward hooks of one call of a module.

    Inputs and outputs go through the identity as a node of the graph. The node at the outputs sees the gradients that arrive
    (grad_output), the node at the inputs those that leave (grad_input); the user's hooks run when the latter are known.
    """

    def __init__(self, module: Any, user_hooks: list[Callable[..., Any]], user_pre_hooks: list[Callable[..., Any]]) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs: Any = None
        self.n_inputs = self.n_outputs = -1
        self.input_at: list[int] | None = None  # where among the inputs the tensors are; None if none of them requires grad
        self.output_at: list[int] = []

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        result, node, at = _through_identity(args)
        self.n_inputs = len(args)
        if node is not None:
            self.input_at = at
            node.register_hook(self._on_grad_input)
        return result

    def setup_output_hook(self, result: Any) -> Any:
        single = not isinstance(result, tuple)
        results, node, at = _through_identity((result,) if single else result)
        self.n_outputs = len(results)
        if node is not None:
            self.output_at = at
            node.register_prehook(self._on_grad_output)
        return results[0] if single else results

    def _on_grad_output(self, grads: tuple[Any, ...]) -> Any:
        self.grad_outputs = _spread(grads, self.output_at, self.n_outputs)
        for hook in self.user_pre_hooks:
            changed = hook(self.module, self.grad_outputs)
            if changed is None:
                continue
            self.grad_outputs = _checked(changed, self.grad_outputs, hook, "pre hook", "grad_output")
        grads_now = tuple(self.grad_outputs[i] for i in self.output_at)
        if self.input_at is None:
            self._without_inputs()
        return grads_now

    def _without_inputs(self) -> None:
        """No gradient will ever leave towards the inputs, so the hooks run now."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs: no inputs require gradients, so "
            "it sees grad_input as (None, ...).",
            stacklevel=5,
        )
        for hook in self.user_hooks:
            changed = hook(self.module, (None,) * self.n_inputs, self.grad_outputs)
            if changed is not None and not (isinstance(changed, tuple) and all(c is None for c in changed)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or a tuple of None."
                )
        self.grad_outputs = None

    def _on_grad_input(self, grad_input: tuple[Any, ...], _: Any) -> Any:
        if self.grad_outputs is None:
            return None  # the gradient came from elsewhere: none arrived at the outputs of this call
        assert self.input_at is not None
        grads = _spread(grad_input, self.input_at, self.n_inputs)
        for hook in self.user_hooks:
            changed = hook(self.module, grads, self.grad_outputs)
            if changed is None:
                continue
            grads = _checked(changed, grads, hook, "hook", "grad_input")
        self.grad_outputs = None
        return tuple(grads[i] for i in self.input_at)


def _checked(changed: Any, grads: tuple[Any, ...], hook: Any, kind: str, what: str) -> tuple[Any, ...]:
    """What a hook returned in place of gradients."""
    changed = changed if isinstance(changed, tuple) else (changed,)
    code = getattr(hook, "__code__", None)
    line = f"\n  the hook is defined at {line_text(code.co_filename, code.co_firstlineno)}" if code is not None else ""
    if len(changed) != len(grads):
        raise RuntimeError(f"Backward {kind} returned an invalid number of {what}, got {len(changed)}, but expected {len(grads)}{line}")
    for new, old in zip(changed, grads, strict=True):
        if isinstance(new, Tensor) and isinstance(old, Tensor) and new.shape != old.shape:
            name = getattr(hook, "__name__", "<unknown>")
            raise RuntimeError(
                f"hook '{name}' has changed the size of value: the {what} was {list(old.shape)}, the hook returned {list(new.shape)}{line}"
            )
    return changed


def _spread(values: Sequence[Any], at: list[int], length: int) -> tuple[Any, ...]:
    result: list[Any] = [None] * length
    for i, value in zip(at, values, strict=True):
        result[i] = value
    return tuple(result)


def _through_identity(args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, list[int]]:
    """The arguments with every tensor passed through one node, that node (None without any history), and where the tensors are."""
    at = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    if not at or not _C.is_grad_enabled() or not any(args[i].requires_grad for i in at):
        return args, None, at
    identity = _identity_function()
    passed = identity.apply(*(args[i] for i in at))
    passed = (passed,) if isinstance(passed, Tensor) else passed
    result = list(args)
    for i, tensor in zip(at, passed, strict=True):
        result[i] = tensor
    node = next(t.grad_fn for t in passed if t.grad_fn is not None)
    return tuple(result), node, at


_identity: Any = None


def _identity_function() -> Any:
    global _identity
    if _identity is None:
        from retrograd.autograd import Function

        class BackwardHookFunction(Function):
            @staticmethod
            def forward(ctx: Any, *args: Any) -> Any:
                ctx.mark_non_differentiable(*(a for a in args if not a.requires_grad))
                return args

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                return grads

        _identity = BackwardHookFunction
    return _identity
