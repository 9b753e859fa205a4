"""Methods of tensors that are no ops: dim_order, map2_, module_load, storage_type, const_data_ptr, __rdiv__; and frexp to the last bit."""

import math

import pytest

import retrograd as torch


@pytest.mark.parametrize(
    ("make", "order"),
    [
        (lambda: torch.ones(2, 3), (0, 1)),
        (lambda: torch.ones(2, 3).t(), (1, 0)),
        (lambda: torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last), (0, 2, 3, 1)),
        (lambda: torch.ones(3, 1, 4).transpose(0, 2), (2, 1, 0)),
        (lambda: torch.ones(2, 1, 2).transpose(0, 1), (0, 1, 2)),
        (lambda: torch.tensor(1.0), ()),
        (lambda: torch.ones(0, 3), (0, 1)),
    ],
)
def test_dim_order(make, order):
    assert make().dim_order() == order


def test_dim_order_that_is_not_unique():
    both = [torch.contiguous_format, torch.channels_last]
    assert torch.ones(2, 3).dim_order(ambiguity_check=True) == (0, 1)
    assert torch.ones(1, 3, 4, 5).dim_order(ambiguity_check=both) == (0, 1, 2, 3)
    for t, check in ((torch.ones(1, 3), True), (torch.ones(2, 1, 4, 5), both), (torch.ones(3, 1).expand(3, 4), True)):
        with pytest.raises(RuntimeError, match="The tensor does not have unique dim order"):
            t.dim_order(ambiguity_check=check)
    with pytest.raises(TypeError, match="The ambiguity_check argument must be a bool or a list of memory formats."):
        torch.ones(2).dim_order(ambiguity_check="a")


def test_map2():
    x = torch.arange(6.0).reshape(2, 3)
    assert x.map2_(x[0].clone(), torch.ones(()), lambda a, b, c: a + 10 * b + c) is x
    assert x.tolist() == [[1.0, 12.0, 23.0], [4.0, 15.0, 26.0]]
    with pytest.raises(RuntimeError, match=r"Can't call map2_\(\) on Variable that requires grad"):
        torch.ones(2, requires_grad=True).map2_(torch.ones(2), torch.ones(2), lambda a, b, c: a)
    with pytest.raises(TypeError, match="map2_: expected torch.FloatTensor for argument 'y'"):
        x.map2_(x, x.long(), lambda a, b, c: a)
    with pytest.raises(TypeError, match=r"map2_\(\): argument 'x' \(position 1\) must be Tensor, not int"):
        x.map2_(3, x, lambda a, b, c: a)


def test_module_load():
    p = torch.zeros(2)
    loaded = p.module_load(torch.ones(2, requires_grad=True))
    assert loaded is not p and loaded.tolist() == p.tolist() == [1.0, 1.0] and not loaded.requires_grad
    other = torch.ones(2)
    assert p.module_load(other, assign=True).data_ptr() == other.data_ptr()


def test_storage_type_and_address():
    assert torch.ones(2).storage_type() is torch.FloatStorage
    assert torch.ones(2).long().storage_type() is torch.LongStorage
    x = torch.ones(2)
    assert x.const_data_ptr() == x.data_ptr()


def test_rdiv():
    assert torch.tensor([2.0, 4.0]).__rdiv__(1).tolist() == [0.5, 0.25]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_frexp_is_exact(dtype):
    info = torch.finfo(dtype)
    values = [0.0, 1.0, -0.75, 3.0, info.max, -info.max, info.tiny, info.smallest_normal * info.eps, -info.tiny / 2, 1e-3]
    x = torch.tensor(values, dtype=dtype)
    mantissa, exponent = x.frexp()
    assert mantissa.dtype == dtype and exponent.dtype == torch.int32
    assert [math.frexp(v) for v in x.tolist()] == list(zip(mantissa.tolist(), exponent.tolist(), strict=True))


def test_frexp_out():
    x = torch.tensor([3.0])
    out = (torch.empty(0), torch.empty(0, dtype=torch.int32))
    assert torch.frexp(x, out=out)[0] is out[0]
    assert (out[0].item(), out[1].item()) == (0.75, 2)
    with pytest.raises(RuntimeError, match=r"torch.frexp\(\) expects exponent to have int dtype but got long"):
        torch.frexp(x, out=(torch.empty(0), torch.empty(0, dtype=torch.int64)))
