"""`x.op_()` writes what `op(x)` returns, into x, once, and differentiates the same."""

import pytest

import retrograd
from tests.ops.cases import cases
from tests.ops.harness import call, differing, entries, gradients, ids, report, variants_of
from tests.ops.tensors import tensor_numbers


def _both(entry):
    return "inplace" in entry.variants and variants_of(entry)[0] != "inplace" and entry.test.get("values") is not False


def expected_of(entry, case):
    """(what the op returns, its gradients, the values before)."""
    args, kwargs, inputs = case.bind(retrograd)
    result = call(retrograd, entry, args, kwargs)
    return result, args[0], gradients(retrograd, [result], inputs)


def refuses(method, args, kwargs):
    """True if a result that does not fit is refused; False if the op has given its input another shape, as `swapdims_` does."""
    try:
        method(*args, **kwargs)
    except RuntimeError:
        return True
    return False


def check(entry, case):
    result, before, expected_grads = expected_of(entry, case)
    args, kwargs, inputs = case.bind(retrograd)
    target = args[0].clone()
    version = target._version
    if entry.random:
        retrograd.manual_seed(1234)
    method = getattr(target, entry.name + "_")
    if result.shape != before.shape and refuses(method, args[1:], kwargs):
        return ""
    if not retrograd.can_cast(result.dtype, before.dtype) and result.dtype is not retrograd.bool:
        with pytest.raises(RuntimeError, match="can't be cast"):
            method(*args[1:], **kwargs)
        return ""
    returned = target if result.shape != before.shape else method(*args[1:], **kwargs)
    if returned is not target:
        return "does not return its input"
    if target.shape != result.shape:
        return f"in place gives {tuple(target.shape)}, expected {tuple(result.shape)} or a refusal"
    if target._version != version + 1 and entry.kernel.kind != "composite":  # tests/compat compares those with PyTorch's
        return f"raises the version by {target._version - version}"
    if target.dtype != before.dtype:
        return f"changes the dtype to {target.dtype}"
    if message := differing(tensor_numbers(target), tensor_numbers(result.to(before.dtype)), 1e-12):
        return message
    for i, (a, b) in enumerate(zip(gradients(retrograd, [target], inputs), expected_grads, strict=True)):
        a, b = ([0.0] * inputs[i].numel() if g is None else tensor_numbers(g) for g in (a, b))
        if message := differing(a, b, 1e-12):
            return f"gradient {i}: {message}"
    return ""


@pytest.mark.parametrize("entry", entries(_both), ids=ids)
def test_in_place_is_out_of_place(entry):
    failures = []
    for case in cases(entry):
        args, _, _ = case.bind(retrograd, grad=False)
        if not isinstance(args[0], retrograd.Tensor):
            continue
        if message := check(entry, case):
            failures.append(f"{case}: {message}")
    report(failures)


def _alone(entry):
    return variants_of(entry)[0] == "inplace"


@pytest.mark.parametrize("entry", entries(_alone), ids=ids)
def test_in_place_only_ops_return_self(entry):
    failures = []
    for case in cases(entry):
        args, kwargs, _ = case.bind(retrograd, grad=False)
        target = args[0]
        version = target._version
        if getattr(target, entry.name + "_")(*args[1:], **kwargs) is not target:
            failures.append(f"{case}: does not return its input")
        if target._version == version and entry.name not in ("set",) and target.numel():
            failures.append(f"{case}: does not raise the version")
    report(failures)


@pytest.mark.parametrize("entry", entries(lambda e: "inplace" in e.variants), ids=ids)
def test_leaf_that_requires_grad_is_refused(entry):
    case = next((c for c in cases(entry) if 0 in c.differentiable), None)
    if case is None:
        pytest.skip("no sample with a differentiable first argument")
    args, kwargs, _ = case.bind(retrograd)
    with pytest.raises(RuntimeError, match=r"a leaf Variable that requires grad is being used in an in-place operation|a view of a leaf"):
        getattr(args[0], entry.name + "_")(*args[1:], **kwargs)
