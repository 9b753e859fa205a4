"""Inference mode: tensors without versions or history, and where they may go."""

import pytest

import retrograd as torch

SAVED = "Inference tensors cannot be saved for backward"
INPLACE = "Inplace update to inference tensor outside InferenceMode is not allowed"


@pytest.fixture
def x():
    return torch.ones(2, requires_grad=True)


@pytest.fixture
def inference():
    with torch.inference_mode():
        return torch.ones(2)


# -- inside -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "is_inference"),
    [
        (lambda x: torch.ones(2), True),
        (lambda x: torch.tensor(1.0), True),
        (lambda x: torch.empty(0), True),
        (lambda x: x * 2, True),
        (lambda x: x.clone(), True),
        (lambda x: x.to(torch.float64), True),
        (lambda x: x.sum(), True),
        (lambda x: x > 0, True),
        # Views of, or the very same, normal tensor.
        (lambda x: x.view(2), False),
        (lambda x: x[0], False),
        (lambda x: x.detach(), False),
        (lambda x: x.data, False),
        (lambda x: x.contiguous(), False),
        (lambda x: x.to(torch.float32), False),
        # Views of an inference tensor.
        (lambda x: torch.ones(2).view(2), True),
        (lambda x: (x * 2)[0], True),
    ],
)
def test_what_is_made_inside(x, make, is_inference):
    with torch.inference_mode():
        t = make(x)
    assert t.is_inference() == is_inference
    assert torch.is_inference(t) == is_inference


def test_nothing_is_recorded(x):
    with torch.inference_mode():
        y = x * 2
        assert not y.requires_grad and y.grad_fn is None and y.is_leaf
        with torch.enable_grad():
            assert not (x * 2).requires_grad
        with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
            y.sum().backward()


def test_normal_tensors_may_be_changed_inside(x):
    normal = torch.ones(2)
    with torch.inference_mode():
        normal.add_(1)
        x.add_(1)
    assert normal.tolist() == [2.0, 2.0] and normal._version == 1
    assert x.tolist() == [2.0, 2.0] and x.requires_grad and x.is_leaf


def test_changes_inside_are_seen_by_the_version_check(x):
    y = x * x
    with torch.inference_mode():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_requires_grad_inside():
    with torch.inference_mode():
        t = torch.ones(2, requires_grad=True)
        assert t.requires_grad and t.is_inference()
        assert not (t * 2).requires_grad


def test_inference_mode_off_inside():
    with torch.inference_mode(), torch.inference_mode(False):
        t = torch.ones(2, requires_grad=True)
        assert not t.is_inference()
        assert (t * 2).requires_grad


def test_a_nested_block_is_the_same_block():
    with torch.inference_mode():
        with torch.inference_mode():
            t = torch.ones(2)
        t.add_(1)
    assert t.tolist() == [2.0, 2.0]


# -- outside ------------------------------------------------------------------


def test_computing_without_grad(inference):
    y = inference + 1
    assert y.tolist() == [2.0, 2.0]
    assert not y.is_inference()


def test_views_stay_inference(inference):
    assert inference.view(2).is_inference()
    assert inference[0].is_inference()
    assert inference.detach().is_inference()


def test_clone_is_normal(inference, x):
    c = inference.clone()
    assert not c.is_inference()
    c.add_(1)
    (x * c).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_version_is_not_tracked(inference):
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        inference._version


@pytest.mark.parametrize(
    "use",
    [
        lambda x, i: x * i,
        lambda x, i: i * x,
        lambda x, i: x / i,
        lambda x, i: x.unsqueeze(0) @ i.unsqueeze(1),
        lambda x, i: x.clone().mul_(i),
    ],
)
def test_not_saved_for_backward(x, inference, use):
    with pytest.raises(RuntimeError, match=SAVED):
        use(x, inference)


@pytest.mark.parametrize("use", [lambda x, i: x + i, lambda x, i: x.clone().add_(i), lambda x, i: torch.cat([x, i])])
def test_fine_where_nothing_is_saved(x, inference, use):
    use(x, inference).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


CHANGES = [
    lambda i: i.add_(1),
    lambda i: i.copy_(torch.zeros(2)),
    lambda i: i.zero_(),
    lambda i: i.__setitem__(0, 5.0),
    lambda i: i.t_(),
    lambda i: i.unsqueeze_(0),
    lambda i: i.view(2).mul_(2),
    lambda i: torch.add(torch.ones(2), 1, out=i),
]


@pytest.mark.parametrize("change", CHANGES)
def test_not_changed_in_place(inference, change):
    with pytest.raises(RuntimeError, match=INPLACE):
        change(inference)
    with torch.inference_mode():
        change(inference)


@pytest.mark.skipif(torch.__name__ != "retrograd", reason="PyTorch writes first and refuses then")
@pytest.mark.parametrize("change", CHANGES)
def test_refused_before_anything_is_written(inference, change):
    with pytest.raises(RuntimeError, match=INPLACE):
        change(inference)
    assert inference.tolist() == [1.0, 1.0]


def test_cannot_start_to_require_grad(inference):
    words = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"
    with pytest.raises(RuntimeError, match=words):
        inference.requires_grad_()
    with pytest.raises(RuntimeError, match=words):
        inference.requires_grad = True
    with pytest.raises(RuntimeError, match=words):
        torch.nn.Parameter(inference)
    assert not inference.requires_grad


def test_view_made_inside_and_changed_outside(x):
    y = x * 1
    with torch.inference_mode():
        v = y.view(2)
    assert v.requires_grad
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being modified inplace"):
        v.add_(1)


def test_view_of_a_normal_constant_made_inside():
    normal = torch.ones(2)
    with torch.inference_mode():
        v = normal.view(2)
    v.add_(1)
    assert normal.tolist() == [2.0, 2.0] and normal._version == v._version == 1


def test_copied_into_a_normal_tensor(inference):
    normal = torch.zeros(2)
    normal.copy_(inference)
    assert normal.tolist() == [1.0, 1.0] and not normal.is_inference()


def test_custom_function(x, inference):
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            return grad * b, grad * a

    with pytest.raises(RuntimeError, match=SAVED):
        Product.apply(x, inference)
    with torch.inference_mode():
        assert Product.apply(x, inference).tolist() == [1.0, 1.0]


def test_decorated_function(x):
    @torch.inference_mode()
    def predict(t):
        return t * 2

    assert predict(x).is_inference()
    assert not (x * 2).is_inference()


def test_detached_outside_it_may_be_changed(inference):
    for alias in (inference.detach(), inference.data):
        assert alias.is_inference() and alias._version == 0
        alias.add_(1)
        assert alias._version == 1
    with torch.inference_mode():
        assert inference.detach().is_inference()
        with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
            inference.detach()._version


def test_other_data(inference):
    plain = torch.ones(2)
    plain.data = inference
    assert plain.is_inference()
    inference.data = torch.ones(2)
    assert not inference.is_inference()


def test_the_same_bytes_as_another_dtype(inference):
    assert not inference.view(torch.uint8).is_inference()
    with torch.inference_mode():
        assert torch.ones(2).view(torch.int32).is_inference()


def test_unsafe_parts_are_views_inside(x):
    y = x * 1
    with torch.inference_mode():
        part = y.unsafe_split(1)[0]
    assert part._base is y and part.requires_grad and not part.is_inference()
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being modified inplace in normal mode"):
        part.add_(1)


def test_out_of_a_tracked_op_is_refused_for_its_inputs_first():
    with torch.inference_mode():
        c = torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^mul\(\): functions with out=... arguments don't support automatic differentiation"):
        torch.mul(x, x, out=c)
    with pytest.raises(RuntimeError, match="^Inplace update to inference tensor outside InferenceMode"):
        torch.mul(x.detach(), x.detach(), out=c)


# -- inference tensors that require grad --------------------------------------


@pytest.fixture
def wants_grad():
    with torch.inference_mode():
        return torch.ones(4, requires_grad=True)


@pytest.mark.parametrize(
    "use",
    [
        lambda c: c.view(2, 2),
        lambda c: c[0],
        lambda c: c.sum(),
        lambda c: c * c,
        lambda c: c @ c,
        lambda c: c.exp(),
        lambda c: torch.cat([c, c]),
        lambda c: c.split(2)[0],
        lambda c: c.relu().max(),
        lambda c: c + torch.inference_mode()(torch.ones)(4),
    ],
)
def test_inference_tensors_alone_record_nothing(wants_grad, use):
    result = use(wants_grad)
    assert wants_grad.requires_grad and not result.requires_grad and result.is_leaf
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        assert not use(wants_grad).requires_grad


@pytest.mark.parametrize(
    ("use", "grad"),
    [
        (lambda c: c + torch.ones(4), 1.0),
        (lambda c: c * torch.full((4,), 3.0), 3.0),
        (lambda c: c * 2, 2.0),
        (lambda c: torch.cat([c, torch.ones(1)]), 1.0),
        (lambda c: c.clone(), 1.0),
        (lambda c: c.to(torch.float64), 1.0),
        (lambda c: c[torch.tensor([0, 1, 2, 3])], 1.0),
    ],
)
def test_inference_tensors_beside_others_record(wants_grad, use, grad):
    use(wants_grad).sum().backward()
    assert wants_grad.grad.tolist() == [grad] * 4


def test_resize_where_nothing_is_recorded(x):
    with torch.inference_mode():
        assert torch.ones(4, requires_grad=True).resize_(2).shape == (2,)
        assert torch.ones(4, requires_grad=True).resize_as_(torch.ones(3)).shape == (3,)
        assert x.resize_(1).shape == (1,) and x.requires_grad
    with torch.no_grad(), pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        x.resize_(2)
