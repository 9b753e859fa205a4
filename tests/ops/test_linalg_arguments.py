"""Old orders and names of arguments, and matrices at the edges of what linear algebra takes."""

import os
import subprocess
import sys

import pytest

import retrograd as torch
from retrograd import linalg

DIAGONAL = torch.diag(torch.tensor([1.0, 0.1, 0.001]))


def test_one_tolerance():
    for rank in (
        linalg.matrix_rank(DIAGONAL, 0.05),
        linalg.matrix_rank(DIAGONAL, tol=0.05),
        linalg.matrix_rank(DIAGONAL, torch.tensor(0.05), True),
        linalg.matrix_rank(input=DIAGONAL, tol=0.05, hermitian=True),
    ):
        assert rank.item() == 2
    assert linalg.matrix_rank(10 * DIAGONAL, 0.05).item() == 2, "tol is absolute"
    assert linalg.matrix_rank(torch.diag(torch.tensor([1.0, 1e-9])), 0.0).item() == 2, "and nothing is relative beside it"
    for inverse in (linalg.pinv(10 * DIAGONAL, 0.05), linalg.pinv(10 * DIAGONAL, rcond=0.05), linalg.pinv(10 * DIAGONAL, 0.05, True)):
        assert inverse.diagonal().tolist() == pytest.approx([0.1, 1.0, 0.0]), "rcond is relative"
    with pytest.raises(TypeError, match="do(es)? not go together"):
        linalg.matrix_rank(DIAGONAL, 0.05, atol=0.1)
    with pytest.raises(TypeError, match="do(es)? not go together"):
        linalg.pinv(DIAGONAL, rcond=0.05, rtol=0.1)


def cases():
    v, m, b = torch.tensor([1.0, 2.0]), torch.eye(2) + 1, torch.ones(1, 2, 2)
    for op in ("add", "sub"):
        yield op, (v, 2, v), (v, v), {"alpha": 2}
    for op in ("addcmul", "addcdiv"):
        yield op, (v, 2, v, v), (v, v, v), {"value": 2}
    for op, tensors in (("addmm", (m, m, m)), ("addmv", (v, m, v)), ("addr", (m, v, v)), ("addbmm", (m, b, b)), ("baddbmm", (b, b, b))):
        yield op, (2, *tensors), tensors, {"beta": 2}
        yield op, (2, tensors[0], 3, *tensors[1:]), tensors, {"beta": 2, "alpha": 3}


@pytest.mark.parametrize(("op", "old", "tensors", "factors"), list(cases()))
def test_factors_before_tensors(op, old, tensors, factors):
    expected = getattr(torch, op)(*tensors, **factors).tolist()
    with pytest.warns(UserWarning, match=f"This overload of {op} is deprecated"):
        assert getattr(torch, op)(*old).tolist() == expected
    first = tensors[0]
    rest = (*(factors.values()), *tensors[1:])
    for name in (op, op + "_"):
        with pytest.warns(UserWarning, match=f"This overload of {name} is deprecated"):
            assert getattr(first.clone(), name)(*rest).tolist() == expected
    leaf = first.clone().requires_grad_()
    with pytest.warns(UserWarning):
        getattr(torch, op)(*(leaf if a is first else a for a in old)).sum().backward()
    assert leaf.grad is not None


def test_factors_before_tensors_that_mean_nothing():
    v = torch.ones(2)
    for call in (
        lambda: torch.add(v, 2, v, alpha=3),
        lambda: torch.addcmul(2, v, v),
        lambda: v.add("a", v),
        lambda: torch.addmm(2, 3, torch.eye(2), torch.eye(2)),
    ):
        with pytest.raises(TypeError):
            call()


def test_vander_of_one_number():
    assert linalg.vander(torch.tensor(2.0), N=3).tolist() == [[1.0, 2.0, 4.0]]
    for x, n in ((torch.tensor(2.0), None), (torch.ones(0), None), (torch.ones(3), 1)):
        with pytest.raises(RuntimeError, match="N must be greater than 1"):
            linalg.vander(x, N=n)


@pytest.mark.parametrize(("matrix", "tau"), [((0, 0), (0,)), ((3, 0), (0,)), ((3, 2), (0,)), ((2, 3, 0), (2, 0)), ((0, 3, 2), (0, 2))])
def test_householder_product_of_nothing_has_a_history(matrix, tau):
    a, t = torch.randn(matrix, requires_grad=True), torch.randn(tau, requires_grad=True)
    q = linalg.householder_product(a, t)
    assert q.requires_grad
    q.sum().backward()
    assert a.grad.shape == a.shape and t.grad.shape == t.shape and not a.grad.any()


def test_gradients_of_eigenvectors_are_symmetric():
    torch.manual_seed(0)
    a = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    grad = torch.autograd.grad((linalg.eigh(a)[1] ** 2)[:, 0].cos().sum(), a)[0]
    assert torch.allclose(grad, grad.mT)
    z = torch.randn(3, 3, dtype=torch.complex128, requires_grad=True)
    grad = torch.autograd.grad((linalg.eigh(z)[1].abs() ** 2)[:, 0].cos().sum(), z)[0]
    assert torch.allclose(grad, grad.mH)


def test_residuals_of_least_squares_have_derivatives():
    torch.manual_seed(0)
    a, b = torch.randn(5, 2, dtype=torch.float64, requires_grad=True), torch.randn(5, 1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a, b: linalg.lstsq(a, b, driver="gelsd").residuals, (a, b))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_hermitian_pinv_reads_the_lower_triangle_alone(dtype):
    torch.manual_seed(0)
    a = torch.randn(3, 3, dtype=dtype)
    below = a.tril(-1)
    meant = below + below.mH + torch.diag(a.diagonal().real).to(dtype)
    assert torch.allclose(linalg.pinv(a, hermitian=True), linalg.inv(meant))


WITHOUT_LAPACK = """
import retrograd as torch
from retrograd import _C, linalg
_C._set_paths("", "", "/nowhere/libblas.so")
a = torch.eye(3)
for solve in (linalg.inv, linalg.det, linalg.cholesky, linalg.qr, linalg.svd, linalg.eigh, linalg.eig, linalg.ldl_factor):
    try:
        solve(a)
    except RuntimeError as error:
        print(str(error).partition("\\n")[0])
print((a @ a).equal(a), linalg.inv(torch.empty(3, 3, device="meta")).shape)
"""


def test_a_library_that_cannot_be_loaded_is_an_error_in_words():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", WITHOUT_LAPACK], capture_output=True, text=True, env=environment, check=True)
    *errors, last = run.stdout.splitlines()
    assert len(errors) == 8 and all(e.startswith("there is no LAPACK to compute this with: /nowhere/libblas.so") for e in errors)
    assert last == "True torch.Size([3, 3])"
