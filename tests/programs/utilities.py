"""Small namespaces around the engine: quasirandom numbers, counters of operations."""


def sobol(torch, show, attempt, kind):
    Engine = torch.quasirandom.SobolEngine
    for dimension in (1, 3, 40):
        engine = Engine(dimension)
        show(engine, engine.draw(1), engine.draw(6), engine.num_generated)
        engine.fast_forward(3)
        show(engine.draw(2, dtype=torch.float64), engine.reset().draw(2))
    engine = Engine(3, scramble=True, seed=7)
    show(engine, engine.draw(4), engine.draw_base2(2), engine.reset().draw(1))
    kind(lambda: Engine(0))
    attempt(lambda: Engine(2).draw_base2(2))
    attempt(lambda: Engine(2).fast_forward(1).draw_base2(2))
    out = torch.empty(2, 2)
    show(Engine(2).draw(2, out=out) is out, out)


def _counted(torch, function):
    from importlib import import_module

    with import_module(f"{torch.__name__}.utils.flop_counter").FlopCounterMode(display=False) as counter:
        function()
    return {str(op): n for op, n in sorted(counter.get_flop_counts().get("Global", {}).items(), key=str)}


def flops(torch, nn, F, show):
    a, x, w = torch.ones(3, 4, requires_grad=True), torch.ones(2, 3, 9, requires_grad=True), torch.ones(4, 3, 3, requires_grad=True)
    show(
        _counted(torch, lambda: a @ a.t()),
        _counted(torch, lambda: (a @ a.t()).sum().backward()),
        _counted(torch, lambda: a @ torch.ones(4)),
    )
    show(
        _counted(torch, lambda: torch.bmm(a[None], a.t()[None])),
        _counted(torch, lambda: torch.baddbmm(torch.ones(1, 3, 3), a[None], a.t()[None])),
    )
    show(_counted(torch, lambda: F.linear(torch.ones(2, 5, 4), torch.ones(6, 4), torch.ones(6))))
    show(
        _counted(torch, lambda: F.conv1d(x, w)),
        _counted(torch, lambda: F.conv1d(x, w).sum().backward()),
        _counted(torch, lambda: F.conv1d(x, w, stride=2)),
    )
    t = torch.ones(3, 5, 4, requires_grad=True)
    show(
        _counted(torch, lambda: F.conv_transpose1d(x, t, stride=2)),
        _counted(torch, lambda: F.conv_transpose1d(x, t, stride=2).sum().backward()),
    )
    image, grouped = torch.ones(1, 4, 5, 5, requires_grad=True), torch.ones(6, 2, 3, 3, requires_grad=True)
    show(_counted(torch, lambda: F.conv2d(image, grouped, groups=2).sum().backward()))
    show(_counted(torch, lambda: nn.GRU(3, 4)(torch.ones(2, 1, 3))), _counted(torch, lambda: nn.LSTMCell(3, 4)(torch.ones(2, 3))))
    show(_counted(torch, lambda: torch.empty(3, 4, device="meta") @ torch.empty(4, 5, device="meta")))


def flops_by_module(torch, nn, show):
    from importlib import import_module

    counting = import_module(f"{torch.__name__}.utils.flop_counter")

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, padding=1)
            self.head = nn.Sequential(nn.Linear(64, 5), nn.ReLU(), nn.Linear(5, 2, bias=False))

        def forward(self, x):
            return self.head(self.conv(x).flatten(1))

    net = Net()
    with counting.FlopCounterMode(display=False) as counter:
        net(torch.ones(3, 3, 4, 4)).sum().backward()
    counts = counter.get_flop_counts()
    show(counter.get_total_flops(), {name: {str(op): n for op, n in sorted(counts[name].items(), key=str)} for name in sorted(counts)})

    with counting.FlopCounterMode(
        display=False, custom_mapping={torch.ops.aten.cos: lambda x, *args, out_shape=None, **kwargs: x.numel() * 7}
    ) as counter:
        torch.ones(3).cos()
    show(counter.get_total_flops())
    show(
        counting.sdpa_flop_count((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)),
        counting.sdpa_backward_flop_count((2, 3, 5, 6), (2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)),
    )
