"""The steps of SGD, Adam and AdamW that run in one call: the same numbers as the steps made of ops, and the cases they leave to those."""

import itertools
import math
import threading

import pytest

import retrograd as torch
from retrograd import _C
from retrograd.optim import SGD, Adam, AdamW

TOLERANCE = {torch.float64: 1e-13, torch.float32: 2e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}

CASES = [
    *((SGD, {"lr": 0.1, "weight_decay": w, "maximize": m}) for w, m in itertools.product((0, 0.1), (False, True))),
    *(
        (SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": n, "dampening": 0 if n else 0.25, "weight_decay": w, "maximize": m})
        for n, w, m in itertools.product((False, True), (0, 0.1), (False, True))
    ),
    *(
        (kind, {"lr": 0.01, "amsgrad": a, "weight_decay": w, "maximize": m})
        for kind, a, w, m in itertools.product((Adam, AdamW), (False, True), (0, 0.1), (False, True))
    ),
    (Adam, {"lr": 0.01, "betas": (0.25, 0.5), "eps": 1e-3}),
    (Adam, {"lr": 1, "betas": [0, 0.5]}),
]
ids = [f"{kind.__name__}-{'-'.join(f'{k}={v}' for k, v in options.items())}" for kind, options in CASES]

LAYOUTS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.t().contiguous().t(),
    "gaps": lambda t: torch.stack([t, t], -1)[..., 0],
}


def problem(kind, options, dtype=torch.float32, shapes=((3, 5), (7,), (), (2, 0)), layout="contiguous"):
    """Parameters with an optimizer, and a function that gives them new gradients and makes a step."""
    torch.manual_seed(1)
    change = LAYOUTS[layout]

    def like(shape):
        t = torch.randn(shape, dtype=torch.float64).to(dtype)
        return change(t).detach() if t.dim() == 2 else t

    params = [torch.nn.Parameter(like(s)) for s in shapes]
    optimizer = kind(params, **options)

    def step():
        for p in params:
            p.grad = like(p.shape)
        optimizer.step()

    return params, optimizer, step


def results(params, optimizer):
    tensors = [*params, *(value for p in params for _, value in sorted(optimizer.state[p].items()))]
    return [t.detach().double().reshape(-1).tolist() for t in tensors]


def by_ops(monkeypatch, kind):
    monkeypatch.setattr(kind, "_fused", None)


def step_of(kind):
    return _C._sgd_step if kind is SGD else _C._adam_step


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize(("kind", "options"), CASES, ids=ids)
def test_the_same_numbers(monkeypatch, kind, options, dtype):
    params, optimizer, step = problem(kind, options, dtype)
    for _ in range(6):
        step()
    assert step_of(kind)(optimizer.param_groups[0], optimizer.state) is True  # the call is taken, not refused
    ours = results(params, optimizer)
    by_ops(monkeypatch, kind)
    params, optimizer, step = problem(kind, options, dtype)
    for _ in range(6):
        step()
    optimizer.step()
    expected = results(params, optimizer)
    for mine, theirs in zip(ours, expected, strict=True):
        assert mine == pytest.approx(theirs, rel=TOLERANCE[dtype] * 8, abs=TOLERANCE[dtype] * 8)


@pytest.mark.parametrize("layout", ["transposed", "gaps"])
@pytest.mark.parametrize(("kind", "options"), [(SGD, {"lr": 0.1, "momentum": 0.9}), (Adam, {"lr": 0.1, "amsgrad": True})])
def test_layouts(kind, options, layout):
    found = []
    for how in (layout, "contiguous"):
        params, optimizer, step = problem(kind, options, torch.float64, layout=how)
        assert params[0].is_contiguous() is (how == "contiguous")
        for _ in range(4):
            step()
        assert step_of(kind)(optimizer.param_groups[0], optimizer.state) is True
        found.append(results(params, optimizer))
    for mine, theirs in zip(*found, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-13)


@pytest.mark.parametrize(("kind", "options"), [(SGD, {"lr": 0.1, "momentum": 0.9}), (Adam, {"lr": 0.1, "weight_decay": 0.1})])
def test_threads_give_the_same_bits(kind, options):
    before = torch.get_num_threads()
    kept = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            params, optimizer, step = problem(kind, options, shapes=((1001, 503),))
            for _ in range(3):
                step()
            kept.append([params[0].detach(), *optimizer.state[params[0]].values()])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*kept, strict=True))


def test_the_group_may_change_while_a_large_step_runs():
    params, optimizer, step = problem(Adam, {"lr": 0.1}, shapes=((400, 500), (400, 500), (400, 500)))
    step()
    stop = threading.Event()

    def disturb():
        while not stop.is_set():
            for p in params:
                p.grad = None
            optimizer.param_groups[0]["params"][:] = params[::-1]

    thread = threading.Thread(target=disturb)
    thread.start()
    for _ in range(20):
        for p in params:
            p.grad = torch.ones(400, 500)
        optimizer.step()
    stop.set()
    thread.join()
    assert all(math.isfinite(p.sum().item()) for p in params)


def test_infinite_parameters_stay_infinite():
    p = torch.nn.Parameter(torch.tensor([math.inf, 1.0]))
    p.grad = torch.ones(2)
    SGD([p], lr=0.5).step()
    assert p.tolist() == [math.inf, 0.5]


def test_nan_reaches_the_largest_mean():
    p = torch.nn.Parameter(torch.ones(2))
    optimizer = Adam([p], amsgrad=True)
    for grad in ([1.0, 1.0], [math.nan, 1.0], [1.0, 1.0]):
        p.grad = torch.tensor(grad)
        optimizer.step()
    assert [math.isnan(v) for v in optimizer.state[p]["max_exp_avg_sq"].tolist()] == [True, False]


def test_parameters_without_gradients_are_left_alone():
    used, unused = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    optimizer = Adam([unused, used])
    for _ in range(3):
        used.grad = torch.ones(2)
        optimizer.step()
    assert unused.tolist() == [1, 1] and unused._version == 0 and unused not in optimizer.state
    assert optimizer.state[used]["step"].item() == 3


def test_counts_are_kept_apart():
    first, late = (torch.nn.Parameter(torch.ones(1)) for _ in range(2))
    optimizer = Adam([first, late], lr=0.1)
    for i in range(4):
        first.grad = torch.ones(1)
        late.grad = torch.ones(1) if i > 1 else None
        optimizer.step()
    counts = [optimizer.state[p]["step"] for p in (first, late)]
    assert [c.item() for c in counts] == [4, 2] and {c.dtype for c in counts} == {torch.float32}
    assert first.item() == pytest.approx(0.6, abs=1e-5) and late.item() == pytest.approx(0.8, abs=1e-5)


# ---- what autograd learns of the write ----


@pytest.mark.parametrize(("kind", "options"), [(SGD, {"lr": 0.1, "momentum": 0.9}), (Adam, {"lr": 0.1})])
def test_versions(kind, options):
    (p,), optimizer, step = problem(kind, options, shapes=((3,),))
    step()
    written = [p, *optimizer.state[p].values()]
    before, grad_before = [t._version for t in written], None
    p.grad = torch.ones(3)
    grad_before = p.grad._version
    optimizer.step()
    assert [t._version for t in written] == [v + 1 for v in before]
    assert p.grad._version == grad_before


def test_a_stale_graph_names_the_line_of_the_step():
    p = torch.nn.Parameter(torch.ones(3))
    optimizer = SGD([p], lr=0.1)
    loss = (p**2).sum()
    p.grad = torch.ones(3)
    optimizer.step()  # the line
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        loss.backward()
    line = test_a_stale_graph_names_the_line_of_the_step.__code__.co_firstlineno + 5
    assert f"test_fused.py:{line}" in str(error.value)


def test_inference_tensors_are_refused_outside_inference_mode():
    with torch.inference_mode():
        p = torch.ones(3)
        p.grad = torch.ones(3)
        optimizer = SGD([p], lr=0.5)
        optimizer.step()
        assert p.tolist() == [0.5] * 3
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        optimizer.step()


@pytest.mark.told("missing_zero_grad", why="a gradient with a history, step after step")
def test_nothing_is_recorded():
    p = torch.nn.Parameter(torch.ones(3))
    optimizer = SGD([p], lr=0.5, momentum=0.9)
    for _ in range(3):
        ((p**3).sum() + 0).backward(create_graph=True)
        optimizer.step()
    assert p.is_leaf and p.requires_grad and optimizer.state[p]["momentum_buffer"].requires_grad is False


# ---- what is left to ops ----


def answer(kind, p, **options):
    """What the fused step says about a group that has been stepped by ops once."""
    optimizer = kind([p], **{"lr": 0.5, **options})
    fused, kind._fused = kind._fused, None
    try:
        optimizer.step()
    finally:
        kind._fused = fused
    before = p.detach().clone()
    done = step_of(kind)(optimizer.param_groups[0], optimizer.state)
    assert done is not torch.equal(p.detach(), before)  # False means that nothing was written
    return done


def parameter(value=None, grad=None):
    p = torch.nn.Parameter(torch.ones(2, 3) if value is None else value)
    p.grad = torch.ones(2, 3) if grad is None else grad
    return p


class Asked(torch.Tensor):
    pass


class OwnParameter(torch.nn.Parameter):
    pass


@pytest.mark.parametrize("kind", [SGD, Adam, AdamW])
def test_ordinary_groups_are_taken(kind):
    assert answer(kind, parameter()) is True


@pytest.mark.parametrize("kind", [SGD, Adam])
def test_unusual_groups_are_refused(kind):
    p = parameter()
    assert answer(kind, p, lr=torch.tensor(0.5)) is False
    own = OwnParameter(torch.ones(2))
    own.grad = torch.ones(2)
    assert answer(kind, own) is False
    p.grad = torch.ones(2, 3).as_subclass(Asked)
    assert answer(kind, p) is False
    x = torch.ones(4)
    p = torch.nn.Parameter(x[:2])
    p.grad = x[2:].detach()
    assert answer(kind, p) is False  # one memory


def test_memory_of_others():
    numpy = pytest.importorskip("numpy")
    array = numpy.ones(6, dtype="float32")
    p = torch.nn.Parameter(torch.from_numpy(array[:4]))
    p.grad = torch.ones(4)
    assert answer(SGD, p) is True and array.tolist() == [0, 0, 0, 0, 1, 1]
    p.grad = torch.from_numpy(array[2:])
    assert answer(SGD, p) is False  # the two overlap


def test_state_that_does_not_fit_is_refused():
    p = parameter()
    optimizer = SGD([p], lr=0.5, momentum=0.5)
    group = optimizer.param_groups[0]
    assert _C._sgd_step(group, optimizer.state) is False  # no buffer yet
    for buffer in (torch.ones(2, 3, dtype=torch.float64), torch.ones(3), torch.ones(1, 3).expand(2, 3), None, 1.0):
        optimizer.state[p] = {"momentum_buffer": buffer}
        assert _C._sgd_step(group, optimizer.state) is False
    optimizer.state[p] = {"momentum_buffer": torch.ones(2, 3)}
    assert _C._sgd_step(group, optimizer.state) is True
    assert _C._sgd_step(group, None) is False
    with pytest.raises(TypeError, match="takes a parameter group"):
        _C._sgd_step([p], {})


def test_counts_of_other_dtypes_are_refused():
    p = parameter()
    optimizer = Adam([p])
    optimizer.step()
    optimizer.state[p]["step"] = torch.tensor(1)
    assert _C._adam_step(optimizer.param_groups[0], optimizer.state) is False
    optimizer.step()
    assert optimizer.state[p]["step"].item() == 2


def test_differentiable_steps_are_recorded():
    lr = torch.tensor(0.5, requires_grad=True)
    p = torch.nn.Parameter(torch.ones(2))
    moved = p.clone()
    moved.grad = torch.full((2,), 3.0)
    optimizer = SGD([moved], lr=lr, differentiable=True)
    optimizer.step()
    moved.sum().backward()
    assert lr.grad.item() == -6.0


def test_modes_see_the_ops_of_a_step():
    seen = []

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    p = parameter()
    optimizer = SGD([p], lr=0.5)
    with Watch():
        optimizer.step()
    assert "add_" in seen and p.tolist() == [[0.5] * 3] * 2


# -- what a gradient scaler sets ---------------------------------------------------

SCALED = [
    (torch.optim.SGD, {}), (torch.optim.SGD, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}), (torch.optim.Adam, {}),
    (torch.optim.Adam, {"amsgrad": True, "weight_decay": 0.1}), (torch.optim.AdamW, {}), (torch.optim.Adagrad, {}),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "options"), SCALED)
def test_a_scale_and_an_infinity(cls, options):
    gradients = [torch.tensor([0.4, 0.8]), torch.tensor([0.1, -0.3])]

    def run(*steps, **more):
        param = torch.tensor([1.0, -2.0], requires_grad=True)
        optimizer = cls([param], lr=0.1, **options, **more)
        for gradient, scale, found in steps:
            param.grad = gradient * (1 if scale is None else scale)
            if scale is not None or found is not None:
                optimizer.grad_scale = None if scale is None else torch.tensor(scale)
                optimizer.found_inf = None if found is None else torch.tensor(found)
            optimizer.step()
        return param, optimizer

    plain, reference = run((gradients[0], None, None), (gradients[1], None, None))
    infinite = torch.tensor([0.4, float("inf")])
    for steps in (
        [(gradients[0], 8.0, None), (gradients[1], 4.0, None)],
        [(gradients[0], 8.0, 0.0), (infinite, 8.0, 1.0), (gradients[1], 4.0, 0.0)],
        [(infinite, None, 1.0), (gradients[0], None, 0.0), (gradients[1], 2.0, 0.0)],
    ):
        param, optimizer = run(*steps, fused=True)
        assert torch.equal(param, plain)
        assert torch.equal(param.grad, gradients[1])  # without the scale
        for key, value in reference.state[plain].items():
            assert torch.equal(optimizer.state[param][key], value)

    # A first step that is left out: nothing moves, not even the gradient, and the state is that of the beginning.
    param, optimizer = run((infinite, 4.0, 1.0), fused=True)
    assert param.tolist() == [1.0, -2.0] and param.grad.tolist() == (infinite * 4).tolist()
    if cls is not torch.optim.SGD:
        assert optimizer.state[param]["step"].item() == 0 and set(optimizer.state[param]) == set(reference.state[plain])

    for fused in (False, None):
        with pytest.raises(AssertionError, match="Expected grad_scale and found_inf to be None"):
            run((gradients[0], 2.0, None), fused=fused)
        with pytest.raises(AssertionError, match="Expected grad_scale and found_inf to be None"):
            run((gradients[0], None, 0.0), fused=fused)


def test_who_takes_a_scale():
    import copy

    for cls, options in SCALED:
        optimizer = cls([torch.ones(1, requires_grad=True)], fused=True, **options)
        assert optimizer._step_supports_amp_scaling and copy.deepcopy(optimizer)._step_supports_amp_scaling
        assert not hasattr(cls([torch.ones(1, requires_grad=True)], **options), "_step_supports_amp_scaling")
    other = torch.optim.RMSprop([torch.ones(1, requires_grad=True)])
    other.grad_scale = torch.tensor(2.0)  # nobody asked
    other.step()
