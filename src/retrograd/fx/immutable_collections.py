"""Lists and dictionaries that cannot be written to: what the arguments of a node are made of, so that its users stay right."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from retrograd.utils import _pytree as pytree

__all__ = ["immutable_dict", "immutable_list"]

_T = TypeVar("_T")
_K = TypeVar("_K")
_V = TypeVar("_V")


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"'{type(self).__name__}' object does not support mutation. If you are attempting to modify the kwargs or args of a "
        "torch.fx.Node object, make a copy, change that, and assign it: `node.args = new_args`"
    )


class immutable_list(list[_T]):
    """A list that cannot be written to, and so has a hash."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> Any:
        return (type(self), (tuple(self),))


class immutable_dict(dict[_K, _V]):
    """A dictionary that cannot be written to, and so has a hash."""

    __delitem__ = __ior__ = __setitem__ = clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return (type(self), (tuple(self.items()),))


pytree.register_pytree_node(immutable_list, lambda x: (list(x), None), lambda leaves, _: immutable_list(leaves))
pytree.register_pytree_node(
    immutable_dict, lambda x: (list(x.values()), list(x)), lambda leaves, keys: immutable_dict(zip(keys, leaves, strict=True))
)
