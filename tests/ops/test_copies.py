"""`<view>_copy`: what the view shows, in memory of its own."""

import pytest

import optable
import retrograd as torch

COPIES = sorted({e.name for e in optable.load() if e.doc.endswith("into memory of its own.")})
CALLS = {
    "alias_copy": (),
    "as_strided_copy": ((2, 2), (1, 3)),
    "detach_copy": (),
    "expand_copy": ((2, 2, 3),),
    "narrow_copy": (1, 0, 2),
    "permute_copy": ((1, 0),),
    "select_copy": (0, 1),
    "slice_copy": (1, 0, 2),
    "split_copy": (1,),
    "split_with_sizes_copy": ([1, 1],),
    "squeeze_copy": (),
    "t_copy": (),
    "transpose_copy": (0, 1),
    "unbind_copy": (1,),
    "unfold_copy": (1, 2, 1),
    "unsqueeze_copy": (0,),
    "view_as_complex_copy": (),
    "view_as_real_copy": (),
    "view_copy": ((3, 2),),
}


def given(name):
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3) + 1
    if name == "view_as_complex_copy":
        return x.reshape(3, 2).clone()
    return torch.complex(x, -x) if name == "view_as_real_copy" else x


def parts(result):
    return list(result) if isinstance(result, tuple) else [result]


def viewed(x, view, args):
    if view == "alias":
        return x
    if view == "slice":
        return x[:, args[1] : args[2]]
    return getattr(torch, view)(x, *args) if hasattr(torch, view) else getattr(x, view)(*args)


def test_every_copy_is_called_here():
    assert set(COPIES) == set(CALLS)


@pytest.mark.parametrize("name", COPIES)
def test_memory_of_its_own(name):
    x = given(name)
    copies = parts(getattr(torch, name)(x, *CALLS[name]))
    views = parts(viewed(x, name.removesuffix("_copy"), CALLS[name]))
    assert len(copies) == len(views)
    for copy, seen in zip(copies, views, strict=True):
        assert torch.equal(copy, seen)
        assert copy.is_contiguous()
        assert not copy._is_view()
        assert copy.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
        copy.zero_()
    assert torch.equal(x, given(name))


@pytest.mark.parametrize("name", [n for n in COPIES if n != "detach_copy"])
def test_gradients_go_through(name):
    x = given(name).requires_grad_()
    assert torch.autograd.gradcheck(lambda t: getattr(torch, name)(t, *CALLS[name]), (x,))
    assert torch.autograd.gradgradcheck(lambda t: getattr(torch, name)(t, *CALLS[name]), (x,))


def test_detach_copy_has_no_history():
    assert not torch.detach_copy(given("").requires_grad_()).requires_grad


@pytest.mark.parametrize("name", COPIES)
def test_out(name):
    x = given(name)
    expected = getattr(torch, name)(x, *CALLS[name])
    if isinstance(expected, tuple):
        out = [torch.empty(0, dtype=x.dtype) for _ in expected]
        assert getattr(torch, name)(x, *CALLS[name], out=out) is None
        assert all(torch.equal(a, b) for a, b in zip(out, expected, strict=True))
        with pytest.raises(RuntimeError, match=f"expected an out= argument of size {len(expected)}, got size 1"):
            getattr(torch, name)(x, *CALLS[name], out=out[:1])
        return
    out = torch.empty(0, dtype=expected.dtype)
    assert getattr(torch, name)(x, *CALLS[name], out=out) is out
    assert torch.equal(out, expected)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        getattr(torch, name)(x, *CALLS[name], out=torch.empty(0, dtype=torch.int8))


def test_conjugates_are_resolved():
    z = torch.complex(torch.ones(2, 2), torch.ones(2, 2))
    copy = torch.t_copy(z.conj())
    assert not copy.is_conj()
    assert torch.equal(copy, z.conj().t())


def test_view_copy_of_memory_that_has_no_such_view():
    assert torch.view_copy(torch.arange(6).reshape(2, 3).t(), (6,)).tolist() == [0, 3, 1, 4, 2, 5]


def test_under_vmap():
    x = torch.arange(24.0).reshape(2, 3, 4)
    assert torch.equal(torch.vmap(lambda t: torch.permute_copy(t, (1, 0)))(x), x.transpose(1, 2))


def test_what_is_not_a_tensor():
    with pytest.raises(TypeError, match=r"t_copy\(\): argument 'input' \(position 1\) must be Tensor, not int"):
        torch.t_copy(3)
