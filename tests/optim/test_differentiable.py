"""Steps that are recorded (differentiable=True): gradients through several of them, against differences."""

import itertools

import pytest

import retrograd as torch
from retrograd import optim
from retrograd.autograd import gradcheck
from retrograd.testing import assert_close

FLAGS = ("maximize", "amsgrad", "nesterov", "decoupled_weight_decay", "centered", "t0")

CASES = [
    *((c, {"betas": (0.8, 0.9), "weight_decay": d, "amsgrad": a}) for c in (optim.Adam, optim.AdamW) for d in (0, 0.05) for a in (False, True)),
    *((optim.SGD, {"weight_decay": d, **o}) for d in (0, 0.05) for o in (
        {}, {"momentum": 0.7}, {"momentum": 0.7, "nesterov": True}, {"momentum": 0.7, "dampening": 0.3})),
    *((c, {"betas": (0.8, b), "weight_decay": 0.05, "decoupled_weight_decay": d})
      for c in (optim.NAdam, optim.RAdam) for b in (0.9, 0.999) for d in (False, True)),
    (optim.Adamax, {"betas": (0.8, 0.9), "weight_decay": 0.05}),
    (optim.ASGD, {"lambd": 0.02, "alpha": 0.75, "t0": 1.0, "weight_decay": 0.05}),
    (optim.Adagrad, {"lr_decay": 0.1, "weight_decay": 0.05}),
    (optim.Adadelta, {"rho": 0.8, "eps": 1e-3, "weight_decay": 0.05}),
    *((optim.RMSprop, {"alpha": 0.9, "weight_decay": 0.05, "centered": c, "momentum": m}) for c in (False, True) for m in (0, 0.7)),
    (optim.Rprop, {"etas": (0.5, 1.2)}),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _doubles():
    torch.set_default_dtype(torch.float64)  # counts and rates in the state too, or differences would be those of single precision
    yield
    torch.set_default_dtype(torch.float32)


def steps(cls):
    return range(8 if cls is optim.RAdam else 3)  # the first of RAdam do without the second mean


def stepped(cls, start, gradient, **options):
    param = start.clone()
    optimizer = cls([param], differentiable=True, **options)
    for k in steps(cls):
        param.grad = gradient * (1 + 0.5 * k) + (param * 0.1 if k else 0)
        optimizer.step()
    return param, optimizer


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def names_of(options):
    """The options that are numbers other than 0, pairs taken apart."""
    for name, value in options.items():
        if name in FLAGS or value == 0:
            continue
        yield from ((name, i) for i in range(2)) if isinstance(value, tuple) else ((name, None),)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize(("cls", "options"), CASES)
def test_gradients_of_parameters_and_gradients(cls, options, maximize):
    def run(start, gradient):
        return stepped(cls, start, gradient, lr=0.1, maximize=maximize, **options)[0]

    assert gradcheck(run, (leaf(1.0, -2.0, 0.5), leaf(0.3, 0.7, -0.4)))
    both = (leaf(1 + 0.5j, -2 - 0.2j, dtype=torch.complex128), leaf(0.3 + 0.1j, 0.7 - 0.3j, dtype=torch.complex128))
    assert gradcheck(run, both)


@pytest.mark.parametrize(("cls", "options"), CASES)
@pytest.mark.on_cpu("counts of steps are on the CPU, and tensors for options beside them")
def test_gradients_of_options(cls, options):
    names = [("lr", None), *names_of(options)]

    def run(start, gradient, *given):
        merged = {"lr": 0.1, **options}
        for (name, i), value in zip(names, given, strict=True):
            merged[name] = value if i is None else tuple(value if k == i else v for k, v in enumerate(merged[name]))
        return stepped(cls, start, gradient, **merged)[0]

    start, gradient = (t.detach() for t in (leaf(1.0, -2.0, 0.5), leaf(0.3, 0.7, -0.4)))
    value = {"lr": 0.1, **options}
    tensors = [torch.tensor(value[n] if i is None else value[n][i], requires_grad=True) for n, i in names]
    assert gradcheck(run, (start, gradient, *tensors))
    # The same numbers as with numbers, and no gradient is lost.
    result = run(start, gradient, *tensors)
    assert_close(result.detach(), stepped(cls, start, gradient, **value)[0])
    assert all(g is not None for g in torch.autograd.grad(result.sum(), tensors, allow_unused=True))


@pytest.mark.parametrize(("cls", "options"), CASES)
def test_steps_as_without_recording(cls, options):
    start, gradient = (t.detach() for t in (leaf(1.0, -2.0, 0.5), leaf(0.3, 0.7, -0.4)))
    expected = start.clone().requires_grad_()
    optimizer = cls([expected], lr=0.1, **options)
    for k in steps(cls):
        expected.grad = gradient * (1 + 0.5 * k) + (expected.detach() * 0.1 if k else 0)
        optimizer.step()
    found, recorded = stepped(cls, start, gradient, lr=0.1, **options)
    assert_close(found, expected.detach())
    for state, recorded_state in zip(optimizer.state.values(), recorded.state.values(), strict=True):
        assert set(state) == set(recorded_state)
        for key, value in state.items():
            assert_close(recorded_state[key].detach(), value)


@pytest.mark.on_cpu("counts of steps are on the CPU, and tensors for options beside them")
def test_tensors_of_other_shapes_and_dtypes():
    start = torch.tensor([1.0, -2.0], dtype=torch.float32)
    gradient = torch.tensor([0.3, 0.7], dtype=torch.float32)
    for lr, betas in itertools.product((torch.tensor([0.1]), torch.tensor(0.1, dtype=torch.float32)), (torch.float32, torch.float64)):
        lr.requires_grad_()
        pair = tuple(torch.tensor([b], dtype=betas, requires_grad=True) for b in (0.8, 0.9))
        for cls in (optim.Adam, optim.NAdam, optim.RAdam, optim.Adamax):
            param, _ = stepped(cls, start, gradient, lr=lr, betas=pair)
            assert param.dtype == torch.float32 and param.shape == (2,)
            grads = torch.autograd.grad(param.sum(), [lr, *pair])
            assert [g.shape for g in grads] == [lr.shape, (1,), (1,)]


def test_betas_of_two_kinds():
    for betas in ((torch.tensor(0.9), 0.99), (0.9, torch.tensor(0.99))):
        for cls in (optim.Adam, optim.AdamW):
            with pytest.raises(ValueError, match="betas must be either both floats or both Tensors"):
                cls([leaf(1.0)], betas=betas)
    with pytest.raises(ValueError, match=r"betas\[0\] as a Tensor is not supported for capturable=False and foreach=True"):
        optim.Adam([leaf(1.0)], betas=(torch.tensor(0.9), torch.tensor(0.99)), foreach=True)
