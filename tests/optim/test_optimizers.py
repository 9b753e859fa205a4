"""Each optimizer: the same numbers as PyTorch's, step by step, and the arguments it refuses."""

import importlib.util
import json
import pathlib

import pytest

import retrograd

_spec = importlib.util.spec_from_file_location("optim_runs", pathlib.Path(__file__).with_name("runs.py"))
runs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(runs)

STORED = json.loads(runs.VALUES.read_text())["optimizers"]
ids = [f"{name}-{'-'.join(options)}" for name, options in runs.OPTIMIZERS]


@pytest.mark.parametrize(("case", "stored"), list(zip(runs.OPTIMIZERS, STORED, strict=True)), ids=ids)
def test_stored(case, stored):
    assert stored[0] == case[0] and list(stored[1]) == list(case[1])
    assert runs.train(retrograd, *case)[0] == pytest.approx(stored[2], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", runs.OPTIMIZERS, ids=ids)
def test_live(oracle, case, dtype):
    ours, optimizer = runs.train(retrograd, *case, dtype=dtype)
    theirs, reference = runs.train(oracle, *case, dtype=dtype)
    tolerance = 1e-10 if dtype == "float64" else 1e-2 if case[0] == "LBFGS" else 2e-4
    assert ours == pytest.approx(theirs, rel=tolerance, abs=tolerance)
    assert repr(optimizer) == repr(reference)
    state, expected = optimizer.state_dict(), reference.state_dict()
    assert state["param_groups"] == expected["param_groups"]
    assert {k: set(v) for k, v in state["state"].items()} == {k: set(v) for k, v in expected["state"].items()}
    for key, values in expected["state"].items():
        for name, value in values.items():
            mine = state["state"][key][name]
            if case[0] == "LBFGS":
                continue  # numbers here may be tensors there
            if hasattr(value, "shape"):
                assert (tuple(mine.shape), str(mine.dtype)) == (tuple(value.shape), str(value.dtype)), name
            else:
                assert type(mine) is type(value), name


@pytest.mark.parametrize("case", [c for c in runs.OPTIMIZERS if c[0] != "LBFGS"], ids=lambda c: c[0])
def test_state_dict_continues(torch, case):
    whole, _ = runs.train(torch, *case, steps=6)
    params, optimizer, closure = runs.setup(torch, *case)
    for _ in range(3):
        optimizer.step(closure)
    saved, values = optimizer.state_dict(), [p.detach().clone() for p in params]
    params, optimizer, closure = runs.setup(torch, *case)
    with torch.no_grad():
        for p, v in zip(params, values, strict=True):
            p.copy_(v)
    optimizer.load_state_dict(saved)
    for _ in range(3):
        optimizer.step(closure)
    # State other than counts takes the dtype of the parameter, so NAdam's running product goes on in float64.
    assert [v for p in params for v in p.detach().reshape(-1).tolist()] == pytest.approx(whole, rel=1e-6 if case[0] == "NAdam" else 1e-12)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD"])
def test_rates_as_tensors(torch, name):
    expected, _ = runs.train(torch, name, {"lr": 0.125}, steps=3)
    params, optimizer, closure = runs.setup(torch, name, {"lr": 0.125})
    for group in optimizer.param_groups:
        group["lr"] = torch.tensor(group["lr"], dtype=torch.float64)
    for _ in range(3):
        optimizer.step(closure)
    assert [v for p in params for v in p.detach().reshape(-1).tolist()] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda o, p: o.SGD(p, lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda o, p: o.SGD(p, momentum=-1), ValueError, "Invalid momentum value: -1"),
        (lambda o, p: o.SGD(p, weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (lambda o, p: o.SGD(p, nesterov=True), ValueError, "Nesterov momentum requires a momentum and zero dampening"),
        (lambda o, p: o.SGD(p, fused=True, foreach=True), RuntimeError, "`fused` and `foreach` cannot be `True` together."),
        (lambda o, p: o.SGD(p, fused=True, differentiable=True), RuntimeError, "`fused` does not support `differentiable`"),
        (lambda o, p: o.Adam(p, lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda o, p: o.Adam(p, eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda o, p: o.Adam(p, betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (lambda o, p: o.Adam(p, betas=(0.9, -1)), ValueError, "Invalid beta parameter at index 1: -1"),
        (lambda o, p: o.AdamW(p, weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (lambda o, p: o.RMSprop(p, alpha=-1), ValueError, "Invalid alpha value: -1"),
        (lambda o, p: o.RMSprop(p, momentum=-1), ValueError, "Invalid momentum value: -1"),
        (lambda o, p: o.Adagrad(p, lr_decay=-1), ValueError, "Invalid lr_decay value: -1"),
        (lambda o, p: o.Adagrad(p, initial_accumulator_value=-1), ValueError, "Invalid initial_accumulator_value value: -1"),
        (lambda o, p: o.Adadelta(p, rho=2), ValueError, "Invalid rho value: 2"),
        (lambda o, p: o.Adamax(p, eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda o, p: o.NAdam(p, momentum_decay=-1), ValueError, "Invalid momentum_decay value: -1"),
        (lambda o, p: o.Rprop(p, etas=(2, 3)), ValueError, "Invalid eta values: 2, 3"),
        (lambda o, p: o.ASGD(p, weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (lambda o, p: o.LBFGS([{"params": p}, {"params": []}]), ValueError, "LBFGS doesn't support per-parameter options"),
    ],
)
def test_refusals(torch, call, kind, words):
    with pytest.raises(kind, match="^" + words.replace("(", r"\(").replace(")", r"\)")):
        call(torch.optim, [torch.nn.Parameter(torch.ones(1))])


def test_lbfgs_wants_a_known_line_search(torch):
    p = torch.nn.Parameter(torch.ones(1))
    (p**2).sum().backward()
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        torch.optim.LBFGS([p], line_search_fn="what").step(lambda: 1.0)


def test_lbfgs_minimises(torch):
    p = torch.nn.Parameter(torch.tensor([-1.5, 2.0], dtype=torch.float64))
    optimizer = torch.optim.LBFGS([p], line_search_fn="strong_wolfe", max_iter=60)

    def closure():
        optimizer.zero_grad()
        loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == pytest.approx(12.5)
    assert p.tolist() == pytest.approx([1.0, 1.0], abs=1e-5)


# -- steps that are recorded ------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
        ("Adam", {"lr": 0.1, "amsgrad": True}),
        ("AdamW", {"lr": 0.1}),
        ("RMSprop", {"lr": 0.1, "centered": True, "momentum": 0.9}),
        ("Adagrad", {"lr": 0.1}),
        ("Adadelta", {"lr": 0.5}),
        ("Adamax", {"lr": 0.1}),
        ("NAdam", {"lr": 0.1}),
        ("RAdam", {"lr": 0.1}),
        ("ASGD", {"lr": 0.1}),
    ],
)
def test_differentiable(name, options):
    """Three steps as a function of the parameter and of the gradients they see: its derivatives against differences."""
    torch = retrograd

    def after(start, *grads):
        p = start.clone()
        optimizer = getattr(torch.optim, name)([p], differentiable=True, **options)
        for grad in grads:
            p.grad = grad
            optimizer.step()
        return p

    values = [[1.0, -2.0], [0.5, 0.25], [-0.75, 1.0], [0.3, -0.6]]
    inputs = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
    weights = torch.tensor([1.0, 2.0], dtype=torch.float64)
    derivatives = torch.autograd.grad((after(*inputs) * weights).sum(), inputs)
    step = 1e-6
    for i, derivative in enumerate(derivatives):
        for j in range(2):
            ends = []
            for sign in (1, -1):
                moved = [list(v) for v in values]
                moved[i][j] += sign * step
                tensors = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in moved]
                ends.append((after(*tensors) * weights).sum().item())
            assert derivative[j].item() == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_rate_gets_a_gradient(torch, name):
    rate = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    p = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True).clone()
    optimizer = getattr(torch.optim, name)([p], lr=rate, differentiable=True)
    p.grad = torch.tensor([2.0, 4.0], dtype=torch.float64)
    optimizer.step()
    p.sum().backward()
    assert rate.grad.item() == pytest.approx(-6.0 if name == "SGD" else -2.0, rel=1e-4)
