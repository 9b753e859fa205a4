"""`out=`: written into, resized with a warning when the shape is wrong, refused when the dtype or autograd forbids it."""

import warnings

import pytest

import retrograd
from tests.ops.cases import cases
from tests.ops.harness import call, differing, entries, ids, report
from tests.ops.tensors import flatten, tensor_numbers


def _has_out(entry):
    return "out" in entry.variants and "function" in entry.variants


def given(entry, case):
    """(args, kwargs, results without out=)."""
    args, kwargs, _ = case.bind(retrograd, grad=False)
    kwargs.pop("requires_grad", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return args, kwargs, flatten(call(retrograd, entry, args, kwargs))


def into(entry, args, kwargs, outs):
    return call(retrograd, entry, args, {**kwargs, "out": outs[0] if len(outs) == 1 else tuple(outs)}, "function")


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
        failures += [f"{case}: {m}" for m in wrong_values(entry, outs, results)]
    report(failures)


@pytest.mark.parametrize("entry", entries(_has_out), ids=ids)
def test_empty_is_resized_silently_and_other_shapes_with_a_warning(entry):
    failures = []
    for case, args, kwargs, results in usable(entry):
        for start in ((0,), (7, 1)):
            outs = [retrograd.zeros(start, dtype=r.dtype) for r in results]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                into(entry, args, kwargs, outs)
            warned = any("was resized" in str(w.message) for w in caught)
            changed = any(tuple(r.shape) != start for r in results)
            if warned != (start == (7, 1) and changed):
                failures.append(f"{case}: out of shape {start}: {'a' if warned else 'no'} warning")
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
    """Elementwise ops and sums cast into out where the kinds of dtype allow it."""
    return _has_out(entry) and entry.kernel.kind == "pointwise"


@pytest.mark.parametrize("entry", entries(_casts), ids=ids)
def test_dtype_of_out(entry):
    """A floating result is cast to another floating dtype, never to an integer one."""
    for case, args, kwargs, results in usable(entry):
        if results[0].dtype is not retrograd.float64 or not results[0].numel():
            continue
        narrow = retrograd.empty_like(results[0], dtype=retrograd.float32)
        into(entry, args, kwargs, [narrow])
        assert not differing(tensor_numbers(narrow), tensor_numbers(results[0].to(retrograd.float32)), 0), case
        with pytest.raises(RuntimeError, match="result type Double can't be cast to the desired output type Long"):
            into(entry, args, kwargs, [retrograd.empty_like(results[0], dtype=retrograd.int64)])
        return
    pytest.skip("no floating sample")
