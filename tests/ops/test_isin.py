"""isin in every dtype, by comparing with few values and by looking up among many."""

import pytest

import retrograd as torch

DTYPES = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint64", "float16", "bfloat16", "float32", "float64", "float8_e4m3fn")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "count"), [(7, 0), (16, 2), (600, 3), (40, 40), (900, 60)])
def test_what_python_finds(dtype, size, count):
    torch.manual_seed(0)
    wanted = torch.randint(0, 100, (size,)).to(torch.float32).to(getattr(torch, dtype))
    values = torch.randint(0, 100, (count,)).to(torch.float32).to(getattr(torch, dtype))
    known = set(values.to(torch.float32).tolist())
    expected = [x in known for x in wanted.to(torch.float32).tolist()]
    assert torch.isin(wanted, values).tolist() == expected
    assert torch.isin(wanted, values, invert=True).tolist() == [not x for x in expected]


def test_nan_is_not_even_itself():
    nan = float("nan")
    assert torch.isin(torch.tensor([nan, 1.0, -0.0]), torch.tensor([nan, 0.0])).tolist() == [False, False, True]


def test_samples_with_values_of_their_own():
    x, values = torch.arange(12).reshape(3, 4), torch.tensor([[0, 2], [5, 9], [8, 1]])
    expected = torch.stack([torch.isin(a, b) for a, b in zip(x, values, strict=True)])
    assert torch.vmap(torch.isin)(x, values).equal(expected)
    assert torch.vmap(torch.isin, (0, None))(x, values[1]).equal(torch.isin(x, values[1]))
