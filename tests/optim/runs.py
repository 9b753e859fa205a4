"""Short trainings and schedules, for the tests here and the file of values that goes with them.

Run as a program, this writes PyTorch's results to run_values.json.
"""

import importlib
import json
import pathlib
import warnings

VALUES = pathlib.Path(__file__).with_name("run_values.json")

OPTIMIZERS = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.8, "dampening": 0.3, "maximize": True}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05, "maximize": True, "betas": (0.5, 0.9), "eps": 1e-3}),
    ("Adam", {"lr": 0.05, "decoupled_weight_decay": True, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.05}),
    ("AdamW", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.2}),
    ("RMSprop", {"lr": 0.02}),
    ("RMSprop", {"lr": 0.02, "centered": True, "momentum": 0.9, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.02, "centered": True, "maximize": True, "alpha": 0.8}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    ("Adadelta", {"lr": 1.0}),
    ("Adadelta", {"lr": 0.5, "rho": 0.8, "weight_decay": 0.1}),
    ("Adamax", {"lr": 0.05}),
    ("Adamax", {"lr": 0.1, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.05}),
    ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "momentum_decay": 0.1}),
    ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.05}),
    ("RAdam", {"lr": 0.05, "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True, "betas": (0.8, 0.9)}),
    ("Rprop", {"lr": 0.05}),
    ("Rprop", {"lr": 0.05, "etas": (0.4, 1.3), "step_sizes": (1e-3, 0.1)}),
    ("ASGD", {"lr": 0.05}),
    ("ASGD", {"lr": 0.05, "t0": 5, "weight_decay": 0.1, "lambd": 0.1}),
    ("LBFGS", {"max_iter": 3}),
    ("LBFGS", {"lr": 0.5, "history_size": 2, "max_iter": 4}),
    ("LBFGS", {"line_search_fn": "strong_wolfe", "max_iter": 3}),
]


def setup(torch, name, options, dtype="float64"):
    """Two layers' worth of parameters, in two groups where the optimizer takes them, and a closure for the loss."""
    torch.manual_seed(0)
    dtype = getattr(torch, dtype)
    weight, bias = torch.nn.Parameter(torch.randn(4, 3, dtype=dtype)), torch.nn.Parameter(torch.randn(3, dtype=dtype))
    unused = torch.nn.Parameter(torch.zeros(2, dtype=dtype))
    x, y = torch.randn(5, 4, dtype=dtype), torch.randn(5, 3, dtype=dtype)
    groups = [{"params": [weight]}, {"params": [bias, unused], "lr": options.get("lr", 1) * 2}]
    optimizer = getattr(torch.optim, name)([weight, bias, unused] if name == "LBFGS" else groups, **options)

    def closure():
        optimizer.zero_grad()
        loss = ((torch.tanh(x @ weight) + bias - y) ** 2).mean()
        loss.backward()
        return loss

    return [weight, bias], optimizer, closure


def train(torch, name, options, steps=20, dtype="float64"):
    """The parameters after some steps."""
    params, optimizer, closure = setup(torch, name, options, dtype)
    for _ in range(5 if name == "LBFGS" else steps):
        optimizer.step(closure)
    return [v for p in params for v in p.detach().reshape(-1).tolist()], optimizer


def _decay(epoch):
    return 0.9**epoch


SCHEDULES = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, [_decay, lambda e: 1 / (1 + e)]),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95),
    "StepLR": lambda s, o: s.StepLR(o, 3),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 4, 4, 9], gamma=0.5),
    "ConstantLR": lambda s, o: s.ConstantLR(o),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.1, 0.7, 9),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5, 0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 2, 0.01),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3),
    "CyclicLR triangular2": lambda s, o: s.CyclicLR(o, [0.1, 0.2], [1.0, 2.0], 3, 4, mode="triangular2"),
    "CyclicLR exp_range": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, mode="exp_range", gamma=0.9),
    "CyclicLR scale_fn": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, scale_fn=lambda x: 0.8**x, scale_mode="iterations"),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 1.0, 31),
    "OneCycleLR three_phase": lambda s, o: s.OneCycleLR(
        o, [1.0, 2.0], epochs=8, steps_per_epoch=4, three_phase=True, anneal_strategy="linear"
    ),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 12, 2.0),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o), s.ExponentialLR(o, 0.9), s.CosineAnnealingLR(o, 7)], [3, 11]),
    "SequentialLR restarts": lambda s, o: s.SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 4), s.CosineAnnealingWarmRestarts(o, 3)], [4]),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.ConstantLR(o), s.ExponentialLR(o, 0.9)]),
}


def two_groups(torch, kind="SGD"):
    groups = [{"params": [torch.nn.Parameter(torch.ones(1))], "lr": 0.5}, {"params": [torch.nn.Parameter(torch.ones(1))]}]
    return getattr(torch.optim, kind)(groups, lr=0.1, **({"momentum": 0.9} if kind == "SGD" else {}))


def trace(torch, make, kind="SGD", steps=30):
    """What a schedule does to the rates and momenta of two groups."""
    optimizer = two_groups(torch, kind)
    scheduler = make(torch.optim.lr_scheduler, optimizer)
    rows = []
    for _ in range(steps):
        optimizer.step()
        scheduler.step()
        rows.append([v for g in optimizer.param_groups for v in (g["lr"], g["momentum"] if kind == "SGD" else g["betas"][0])])
    return rows, scheduler, optimizer


if __name__ == "__main__":
    oracle = importlib.import_module("torch")
    warnings.simplefilter("ignore")
    lines = [json.dumps([n, o, [float(f"{v:.12g}") for v in train(oracle, n, o)[0]]]) for n, o in OPTIMIZERS]
    rows = [
        f"{json.dumps(n)}: {json.dumps([[float(f'{v:.12g}') for v in r] for r in trace(oracle, m)[0][::3]])}" for n, m in SCHEDULES.items()
    ]
    VALUES.write_text('{"optimizers": [\n' + ",\n".join(lines) + '\n],\n"schedules": {\n' + ",\n".join(rows) + "\n}}\n")
