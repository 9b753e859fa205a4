"""In-place operations and views: shared memory, shared versions, and history that follows both."""

import pytest

import retrograd as torch
from retrograd.testing import assert_close


def inner(*values):
    """A tensor with history, and the leaf it comes from."""
    x = torch.tensor(values, requires_grad=True)
    return x, x * 1


# -- views without history ----------------------------------------------------

VIEWS = [
    ("view", lambda t: t.view(2, 6)),
    ("reshape", lambda t: t.reshape(12)),
    ("transpose", lambda t: t.transpose(0, 1)),
    ("t", lambda t: t.t()),
    ("permute", lambda t: t.permute(1, 0)),
    ("select", lambda t: t[1]),
    ("slice", lambda t: t[1:, ::2]),
    ("narrow", lambda t: t.narrow(1, 1, 2)),
    ("unsqueeze", lambda t: t.unsqueeze(0)),
    ("squeeze", lambda t: t.view(1, 3, 4).squeeze(0)),
    ("expand", lambda t: t.unsqueeze(0).expand(2, 3, 4)),
    ("diagonal", lambda t: t.diagonal()),
    ("unfold", lambda t: t.unfold(1, 2, 1)),
    ("as_strided", lambda t: t.as_strided((2, 2), (4, 1), 1)),
    ("flatten", lambda t: t.flatten()),
    ("movedim", lambda t: t.movedim(0, 1)),
    ("detach", lambda t: t.detach()),
    ("view_as", lambda t: t.view_as(torch.empty(4, 3))),
    ("unbind", lambda t: t.unbind(0)[1]),
    ("split", lambda t: t.split(2)[0]),
    ("chunk", lambda t: t.chunk(2, 1)[1]),
]
every_view = pytest.mark.parametrize("view", [v for _, v in VIEWS], ids=[n for n, _ in VIEWS])


def numbered():
    return torch.arange(12.0).reshape(3, 4).clone()


@every_view
def test_view_shares_memory(view):
    base = numbered()
    v = view(base)
    assert v.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
    base.mul_(2)
    assert_close(v, view(numbered() * 2))


@every_view
def test_view_shares_the_version(view):
    base = numbered()
    v = view(base)
    before = base._version
    base.add_(1)
    assert v._version == base._version == before + 1


@every_view
def test_view_knows_its_base(view):
    base = torch.ones(3, 4, requires_grad=True) * 1
    v = view(base)
    if v.requires_grad:
        assert v._is_view() and v._base is base
    assert not base._is_view() and base._base is None


@every_view
def test_gradient_of_a_view(view):
    x = numbered().requires_grad_()
    v = view(x)
    if not v.requires_grad:
        return
    v.sum().backward()
    counts = torch.zeros(3, 4)
    ones = torch.arange(12.0).reshape(3, 4)
    for i in range(12):
        counts.view(-1)[i] = (view(ones) == i).sum()
    assert_close(x.grad, counts)


def test_views_of_views_have_one_base():
    base = torch.ones(4, 4, requires_grad=True) * 1
    v = base[1:].t()[0]
    assert v._base is base


def test_copies_are_not_views():
    base = numbered()
    for copy in (base.clone(), base.t().reshape(12), base.t().contiguous(), base[[0, 1]], base[base > 1], base + 0):
        assert not copy._is_view()
        assert copy.data_ptr() != base.data_ptr()


def test_contiguous_is_the_same_tensor_where_nothing_is_to_do():
    base = numbered()
    assert base.contiguous() is base
    assert base.to(torch.float32) is base


@pytest.mark.parametrize("shape", [(5, 3), (7,), (-1, 5), (-1, -1)])
def test_view_of_wrong_size(shape):
    with pytest.raises(RuntimeError, match=r"invalid for input of size|only one dimension can be inferred"):
        numbered().view(shape)


def test_view_that_strides_do_not_allow():
    with pytest.raises(RuntimeError, match=r"view size is not compatible"):
        numbered().t().view(12)


# -- versions -----------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.add_(1),
        lambda t: t.zero_(),
        lambda t: t.fill_(3),
        lambda t: t.copy_(torch.ones(3, 4)),
        lambda t: t.__setitem__(0, 1.0),
        lambda t: t.__setitem__((slice(None), [0, 1]), 1.0),
        lambda t: t.__iadd__(1),
        lambda t: t.t_(),
        lambda t: t.masked_fill_(t > 3, 0.0),
        lambda t: t.index_fill_(0, torch.tensor([0]), 1.0),
        lambda t: t.clamp_(0, 1),
        lambda t: torch.add(t, 1, out=t),
        lambda t: t.uniform_(),
        lambda t: t.view(12).add_(1),
    ],
)
def test_change_bumps_the_version(change):
    t = numbered()
    before = t._version
    change(t)
    assert t._version > before


@pytest.mark.on_cpu("memory is shared with NumPy on the CPU alone")
def test_reading_leaves_the_version():
    t = numbered()
    t + 1, t.sum(), t[0], t.clone(), t.tolist(), t.view(12), t.numpy()
    assert t._version == 0


def test_data_has_a_version_of_its_own():
    t = numbered()
    t.data.add_(1)
    assert t._version == 0
    t.detach().add_(1)
    assert t._version == 1


# -- in-place and history -----------------------------------------------------


def test_inplace_becomes_part_of_the_history():
    x, y = inner(1.0, 2.0)
    y.mul_(3)
    assert y.grad_fn.name() == "MulBackward0"
    assert y.grad_fn.next_functions[0][0].name() == "MulBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_augmented_assignment():
    x, y = inner(1.0, 2.0)
    same = y
    y += 1
    y *= 2
    y -= x
    y /= 4
    assert y is same
    y.sum().backward()
    assert x.grad.tolist() == [0.25, 0.25]


def test_inplace_with_a_tensor_that_requires_grad():
    x = torch.ones(2, requires_grad=True)
    y = torch.ones(2)
    y.mul_(x)
    assert y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_inplace_without_history_stays_without():
    y = torch.ones(2)
    y.add_(1)
    assert not y.requires_grad and y.grad_fn is None


def test_overwriting_cuts_the_history():
    x, y = inner(1.0, 2.0)
    y.zero_()
    y.sum().backward()
    assert x.grad is None or x.grad.tolist() == [0.0, 0.0]


def test_copy_brings_the_history_of_the_source():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.zeros(2, 2)
    y.copy_(x * 3)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_copy_across_dtypes():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.zeros(2, dtype=torch.float64)
    y.copy_(x)
    assert y.dtype == torch.float64
    (y * 2).sum().backward()
    assert x.grad.dtype == torch.float32 and x.grad.tolist() == [2.0, 2.0]


def test_inplace_under_no_grad_leaves_no_history():
    x, y = inner(1.0, 2.0)
    fn = y.grad_fn
    with torch.no_grad():
        y.mul_(3)
    assert y.grad_fn is fn
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_inplace_result_must_keep_its_shape():
    with pytest.raises(RuntimeError, match=r"output with shape .* doesn't match the broadcast shape"):
        torch.ones(2).add_(torch.ones(3, 2))


def test_inplace_result_must_keep_its_dtype():
    with pytest.raises(RuntimeError, match=r"can't be cast to the desired output type"):
        torch.ones(2, dtype=torch.long).add_(1.5)


# -- changing a view changes the base -----------------------------------------


def test_view_changed():
    x, y = inner(1.0, 2.0, 3.0)
    y[0].mul_(10)
    assert y.tolist() == [10.0, 2.0, 3.0]
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [10.0, 2.0, 3.0]


def test_base_has_a_new_history_after_a_view_changed():
    _, y = inner(1.0, 2.0)
    v = y[0]
    before = y.grad_fn
    v.mul_(2)
    assert y.grad_fn is not before
    assert type(y.grad_fn).__name__ == "CopySlices"


def test_view_has_a_new_history_after_the_base_changed():
    x, y = inner(1.0, 2.0)
    v = y[0]
    y.mul_(5)
    assert v.item() == 5.0
    v.backward()
    assert x.grad.tolist() == [5.0, 0.0]


def test_other_views_see_the_change():
    x, y = inner(1.0, 2.0, 3.0, 4.0)
    a, b = y.view(2, 2), y[1:3]
    b.mul_(10)
    assert a.tolist() == [[1.0, 20.0], [30.0, 4.0]]
    a.sum().backward()
    assert x.grad.tolist() == [1.0, 10.0, 10.0, 1.0]


def test_chain_of_changes_through_views():
    x = torch.arange(6.0, requires_grad=True)
    y = (x * 1).view(2, 3)
    y[0].mul_(2)
    y[:, 1].add_(1)
    y.t()[2].mul_(3)
    weights = torch.arange(1.0, 7.0)
    (y.reshape(6) * weights).sum().backward()
    factors = torch.tensor([2.0, 2.0, 6.0, 1.0, 1.0, 3.0])
    assert_close(x.grad, weights * factors)


def test_view_of_a_view_changed():
    x, y = inner(1.0, 2.0, 3.0, 4.0)
    y.view(2, 2)[1][0].mul_(7)
    assert y.tolist() == [1.0, 2.0, 21.0, 4.0]
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 7.0, 1.0]


def test_history_enters_a_constant_through_its_view():
    x = torch.tensor(2.0, requires_grad=True)
    base = torch.zeros(3)
    base[1] = x * 3
    assert base.requires_grad
    base.sum().backward()
    assert x.grad.item() == 3.0


def test_view_taken_before_history_came():
    x = torch.ones(2, requires_grad=True)
    base = torch.zeros(2, 2)
    v = base[0]
    base.mul_(x)
    assert v.requires_grad
    base[1].add_(x)
    assert base.requires_grad


def test_expanded_memory_is_not_written():
    t = torch.zeros(1).expand(3)
    with pytest.raises(RuntimeError, match="single memory location"):
        t.add_(1)
    with pytest.raises(RuntimeError, match="single memory location"):
        t[:2] = 1.0


def test_partly_overlapping_input():
    t = torch.arange(4.0)
    with pytest.raises(RuntimeError, match=r"single memory location|overlap"):
        t[1:].add_(t[:-1])


def test_whole_overlap_is_fine():
    t = torch.arange(4.0)
    t.add_(t)
    assert t.tolist() == [0.0, 2.0, 4.0, 6.0]


# -- index assignment ---------------------------------------------------------


def test_assignment_of_a_number():
    x, y = inner(1.0, 2.0, 3.0)
    y[1] = 5.0
    assert y.tolist() == [1.0, 5.0, 3.0]
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0]


def test_assignment_of_a_tensor():
    x, y = inner(1.0, 2.0, 3.0)
    v = torch.tensor([7.0, 8.0], requires_grad=True)
    y[:2] = v * 2
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 3.0]
    assert v.grad.tolist() == [2.0, 4.0]


def test_assignment_by_index_tensor():
    x, y = inner(1.0, 2.0, 3.0)
    v = torch.tensor(9.0, requires_grad=True)
    y[torch.tensor([0, 2])] = v
    assert y.tolist() == [9.0, 2.0, 9.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0] and v.grad.item() == 2.0


def test_assignment_by_mask():
    x, y = inner(1.0, 2.0, 3.0)
    y[y > 1.5] = 0.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 0.0]


def test_masked_fill():
    x, y = inner(1.0, 2.0, 3.0)
    y.masked_fill_(torch.tensor([True, False, False]), 9.0)
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 1.0]


# -- views that must not be changed -------------------------------------------


@pytest.mark.parametrize("split", [lambda t: t.unbind(0), lambda t: t.split(1), lambda t: t.chunk(2)])
def test_one_of_many_views(split):
    _, y = inner(1.0, 2.0)
    a, _ = split(y)
    with pytest.raises(RuntimeError, match=r"output of a function that returns multiple views"):
        a.mul_(2)


def test_view_made_under_no_grad():
    _, y = inner(1.0, 2.0)
    with torch.no_grad():
        v = y[0]
    with pytest.raises(RuntimeError, match=r"created in no_grad mode"):
        v.mul_(2)


def test_detached_view_may_be_changed():
    x, y = inner(1.0, 2.0)
    y.detach().mul_(5)
    assert y.tolist() == [5.0, 10.0]
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


# -- out= ---------------------------------------------------------------------


def test_out_with_history():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"don't support automatic differentiation"):
        torch.add(x, 1, out=torch.empty(2))
    with pytest.raises(RuntimeError, match=r"don't support automatic differentiation"):
        torch.add(torch.ones(2), 1, out=torch.empty(2, requires_grad=True))
    with torch.no_grad():
        out = torch.empty(2)
        torch.add(x, 1, out=out)
    assert out.tolist() == [2.0, 2.0] and not out.requires_grad


# -- shape changes in place ---------------------------------------------------


def test_transpose_in_place():
    x = torch.arange(6.0, requires_grad=True)
    y = (x * 1).view(2, 3)
    y.t_()
    assert y.shape == (3, 2)
    (y * torch.arange(6.0).view(3, 2)).sum().backward()
    assert_close(x.grad, torch.arange(6.0).view(3, 2).t().reshape(6))


def test_unsqueeze_and_squeeze_in_place():
    t = torch.ones(2, 3)
    assert t.unsqueeze_(0).shape == (1, 2, 3)
    assert t.squeeze_().shape == (2, 3)


def test_detach_in_place():
    _, y = inner(1.0, 2.0)
    y.detach_()
    assert not y.requires_grad and y.is_leaf and y.grad_fn is None


def test_detach_of_a_view_in_place():
    _, y = inner(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"Can't detach views in-place"):
        y[0].detach_()


# -- views that nobody can follow ---------------------------------------------

BEHIND_ITS_BACK = "its base or another view of its base has been modified inplace"


def test_view_made_under_no_grad_after_its_base_changed():
    _, y = inner(1.0, 2.0)
    with torch.no_grad():
        v = y[0]
    y.mul_(2)
    for use in (lambda: v * 2, lambda: v.grad_fn, lambda: v.is_leaf):
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode and " + BEHIND_ITS_BACK):
            use()
    with torch.no_grad():
        assert (v * 2).item() == 4.0
    assert v.detach().item() == 2.0


@pytest.mark.parametrize("split", [lambda t: t.split(1), lambda t: t.unbind(), lambda t: t.chunk(2)])
def test_one_of_many_views_after_the_base_changed(split):
    _, y = inner(1.0, 2.0)
    v = split(y)[1]
    y.mul_(2)
    with pytest.raises(RuntimeError, match=r"Output 1 of \w+ is a view and " + BEHIND_ITS_BACK):
        v.sum()


def test_leaf_that_is_a_view():
    leaf = torch.tensor([1.0, 2.0]).view(2).requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        leaf[:1].mul_(2)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        leaf[0:0] += 1.0


def test_history_of_a_leaf_that_is_a_view_ends_when_its_base_changes():
    base = torch.tensor([1.0, 2.0])
    leaf = base.view(2).requires_grad_()
    v = leaf.view(2)
    base.mul_(2)
    assert v.grad_fn.name() == "AsStridedBackward0" and v.requires_grad
    assert v.grad_fn.next_functions == ((None, 0),)
    (v * 3).sum().backward()
    assert leaf.grad is None


def test_integers_have_no_history():
    x = torch.tensor(1.5, requires_grad=True)
    t = torch.zeros(2, dtype=torch.int64)
    t.copy_(x)
    t[0] = x * 2
    assert t.tolist() == [3, 1] and not t.requires_grad and t.is_leaf


def test_expanded_memory_filled_with_one_value():
    mask = torch.tensor([True, False, True])
    for write in (lambda t: t.masked_fill_(mask, 2.0), lambda t: t.index_fill_(0, torch.tensor([0]), 2.0)):
        t = torch.zeros(1).expand(3)
        with pytest.warns(UserWarning, match="on expanded tensors is deprecated"):
            write(t)
        assert t.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.zeros(1).expand(3).fill_(torch.tensor(2.0, requires_grad=True))


def test_assignment_to_itself_with_one_more_dimension():
    t = torch.arange(3.0)
    t[None] = t
    assert t.tolist() == [0.0, 1.0, 2.0]


def test_index_fill_counts_an_index_once():
    x = torch.tensor(2.0, requires_grad=True)
    t = torch.zeros(3).index_fill(0, torch.tensor([1, 1, 0]), x)
    t.sum().backward()
    assert x.grad.item() == 2.0


@pytest.mark.parametrize("index", [slice(None), slice(0, 3), slice(0, 9, 1)])
def test_slice_of_everything_is_a_slice(index):
    _, y = inner(1.0, 2.0, 3.0)
    assert y[index].grad_fn.name() == "SliceBackward0"


def test_resize_to_the_same_size_is_no_write():
    t = torch.zeros(2, 3)
    t.resize_(2, 3)
    assert t._version == 0
    t.resize_(3, 2)
    assert t.shape == (3, 2)


# ---- version counters ----


def test_set_keeps_the_counter():
    a, b = torch.zeros(3).add_(1), torch.ones(2)
    view = a[:1]
    a.set_(b)
    assert (a._version, b._version, view._version) == (2, 0, 2)
    a.add_(1)
    assert (a._version, b._version, view._version) == (3, 0, 3) and b.tolist() == [2, 2] and view.tolist() == [1]
    view.add_(1)
    assert (a._version, view._version) == (4, 4)


def test_other_data_keeps_the_counter():
    a, b = torch.zeros(3), torch.ones(2).add_(1)
    a.data = b
    a.add_(1)
    assert (a._version, b._version) == (1, 1)
    a.data = torch.zeros(4)
    assert a._version == 1
    parameter = torch.nn.Parameter(torch.zeros(2))
    view = parameter.detach()[:1]
    parameter.data = parameter.data + 1
    view.add_(1)
    assert (parameter._version, view._version) == (1, 1) and parameter.tolist() == [1, 1]


@pytest.mark.parametrize("split", [lambda t: t.unsafe_split(2), lambda t: t.unsafe_chunk(2), lambda t: t.unsafe_split_with_sizes([1, 3])])
def test_unsafe_parts_count_by_themselves(split):
    t = torch.zeros(4).add_(1)
    first, second = split(t)
    first.add_(1)
    assert (t._version, first._version, second._version) == (1, 1, 0) and not first._is_view()
    assert first[0]._base is first


def test_set_has_no_derivative():
    w = torch.ones(3, requires_grad=True)
    a = torch.zeros(2).set_(w)
    assert a.requires_grad and a.grad_fn.name() == "torch::autograd::NotImplemented"
    with pytest.raises(RuntimeError, match="derivative for set_ is not implemented"):
        a.sum().backward()
    y = w * 2
    view = y[:1]
    y.set_(torch.ones(5))
    with pytest.raises(RuntimeError, match="derivative for set_ is not implemented"):
        view.sum().backward()


# ---- views that cannot follow their base ----


def stale():
    base = torch.zeros(4)
    with torch.no_grad():
        view = base[:2]
    base.mul_(torch.ones(4, requires_grad=True))
    return view


def test_little_is_asked_of_a_view_that_cannot_follow():
    view = stale()
    view.retain_grad()
    view.requires_grad = True
    view.requires_grad = False
    view.requires_grad_(False)
    assert view.requires_grad and not view.retains_grad
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
        view.grad_fn


# ---- memory that is shared ----


def test_triangles_of_expanded_memory():
    assert torch.ones(1, 3).expand(3, 3).tril_()[0].tolist() == [1, 0, 0]
    assert torch.arange(1.0, 4).view(3, 1).expand(3, 3).triu_()[:, 0].tolist() == [1, 0, 0]


def test_no_gradient_of_a_write_to_expanded_memory():
    """One place has one gradient, several elements have several."""
    y = torch.ones(3, requires_grad=True) * 2
    y.expand(2, 3).triu_()
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        y.sum().backward()


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.add_(t[:1].view(())),
        lambda t: t.view(1, 1).mul_(t),
        lambda t: t.view(1, 1).copy_(t),
        lambda t: torch.exp(t, out=t.view(1, 1)),
    ],
)
def test_the_same_memory_under_other_strides(write):
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer to a single memory"):
        write(torch.ones(1))


def test_what_a_vmap_left_behind_changes_nothing_for_others():
    left = []
    torch.vmap(lambda x: (left.append(x), x)[1])(torch.ones(2))
    t = torch.ones(1)
    with pytest.raises(RuntimeError, match="refer to a single memory"):
        torch.exp(t, out=t.view(1, 1))


def test_memory_is_checked_before_shapes_and_dtypes():
    t = torch.ones(1).expand(3)
    for write in (
        lambda: t.add_(torch.ones(2, 3)),
        lambda: torch.ones(1, dtype=torch.int64).expand(3).exp_(),
        lambda: t.add_(torch.ones(4)),
    ):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            write()


def test_what_is_kept_has_the_shape_of_before():
    for whole in (lambda x: x * 2, lambda x: (x * 2)[:]):
        y = whole(torch.ones(2, 3, requires_grad=True))
        y.retain_grad()
        (y * y).sum().backward(retain_graph=True)
        y.t_()
        (y * y).sum().backward()
        assert y.grad.shape == (2, 3) and y.shape == (3, 2)


def test_a_function_that_writes_in_place_drops_the_gradient():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    y = torch.ones(2, requires_grad=True) * 1
    y.grad = torch.ones(2)
    Doubled.apply(y)
    assert y.grad is None
    leaf = torch.ones(2, requires_grad=True)
    leaf.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Doubled.apply(leaf)
    assert leaf.grad is not None


def test_as_strided_scatter_counts_from_the_start_of_the_memory():
    base = torch.arange(10.0, requires_grad=True)
    view = base[3:9]
    src = torch.full((2,), 9.0, requires_grad=True)
    out = torch.as_strided_scatter(view, src, (2,), (2,), 4)
    assert out.tolist() == [3, 9, 5, 9, 7, 8]
    (out * torch.arange(6.0)).sum().backward()
    assert base.grad.tolist() == [0, 0, 0, 0, 0, 2, 0, 4, 5, 0] and src.grad.tolist() == [1, 3]
    assert torch.as_strided_scatter(view.detach(), src.detach(), (2,), (2,), 1).tolist() == [9, 4, 5, 6, 7, 8]
    assert torch.as_strided_scatter(torch.ones(2, 3).t(), torch.zeros(2), (2,), (3,)).stride() == (1, 3)


def test_a_base_whose_elements_share_memory():
    t = torch.zeros(1, 2).expand(2, 2).detach()
    t[:1] = torch.ones((), requires_grad=True) * 3
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        (t * torch.arange(4.0).view(2, 2)).sum().backward()


def test_more_hooks_on_a_view_that_cannot_follow():
    y = torch.ones(2, requires_grad=True) * 1
    view = y.split(1)[0]
    view.register_hook(lambda grad: None)
    y.add_(1)
    view.register_hook(lambda grad: None)
