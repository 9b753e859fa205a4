"""nn.functional.interpolate, grid_sample, pad and their layers."""

import itertools

from tests.programs import differs


def _signals(torch, dims):
    shape = (2, 2, *((5,), (4, 5), (3, 4, 5))[dims - 1])
    count = 4
    for n in shape[2:]:
        count *= n
    return (torch.arange(count, dtype=torch.float64) * 7 % 13 - 5).reshape(shape).requires_grad_()


_MODES = {
    1: ("nearest", "nearest-exact", "linear"),
    2: ("nearest", "nearest-exact", "bilinear", "bicubic"),
    3: ("nearest", "nearest-exact", "trilinear"),
}


def _said(torch, *tensors):
    """Enough of each to tell it from others, and no more: outcomes are stored."""
    found = []
    for t in tensors:
        ramp = (torch.arange(t.numel(), dtype=torch.float64) * 0.618 % 1).reshape(t.shape)
        wide = t.detach().double()
        found += [tuple(t.shape), float((wide * ramp).sum()) + 0.0, float(wide.abs().sum())]
    return found


def _both(torch, show, y, *inputs):
    weights = (torch.arange(y.numel(), dtype=torch.float64) % 5 - 1.5).reshape(y.shape)
    show(_said(torch, y, *torch.autograd.grad((y * weights).sum(), inputs)), y.grad_fn.name())


def sizes_and_scales(torch, F, show):
    for dims, modes in _MODES.items():
        x = _signals(torch, dims)
        for mode in modes:
            for size in (1, 3, 5, 9, tuple((2, 7, 11)[:dims])):
                _both(torch, show, F.interpolate(x, size, mode=mode), x)
            for scale in (2, 0.6, 1.7, tuple((0.4, 2.3, 1.0)[:dims])):
                for recompute in (None, True):
                    _both(torch, show, F.interpolate(x, scale_factor=scale, mode=mode, recompute_scale_factor=recompute), x)


def aligned_corners(torch, F, show):
    for dims, modes in _MODES.items():
        x = _signals(torch, dims)
        for size in (1, 3, 5, 8):
            _both(torch, show, F.interpolate(x, size, mode=modes[2], align_corners=True), x)
            if dims == 2:
                _both(torch, show, F.interpolate(x, size, mode="bicubic", align_corners=True), x)
        _both(torch, show, F.interpolate(x, scale_factor=1.6, mode=modes[2], align_corners=True), x)


def antialiased(torch, F, show):
    x = _signals(torch, 2)
    for mode, size in itertools.product(("bilinear", "bicubic", "lanczos"), (1, 2, 3, 7, (2, 9))):
        _both(torch, show, F.interpolate(x, size, mode=mode, antialias=True), x)
    for mode in ("bilinear", "bicubic"):
        show(_said(torch, F.interpolate(x, 3, mode=mode, antialias=True, align_corners=True)))
        show(_said(torch, F.interpolate(x, scale_factor=0.4, mode=mode, antialias=True)))


def bytes_of_images(torch, F, show):
    for channels, last in itertools.product((2, 3, 5), (False, True)):
        x = (torch.arange(channels * 63) * 101 % 256).to(torch.uint8).reshape(1, channels, 7, 9)
        x = x.to(memory_format=torch.channels_last) if last else x
        for mode, antialias in itertools.product(("nearest", "nearest-exact", "bilinear", "bicubic"), (False, True)):
            if antialias and "nearest" in mode:
                continue
            for size in ((3, 4), (14, 9), (7, 20), (5, 11), (7, 9)):
                y = F.interpolate(x, size, mode=mode, antialias=antialias)
                show(_said(torch, y), y.stride())
            show(_said(torch, F.interpolate(x, scale_factor=1.1, mode=mode, antialias=antialias)))
        show(_said(torch, F.interpolate(x, (4, 11), mode="bilinear", align_corners=True)))
        show(_said(torch, F.interpolate(x, (4, 11), mode="lanczos", antialias=True)))
    for dims in (1, 3):
        show(F.interpolate(_signals(torch, dims).detach().abs().to(torch.uint8), 4))


def half_precision(torch, F, show):
    for dtype in (torch.float16, torch.bfloat16):
        for dims, modes in _MODES.items():
            x = _signals(torch, dims).detach().to(dtype).requires_grad_()
            for mode in modes[:3]:
                y = F.interpolate(x, scale_factor=2, mode=mode)
                show(_said(torch, y, *torch.autograd.grad(y.sum(), x)), y.dtype)


def layouts(torch, F, show):
    x = _signals(torch, 2).detach()
    for mode in _MODES[2]:
        for y in (x.to(memory_format=torch.channels_last), x.transpose(2, 3), x[:, :, ::2], x.expand(2, 2, 4, 5)[:, :1]):
            y = y.detach().requires_grad_()
            z = F.interpolate(y, (3, 7), mode=mode)
            show(_said(torch, z, *torch.autograd.grad(z.sum(), y)), z.stride())
    y = _signals(torch, 3).detach().to(memory_format=torch.channels_last_3d)
    for mode in ("nearest", "trilinear"):
        z = F.interpolate(y, (2, 5, 3), mode=mode)
        show(_said(torch, z), z.stride())


def interpolate_refusals(torch, F, attempt):
    x = _signals(torch, 2).detach()
    attempt(lambda: F.interpolate(x))
    attempt(lambda: F.interpolate(x, 3, 2))
    attempt(lambda: F.interpolate(x, (3,)))
    attempt(lambda: F.interpolate(x, (3, 4, 5)))
    attempt(lambda: F.interpolate(x, scale_factor=(2,)))
    attempt(lambda: F.interpolate(x, (3.5, 3)))
    attempt(lambda: F.interpolate(x, (0, 3)))
    attempt(lambda: F.interpolate(x, (-1, 3), mode="bilinear"))
    attempt(lambda: F.interpolate(x, scale_factor=0.1))
    attempt(lambda: F.interpolate(x, scale_factor=-1))
    attempt(lambda: F.interpolate(x, scale_factor=float("nan")))
    attempt(lambda: F.interpolate(x, scale_factor=1e30, mode="bicubic"))
    attempt(lambda: F.interpolate(x, 3, mode="some"))
    attempt(lambda: F.interpolate(x, 3, mode="linear"))
    attempt(lambda: F.interpolate(x, 3, mode="trilinear"))
    attempt(lambda: F.interpolate(x[0], 3, mode="bilinear"))
    attempt(lambda: F.interpolate(x[0], 3, mode="bicubic"))
    attempt(lambda: F.interpolate(x[0, 0], 3))
    attempt(lambda: F.interpolate(x[None, None], 3))
    attempt(lambda: F.interpolate(x, 3, align_corners=True))
    attempt(lambda: F.interpolate(x, 3, mode="nearest-exact", align_corners=False))
    attempt(lambda: F.interpolate(x, 3, mode="area", align_corners=False))
    attempt(lambda: F.interpolate(x, 3, mode="bilinear", recompute_scale_factor=True))
    attempt(lambda: F.interpolate(x, 3, antialias=True))
    attempt(lambda: F.interpolate(x[0], 3, mode="linear", antialias=True))
    attempt(lambda: F.interpolate(x, 3, mode="lanczos"))
    attempt(lambda: F.interpolate(x, 3, mode="lanczos", antialias=True, align_corners=True))
    attempt(lambda: F.interpolate(torch.randn(1, 0, 4, 5), 3))
    attempt(lambda: F.interpolate(torch.randn(1, 2, 0, 5), 3, mode="bicubic"))
    attempt(lambda: F.interpolate(torch.randn(0, 2, 4, 5), 3).shape)


def old_names(torch, F, show, attempt):
    x = _signals(torch, 2).detach()
    show(F.upsample(x, scale_factor=2), F.upsample(x, 3, mode="bilinear", align_corners=True))
    show(F.upsample_nearest(x, 3), F.upsample_bilinear(x, scale_factor=2))
    attempt(lambda: F.upsample_bilinear(x, 2, 2))


def layers(torch, nn, show):
    x = _signals(torch, 2).detach()
    for layer in (
        nn.Upsample(3),
        nn.Upsample((3, 4), mode="bilinear"),
        nn.Upsample(scale_factor=2),
        nn.Upsample(scale_factor=(2, 1.5), mode="bilinear", align_corners=True, recompute_scale_factor=True),
        nn.Upsample(scale_factor=0.7, mode="bicubic"),
        nn.UpsamplingNearest2d(scale_factor=2),
        nn.UpsamplingBilinear2d(4),
        nn.UpsamplingBilinear2d(scale_factor=(2, 2)),
    ):
        show(layer, layer.size, layer.scale_factor, layer.mode, layer.align_corners, layer.name, _said(torch, layer(x)))


def _points(torch, *shape):
    count = 1
    for n in shape:
        count *= n
    return (torch.arange(count, dtype=torch.float64) * 0.377 % 2.9 - 1.45).reshape(shape).requires_grad_()


def sampled_images(torch, F, show):
    x, grid = _signals(torch, 2), _points(torch, 2, 3, 4, 2)
    for mode, padding, align in itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)):
        _both(torch, show, F.grid_sample(x, grid, mode, padding, align), x, grid)


def sampled_volumes(torch, F, show):
    x, grid = _signals(torch, 3), _points(torch, 2, 2, 3, 2, 3)
    for mode, padding, align in itertools.product(("bilinear", "nearest"), ("zeros", "border", "reflection"), (False, True)):
        _both(torch, show, F.grid_sample(x, grid, mode, padding, align), x, grid)


def sampled_otherwise(torch, F, show):
    x, grid = _signals(torch, 2).detach(), _points(torch, 2, 3, 4, 2).detach()
    show(torch.grid_sampler(x, grid, 0, 1, True).round(decimals=9), torch.grid_sampler_2d(x, grid, 2, 2, False).round(decimals=9))
    show(F.grid_sample(x, grid).shape, F.grid_sample(x.to(memory_format=torch.channels_last), grid, align_corners=True).stride())
    show(F.grid_sample(x[:, :, :1, :1], grid, "bilinear", "reflection", True).round(decimals=9))
    theta = torch.tensor([[[0.8, -0.6, 0.1], [0.6, 0.8, -0.2]]], dtype=torch.float64).expand(2, 2, 3)
    show(F.grid_sample(x, F.affine_grid(theta, (2, 2, 3, 3), align_corners=False), align_corners=False).round(decimals=9))
    for dtype in (torch.float16, torch.bfloat16):
        show(F.grid_sample(x.to(dtype), (grid * 4).round().to(dtype) / 4, align_corners=True).dtype)
    far = torch.tensor([[[[1e30, 0.0], [0.0, -1e30], [3e9, 0.1]]]], dtype=torch.float64).expand(2, 1, 3, 2)
    for mode in ("bilinear", "nearest", "bicubic"):
        show(F.grid_sample(x, far, mode, "zeros", False))


def sampling_refusals(torch, F, attempt):
    x, grid = torch.randn(2, 2, 4, 5), torch.rand(2, 3, 3, 2)
    attempt(lambda: F.grid_sample(x, grid[:1], align_corners=False))
    attempt(lambda: F.grid_sample(x, grid[..., :1], align_corners=False))
    attempt(lambda: F.grid_sample(x, grid[:, 0], align_corners=False))
    attempt(lambda: F.grid_sample(x, grid[:, None], align_corners=False))
    attempt(lambda: F.grid_sample(x, grid, "some", align_corners=False))
    attempt(lambda: F.grid_sample(x, grid, "bilinear", "some", align_corners=False))
    attempt(lambda: F.grid_sample(x[:, :, None], torch.rand(2, 3, 3, 3, 3), "bicubic", align_corners=False))
    attempt(lambda: F.grid_sample(x[:, :, :0], grid, align_corners=False))
    attempt(lambda: F.grid_sample(x, grid.double(), align_corners=False))
    attempt(lambda: F.grid_sample(x.int(), grid.int(), align_corners=False))
    attempt(lambda: torch.grid_sampler_3d(x, grid, 0, 0, False))
    attempt(lambda: F.grid_sample(x[:, :0], grid, align_corners=False).shape)
    attempt(lambda: F.grid_sample(x, grid[:, :0], align_corners=False).shape)


def padded_images(torch, F, show):
    amounts = {1: ((1, 2), (-1, 3), (0, 0)), 2: ((1, 2, 3, 0), (-1, 2, 1, -2)), 3: ((1, 2, 0, 1, 2, 1), (-1, 1, 2, -1, 1, 1))}
    for dims, mode in itertools.product((1, 2, 3), ("constant", "reflect", "replicate", "circular")):
        x = _signals(torch, dims)
        for pad in amounts[dims]:
            for y in (x, x[0]):
                z = F.pad(y, pad, mode)
                show(_said(torch, z, *torch.autograd.grad(z.square().sum(), x)))
                if mode != "circular":
                    show(z.grad_fn.name())


def padding_refusals(torch, F, attempt, kind):
    x = torch.randn(2, 2, 4, 5)
    for mode in ("reflect", "replicate", "circular"):
        attempt(lambda: F.pad(x, (1, 1), mode))
        attempt(lambda: F.pad(x, (), mode))
        attempt(lambda: F.pad(x, (1, 1, 1), mode))
        kind(lambda: F.pad(x, (1.0, 1, 1, 1), mode))
        attempt(lambda: F.pad(x[0, 0, 0], (1, 1), mode))
        attempt(lambda: F.pad(x[:, :, :0], (1, 1, 1, 1), mode))
        attempt(lambda: F.pad(x, (6, 0, 0, 0), mode).shape)
        attempt(lambda: F.pad(x, (1, 1, 1, 1), mode, 2.5))
        kind(lambda: F.pad(x, (-4, -4, 0, 0), mode))
    attempt(lambda: F.pad(x, (1, 1), "some"))
    attempt(lambda: F.pad(x, (1,) * 10))


@differs("a mode or a padding that there is none of is refused; PyTorch computes something")
def numbers_out_of_range(torch, attempt):
    x, grid = torch.zeros(1, 1, 2, 2), torch.zeros(1, 1, 1, 2)
    attempt(lambda: torch.grid_sampler(x, grid, 5, 0, False).shape)
    attempt(lambda: torch.grid_sampler(x, grid, 0, 7, False).shape)
