"""torch.signal.windows, torch.*_window and affine_grid."""

import importlib


def _windows(torch):
    return importlib.import_module(f"{torch.__name__}.signal.windows")


def symmetric_and_periodic(torch, show):
    W = _windows(torch)
    show(sorted(W.__all__))
    for name in sorted(W.__all__):
        options = {"a": [0.5, 0.3, 0.2]} if name == "general_cosine" else {}
        for M in (0, 1, 2, 5, 6):
            for sym in (True, False):
                made = getattr(W, name)(M, sym=sym, dtype=torch.float64, **options)
                show(name, M, sym, made.round(decimals=9) + 0.0)
        show(getattr(W, name)(3, **options).dtype, getattr(W, name)(3, device="meta", **options).shape)


def options(torch, show):
    W, f64 = _windows(torch), torch.float64
    show(W.exponential(5, tau=2.0, dtype=f64), W.exponential(5, center=1, sym=False, dtype=f64), W.gaussian(5, std=2.0, dtype=f64))
    show(W.kaiser(5, beta=3.0, dtype=f64), W.general_hamming(5, alpha=0.3, dtype=f64), W.general_cosine(4, a=[1.0], dtype=f64))
    show(W.hann(4, requires_grad=True).requires_grad)


def refusals(torch, attempt, kind):
    W = _windows(torch)
    for name in ("bartlett", "cosine", "exponential", "gaussian", "kaiser", "hann"):
        f = getattr(W, name)
        attempt(lambda: f(-1))
        attempt(lambda: f(3, dtype=torch.float16))
        attempt(lambda: f(3, dtype=torch.int64))
        attempt(lambda: f(3, layout=torch.sparse_coo))
        kind(lambda: f(3.5))
    attempt(lambda: W.exponential(3, tau=-1))
    attempt(lambda: W.exponential(3, center=1))
    attempt(lambda: W.gaussian(3, std=0))
    attempt(lambda: W.kaiser(3, beta=-1.0))
    attempt(lambda: W.general_cosine(3, a=[]))
    attempt(lambda: W.general_cosine(3, a=3))


def affine_grids(torch, F, show, attempt):
    theta = torch.tensor([[[1.0, 0.2, 0.5], [0.1, 1.0, 0.0]]], dtype=torch.float64, requires_grad=True)
    for align in (True, False):
        grid = F.affine_grid(theta, (1, 1, 2, 3), align_corners=align)
        show(grid.detach(), torch.autograd.grad(grid.square().sum(), theta))
    show(F.affine_grid(torch.ones(2, 3, 4), (2, 1, 2, 3, 2), align_corners=False))
    show(F.affine_grid(theta, (1, 1, 1, 1), align_corners=True).detach(), F.affine_grid(theta.detach(), (1, 1, 1, 2)))
    attempt(lambda: F.affine_grid(theta, (1, 1, 2), align_corners=True))
    attempt(lambda: F.affine_grid(theta, (1, 1, 2, 3, 4), align_corners=True))
    attempt(lambda: F.affine_grid(theta, (1, 1, 0, 3), align_corners=True))
    attempt(lambda: F.affine_grid(theta.long(), (1, 1, 2, 3), align_corners=True))
    attempt(lambda: F.affine_grid(theta[0], (1, 1, 2, 3), align_corners=True))


def shuffled_images_in_channels_last(torch, F, show):
    x = torch.arange(32.0).reshape(2, 4, 2, 2).to(memory_format=torch.channels_last)
    for y in (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), F.channel_shuffle(x, 2), F.pixel_shuffle(x, 1), F.channel_shuffle(x, 4)):
        show(y, y.stride(), y.data_ptr() == x.data_ptr())
