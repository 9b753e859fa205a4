"""Mixed precision: what autocast and the gradient scaler cost beside small ops."""

from registry import case


@case("autocast, 100 linear 4x4 with a kept weight", target=3)
def kept_weight(torch):
    linear, x = torch.nn.functional.linear, torch.randn(4, 4)
    weight, bias = torch.randn(4, 4, requires_grad=True), torch.randn(4, requires_grad=True)

    def block():
        with torch.autocast("cpu"):
            for _ in range(100):
                linear(x, weight, bias)

    return block


@case("MLP 16-32-32-1 step, autocast + GradScaler + SGD", target=3)
def scaled_step(torch):
    nn = torch.nn
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    criterion, x, target = nn.MSELoss(), torch.randn(8, 16), torch.randn(8, 1)
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.01), torch.amp.GradScaler("cpu")

    def step():
        optimizer.zero_grad()
        with torch.autocast("cpu"):
            loss = criterion(model(x), target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step
