"""Short runs with every optimizer and every scheduler, the same in both libraries: what the exchange of their states is tested with."""

import warnings

OPTIMIZERS = {
    "Adadelta": {},
    "Adafactor": {},
    "Adagrad": {"lr_decay": 0.1},
    "Adam": {"amsgrad": True},
    "AdamW": {"amsgrad": True},
    "Adamax": {},
    "ASGD": {"t0": 1},
    "LBFGS": {"line_search_fn": "strong_wolfe", "max_iter": 3},
    "Muon": {},
    "NAdam": {},
    "RAdam": {},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "Rprop": {},
    "SGD": {"momentum": 0.9, "nesterov": True},
    "SparseAdam": {},
}


def optimizer_run(torch, kind):
    """A model with its optimizer."""
    torch.manual_seed(0)
    if kind == "SparseAdam":
        model = torch.nn.Embedding(5, 3, sparse=True)
    else:
        model = torch.nn.Linear(4, 4, bias=kind != "Muon")
    model = model.double()
    return model, getattr(torch.optim, kind)(model.parameters(), lr=0.05, **OPTIMIZERS[kind])


def train(torch, model, optimizer, steps):
    def closure():
        optimizer.zero_grad()
        inputs = torch.arange(8.0, dtype=torch.float64).reshape(2, 4) / 8
        given = torch.tensor([0, 2, 2]) if isinstance(model, torch.nn.Embedding) else inputs
        loss = ((model(given) - 1) ** 2).sum()
        loss.backward()
        return loss

    for _ in range(steps):
        if isinstance(optimizer, torch.optim.LBFGS):
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()


SCHEDULERS = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.9**epoch),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9),
    "StepLR": lambda s, o: s.StepLR(o, 2),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 4, 5]),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.5, 4),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.2, 1, 5),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.8),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)], [4]),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5, 0.01),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 4), s.ExponentialLR(o, 0.9)]),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, patience=1, cooldown=1),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, mode="exp_range", gamma=0.9),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 2),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.3, total_steps=12),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 6, 2.0),
}


def scheduler_run(torch, kind):
    """An optimizer of two groups with its scheduler."""
    groups = [{"params": [torch.nn.Parameter(torch.ones(2))]}, {"params": [torch.nn.Parameter(torch.ones(2))], "lr": 0.2}]
    optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return optimizer, SCHEDULERS[kind](torch.optim.lr_scheduler, optimizer)


def schedule(optimizer, scheduler, steps):
    """Learning rates and momenta, step by step."""
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's of an epoch argument that SequentialLR passes on
        for _ in range(steps):
            optimizer.step()
            scheduler.step(*([1.0] if type(scheduler).__name__ == "ReduceLROnPlateau" else []))
            seen.append([[group["lr"], group["momentum"]] for group in optimizer.param_groups])
    return seen
