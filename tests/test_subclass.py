"""Subclasses of Tensor: how they are made, kept by operations, extended, copied and collected."""

import copy
import gc
import pickle
import weakref

import pytest

import retrograd as torch


class Plain(torch.Tensor):
    """Nothing but another type."""


class Child(Plain):
    pass


class Stranger(torch.Tensor):
    pass


class Annotated(torch.Tensor):
    """Carries an attribute, given when it is made."""

    @staticmethod
    def __new__(cls, data, unit=None):
        t = torch.as_tensor(data).as_subclass(cls)
        t.unit = unit
        return t

    def __init__(self, *args, **kwargs):
        self.initialised = True


class Tracking(torch.Tensor):
    """Passes its unit on, by way of __torch_function__."""

    unit = None

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(result, cls):
            result.unit = next((a.unit for a in args if isinstance(a, cls)), None)
        return result


# -- making -------------------------------------------------------------------


def test_as_subclass_shares_memory():
    base = torch.zeros(2)
    t = base.as_subclass(Plain)
    assert type(t) is Plain and isinstance(t, torch.Tensor)
    t[0] = 5.0
    assert base.tolist() == [5.0, 0.0]


def test_constructor():
    assert type(Plain([1.0, 2.0])) is Plain
    assert Plain([1, 2]).dtype == torch.float32
    assert Plain(2, 3).shape == (2, 3)
    assert type(Plain(torch.ones(2))) is Plain


def test_make_subclass():
    t = torch.Tensor._make_subclass(Plain, torch.ones(2), True)
    assert type(t) is Plain and t.requires_grad and t.is_leaf


def test_own_new_and_init():
    t = Annotated([1.0, 2.0], unit="m")
    assert (t.unit, t.initialised, t.tolist()) == ("m", True, [1.0, 2.0])


def test_as_subclass_wants_a_subclass():
    with pytest.raises(TypeError, match="inherit"):
        torch.ones(1).as_subclass(int)


def test_as_subclass_keeps_history():
    x = torch.ones(2, requires_grad=True)
    y = (x * 3).as_subclass(Plain)
    assert y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


# -- results of operations ----------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t + 1,
        lambda t: 1 - t,
        lambda t: -t,
        lambda t: torch.ones(2) + t,
        lambda t: torch.add(torch.ones(2), t),
        lambda t: t.sum(),
        lambda t: t.mean(),
        lambda t: t == t,
        lambda t: t[0],
        lambda t: t[t > 0],
        lambda t: t.view(2, 1),
        lambda t: t.t(),
        lambda t: t.clone(),
        lambda t: t.detach(),
        lambda t: t.data,
        lambda t: t.long(),
        lambda t: t.to(torch.float64),
        lambda t: t.mul_(2),
        lambda t: t.max(0)[0],
        lambda t: t.max(0).indices,
        lambda t: t.unbind()[1],
        lambda t: t.split(1)[0],
        lambda t: torch.stack([t, t]),
        lambda t: torch.cat([torch.ones(2), t]),
        lambda t: torch.zeros_like(t),
        lambda t: t.new_zeros(3),
        lambda t: torch.nn.functional.relu(t),
        lambda t: next(iter(t)),
    ],
)
def test_result_is_of_the_subclass(call):
    assert type(call(torch.ones(2).as_subclass(Plain))) is Plain


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda t: t.shape, torch.Size),
        (lambda t: t.size(), torch.Size),
        (lambda t: t.tolist(), list),
        (lambda t: t.numel(), int),
        (lambda t: t.split(1), tuple),
        (lambda t: t.dtype, torch.dtype),
        (lambda t: torch.tensor([t[0].item()]), torch.Tensor),
        (lambda t: t.as_subclass(torch.Tensor), torch.Tensor),
    ],
)
def test_result_is_something_else(call, kind):
    assert type(call(torch.ones(2).as_subclass(Plain))) is kind


def test_named_results_keep_their_names():
    result = torch.tensor([1.0, 3.0]).as_subclass(Plain).max(0)
    assert type(result.values) is Plain and result.values.item() == 3.0


def test_child_wins_over_parent():
    parent, child = torch.ones(2).as_subclass(Plain), torch.ones(2).as_subclass(Child)
    assert type(parent + child) is Child
    assert type(child + parent) is Child


def test_unrelated_subclasses_do_not_mix():
    with pytest.raises(TypeError):
        torch.ones(2).as_subclass(Plain) + torch.ones(2).as_subclass(Stranger)


def test_parameter_results_are_plain():
    assert type(torch.nn.Parameter(torch.ones(1)) + 1) is torch.Tensor


def test_grad_is_plain():
    t = torch.ones(2).as_subclass(Plain).requires_grad_()
    (t * 2).sum().backward()
    assert type(t.grad) is torch.Tensor
    assert t.grad.tolist() == [2.0, 2.0]


def test_attributes_are_not_passed_on():
    assert not hasattr(Annotated([1.0], unit="m") + 1, "unit")


def test_attributes_passed_on_by_torch_function():
    t = torch.ones(2).as_subclass(Tracking)
    t.unit = "s"
    assert (t * 2 + 1).unit == "s"
    assert t.sum().unit == "s"


def test_overridden_method_and_property():
    class Loud(torch.Tensor):
        def sum(self, *args, **kwargs):
            return "loud"

        @property
        def total(self):
            return super().sum().item()

    t = torch.ones(3).as_subclass(Loud)
    assert t.sum() == "loud"
    assert t.total == 3.0


def test_gradients_flow_through():
    x = torch.ones(2, requires_grad=True)
    y = (x.as_subclass(Plain) * 3).exp()
    assert type(y) is Plain
    (g,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(g, 3 * torch.ones(2).mul(3).exp())


# -- attributes ---------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: torch.ones(2), lambda: torch.ones(2).as_subclass(Plain)])
def test_any_attribute(make):
    t = make()
    t.note = [1, 2]
    assert t.note == [1, 2]
    assert t.__dict__ == {"note": [1, 2]}
    del t.note
    with pytest.raises(AttributeError):
        t.note


def test_own_attributes_are_protected():
    with pytest.raises(AttributeError):
        torch.ones(1).shape = (2,)
    with pytest.raises(AttributeError):
        torch.ones(1).dtype = torch.float64


# -- copies -------------------------------------------------------------------


def test_copy_keeps_type_and_attributes():
    t = Annotated([1.0], unit="m")
    c = copy.copy(t)
    assert type(c) is Annotated and c.unit == "m"
    assert c.data_ptr() == t.data_ptr()


def test_deepcopy():
    t = torch.ones(2)
    t.note = [1]
    c = copy.deepcopy(t)
    assert type(c) is torch.Tensor and c.tolist() == [1.0, 1.0]
    assert c.data_ptr() != t.data_ptr()
    assert c.note == [1] and c.note is not t.note


@pytest.mark.skipif(torch.__name__ != "retrograd", reason="PyTorch refuses without an own new_empty()")
def test_deepcopy_of_a_subclass():
    t = Annotated([1.0], unit=["m"])
    c = copy.deepcopy(t)
    assert type(c) is Annotated and c.unit == ["m"] and c.unit is not t.unit
    assert c.data_ptr() != t.data_ptr()


def test_pickle_keeps_type_and_attributes():
    t = Annotated([1.0, 2.0], unit="m")
    c = pickle.loads(pickle.dumps(t))
    assert type(c) is Annotated
    assert (c.tolist(), c.unit) == ([1.0, 2.0], "m")


# -- life and death -----------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: torch.ones(2), lambda: torch.ones(2).as_subclass(Plain)])
def test_weak_reference(make):
    t = make()
    gone = []
    ref = weakref.ref(t, gone.append)
    assert ref() is t
    del t
    assert ref() is None and gone == [ref]


def test_cycle_through_an_attribute_is_collected():
    t = torch.ones(2).as_subclass(Plain)
    t.me = t
    ref = weakref.ref(t)
    del t
    gc.collect()
    assert ref() is None


def test_attributes_live_as_long_as_the_graph_holds_the_tensor():
    x = torch.ones(1, requires_grad=True)
    x.note = "kept"
    y = x * 2
    del x
    gc.collect()
    assert y.grad_fn.next_functions[0][0].variable.note == "kept"


def test_identity():
    a = torch.ones(2)
    assert a is not a.view(2)
    assert hash(a) == hash(a)
    assert len({a, torch.ones(2), a}) == 2


def test_isinstance_of_typed_aliases():
    assert isinstance(torch.ones(1), torch.FloatTensor)
    assert not isinstance(torch.ones(1), torch.LongTensor)
    assert isinstance(torch.nn.Parameter(torch.ones(1)), torch.Tensor)
