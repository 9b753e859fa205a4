"""nn.grad: the gradients of convolutions as functions."""

import pytest


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1, "groups": 2}, {"dilation": 2}])
def test_they_are_what_autograd_computes(torch, dims, options):
    x = torch.randn(2, 4, *(6, 5, 7)[:dims], requires_grad=True)
    w = torch.randn(6, 4 // options.get("groups", 1), *(3, 2, 3)[:dims], requires_grad=True)
    out = getattr(torch.nn.functional, f"conv{dims}d")(x, w, **options)
    grad = torch.randn_like(out)
    of_x, of_w = torch.autograd.grad(out, (x, w), grad)
    torch.testing.assert_close(getattr(torch.nn.grad, f"conv{dims}d_input")(x.shape, w, grad, **options).detach(), of_x)
    torch.testing.assert_close(getattr(torch.nn.grad, f"conv{dims}d_weight")(x, w.shape, grad, **options).detach(), of_w)


def test_types_for_annotations(torch):
    types = torch.nn.common_types
    assert (
        str(types._size_2_t).replace("int | tuple[int, int]", "typing.Union[int, tuple[int, int]]") == "typing.Union[int, tuple[int, int]]"
    )
    assert types._ratio_any_t is not None
