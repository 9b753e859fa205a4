"""Pooling, forward and backward: over 4M elements, which is bytes over bandwidth, and over so few that only the overhead counts."""

from registry import case

LARGE = (16, 64, 64, 64)  # the floor is memory: each element read and its gradient written, and results with their places
SMALL = (1, 8, 8, 8)


def training(torch, pool, shape, memory_format=None):
    x = torch.randn(shape)
    x = (x if memory_format is None else x.contiguous(memory_format=memory_format)).requires_grad_()
    grad = torch.randn_like(pool(x))

    def step():
        x.grad = None
        pool(x).backward(grad)

    return step


def pools(torch):
    F = torch.nn.functional
    return {
        "max_pool2d 2": lambda x: F.max_pool2d(x, 2),
        "max_pool2d 3, stride 2": lambda x: F.max_pool2d(x, 3, 2, 1),
        "avg_pool2d 2": lambda x: F.avg_pool2d(x, 2),
        "avg_pool2d 3, stride 1": lambda x: F.avg_pool2d(x, 3, 1, 1),
        "adaptive_avg_pool2d 7": lambda x: F.adaptive_avg_pool2d(x, 7),
        "adaptive_avg_pool2d 1": lambda x: F.adaptive_avg_pool2d(x, 1),
        "adaptive_max_pool2d 7": lambda x: F.adaptive_max_pool2d(x, 7),
    }


NAMES = ("max_pool2d 2", "max_pool2d 3, stride 2", "avg_pool2d 2", "avg_pool2d 3, stride 1", "adaptive_avg_pool2d 7", "adaptive_avg_pool2d 1", "adaptive_max_pool2d 7")  # fmt: skip

for name in NAMES:

    @case(f"{name}, 16x64x64x64, forward + backward", target=1.3)
    def large(torch, name=name):
        return training(torch, pools(torch)[name], LARGE)


for name in ("max_pool2d 2", "avg_pool2d 2"):

    @case(f"{name}, 16x64x64x64, channels_last, forward + backward", target=1.3)
    def channels_last(torch, name=name):
        return training(torch, pools(torch)[name], LARGE, torch.channels_last)


@case("max_pool1d 2, 64x64x1024, forward + backward", target=1.3)
def signals(torch):
    return training(torch, lambda x: torch.nn.functional.max_pool1d(x, 2), (64, 64, 1024))


@case("max_pool3d 2, 8x32x16x32x32, forward + backward", target=1.3)
def volumes(torch):
    return training(torch, lambda x: torch.nn.functional.max_pool3d(x, 2), (8, 32, 16, 32, 32))


for name in ("max_pool2d 2", "avg_pool2d 2", "adaptive_avg_pool2d 7"):

    @case(f"{name}, 1x8x8x8, forward + backward", target=5)
    def small(torch, name=name):
        return training(torch, pools(torch)[name], SMALL)


@case("max_pool2d 2, 1x8x8x8, no_grad", target=5, under="no_grad")
def small_function(torch):
    x, pool = torch.randn(SMALL), torch.nn.functional.max_pool2d
    return lambda: pool(x, 2)
