"""Bad input raises the exception the table says, in its words."""

import pytest

import optable
import retrograd
from tests.ops.cases import make_case
from tests.ops.harness import call, ids, variants_of

CASES = [(entry, i) for entry in optable.load() for i in range(len(entry.errors)) if variants_of(entry)]


@pytest.mark.parametrize(("entry", "index"), CASES, ids=ids)
def test_error_sample(entry, index):
    expected = entry.errors[index]
    args, kwargs, _ = make_case(entry, index, expected.sample).bind(retrograd, "float32", grad=False)
    with pytest.raises(expected.error, match=expected.match):
        call(retrograd, entry, args, kwargs)


@pytest.mark.parametrize("entry", [e for e in optable.load() if "method" in e.variants and e.errors], ids=ids)
def test_error_samples_as_methods(entry):
    for i, expected in enumerate(entry.errors):
        args, kwargs, _ = make_case(entry, i, expected.sample).bind(retrograd, "float32", grad=False)
        if isinstance(args[0], retrograd.Tensor) and expected.error is not TypeError:  # type errors name the other signature
            with pytest.raises(expected.error, match=expected.match):
                call(retrograd, entry, args, kwargs, "method")
