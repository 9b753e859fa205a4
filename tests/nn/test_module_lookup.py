"""Attributes and calls of modules, whichever way they are found: see Note [Quick modules] in csrc/python/module_type.cpp."""

import copy
import gc
import pickle
import sys
import weakref
from collections import OrderedDict

import pytest

import retrograd
from retrograd.fx._symbolic_trace import _quicken


def make(torch, *bases, **members):
    """An instance of a new class with one of everything."""
    cls = type("Made", (*bases, torch.nn.Module), {"forward": lambda self, x: x + 1, **members})
    module = cls()
    module.weight = torch.nn.Parameter(torch.ones(2))
    module.bias = None
    module.register_parameter("missing", None)
    module.register_buffer("mean", torch.zeros(1))
    module.child = torch.nn.Identity()
    module.plain = 3
    return module


def test_members_of_every_table(torch):
    m = make(torch)
    assert m.weight is m._parameters["weight"] and m.mean is m._buffers["mean"] and m.child is m._modules["child"]
    assert m.missing is None and m.bias is None and m.plain == 3 and m.training is True
    assert "weight" not in vars(m) and "bias" in vars(m)
    assert getattr(m, "weight") is m.weight and getattr(m, "nothing", 5) == 5  # noqa: B009


def test_changes_are_seen_at_once(torch):
    m = make(torch)
    first = m.weight
    m.weight = torch.nn.Parameter(torch.zeros(2))
    assert m.weight is not first
    del m.weight
    assert not hasattr(m, "weight")
    m.__dict__["weight"] = 7  # an instance attribute wins over the tables
    m._parameters["weight"] = first
    assert m.weight == 7
    del m.__dict__["weight"]
    assert m.weight is first


def test_tables_in_order(torch):
    m = make(torch)
    m._modules["weight"] = m.child
    m._buffers["child"] = m.mean
    assert m.weight is m._parameters["weight"] and m.child is m._buffers["child"]


def test_the_words_of_attribute_errors(torch):
    m = make(torch)
    with pytest.raises(AttributeError, match="^'Made' object has no attribute 'nothing'$"):
        _ = m.nothing
    del m._parameters["weight"]
    with pytest.raises(AttributeError, match="^'Made' object has no attribute 'weight'$"):
        _ = m.weight


def test_before_init(torch):
    class Early(torch.nn.Module):
        def __init__(self):
            self.found = hasattr(self, "weight")
            super().__init__()

    assert Early().found is False


def test_names_that_are_not_plain_strings(torch):
    class Name(str):
        pass

    m = make(torch)
    assert getattr(m, Name("weight")) is m.weight
    with pytest.raises(TypeError, match="attribute name must be string"):
        getattr(m, 3)


def test_getattr_of_a_subclass(torch):
    """Like any __getattr__ it is asked about everything the ordinary lookup does not find, parameters too."""
    asked = []

    class Asking(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))

        def __getattr__(self, name):
            asked.append(name)
            return 42 if name == "answer" else super().__getattr__(name)

    m = Asking()
    asked.clear()
    assert m.answer == 42 and m.weight is m._parameters["weight"] and asked == ["answer", "weight"]
    with pytest.raises(AttributeError, match="'Asking' object has no attribute 'other'"):
        _ = m.other


def test_getattr_of_a_mixin(torch):
    class Mixin:
        def __getattr__(self, name):
            found = super().__getattr__(name)
            return ("mixed", found) if name == "weight" else found

    m = make(torch, Mixin)
    assert m.weight == ("mixed", m._parameters["weight"]) and m.mean.item() == 0


def test_getattribute_of_a_subclass(torch):
    class Counting(torch.nn.Module):
        def __getattribute__(self, name):
            if name == "magic":
                return "found"
            return super().__getattribute__(name)

    m = Counting()
    m.weight = torch.nn.Parameter(torch.ones(1))
    assert m.magic == "found" and m.weight is m._parameters["weight"]


def test_getattr_given_to_a_class_later(torch):
    class Parent(torch.nn.Module):
        pass

    class Child(Parent):
        pass

    m = Child()
    m.weight = torch.nn.Parameter(torch.ones(1))
    assert m.weight is m._parameters["weight"]
    Parent.__getattr__ = lambda self, name: f"later {name}"
    assert m.weight == "later weight"
    del Parent.__getattr__
    assert m.weight is m._parameters["weight"]


def test_properties(torch):
    class Shown(torch.nn.Module):
        limit = 3

        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Parameter(torch.ones(1))
            self._parameters["shown"] = self.inner

        @property
        def shown(self):
            return "property"

        @property
        def broken(self):
            raise AttributeError("inside")

        @property
        def failing(self):
            raise ValueError("other")

    m = Shown()
    assert m.shown == "property" and m.limit == 3
    with pytest.raises(AttributeError, match="'Shown' object has no attribute 'broken'"):
        _ = m.broken  # __getattr__ has the last word
    with pytest.raises(ValueError, match="other"):
        _ = m.failing
    m._parameters["broken"] = m.inner
    assert m.broken is m.inner


def test_tables_that_are_not_plain_dictionaries(torch):
    class Logged(dict):
        def __getitem__(self, name):
            return f"logged {name}"

    m = make(torch)
    m._parameters = Logged(m._parameters)
    assert m.weight == "logged weight"
    m._parameters = OrderedDict(weight=torch.nn.Parameter(torch.ones(1)))
    assert m.weight is m._parameters["weight"]


# ---- calls ----


def test_calls(torch):
    class Add(torch.nn.Module):
        def forward(self, x, y=1, *rest, scale=1, **others):
            return (x, y, rest, scale, others)

    m = Add()
    assert m(1) == (1, 1, (), 1, {}) and m(1, y=2, scale=3) == (1, 2, (), 3, {})
    assert m(*range(12), extra=0) == (0, 1, tuple(range(2, 12)), 1, {"extra": 0})
    with pytest.raises(TypeError, match=r"forward\(\) missing 1 required positional argument: 'x'"):
        m()
    assert m.__call__(5)[0] == 5


def test_forward_of_an_instance(torch):
    m = make(torch)
    m.forward = lambda x: "own"
    assert m(1) == "own"
    del m.forward
    assert m(1) == 2


def test_forward_replaced_in_the_class(torch):
    m = make(torch)
    type(m).forward = lambda self, x: "new"
    assert m(1) == "new"
    type(m).forward = staticmethod(lambda x: f"static {x}")
    assert m(1) == "static 1"
    type(m).forward = torch.nn.Identity()  # anything that can be called
    assert m(7) == 7


def test_forward_that_replaces_itself(torch):
    class Once(torch.nn.Module):
        def forward(self):
            type(self).forward = lambda self: "second"
            gc.collect()
            return "first"

    m = Once()
    assert [m(), m()] == ["first", "second"]


def test_call_of_a_subclass(torch):
    class Loud(torch.nn.Module):
        def __call__(self, x):
            return f"loud {super().__call__(x)}"

        def forward(self, x):
            return x

    class Louder(Loud):
        pass

    assert Loud()(1) == "loud 1" and Louder()(2) == "loud 2"


def test_call_replaced_in_module(torch, monkeypatch):
    m = make(torch)
    original = torch.nn.Module.__call__
    monkeypatch.setattr(torch.nn.Module, "__call__", lambda self, *args: ("patched", original(self, *args)))
    assert m(1) == ("patched", 2)
    monkeypatch.undo()
    assert m(1) == 2
    if torch is retrograd:  # an assignment takes the slot away from every module class, and with it what errors say of layers
        _quicken(torch.nn.Module)


def test_hooks_of_a_module_and_of_all(torch):
    m, seen = make(torch), []
    assert m(1) == 2
    handle = m.register_forward_hook(lambda module, args, result: seen.append(result))
    m(1)
    handle.remove()
    m(2)
    everywhere = torch.nn.modules.module.register_module_forward_pre_hook(lambda module, args: seen.append(args))
    m(3)
    everywhere.remove()
    m(4)
    assert seen == [2, (3,)]


def test_modules_without_forward(torch):
    with pytest.raises(NotImplementedError, match='Module \\[Module\\] is missing the required "forward" function'):
        torch.nn.Module()(1)


def test_deep_recursion_ends_in_an_error(torch):
    class Endless(torch.nn.Module):
        def forward(self, x):
            return self(x)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        with pytest.raises(RecursionError):
            Endless()(1)
    finally:
        sys.setrecursionlimit(limit)


# ---- what classes of modules can do ----


class Kept(retrograd.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = retrograd.nn.Parameter(retrograd.ones(2))


def test_copies():
    m = Kept()
    for copied in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
        assert type(copied) is Kept and copied.weight.tolist() == [1, 1] and copied.weight is not m.weight
    assert copy.copy(m).weight is m.weight


def test_several_bases_and_slots(torch):
    class Plain:
        def __init_subclass__(cls, tag=None, **kwargs):
            super().__init_subclass__(**kwargs)
            cls.tag = tag

    class Both(torch.nn.Module, Plain, tag="t"):
        __slots__ = ("slot",)

    m = Both()
    m.slot = 4
    m.weight = torch.nn.Parameter(torch.ones(1))
    assert Both.tag == "t" and m.slot == 4 and "slot" not in vars(m) and m.weight is m._parameters["weight"]
    with pytest.raises(TypeError, match="no keyword arguments|unexpected keyword"):
        type("Bad", (torch.nn.Module,), {}, tag=1)


def test_a_base_that_keeps_init_subclass_to_itself(torch):
    class Silent:
        def __init_subclass__(cls):
            pass

    m = make(torch, Silent)
    assert m.weight is m._parameters["weight"] and m(1) == 2


def test_classes_are_freed(torch):
    cls = weakref.ref(type(make(torch)))
    gc.collect()
    assert cls() is None


def test_references_are_balanced(torch):
    m = make(torch)
    value, marker = m.weight, object()
    before = sys.getrefcount(value), sys.getrefcount(marker), sys.getrefcount(m)
    for _ in range(1000):
        _ = m.weight, m.child, m.plain, getattr(m, "nothing", None)
        m.child(marker)
    del _
    assert (sys.getrefcount(value), sys.getrefcount(marker), sys.getrefcount(m)) == before
