"""grad, vjp, jvp, Jacobians and linearize: closed forms, what they leave alone, and what they refuse."""

import functools
from collections import OrderedDict, namedtuple

import pytest

import retrograd
from retrograd.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, stack_module_state, vjp, vmap
from retrograd.testing import assert_close
from tests.func.programs import chains, nested

X = retrograd.tensor([1.0, 2.0, 3.0])
W = retrograd.tensor([[1.0, -1.0, 0.5], [2.0, 0.0, 1.0]])


# -- closed forms ---------------------------------------------------------------------------------


def test_derivatives_of_a_cube():
    f = grad(lambda x: x**3)
    x = retrograd.tensor(2.0)
    assert_close(f(x), retrograd.tensor(12.0))
    assert_close(grad(f)(x), retrograd.tensor(12.0))
    assert_close(grad(grad(f))(x), retrograd.tensor(6.0))
    assert_close(grad(grad(grad(f)))(x), retrograd.tensor(0.0))


def test_gradient_and_value():
    gradient, value = grad_and_value(lambda x: (x**2).sum())(X)
    assert_close(gradient, 2 * X)
    assert_close(value, (X**2).sum())


def test_products_with_a_matrix():
    output, pull = vjp(lambda x: W @ x, X)
    assert_close(output, W @ X)
    assert_close(pull(retrograd.tensor([1.0, 1.0]))[0], W.sum(0))
    assert_close(pull(retrograd.tensor([1.0, 0.0]))[0], W[0])
    assert_close(jvp(lambda x: W @ x, (X,), (retrograd.ones(3),)), (W @ X, W.sum(1)))


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd, functools.partial(jacrev, chunk_size=1), functools.partial(jacrev, chunk_size=2)])
def test_jacobian_of_a_matrix_product(jacobian):
    assert_close(jacobian(lambda x: W @ x)(X), W)
    by_both = jacobian(lambda w, x: w @ x, argnums=(0, 1))(W, X)
    assert by_both[0].shape == (2, 2, 3)
    assert_close(by_both[0][0, 0], X)
    assert_close(by_both[0][0, 1], retrograd.zeros(3))
    assert_close(by_both[1], W)


def test_hessian_of_a_quadratic_form():
    a = retrograd.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]])
    assert_close(hessian(lambda x: x @ a @ x)(X), a + a.T)
    for outer in (jacrev, jacfwd):
        for inner in (jacrev, jacfwd):
            assert_close(outer(inner(lambda x: x @ a @ x))(X), a + a.T)


def test_linearize_runs_the_function_once():
    calls = []

    def f(x, y):
        calls.append(1)
        return {"p": x.sin() * y, "q": (x.sum(), retrograd.ones(2))}

    y = retrograd.tensor([0.5, 1.5, -1.0])
    output, push = linearize(f, X, y)
    assert_close(output["p"], X.sin() * y)
    for scale in (1.0, -2.0):
        tangents = (y * scale, X * scale)
        result = push(*tangents)
        calls_so_far = len(calls)
        assert_close(result["p"], jvp(f, (X, y), tangents)[1]["p"])
        assert_close(result["q"][1], retrograd.zeros(2))
        calls[calls_so_far:] = []
    assert len(calls) == 1


@pytest.mark.parametrize("chain", [c for c in chains(3) if "linearize" in c], ids="-".join)
def test_linearize_nests_as_jvp_does(chain):
    instead = tuple("jvp" if name == "linearize" else name for name in chain)
    assert_close(nested(retrograd, chain), nested(retrograd, instead))


def test_linearize_can_be_vmapped_and_differentiated():
    _, push = linearize(lambda x: W @ x.sin(), X)
    expected = W * X.cos()
    assert_close(vmap(push, out_dims=-1)(retrograd.eye(3)), expected)
    assert_close(grad(lambda t: push(t).sum())(X), expected.sum(0))


def test_views_made_before_their_base_gets_a_tangent():
    def f(a):
        y = retrograd.zeros(3)
        head, tail = y[:1], y[1:]
        head.copy_(a[:1])
        y.mul_(a)
        tail += head.clone() * a[1:]
        return y

    expected = retrograd.tensor([[2.0, 0.0, 0.0], [4.0, 1.0, 0.0], [6.0, 0.0, 1.0]])
    assert_close(jacfwd(f)(X), expected)
    assert_close(jacrev(f)(X), expected)
    assert_close(jvp(f, (X,), (X,))[1], expected @ X)


# -- containers -----------------------------------------------------------------------------------

Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    "tree",
    [[X, X * 2], (X, X * 2), {"a": X, "b": X * 2}, OrderedDict(a=X, b=X * 2), Pair(X, X * 2), {"a": [X, (X * 2,)]}],
    ids=lambda t: type(t).__name__,
)
def test_gradients_have_the_structure_of_the_argument(tree):
    from retrograd.utils._pytree import tree_flatten

    leaves, spec = tree_flatten(tree)
    result = grad(lambda t: sum(((i + 1) * x**2).sum() for i, x in enumerate(tree_flatten(t)[0])))(tree)
    found, found_spec = tree_flatten(result)
    assert found_spec == spec and type(result) is type(tree)
    assert_close(found, [2 * (i + 1) * x for i, x in enumerate(leaves)])


def test_arguments_by_number():
    def f(a, b, c):
        return (a * b * c).sum()

    assert_close(grad(f, argnums=-1)(X, X, X), X**2)
    assert_close(grad(f, argnums=(2, 0))(X, 2 * X, 3 * X), (2 * X**2, 6 * X**2))
    assert isinstance(grad(f, argnums=(1,))(X, X, X), tuple)


def test_keywords_are_passed_on():
    def f(x, *, power):
        return (x**power).sum()

    assert_close(grad(f)(X, power=2), 2 * X)
    assert_close(jacrev(f)(X, power=2), 2 * X)
    assert_close(jacfwd(f)(X, power=2), 2 * X)


def test_aux():
    def f(x):
        return (x**2).sum(), {"double": x * 2}

    gradient, aux = grad(f, has_aux=True)(X)
    assert_close((gradient, aux["double"]), (2 * X, 2 * X))
    assert not aux["double"].requires_grad
    output, pull, aux = vjp(f, X, has_aux=True)
    assert_close((output, pull(retrograd.tensor(1.0))[0], aux["double"]), ((X**2).sum(), 2 * X, 2 * X))
    output, tangent, aux = jvp(f, (X,), (X,), has_aux=True)
    assert_close((tangent, aux["double"]), (2 * (X**2).sum(), 2 * X))
    for jacobian in (jacrev, jacfwd):
        found, aux = jacobian(f, has_aux=True)(X)
        assert_close((found, aux["double"]), (2 * X, 2 * X))


# -- what is outside ------------------------------------------------------------------------------


def test_results_have_no_history_of_their_own():
    for result in (
        grad(lambda x: (x**2).sum())(X),
        vjp(lambda x: x**2, X)[0],
        vjp(lambda x: x**2, X)[1](X)[0],
        jvp(lambda x: x**2, (X,), (X,))[1],
        jacrev(lambda x: x**2)(X),
        jacfwd(lambda x: x**2)(X),
        linearize(lambda x: x**2, X)[1](X),
    ):
        assert not result.requires_grad


def test_results_keep_the_history_of_parameters():
    w = retrograd.tensor([1.0, 2.0, 3.0], requires_grad=True)
    result = grad(lambda x: (x**2 * w).sum())(X)
    result.sum().backward()
    assert_close(w.grad, 2 * X)
    w.grad = None
    vmap(grad(lambda x: (x**2 * w).sum()))(retrograd.stack([X, X])).sum().backward()
    assert_close(w.grad, 4 * X)
    w.grad = None
    grad(lambda y: (w**2 * y).sum())(X).sum().backward()
    assert_close(w.grad, 2 * w.detach())


def test_a_result_that_does_not_depend_on_the_parameter_has_no_history():
    w = retrograd.ones(3, requires_grad=True)
    assert not grad(lambda x: (x**2).sum() + w.sum())(X).requires_grad
    assert grad(lambda x: (x**2).sum() * w.sum())(X).requires_grad


def test_arguments_that_require_grad():
    x = X.clone().requires_grad_()
    result = grad(lambda t: (t**3).sum())(x)
    (second,) = retrograd.autograd.grad(result.sum(), x)
    assert_close(second, 6 * X)
    assert x.grad is None


def test_no_grad_outside_and_inside():
    x = X.clone().requires_grad_()
    with retrograd.no_grad():
        result = grad(lambda t: (t**2).sum())(x)
    assert not result.requires_grad
    assert_close(result, 2 * X)

    def detached(t):
        with retrograd.no_grad():
            return (t**2).sum()

    assert_close(grad(detached)(X), retrograd.zeros(3))


def test_unused_arguments_and_constants_give_zeros():
    assert_close(grad(lambda x, y: x.sum(), argnums=(0, 1))(X, X), (retrograd.ones(3), retrograd.zeros(3)))
    assert_close(grad(lambda x: retrograd.tensor(1.0))(X), retrograd.zeros(3))
    assert_close(jacrev(lambda x: W)(X), retrograd.zeros(2, 3, 3))
    assert_close(jacfwd(lambda x: W)(X), retrograd.zeros(2, 3, 3))


def test_nothing_to_differentiate():
    assert jacrev(lambda x: x)(retrograd.zeros(0)).shape == (0, 0)
    assert jacfwd(lambda x: x)(retrograd.zeros(0)).shape == (0, 0)


# -- modules --------------------------------------------------------------------------------------


def test_functional_call_leaves_the_module_alone():
    model = retrograd.nn.Linear(3, 2)
    before = dict(model.named_parameters())
    weights = {"weight": retrograd.ones(2, 3), "bias": retrograd.zeros(2)}
    assert_close(functional_call(model, weights, (X,)), retrograd.tensor([6.0, 6.0]))
    assert all(dict(model.named_parameters())[k] is v for k, v in before.items())
    with pytest.raises(RuntimeError):
        functional_call(model, {"weight": retrograd.ones(5, 5)}, (X,))
    assert all(dict(model.named_parameters())[k] is v for k, v in before.items())


class Tied(retrograd.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = retrograd.nn.Parameter(retrograd.ones(1))
        self.b = self.a
        self.register_buffer("calls", retrograd.zeros(1))

    def forward(self, x, times=10):
        self.calls = self.calls + 1
        return self.a * x + times * self.b


def test_functional_call_with_tied_weights():
    model, one, two = Tied(), retrograd.tensor([1.0]), retrograd.tensor([2.0])
    assert functional_call(model, {"a": two}, one).item() == 22
    assert functional_call(model, {"a": two}, one, tie_weights=False).item() == 12
    assert functional_call(model, {"a": two, "b": two}, one).item() == 22
    assert functional_call(model, {"a": two, "b": 2 * two}, one, tie_weights=False).item() == 42
    assert functional_call(model, {"a": two}, one, {"times": 3}).item() == 8
    with pytest.raises(ValueError, match="functional_call got multiple values for keys \\['a', 'b'\\], which are tied"):
        functional_call(model, {"a": two, "b": 2 * two}, one)


def test_functional_call_writes_assigned_buffers_back_to_the_dict():
    model = Tied()
    state = {"calls": retrograd.zeros(1)}
    functional_call(model, state, retrograd.ones(1))
    assert state["calls"].item() == 1
    assert model.calls.item() == 0


def test_functional_call_of_several_dicts():
    model = retrograd.nn.Linear(3, 2)
    weight, bias = {"weight": retrograd.ones(2, 3)}, {"bias": retrograd.zeros(2)}
    assert_close(functional_call(model, (weight, bias), X), retrograd.tensor([6.0, 6.0]))
    with pytest.raises(ValueError, match="appeared in multiple dictionaries; behavior of functional call is ambiguous"):
        functional_call(model, (weight, weight), X)
    with pytest.raises(ValueError, match="Expected all elements of parameter_and_buffer_dicts to be dictionaries"):
        functional_call(model, (3,), X)
    with pytest.raises(ValueError, match="Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got"):
        functional_call(model, 3, X)
    with pytest.raises(TypeError, match="3 is not an instance of torch.Tensor"):
        functional_call(model, {"weight": 3}, X)


def test_functional_call_strict():
    model = retrograd.nn.Linear(3, 2)
    with pytest.raises(RuntimeError, match="(?s)Error\\(s\\) in reparametrizing for Linear:.*Missing key\\(s\\): 'bias'"):
        functional_call(model, {"weight": W}, X, strict=True)
    with pytest.raises(RuntimeError, match="Unexpected key\\(s\\): 'extra'"):
        functional_call(model, {"weight": W, "bias": retrograd.zeros(2), "extra": X}, X, strict=True)
    assert functional_call(model, {"weight": W, "extra": X}, X).shape == (2,)
    assert not hasattr(model, "extra")
    with pytest.raises(AttributeError, match="Linear has no attribute `inner`"):
        functional_call(model, {"inner.weight": W}, X)


def test_stateless():
    model = retrograd.nn.Linear(3, 2)
    with pytest.warns(FutureWarning, match="torch.func.functional_call"):
        result = retrograd.nn.utils.stateless.functional_call(model, {"weight": W, "bias": retrograd.zeros(2)}, X)
    assert_close(result, W @ X)


def test_stack_module_state():
    models = [retrograd.nn.Linear(3, 2) for _ in range(4)]
    params, buffers = stack_module_state(models)
    assert buffers == {} and params["weight"].shape == (4, 2, 3)
    assert all(p.is_leaf and p.requires_grad for p in params.values())
    with retrograd.no_grad():
        together = vmap(lambda p, x: functional_call(models[0], p, x), in_dims=(0, None))(params, X)
        assert_close(together, retrograd.stack([m(X) for m in models]))
    for bad, message in [
        ([], "Expected at least one model, got 0"),
        ([retrograd.nn.Linear(1, 1), retrograd.nn.Linear(1, 1).eval()], "same training/eval mode"),
        ([retrograd.nn.Linear(1, 1), retrograd.nn.ReLU()], "of the same class"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            stack_module_state(bad)


# -- errors ---------------------------------------------------------------------------------------

INTS = retrograd.tensor([1, 2])


@pytest.mark.parametrize(
    ("run", "kind", "message"),
    [
        (lambda: grad(lambda x: x)(X), RuntimeError, "to return a scalar Tensor, got tensor with 1 dims. Maybe you wanted to use the vjp"),
        (lambda: grad(lambda x: 3.0)(X), RuntimeError, "to return a Tensor, got <class 'float'>"),
        (lambda: grad(lambda x: x.sum())(INTS), RuntimeError, "only Tensors of floating point dtype can require gradients"),
        (lambda: grad(lambda x: x)(3.0), ValueError, "Thing passed to transform API must be Tensor, got <class 'float'>"),
        (lambda: grad(lambda x: x[0].sum())([X, None]), ValueError, "must be Tensor, got <class 'NoneType'>"),
        (lambda: grad(lambda x: x.sum(), argnums=1)(X), RuntimeError, "Got argnum=1, but only 1 positional inputs"),
        (lambda: grad(lambda x: x.sum(), argnums=-2)(X), RuntimeError, "Got argnum=-2, but only 1 positional inputs"),
        (lambda: grad(lambda x: x.sum(), argnums=(0, -1))(X), RuntimeError, "argnums elements must be unique"),
        (lambda: grad(lambda x: x.sum(), argnums=())(X), RuntimeError, "argnums must be non-empty"),
        (lambda: grad(lambda x: x.sum(), argnums="a")(X), RuntimeError, "argnums must be int or Tuple"),
        (lambda: grad(lambda x: x.sum(), argnums=(0.5,))(X), RuntimeError, "argnum must be int, got"),
        (lambda: grad(lambda x: x.sum(), has_aux=True)(X), RuntimeError, "output of function f should be a tuple: \\(output, aux\\)"),
        (lambda: grad(lambda x: (x.sum(), "a"), has_aux=True)(X), RuntimeError, "Expected tensors, got unsupported type <class 'str'>"),
        (lambda: vjp(lambda x: 3.0, X), RuntimeError, "expected f\\(\\*primals\\) to return only tensors, got unsupported type"),
        (lambda: vjp(lambda x: (), X), RuntimeError, "Expected f to be a function that has non-empty output"),
        (lambda: vjp(lambda x: x.long(), X), RuntimeError, "must be floating-point or complex Tensors, got Tensor with dtype torch.int64"),
        (lambda: vjp(lambda x: x, X)[1]((X, X)), RuntimeError, "cotangents: \\(\\*, \\*\\), primal output: \\*"),
        (lambda: vjp(lambda x: x, X)[1](X[:2]), RuntimeError, "Mismatch in shape: grad_output\\[0\\] has a shape of torch.Size\\(\\[2\\]\\)"),
        (lambda: jvp(lambda x: x, X, X), RuntimeError, "Expected primals to be a tuple"),
        (lambda: jvp(lambda x: x, (X,), (X, X)), RuntimeError, "Expected primals and tangents to have the same python structure"),
        (lambda: jvp(lambda: X, (), ()), RuntimeError, "Expected primals to contain at least one Tensor"),
        (lambda: jvp(lambda x: x, (3.0,), (X,)), RuntimeError, "Expected primals to only contain Tensors, got <class 'float'>"),
        (lambda: jvp(lambda x: x, (INTS,), (INTS,)), ValueError, "Expected primal to be floating point or complex"),
        (lambda: jvp(lambda x: x, (X,), (X[:2],)), RuntimeError, "Tensor is of size \\[3\\], the forward gradient of size \\[2\\]"),
        (lambda: jvp(lambda x: W, (X,), (X,), strict=True), RuntimeError, "independent of the inputs. Pass strict=False"),
        (lambda: jvp(lambda x: 3.0, (X,), (X,)), RuntimeError, "to return only tensors, got unsupported type <class 'float'>"),
        (lambda: jacrev(lambda x: x, chunk_size=0), ValueError, "`chunk_size` should be greater than 0"),
        (lambda: linearize(lambda x: x, X)[1](X[:2]), RuntimeError, "tangent:0 with shape .* doesn't match the shape"),
        (lambda: linearize(lambda x: x, X)[1](X.double()), RuntimeError, "tangent:0 with dtype .* doesn't match the dtype"),
        (lambda: linearize(lambda x: x, X)[1](X, X), RuntimeError, "to have the same argspec as the primals"),
    ],
)  # fmt: skip
def test_errors(run, kind, message):
    with pytest.raises(kind, match=message):
        run()


def test_a_failure_inside_jvp_leaves_no_level():
    def fails(x):
        raise KeyError("inside")

    with pytest.raises(KeyError):
        jvp(fails, (X,), (X,))
    assert retrograd._C._enter_dual_level() > 0
    level = retrograd._C._enter_dual_level()
    retrograd._C._exit_dual_level(level)
    retrograd._C._exit_dual_level(level - 1)
    assert_close(jvp(lambda x: x**2, (X,), (X,))[1], 2 * X**2)


def test_func_is_imported_when_first_used():
    import subprocess
    import sys

    code = "import sys, retrograd; assert 'retrograd.func' not in sys.modules; retrograd.vmap; assert 'retrograd.func' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


AT_ZERO = {
    "sinc": (retrograd.sinc, [0.0, 0.5], None),
    "copysign": (retrograd.copysign, [0.0, 1.0, 0.0], [-1.0, 1.0, 2.0]),
    "pow": (retrograd.pow, [0.0, 1.0, 0.0, 0.0, 2.0], [2.0, 1.0, 0.0, 1.0, 0.0]),
    "atan2": (retrograd.atan2, [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
    "xlogy": (retrograd.xlogy, [0.0, 1.0], [-1.0, 2.0]),
    "xlog1py": (retrograd.special.xlog1py, [0.0, 1.0], [-2.0, 2.0]),
    "logit": (lambda x: retrograd.logit(x, 1e-3), [0.0, 0.5, 1.0], None),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_linearize_where_a_slope_does_not_exist(name):
    """The formulas mask what is not there, and so must what is made of them: the derivative of a gradient."""
    f, *points = AT_ZERO[name]
    points = tuple(retrograd.tensor(p, dtype=retrograd.float64) for p in points if p is not None)
    _, linear = linearize(f, *points)
    for moved in points:
        tangents = tuple(retrograd.full_like(p, float(p is moved)) for p in points)
        expected = jvp(f, points, tangents)[1]
        assert not expected.isnan().any()
        assert_close(linear(*tangents), expected)
