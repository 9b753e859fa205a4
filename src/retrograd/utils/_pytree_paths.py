"""The less used half of trees of containers: ways to the leaves, and PyTorch's names for parts of the machinery."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from retrograd.utils._pytree import (
    PyTree,
    TreeSpec,
    _container_of,
    _containers,
    _is_named_tuple,
    _IsLeaf,
    _with_keys,
    tree_all,
    tree_any,
    tree_flatten,
    tree_leaves,
    tree_map_,
    tree_unflatten,
)

KeyPath = tuple[Any, ...]
Context = Any
BUILTIN_TYPES = frozenset((dict, OrderedDict, defaultdict, list, tuple, deque))
SUPPORTED_NODES = _containers
PyTreeSpec = TreeSpec


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The way to a value of a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The way to an item of a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The way to an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


def keystr(kp: KeyPath) -> str:
    """A way as text: `['a'][0]`."""
    return "".join(str(key) for key in kp)


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What a way leads to."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _children(tree: Any) -> list[tuple[Any, Any]]:
    """(key, child) for the children of a container."""
    if type(tree) in _with_keys:
        return list(_with_keys[type(tree)](tree)[0])
    if isinstance(tree, dict):
        return [(MappingKey(key), value) for key, value in tree.items()]
    if is_namedtuple_instance(tree):
        return [(GetAttrKey(name), getattr(tree, name)) for name in tree._fields]
    if isinstance(tree, (list, tuple, deque)):
        return [(SequenceKey(i), item) for i, item in enumerate(tree)]
    raise ValueError(
        f"Did not find a flatten_with_keys_fn for type: {type(tree)}. Please pass a flatten_with_keys_fn argument to register_pytree_node."
    )


def tree_leaves_with_path(tree: PyTree, is_leaf: _IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """(way, leaf) for each leaf."""
    if (is_leaf is not None and is_leaf(tree)) or _container_of(tree) is None:
        return [((), tree)]
    return [((key, *way), leaf) for key, child in _children(tree) for way, leaf in tree_leaves_with_path(child, is_leaf)]


def tree_flatten_with_path(tree: PyTree, is_leaf: _IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """(the leaves with their ways, the structure)."""
    return tree_leaves_with_path(tree, is_leaf), tree_flatten(tree, is_leaf)[1]


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """tree_map with func(way, leaf, ...)."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [tree_leaves(rest, is_leaf) for rest in rests]
    return tree_unflatten([func(way, leaf, *more) for (way, leaf), *more in zip(found, *columns, strict=True)], spec)


# -- the kinds of containers, by PyTorch's names -----------------------------------------


def is_namedtuple_class(cls: type) -> bool:
    """Whether a class is one of namedtuple()."""
    return isinstance(cls, type) and _is_named_tuple(cls)


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether an object is of such a class."""
    return _is_named_tuple(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Either."""
    return is_namedtuple_class(obj) if isinstance(obj, type) else is_namedtuple_instance(obj)


def is_structseq_class(cls: type) -> bool:
    """Whether a class is one of results with names."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "n_sequence_fields", None), int)


def is_structseq_instance(obj: Any) -> bool:
    """Whether an object is of such a class."""
    return is_structseq_class(type(obj))


def is_structseq(obj: Any) -> bool:
    """Either."""
    return is_structseq_class(obj) if isinstance(obj, type) else is_structseq_instance(obj)


_is_namedtuple_instance = is_namedtuple_instance


def _get_node_type(tree: Any) -> Any:
    from collections import namedtuple

    return namedtuple if is_namedtuple_instance(tree) and type(tree) not in _containers else type(tree)


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Any]:
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[Any, Any]], Any]:
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _dict_unflatten(values: Any, context: Any) -> dict[Any, Any]:
    return dict(zip(context, values, strict=True))


def _list_flatten(d: list[Any]) -> tuple[list[Any], Any]:
    return d, None


def _list_unflatten(values: Any, context: Any) -> list[Any]:
    return list(values)


def _tuple_flatten(d: tuple[Any, ...]) -> tuple[list[Any], Any]:
    return list(d), None


def _tuple_unflatten(values: Any, context: Any) -> tuple[Any, ...]:
    return tuple(values)


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of the arguments of a call."""
    return tree_leaves((args, kwargs))


def _picks(kind: Any) -> Callable[[Any], bool]:
    return (lambda x: isinstance(x, kind)) if isinstance(kind, (type, tuple)) else kind


def tree_map_only_(kind: Any, func: Callable[..., Any], tree: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """tree_map_ over the leaves of a type."""
    picks = _picks(kind)
    return tree_map_(lambda x: func(x) if picks(x) else x, tree, is_leaf=is_leaf)


def tree_all_only(kind: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """tree_all over the leaves of a type."""
    picks = _picks(kind)
    return tree_all(lambda x: pred(x) if picks(x) else True, tree, is_leaf)


def tree_any_only(kind: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """tree_any over the leaves of a type."""
    picks = _picks(kind)
    return tree_any(lambda x: pred(x) if picks(x) else False, tree, is_leaf)
