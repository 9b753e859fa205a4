"""Trees of containers."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

from retrograd.utils._pytree import (
    _broadcast_to_and_flatten,
    register_pytree_node,
    tree_all,
    tree_any,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_map_,
    tree_map_only,
    tree_structure,
    tree_unflatten,
    treespec_pprint,
)

Point = namedtuple("Point", "x y")
TREES = [
    1, None, [], (), {}, [1, None], (1, [2, (3,)]), {"b": 1, "a": {"c": 2}}, OrderedDict(b=1, a=2), Point(1, [2]), deque([1, 2], maxlen=3),
    defaultdict(list, {"k": 1}),
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_apart_and_together(tree):
    leaves, spec = tree_flatten(tree)
    again = tree_unflatten(leaves, spec)
    assert again == tree and type(again) is type(tree)
    assert spec == tree_structure(tree) and hash(spec) == hash(tree_structure(tree))
    assert spec.num_leaves == len(leaves) == len(tree_leaves(tree))


def test_as_in_pytorch(oracle):
    for tree in TREES:
        leaves, spec = oracle.utils._pytree.tree_flatten(tree)
        assert tree_flatten(tree)[0] == leaves
        assert repr(tree_structure(tree)) == repr(spec)


def test_structures_differ():
    specs = [tree_structure(tree) for tree in TREES]
    assert all((a == b) == (i == j or (i < 2 and j < 2)) for i, a in enumerate(specs) for j, b in enumerate(specs))
    assert tree_structure(Point(1, 2)) != tree_structure((1, 2))
    assert tree_structure({"a": 1, "b": 2}) == tree_structure({"b": 1, "a": 2})


def test_maps():
    assert tree_map(lambda a, b: a + b, {"x": [1, 2]}, {"x": [10, 20]}) == {"x": [11, 22]}
    assert tree_map(lambda a, b: (a, b), [1, 2], [[3], [4]]) == [(1, [3]), (2, [4])]
    assert tree_map_only(int, lambda a: -a, [1, "a", 2.0]) == [-1, "a", 2.0]
    seen = []
    tree = [1, (2,)]
    assert tree_map_(seen.append, tree) is tree and seen == [1, 2]
    assert tree_all(lambda a: a > 0, tree) and tree_any(lambda a: a > 1, tree) and not tree_any(lambda a: a > 2, tree)
    assert tree_leaves([(1, 2), 3], is_leaf=lambda t: isinstance(t, tuple)) == [(1, 2), 3]
    assert treespec_pprint(tree_structure((1, [2, {"a": 3}]))) == "(*, [*, {'a': *}])"


def test_mismatches():
    with pytest.raises(ValueError, match="holds 2 items"):
        tree_unflatten([1], tree_structure([1, 2]))
    with pytest.raises(ValueError, match="arity mismatch"):
        tree_map(lambda a, b: a, [1, 2], [1])
    with pytest.raises(ValueError, match="Type mismatch"):
        tree_map(lambda a, b: a, [1, 2], 3)
    with pytest.raises(TypeError, match="instance of TreeSpec"):
        tree_unflatten([1], 3)


def test_a_prefix_stands_for_what_is_below():
    spec = tree_structure((1, {"a": 2, "b": [3, 4]}))
    assert _broadcast_to_and_flatten(0, spec) == [0, 0, 0, 0]
    assert _broadcast_to_and_flatten((0, None), spec) == [0, None, None, None]
    assert _broadcast_to_and_flatten((0, {"a": 1, "b": 2}), spec) == [0, 1, 2, 2]
    assert _broadcast_to_and_flatten((0,), spec) is None
    assert _broadcast_to_and_flatten([0, 0], spec) is None
    assert _broadcast_to_and_flatten(((0, 0), 0), spec) is None


def test_containers_can_be_added():
    class Box:
        def __init__(self, content):
            self.content = content

    register_pytree_node(Box, lambda box: ([box.content], None), lambda children, _: Box(*children))
    assert tree_leaves([Box({"a": 1}), 2]) == [1, 2]
    assert tree_map(lambda a: a + 1, Box(1)).content == 2
    with pytest.raises(ValueError, match="already registered"):
        register_pytree_node(Box, None, None)
