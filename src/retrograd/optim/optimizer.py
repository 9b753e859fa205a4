"""Optimizer: parameter groups, state, hooks; the base class of all optimizers."""

from __future__ import annotations

import contextlib
import functools
import warnings
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from copy import deepcopy
from itertools import chain
from types import MappingProxyType
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd._cells import line_text
from retrograd._types import typename
from retrograd.optim._for_libraries import (  # noqa: F401
    _capturable_doc,
    _default_to_fused_or_foreach,
    _device_dtype_check_for_fused,
    _differentiable_doc,
    _disable_dynamo_if_unsupported,
    _foreach_doc,
    _fused_doc,
    _get_capturable_supported_devices,
    _get_foreach_kernels_supported_devices,
    _get_fused_kernels_supported_devices,
    _get_scalar_dtype,
    _get_value,
    _group_tensors_by_device_and_dtype,
    _maximize_doc,
    _params_doc,
    _stack_if_compiling,
    _to_scalar,
    _use_grad_for_differentiable,
    _view_as_real,
)
from retrograd.utils.hooks import RemovableHandle

__all__ = [
    "Optimizer", "ParamsT", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook", "swap_in_optimizer_params_and_state",
]  # fmt: skip

ParamsT = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
StateDict = dict[str, Any]
_Hooks = OrderedDict[int, Callable[..., Any]]
_global_optimizer_pre_hooks: _Hooks = OrderedDict()
_global_optimizer_post_hooks: _Hooks = OrderedDict()

_HOOK_TABLES = (
    "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks", "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks",
)  # fmt: skip


class _RequiredParameter:
    """Stands for a default that every group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def _add(hooks: _Hooks, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(optimizer, args, kwargs) before every step of every optimizer."""
    return _add(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(optimizer, args, kwargs) after every step of every optimizer."""
    return _add(_global_optimizer_post_hooks, hook)


_watcher: Any = None  # of the doctor, while it looks closely: told of steps and of zero_grad()
_recorded = _C._recording()  # by a profile, which shows both as blocks; the profiler sets it
_live: weakref.WeakSet[Any] = weakref.WeakSet()
_stepping: Any = None  # the optimizer whose step the doctor is watching


def _watched(optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A step of which the doctor is told, and of the calls of its closure."""
    global _stepping
    watcher, times, outer = _watcher, 0, _stepping
    closure: Any = args[0] if args else kwargs.get("closure")

    def evaluate() -> Any:
        nonlocal times
        times += 1
        watcher.evaluating(optimizer, times)
        return closure()

    if callable(closure):
        args, kwargs = ((evaluate, *args[1:]), kwargs) if args else ((), {**kwargs, "closure": evaluate})
    watcher.before_step(optimizer, callable(closure))
    failed = True
    try:
        _stepping = optimizer
        result = type(optimizer).step(optimizer, *args, **kwargs)
        failed = False
    finally:
        _stepping = outer
        if failed:
            watcher.failed_step(optimizer)
    watcher.after_step(optimizer)
    return result


def _begin_block(optimizer: Any, method: str) -> Any:
    """A method's name in a profile, until _C._end_block()."""
    return _C._begin_block(f"Optimizer.{method}#{type(optimizer).__name__}.{method}")


_LIKE_PARAMETER = ("momentum_buffer", "exp_avg", "exp_avg_sq", "square_avg", "sum")  # names of state


def _name_misfit(optimizer: Any, error: RuntimeError) -> None:
    """A note about the first parameter whose gradient or state is not of its size, which an error about sizes is due to."""
    for number, p in enumerate(chain.from_iterable(group["params"] for group in getattr(optimizer, "param_groups", ()))):
        state = getattr(optimizer, "state", {}).get(p, {})
        for what, tensor in (("gradient", p.grad), *((name, state.get(name)) for name in _LIKE_PARAMETER)):
            if isinstance(tensor, Tensor) and tensor.shape != p.shape:
                error.add_note(
                    f"  parameter {number}, of shape {list(p.shape)}, has a {what} of shape {list(tensor.shape)}: it has changed its size since.\n"
                    "  Hint: make a new optimizer for parameters of a new size, and compute their gradients anew."
                )
                return


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A class's step with the hooks around it. A step that a subclass calls through super() runs without them."""

    @functools.wraps(step)
    def hooked_step(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True  # which schedulers ask
        if _watcher is not None and _stepping is not self and type(self).step is hooked_step:
            return _watched(self, args, kwargs)
        pre, post = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        hooks = pre or post or _global_optimizer_pre_hooks or _global_optimizer_post_hooks
        if not (hooks or _recorded) or type(self).step is not hooked_step:
            try:
                if not (args or kwargs):
                    return step(self)
                result = step(self, *args, **kwargs)
            except RuntimeError as error:
                _name_misfit(self, error)
                raise
            if _watcher is not None and _stepping is not self:
                _watcher.joined_step(self)
            return result
        block = _begin_block(self, "step") if _recorded else None
        try:
            arguments: tuple[Any, ...] = (self, *args)
            for hook in chain(_global_optimizer_pre_hooks.values(), pre.values()):
                changed = hook(self, arguments, kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
                    arguments, kwargs = changed
            result = step(*arguments, **kwargs)
            for hook in chain(post.values(), _global_optimizer_post_hooks.values()):
                hook(self, arguments, kwargs)
            return result
        finally:
            if block is not None:
                _C._end_block(block)

    hooked_step.hooked = True  # type: ignore[attr-defined]
    return hooked_step


class Optimizer:
    """Changes parameters by their gradients; a subclass says how in step().

    Args:
        params: tensors, (name, tensor) pairs, or dictionaries with "params" and options of their own.
        defaults: the options of groups that do not give them.
    """

    defaults: dict[str, Any]
    param_groups: list[dict[str, Any]]
    state: defaultdict[Any, Any]
    _opt_called = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not hasattr(step, "hooked"):
            cls.step = _with_hooks(step)  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._announce()
        for name in _HOOK_TABLES:
            self.__dict__[name] = OrderedDict()
        if isinstance(params, Tensor):
            raise TypeError(
                f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {typename(params)}\n"
                "  Hint: put it into a list."
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError(
                "optimizer got an empty parameter list\n  Hint: model.parameters() is a generator, which can be gone through once. And layers "
                "in a plain list or dict are not parts of a model: use nn.ModuleList or nn.ModuleDict."
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOK_TABLES:
            self.__dict__.setdefault(name, OrderedDict())
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            options = "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
            text += f"\nParameter Group {i}\n{options}"
        return text + ")"

    def _announce(self) -> None:
        """Lets the doctor know of this optimizer and of where it was made."""
        self._made_at = _C._user_site()
        _live.add(self)
        if _C._doctor_state()[0]:
            from retrograd.doctor._watch import watcher

            watcher.made(self)

    # -- groups -----------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a dictionary of parameters ("params") and options."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, and the order of a set changes between runs. Pass a "
                "list."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        params = [p[1] if isinstance(p, tuple) else p for p in params]
        if names:
            if len(names) != len(params):
                raise ValueError(
                    f"all optimizer params should be with/without names. Some param names are missing: there are {len(names)} for {len(params)} params"
                )
            param_group["param_names"] = names
        param_group["params"] = params
        for i, param in enumerate(params):
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(param)}: number {i}")
            if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
                node: Any = param.grad_fn
                made = "" if node._site is None else f" at {line_text(*node._site[:2])}"
                raise ValueError(
                    f"can't optimize a non-leaf Tensor\n  parameter {i}, of shape {list(param.shape)}, was computed by {node.name()}{made}\n"
                    "  Gradients are kept for leaves, and a step would not change what it was computed from.\n"
                    "  Hint: give the optimizer the leaf, or make this one: tensor.detach().requires_grad_(), behind .to(device) or a scaling."
                )
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        self._check_new_group(param_group)
        self.param_groups.append(param_group)

    def _check_new_group(self, param_group: dict[str, Any]) -> None:
        ids = {id(p) for p in param_group["params"]}
        if len(ids) != len(param_group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error. "
                "Give each parameter once.",
                stacklevel=4,
            )
        for group in self.param_groups:
            if ("param_names" in group) != ("param_names" in param_group):
                how = "with names" if "param_names" in param_group else "without names"
                raise ValueError(f"all optimizer param groups should be with/without names. cannot add param group {how} to the optimizer")
            if twice := [list(p.shape) for p in group["params"] if id(p) in ids]:
                raise ValueError(
                    f"some parameters appear in more than one parameter group: {len(twice)}, the first of shape {twice[0]}. They would be "
                    "stepped twice."
                )

    # -- stepping ---------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes the parameters; closure, if given, computes the loss and its gradients first."""
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Resets the gradients of all parameters, to None or to zeros."""
        if _watcher is not None:
            _watcher.zeroed(self, [p for group in self.param_groups for p in group["params"]])
        block = _begin_block(self, "zero_grad") if _recorded else None
        try:
            for group in self.param_groups:
                if set_to_none:
                    _C._drop_grads(group["params"])
                    continue
                for p in group["params"]:
                    grad = p.grad
                    if grad is None:
                        continue
                    if grad.grad_fn is not None:
                        grad.detach_()
                    else:
                        grad.requires_grad_(False)
                    grad.zero_()
        finally:
            if block is not None:
                _C._end_block(block)

    # -- state ------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """{"state": state of each parameter by its number, "param_groups": groups with numbers for parameters}."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        groups, start = [], 0
        for group in self.param_groups:
            for i, p in enumerate(group["params"], start):
                numbers.setdefault(id(p), i)
            start += len(group["params"])
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()}
        state_dict: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        return state_dict

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over the state and options of a state_dict; parameters are matched by their order."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        groups, saved_groups = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved_groups):
            raise ValueError(
                f"loaded state dict has a different number of parameter groups: {len(saved_groups)}, and the optimizer has {len(groups)}"
            )
        for i, (group, saved) in enumerate(zip(groups, saved_groups, strict=True)):
            if len(group["params"]) != len(saved["params"]):
                raise ValueError(
                    f"loaded state dict contains a parameter group that doesn't match the size of optimizer's group: group {i} has "
                    f"{len(saved['params'])} parameters there and {len(group['params'])} here. Was it saved for another model?"
                )
        numbers = chain.from_iterable(s["params"] for s in saved_groups)
        by_number = dict(zip(numbers, chain.from_iterable(g["params"] for g in groups), strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                state[by_number[key]] = self._cast(by_number[key], value, key, state_dict["param_groups"])
            else:
                state[key] = value
        for group, saved in zip(groups, saved_groups, strict=True):
            saved["params"] = group["params"]
            if "param_names" in group:
                saved.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved_groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _cast(self, param: Tensor, value: Any, number: Any, groups: list[dict[str, Any]], key: Hashable = None) -> Any:
        """State from a file for use with a parameter: tensors get its dtype and device, wherever they are nested."""
        if isinstance(value, Tensor):
            return Optimizer._process_value_according_to_param_policy(param, value, number, groups, key)
        if isinstance(value, dict):
            return {k: self._cast(param, v, number, groups, k) for k, v in value.items()}
        if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
            return type(value)(self._cast(param, v, number, groups) for v in value)  # type: ignore[call-arg]
        return value

    @staticmethod
    def _process_value_according_to_param_policy(
        param: Tensor, value: Tensor, param_id: Any, param_groups: list[dict[str, Any]], key: Hashable = None
    ) -> Tensor:
        if key == "step":  # a count: it keeps its own dtype, or steps of half precision parameters would stop counting
            group = next((g for g in param_groups if param_id in g["params"]), {})
            if group.get("capturable") or group.get("fused"):
                return value.to(dtype=_C.float32, device=param.device)
            return value
        return (
            value.to(dtype=param.dtype, device=param.device)
            if param.is_floating_point() or param.is_complex()
            else value.to(device=param.device)
        )

    # -- hooks ------------------------------------------------------------------

    _optimizer_step_pre_hooks: _Hooks = MappingProxyType({})  # type: ignore[assignment]  # until __init__, which some subclasses skip
    _optimizer_step_post_hooks: _Hooks = MappingProxyType({})  # type: ignore[assignment]
    _optimizer_state_dict_pre_hooks: _Hooks
    _optimizer_state_dict_post_hooks: _Hooks
    _optimizer_load_state_dict_pre_hooks: _Hooks
    _optimizer_load_state_dict_post_hooks: _Hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(optimizer, args, kwargs) before each step; it may return new (args, kwargs)."""
        return _add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(optimizer, args, kwargs) after each step."""
        return _add(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls hook(optimizer) before state_dict() collects anything."""
        return _add(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls hook(optimizer, state_dict) afterwards; what it returns takes the place of the dictionary."""
        return _add(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls hook(optimizer, state_dict) before load_state_dict(); what it returns takes the place of the dictionary."""
        return _add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls hook(optimizer) after load_state_dict()."""
        return _add(self._optimizer_load_state_dict_post_hooks, hook, prepend)


# What an option meant in files from before it existed.
_ONCE = {
    "maximize": False, "foreach": None, "capturable": False, "differentiable": False, "fused": None, "amsgrad": False, "nesterov": False,
    "decoupled_weight_decay": False, "centered": False, "momentum": 0,
}  # fmt: skip


class _SetByScaler:
    """An attribute that a gradient scaler sets before a step: an ordinary one, but that it notes in `_scaled` that a step has to look."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, optimizer: Any, owner: type) -> Any:
        if optimizer is None:
            return self
        try:
            return optimizer.__dict__[self.name]
        except KeyError:
            raise AttributeError(f"'{owner.__name__}' object has no attribute '{self.name}'") from None

    def __set__(self, optimizer: Any, value: Any) -> None:
        optimizer.__dict__[self.name] = value
        optimizer._scaled = True

    def __delete__(self, optimizer: Any) -> None:
        self.__get__(optimizer, type(optimizer))
        del optimizer.__dict__[self.name]


class GroupOptimizer(Optimizer):
    """An optimizer that treats one group after the other: subclasses define _step_group."""

    grad_scale, found_inf = _SetByScaler(), _SetByScaler()
    _scaled = False

    # Whether gradients may be sparse; the words of whoever refuses them otherwise.
    _takes_sparse = False
    _instead_of_sparse = ""
    _step_is_a_tensor = True  # numbers of steps in old files become one

    # fused(group, state) makes the whole step of a group in C++, or does nothing and returns False.
    _fused: Callable[[dict[str, Any], Any], bool] | None = None

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(params, defaults)
        if defaults.get("fused"):
            self._step_supports_amp_scaling = True  # which a gradient scaler asks: it then sets grad_scale and found_inf before a step

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The options of this kind of optimizer: those of the groups it has now, or that come with it out of a pickle.
        options = {key for group in self.__dict__.get("param_groups", ()) for key in group} | {*state.get("defaults", ())}
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in _ONCE.items():
                if name in options:
                    group.setdefault(name, value)
            for p in group["params"]:
                own = self.state.get(p)
                if own and self._step_is_a_tensor and isinstance(own.get("step"), (int, float)):
                    own["step"] = new_count(float(own["step"]))
            if group.get("fused"):
                self._step_supports_amp_scaling = True

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes the parameters by their gradients.

        Args:
            closure: computes the loss and its gradients; called first, its loss is returned.
        """
        loss = None
        if closure is not None:
            with _C.enable_grad():
                loss = closure()
        fused, state = self._fused, self.state
        for group in self.param_groups:
            if self._scaled and not self._unscaled(group):
                continue
            if fused is not None and fused(group, state):
                continue
            self._refuse_sparse(group)
            with _C.enable_grad() if self.defaults.get("differentiable") else _C.no_grad():
                self._step_group(group)
        return loss

    def _unscaled(self, group: dict[str, Any]) -> bool:
        """What a gradient scaler has set for this step: `unscaled`."""
        scale, found = getattr(self, "grad_scale", None), getattr(self, "found_inf", None)
        if "fused" not in group or (scale is None and found is None):
            return True
        if unscaled([p.grad for p in group["params"] if p.grad is not None], scale, found, group["fused"]):
            return True
        self._init_states(group)
        return False

    def _refuse_sparse(self, group: dict[str, Any]) -> None:
        """Says that gradients must be dense, where one is not."""
        if not self._takes_sparse and any(p.grad is not None and p.grad.is_sparse for p in group["params"]):
            name = next(c.__name__ for c in type(self).__mro__ if c.__module__.startswith(__name__.partition(".")[0] + "."))
            raise RuntimeError(self._instead_of_sparse or f"{name} does not support sparse gradients")

    def _init_states(self, group: dict[str, Any]) -> None:
        """Makes the state that parameters have before their first step, where a step that is left out would have made it."""

    def _step_group(self, group: dict[str, Any]) -> None:
        raise NotImplementedError


class ParameterOptimizer(GroupOptimizer):
    """An optimizer that treats one parameter after the other: subclasses define _new_state and _update."""

    _on_device = "params and state_steps"  # what capturable=True wants there

    def _new_state(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        """The state of a parameter before its first step, without its count of steps."""
        raise NotImplementedError

    def _update(self, param: Tensor, grad: Tensor, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        """One step; grad has weight decay and direction applied already."""
        raise NotImplementedError

    def _update_sparse(self, param: Tensor, grad: Any, state: dict[str, Any], step: float, group: dict[str, Any]) -> None:
        """One step by a sparse gradient."""
        raise NotImplementedError

    def _step_group(self, group: dict[str, Any]) -> None:
        if group.get("capturable"):
            refuse_capturable(self._on_device)
        group = options(group)
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            state = self.state[p]
            if not state:
                state["step"] = new_count()
                state.update(self._new_state(p, grad, group))
            elif group["differentiable"]:
                differentiable_state(state)
            self._step_parameter(p, grad, state, group)

    def _step_parameter(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] += 1
        if grad.is_sparse:
            self._update_sparse(p, directed(grad, group["maximize"]), state, state["step"].item(), group)
            return
        coupled = 0 if group.get("decoupled_weight_decay") else group.get("weight_decay", 0)
        with real_views(p, grad, state) as (param, grad, state):
            self._update(param, decayed(directed(grad, group["maximize"]), param, coupled), state, state["step"].item(), group)

    @classmethod
    def _step_lists(cls, params: list[Tensor], grads: list[Tensor], steps: list[Tensor], state: dict[str, list[Any]], **group: Any) -> None:
        """A step without an optimizer, which writes the state where it lies: in lists, a tensor for each parameter."""
        if not all(isinstance(step, Tensor) for step in steps):
            raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
        if group.pop("capturable", False):
            refuse_capturable(cls._on_device)
        group = options(group)
        stepper = cls.__new__(cls)  # how a parameter is stepped depends on the options alone
        lists = {"step": steps, **state}
        for i, (p, grad) in enumerate(zip(params, grads, strict=True)):
            own = {name: values[i] for name, values in lists.items()}
            if group["differentiable"]:
                differentiable_state(own)
            stepper._step_parameter(p, grad, own, group)
            for name, values in lists.items():
                values[i] = own[name]


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Inside the block the optimizer works on other parameters and another state; afterwards it is as it was.

    Args:
        swapin_parameters: in the order of the optimizer's own; more of them than it has are left alone.
        swapin_optim_state: as state_dict() gives it. Its tensors are used as they are, so what a step writes is found in them.
    """
    name = "swap_in_optimizer_params_and_state"
    if not optimizer.state:
        raise RuntimeError(f"{name} requires initialized optimizer state.")
    states, groups = swapin_optim_state.get("state"), swapin_optim_state.get("param_groups")
    if not isinstance(states, dict):
        raise RuntimeError(
            f"{name} requires swapin_optim_state['state'] to be a dict mapping packed parameter ids to per-param state dicts, got "
            f"{type(states).__name__}."
        )
    if not isinstance(groups, (list, tuple)) or len(groups) != len(optimizer.param_groups):
        raise RuntimeError("swapin_optim_state has a different number of parameter groups than the live optimizer.")
    given = list(swapin_parameters.values())
    if len(given) < sum(len(group["params"]) for group in optimizer.param_groups):
        raise RuntimeError(f"{name} requires the explicit parameter state to match optimizer.param_groups ordering.")
    kept_state, kept_groups, remaining = optimizer.state, optimizer.param_groups, iter(given)
    state: defaultdict[Any, Any] = defaultdict(dict)
    new_groups = []
    for group, saved in zip(kept_groups, groups, strict=True):
        params = [next(remaining) for _ in group["params"]]
        for number, p in zip(saved["params"], params, strict=True):
            if number in states:
                state[p] = dict(states[number])
        new_groups.append({**group, **saved, "params": params})
    optimizer.state, optimizer.param_groups = state, new_groups
    try:
        yield
    finally:
        optimizer.state, optimizer.param_groups = kept_state, kept_groups


# -- what the optimizers share --------------------------------------------------


def scalar(value: Any) -> float:
    """A number, or the value of a tensor of one element."""
    return value.item() if isinstance(value, Tensor) else value


def options(group: dict[str, Any]) -> dict[str, Any]:
    """A group with numbers for its options that are tensors. In a step that is recorded they stay tensors, of no dimensions: they get gradients."""

    def plain(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.reshape(()) if group["differentiable"] else value.item()
        return tuple(plain(v) for v in value) if type(value) is tuple else value

    return {key: value if key == "params" else plain(value) for key, value in group.items()}


# The ops of a step, for factors that are numbers or, in a recorded step, tensors.


def add_scaled_(to: Tensor, value: Tensor, factor: Any) -> Tensor:
    """to += value * factor"""
    return to.add_(value * factor) if isinstance(factor, Tensor) else to.add_(value, alpha=factor)


def add_product_(to: Tensor, a: Tensor, b: Tensor, factor: Any) -> Tensor:
    """to += a * b * factor"""
    return to.add_(a * b * factor) if isinstance(factor, Tensor) else to.addcmul_(a, b, value=factor)


def add_quotient_(to: Tensor, a: Tensor, b: Tensor, factor: Any) -> Tensor:
    """to += a / b * factor"""
    return to.add_(a / b * factor) if isinstance(factor, Tensor) else to.addcdiv_(a, b, value=factor)


def blend_(mean: Tensor, value: Tensor, weight: Any) -> Tensor:
    """mean += (value - mean) * weight"""
    return mean.lerp_(value, weight.to(mean.dtype) if isinstance(weight, Tensor) else weight)


@contextlib.contextmanager
def real_views(param: Tensor, grad: Tensor, state: dict[str, Any]) -> Iterator[tuple[Tensor, Tensor, dict[str, Any]]]:
    """A complex parameter counts as a real one with twice the numbers. What is put into the state meanwhile ends up in it."""
    if not param.is_complex():
        yield param, grad, state
        return
    is_complex = {key for key, value in state.items() if isinstance(value, Tensor) and value.is_complex()}
    views = {key: _C._ops.view_as_real(value) if key in is_complex else value for key, value in state.items()}
    inside = dict(views)
    yield _C._ops.view_as_real(param), _C._ops.view_as_real(grad.resolve_conj()), inside
    for key, value in inside.items():
        if value is not views.get(key):
            state[key] = _C._ops.view_as_complex(value) if key in is_complex else value


def new_count(value: float = 0.0) -> Tensor:
    """A number of steps, as PyTorch keeps it: a tensor on the CPU."""
    return _C._tensor_from(value, _C.float64 if _C.get_default_dtype() == _C.float64 else _C.float32)


def directed(grad: Tensor, maximize: bool) -> Tensor:
    """The gradient to descend along."""
    return -grad if maximize else grad


def decayed(grad: Tensor, param: Tensor, weight_decay: float | Tensor) -> Tensor:
    """The gradient with that of weight_decay / 2 * |param| ** 2 added."""
    if isinstance(weight_decay, Tensor):
        return grad + param.clone() * weight_decay  # the parameter is about to be written
    return grad.add(param, alpha=weight_decay) if weight_decay != 0 else grad


def differentiable_state(state: dict[str, Any]) -> None:
    """For steps that are themselves recorded: what earlier steps saved for backward is left as it is."""
    for key, value in state.items():
        if isinstance(value, Tensor):
            state[key] = value.clone()


def check_lr(lr: Any, foreach: bool | None = False, capturable: bool = False) -> None:
    if isinstance(lr, Tensor):
        if foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_epsilon(eps: float) -> None:
    """Refuses a negative number to add below a quotient."""
    if not eps >= 0.0:
        raise ValueError(f"Invalid epsilon value: {eps}")


def check_not_negative(**values: Any) -> None:
    """check_not_negative(eps=1e-8) raises 'Invalid eps value: ...' for negative and nan values."""
    for name, value in values.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}")


def check_betas(betas: Any, foreach: bool | None = False, capturable: bool = False) -> None:
    for i, beta in enumerate(betas):
        if isinstance(beta, Tensor) and foreach and not capturable:
            raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        if not 0.0 <= scalar(beta) < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def unscaled(grads: list[Tensor], scale: Tensor | None, found_inf: Tensor | None, fused: bool | None) -> bool:
    """Divides gradients by the scale of a gradient scaler; False where it found an infinity and the step is not to be made."""
    if scale is None and found_inf is None:
        return True
    if not fused:
        raise AssertionError("Expected grad_scale and found_inf to be None: they are for optimizers with fused=True")
    if found_inf is not None and scalar(found_inf) != 0:
        return False
    if scale is not None:
        with _C.no_grad():
            for grad in grads:
                grad.div_(scale)
    return True


def refuse_capturable(what: str = "params and state_steps") -> None:
    """capturable is for CUDA graphs; PyTorch refuses it, too, when the parameters are on the CPU."""
    devices = "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla']"
    raise AssertionError(f"If capturable=True, {what} must be on supported devices: {devices}.")
