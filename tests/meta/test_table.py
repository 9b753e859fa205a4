"""The op table is complete: every entry says what it does, how it is tried, and which arguments are differentiable."""

import re

import pytest

import optable
from optable.samples import S
from tests.ops.cases import all_cases, edge_samples, specs_of
from tests.ops.harness import ids, variants_of

TABLE = optable.load()
PUBLIC = [entry for entry in TABLE if variants_of(entry)]
WITH_EDGES = [entry for entry in PUBLIC if edge_samples(entry)]
NO_SAMPLES = {  # op: why
    "embedding_renorm_": "it writes, and has no form that does not: runs in tests/programs/tables.py",
    "imag": "there are no complex tensors to call it on",
    "lu_unpack": "takes pivots that only a factorisation can make: runs in linalg_lu",
    "lu_solve": "takes pivots that only a factorisation can make: runs in linalg_lu_solve",
    "_linalg_eig": "runs in linalg_eig and linalg_eigvals",
    "_linalg_eigh": "runs in linalg_eigh and linalg_eigvalsh",
    "_linalg_svd": "runs in linalg_svd and linalg_svdvals",
    "nll_loss_backward": "takes what nll_loss_forward gives: runs in the derivatives of nll_loss",
}
SETTINGS = {
    "alias", "compat", "grad", "gradcheck", "gradcheck_skip_samples", "gradgrad", "gradgrad_skip_samples", "inplace_grad", "ours",
    "node", "noncontiguous", "only_complex", "symmetric", "values", "warns",
}  # fmt: skip


@pytest.mark.parametrize("entry", TABLE, ids=ids)
def test_doc(entry):
    assert re.fullmatch(r"\S[^\n]*[.)`]", entry.doc), "one sentence that says what the op does"


@pytest.mark.parametrize("entry", PUBLIC, ids=ids)
def test_samples(entry):
    assert entry.samples or entry.qualified in NO_SAMPLES


@pytest.mark.parametrize("entry", WITH_EDGES, ids=ids)
def test_zero_dimensions_and_empty_tensors_are_covered(entry):
    """By a sample of the table, or by an edge that the harness makes of the first one."""
    shapes = [spec.shape for case in all_cases(entry) for spec in specs_of(case.sample)]
    assert () in shapes
    assert any(0 in shape for shape in shapes)


@pytest.mark.parametrize("entry", TABLE, ids=ids)
def test_settings_are_known(entry):
    assert set(entry.test) <= SETTINGS


def floating_inputs(entry):
    """Tensor arguments that samples give floating numbers to differentiate."""
    found = set()
    for sample in entry.samples or ():
        for key, value in [*enumerate(sample.args), *sample.kwargs.items()]:
            name = key if isinstance(key, str) else entry.params[key].name if key < len(entry.params) else ""
            if any(spec.kind == "float" and spec.grad for spec in specs_of(S(value))):
                found.add(name)
    return found


def nonsense(**fields):
    """Enters an op of two tensors that records itself."""
    return optable.op("nonsense(Tensor self, Tensor other) -> Tensor", kernel=optable.native(), doc="Nonsense.", **fields)


def test_a_kernel_without_derivatives_says_why():
    with pytest.raises(ValueError, match="neither derivatives nor no_grad"):
        nonsense()
    with pytest.raises(ValueError, match="each tensor is in one of them"):
        nonsense(grad={"self": "grad"})
    with pytest.raises(ValueError, match="each tensor is in one of them"):
        nonsense(grad={"self": "grad"}, nondiff=("other", "third"))
    with pytest.raises(ValueError, match="no_grad beside derivatives"):
        nonsense(grad={"self": "grad", "other": "grad"}, no_grad=optable.facts.INTEGERS)
    assert "nonsense" not in {entry.name for entry in TABLE}


def _records_itself(entry):
    """Ops with derivatives of their own; composites and Python functions inherit theirs."""
    return optable.target(entry).kernel.kind in ("native", "pointwise", "view") and bool(optable.target(entry).grad)


@pytest.mark.parametrize("entry", [e for e in PUBLIC if _records_itself(e)], ids=ids)
def test_every_differentiated_argument_has_a_formula(entry):
    """Samples differentiate what has a formula; other floating arguments say `grad=False` in the sample or stand in `nondiff`."""
    source = optable.target(entry)
    formulas = {name for key in source.grad for name in key.split(", ")}
    missing = floating_inputs(entry) - formulas - set(source.nondiff)
    assert not missing or entry.test.get("grad") is False, f"no formula for {sorted(missing)}: write one or declare them nondiff"


@pytest.mark.parametrize("entry", [e for e in TABLE if e.grad], ids=ids)
def test_every_formula_is_sampled(entry):
    """Each formula of a public op is tried by a sample that differentiates its input."""
    formulas = {n for key, text in entry.grad.items() if not text.startswith("not_implemented") for n in key.split(", ")}
    if not variants_of(entry) or not entry.samples or entry.test.get("grad") is False:
        pytest.skip("tested through the ops that use it")
    assert formulas <= floating_inputs(entry), f"no sample differentiates {sorted(formulas - floating_inputs(entry))}"


def test_names_of_nodes_are_pytorchs_form():
    odd = [
        f"{entry.qualified}: {entry.node}"
        for entry in TABLE
        if entry.grad and not re.fullmatch(r"[A-Z]\w*Backward(\d+(_copy)?|s)", entry.node)
    ]
    assert not odd
