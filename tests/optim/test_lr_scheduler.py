"""Schedules: the same rates as PyTorch's, and their state, order and refusals."""

import importlib.util
import json
import pathlib
import warnings

import pytest

import retrograd

_spec = importlib.util.spec_from_file_location("optim_runs", pathlib.Path(__file__).with_name("runs.py"))
runs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(runs)

STORED = json.loads(runs.VALUES.read_text())["schedules"]


@pytest.mark.parametrize("name", runs.SCHEDULES)
def test_stored(name):
    rows = runs.trace(retrograd, runs.SCHEDULES[name])[0][::3]
    assert [v for r in rows for v in r] == pytest.approx([v for r in STORED[name] for v in r], rel=1e-10)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", runs.SCHEDULES)
def test_live(oracle, name, kind):
    """Bit for bit: a schedule is plain arithmetic."""
    rows, scheduler, _ = runs.trace(retrograd, runs.SCHEDULES[name], kind)
    expected, reference, _ = runs.trace(oracle, runs.SCHEDULES[name], kind)
    assert rows == expected
    assert scheduler.get_last_lr() == reference.get_last_lr()
    assert scheduler.state_dict() == reference.state_dict()


@pytest.mark.parametrize("name", runs.SCHEDULES)
def test_resume(torch, name):
    make = runs.SCHEDULES[name]
    _, scheduler, optimizer = runs.trace(torch, make, steps=10)
    other = runs.two_groups(torch)
    resumed = make(torch.optim.lr_scheduler, other)
    resumed.load_state_dict(scheduler.state_dict())
    other.load_state_dict(optimizer.state_dict())
    other.step()
    for _ in range(5):
        optimizer.step()
        scheduler.step()
        resumed.step()
        assert [g["lr"] for g in optimizer.param_groups] == [g["lr"] for g in other.param_groups]


@pytest.mark.parametrize("name", ["StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "CosineAnnealingLR", "PolynomialLR"])
def test_step_with_an_epoch(name):
    """The closed form agrees with stepping."""
    rows, _, _ = runs.trace(retrograd, runs.SCHEDULES[name], steps=12)
    optimizer = runs.two_groups(retrograd)
    scheduler = runs.SCHEDULES[name](retrograd.optim.lr_scheduler, optimizer)
    optimizer.step()
    for epoch in (5, 12, 1):
        with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step"):
            scheduler.step(epoch)
        assert optimizer.param_groups[0]["lr"] == pytest.approx(rows[epoch - 1][0])


def test_warm_restarts_take_fractions(torch):
    optimizer = runs.two_groups(torch)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2, 2)
    scheduler.step(0.5)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * (1 + 2**-0.5) / 2)
    scheduler.step(4)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 2},
        {"mode": "max", "patience": 1, "cooldown": 2, "factor": 0.5, "min_lr": [0.2, 0.01]},
        {"threshold_mode": "abs", "threshold": 0.1, "patience": 0},
    ],
)
def test_plateau_live(oracle, options):
    results = []
    for torch in (retrograd, oracle):
        optimizer = runs.two_groups(torch)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        rows = []
        for i in range(25):
            scheduler.step([1, 0.9, 0.95, 0.8, 0.85, 0.84, 0.84, 0.9][i % 8])
            rows.append([g["lr"] for g in optimizer.param_groups])
        results.append((rows, scheduler.state_dict(), scheduler.get_last_lr()))
    assert results[0] == results[1]


def test_plateau(torch):
    optimizer = runs.two_groups(torch)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    rates = []
    for loss in (torch.tensor(1.0), 0.9, 0.9, 0.9, 0.9, 0.1):
        scheduler.step(loss)
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == [0.5, 0.5, 0.5, 0.25, 0.25, 0.25]


def test_first_step_happens_at_once(torch):
    optimizer = runs.two_groups(torch)
    torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5)
    assert [g["lr"] for g in optimizer.param_groups] == [0.25, 0.05]
    assert [g["initial_lr"] for g in optimizer.param_groups] == [0.5, 0.1]


def test_rate_that_is_a_tensor_stays_one(torch):
    rate = torch.tensor(0.5)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=rate)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.25


def messages(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught]


def test_warnings(torch):
    schedulers = torch.optim.lr_scheduler
    scheduler = schedulers.StepLR(runs.two_groups(torch), 1)
    assert "Detected call of `lr_scheduler.step()` before `optimizer.step()`" in messages(scheduler.step)[0]
    assert messages(scheduler.get_lr) == ["To get the last learning rate computed by the scheduler, please use `get_last_lr()`."]
    optimizer = runs.two_groups(torch)
    scheduler = schedulers.StepLR(optimizer, 1)
    optimizer.step()
    assert messages(scheduler.step) == []


def test_callable_objects_are_saved(torch):
    class Factor:
        def __init__(self, value):
            self.value = value

        def __call__(self, epoch):
            return self.value

    a = torch.optim.lr_scheduler.LambdaLR(runs.two_groups(torch), Factor(0.5))
    b = torch.optim.lr_scheduler.LambdaLR(runs.two_groups(torch), Factor(0.1))
    b.load_state_dict(a.state_dict())
    assert b.lr_lambdas[0].value == 0.5


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda s, o: s.StepLR(3, 1), TypeError, "int is not an Optimizer"),
        (lambda s, o: s.LambdaLR(o, [lambda e: 1]), ValueError, "Expected 2 lr_lambdas, but got 1"),
        (lambda s, o: s.MultiplicativeLR(o, 3), TypeError, "lr_lambda should be a function, but got int"),
        (lambda s, o: s.ConstantLR(o, 2.0), ValueError, "Constant multiplicative factor expected to be between 0 and 1"),
        (lambda s, o: s.LinearLR(o, 0), ValueError, "Starting multiplicative factor expected to be greater than 0"),
        (lambda s, o: s.LinearLR(o, 0.5, 2), ValueError, "Ending multiplicative factor expected to be between 0 and 1"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), ValueError, "Expected positive integer T_0, but got 0"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 0.5), ValueError, "Expected integer T_mult >= 1, but got 0.5"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 2).step(-1), ValueError, "Expected non-negative epoch, but got -1"),
        (lambda s, o: s.OneCycleLR(o, 1.0), ValueError, "You must define either total_steps OR"),
        (lambda s, o: s.OneCycleLR(o, 1.0, 0), ValueError, "Expected positive integer total_steps, but got 0"),
        (lambda s, o: s.OneCycleLR(o, 1.0, 5, pct_start=2.0), ValueError, "Expected float between 0 and 1 pct_start, but got 2.0"),
        (
            lambda s, o: s.OneCycleLR(o, 1.0, 5, anneal_strategy="x"),
            ValueError,
            "anneal_strategy must be one of 'cos' or 'linear', instead got x",
        ),
        (lambda s, o: s.OneCycleLR(o, [1.0], 5), ValueError, "max_lr must have the same length as optimizer.param_groups"),
        (lambda s, o: [s.OneCycleLR(o, 1.0, 1), s.OneCycleLR(o, 1.0, 3)][1]._update_lr(9), ValueError, "Tried to step 9 times"),
        (lambda s, o: s.CyclicLR(o, 0.1, 1.0, mode="x"), ValueError, "mode is invalid and scale_fn is None"),
        (lambda s, o: s.CyclicLR(o, [0.1], 1.0), ValueError, "base_lr must have the same length as optimizer.param_groups"),
        (lambda s, o: s.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor should be < 1.0"),
        (lambda s, o: s.ReduceLROnPlateau(o, "x"), ValueError, "mode x is unknown!"),
        (lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="x"), ValueError, "threshold mode x is unknown!"),
        (lambda s, o: s.ReduceLROnPlateau(o, min_lr=[1]), ValueError, "expected 2 min_lrs, got 1"),
        (lambda s, o: s.SequentialLR(o, [], []), ValueError, "SequentialLR expects at least one scheduler, but got no scheduler"),
        (
            lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [1]),
            ValueError,
            "number of schedulers provided to be one more than the number of milestone",
        ),
        (lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []), ValueError, "SequentialLR does not support `ReduceLROnPlateau`"),
        (lambda s, o: s.ChainedScheduler([]), ValueError, "ChainedScheduler expects at least one scheduler to be chained"),
        (lambda s, o: s.StepLR(o, 1, last_epoch=3), KeyError, "param 'initial_lr' is not specified in param_groups"),
    ],
)
def test_refusals(torch, call, kind, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(kind, match=words):
            call(torch.optim.lr_scheduler, runs.two_groups(torch))


def test_momentum_is_needed_to_cycle_it(torch):
    optimizer = torch.optim.Adagrad([torch.nn.Parameter(torch.ones(1))])
    for make in (lambda s: s.CyclicLR(optimizer, 0.1, 1.0), lambda s: s.OneCycleLR(optimizer, 1.0, 5)):
        with pytest.raises(ValueError, match="optimizer must support momentum or beta1 with `cycle_momentum` option enabled"):
            make(torch.optim.lr_scheduler)
