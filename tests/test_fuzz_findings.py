"""What random calls beside PyTorch brought to light, one test per cause."""

import copy
import gc
import io
import math
import pickle

import pytest

import retrograd as torch
from retrograd.testing import assert_close

inf, nan = math.inf, math.nan


# ---- decompositions of matrices with NaN and infinity ----


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_svd_of_what_is_not_finite_is_an_error(bad):
    """LAPACK may not return from it: the matrix below made pinverse() hang."""
    values = [-bad, 0.72607421875, 1.4404296875, 1e300, -0.474609375, 1.533203125, 1.1025390625, 0.8896484375, 60000.0, 1.5, 0.85, -0.578]
    A = torch.tensor(values, dtype=torch.float64).view(4, 3)
    for function in (torch.linalg.svd, torch.linalg.svdvals, torch.linalg.pinv, torch.svd):
        with pytest.raises(torch.linalg.LinAlgError, match="the input matrix contained non-finite values"):
            function(A)


@pytest.mark.parametrize("bad", [nan, inf])
def test_eigenvalues_of_what_is_not_finite(bad):
    A = torch.stack([torch.eye(3), torch.full((3, 3), bad), torch.eye(3)])
    values, vectors = torch.linalg.eigh(A)
    assert values.isnan().all(1).tolist() == [False, True, False]
    assert vectors[1].isnan().all()


@pytest.mark.parametrize(("row", "minor"), [(0, 1), (1, 2), (2, 3)])
def test_cholesky_sees_nan(row, minor):
    A = torch.eye(3)
    A[row, row] = nan
    with pytest.raises(torch.linalg.LinAlgError, match=f"leading minor of order {minor} is not positive"):
        torch.linalg.cholesky(A)
    assert torch.linalg.cholesky_ex(A).info == minor


def test_matrix_exp_of_large_numbers():
    assert torch.matrix_exp(torch.full((2, 2), 1e30)).isinf().all()


# ---- out= ----


@pytest.mark.parametrize("name", ["qr", "svd", "eigh", "slogdet", "lu", "lu_factor", "lu_factor_ex", "inv_ex", "cholesky_ex"])
def test_several_outputs_are_written(name):
    A = torch.tensor([[4.0, 1.0], [1.0, 3.0]])
    function = getattr(torch.linalg, name)
    expected = function(A)
    out = tuple(torch.empty(0, dtype=t.dtype) for t in expected)
    result = function(A, out=out)
    assert type(result) is type(expected)
    for given, r, e in zip(out, result, expected, strict=True):
        assert r is given
        assert_close(given, e)
    with pytest.raises(TypeError, match="out= must be a tuple of"):
        function(A, out=out[0])


def test_linalg_out_does_not_take_gradients():
    A = torch.eye(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.linalg.inv(A, out=torch.empty(2, 2))


def test_lu_factor_ex_checks_when_asked():
    assert torch.linalg.lu_factor_ex(torch.zeros(2, 2)).info == 1
    with pytest.raises(RuntimeError, match=r"U\[1,1\] is zero"):
        torch.linalg.lu_factor_ex(torch.zeros(2, 2), check_errors=True)


@pytest.mark.parametrize("name", ["gt", "eq", "logical_and", "less", "floor_divide"])
def test_out_of_what_has_no_derivative(name):
    x = torch.ones(2, requires_grad=True)
    out = torch.zeros(2) if name == "floor_divide" else torch.zeros(2, dtype=torch.bool)
    getattr(torch, name)(x, torch.ones(2), out=out)
    assert not out.requires_grad


def test_out_that_overlaps_itself():
    message = "more than one element of the written-to tensor refers to a single memory location"
    with pytest.raises(RuntimeError, match=message):
        torch.arange(4, out=torch.zeros(1, dtype=torch.int64).expand(4))
    with pytest.raises(RuntimeError, match=message):
        torch.zeros(1, 2).expand(3, 2).cumsum_(0)


# ---- numbers ----


def test_numbers_integers_cannot_hold():
    x = torch.zeros(3, dtype=torch.uint8)
    for index in (0, slice(0, 2), x == 0, [0, 1], ...):
        for value in (inf, nan, 300, -1.5):
            with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
                x[index] = value
    x[0] = -1  # counts from the top
    assert x.tolist() == [255, 0, 0]
    for value in (nan, inf):
        with pytest.raises(RuntimeError, match="value cannot be converted to type int32 without overflow"):
            torch.tensor([1, value], dtype=torch.int32)
        with pytest.raises(RuntimeError, match="without overflow"):
            torch.scalar_tensor(value, dtype=torch.int64)
    half = torch.zeros(2, dtype=torch.float16)
    half[0] = 7e4
    assert half.tolist() == [inf, 0.0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_beside_16_bit_tensors_are_not_rounded(dtype):
    """1e-8 is zero in float16, but 60000 times it is not."""
    x = torch.tensor([60000.0, 1000.0, 2.0], dtype=dtype)
    wide = x.double()
    for number in (1e-8, 1e10, 0.1, 3e-5):
        for tensor in (number, torch.tensor(number), torch.tensor(number, dtype=torch.float64)):
            assert torch.equal(x * tensor, (wide * number).float().to(dtype))
            assert torch.equal(tensor * x, (wide * number).float().to(dtype))
            assert torch.equal(x / tensor, (wide / number).float().to(dtype))
        assert torch.equal(x.clone().mul_(number), (wide * number).float().to(dtype))
        assert torch.equal(torch.mul(x, number, out=torch.empty(0, dtype=dtype)), (wide * number).float().to(dtype))
        assert torch.equal(x.clone().div_(number), (wide / number).float().to(dtype))


def test_linspace_of_integers_starts_from_whole_ends():
    assert torch.linspace(1, 2.5, 5, dtype=torch.int64).tolist() == [1, 1, 1, 1, 2]
    assert torch.linspace(-1.5, 1.5, 3, dtype=torch.int32).tolist() == [-1, 0, 1]


def test_far_tails():
    x = torch.tensor([-inf, -1e200, inf], dtype=torch.float64)
    assert torch.special.log_ndtr(x).tolist() == [-inf, -inf, 0.0]
    assert torch.special.erfcx(torch.tensor([inf, -inf])).tolist() == [0.0, inf]


def test_bessel_derivatives_near_zero():
    x = torch.tensor([0.0, 1e-40, -1e-38, 1e-20], requires_grad=True)
    for function in (torch.special.i1, torch.special.i1e):
        (grad,) = torch.autograd.grad(function(x).sum(), x)
        assert_close(grad, torch.full((4,), 0.5))


# ---- autograd ----


def test_a_gradient_has_the_dtype_of_its_input():
    x = torch.ones(2, dtype=torch.float16, requires_grad=True)
    for function in (torch.special.xlog1py, torch.xlogy):
        (grad,) = torch.autograd.grad(function(x, torch.tensor([1, 2])).sum(), x)
        assert grad.dtype == torch.float16


def test_integers_do_not_take_a_history():
    x = torch.ones(3, requires_grad=True)
    y = torch.zeros(3, dtype=torch.int64)
    y.copy_(x)
    y[0] = x[0]
    y[:] = x
    assert not y.requires_grad
    assert y.is_leaf


def test_weights_of_losses_have_no_derivative():
    w = torch.ones(3, requires_grad=True)
    x, classes, F = torch.full((2, 3), 0.3), torch.tensor([0, 1]), torch.nn.functional
    message = "is not differentiable with respect to argument '{}'. This input cannot have requires_grad True"
    for call, name in (
        (lambda: F.nll_loss(x, classes, weight=w), "weight"),
        (lambda: F.cross_entropy(x, classes, weight=w), "weight"),
        (lambda: F.binary_cross_entropy(x, x, weight=w), "weight"),
        (lambda: F.binary_cross_entropy_with_logits(x, x, weight=w), "weight"),
        (lambda: F.binary_cross_entropy_with_logits(x, x, pos_weight=w), "pos_weight"),
    ):
        with pytest.raises(RuntimeError, match=message.format(name)):
            call()
        with torch.no_grad():
            call()


def test_the_gradient_of_a_value_with_more_dimensions():
    x, value = torch.ones(2), torch.full((1, 1), 3.0, requires_grad=True)
    x[torch.tensor([False, True])] = value
    x.sum().backward()
    assert value.grad.tolist() == [[1.0]]


# ---- arguments ----


def test_a_tensor_with_a_dimension_is_no_integer():
    assert [len(t) for t in torch.tensor_split(torch.arange(7), torch.tensor([3]))] == [3, 4]
    assert [len(t) for t in torch.tensor_split(torch.arange(7), torch.tensor(3))] == [3, 2, 2]


def test_svd_without_vectors():
    assert [tuple(t.shape) for t in torch.svd(torch.ones(2, 4, 3), compute_uv=False)] == [(2, 4, 4), (2, 3), (2, 3, 3)]


def test_tensors_of_one_element_are_numbers():
    one = torch.ones(1)
    assert torch.tensor([one, one * 2]).tolist() == [1.0, 2.0]
    assert torch.tensor([[one, one.view(1, 1)], [3, 4]]).tolist() == [[1.0, 1.0], [3.0, 4.0]]
    assert torch.tensor([torch.ones(2), torch.zeros(2)]).shape == (2, 2)


def test_a_list_of_index_arrays_is_a_tuple_of_them():
    x = torch.arange(6).view(3, 2)
    a, b = [0, 1], [1, 0]
    for index in ([a, b], [torch.tensor(a), torch.tensor(b)], [a, torch.tensor(b)]):
        with pytest.warns(UserWarning, match="Using a non-tuple sequence for multidimensional indexing is deprecated"):
            assert x[index].tolist() == [1, 2]
    with pytest.warns(UserWarning, match="non-tuple sequence"):
        x[[a, b]] = 9
    assert x.tolist() == [[0, 9], [9, 3], [4, 5]]


def test_assigning_to_nothing():
    x = torch.ones(2)
    x[False] = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert x.tolist() == [1.0, 1.0]
    assert not x.requires_grad
    assert x._version == 0


def test_a_bool_is_a_float():
    assert torch.nn.functional.dropout(torch.ones(2), True).tolist() == [0.0, 0.0]


def test_set_counts_from_the_offset_of_its_source():
    source = torch.arange(6.0)[2:]
    assert torch.empty(0).set_(source, 1, (2,), (1,)).tolist() == [3.0, 4.0]


def test_hash_is_the_id():
    x = torch.ones(1)
    assert hash(x) == id(x)


def test_numpy_knows_int64():
    numpy = pytest.importorskip("numpy")
    assert torch.arange(2).numpy().dtype.char == numpy.dtype(numpy.int64).char
    assert repr(torch.arange(2).numpy()) == repr(numpy.arange(2))


def test_arange_of_a_step_that_is_no_number():
    for arguments in ((1, 0, float("nan")), (0, 1, float("nan"))):
        with pytest.raises(RuntimeError, match="step must be nonzero"):
            torch.arange(*arguments)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.arange(0, 1, float("inf"), dtype=torch.int64)
    assert torch.arange(-(2**63), 2**63 - 1, 2**62).tolist() == [-(2**63), -(2**62), 0, 2**62]


# ---- complex numbers ----

Z = [1 + 2j, -3 - 1j, 0.5j, 2.75 + 0j]


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_sums_and_products_of_complex_numbers_as_integers():
    z = torch.tensor(Z)
    assert z.sum(dtype=torch.int64).item() == 0
    assert z.reshape(2, 2).sum(1, dtype=torch.int64).tolist() == [-2, 2]
    assert z[:2].prod(dtype=torch.int64).item() == -3
    assert z[:2].reshape(1, 2).prod(1, dtype=torch.int64).tolist() == [-3]
    assert (z.count_nonzero().item(), z.any().item(), z.all().item()) == (4, True, True)


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_gradient_of_a_product_of_real_parts():
    for x in (torch.tensor([2 + 3j, 4 - 1j]), torch.tensor([2 + 3j, 0j])):
        x.requires_grad_()
        (x.prod(dtype=torch.float32) + x.prod(0, dtype=torch.float32)).backward()
        first, second = x.real.tolist()
        assert x.grad.tolist() == [2 * second, 2 * first]


def test_gradient_of_an_interpolation_with_a_complex_weight():
    x, y = (torch.tensor([v], dtype=torch.complex128, requires_grad=True) for v in (1 + 2j, 3 - 1j))
    for call in (torch.lerp, lambda a, b, w: a.clone().lerp_(b, w)):
        gradients = torch.autograd.grad(call(x, y, 0.25 + 1j), (x, y), torch.tensor([1 - 3j], dtype=torch.complex128))
        assert [g.item() for g in gradients] == [(1 - 3j) * (0.75 + 1j), (1 - 3j) * (0.25 - 1j)]


def test_gradient_of_as_strided_on_an_expanded_complex_tensor():
    for dtype in (torch.complex64, torch.complex128):
        x = torch.tensor([1 + 2j, 3 - 1j], dtype=dtype, requires_grad=True)
        x.expand(3, 2).as_strided((2, 2), (0, 1), 0).backward(torch.tensor([[1 + 1j, 2j], [3, 4 - 1j]], dtype=dtype))
        assert x.grad.tolist() == [4 + 1j, 4 + 1j]


def test_gradient_of_strided_transfers_checks_its_geometry():
    x = torch.ones(2, dtype=torch.complex64)
    for arguments in (((), 0, (2,), (1,), 0), ((1,), 0, (2, 2), (1,), 0), ((1,), -1, (2,), (1,), 0), ((-1,), 0, (2,), (1,), 0)):
        with pytest.raises(RuntimeError, match="_as_strided_transfer"):
            torch._C._ops._as_strided_transfer(x, *arguments, True)


def test_imaginary_parts_are_not_dropped():
    z, x, mask = torch.tensor(Z), torch.ones(4), torch.tensor([True, False, True, False])
    at = torch.tensor([0])
    refused = {
        "Expected a non-complex scalar as the order": [
            lambda: torch.linalg.vector_norm(z, 1j),
            lambda: z.norm(2 - 1j),
            lambda: torch.dist(z, z, 2 - 1j),
        ],
        "must be real-valued": [lambda: torch.renorm(z[None], 2 - 1j, 0, 1.0), lambda: torch.renorm(z[None], 2, 0, 1j)],
        "type double without overflow": [lambda: z.var(0, correction=1j), lambda: torch.std_mean(x, 0, correction=1j)],
        "type float without overflow": [
            lambda: x.scatter(0, at, 1j, reduce="multiply"),
            lambda: x.clone().scatter_(0, at, 1j, reduce="add"),
            lambda: x.masked_fill(mask, torch.tensor(1j)),
            lambda: x.clone().masked_fill_(mask, torch.tensor(1j)),
        ],
        "Converting complex Scalar to non-complex": [lambda: x.index_fill(0, at, 1j), lambda: x.clone().index_fill_(0, at, 1j)],
        "source and destination dtypes match": [lambda: x.clone().__setitem__(at, torch.tensor(1j))],
    }
    for words, calls in refused.items():
        for call in calls:
            with pytest.raises(RuntimeError, match=words):
                call()
    assert x.masked_fill(mask, torch.tensor(3 + 0j)).tolist() == [3, 1, 3, 1]


def test_negative_views_become_bools():
    assert torch.tensor(Z).conj().imag.bool().tolist() == [True, True, True, False]
    assert torch.zeros(3, dtype=torch.bool).copy_(torch.tensor([1j, 0j, -1j]).conj().imag).tolist() == [True, False, True]


def test_lazy_tensors_are_not_viewed_as_other_dtypes():
    z = torch.tensor(Z).conj()
    with pytest.raises(RuntimeError, match="not supported for conjugate view tensors"):
        z.view(torch.float32)
    with pytest.raises(RuntimeError, match="not supported for tensors with negative bit set"):
        z.imag.view(torch.int32)
    assert z.view(torch.complex64).is_conj()


def test_as_strided_scatter_into_a_negative_view():
    x = torch.tensor([0, 1j, 2j, 3j]).conj().imag
    assert torch.as_strided_scatter(x, torch.ones(2), (2,), (2,), 1).tolist() == [0, 1, -2, 1]


def test_out_of_python_functions_takes_what_it_can_hold():
    a = torch.tensor(Z).reshape(2, 2)
    v = a.reshape(4)
    for call in (
        lambda out: torch.cross(v[:3], v[1:], out=out),
        lambda out: torch.matrix_power(a, 3, out=out),
        lambda out: torch.tensordot(a, a, 1, out=out),
        lambda out: torch.inner(v, v, out=out),
        lambda out: torch.chain_matmul(a, a, out=out),
        lambda out: torch.diff(v, out=out),
    ):
        with pytest.raises(
            RuntimeError,
            match="[Ee]xpected (the )?(out|result|output).*(c10::complex<float>|ComplexFloat)|result type ComplexFloat can't be cast",
        ):
            call(torch.empty(0))
        out = torch.empty(0, dtype=torch.complex64)
        assert call(out) is out
    with pytest.raises(RuntimeError, match="out tensor must be same dtype as the input tensor"):
        torch.quantile(torch.ones(3), 0.5, out=torch.empty(0, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.tensordot(torch.ones(2, requires_grad=True), torch.ones(2), 1, out=torch.empty(()))


def test_complex_tables_of_rows():
    table = torch.tensor(Z).reshape(2, 2).requires_grad_()
    rows = torch.nn.functional.embedding(torch.tensor([1, 1, 0]), table.conj())
    assert rows.tolist() == [[-0.5j, 2.75], [-0.5j, 2.75], [1 - 2j, -3 + 1j]]
    rows.backward(torch.full_like(rows, 1 + 1j))
    assert table.grad.tolist() == [[1 - 1j, 1 - 1j], [2 - 2j, 2 - 2j]]


def test_modules_become_complex():
    module = torch.nn.Linear(2, 2).to(torch.complex64)
    assert module.weight.dtype is torch.complex64
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert module.to(torch.float32).weight.dtype is torch.float32
    q = torch.nn.init.orthogonal_(torch.empty(3, 3, dtype=torch.complex128))
    assert torch.allclose(q @ q.mH, torch.eye(3, dtype=torch.complex128))


def test_bytes_seen_as_bools():
    assert torch.tensor([0, 1, 2, 190], dtype=torch.uint8).view(torch.bool).tolist() == [False, True, True, True]


def test_gradient_of_acosh_on_the_left_half_plane():
    z = torch.tensor([-1.2 + 0.3j, -0.3 - 2j, 1 + 2j, -2j], dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(torch.acosh, (z,))


def test_negative_views_convert_to_complex_numbers_without_a_sign_on_zero():
    """-1 - 0j is on the other side of the branch cut."""
    x = torch.tensor([1j], dtype=torch.complex128).conj().imag
    assert x.to(torch.complex128).sqrt().item() == 1j
    assert torch.zeros(1, dtype=torch.complex128).conj().copy_(x).sqrt().item() == 1j
    assert torch.float_power(x, 0.5 + 0j).item() == pytest.approx(1j)


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: torch.addcdiv(a, a, b, value=0.5 + 0j),
        lambda a, b: torch.addcmul(a, a, b, value=0.5 + 0j),
        lambda a, b: torch.lerp(a, b, 0.5 + 0j),
        lambda a, b: torch.addmm(a, a, b, alpha=0.5 + 0j, beta=2 + 0j),
        lambda a, b: torch.baddbmm(a[None], a[None], b[None], alpha=0.5 + 0j, beta=2 + 0j),
        lambda a, b: a.index_add(0, torch.tensor([0, 1]), b, alpha=0.5 + 0j),
    ],
)
def test_gradients_beside_complex_numbers_that_are_real(call):
    a, b = (torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) for _ in range(2))
    result = call(a, b)
    assert result.dtype is torch.float32
    assert [g.dtype for g in torch.autograd.grad(result.sum(), (a, b))] == [torch.float32] * 2


def test_probabilities_without_values():
    p = torch.full((2,), 0.5, device="meta")
    with pytest.raises(RuntimeError, match="device"):
        torch.bernoulli(p, out=torch.empty(2))
    with pytest.raises(RuntimeError, match="device"):
        torch.empty(2).bernoulli_(p)


def test_lazy_tensors_are_saved_and_pickled():
    z = torch.tensor(Z)
    for lazy in (z.conj(), z.conj().imag):
        file = io.BytesIO()
        torch.save([lazy, z] if lazy.is_conj() else [lazy], file)
        file.seek(0)
        loaded, *base = torch.load(file)
        assert loaded.tolist() == lazy.tolist() and all(t.tolist() == z.tolist() for t in base)
        assert pickle.loads(pickle.dumps(lazy)).tolist() == lazy.tolist()
        assert copy.deepcopy(lazy).tolist() == lazy.tolist()
        assert lazy.untyped_storage().tolist() == z.untyped_storage().tolist()


# ---- names and values that cannot be read ----


@pytest.mark.parametrize("call", [torch.tanh, torch.add, torch.Tensor.sum, torch.nn.functional.softplus, torch.zeros])
def test_keyword_that_utf8_cannot_say(call):
    with pytest.raises(TypeError, match=r"udc80|invalid combination"):
        call(torch.ones(2), **{"\udc80": 1})


def test_names_that_utf8_cannot_say():
    with pytest.raises(RuntimeError, match="udc80"):
        torch.ones(2, device="\udc80")


def test_meta_tensors_have_nothing_to_read():
    meta = torch.ones(2, 2, device="meta")
    for make in (
        lambda: torch.tensor([meta, [0, 7]]),
        lambda: torch.tensor([meta[0], meta[1]]),
        lambda: torch.ones(2, 2).__setitem__(0, [meta, meta]),
    ):
        with pytest.raises(RuntimeError, match="cannot read meta tensors"):
            make()
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.ones(2, 2)[meta.bool()]
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.ones(2, 2)[meta.bool()] = 3


def test_batched_tensors_in_a_list_are_refused_in_words():
    with pytest.raises(RuntimeError, match="vmap: It looks like you're calling torch.tensor"):
        torch.func.vmap(lambda x: torch.tensor([x, x]))(torch.ones(3, 2))


def test_a_flag_that_has_no_truth():
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        torch.autograd.enforce_grad_layout_policy(torch.ones(2))


def test_transforms_read_inference_tensors():
    """What a transform records never leaves it."""
    x = torch.tensor([0.1, 0.2, 0.3])
    with torch.inference_mode():
        v = torch.full((3,), 2.0)
        inside = torch.func.grad(lambda x: (x * v).sin().sum())(x)
        torch.func.vmap(torch.func.jacrev(torch.func.jacrev(lambda x: (x.sin() * v).sum())))(torch.stack([x, x]))
    outside = torch.func.grad(lambda x: (x * v).sin().sum())(x)
    assert_close(outside, 2 * (2 * x).cos())
    assert_close(inside.clone(), outside)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_anomaly_mode_looks_at_all_samples():
    x = torch.tensor([0.5, 0.2, 0.3], dtype=torch.float64)
    with torch.autograd.detect_anomaly():
        for _ in range(20):
            H = torch.func.jacrev(torch.func.grad(lambda x: (x * x + 1).sqrt().sum()))(x)
        assert_close(H, torch.diag((x * x + 1) ** -1.5))
        with pytest.raises(RuntimeError, match="returned nan values"):
            torch.func.vmap(torch.func.grad(lambda x: (x * 0).sqrt()))(torch.tensor([1.0, math.nan, 2.0]))


# ---- linear algebra: older forms, out=, matrices that are not what they should be ----


def test_gradients_of_eigenvectors_are_hermitian():
    A = torch.tensor([[2.0, 0.3, 0.1], [0.7, 3.0, -0.2], [0.4, 0.9, 1.5]], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad((torch.linalg.eigh(A)[1].abs() * torch.arange(9.0).reshape(3, 3)).sum(), A)
    assert_close(g, g.mT)
    C = torch.complex(A.detach(), A.detach().flip(0) * 0.3).requires_grad_()
    (g,) = torch.autograd.grad((torch.linalg.eigh(C)[1].abs() * torch.arange(9.0).reshape(3, 3)).sum(), C)
    assert_close(g, g.mH.resolve_conj())


def test_pinv_of_a_hermitian_matrix_reads_its_lower_triangle():
    A = torch.tensor([[2.0, 9.0], [0.5, 3.0]], dtype=torch.float64)
    whole = torch.tensor([[2.0, 0.5], [0.5, 3.0]], dtype=torch.float64)
    assert_close(torch.linalg.pinv(A, hermitian=True), torch.linalg.inv(whole))
    C = torch.tensor([[2.0, 9.0], [0.5 + 1j, 3.0]])
    assert_close(torch.linalg.pinv(C, hermitian=True), torch.linalg.inv(torch.tensor([[2.0, 0.5 - 1j], [0.5 + 1j, 3.0]])))


def test_older_forms_of_rank_and_pseudo_inverse():
    A = torch.diag(torch.tensor([3.0, 1.0, 0.1]))
    rank, pinv = torch.linalg.matrix_rank, torch.linalg.pinv
    assert rank(A, 0.5) == rank(A, tol=0.5) == rank(input=A, tol=0.5) == rank(A, 0.5, True) == rank(A, atol=0.5) == 2
    assert rank(A, torch.tensor([0.5, 5.0])).tolist() == [2, 0]
    for made in (pinv(A, 0.2), pinv(A, rcond=0.2), pinv(input=A, rcond=0.2), pinv(A, 0.2, True), pinv(A, torch.tensor(0.2))):
        assert_close(made, torch.diag(torch.tensor([1 / 3, 1.0, 0.0])))
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        rank(A, nonsense=1)
    with pytest.raises(TypeError, match="takes one matrix"):
        pinv(A, input=A)
    with pytest.raises(TypeError, match="missing 1 required positional"):
        pinv()
    with pytest.raises(TypeError, match="takes from 0 to 3 positional arguments"):
        pinv(A, 0.1, True, 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_ldl_of_nothing_in_low_precision(dtype):
    factors, pivots = torch.linalg.ldl_factor(torch.empty(0, 0, dtype=dtype))
    assert factors.dtype == dtype and factors.shape == (0, 0) and pivots.shape == (0,)
    with pytest.raises(NotImplementedError, match="not implemented for"):
        torch.linalg.ldl_factor(torch.eye(2, dtype=dtype))


def test_out_of_functions_written_in_python():
    S = torch.eye(2) + 0.1
    with pytest.warns(UserWarning, match=r"An output with one or more elements was resized since it had shape \[5\]"):
        torch.linalg.inv(S, out=torch.ones(5))
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got long int instead"):
        torch.linalg.inv(S, out=torch.ones(2, 2, dtype=torch.int64))
    for dtype, name in ((torch.float32, "Float"), (torch.int32, "Int")):
        with pytest.raises(RuntimeError, match=f"nonzero: Expected out tensor to have scalar type Long but got scalar type{name}"):
            torch.nonzero(torch.ones(2), out=torch.empty(0, dtype=dtype))


def test_small_corners_of_linalg():
    assert torch.linalg.vander(torch.tensor(2.0), N=3).tolist() == [[1.0, 2.0, 4.0]]
    with pytest.raises(RuntimeError, match="N must be greater than 1"):
        torch.linalg.vander(torch.tensor(2.0))
    assert torch.linalg.householder_product(torch.zeros(2, 0, 0, requires_grad=True), torch.zeros(2, 0)).requires_grad
    A = torch.eye(3, requires_grad=True)
    residuals = torch.linalg.lstsq(A, torch.ones(3, 1)).residuals
    assert residuals.shape == (0,) and residuals.requires_grad


def test_gradients_are_not_lazy_conjugates():
    A = torch.tensor([[2.0 + 1j, 0.3], [0.7j, 3.0]], requires_grad=True)
    (g,) = torch.autograd.grad(torch.linalg.inv(A).abs().sum(), A, create_graph=True)
    assert not g.is_conj()
    torch.view_as_real(g).sum().backward()
    assert A.grad is not None


# ---- numbers before tensors ----


def test_argument_orders_of_old():
    a, m, b = torch.ones(3), torch.ones(2, 2), torch.ones(2, 2, 2)
    v = torch.ones(2)
    today = [
        (lambda: torch.addcmul(a, 2, a, a), torch.addcmul(a, a, a, value=2)),
        (lambda: a.clone().addcdiv_(2, a, a), torch.addcdiv(a, a, a, value=2)),
        (lambda: torch.add(a, 2, a), a * 3),
        (lambda: a.clone().sub_(2, a), -a),
        (lambda: m.clone().addbmm_(2, b, b), torch.addbmm(m, b, b, beta=2)),
        (lambda: m.clone().addbmm_(2, 3, b, b), torch.addbmm(m, b, b, beta=2, alpha=3)),
        (lambda: b.clone().baddbmm_(2, b, b), torch.baddbmm(b, b, b, beta=2)),
        (lambda: torch.addmm(2, m, 3, m, m), torch.addmm(m, m, m, beta=2, alpha=3)),
        (lambda: torch.addmv(2, v, m, v), torch.addmv(v, m, v, beta=2)),
        (lambda: torch.addr(2, m, 3, v, v), torch.addr(m, v, v, beta=2, alpha=3)),
    ]
    for older, expected in today:
        with pytest.warns(UserWarning, match="This overload of .* is deprecated"):
            assert_close(older(), expected)
    for wrong in (lambda: torch.addmm(m, 2, m, m), lambda: torch.addcmul(a, 2, a, a, value=3), lambda: torch.mul(a, 2, a)):
        with pytest.raises(TypeError):
            wrong()


# ---- memory that somebody else holds ----


@pytest.mark.parametrize("size", [4, 100_000])
@pytest.mark.parametrize("move", [lambda t: t.set_(), lambda t: setattr(t, "data", torch.zeros(1))])
def test_what_was_handed_out_outlives_its_tensor(size, move):
    """A tensor that gets other memory leaves the old to the arrays and capsules that were made of it."""
    for export in (memoryview, lambda t: t.__dlpack__()):
        t = torch.ones(size)
        held = export(t)
        move(t)
        noise = [torch.full((size,), 7.0) for _ in range(20)]
        seen = torch.frombuffer(held, dtype=torch.float32) if export is memoryview else torch.from_dlpack(held)
        assert_close(seen, torch.ones(size))
        del noise


def test_a_small_storage_shrinks_where_it_is():
    """Tensors may still reach past the new end: the memory there stays theirs."""
    t = torch.ones(40)
    before = t.untyped_storage().data_ptr()
    t.untyped_storage().resize_(1)
    assert t.untyped_storage().data_ptr() == before
    t.fill_(2)
    assert t.untyped_storage().nbytes() == 1
    t.untyped_storage().resize_(160)
    assert t.sum() == 80


def test_tensors_of_changed_class_follow_their_memory():
    class Sub(torch.Tensor):
        pass

    plain = torch.ones(40).as_subclass(Sub)
    plain.__class__ = torch.Tensor
    derived = torch.ones(40)
    derived.__class__ = Sub
    derived.note = [derived]  # the collector knows it
    for t in (plain, derived):
        view = t[3:]
        t.untyped_storage().resize_(400_000)
        assert t.data_ptr() == t.untyped_storage().data_ptr()
        assert view.data_ptr() == t.data_ptr() + 12
        assert t.sum() == 40


def test_resizing_with_tensors_that_are_hidden():
    class Sub(torch.Tensor):
        pass

    t = torch.ones(40).as_subclass(Sub)
    storage = t.untyped_storage()
    gc.collect()
    gc.freeze()
    try:
        with pytest.raises(RuntimeError, match="not resizable: it moves, and of the . tensors on it 1 cannot be found"):
            storage.resize_(400_000)
    finally:
        gc.unfreeze()
    storage.resize_(400_000)
    assert t.data_ptr() == storage.data_ptr()


# ---- callbacks that take away what they are called for ----


def test_unpack_hook_that_frees_the_list_it_is_called_for():
    x = torch.ones(3, 3, requires_grad=True)
    calls = []

    def unpack(kept):
        calls.append(kept)
        if len(calls) == 1:
            total.backward()
        return kept

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), unpack):
        total = x[torch.tensor([0, 1]), torch.tensor([1, 2])].sum()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        total.backward()
    assert len(calls) == 3  # once for the outer, twice for the inner


def test_pack_hook_of_register_hooks_that_frees_the_tensor():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    total = y.sum()

    def pack(t):
        total.backward()
        return t

    with pytest.raises(RuntimeError, match="the pack hook freed the saved tensor"):
        y.grad_fn._raw_saved_result.register_hooks(pack, lambda t: t)


def test_pack_hook_that_saves_once_more():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            contexts.append(ctx)
            ctx.save_for_backward(x.clone(), x.clone(), x.clone())
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * sum(ctx.saved_tensors)

    def pack(t):
        contexts[0].save_for_backward()
        gc.collect()
        return t

    contexts = []
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        Twice.apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_unpack_hook_that_asks_for_what_is_handed_over():
    class Once(torch.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            contexts.append(ctx)
            ctx.save_for_backward(x.clone(), x.clone(), x.clone())
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * sum(ctx.saved_tensors)

    def unpack(t):
        if len(asked) == 0:
            asked.append(t)
            asked.append(contexts[0].saved_tensors)
        return t

    contexts, asked = [], []
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = Once.apply(x)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


def test_gradient_edge_of_a_function_without_outputs():
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            contexts.append(ctx)
            return ()

        @staticmethod
        def backward(ctx, *grads):
            seen.append(grads)

    contexts, seen = [], []
    x = torch.ones(2, requires_grad=True)
    Nothing.apply(x)
    edge = torch.autograd.graph.GradientEdge(contexts[0], 0)
    torch.autograd.grad(edge, x, torch.ones(2), allow_unused=True)
    assert len(seen) == 1


def test_torch_function_that_empties_the_list_it_is_in():
    class Leaving:
        def __torch_function__(self, func, types, args=(), kwargs=None):
            items.clear()
            return NotImplemented

    items = [torch.ones(2), Leaving(), Leaving()]
    with pytest.raises(TypeError, match="handlers returned NotImplemented"):
        torch.cat(items)


# ---- meta tensors and sizes without end ----


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_meta_number_beside_a_16_bit_tensor(dtype):
    number = torch.zeros((), dtype=torch.float64, device="meta")
    for function in (torch.mul, torch.div):
        for x in (torch.ones(3, dtype=dtype), torch.ones(0, dtype=dtype)):
            with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
                function(x, number)
            with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
                function(number, x)


@pytest.mark.parametrize("shape", [(0, 2**40), (2**40, 0)])
def test_no_elements_in_a_huge_shape(shape):
    """There is nothing to do, so it takes no time."""
    x = torch.zeros(0).as_strided(shape, (1, 1))
    z = torch.zeros(0, dtype=torch.complex64).as_strided(shape, (1, 1))
    for d in (0, 1):
        assert x.diff(1, d).numel() == 0
        assert z.cumprod(d).shape == z.logcumsumexp(d).shape == shape
        assert z.clone().cumprod_(d).shape == shape
    assert x.histc().sum() == 0
    assert x.unique().shape == x.unique_consecutive().shape == (0,)


def test_more_parts_than_fit():
    wide = torch.zeros(0).as_strided((0, 2**40), (1, 1))
    calls = [lambda: wide.split(1, 1), lambda: wide.unbind(1), lambda: wide.chunk(2**40, 1), lambda: wide.tensor_split(2**40, 1)]
    calls += [lambda: torch.zeros(0, 3).vsplit(2**40), lambda: torch.zeros(0).chunk(2**40), lambda: torch.zeros(0).unsafe_chunk(2**40)]
    for call in calls:
        with pytest.raises(RuntimeError, match="can't allocate memory: 1099511627776 tensors"):
            call()


def test_tensors_come_in_lists_or_tuples():
    """What else can be iterated may have no end."""

    class Endless:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return torch.ones(2)

    for function in (torch.cat, torch.stack, torch.dstack):
        with pytest.raises(TypeError, match=r"argument 'tensors' \(position 1\) must be tuple of Tensors, not Endless"):
            function(Endless())


def test_a_step_beyond_all_sizes():
    assert torch.arange(4)[:: 2**62].tolist() == [0]


# ---- conjugates and negatives that are only marked ----


def test_marks_stay_with_their_memory():
    class Sub(torch.Tensor):
        pass

    z = torch.full((2,), 1 + 2j)
    for marked, value in ((z.conj(), 1 - 2j), (z.conj().imag, -2.0)):
        assert marked.as_subclass(Sub).tolist() == [value] * 2
        assert torch.nn.Parameter(marked).tolist() == [value] * 2
        assert marked.as_subclass(Sub).data.tolist() == [value] * 2
        taker = torch.zeros(2, dtype=marked.dtype)
        taker.data = marked
        assert taker.tolist() == [value] * 2
        marked.data = torch.ones(2, dtype=marked.dtype)
        assert marked.tolist() == [1.0] * 2
        marked.data = torch.ones(2, dtype=torch.int64)  # which has no mark at all
        assert (marked * marked).tolist() == [1, 1]


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_integers_wrap_around(dtype):
    info = torch.iinfo(dtype)
    low, high = torch.tensor([info.min] * 9, dtype=dtype), torch.tensor([info.max] * 9, dtype=dtype)
    assert torch.equal(high + 1, low)
    assert torch.equal(low - 1, high)
    assert torch.equal(torch.add(high, high, alpha=2), high - 2)
    assert torch.equal(torch.sub(low, high, alpha=2), low + 2)
    assert (high * high).tolist() == [1] * 9
    assert (low * low).tolist() == [0] * 9
    assert torch.equal(low.abs(), low)


def test_gradients_that_do_not_go_with_indices():
    x = torch.rand(3, 4, requires_grad=True)
    for result in (x.sort(1)[0], x.max(1)[0], x.topk(2, 1)[0], x.kthvalue(2, 1)[0], x.median(0)[0], x.cummax(1)[0]):
        for grad in (torch.ones(()), torch.ones(1), torch.ones(3, 0), torch.ones(7, 9), torch.ones(3, 4, device="meta")):
            with pytest.raises(RuntimeError):
                result.grad_fn(grad)
            with pytest.raises(RuntimeError):
                torch.autograd.backward([torch.autograd.graph.GradientEdge(result.grad_fn, 0)], [grad], retain_graph=True)


@pytest.mark.parametrize("function", [torch.exp, torch.neg, torch.nn.functional.softplus, torch.sum])
def test_one_result_is_not_written_to_a_tuple(function):
    x = torch.ones(3, 3)
    for out in ((x, x), [x], [], x.max(0)):
        with pytest.raises(TypeError, match="" if function is torch.sum else "argument 'out' must be Tensor, not "):
            function(x, out=out)


def test_a_sequence_that_has_no_length():
    class Liar:
        def __len__(self):
            return -1

        def __getitem__(self, i):
            raise IndexError(i)

    for use in (
        lambda: torch.tensor([torch.zeros(0, 2), Liar()]),
        lambda: torch.ones(3).__setitem__((torch.ones(3), [torch.zeros(0, 2), Liar()]), 1),
    ):
        with pytest.raises((ValueError, TypeError, IndexError)):
            use()


def test_a_histogram_that_does_not_fit_into_memory():
    import subprocess
    import sys

    program = """
import resource
import retrograd as torch
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
try:
    torch.zeros((), dtype=torch.bfloat16).histc(2**31 - 1)
except (MemoryError, RuntimeError) as error:
    print("refused", type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("refused"), done.stderr
