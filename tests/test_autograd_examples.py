"""The scripts of examples/autograd print on PyTorch what they print here. What that is stands in docs/autograd-by-example.md, and tests/test_docs.py holds them to it."""

import pytest

from tests.autograd_scripts import NAMES, outputs

SUBJECTS = """
    leaf_and_grad_fn next_functions backward_twice retain_graph accumulation detach_and_item no_grad_and_inference_mode custom_function
    stable_logsumexp checkpointing anomaly_mode inplace_errors
""".split()  # noqa: SIM905 - a paragraph reads better than a list of strings


def test_there_is_one_for_each_subject():
    assert sorted(SUBJECTS) == NAMES


@pytest.mark.needs_torch
@pytest.mark.parametrize("name", NAMES)
def test_pytorch_prints_the_same(name):
    assert outputs("torch")[name] == outputs("retrograd")[name] != ""
