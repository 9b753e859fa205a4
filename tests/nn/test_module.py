"""Module: registration, attributes, walking, conversion, text."""

import copy
import pickle

import pytest

import retrograd


def make(torch):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("seen", torch.zeros(1))
            self.register_buffer("scratch", torch.zeros(1), persistent=False)
            self.inner = torch.nn.Linear(2, 2)
            self.note = "plain"

        def forward(self, x, twice=False):
            y = self.inner(x) * self.scale
            return y * 2 if twice else y

    return Block()


def error(call):
    with pytest.raises(Exception) as caught:
        call()
    return type(caught.value), str(caught.value).replace("retrograd.", "torch.")


# -- attributes -----------------------------------------------------------------


def test_assignment_registers(torch):
    m = make(torch)
    assert list(m._parameters) == ["scale"]
    assert list(m._buffers) == ["seen", "scratch"]
    assert list(m._modules) == ["inner"]
    assert m.note == "plain" and "scale" not in m.__dict__


def test_reassignment_moves_between_tables(torch):
    m = make(torch)
    del m.scale
    m.scale = torch.nn.Linear(1, 1)
    assert "scale" in m._modules and "scale" not in m._parameters
    m.note = torch.nn.Parameter(torch.ones(1))
    assert "note" in m._parameters and "note" not in m.__dict__
    m.seen = torch.nn.Parameter(torch.ones(1))
    assert "seen" in m._parameters and "seen" not in m._buffers


def test_none_keeps_the_name(torch):
    m = make(torch)
    m.scale = None
    assert m._parameters == {"scale": None} and m.scale is None
    m.inner = None
    assert m._modules == {"inner": None}
    m.seen = None
    assert m.seen is None and "seen" in m._buffers
    assert list(m.parameters()) == [] and list(m.children()) == []


def test_buffer_by_assignment(torch):
    m = torch.nn.Module()
    m.a = torch.nn.Buffer(torch.ones(1))
    m.b = torch.nn.Buffer(torch.ones(1), persistent=False)
    m.c = torch.ones(1)
    assert list(m._buffers) == ["a", "b"] and list(m.state_dict()) == ["a"]
    m.a = torch.zeros(2)
    assert m.a.tolist() == [0.0, 0.0] and "a" in m._buffers


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda t, m: setattr(m, "scale", 3),
            (TypeError, "cannot assign 'int' as parameter 'scale' (torch.nn.Parameter or None expected)"),
        ),
        (
            lambda t, m: setattr(m, "scale", t.ones(1)),
            (TypeError, "cannot assign 'torch.FloatTensor' as parameter 'scale' (torch.nn.Parameter or None expected)"),
        ),
        (
            lambda t, m: setattr(m, "inner", 3),
            (TypeError, "cannot assign 'int' as child module 'inner' (torch.nn.Module or None expected)"),
        ),
        (
            lambda t, m: setattr(m, "seen", 3),
            (TypeError, "cannot assign 'int' as buffer 'seen' (torch.nn.Buffer, torch.Tensor or None expected)"),
        ),
        (lambda t, m: m.register_parameter("note", t.nn.Parameter(t.ones(1))), (KeyError, "\"attribute 'note' already exists\"")),
        (lambda t, m: m.register_parameter("a.b", None), (KeyError, "'parameter name can\\'t contain \".\"'")),
        (lambda t, m: m.register_parameter("", None), (KeyError, "'parameter name can\\'t be empty string \"\"'")),
        (lambda t, m: m.register_parameter(3, None), (TypeError, "parameter name should be a string. Got int")),
        (
            lambda t, m: m.register_parameter("w", t.ones(1)),
            (TypeError, "cannot assign 'torch.FloatTensor' object to parameter 'w' (torch.nn.Parameter or None required)"),
        ),
        (lambda t, m: m.register_buffer("scale", None), (KeyError, "\"attribute 'scale' already exists\"")),
        (lambda t, m: m.register_buffer("a.b", None), (KeyError, "'buffer name can\\'t contain \".\"'")),
        (lambda t, m: m.register_buffer("b", 3), (TypeError, "cannot assign 'int' object to buffer 'b' (torch Tensor or None required)")),
        (lambda t, m: m.add_module("a.b", None), (KeyError, "'module name can\\'t contain \".\", got: a.b'")),
        (lambda t, m: m.add_module("", None), (KeyError, "'module name can\\'t be empty string \"\"'")),
        (lambda t, m: m.add_module("note", t.nn.ReLU()), (KeyError, "\"attribute 'note' already exists\"")),
        (lambda t, m: m.add_module("x", 3), (TypeError, "int is not a Module subclass")),
        (lambda t, m: m.nothing, (AttributeError, "'Block' object has no attribute 'nothing'")),
        (
            lambda t, m: m.to(t.int64),
            (TypeError, "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.int64"),
        ),
        (lambda t, m: m.train("yes"), (ValueError, "training mode is expected to be boolean")),
        (lambda t, m: m.get_submodule("inner.x"), (AttributeError, "Linear has no attribute `x`")),
        (lambda t, m: m.get_submodule("note"), (AttributeError, "`note` is not an nn.Module")),
        (lambda t, m: m.get_parameter("seen"), (AttributeError, "`seen` is not an nn.Parameter")),
        (lambda t, m: m.get_buffer("scale"), (AttributeError, "`scale` is not a buffer")),
        (lambda t, m: t.nn.Module()(1), (NotImplementedError, 'Module [Module] is missing the required "forward" function')),
        (lambda t, m: t.nn.Module(1), (TypeError, "Module.__init__() takes 1 positional argument but 2 were given")),
        (lambda t, m: t.nn.Module(a=1), (TypeError, "Module.__init__() got an unexpected keyword argument 'a'")),
    ],
)
def test_refusals(torch, call, expected):
    kind, words = error(lambda: call(torch, make(torch)))
    assert kind is expected[0] and words.startswith(expected[1])  # what follows is ours


def test_non_leaf_parameter_is_refused(torch):
    m, p = make(torch), torch.nn.Parameter(torch.ones(1))
    with pytest.raises(TypeError):
        m.register_parameter("q", p * 2)


def test_before_init(torch):
    class Hasty(torch.nn.Module):
        def __init__(self, value):
            self.value = value
            super().__init__()

    assert Hasty(3).value == 3
    for value, what in ((torch.nn.Parameter(torch.ones(1)), "parameters"), (torch.nn.ReLU(), "module")):
        kind, words = error(lambda value=value: Hasty(value))
        assert kind is AttributeError and words.startswith(f"cannot assign {what} before Module.__init__() call")


def test_delete(torch):
    m = make(torch)
    del m.scale, m.inner, m.scratch, m.note
    assert not hasattr(m, "scale") and not m._non_persistent_buffers_set
    with pytest.raises(AttributeError):
        del m.scale


def test_properties_and_class_attributes(torch):
    class M(torch.nn.Module):
        kind = "class"

        @property
        def broken(self):
            return self.missing

    m = M()
    assert m.kind == "class"
    m.kind = "own"
    assert m.kind == "own" and M.kind == "class"
    with pytest.raises(AttributeError):
        m.broken


def test_own_getattr_sees_through(torch):
    class Proxy(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.wrapped = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.wrapped, name)

    assert Proxy(torch.nn.Linear(2, 3)).out_features == 3


def test_dir(torch):
    names = dir(make(torch))
    assert {"scale", "seen", "inner", "note", "forward", "training"} <= set(names)
    assert "0" not in dir(torch.nn.Sequential(torch.nn.ReLU()))


# -- calling --------------------------------------------------------------------


def test_call_passes_everything(torch):
    m, x = make(torch), torch.ones(1, 2)
    assert torch.equal(m(x, twice=True), m(x) * 2)
    m.forward = lambda x: "replaced"
    assert m(x) == "replaced"


def test_call_super_init(torch):
    class Mixin:
        def __init__(self, tag):
            self.tag = tag

    class M(torch.nn.Module, Mixin):
        call_super_init = True

        def __init__(self):
            super().__init__("hello")

    assert M().tag == "hello"


# -- walking --------------------------------------------------------------------


def test_named_everything(torch):
    m = torch.nn.Sequential(make(torch), torch.nn.ReLU())
    assert [n for n, _ in m.named_parameters()] == ["0.scale", "0.inner.weight", "0.inner.bias"]
    assert [n for n, _ in m.named_parameters(prefix="p", recurse=True)] == ["p.0.scale", "p.0.inner.weight", "p.0.inner.bias"]
    assert [n for n, _ in m[0].named_parameters(recurse=False)] == ["scale"]
    assert [n for n, _ in m.named_buffers()] == ["0.seen", "0.scratch"]
    assert [n for n, _ in m.named_modules()] == ["", "0", "0.inner", "1"]
    assert [n for n, _ in m.named_children()] == ["0", "1"]
    assert len(list(m.modules())) == 4 and len(list(m.buffers())) == 2 and len(list(m.children())) == 2


def test_shared_members_come_once(torch):
    layer = torch.nn.Linear(1, 1)
    m = torch.nn.Sequential(layer, layer)
    assert len(list(m.parameters())) == 2 and len(list(m.children())) == 1 and len(list(m.modules())) == 2
    assert [n for n, _ in m.named_parameters(remove_duplicate=False)] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert [n for n, _ in m.named_modules(remove_duplicate=False)] == ["", "0", "1"]
    tied = torch.nn.ModuleList([torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)])
    tied[1].weight = tied[0].weight
    assert [n for n, _ in tied.named_parameters()] == ["0.weight", "0.bias", "1.bias"]


def test_get_by_path(torch):
    m = torch.nn.Sequential(make(torch))
    assert m.get_submodule("0.inner") is m[0].inner and m.get_submodule("") is m
    assert m.get_parameter("0.inner.weight") is m[0].inner.weight
    assert m.get_buffer("0.seen") is m[0].seen
    new = torch.nn.ReLU()
    m.set_submodule("0.inner", new)
    assert m[0].inner is new


def test_apply_visits_children_first(torch):
    seen = []
    make(torch).apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Linear", "Block"]


# -- changing -------------------------------------------------------------------


def test_train_and_eval(torch):
    m = make(torch)
    assert m.training and m.eval() is m and not m.training and not m.inner.training
    assert m.train().inner.training


def test_conversion_keeps_parameters(torch):
    m = make(torch)
    m.register_buffer("count", torch.zeros(1, dtype=torch.int64))
    p = m.inner.weight
    m(torch.ones(1, 2)).sum().backward()
    grad = p.grad
    assert m.double() is m
    assert m.inner.weight is p and p.dtype == torch.float64 and p.requires_grad and p.is_leaf
    assert p.grad.dtype == torch.float64 and torch.equal(p.grad, grad.double())
    assert m.seen.dtype == torch.float64 and m.count.dtype == torch.int64
    for convert, dtype in (("float", torch.float32), ("half", torch.float16), ("bfloat16", torch.bfloat16)):
        assert getattr(m, convert)().scale.dtype == dtype
    assert m.to(torch.float64).scale.dtype == torch.float64
    assert m.to("cpu", torch.float32).scale.dtype == torch.float32
    assert m.to(torch.ones(1, dtype=torch.float64)).scale.dtype == torch.float64
    assert m.to(device="cpu", dtype=torch.float32, non_blocking=True).scale.dtype == torch.float32
    assert m.cpu() is m
    assert m.type(torch.float64).scale.dtype == torch.float64


def test_requires_grad_and_zero_grad(torch):
    m = make(torch)
    m(torch.ones(1, 2)).sum().backward()
    m.zero_grad(set_to_none=False)
    assert m.scale.grad.tolist() == [0.0, 0.0]
    m.zero_grad()
    assert m.scale.grad is None
    assert not any(p.requires_grad for p in m.requires_grad_(False).parameters())


def test_meta_and_to_empty(torch):
    m = torch.nn.Linear(2, 3, device="meta")
    assert m.weight.is_meta
    m = m.to_empty(device="cpu")
    assert not m.weight.is_meta and m.weight.shape == (3, 2) and isinstance(m.weight, torch.nn.Parameter)


# -- copies ---------------------------------------------------------------------


def test_deepcopy(torch):
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    c = copy.deepcopy(m)
    assert torch.equal(c[0].weight, m[0].weight) and c[0].weight is not m[0].weight
    with torch.no_grad():
        c[0].weight.zero_()
    assert m[0].weight.abs().sum() > 0
    assert list(c.state_dict()) == list(m.state_dict())


def test_deepcopy_keeps_ties_and_hooks(torch):
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    m[1].weight = m[0].weight
    calls = []
    m.register_forward_hook(lambda *a: calls.append(1))
    c = copy.deepcopy(m)
    assert c[0].weight is c[1].weight
    c(torch.ones(1, 2))
    assert calls == [1]


def test_pickle(torch):
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    c = pickle.loads(pickle.dumps(m))
    x = torch.ones(1, 2)
    assert torch.equal(c(x), m(x)) and repr(c) == repr(m)


# -- text -----------------------------------------------------------------------


def test_repr(torch):
    nested = torch.nn.Sequential(make(torch), torch.nn.Sequential(torch.nn.ReLU(inplace=True)), torch.nn.Module())
    assert (
        repr(nested)
        == """Sequential(
  (0): Block(
    (inner): Linear(in_features=2, out_features=2, bias=True)
  )
  (1): Sequential(
    (0): ReLU(inplace=True)
  )
  (2): Module()
)"""
    )


def test_repr_of_own_lines(torch):
    class M(torch.nn.Module):
        def extra_repr(self):
            return "one\ntwo"

    m = M()
    assert repr(m) == "M(\n  one\n  two\n)"
    m.child = torch.nn.ReLU()
    assert repr(m) == "M(\n  one\n  two\n  (child): ReLU()\n)"


# -- ours -----------------------------------------------------------------------


def test_a_module_without_hooks_has_no_hook_tables():
    m = retrograd.nn.Linear(2, 2)
    assert not [name for name in m.__dict__ if "hook" in name]
    m(retrograd.ones(1, 2))
    assert not [name for name in m.__dict__ if "hook" in name]


def test_registration_hooks(torch):
    from importlib import import_module

    hooks = import_module(f"{torch.__name__}.nn.modules.module")
    seen = []
    handles = [
        hooks.register_module_parameter_registration_hook(lambda m, name, p: seen.append(name)),
        hooks.register_module_buffer_registration_hook(lambda m, name, b: seen.append(name)),
        hooks.register_module_module_registration_hook(lambda m, name, c: seen.append(name)),
    ]
    try:
        make(torch)
    finally:
        for handle in handles:
            handle.remove()
    assert seen == ["scale", "seen", "scratch", "weight", "bias", "inner"]
    make(torch)
    assert len(seen) == 6


def test_deep_copies_of_modules():
    net = retrograd.nn.Sequential(retrograd.nn.Linear(2, 2), retrograd.nn.BatchNorm1d(2), retrograd.nn.Linear(2, 2))
    net[2].weight = net[0].weight
    net.around, net.nothing = [net], []
    net.same_nothing = net.nothing
    calls = []
    net[0].register_forward_hook(lambda *args: calls.append("hook"))
    twin = copy.deepcopy(net)
    assert twin.nothing is twin.same_nothing is not net.nothing
    assert twin.around[0] is twin and twin[2].weight is twin[0].weight and twin[0].weight is not net[0].weight
    assert retrograd.equal(twin[0].weight, net[0].weight) and type(twin[0].weight) is retrograd.nn.Parameter
    twin(retrograd.ones(2, 2))
    assert calls == ["hook"]
    twin[0].register_forward_hook(lambda *args: calls.append("twin"))
    net(retrograd.ones(2, 2))
    assert calls == ["hook"] * 2

    class Counted(retrograd.nn.Linear):
        def __getstate__(self):
            return {**super().__getstate__(), "copies": getattr(self, "copies", 0) + 1}

    class Reduced(retrograd.nn.Module):
        def __reduce__(self):
            return Reduced, ()

    assert copy.deepcopy(copy.deepcopy(Counted(1, 1))).copies == 2
    one = Reduced()
    one.extra = 1
    assert not hasattr(copy.deepcopy(one), "extra")
