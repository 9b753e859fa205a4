"""autograd.functional: products with Jacobians and Hessians, and the matrices themselves."""

import pytest

import retrograd as torch
from retrograd.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from retrograd.testing import assert_close

OURS = torch.__name__ == "retrograd"


@pytest.fixture(autouse=True)
def _inputs(_device):
    global X, Y, ONES
    X, Y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    ONES = torch.ones(2)


def cube(x):
    return x**3


def cubes(x):
    return (x**3).sum()


def two(x, y):
    return x * y, x.sum()


def dot(x, y):
    return (x * y).sum()


# -- products -----------------------------------------------------------------


@pytest.mark.parametrize("product", [vjp, jvp])
def test_product_with_a_diagonal_jacobian(product):
    out, got = product(cube, X, torch.tensor([1.0, 10.0]))
    assert_close(out, cube(X))
    assert_close(got, torch.tensor([3.0, 120.0]))


def test_vjp_of_several_tensors():
    out, got = vjp(two, (X, Y), (ONES, torch.tensor(1.0)))
    assert_close(out, two(X, Y))
    assert_close(got, (Y + 1, X))


def test_jvp_of_several_tensors():
    out, got = jvp(two, (X, Y), (ONES, 2 * ONES))
    assert_close(out, two(X, Y))
    assert_close(got, (Y + 2 * X, torch.tensor(2.0)))


def test_jvp_agrees_with_vjp_on_a_matrix():
    a = torch.arange(6.0).reshape(2, 3)
    u, v = torch.tensor([1.0, -1.0, 2.0]), torch.tensor([3.0, 4.0])
    assert_close(jvp(lambda x: a @ x, torch.ones(3), u)[1], a @ u)
    assert_close(vjp(lambda x: a @ x, torch.ones(3), v)[1], v @ a)


@pytest.mark.parametrize("product", [vhp, hvp])
def test_products_with_the_hessian(product):
    out, got = product(cubes, X, torch.tensor([1.0, 10.0]))
    assert_close(out, cubes(X))
    assert_close(got, torch.tensor([6.0, 120.0]))
    out, got = product(dot, (X, Y), (ONES, 2 * ONES))
    assert_close(got, (2 * ONES, ONES))


@pytest.mark.parametrize("product", [vhp, hvp])
def test_hessian_products_agree_with_the_hessian(product):
    def f(x):
        return (x.sin() * x.roll(1).exp()).sum()

    x, v = torch.tensor([0.1, 0.5, -0.3]), torch.tensor([1.0, -2.0, 0.5])
    assert_close(product(f, x, v)[1], hessian(f, x) @ v)


def test_v_may_be_left_out_for_one_element():
    assert_close(vjp(dot, (X, Y))[1], (Y, X))
    assert_close(vjp(lambda x: x.sum().reshape(1), X)[1], ONES)
    assert_close(jvp(lambda x: x.repeat(3), torch.tensor([2.0]))[1], torch.ones(3))
    assert_close(vhp(cubes, torch.tensor([2.0]))[1], torch.tensor([12.0]))
    with pytest.raises(
        RuntimeError, match="The vector v can only be None if the user-provided function returns a single Tensor with a single element"
    ):
        vjp(cube, X)
    for product in (jvp, vhp, hvp):
        with pytest.raises(
            RuntimeError, match="The vector v can only be None if the input to the user-provided function is a single Tensor"
        ):
            product(cubes, X)


def test_v_is_checked():
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2 but got 1"):
        vjp(two, (X, Y), (ONES,))
    for product in (vjp, jvp, vhp, hvp):
        with pytest.raises(RuntimeError, match=r"v has invalid size: should be torch.Size\(\[2\]\) but got torch.Size\(\[3\]\)"):
            product(cube if product in (vjp, jvp) else cubes, X, torch.ones(3))


def test_arguments_and_results_must_be_tensors():
    with pytest.raises(
        TypeError, match="The inputs given to vjp must be either a Tensor or a tuple of Tensors but the given inputs has type"
    ):
        vjp(cube, 3)
    with pytest.raises(TypeError, match="but the value at index 1 has type"):
        jvp(dot, (X, 3))
    with pytest.raises(
        TypeError, match="The outputs of the user-provided function given to jacobian must be either a Tensor or a tuple of Tensors"
    ):
        jacobian(lambda x: 3, X)


# -- matrices -----------------------------------------------------------------


@pytest.mark.parametrize("vectorize", [False, True])
def test_jacobian(vectorize):
    assert_close(jacobian(cube, X, vectorize=vectorize), torch.tensor([[3.0, 0.0], [0.0, 12.0]]))
    assert_close(jacobian(dot, (X, Y), vectorize=vectorize), (Y, X))
    (a, b), (c, d) = jacobian(two, (X, Y), vectorize=vectorize)
    assert_close((a, b, c, d), (torch.diag(Y), torch.diag(X), ONES, torch.zeros(2)))


def test_structure_of_the_jacobian_is_that_of_outputs_and_inputs():
    assert isinstance(jacobian(cube, X), torch.Tensor)
    assert isinstance(jacobian(cube, (X,)), tuple)
    (row,) = jacobian(lambda x: (cube(x),), (X,))
    assert isinstance(row, tuple) and row[0].shape == (2, 2)
    assert [j.shape for j in jacobian(lambda x: (x * 2, x.sum()), X)] == [(2, 2), (2,)]
    shapes = [[tuple(j.shape) for j in row] for row in jacobian(lambda a, b: (a @ b, a.sum()), (torch.ones(2, 3), torch.ones(3, 4)))]
    assert shapes == [[(2, 4, 2, 3), (2, 4, 3, 4)], [(2, 3), (3, 4)]]


@pytest.mark.parametrize("vectorize", [False, True])
def test_hessian(vectorize):
    assert_close(hessian(cubes, X, vectorize=vectorize), torch.diag(6 * X))
    (a, b), (c, d) = hessian(dot, (X, Y), vectorize=vectorize)
    assert_close((a, b, c, d), (torch.zeros(2, 2), torch.eye(2), torch.eye(2), torch.zeros(2, 2)))
    assert_close(hessian(lambda x: cubes(x).reshape(1), X, vectorize=vectorize), torch.diag(6 * X))


def test_hessian_needs_one_number():
    for f in (hessian, lambda f, x: vhp(f, x, ONES), lambda f, x: hvp(f, x, ONES)):
        with pytest.raises(RuntimeError, match="should contain a single element"):
            f(cube, X)
        with pytest.raises(RuntimeError, match="should return a single Tensor"):
            f(lambda x: (cubes(x),), X)


def test_strategies():
    with pytest.raises(AssertionError, match='Expected strategy to be either "forward-mode" or "reverse-mode"'):
        jacobian(cube, X, strategy="sideways")
    with pytest.raises(AssertionError, match='Expected strategy to be either "forward-mode" or "reverse-mode"'):
        hessian(cubes, X, outer_jacobian_strategy="sideways")
    for f in (lambda: jacobian(cube, X, strategy="forward-mode"), lambda: hessian(cubes, X, outer_jacobian_strategy="forward-mode")):
        with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
            f()
    with pytest.raises(NotImplementedError, match='`create_graph=True` and `strategy="forward-mode"`'):
        jacobian(cube, X, create_graph=True, vectorize=True, strategy="forward-mode")


def test_forward_strategy():
    run = [
        lambda: jacobian(two, (X, Y), vectorize=True, strategy="forward-mode"),
        lambda: hessian(cubes, X, vectorize=True, outer_jacobian_strategy="forward-mode"),
    ]
    assert_close(run[0](), jacobian(two, (X, Y)))
    assert_close(run[1](), hessian(cubes, X))


@pytest.mark.skipif(not OURS, reason="PyTorch has nothing to stack")
def test_jacobian_of_nothing():
    assert jacobian(lambda x: x * 2, torch.ones(0, 2)).shape == (0, 2, 0, 2)


# -- history ------------------------------------------------------------------


def everything(x, **options):
    yield from vjp(cube, x, ONES, **options)
    yield from jvp(cube, x, ONES, **options)
    yield jacobian(cube, x, **options)
    yield hessian(cubes, x, **options)
    yield from vhp(cubes, x, ONES, **options)
    yield from hvp(cubes, x, ONES, **options)


def test_results_have_no_history_by_default():
    x = X.clone().requires_grad_()
    assert not any(t.requires_grad for t in everything(x))
    assert x.grad is None


def test_create_graph():
    x = X.clone().requires_grad_()
    for result in everything(x, create_graph=True):
        (g,) = torch.autograd.grad(result.sum(), x)
        assert g.shape == (2,)
    third = torch.autograd.grad(hessian(cubes, x, create_graph=True).sum(), x)[0]
    assert_close(third, 6 * ONES)
    v = ONES.clone().requires_grad_()
    (g,) = torch.autograd.grad(vhp(cubes, x, v, create_graph=True)[1].sum(), v)
    assert_close(g, 6 * X)


def test_works_inside_no_grad():
    with torch.no_grad():
        assert_close(vjp(cube, X, ONES)[1], 3 * X**2)
        assert_close(hessian(cubes, X), torch.diag(6 * X))


# -- independence -------------------------------------------------------------


def test_what_is_independent_is_zero():
    def f(x, y):
        return (x**3).sum()

    zero = torch.zeros(2)
    assert_close(vjp(f, (X, Y))[1], (3 * X**2, zero))
    assert_close(jvp(f, (X, Y), (ONES, ONES))[1], (3 * X**2).sum())
    assert_close(jacobian(f, (X, Y)), (3 * X**2, zero))
    assert_close(hessian(f, (X, Y))[1][1], torch.zeros(2, 2))
    assert_close(vhp(f, (X, Y), (ONES, ONES))[1], (6 * X, zero))
    assert_close(hvp(f, (X, Y), (ONES, ONES))[1], (6 * X, zero))
    for result in (vjp(lambda x: torch.ones(()), X)[1], vhp(lambda x: (x * 2).sum(), X, ONES)[1], hvp(lambda x: (x * 2).sum(), X, ONES)[1]):
        assert_close(result, zero)
    assert_close(jvp(lambda x: torch.ones(3), X, ONES)[1], torch.zeros(3))
    assert_close(jacobian(lambda x: torch.ones(3), X), torch.zeros(3, 2))
    assert_close(hessian(lambda x: torch.ones(()), X), torch.zeros(2, 2))


def test_strict_refuses_constants():
    def constant(x):
        return torch.ones(())

    runs = [
        lambda: vjp(constant, X, strict=True),
        lambda: jvp(constant, X, ONES, strict=True),
        lambda: jacobian(constant, X, strict=True),
        lambda: hessian(constant, X, strict=True),
        lambda: vhp(constant, X, ONES, strict=True),
        lambda: hvp(constant, X, ONES, strict=True),
    ]
    for run in runs:
        with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
            run()


def test_strict_refuses_unused_inputs():
    def f(x, y):
        return (x**3).sum()

    pair = (ONES, ONES)
    for run in (
        lambda: vjp(f, (X, Y), strict=True),
        lambda: jvp(f, (X, Y), pair, strict=True),
        lambda: vhp(f, (X, Y), pair, strict=True),
        lambda: hvp(f, (X, Y), pair, strict=True),
    ):
        with pytest.raises(RuntimeError, match=r"function is independent of input 1\. This is not allowed in strict mode"):
            run()
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function is independent of input 1"):
        jacobian(f, (X, Y), strict=True)
    with pytest.raises(RuntimeError, match="not supported together"):
        jacobian(f, (X, Y), strict=True, vectorize=True)


def test_strict_refuses_linear_functions_where_second_derivatives_are_wanted():
    def linear(x):
        return (x * 2).sum()

    for run in (
        lambda: hessian(linear, X, strict=True),
        lambda: vhp(linear, X, ONES, strict=True),
        lambda: hvp(linear, X, ONES, strict=True),
    ):
        with pytest.raises(
            RuntimeError,
            match="While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 is "
            "independent",
        ):
            run()
    x = X.clone().requires_grad_()
    for run in (
        lambda: vjp(lambda x: x * 2, x, ONES, create_graph=True, strict=True),
        lambda: jvp(lambda x: x * 2, x, ONES, create_graph=True, strict=True),
        lambda: jacobian(lambda x: x * 2, x, create_graph=True, strict=True),
    ):
        with pytest.raises(
            RuntimeError, match=r"The jacobian of .* is independent of input 0\. This is not allowed in strict mode when create_graph"
        ):
            run()


@pytest.mark.parametrize("product", [vhp, hvp])
def test_strict_looks_at_the_history_before_the_size(product):
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
        product(lambda x: x.detach() ** 3, X, ONES, strict=True)
    with pytest.raises(RuntimeError, match=f"returned by the function given to {product.__name__} should contain a single element"):
        product(cube, X, ONES, strict=True)


def test_number_of_vectors():
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2 but got 1"):
        vjp(lambda x: (x, x * 2), X, ONES)
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor"):
        vjp(cube, X, (ONES, ONES))
