"""The whole text of the errors that people meet most: PyTorch's words in front, then the lines of the cause and of the effect, sizes, and what to do."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn


def message(run: Callable[[], Any], error: type[Exception] = RuntimeError) -> tuple[str, str | None, Callable[[str], str]]:
    """The text of what a function raises, its code, and where a line of the function (by a comment on it) stands."""
    lines, first = inspect.getsourcelines(run)
    with pytest.raises(error) as caught:
        run()

    def at(mark: str) -> str:
        (offset,) = [i for i, line in enumerate(lines) if line.rstrip().endswith(f"# {mark}")]
        return f"{__file__}:{first + offset}"

    notes = "".join("\n" + note for note in getattr(caught.value, "__notes__", ()))
    return str(caught.value) + notes, getattr(caught.value, "code", None), at


def test_a_tensor_without_history() -> None:
    def run() -> None:
        w = torch.ones(3, requires_grad=True)
        with torch.no_grad():  # mode
            loss = (w * 2).sum()  # op
        loss.backward()

    text, code, at = message(run)
    assert text.startswith("element 0 of tensors does not require grad and does not have a grad_fn")
    assert code == "training_without_grad"
    assert at("mode") in text and at("op") in text and "Hint: compute what is to be differentiated outside of that block" in text


def test_backward_a_second_time() -> None:
    def run() -> None:
        w = torch.ones(3, requires_grad=True)
        shared = w.exp()  # part
        shared.sum().backward()  # first
        (shared * 2).sum().backward()  # again

    text, code, at = message(run)
    assert text.startswith(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed)."
    )
    assert code == "backward_twice"
    assert f"the graph was freed at ExpBackward0, made at {at('part')}" in text
    assert f"by the first backward at {at('first')}" in text and f"needed again by the backward at {at('again')}" in text
    assert "retain_graph=True" in text and "state.detach()" in text


def test_modified_by_an_inplace_operation() -> None:
    def run() -> None:
        w = torch.ones(2, 3, requires_grad=True)
        h = torch.sigmoid(w)  # saved
        h.add_(1)  # write
        h.sum().backward()

    text, code, at = message(run)
    assert text.startswith(
        "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [2, 3]], which is output 0 of Sigmoid,"
        " is at version 1; expected version 0 instead."
    )
    assert code == "inplace_corruption"
    assert (
        f"saved for SigmoidBackward0 at {at('saved')}" in text
        and f"changed at {at('write')}" in text
        and "Hint: write to a clone() instead" in text
    )


def test_written_through_numpy() -> None:
    def run() -> None:
        np = pytest.importorskip("numpy")
        array = np.ones(3, dtype=np.float32)
        w = torch.ones(3, requires_grad=True)
        loss = (w * torch.from_numpy(array)).sum()  # saved
        array[0] = 7.0  # write
        loss.backward()

    text, code, at = message(run)
    assert "was written from outside, through a NumPy array or DLPack capsule" in text and code == "inplace_corruption"
    assert f"saved for MulBackward0 at {at('saved')}" in text and at("write").rpartition("/")[2] in text


def test_write_to_a_leaf() -> None:
    def run() -> None:
        w = torch.ones(3, requires_grad=True)  # made
        w += 1  # write

    text, _, at = message(run)
    assert text.startswith("a leaf Variable that requires grad is being used in an in-place operation.")
    assert f"the leaf has shape [3] and was made to require grad at {at('made')}" in text and f"it is written at {at('write')}" in text
    assert "Hint: write under torch.no_grad()" in text


def test_only_for_scalar_outputs() -> None:
    def run() -> None:
        w = torch.ones(3, requires_grad=True)
        losses = w * 2  # op
        losses.backward()  # call

    text, code, at = message(run)
    assert text.startswith("grad can be implicitly created only for scalar outputs") and code == "non_scalar_backward"
    assert (
        f"this tensor has shape [3] and was made by MulBackward0 at {at('op')}" in text
        and f"its backward was asked for at {at('call')}" in text
    )
    assert "Hint: reduce it first, for example with .sum() or .mean()" in text


@pytest.mark.parametrize("use", ["saved", "written", "asked"])
def test_inference_tensor(use: str) -> None:
    def run() -> None:
        with torch.inference_mode():
            features = torch.ones(2, 3)
            features = features * 2  # made
        if use == "saved":
            (features * torch.ones(3, requires_grad=True)).sum()  # used
        elif use == "written":
            features.add_(1)  # used in place
        else:
            features.requires_grad_()  # asked

    text, code, at = message(run)
    words = {
        "saved": ("Inference tensors cannot be saved for backward.", "used"),
        "written": ("Inplace update to inference tensor outside InferenceMode is not allowed.", "used in place"),
        "asked": ("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.", "asked"),
    }[use]
    assert text.startswith(words[0]) and code == "inference_tensor_misuse"
    assert f"it was made in inference mode at {at('made')}" in text and f"and is used at {at(words[1])}" in text
    assert "clone()" in text and "torch.no_grad()" in text


def test_unused_in_the_graph() -> None:
    def run() -> None:
        x = torch.ones(2, requires_grad=True)
        z = torch.ones(4, requires_grad=True)  # input
        loss = (x * 2).sum()  # graph
        torch.autograd.grad(loss, [x, z])

    text, _, at = message(run)
    assert text.startswith(
        "The differentiated Tensor at index 1 appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior."
    )
    assert f"it has shape [4] and was made at {at('input')}" in text and f"the graph ends in SumBackward0, made at {at('graph')}" in text


def test_input_that_does_not_require_grad() -> None:
    def run() -> None:
        x = torch.ones(2, requires_grad=True)
        y = x.detach()  # cut
        torch.autograd.grad((x * y).sum(), y)

    text, _, at = message(run)
    assert text.startswith("One of the differentiated Tensors does not require grad")
    assert "it is input 0, of shape [2]" in text and at("cut") in text


def test_size_mismatch_in_a_layer() -> None:
    def run() -> None:
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(6, 1))  # made
        model(torch.ones(2, 4))  # called

    text, _, at = message(run)
    assert text.startswith("mat1 and mat2 shapes cannot be multiplied (2x8 and 6x1)")
    assert "in 2 (Linear(in_features=6, out_features=1, bias=True)): got input [2, 8], expected [..., 6]" in text
    assert f"the layer was made at {at('made')} and called at {at('called')}" in text
    assert "Hint: make it with in_features=8, or give it an input whose last size is 6." in text


def test_dtype_mismatch() -> None:
    def run() -> None:
        model = nn.Linear(4, 2)  # made
        model(torch.ones(3, 4, dtype=torch.float64))  # called

    text, _, at = message(run)
    assert text.startswith("mat1 and mat2 must have the same dtype, but got Double and Float")
    assert "got input [3, 4] of float64, expected [..., 4] of float32" in text
    assert f"the layer was made at {at('made')} and called at {at('called')}" in text
    assert "Hint: convert one of them: the input with .to(torch.float32), or the model with .to(torch.float64)." in text


def test_wrong_gradients_of_a_function() -> None:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            return x * factor

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    def run() -> None:
        with torch.doctor.off():
            Scale.apply(torch.ones(3, requires_grad=True), 2.0).sum().backward()  # applied

    text, code, at = message(run)
    assert text.startswith("function ScaleBackward returned an incorrect number of gradients (expected 2, got 1)")
    assert code == "custom_function_wrong_gradient"
    assert "returned by its backward at " + __file__ in text and at("applied") in text


def test_a_checkpoint_that_does_something_else() -> None:
    from retrograd.utils.checkpoint import CheckpointError, checkpoint

    sizes = iter(range(2, 9))

    def block(x: Any) -> Any:
        return x.expand(next(sizes), 3).exp().sum()

    def run() -> None:
        loss = checkpoint(block, torch.ones(3, requires_grad=True), use_reentrant=False)  # called
        loss.backward()

    text, code, at = message(run, CheckpointError)
    assert text.startswith(
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass."
    )
    assert code == "checkpoint_side_effects" and f"checkpoint() was called at {at('called')}" in text
