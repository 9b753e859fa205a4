"""Convolutions: layers of the sizes that networks have, forward alone and as training steps, and small networks."""

from registry import case

# name: (batch, in, out, sizes, kernel, stride, padding, dilation, groups, transposed)
LAYERS = {
    "3x3 64-64 56x56 b16": (16, 64, 64, (56, 56), 3, 1, 1, 1, 1, False),
    "3x3 256-256 14x14 b8": (8, 256, 256, (14, 14), 3, 1, 1, 1, 1, False),
    "depthwise 3x3 64 56x56 b16": (16, 64, 64, (56, 56), 3, 1, 1, 1, 64, False),
    "depthwise 3x3 256 14x14 b16": (16, 256, 256, (14, 14), 3, 1, 1, 1, 256, False),
    "1x1 64-256 56x56 b16": (16, 64, 256, (56, 56), 1, 1, 0, 1, 1, False),
    "1x1 512-128 14x14 b16": (16, 512, 128, (14, 14), 1, 1, 0, 1, 1, False),
    "strided 3x3 64-128 56x56 b16": (16, 64, 128, (56, 56), 3, 2, 1, 1, 1, False),
    "strided 3x3 128-128 28x28 b8": (8, 128, 128, (28, 28), 3, 2, 1, 1, 1, False),
    "dilated 3x3 64-64 56x56 b8": (8, 64, 64, (56, 56), 3, 1, 2, 2, 1, False),
    "dilated 3x3 128-128 28x28 b8": (8, 128, 128, (28, 28), 3, 1, 2, 2, 1, False),
    "grouped 3x3 256 in 32 28x28 b8": (8, 256, 256, (28, 28), 3, 1, 1, 1, 32, False),
    "grouped 3x3 128 in 4 28x28 b8": (8, 128, 128, (28, 28), 3, 1, 1, 1, 4, False),
    "1d k5 64-64 1024 b16": (16, 64, 64, (1024,), 5, 1, 2, 1, 1, False),
    "1d k3 16-32 256 b16": (16, 16, 32, (256,), 3, 1, 1, 1, 1, False),
    "3d 3x3x3 32-32 16x32x32 b2": (2, 32, 32, (16, 32, 32), 3, 1, 1, 1, 1, False),
    "3d 3x3x3 16-32 8x16x16 b2": (2, 16, 32, (8, 16, 16), 3, 1, 1, 1, 1, False),
    "transposed 4x4 128-64 16x16 b8": (8, 128, 64, (16, 16), 4, 2, 1, 1, 1, True),
    "transposed 3x3 64-32 32x32 b8": (8, 64, 32, (32, 32), 3, 2, 1, 1, 1, True),
}


def layer(torch, name):
    batch, inputs, outputs, sizes, kernel, stride, padding, dilation, groups, transposed = LAYERS[name]
    kind = getattr(torch.nn, f"Conv{'Transpose' * transposed}{len(sizes)}d")
    made = kind(inputs, outputs, kernel, stride=stride, padding=padding, dilation=dilation, groups=groups)
    return made, torch.randn(batch, inputs, *sizes, requires_grad=True)


def forward(name):
    def setup(torch):
        module, x = layer(torch, name)
        return lambda: module(x)

    return setup


def step(name):
    def setup(torch):
        module, x = layer(torch, name)
        grad = torch.ones_like(module(x))

        def run():
            x.grad = module.weight.grad = module.bias.grad = None
            module(x).backward(grad)

        return run

    return setup


for _name in LAYERS:
    _target = 1.1 if _name.startswith("3x3 64") else 1.0
    case(f"conv {_name}, forward", target=_target, under="no_grad")(forward(_name))
    case(f"conv {_name}, forward + backward", target=_target)(step(_name))


def network(torch, batch, side):
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
        nn.Conv2d(64, 64, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(64 * (side // 4) ** 2, 10),
    )  # fmt: skip
    optimizer, criterion = torch.optim.SGD(model.parameters(), lr=0.01), nn.CrossEntropyLoss()
    x, target = torch.randn(batch, 3, side, side), torch.randint(0, 10, (batch,))

    def train():
        optimizer.zero_grad()
        criterion(model(x), target).backward()
        optimizer.step()

    return train


@case("conv net 32x32 b32 step", target=1.3)
def cifar(torch):
    return network(torch, 32, 32)


@case("conv net 8x8 b1 step", target=4)
def small(torch):
    return network(torch, 1, 8)
