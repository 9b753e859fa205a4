"""nn.functional.pad in every mode, over shapes and amounts."""

_MODES = ("constant", "reflect", "replicate", "circular")
_PADS = ((1, 1), (2, 0), (0, 2), (-1, 1), (-1, -1), (0, 0), (1, 1, 1, 0), (0, 0, -1, 1), (2, 1, 0, 1, 1, 0))


def values(torch, F, show, attempt):
    for shape in ((4,), (2, 4), (2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 2, 3)):
        x = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
        for pad in _PADS:
            for mode in _MODES:
                attempt(lambda: F.pad(x, pad, mode), shape, pad, mode)


def gradients(torch, F, show):
    x = torch.arange(24.0).reshape(1, 2, 3, 4).requires_grad_()
    for pad in ((1, 2, 1, 0), (-1, 1, 1, -1)):
        for mode in _MODES:
            y = F.pad(x, pad, mode)
            show(pad, mode, torch.autograd.grad((y * torch.arange(y.numel()).reshape(y.shape)).sum(), x))


def memory_of_its_own(torch, F, show):
    x = torch.arange(6.0).reshape(1, 2, 3)
    for mode in _MODES:
        show(mode, F.pad(x, (0, 0), mode).data_ptr() == x.data_ptr(), F.pad(x, (-1, 0), mode).data_ptr() == x.data_ptr() + 4)


def refusals(torch, F, attempt):
    x = torch.arange(6.0).reshape(1, 2, 3)
    for mode in _MODES:
        for shape, pad in (((2, 4), (5, 0)), ((2, 4), (-3, -3)), ((2, 4), (1,)), ((2, 3, 4), (1, 1, 1, 1, 1, 1, 1, 1)), ((2, 4), ())):
            attempt(lambda: F.pad(torch.ones(shape), pad, mode), shape, pad, mode)
        attempt(lambda: F.pad(torch.ones(2, 0, 4), (1, 1), mode))
        attempt(lambda: F.pad(torch.ones(0, 2, 4), (1, 1), mode).shape)
    attempt(lambda: F.pad(x, (1, 1), "foo"))
    attempt(lambda: F.pad(x, (1, 1), "reflect", 5))
    attempt(lambda: F.pad(x > 2, (1, 1), "constant", True))
    attempt(lambda: F.pad(x.long(), (1, 1), "circular"))
