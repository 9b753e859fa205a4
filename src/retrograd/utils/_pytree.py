"""Trees of Python containers: taken apart into their leaves, and put together again.

Containers are dict, OrderedDict, defaultdict, list, tuple, named tuples, deque, and what `register_pytree_node` adds. Everything else is a
leaf, None too.

Example::

    >>> from retrograd.utils._pytree import tree_flatten, tree_map, tree_unflatten
    >>> leaves, spec = tree_flatten({"a": 1, "b": (2, None)})
    >>> leaves
    [1, 2, None]
    >>> tree_unflatten([10, 20, 30], spec)
    {'a': 10, 'b': (20, 30)}
    >>> tree_map(lambda x, y: x + y, [1, 2], [30, 40])
    [31, 42]
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

__all__ = [
    "LeafSpec",
    "PyTree",
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
    "treespec_pprint",
]  # fmt: skip

PyTree = Any
_IsLeaf = Callable[[Any], bool] | None


class _Container(NamedTuple):
    flatten: Callable[[Any], tuple[list[Any], Any]]  # tree -> (children, context)
    unflatten: Callable[[list[Any], Any], Any]  # (children, context) -> tree


_containers: dict[type, _Container] = {}
_with_keys: dict[type, Callable[[Any], tuple[Any, Any]]] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Any, Any]],
    unflatten_fn: Callable[[Any, Any], Any],
    *,
    flatten_with_keys_fn: Callable[[Any], tuple[Any, Any]] | None = None,
    **_: Any,
) -> None:
    """Makes a class a container: `flatten_fn(tree)` gives (children, context), `unflatten_fn(children, context)` the tree.

    Args:
        flatten_with_keys_fn: gives ([(key, child), ...], context), for paths.
    """
    if cls in _containers:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _containers[cls] = _Container(flatten_fn, unflatten_fn)
    if flatten_with_keys_fn is not None:
        _with_keys[cls] = flatten_with_keys_fn


_register_pytree_node = _private_register_pytree_node = register_pytree_node


def _flatten_keys(tree: dict[Any, Any]) -> tuple[list[Any], Any]:
    return list(tree.values()), list(tree)


register_pytree_node(dict, _flatten_keys, lambda children, keys: dict(zip(keys, children, strict=True)))
register_pytree_node(OrderedDict, _flatten_keys, lambda children, keys: OrderedDict(zip(keys, children, strict=True)))
register_pytree_node(
    defaultdict,
    lambda tree: (list(tree.values()), [tree.default_factory, list(tree)]),
    lambda children, context: defaultdict(context[0], zip(context[1], children, strict=True)),
)
register_pytree_node(list, lambda tree: (tree, None), lambda children, _: list(children))
register_pytree_node(tuple, lambda tree: (list(tree), None), lambda children, _: tuple(children))
register_pytree_node(deque, lambda tree: (list(tree), tree.maxlen), lambda children, maxlen: deque(children, maxlen))
_named_tuple = _Container(lambda tree: (list(tree), type(tree)), lambda children, cls: cls(*children))
_return_type = _Container(lambda tree: (list(tree), type(tree)), lambda children, cls: cls(list(children)))  # of max() and the like


def _is_named_tuple(cls: type) -> bool:
    fields = getattr(cls, "_fields", None)
    return issubclass(cls, tuple) and isinstance(fields, tuple) and all(type(f) is str for f in fields)


def _container_of(tree: Any) -> _Container | None:
    found = _containers.get(type(tree))
    if found is None and isinstance(tree, tuple):
        if _is_named_tuple(type(tree)):
            return _named_tuple
        if type(tree).__module__ == __name__.partition(".")[0] + ".return_types":
            return _return_type
    return found


def _kind(tree: Any, container: _Container) -> Any:
    return namedtuple if container is _named_tuple else type(tree)


class TreeSpec:
    """The structure of a tree: the type of the container, what it needs to be made again, and the structures of its children."""

    __slots__ = ("_container", "children_specs", "context", "num_leaves", "type")

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec], container: _Container | None = None) -> None:
        self.type = type
        self.context = context
        self.children_specs = children_specs
        self._container = container
        self.num_leaves: int = sum([c.num_leaves for c in children_specs]) if container else 1

    def is_leaf(self) -> bool:
        return self._container is None

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    def children(self) -> list[TreeSpec]:
        return list(self.children_specs)

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        return tree_unflatten(leaves, self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        if self.type is not other.type or len(self.children_specs) != len(other.children_specs):
            return False
        same = set(self.context) == set(other.context) if self.type is dict else self.context == other.context
        return same and self.children_specs == other.children_specs

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves, len(self.children_specs)))

    def __repr__(self, indent: int = 0) -> str:
        if self._container is None:
            return "*"
        inner = f",\n{' ' * (indent + 2)}".join(c.__repr__(indent + 2) for c in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"


_LEAF = TreeSpec(None, None, [])


def LeafSpec() -> TreeSpec:
    """The structure of a tree that is one leaf."""
    return _LEAF


def _flatten(tree: Any, leaves: list[Any], is_leaf: _IsLeaf) -> TreeSpec:
    container = _container_of(tree)
    if container is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    children, context = container.flatten(tree)
    return TreeSpec(_kind(tree, container), context, [_flatten(child, leaves, is_leaf) for child in children], container)


def tree_flatten(tree: PyTree, is_leaf: _IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """(the leaves, the structure). `is_leaf` may say of containers that they are leaves."""
    leaves: list[Any] = []
    spec = _flatten(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of a structure with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type {type(treespec)}."
        )
    items = list(leaves)
    if len(items) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(items)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec})."
        )
    return _unflatten(iter(items), treespec)


def _unflatten(leaves: Iterator[Any], spec: TreeSpec) -> Any:
    if spec._container is None:
        return next(leaves)
    return spec._container.unflatten([_unflatten(leaves, child) for child in spec.children_specs], spec.context)


def tree_leaves(tree: PyTree, is_leaf: _IsLeaf = None) -> list[Any]:
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: PyTree, is_leaf: _IsLeaf = None) -> Iterator[Any]:
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: _IsLeaf = None) -> TreeSpec:
    return tree_flatten(tree, is_leaf)[1]


def _prefix_leaves(tree: Any, spec: TreeSpec) -> list[Any]:
    """The leaves of a tree that has at least the structure `spec`; what lies below stays in one piece."""
    if spec._container is None:
        return [tree]
    container = _container_of(tree)
    if container is None:
        raise ValueError(f"Type mismatch; expected {spec.type!r}, but got {type(tree)!r}.")
    children, context = container.flatten(tree)
    if spec.type in (dict, OrderedDict) and isinstance(tree, dict) and set(context) == set(spec.context):
        children = [tree[key] for key in spec.context]
    elif _kind(tree, container) is not spec.type or len(children) != len(spec.children_specs):
        raise ValueError(f"Node arity mismatch; expected {spec}, but got {tree_structure(tree)}.")
    return [leaf for child, part in zip(children, spec.children_specs, strict=True) for leaf in _prefix_leaves(child, part)]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """The tree with func(leaf, ...) for each leaf; further trees must have the structure of the first."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(_prefix_leaves(rest, spec) for rest in rests)]
    return tree_unflatten([func(*row) for row in zip(*columns, strict=True)], spec)


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """Calls func for each leaf and returns the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(_prefix_leaves(rest, spec) for rest in rests)]
    for row in zip(*columns, strict=True):
        func(*row)
    return tree


def tree_map_only(kind: Any, func: Callable[..., Any], tree: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """tree_map over the leaves of a type (or a tuple of types), or those that a predicate picks."""
    picks: Callable[[Any], bool] = (lambda x: isinstance(x, kind)) if isinstance(kind, (type, tuple)) else kind
    return tree_map(lambda x: func(x) if picks(x) else x, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    return any(map(pred, tree_iter(tree, is_leaf)))


def treespec_pprint(treespec: TreeSpec) -> str:
    """The structure as a tree of stars: `(*, [*, *])`."""

    class Star:
        def __repr__(self) -> str:
            return "*"

    return repr(tree_unflatten([Star()] * treespec.num_leaves, treespec))


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: _IsLeaf = None) -> list[Any] | None:
    """The leaves of `tree` where it is a prefix of the structure, each repeated for all it stands for; None where it is not."""
    container = None if is_leaf is not None and is_leaf(tree) else _container_of(tree)
    if container is None:
        return [tree] * treespec.num_leaves
    if treespec._container is None:
        return None
    children, context = container.flatten(tree)
    if _kind(tree, container) is not treespec.type or len(children) != len(treespec.children_specs) or context != treespec.context:
        return None
    result: list[Any] = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        result += part
    return result


def tree_is_leaf(tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Whether a tree is no container."""
    return (is_leaf is not None and is_leaf(tree)) or _container_of(tree) is None


def __getattr__(name: str) -> Any:
    if name[:2] != "__":
        from retrograd.utils import _pytree_paths

        if hasattr(_pytree_paths, name):
            return getattr(_pytree_paths, name)
    from retrograd._missing import missing

    raise missing(__name__, name)
