"""optim.swa_utils, and the newer optimizers' own words."""

import copy


def _swa(torch):
    return torch.optim.swa_utils


def _net(torch, nn):
    torch.manual_seed(0)
    return nn.Linear(2, 2)


def averaged_models(torch, nn, show, attempt):
    sw = _swa(torch)
    for options in (
        {},
        {"multi_avg_fn": sw.get_ema_multi_avg_fn(0.9)},
        {"avg_fn": sw.get_ema_avg_fn(0.9)},
        {"avg_fn": sw.get_swa_avg_fn()},
        {"multi_avg_fn": sw.get_swa_multi_avg_fn()},
        {"use_buffers": True},
        {"device": "cpu"},
        {"avg_fn": lambda average, current, n: average + current * n},
    ):
        m = _net(torch, nn)
        a = sw.AveragedModel(m, **options)
        for i in range(3):
            with torch.no_grad():
                m.weight.add_(i + 1.0)
            a.update_parameters(m)
        show(a, a.module.weight, a.n_averaged, a(torch.ones(1, 2)).detach(), list(a.state_dict()))
    show(copy.deepcopy(a).load_state_dict(a.state_dict()))
    attempt(lambda: sw.AveragedModel(m, avg_fn=1, multi_avg_fn=1))
    attempt(lambda: sw.get_ema_avg_fn(2.0))
    attempt(lambda: sw.get_ema_multi_avg_fn(-1.0))


def averaged_buffers(torch, nn, show):
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.ones(2))
            self.register_buffer("count", torch.tensor(3))
            self.w = nn.Parameter(torch.ones(1))

    for use_buffers in (False, True):
        m = Counting()
        a = _swa(torch).AveragedModel(m, use_buffers=use_buffers)
        for i in range(3):
            m.mean.add_(i + 1.0)
            m.count.add_(1)
            a.update_parameters(m)
        show(a.module.mean, a.module.count, a.n_averaged)


def annealing(torch, nn, show, attempt):
    SWALR = _swa(torch).SWALR
    for options in ({"anneal_epochs": 4}, {"anneal_epochs": 3, "anneal_strategy": "linear"}, {"anneal_epochs": 0}, {}):
        opt = torch.optim.SGD(_net(torch, nn).parameters(), lr=1.0)
        s = SWALR(opt, swa_lr=0.05, **options)
        rates = []
        for _ in range(6):
            opt.step()
            s.step()
            rates += s.get_last_lr()
        show(rates, s.state_dict())
    other = SWALR(torch.optim.SGD(_net(torch, nn).parameters(), lr=1.0), swa_lr=0.05)
    other.load_state_dict(s.state_dict())
    show(other.state_dict() == s.state_dict())
    attempt(lambda: SWALR(opt, 0.1, anneal_strategy="foo"))
    attempt(lambda: SWALR(opt, 0.1, anneal_epochs=-1))
    attempt(lambda: SWALR(opt, 0.1, anneal_epochs=1.5))
    attempt(lambda: SWALR(opt, [0.1, 0.2]))


def statistics_of_a_model_without_batch_norms(torch, nn, show):
    show(_swa(torch).update_bn([torch.ones(2, 2)], _net(torch, nn)))


def _steps(torch, q, opt, n=2):
    for i in range(n):
        opt.zero_grad()
        (q * q * (torch.arange(q.numel()).reshape(q.shape) - i)).sum().backward()
        opt.step()
    return q, dict(opt.state[q])


def adafactor(torch, nn, show, attempt):
    make = torch.optim.Adafactor
    for shape in ((2, 3), (3,), (), (2, 3, 2)):
        for options in (
            {},
            {"weight_decay": 0.1, "maximize": True},
            {"d": 2.0, "eps": (1e-3, 0.1), "beta2_decay": -0.5},
            {"lr": torch.tensor(0.1)},
        ):
            q = nn.Parameter((torch.arange(12.0)[: max(1, torch.Size(shape).numel())] / 6 + 0.1).reshape(shape))
            show(*_steps(torch, q, make([q], **options), 3))
    show(make([q]))
    for options in (
        {"lr": -1},
        {"beta2_decay": 1},
        {"eps": (-1, 1)},
        {"eps": (None, -1)},
        {"d": 0.5},
        {"weight_decay": -1},
        {"lr": torch.ones(2)},
    ):
        attempt(lambda: make([q], **options))
    q = nn.Parameter(torch.ones(2, 2, dtype=torch.complex64))
    q.grad = torch.ones(2, 2, dtype=torch.complex64)
    attempt(lambda: make([q]).step())


def muon(torch, nn, show, attempt):
    make = torch.optim.Muon
    for options in ({}, {"nesterov": False}, {"adjust_lr_fn": "match_rms_adamw"}, {"ns_steps": 1, "weight_decay": 0.0}, {"momentum": 0.0}):
        for shape in ((2, 3), (3, 2)):
            q = nn.Parameter(torch.arange(6.0).reshape(shape) / 6)
            _steps(torch, q, opt := make([q], lr=0.1, **options))
            show((q.detach() * 50).round(), opt.state[q]["momentum_buffer"])  # its iteration is in bfloat16
    show(make([q]))
    for options in ({"lr": -1}, {"momentum": -1}, {"weight_decay": -1}, {"adjust_lr_fn": "foo"}, {"lr": torch.ones(2)}):
        attempt(lambda: make([q], **options))
    attempt(lambda: make([nn.Parameter(torch.ones(2))]))
    attempt(lambda: _steps(torch, q, make([q], ns_steps=100)))
    attempt(lambda: _steps(torch, q, make([q], ns_coefficients=(1, 2))))


def sparse_adam_of_dense_gradients(torch, nn, show, attempt):
    make = torch.optim.SparseAdam
    q = nn.Parameter(torch.ones(2, 2))
    show(make([q]))
    attempt(lambda: _steps(torch, q, make([q])))
    for options in ({"lr": 0}, {"lr": -1}, {"eps": 0}, {"eps": -1}, {"betas": (1.0, 0.9)}, {"betas": (0.9, 1.0)}):
        attempt(lambda: make([q], **options))


def swapping_in(torch, nn, show, attempt):
    swapped = torch.optim.swap_in_optimizer_params_and_state
    m = _net(torch, nn)
    opt = torch.optim.Adam(m.named_parameters(), lr=0.1)
    given = {name: torch.zeros_like(p) for name, p in m.named_parameters()}
    attempt(lambda: swapped(opt, given, {"state": {}, "param_groups": opt.state_dict()["param_groups"]}).__enter__())
    m(torch.ones(1, 2)).sum().backward()
    opt.step()
    state, before = copy.deepcopy(opt.state_dict()), m.weight.detach().clone()
    for value in given.values():
        value.grad = torch.ones_like(value)
    with swapped(opt, given, state):
        show(opt.param_groups[0]["params"][0] is given["weight"], opt.state[given["weight"]]["exp_avg"] is state["state"][0]["exp_avg"])
        opt.step()
        opt.param_groups[0]["lr"] = 5
    show(given, torch.equal(before, m.weight), state["state"][0]["step"], opt.param_groups[0]["lr"], opt.state[m.weight]["step"])
    show(opt.param_groups[0]["params"][0] is m.weight)
    for wrong in (({"weight": given["weight"]}, state), (given, {}), (given, {"state": {}, "param_groups": []})):
        attempt(lambda: swapped(opt, *wrong).__enter__())
