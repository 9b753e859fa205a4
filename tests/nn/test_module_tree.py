"""Enumerating modules, parameters and buffers: the iterator over the tables against a few lines that say what it has to give."""

import gc
import weakref

import pytest

import retrograd as torch
from retrograd import nn


def modules_of(module, prefix="", seen=None):
    seen = [] if seen is None else seen
    if any(module is m for m in seen):
        return []
    seen.append(module)
    found = [(prefix, module)]
    for name, child in module._modules.items():
        if child is not None:
            found += modules_of(child, f"{prefix}.{name}" if prefix else name, seen)
    return found


def members_of(module, table, prefix=""):
    found = []
    for path, m in modules_of(module, prefix):
        for name, value in getattr(m, table).items():
            if value is not None and not any(value is v for _, v in found):
                found.append((f"{path}.{name}" if path else name, value))
    return found


class Shared(nn.Module):
    """Modules, parameters and buffers that are met twice, and places that are empty."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.norm = nn.BatchNorm1d(3)
        self.again = self.first
        self.tied = nn.Linear(2, 3, bias=False)
        self.tied.weight = self.first.weight
        self.own = nn.Parameter(torch.ones(2))
        self.register_parameter("none", None)
        self.register_buffer("mask", torch.ones(2))
        self.register_buffer("same_mask", self.mask)
        self.register_buffer("no_buffer", None)
        self.register_module("empty", None)
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.ReLU()), self.norm])
        self.parts = nn.ModuleDict({"a": nn.ParameterList([torch.ones(1), torch.ones(2)])})


class Hides(nn.Sequential):
    """Says that it has no modules below it."""

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        yield prefix, self


class Filters(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(1, 1), nn.ReLU()

    def named_modules(self, memo=None, prefix=""):
        for name, module in super().named_modules(memo, prefix):
            if name != "b":
                yield name, module


def same(got, wanted):
    got = list(got)
    assert [name for name, _ in got] == [name for name, _ in wanted]
    assert all(a is b for (_, a), (_, b) in zip(got, wanted, strict=True))


@pytest.mark.parametrize("make", [Shared, nn.ReLU, lambda: nn.Linear(2, 2), lambda: nn.Sequential(Shared(), Shared(), nn.Sequential())])
@pytest.mark.parametrize("prefix", ["", "net", "a.b"])
def test_all_of_a_tree(make, prefix):
    net = make()
    same(net.named_modules(prefix=prefix), modules_of(net, prefix))
    same(net.named_parameters(prefix=prefix), members_of(net, "_parameters", prefix))
    same(net.named_buffers(prefix=prefix), members_of(net, "_buffers", prefix))
    for plain, named in (
        (net.modules(), net.named_modules()),
        (net.parameters(), net.named_parameters()),
        (net.buffers(), net.named_buffers()),
    ):
        assert [id(x) for x in plain] == [id(x) for _, x in named]


def test_without_recursion_and_with_duplicates():
    net = Shared()
    assert [name for name, _ in net.named_parameters(recurse=False)] == ["own"]
    assert [name for name, _ in net.named_buffers(recurse=False)] == ["mask"]
    assert [name for name, _ in net.named_parameters(remove_duplicate=False)].count("again.weight") == 1
    assert sum(m is net.first for m in net.modules()) == 1
    assert sum(m is net.first for m in net.modules(remove_duplicate=False)) == 2


def test_duplicates_by_all_of_their_names():
    net = nn.Sequential(Shared(), nn.Linear(1, 1))
    net.append(net[1])

    def every_name(module, table, prefix=""):
        found = [(f"{prefix}{name}", value) for name, value in getattr(module, table).items() if value is not None]
        return found + [
            x for name, child in module._modules.items() if child is not None for x in every_name(child, table, f"{prefix}{name}.")
        ]

    same(net.named_parameters(remove_duplicate=False), every_name(net, "_parameters"))
    same(net.named_buffers(remove_duplicate=False), every_name(net, "_buffers"))
    net[1].outer = net
    with pytest.raises(RecursionError):
        list(net.named_parameters(remove_duplicate=False))
    net[1].outer = None


def test_classes_with_methods_of_their_own():
    net = nn.Sequential(nn.Linear(1, 1), Hides(nn.Linear(1, 1)), nn.Linear(1, 1))
    assert [name for name, _ in net.named_modules()] == ["", "0", "1", "2"]
    assert [name for name, _ in net.named_parameters()] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert [name for name, _ in Filters().named_modules()] == ["", "a"]

    class Renames(nn.Linear):
        def named_parameters(self, *args, **kwargs):
            for name, param in super().named_parameters(*args, **kwargs):
                yield "my_" + name, param

    assert [name for name, _ in Renames(1, 1).named_parameters()] == ["my_weight", "my_bias"]
    assert [p.shape for p in Renames(1, 1).parameters()] == [(1, 1), (1,)]

    net = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    net[0].named_modules = lambda *args, **kwargs: iter(())
    assert [name for name, _ in net.named_modules()] == ["", "1"]


def test_tables_of_another_kind():
    class Table(dict):
        def items(self):
            return [(name, value) for name, value in super().items() if name != "bias"]

    net = nn.Sequential(nn.ReLU(), nn.Linear(1, 1), nn.Linear(1, 1))
    net[1]._parameters = Table(net[1]._parameters)
    assert [name for name, _ in net.named_parameters()] == ["1.weight", "2.weight", "2.bias"]

    class Computed(nn.Module):
        _parameters = property(lambda self: {"made": torch.ones(1)}, lambda self, value: None)

    assert [name for name, _ in nn.Sequential(nn.Linear(1, 1), Computed()).named_parameters()] == ["0.weight", "0.bias", "1.made"]


def test_it_is_as_late_as_it_can_be():
    net = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    found = net.parameters()
    net[0].weight = nn.Parameter(torch.ones(1, 1))
    assert next(found) is net[0].weight
    net[1] = nn.Linear(3, 3)
    assert [p.shape for p in found] == [(1,), (3, 3), (3,)]


def test_a_table_that_grows_meanwhile():
    net = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    modules = net.modules()
    assert [next(modules), next(modules)] == [net, net[0]]
    net.append(nn.ReLU())
    with pytest.raises(RuntimeError, match="changed size during iteration"):
        next(modules)
    for param in net.parameters():
        param.data = torch.zeros_like(param)  # the tables stay as they are


def test_what_it_holds_can_be_collected():
    net = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    net.walk = net.parameters()
    next(net.walk)
    gone = weakref.ref(net)
    del net
    gc.collect()
    assert gone() is None


def test_a_deep_tree():
    net = nn.Linear(1, 1)
    for _ in range(5000):
        outer = nn.Module()
        outer.inner = net
        net = outer
    assert sum(1 for _ in net.parameters()) == 2
    while hasattr(net, "inner"):  # freed from the outside in, without recursion
        net = net.inner


def test_zero_grad_of_a_module():
    net = Shared()
    for p in net.parameters():
        p.grad = torch.ones_like(p)
    kept = net.own.grad
    net.zero_grad(set_to_none=False)
    assert net.own.grad is kept
    assert not any(p.grad.any() for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


@pytest.mark.parametrize("mode", [True, False])
def test_training_mode_of_a_tree(mode):
    net = nn.Sequential(Shared(), nn.Dropout())
    assert net.train(mode) is net
    assert all(m.training is mode for m in net.modules())
    net.eval()
    assert not any(m.training for m in net.modules())


def test_modules_that_have_a_say_in_their_mode():
    class Frozen(nn.BatchNorm1d):
        def train(self, mode=True):
            return super().train(False)

    class Wrapper(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def children(self):
            return iter(())

    class Counts(nn.Module):
        def __setattr__(self, name, value):
            if name == "training":
                self.__dict__["calls"] = self.__dict__.get("calls", 0) + 1
            super().__setattr__(name, value)

    net = nn.Sequential(nn.Dropout(), Frozen(2), Wrapper(nn.Dropout()), Counts())
    own = nn.Dropout()
    own.train = lambda mode=True: None
    net.append(own)
    net.train(False)
    net.train()
    assert [m.training for m in (net, net[0], net[1], net[2], net[2].inner, net[3], own)] == [True, True, False, True, True, True, True]
    net.eval()
    assert [m.training for m in (net, net[0], net[2], net[2].inner, net[3], own)] == [False, False, False, True, False, True]
    assert net[3].calls == 3
    with pytest.raises(ValueError, match="training mode is expected to be boolean, got int"):
        net.train(1)
