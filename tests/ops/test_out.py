"""`out=`: written into, resized with a warning when the shape is wrong, refused when the dtype or autograd forbids it."""

import re
import warnings

import pytest

import retrograd
from tests.ops.cases import cases
from tests.ops.harness import call, differing, entries, ids, report
from tests.ops.tensors import flatten, tensor_numbers


def _has_out(entry):
    return "out" in entry.variants and "function" in entry.variants


def creates(entry):
    return any(p.name == "requires_grad" for p in entry.params)


def given(entry, case):
    """(args, kwargs, results without out=)."""
    args, kwargs, _ = case.bind(retrograd, grad=False)
    kwargs.pop("requires_grad", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return args, kwargs, flatten(call(retrograd, entry, args, kwargs))


def into(entry, args, kwargs, outs):
    return call(retrograd, entry, args, {**kwargs, "out": outs[0] if len(outs) == 1 else tuple(outs)}, "function")


SEQUENCES = {"arange", "linspace", "logspace"}
DRAWN_OTHERWISE = {"randn", "normal"}  # one number after the other, where dense memory is filled in blocks


def usable(entry):
    """Samples that give tensors, with their results."""
    for case in cases(entry):
        args, kwargs, results = given(entry, case)
        if all(isinstance(r, retrograd.Tensor) for r in results):
            yield case, args, kwargs, results


def wrong_values(entry, outs, results):
    if entry.test.get("values") is False:
        return []
    return [m for o, r in zip(outs, results, strict=True) if (m := differing(tensor_numbers(o), tensor_numbers(r), 0))]


@pytest.mark.parametrize("entry", entries(_has_out), ids=ids)
def test_written_into(entry):
    failures = []
    for case, args, kwargs, results in usable(entry):
        outs = [retrograd.empty_like(r) for r in results]
        places = [o.data_ptr() for o in outs]
        returned = flatten(into(entry, args, kwargs, outs))
        if any(a is not b for a, b in zip(returned, outs, strict=True)):
            failures.append(f"{case}: does not return out")
        if [o.data_ptr() for o in outs] != places:
            failures.append(f"{case}: out has other memory than before")
        failures += [f"{case}: {m}" for m in wrong_values(entry, outs, results)]
    report(failures)


@pytest.mark.parametrize("entry", entries(_has_out), ids=ids)
def test_not_dense(entry):
    """Strided memory is written where it lies."""
    failures = []
    for case, args, kwargs, results in usable(entry):
        outs = [retrograd.zeros((*r.shape, 2), dtype=r.dtype)[..., 1] for r in results]
        into(entry, args, kwargs, outs)
        if entry.name not in DRAWN_OTHERWISE:
            failures += [f"{case}: {m}" for m in wrong_values(entry, outs, results)]
    report(failures)


@pytest.mark.parametrize("entry", entries(_has_out), ids=ids)
def test_empty_is_resized_silently_and_other_shapes_with_a_warning(entry):
    failures = []
    silent = creates(entry) or entry.out.silent
    for case, args, kwargs, results in usable(entry):
        for start in ((0,), (7, 1)):
            outs = [retrograd.zeros(start, dtype=r.dtype) for r in results]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                into(entry, args, kwargs, outs)
            warned = any("was resized" in str(w.message) for w in caught)
            changed = any(tuple(r.shape) != start for r in results)
            if warned != (start == (7, 1) and changed and not silent):
                failures.append(f"{case}: out of shape {start}: {'a' if warned else 'no'} warning")
            if entry.name in SEQUENCES and results[0].numel() == 7:
                outs = [o.view(7) for o in outs]  # it had room for them
            if [o.shape for o in outs] != [r.shape for r in results]:
                failures.append(f"{case}: out of shape {start} becomes {[tuple(o.shape) for o in outs]}")
            failures += [f"{case}: {m}" for m in wrong_values(entry, outs, results)]
    report(failures)


@pytest.mark.parametrize("entry", entries(_has_out), ids=ids)
def test_autograd_is_refused(entry):
    if entry.kernel.kind in ("native", "pointwise") and not entry.grad:
        pytest.skip("has no derivative: there is nothing to refuse")
    for case in cases(entry):
        if not case.differentiable:
            continue
        _, kwargs, results = given(entry, case)
        with_grad, _, _ = case.bind(retrograd)
        if not any(getattr(r, "is_floating_point", bool)() for r in results):
            continue
        with pytest.raises(RuntimeError, match=r"out=... arguments don't support automatic differentiation"):
            into(entry, with_grad, kwargs, [retrograd.empty_like(r) for r in results])
        return
    pytest.skip("no differentiable sample")


def _casts(entry):
    return _has_out(entry) and (entry.kernel.kind == "pointwise" or entry.out.exact) and not creates(entry)


def words(text, **dtypes):
    return re.escape(text.removeprefix("TypeError: ").format(**dtypes))


@pytest.mark.parametrize("entry", entries(_casts), ids=ids)
def test_dtype_of_out(entry):
    """A floating result is cast to another floating dtype, never to an integer one; some ops want the very dtype."""
    rule = entry.out
    for case, args, kwargs, results in usable(entry):
        if results[0].dtype is not retrograd.float64 or not results[0].numel():
            continue
        outs = [retrograd.empty_like(r, dtype=retrograd.float32) for r in results]
        if rule.exact and not rule.in_dtype_of_out:
            expected = words(rule.exact[0], result="Double", out="Float", result_cpp="double", out_cpp="float")
            with pytest.raises(RuntimeError, match=expected):
                into(entry, args, kwargs, outs)
            return
        into(entry, args, kwargs, outs)
        if not rule.in_dtype_of_out:
            assert not differing(tensor_numbers(outs[0]), tensor_numbers(results[0].to(retrograd.float32)), 0), case
            expected = words(
                rule.cast or "result type {result} can't be cast to the desired output type {out}", result="Double", out="Long"
            )
            with pytest.raises(RuntimeError, match=expected):
                into(entry, args, kwargs, [retrograd.empty_like(results[0], dtype=retrograd.int64)])
        return
    pytest.skip("no floating sample")


@pytest.mark.parametrize(
    "make", [retrograd.zeros, retrograd.ones, retrograd.rand, retrograd.randn, retrograd.empty], ids=lambda f: f.__name__
)
def test_factories_make_a_leaf_of_out(make):
    out = retrograd.full((2,), 5.0)
    assert make(3, out=out, requires_grad=True) is out
    assert out.shape == (3,) and out.requires_grad and out.is_leaf


def test_factories_take_the_dtype_of_out():
    assert retrograd.eye(2, out=retrograd.zeros(2, 2, dtype=retrograd.bool)).tolist() == [[True, False], [False, True]]
    assert retrograd.arange(0, 2, 0.5, out=retrograd.zeros(4, dtype=retrograd.float64)).dtype is retrograd.float64
    with pytest.raises(RuntimeError, match=r"dtype Float does not match dtype of out parameter \(Long\)"):
        retrograd.zeros(3, out=retrograd.zeros(3, dtype=retrograd.int64), dtype=retrograd.float32)
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        retrograd.zeros(3, out=retrograd.zeros(3, dtype=retrograd.int64), requires_grad=True)


def test_sums_are_computed_in_the_dtype_of_out():
    x = retrograd.tensor([1.5, 1.5])
    assert retrograd.sum(x, dim=0, out=retrograd.zeros((), dtype=retrograd.int64)).item() == 2
    assert retrograd.cumsum(x, 0, out=retrograd.zeros(2, dtype=retrograd.int64)).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype double, but got float instead"):
        retrograd.sum(x, dim=0, dtype=retrograd.float64, out=retrograd.zeros(()))


def test_random_numbers_fill_the_memory_of_out_in_its_order():
    for draw, fill in ((retrograd.randn, "normal_"), (retrograd.rand, "uniform_")):
        retrograd.manual_seed(3)
        drawn = draw(8, 6, out=retrograd.zeros(6, 8).t())
        retrograd.manual_seed(3)
        assert drawn.tolist() == getattr(retrograd.zeros(6, 8).t(), fill)().tolist()


MATRIX = retrograd.eye(2) + 1


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (retrograd.linalg.inv, "Expected out tensor to have dtype float, but got double instead"),
        (retrograd.linalg.norm, "linalg.norm expected out tensor dtype Float but got: Double"),
        (retrograd.linalg.matrix_norm, "linalg.matrix_norm expected out tensor dtype Float but got: Double"),
        (lambda a, out: retrograd.linalg.vecdot(a, a, out=out), "linalg.vecdot: Expected out of dtypeFloat but found Double"),
        (lambda a, out: retrograd.linalg.solve_triangular(a, a, upper=True, out=out), "expected scalar type Float but found Double"),
        (lambda a, out: retrograd.tensordot(a, a, 1, out=out), "tensordot: Expected the output tensor to have dtype Float"),
        (lambda a, out: retrograd.linalg.multi_dot([a, a], out=out), "multi_dot(): expected out tensor to have dtype float but got double"),
        (lambda a, out: retrograd.quantile(a, 0.5, out=out), "quantile() out tensor must be same dtype as the input tensor"),
        (lambda a, out: retrograd.isin(a, a, out=out), "Expected out tensor to have dtype bool, but got double instead"),
        (retrograd.nonzero, "nonzero: Expected out tensor to have scalar type Long but got scalar typeDouble"),
    ],
)
def test_functions_in_python_want_the_very_dtype(function, words):
    with pytest.raises(RuntimeError, match=re.escape(words)):
        function(MATRIX, out=retrograd.empty(0, dtype=retrograd.float64))


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (retrograd.linalg.pinv, "linalg.pinv"),
        (retrograd.linalg.cond, "linalg.cond"),
        (retrograd.cholesky, "cholesky"),
        (lambda a, out: retrograd.matrix_power(a, 1, out=out), "matrix_power"),
        (lambda a, out: retrograd.linalg.householder_product(a, a[0], out=out), "torch.linalg.householder_product"),
    ],
)
def test_functions_in_python_cast_to_what_takes_the_result(function, name):
    wide = retrograd.empty(0, dtype=retrograd.float64)
    assert function(MATRIX, out=wide) is wide and wide.numel()
    with pytest.raises(
        RuntimeError, match=f"{name}: Expected result to be safely castable from Float dtype, but got result with dtype Int"
    ):
        function(MATRIX, out=retrograd.empty(0, dtype=retrograd.int32))


def test_functions_in_python_warn_before_they_resize():
    out = retrograd.empty(5)
    with pytest.warns(UserWarning, match=r"An output with one or more elements was resized since it had shape \[5\]"):
        retrograd.linalg.inv(MATRIX, out=out)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        retrograd.linalg.inv(MATRIX, out=out)
        retrograd.linalg.inv(MATRIX, out=retrograd.empty(0))
    pair = retrograd.empty(0), retrograd.empty(0)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype int, but got float instead"):
        retrograd.linalg.inv_ex(MATRIX, out=pair)
    assert pair[0].numel() == 0, "nothing is written before all are checked"


def test_lstsq_out():
    out = tuple(retrograd.empty(0, dtype=d) for d in (retrograd.float32, retrograd.float32, retrograd.int64, retrograd.float32))
    result = retrograd.linalg.lstsq(MATRIX, MATRIX, out=out)
    assert result.solution is out[0] and out[2].item() == 2
