"""Optimizers: what they keep and count."""

from importlib import import_module


def evaluations_of_lbfgs(torch, nn, show):
    for options in ({}, {"max_iter": 1}, {"line_search_fn": "strong_wolfe"}, {"max_eval": 3}):
        p = nn.Parameter(torch.tensor([3.0, -2.0], dtype=torch.float64))
        optimizer = torch.optim.LBFGS([p], lr=0.5, **{"max_iter": 4, **options})
        calls = []

        def closure(p=p, optimizer=optimizer, calls=calls):
            optimizer.zero_grad()
            loss = (p**4).sum() + p.prod()
            loss.backward()
            calls.append(loss.item())
            return loss

        for _ in range(3):
            optimizer.step(closure)
        state = optimizer.state[p]
        show(calls, state["func_evals"], state["n_iter"])


def betas_given_as_a_list(torch, nn, show):
    for name in ("Adam", "AdamW", "NAdam", "RAdam", "Adamax"):
        optimizer = getattr(torch.optim, name)([nn.Parameter(torch.ones(1))], betas=[0.8, 0.9])
        show(name, optimizer.defaults["betas"], optimizer.param_groups[0]["betas"])


def steps_without_an_optimizer(torch, show, attempt):
    adam, adamw, sgd = (getattr(import_module(f"{torch.__name__}.optim.{name}"), name) for name in ("adam", "adamw", "sgd"))
    for function in (adam, adamw):
        for amsgrad in (False, True):
            p, grads = [torch.ones(2)], [torch.tensor([0.5, -2.0])]
            mean, square, largest, step = ([torch.zeros(2)], [torch.zeros(2)], [torch.zeros(2)], [torch.tensor(0.0)])
            options = {"beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.2, "eps": 1e-8, "maximize": False}
            for _ in range(2):
                function(p, grads, mean, square, largest if amsgrad else [], step, amsgrad=amsgrad, **options)
            show(p, mean, square, largest, step)
    attempt(lambda: adam(p, grads, mean, square, [], [1], amsgrad=False, **options))
    buffers = [None]
    for momentum in (0.0, 0.9):
        for _ in range(2):
            sgd(p, grads, buffers, weight_decay=0.1, momentum=momentum, lr=0.1, dampening=0.0, nesterov=False, maximize=False)
        show(p, buffers)


def steps_without_an_optimizer_under_a_scaler(torch, show, attempt):
    adam, sgd = (getattr(import_module(f"{torch.__name__}.optim.{name}"), name) for name in ("adam", "sgd"))
    for given in ({"grad_scale": torch.tensor(2.0)}, {"found_inf": torch.tensor(1.0)}, {"found_inf": torch.tensor(0.0)}):
        for fused in (None, True):
            p, grads = [torch.ones(2)], [torch.full((2,), 4.0)]
            options = {"lr": 0.1, "weight_decay": 0.0, "maximize": False, "fused": fused, **given}
            attempt(lambda: sgd(p, grads, [None], momentum=0.0, dampening=0.0, nesterov=False, **options))
            show(p, grads)
            states = [[torch.zeros(2)], [torch.zeros(2)], [], [torch.tensor(0.0)]]
            attempt(lambda: adam(p, grads, *states, amsgrad=False, beta1=0.9, beta2=0.99, eps=1e-8, **options))
            show(p, grads, states)
