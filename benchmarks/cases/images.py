"""Images in another size, sampled and padded: 4M elements, and small."""

from registry import case

RESIZED = {
    "nearest": {"scale_factor": 2, "mode": "nearest"},
    "bilinear": {"scale_factor": 2, "mode": "bilinear"},
    "bicubic": {"scale_factor": 2, "mode": "bicubic"},
    "bilinear, half the size": {"scale_factor": 0.5, "mode": "bilinear"},
    "bilinear, antialias, half the size": {"scale_factor": 0.5, "mode": "bilinear", "antialias": True},
}


def _differentiated(torch, function, *inputs):
    """forward + backward of a function, from a gradient of ones."""
    grad = torch.ones_like(function(*inputs))

    def run():
        for x in inputs:
            x.grad = None
        function(*inputs).backward(grad)

    return run


def _resized(options, shape):
    def setup(torch):
        x = torch.randn(*shape, requires_grad=True)
        return _differentiated(torch, lambda x: torch.nn.functional.interpolate(x, **options), x)

    return setup


for _name, _options in RESIZED.items():
    _shape = (4, 16, 256, 256) if _options["scale_factor"] < 1 else (4, 16, 128, 128)
    case(f"interpolate {_name}, 4M, forward + backward", target=1.3)(_resized(_options, _shape))
    case(f"interpolate {_name}, 1x4x8x8, forward + backward", target=5)(_resized(_options, (1, 4, 8, 8)))


def _sampled(mode, padding, shape, warped):
    def setup(torch):
        x = torch.randn(*shape, requires_grad=True)
        theta = torch.tensor([[[0.9, 0.2, 0.1], [-0.2, 0.9, 0.0]]]).expand(shape[0], 2, 3)
        grid = torch.nn.functional.affine_grid(theta, shape, align_corners=False).clone()
        if warped:
            grid += 0.05 * torch.randn(*grid.shape)
        grid.requires_grad_()
        sample = torch.nn.functional.grid_sample
        return _differentiated(torch, lambda x, grid: sample(x, grid, mode, padding, align_corners=False), x, grid)

    return setup


for _mode, _padding in (("bilinear", "zeros"), ("bilinear", "reflection"), ("nearest", "border"), ("bicubic", "zeros")):
    case(f"grid_sample {_mode} {_padding}, 4M, forward + backward", target=1.3)(_sampled(_mode, _padding, (4, 16, 256, 256), False))
    case(f"grid_sample {_mode} {_padding}, 1x4x8x8, forward + backward", target=5)(_sampled(_mode, _padding, (1, 4, 8, 8), False))
case("grid_sample bilinear zeros, scattered points, 4M, forward + backward", target=1.3)(
    _sampled("bilinear", "zeros", (4, 16, 256, 256), True)
)


def _padded(mode, shape):
    def setup(torch):
        x = torch.randn(*shape, requires_grad=True)
        return _differentiated(torch, lambda x: torch.nn.functional.pad(x, (2, 2, 2, 2), mode), x)

    return setup


for _mode in ("constant", "reflect", "replicate", "circular"):
    case(f"pad {_mode}, 4M, forward + backward", target=1)(_padded(_mode, (4, 16, 256, 256)))
    case(f"pad {_mode}, 1x4x8x8, forward + backward", target=5)(_padded(_mode, (1, 4, 8, 8)))
