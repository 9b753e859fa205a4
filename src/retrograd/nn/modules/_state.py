"""The part of Module that turns its state into a dictionary and back."""

from __future__ import annotations

import functools
import itertools
import warnings
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.nn.parameter import Parameter, is_lazy
from retrograd.utils.hooks import RemovableHandle

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict returns: the keys that the module or the dictionary had alone."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateDict:
    """state_dict, load_state_dict and the hooks around them."""

    _version: int = 1
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]  # of Module or None, which is not there yet for typing.get_type_hints()
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Callable[..., Any]]
    _state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]

    # -- hooks --------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, prefix, keep_vars) before state_dict collects this module."""
        return _add(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, state_dict, prefix, local_metadata) afterwards; it may change the dictionary in place."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return _add(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As register_state_dict_post_hook, but what the hook returns takes the place of the dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook twice: register_state_dict_post_hook has it already"
            )
        return _add(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> RemovableHandle:
        return _add(self._load_state_dict_pre_hooks, functools.partial(_with_module, hook, _Reference(self)) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, incompatible_keys) after loading; it may change the two lists in place."""
        return _add(self._load_state_dict_post_hooks, hook)

    # -- saving -------------------------------------------------------------

    def get_extra_state(self) -> Any:
        """To be defined, with set_extra_state, by modules that put more than tensors into their state_dict."""
        raise RuntimeError("get_extra_state() was called, but this module does not define it; define it together with set_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        """To be defined, with get_extra_state, by modules that put more than tensors into their state_dict."""
        raise RuntimeError("set_extra_state() was called, but this module does not define it; define it together with get_extra_state()")

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Adds what belongs to this module, not to its children, to the dictionary."""
        for name, tensor in itertools.chain(self._parameters.items(), self._buffers.items()):
            if tensor is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by their full names; the tensors share memory with the module's.

        Args:
            prefix: put before every name.
            keep_vars: keep the parameters themselves, not detached tensors.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead: state_dict(destination=..., prefix=..., keep_vars=...)",
                FutureWarning,
                stacklevel=2,
            )
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = given.get("destination") if destination is None else destination
            prefix, keep_vars = given.get("prefix", prefix), given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if result is not None:
                    raise RuntimeError(
                        f"state_dict post-hook must return None, but {hook!r} returned a {type(result).__name__}: change the state_dict in place"
                    )
            elif result is not None:
                destination = result
        return destination

    # -- loading ------------------------------------------------------------

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Takes what belongs to this module, not to its children, from the dictionary."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        own = {k: v for k, v in itertools.chain(self._parameters.items(), persistent.items()) if v is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, current in own.items():
            key = prefix + name
            if key in state_dict:
                _load_tensor(self, name, key, current, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            for key in state_dict:
                if not key.startswith(prefix) or key == extra_key:
                    continue
                first, *rest = key[len(prefix) :].split(".", 1)
                if first not in (self._modules if rest else own):
                    unexpected_keys.append(key)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> _IncompatibleKeys:
        """Copies the tensors of a state_dict into the parameters and buffers of the same names.

        Args:
            strict: the names must be the same on both sides.
            assign: put the tensors of the dictionary in place of the module's own instead of copying.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing_keys: list[str] = []
        unexpected_keys: list[str] = []
        error_msgs: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata  # type: ignore[attr-defined]

        def load(module: Any, local: Any, prefix: str = "") -> None:
            local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local_metadata["assign_to_params_buffers"] = assign
            module._load_from_state_dict(local, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs)
            for name, child in module._modules.items():
                if child is not None:
                    child_prefix = prefix + name + "."
                    load(child, {k: v for k, v in local.items() if k.startswith(child_prefix)}, child_prefix)
            incompatible = _IncompatibleKeys(missing_keys, unexpected_keys)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, incompatible) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values: change "
                        "incompatible_keys in place."
                    )

        load(self, state_dict)
        if strict and unexpected_keys:
            error_msgs.insert(0, "Unexpected key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in unexpected_keys)))
        if strict and missing_keys:
            error_msgs.insert(0, "Missing key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in missing_keys)))
        if strict and (hint := _prefix_hint(missing_keys, unexpected_keys)):
            error_msgs.append(hint)
        if error_msgs:
            raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(error_msgs)))
        return _IncompatibleKeys(missing_keys, unexpected_keys)


def _prefix_hint(missing: list[str], unexpected: list[str]) -> str:
    """What to do where one side has all its names behind a prefix that the other has not, as those of a wrapped model do."""
    for more, fewer, turned in (
        (unexpected, missing, "{k.removeprefix(PREFIX): v for k, v in state_dict.items()}"),
        (missing, unexpected, "{PREFIX + k: v for k, v in state_dict.items()}"),
    ):
        prefix = more[0].removesuffix(fewer[0]) if more and fewer else ""
        if prefix and prefix != more[0] and {k.removeprefix(prefix) for k in more} == set(fewer):
            whose = "state_dict" if more is unexpected else "model"
            return f"Hint: the names of the {whose} begin with {prefix!r} and the others do not. Load {turned.replace('PREFIX', repr(prefix))}."
    return ""


def _load_tensor(module: Any, name: str, key: str, current: Tensor, given: Any, assign: bool, errors: list[str]) -> None:
    if not isinstance(given, Tensor) and not hasattr(type(given), "__torch_function__"):
        errors.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but received '
            f"{type(given)}"
        )
        return
    if is_lazy(current) and is_lazy(given):
        return
    if current.dim() == 0 and given.dim() == 1:
        given = given[0]  # numbers were vectors of one element, long ago
    if given.shape != current.shape:
        errors.append(
            f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in current model is "
            f"{current.shape}."
        )
        return
    if current.is_meta and not given.is_meta and not assign:
        warnings.warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is a "
            "no-op. Pass `assign=True` to put the checkpoint's tensors in the module instead.",
            stacklevel=4,
        )
    try:
        with _C.no_grad():
            if not assign:
                current.copy_(given)
                return
            if isinstance(current, Parameter):
                if isinstance(given, Parameter):
                    given.requires_grad_(current.requires_grad)
                else:
                    given = Parameter(given, requires_grad=current.requires_grad)
            setattr(module, name, given)
    except Exception as error:
        errors.append(
            f'While copying the parameter named "{key}", whose dimensions in the model are {current.size()} and whose dimensions in the '
            "checkpoint are "
            f"{given.size()}, an exception occurred : {error.args}."
        )


def _add(hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any]) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class _Reference:
    """A weak reference to a module that goes through copy and pickle with it."""

    def __init__(self, module: Any) -> None:
        self.ref: Callable[[], Any] = weakref.ref(module)

    def __getstate__(self) -> dict[str, Any]:
        return {"module": self.ref()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.ref = weakref.ref(state["module"])


def _with_module(hook: Callable[..., Any], reference: _Reference, *args: Any) -> Any:
    module = reference.ref()
    if module is None:
        raise RuntimeError("You are trying to call the hook of a dead Module!")
    return hook(module, *args)
