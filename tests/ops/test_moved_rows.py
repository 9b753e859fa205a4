"""Rows that are long, or lie a few elements from where they come from, are copied in ways of their own; so are reversed ones."""

import numpy
import pytest

import retrograd as torch

SHIFTS = [1, 3, 15, 16, 17, 63, 64, 65, -1, -40]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("width", [5, 2047, 2100, 5000])
def test_roll_and_flip(dtype, width):
    x = numpy.arange(4 * width).reshape(4, width).astype(dtype)
    moved = torch.tensor(x)
    for shift in SHIFTS:
        assert numpy.array_equal(moved.roll(shift, 1).numpy(), numpy.roll(x, shift, 1))
    assert numpy.array_equal(moved.flip(1).numpy(), x[:, ::-1])
    assert numpy.array_equal(moved.flip(0, 1).numpy(), x[::-1, ::-1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", [0, 1, 2, float("inf")])
@pytest.mark.parametrize("columns", [1, 3, 7, 8, 15, 16])
def test_distances_of_short_rows(columns, p, dtype):
    a, b = torch.randn(2, 37, columns, dtype=dtype), torch.randn(2, 70, columns, dtype=dtype)
    a[0, 5, 0] = float("nan")
    apart = (a.double().unsqueeze(2) - b.double().unsqueeze(1)).numpy()
    torch.testing.assert_close(
        torch.cdist(a, b, p).double(), torch.tensor(numpy.linalg.norm(apart, p, -1)), equal_nan=True, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.uint8])
def test_cubes_are_products(dtype):
    x = (torch.randn(5, 70) * 5).to(dtype).t()
    assert (x**3).equal(x * x * x)
    assert (x**3).stride() == x.stride()
    y = x.clone()
    assert y.pow_(3).equal(x * x * x)
    assert y.pow_(3) is y
