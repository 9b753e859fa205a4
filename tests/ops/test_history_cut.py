"""What an op computes inherits the note that says where a history was cut; the op itself leaves one where it cuts."""

import warnings

import pytest

import retrograd
from tests.ops.cases import cases
from tests.ops.harness import call, entries, flatten, ids, report, variants_of

# Results that hold nothing of the values of the tensors: new ones that are only like them, and what is overwritten.
NO_VALUES = {"zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like", "randint_like", "copy.number"}
SAMPLES = {"matrix_power": "the power 0 is the identity", "linalg_lu": "its permutation is made of integers"}


def reads_values(entry):
    overwrites = entry.grad.get("self", "").startswith("zeros_of(") and "inplace" in variants_of(entry)
    other = {entry.name, entry.qualified} & (NO_VALUES | SAMPLES.keys()) or entry.name.startswith("new_")
    return not overwrites and not other and any(p.is_tensor for p in entry.params)


def kinds(tensor):
    return {note[0] for note in tensor._cut}


def without_notes(entry, case, variant, prepare, expected):
    """Names the outputs of one sample that say nothing, or something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args, kwargs, inputs = case.bind(retrograd)
        if not all(x.is_leaf for x in args if isinstance(x, retrograd.Tensor)) or not inputs:
            return []
        with prepare(inputs):
            try:
                outputs = flatten(call(retrograd, entry, args, kwargs, variant))
            except RuntimeError:
                assert variant == "inplace"  # a result that does not fit
                return []
    return [
        f"{case} as {variant}, output {i}: {kinds(o) or 'nothing'}"
        for i, o in enumerate(outputs)
        if isinstance(o, retrograd.Tensor) and not o.requires_grad and o.numel() and expected not in kinds(o)
    ]


def frozen(inputs):
    for x in inputs:
        x.requires_grad_(False)
    return retrograd.enable_grad()


def untracked(inputs):
    return retrograd.no_grad()


@pytest.mark.parametrize(("prepare", "expected"), [(frozen, "frozen"), (untracked, "no_grad")])
@pytest.mark.parametrize("entry", entries(reads_values), ids=ids)
def test_results_say_where_they_were_cut(entry, prepare, expected):
    report(
        [
            line
            for case in cases(entry)[:3]
            for variant in variants_of(entry)
            for line in without_notes(entry, case, variant, prepare, expected)
        ]
    )
