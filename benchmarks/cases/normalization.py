"""Normalisation, forward and backward: over 4M elements, which is bytes over bandwidth, and over so few that only the overhead counts."""

from registry import case

# In both layouts; the floor is memory: forward reads twice and writes, backward reads four times and writes.
LARGE = (16, 64, 64, 64)


def training(torch, module, x, memory_format=None):
    x = (x if memory_format is None else x.contiguous(memory_format=memory_format)).requires_grad_()
    grad = torch.randn_like(x)

    def step():
        x.grad = None
        module.zero_grad()
        module(x).backward(grad)

    return step


def norms(torch, channels):
    nn = torch.nn
    return {
        "BatchNorm2d": lambda: nn.BatchNorm2d(channels),
        "GroupNorm(8)": lambda: nn.GroupNorm(8, channels),
        "InstanceNorm2d": lambda: nn.InstanceNorm2d(channels, affine=True),
    }


for name in ("BatchNorm2d", "GroupNorm(8)", "InstanceNorm2d"):

    @case(f"{name} 16x64x64x64, forward + backward", target=1.3)
    def large(torch, name=name):
        return training(torch, norms(torch, 64)[name](), torch.randn(LARGE))


for name in ("BatchNorm2d", "GroupNorm(8)"):

    @case(f"{name} 16x64x64x64, channels_last, forward + backward", target=1.3)
    def channels_last(torch, name=name):
        return training(torch, norms(torch, 64)[name](), torch.randn(LARGE), torch.channels_last)


@case("BatchNorm1d 65536x64, forward + backward", target=1.3)
def rows(torch):
    return training(torch, torch.nn.BatchNorm1d(64), torch.randn(65536, 64))


@case("BatchNorm1d 4x4, forward + backward", target=5)
def small_batch(torch):
    return training(torch, torch.nn.BatchNorm1d(4), torch.randn(4, 4))


@case("GroupNorm(2) 4x4, forward + backward", target=5)
def small_group(torch):
    return training(torch, torch.nn.GroupNorm(2, 4), torch.randn(4, 4))


@case("batch_norm 4x4, no_grad", target=5, under="no_grad")
def small_function(torch):
    return "f(x, mean, var, training=True)", {
        "f": torch.nn.functional.batch_norm,
        "x": torch.randn(4, 4),
        "mean": torch.zeros(4),
        "var": torch.ones(4),
    }
