"""Images: what the table and the programs do not say of them. Second derivatives and forward mode stand in the table."""

import itertools
import math

import pytest

import retrograd as torch
from retrograd.autograd import gradcheck, gradgradcheck
from retrograd.nn import functional as F

MODES = {
    3: ("nearest", "nearest-exact", "linear"),
    4: ("nearest", "nearest-exact", "bilinear", "bicubic"),
    5: ("nearest", "nearest-exact", "trilinear"),
}


def _image(*shape, **options):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True, **options)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(3, 3), (7, 9), (1, 1), (4, 11)])
def test_second_derivatives_in_every_mode(mode, size):
    x = _image(2, 2, 4, 5)
    assert gradcheck(lambda x: F.interpolate(x, size, mode=mode), x, check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(lambda x: F.interpolate(x, size, mode=mode), x, check_batched_grad=True)
    last = x.detach().to(memory_format=torch.channels_last).requires_grad_()
    assert gradcheck(lambda x: F.interpolate(x, size, mode=mode), last)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_second_derivatives_with_antialias(mode):
    x = _image(1, 2, 9, 7)
    assert gradcheck(lambda x: F.interpolate(x, (3, 4), mode=mode, antialias=True), x, check_forward_ad=True)
    assert gradgradcheck(lambda x: F.interpolate(x, (3, 4), mode=mode, antialias=True), x)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("align", [False, True])
def test_second_derivatives_of_sampled_images(mode, padding, align):
    x, grid = _image(2, 2, 4, 3), (torch.rand(2, 3, 2, 2, dtype=torch.float64) * 2.4 - 1.2).requires_grad_()

    def sample(x, grid):
        return F.grid_sample(x, grid, mode, padding, align)

    assert gradcheck(sample, (x, grid), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(sample, (x, grid), check_batched_grad=True)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_second_derivatives_of_sampled_volumes(padding):
    x, grid = _image(1, 2, 2, 3, 3), (torch.rand(1, 2, 2, 1, 3, dtype=torch.float64) * 2.4 - 1.2).requires_grad_()
    assert gradcheck(lambda x, g: F.grid_sample(x, g, "bilinear", padding, False), (x, grid), check_forward_ad=True)
    assert gradgradcheck(lambda x, g: F.grid_sample(x, g, "bilinear", padding, False), (x, grid))


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_second_derivatives_of_padding(mode, dims):
    x, pad = _image(*(2, 2, 3, 4, 3)[: dims + 2]), (2, 1, -1, 2, 1, 1)[: 2 * dims]
    assert gradcheck(lambda x: F.pad(x, pad, mode), x, check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(lambda x: F.pad(x, pad, mode), x)
    z = torch.randn(2, 2, 3, 4, 3, dtype=torch.complex128)[(slice(None),) * (dims + 2) + (0,) * (3 - dims)].requires_grad_()
    assert gradcheck(lambda z: F.pad(z, pad, mode), z)


def test_a_gradient_is_the_same_by_kernel_and_in_ops():
    for mode, padding, align in itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)):
        x, grid = _image(2, 3, 5, 4), (torch.rand(2, 6, 7, 2, dtype=torch.float64) * 5 - 2.5).requires_grad_()
        y = F.grid_sample(x, grid, mode, padding, align)
        by_kernel = torch.autograd.grad(y, (x, grid), torch.ones_like(y), retain_graph=True)
        in_ops = torch.autograd.grad(y, (x, grid), torch.ones_like(y), create_graph=True)
        for a, b in zip(by_kernel, in_ops, strict=True):
            torch.testing.assert_close(a, b)


def test_results_do_not_depend_on_the_number_of_threads():
    def run():
        torch.manual_seed(0)
        found = []
        for shape, mode in (
            ((2, 3, 90, 70), "bilinear"),
            ((2, 3, 90, 70), "bicubic"),
            ((2, 3, 90, 70), "nearest"),
            ((1, 1, 60000), "linear"),
        ):
            x = torch.randn(*shape, requires_grad=True)
            for scale in (2, 0.4):
                y = F.interpolate(x, scale_factor=scale, mode=mode)
                found += [y.detach(), torch.autograd.grad(y.square().sum(), x)[0]]
        x, grid = torch.randn(2, 5, 90, 70, requires_grad=True), (torch.rand(2, 80, 90, 2) * 2.2 - 1.1).requires_grad_()
        for mode in ("bilinear", "bicubic"):
            y = F.grid_sample(x, grid, mode, align_corners=False)
            found += [y.detach(), *torch.autograd.grad(y.square().sum(), (x, grid))]
        for mode in ("reflect", "replicate", "circular"):
            y = F.pad(x, (3, 2, 1, 4), mode)
            found += [y.detach(), *torch.autograd.grad(y.square().sum(), x)]
        bytes_ = (x.detach() * 50).clamp(0, 255).to(torch.uint8)
        return [*found, F.interpolate(bytes_, (200, 150), mode="bicubic"), F.interpolate(bytes_, (33, 20), mode="bilinear", antialias=True)]

    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = run()
        torch.set_num_threads(4)
        together = run()
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(a, b) for a, b in zip(alone, together, strict=True))


@pytest.mark.parametrize("ndim", [3, 4, 5])
def test_wide_images_are_computed_in_pieces(ndim):
    """A row that does not fit into one piece, against the same in several tensors."""
    lead = (1, 2, *(1,) * (ndim - 3))
    x = torch.randn(*lead, 40000, dtype=torch.float64, requires_grad=True)
    for mode in MODES[ndim]:
        size = (*(1,) * (ndim - 3), 90000)
        y = F.interpolate(x, size, mode=mode)
        flat = (
            F.interpolate(x.reshape(2, 1, 40000), 90000, mode={"bilinear": "linear", "trilinear": "linear"}.get(mode, mode))
            if mode != "bicubic"
            else None
        )
        if flat is not None:
            torch.testing.assert_close(y.flatten(), flat.flatten())
            a, b = (torch.autograd.grad(t.square().sum(), x)[0] for t in (y, flat))
            torch.testing.assert_close(a, b)


@pytest.mark.told("nan_origin", why="the gradient that is given")
def test_what_is_not_read_may_be_infinite():
    x = torch.zeros(1, 1, 1, 6)
    x[..., 5] = math.inf
    for mode in ("nearest", "bilinear", "bicubic"):
        assert F.interpolate(x, (1, 12), mode=mode)[..., :6].isfinite().all()
    grad = torch.zeros(1, 1, 1, 13)
    grad[..., 12] = math.nan
    x = torch.zeros(1, 1, 1, 6, requires_grad=True)
    F.interpolate(x, (1, 13), mode="bilinear").backward(grad)
    assert x.grad[..., :4].isfinite().all()


def test_points_that_are_nowhere():
    """nan and infinite places: no crash, and what lies outside is what it is for other places outside."""
    nan, inf = math.nan, math.inf
    places = torch.tensor([[[[nan, 0.0], [0.0, nan], [inf, 0.0], [-inf, 0.0], [0.0, inf], [1e30, 0.0], [0.0, -1e30]]]])
    x = torch.arange(1.0, 13).reshape(1, 1, 3, 4)
    for mode, padding, align in itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)):
        image, grid = x.clone().requires_grad_(), places.clone().requires_grad_()
        y = F.grid_sample(image, grid, mode, padding, align)
        torch.autograd.grad(y, (image, grid), torch.ones_like(y), create_graph=True)
        torch.autograd.grad(y, (image, grid), torch.ones_like(y))
        if mode == "bilinear" and padding == "border":
            assert y.flatten()[2:4].tolist() == [8.0, 5.0]
    volume = torch.randn(1, 1, 2, 3, 4)
    for padding in ("zeros", "border", "reflection"):
        F.grid_sample(volume, torch.full((1, 1, 1, 2, 3), nan), "bilinear", padding, False)


def test_half_precision_with_antialias():
    x = torch.randn(1, 2, 9, 8)
    for dtype in (torch.float16, torch.bfloat16):
        wide = F.interpolate(x.to(dtype).float(), (4, 3), mode="bicubic", antialias=True)
        torch.testing.assert_close(F.interpolate(x.to(dtype), (4, 3), mode="bicubic", antialias=True), wide.to(dtype))


def test_sampling_with_vmap():
    x, grid = torch.randn(3, 2, 2, 4, 5), torch.rand(3, 2, 3, 3, 2) * 2 - 1

    def sample(x, grid):
        return F.grid_sample(x, grid, align_corners=False)

    each = torch.stack([sample(a, b) for a, b in zip(x, grid, strict=True)])
    torch.testing.assert_close(torch.func.vmap(sample)(x, grid), each)
    torch.testing.assert_close(torch.func.vmap(sample, (0, None))(x, grid[0]), torch.stack([sample(a, grid[0]) for a in x]))
    torch.testing.assert_close(torch.func.vmap(sample, (None, 0))(x[0], grid), torch.stack([sample(x[0], g) for g in grid]))


@pytest.mark.parametrize("ndim", [3, 4, 5])
def test_area_is_the_mean_of_what_an_element_covers(ndim):
    x = _image(2, 3, *(6, 5, 7)[: ndim - 2])
    y = F.interpolate(x, scale_factor=0.5, mode="area")
    assert tuple(y.shape[2:]) == (3, 2, 3)[: ndim - 2]
    for i in itertools.product(*(range(n) for n in y.shape[2:])):
        covered = (slice(j * n // m, -(-(j + 1) * n // m)) for j, n, m in zip(i, x.shape[2:], y.shape[2:], strict=True))
        torch.testing.assert_close(y[(..., *i)], x[(..., *covered)].flatten(2).mean(-1))
    assert gradgradcheck(lambda x: F.interpolate(x, (2, 3, 2)[: ndim - 2], mode="area"), x)
