"""Leaves: who may require grad, who has a .grad, and what may be done to both."""

import copy
import warnings

import pytest

import retrograd as torch


def leaf():
    return torch.ones(2, requires_grad=True)


# -- who is a leaf ------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "is_leaf", "requires_grad"),
    [
        (lambda: torch.ones(2), True, False),
        (leaf, True, True),
        (lambda: leaf() * 2, False, True),
        (lambda: torch.ones(2) * 2, True, False),
        (lambda: leaf().detach(), True, False),
        (lambda: leaf().data, True, False),
        (lambda: (leaf() * 2).detach(), True, False),
        (lambda: leaf().clone(), False, True),
        (lambda: leaf().cpu(), True, True),
        (lambda: leaf().double(), False, True),
        (lambda: leaf().view(2), False, True),
        (lambda: leaf() > 0, True, False),
        (lambda: torch.nn.Parameter(torch.ones(2)), True, True),
        (lambda: torch.nn.Parameter(leaf() * 2), True, True),
        (lambda: torch.ones(2).requires_grad_(), True, True),
        (lambda: torch.zeros_like(leaf()), True, False),
        (lambda: torch.zeros_like(leaf(), requires_grad=True), True, True),
        (lambda: leaf().new_zeros(2), True, False),
        (lambda: torch.tensor([1.0], requires_grad=True), True, True),
    ],
)
@pytest.mark.on_cpu("cpu() is a copy elsewhere")
def test_kind(make, is_leaf, requires_grad):
    t = make()
    assert (t.is_leaf, t.requires_grad) == (is_leaf, requires_grad)
    assert (t.grad_fn is None) == is_leaf


def test_results_require_grad_if_any_input_does():
    a, b = torch.ones(2), torch.ones(2)
    assert not (a + b).requires_grad
    b.requires_grad_()
    assert (a + b).requires_grad
    assert torch.cat([a, b]).requires_grad
    assert torch.where(a > 0, a, b).requires_grad


# -- changing requires_grad ---------------------------------------------------


def test_switch_on_and_off():
    t = torch.ones(2)
    assert t.requires_grad_() is t
    assert t.requires_grad
    t.requires_grad = False
    assert not t.requires_grad
    t.requires_grad_(True).requires_grad_(requires_grad=False)
    assert not t.requires_grad


def test_results_made_before_do_not_change():
    x = leaf()
    y = x * 2
    x.requires_grad_(False)
    assert y.requires_grad
    assert not (x * 2).requires_grad


def test_inner_tensors_cannot_be_switched_off():
    y = leaf() * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad_(False)
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = False
    assert y.requires_grad_() is y


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "bool"])
def test_only_floating_point_requires_grad(dtype):
    dtype = getattr(torch, dtype)
    with pytest.raises(RuntimeError, match=r"[Oo]nly Tensors of floating point .*dtype can require gradients"):
        torch.ones(2, dtype=dtype, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"[Oo]nly Tensors of floating point .*dtype can require gradients"):
        torch.ones(2, dtype=dtype).requires_grad_()
    with pytest.raises(RuntimeError, match=r"[Oo]nly Tensors of floating point .*dtype can require gradients"):
        torch.nn.Parameter(torch.ones(2, dtype=dtype))
    assert not torch.nn.Parameter(torch.ones(2, dtype=dtype), requires_grad=False).requires_grad


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_requires_grad_is_a_bool(value):
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        torch.ones(2).requires_grad = value


# -- in-place changes ---------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.add_(1),
        lambda t: t.mul_(t),
        lambda t: t.zero_(),
        lambda t: t.copy_(torch.zeros(2)),
        lambda t: t.__iadd__(1),
        lambda t: t.fill_(0),
        lambda t: t.uniform_(),
        lambda t: t.masked_fill_(t > 0, 0),
    ],
)
def test_leaf_is_not_changed_in_place(change):
    t = leaf()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        change(t)
    assert t.tolist() == [1.0, 1.0] and t._version == 0
    with torch.no_grad():
        change(t)
    assert t.is_leaf and t.requires_grad


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t[0].add_(1),
        lambda t: t.view(2).mul_(2),
        lambda t: t.__setitem__(0, 1.0),
        lambda t: t[:1].zero_(),
    ],
)
def test_view_of_a_leaf_is_not_changed_in_place(change):
    t = leaf()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        change(t)
    assert t.tolist() == [1.0, 1.0]
    with torch.no_grad():
        change(t)


def test_detach_and_data_are_ways_around():
    t = leaf()
    t.detach().add_(1)
    t.data.add_(1)
    assert t.tolist() == [3.0, 3.0]


def test_resizing():
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        leaf().resize_(3)
    assert torch.ones(2).resize_(4).shape == (4,)


# -- .grad --------------------------------------------------------------------


def test_grad_starts_as_none():
    assert leaf().grad is None
    assert torch.ones(2).grad is None


def test_grad_can_be_assigned():
    x, g = leaf(), torch.tensor([3.0, 4.0])
    x.grad = g
    assert x.grad is g
    x.sum().backward()
    assert x.grad is g and g.tolist() == [4.0, 5.0]
    x.grad = None
    assert x.grad is None
    x.grad = g
    del x.grad
    assert x.grad is None


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (lambda x: torch.ones(3), RuntimeError, r"gradient of size '\[3\]' to a tensor of size '\[2\]'"),
        (lambda x: torch.ones(2, dtype=torch.float64), RuntimeError, "dtype"),
        (lambda x: torch.ones(2, device="meta"), RuntimeError, "device"),
        (lambda x: 3, TypeError, "expected to be a Tensor or None but got grad of type int"),
        (lambda x: [1.0, 1.0], TypeError, "expected to be a Tensor or None"),
        (lambda x: x, RuntimeError, "can't assign Variable as its own grad"),
    ],
)
def test_grad_is_checked_when_assigned(value, error, words):
    x = leaf()
    with pytest.raises(error, match=words):
        x.grad = value(x)
    assert x.grad is None


def test_grad_of_an_inner_tensor_warns():
    y = leaf() * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor"):
        assert y.grad is None
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y.sum().backward()
        assert y.grad.tolist() == [1.0, 1.0]


def test_retain_grad():
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        torch.ones(2).retain_grad()
    x = leaf()
    x.retain_grad()
    assert not x.retains_grad
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad


@pytest.mark.parametrize("name", ["grad_fn", "is_leaf", "output_nr", "_base", "_version"])
def test_read_only(name):
    with pytest.raises(AttributeError):
        setattr(leaf(), name, None)


# -- .data --------------------------------------------------------------------


def test_data_shares_memory_without_history():
    x = leaf()
    d = x.data
    assert d.data_ptr() == x.data_ptr()
    assert not d.requires_grad and d.is_leaf and not d._is_view()


def test_data_can_be_assigned():
    x = leaf()
    x.data = torch.zeros(3)
    assert x.shape == (3,) and x.requires_grad and x.is_leaf
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_data_assignment_is_not_seen_by_other_holders():
    x = torch.ones(2)
    alias = x.detach()
    x.data = torch.zeros(2)
    assert alias.tolist() == [1.0, 1.0]


def test_data_must_be_a_tensor():
    with pytest.raises(TypeError, match="data has to be a tensor, but got int"):
        leaf().data = 3


# -- leaving autograd ---------------------------------------------------------


@pytest.mark.on_cpu("memory is shared with NumPy on the CPU alone")
def test_numpy_wants_a_detached_tensor():
    pytest.importorskip("numpy")
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        leaf().numpy()
    assert leaf().detach().numpy().tolist() == [1.0, 1.0]
    assert leaf().numpy(force=True).tolist() == [1.0, 1.0]


def test_values_can_be_read():
    assert leaf().tolist() == [1.0, 1.0]
    assert leaf()[0].item() == 1.0
    assert bool(leaf()[0])


def test_deepcopy():
    x = leaf()
    x.sum().backward()
    y = copy.deepcopy(x)
    assert y.requires_grad and y.is_leaf and y.grad.tolist() == [1.0, 1.0]
    assert y.data_ptr() != x.data_ptr() and y.grad is not x.grad
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)


def test_deepcopy_keeps_sharing():
    x = torch.ones(4)
    a, b = copy.deepcopy([x, x])
    assert a is b
    a, b = copy.deepcopy([x, x[1:]])
    a[1] = 5.0
    assert b[0].item() == 5.0


def test_constructors_make_new_leaves():
    x = leaf()
    with pytest.warns(UserWarning, match="detach"):
        y = torch.tensor(x)
    assert not y.requires_grad and y.data_ptr() != x.data_ptr()
    assert torch.as_tensor(x) is x


def test_no_gradient_for_a_leaf_that_stopped_wanting_one():
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_the_attribute_is_for_leaves():
    y = torch.ones(2, requires_grad=True) * 2
    assert y.requires_grad_() is y
    for value in (True, False):
        with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
            y.requires_grad = value


@pytest.mark.on_cpu("memory is shared with NumPy on the CPU alone")
def test_numpy_under_no_grad():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="on Tensor that requires grad"):
        x.numpy()
    with torch.no_grad():
        assert x.numpy().tolist() == [1.0, 1.0]


def test_detach_of_a_view_in_place_in_inference_mode():
    x = torch.ones(2, requires_grad=True)
    v = torch.ones(2).view(2)
    with torch.inference_mode():
        assert x.detach_() is x and x.requires_grad
        assert v.detach_() is v


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("data", "Deleting tensor data is not allowed. Delete tensor instead!"),
        ("_grad_fn", "Deletion of _grad_fn not allowed. Detach tensor instead!"),
        ("_backward_hooks", "Deletion of _backwards_hooks not allowed!"),
        ("_post_accumulate_grad_hooks", "Deletion of _post_accumulate_grad_hooks not allowed!"),
    ],
)
def test_attributes_that_cannot_be_deleted(name, words):
    calls = []
    x = torch.ones(2, requires_grad=True)
    x.register_hook(calls.append)
    x.register_post_accumulate_grad_hook(calls.append)
    with pytest.raises(RuntimeError) as info:
        delattr(x, name)
    assert str(info.value) == words
    x.sum().backward()
    assert len(calls) == 2


def test_grad_fn_can_be_forgotten_only():
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="_grad_fn can be only set to None"):
        y._grad_fn = 3
    assert y.grad_fn is not None
    y._grad_fn = None
    assert y.grad_fn is None and not y.requires_grad


def test_integers_as_data_or_with_gradients():
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="^data set to a tensor that requires gradients must be floating point or complex dtype"):
        x.data = torch.ones(1, dtype=torch.long)
    for make in (torch.tensor, torch.asarray):
        with pytest.raises(RuntimeError, match="^Only Tensors of floating point and complex dtype can require gradients"):
            make([1], requires_grad=True)


# -- other memory -------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3])
def test_a_leaf_with_other_memory_is_another_leaf(size):
    x = leaf()
    y = x.clone()
    edge = torch.autograd.graph.get_gradient_edge(x)
    with torch.no_grad():
        x.set_(torch.zeros(size))
    assert x.is_leaf and x.requires_grad
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 0 appears to not have been used in the graph"):
        torch.autograd.grad(y.sum(), x, retain_graph=True)
    assert torch.autograd.grad(y.sum(), edge, retain_graph=True)[0].tolist() == [1.0, 1.0]
    assert torch.autograd.grad(y.sum() + (x * 2).sum(), x, retain_graph=True)[0].tolist() == [2.0] * size
    assert torch.autograd.graph.get_gradient_edge(x).node is not edge.node
    y.sum().backward(inputs=[x], retain_graph=True)
    assert x.grad is None
    seen = []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    if size == 2:
        y.sum().backward()
        assert x.grad.tolist() == [1.0, 1.0] and seen == [[1.0, 1.0]]
    else:
        with pytest.raises(RuntimeError, match=r"got \[2\] but expected shape compatible with \[3\]"):
            y.sum().backward()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0] * size and seen[-1] == [2.0] * size


def test_a_leaf_without_memory_is_another_leaf():
    x = leaf()
    y = x.clone()
    with torch.no_grad():
        x.set_()
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(y.sum(), x)
    x = leaf()
    y = x.clone()
    x.data = torch.zeros(2)  # still the same leaf
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [1.0, 1.0]
