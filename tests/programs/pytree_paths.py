"""Ways to the leaves of trees, and PyTorch's names for the parts of utils._pytree."""

from collections import OrderedDict, namedtuple
from importlib import import_module

_Point = namedtuple("_Point", "x y")


def ways(torch, show, attempt):
    tree = import_module(f"{torch.__name__}.utils._pytree")
    t = {"a": [1, (2, None)], "b": _Point(3, OrderedDict(c=4))}
    found, spec = tree.tree_flatten_with_path(t)
    show([(tree.keystr(way), leaf) for way, leaf in found], spec.num_leaves)
    show([tree.key_get(t, way) for way, _ in tree.tree_leaves_with_path(t)])
    show(tree.tree_map_with_path(lambda way, leaf: f"{tree.keystr(way)}={leaf}", t["a"]))
    show(str(tree.MappingKey("a")), str(tree.SequenceKey(1)), str(tree.GetAttrKey("x")), tree.MappingKey("a") == tree.MappingKey("a"))


def kinds(torch, show):
    tree = import_module(f"{torch.__name__}.utils._pytree")
    show(tree.is_namedtuple(_Point(1, 2)), tree.is_namedtuple((1, 2)), tree.is_namedtuple(_Point), tree.is_namedtuple_instance(_Point))
    show(tree.is_structseq(torch.max(torch.ones(2), 0)), tree.is_structseq(_Point(1, 2)))
    show(tree.tree_is_leaf(1), tree.tree_is_leaf([1]), tree.tree_is_leaf([1], is_leaf=lambda x: True))
    show(tree._dict_flatten({"a": 1}), tree._dict_unflatten([2], ["a"]), tree._list_flatten([1]), tree._tuple_unflatten([1], None))
    show(
        tree.arg_tree_leaves(1, [2], k=3),
        tree.tree_all_only(int, lambda x: x > 0, [1, "a"]),
        tree.tree_any_only(int, lambda x: x > 1, [1, "a"]),
    )


def own_containers_with_ways(torch, show):
    tree = import_module(f"{torch.__name__}.utils._pytree")

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    tree.register_pytree_node(
        Pair,
        lambda p: ([p.a, p.b], None),
        lambda c, _: Pair(*c),
        flatten_with_keys_fn=lambda p: ([(tree.GetAttrKey("a"), p.a), (tree.GetAttrKey("b"), p.b)], None),
    )
    show([(tree.keystr(way), leaf) for way, leaf in tree.tree_leaves_with_path(Pair([1], 2))])
