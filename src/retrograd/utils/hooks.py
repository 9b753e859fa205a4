"""Handles for hooks."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


class RemovableHandle:
    """What registering a hook returns: remove() takes the hook off again; works as a context manager."""

    next_id = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        if extra_dict is None:
            self.extra_dict_ref: tuple[weakref.ref[Any], ...] = ()
        else:
            self.extra_dict_ref = tuple(weakref.ref(d) for d in (extra_dict if isinstance(extra_dict, list) else [extra_dict]))

    def remove(self) -> None:
        """Takes the hook off; a second call does nothing."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None and self.id in hooks:
                del hooks[self.id]

    def __getstate__(self) -> tuple[Any, ...]:
        return self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        hooks, self.id, extras = state
        # A table that is gone, or that nobody else holds, has nothing to remove.
        self.hooks_dict_ref, *others = (weakref.ref(OrderedDict() if d is None else d) for d in (hooks, *extras))
        self.extra_dict_ref = tuple(others)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a hook that is meant not to be saved with its tensor: saving gives no warning about it."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warns about each hook that gets lost when `tensor` is saved."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized. Decorate it with @torch.utils.hooks.unserializable_hook if "
                "that is what you want",
                stacklevel=3,
            )
