"""Errors that people meet every day, word for word: PyTorch's words in front, then the call with the sizes and dtypes it got, the lines that matter, why, and what to do.

Each function is a program that ends in an error; `<mark>` in the text stands for the line with that mark. tests/doctor/test_messages.py has those that need more than this.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn
from retrograd.nn import functional as F

CASES: list[tuple[Callable[[], Any], type[Exception], str]] = []


def ends_in(error: type[Exception], text: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def add(program: Callable[[], Any]) -> Callable[[], Any]:
        CASES.append((program, error, text.strip("\n")))
        return program

    return add


def whole(error: BaseException) -> str:
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


@ends_in(
    RuntimeError,
    """
The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1
  in add(float32[2, 3], float32[2, 4])
  Sizes are compared from the last dimension on, and have to be equal, or one of them 1.
  Hint: unsqueeze(), transpose() or expand() one of the tensors so that they are.
""",
)
def broadcasting() -> None:
    torch.ones(2, 3) + torch.ones(2, 4)


@ends_in(
    RuntimeError,
    """
mat1 and mat2 shapes cannot be multiplied (2x3 and 4x3)
  in matmul(float32[2, 3], float32[4, 3])
  The columns of the first, 3, have to be as many as the rows of the second, 4.
  Hint: the second fits when it is transposed, with .mT.
""",
)
def a_matrix_product() -> None:
    torch.ones(2, 3) @ torch.ones(4, 3)


@ends_in(
    RuntimeError,
    """
expected m1 and m2 to have the same dtype, but got: float != double
  in mm(input: float32[2, 3], mat2: float64[3, 4])
  Hint: convert one of them: .to(other.dtype).
""",
)
def a_product_of_two_dtypes() -> None:
    torch.mm(torch.ones(2, 3), torch.ones(3, 4, dtype=torch.float64))


@ends_in(
    IndexError,
    """
index 4 is out of bounds for dimension 1 with size 4
  in __getitem__(float32[3, 4], (0, 4))
""",
)
def an_index_that_is_not_there() -> None:
    torch.ones(3, 4)[0, 4]


@ends_in(
    IndexError,
    """
too many indices for tensor of dimension 2
  in __getitem__(float32[3, 4], (0, :, 0))
""",
)
def too_many_indices() -> None:
    torch.ones(3, 4)[0, :, 0]


@ends_in(
    IndexError,
    """
Dimension out of range (expected to be in range of [-2, 1], but got 2)
  in sum(self: float32[3, 4], dim=2)
""",
)
def a_dimension_that_is_not_there() -> None:
    torch.ones(3, 4).sum(dim=2)


@ends_in(
    RuntimeError,
    """
Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.FloatTensor instead (while checking arguments for embedding)
  in embedding(weight: float32[10, 2], indices: float32[2])
  Hint: indices are integers: convert them with .long().
""",
)
def an_embedding_of_floats() -> None:
    F.embedding(torch.tensor([0.0, 1.0]), torch.ones(10, 2))


@ends_in(
    IndexError,
    """
index out of range in self
  in embedding(weight: float32[10, 2], indices: int64[2])
  index 10 where there are 10: indices go from 0 to 9
""",
)
def a_row_that_an_embedding_lacks() -> None:
    F.embedding(torch.tensor([1, 10]), torch.ones(10, 2))


@ends_in(
    RuntimeError,
    """
expected target dtype to be Long or Byte, but got Float
  in cross_entropy_loss(input: float32[4, 3], target: float32[4])
  Hint: targets are class numbers: convert them with .long(). Probabilities of classes, for cross_entropy, are floats of the input's shape.
""",
)
def targets_of_floats() -> None:
    F.cross_entropy(torch.ones(4, 3), torch.zeros(4))


@ends_in(
    IndexError,
    """
Target 3 is out of bounds.
  in cross_entropy_loss(input: float32[2, 3], target: int64[2])
  The input has 3 classes, so targets go from 0 to 2.
  Hint: give the last layer as many outputs as there are classes, or mark what is to be left out with ignore_index.
""",
)
def a_class_that_is_not_there() -> None:
    F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 3]))


@ends_in(
    RuntimeError,
    """
view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.
  in view(self: float32[3, 2] with strides [1, 3], size=6)
""",
)
def a_view_of_a_transposed_matrix() -> None:
    torch.ones(2, 3).t().view(6)


@ends_in(
    RuntimeError,
    """
shape '[4, 2]' is invalid for input of size 6
  in reshape(self: float32[2, 3], 4, 2)
""",
)
def a_shape_of_another_size() -> None:
    torch.ones(2, 3).reshape(4, 2)


@ends_in(
    RuntimeError,
    """
a view of a leaf Variable that requires grad is being used in an in-place operation.
  in __setitem__(float32[3], 0, 5.0)
  the leaf has shape [3] and was made to require grad at <made>
  it is written at <write>
  The gradient is that of the value the leaf had, so a write that is recorded would leave it without one.
  Hint: write under torch.no_grad() if this is an update or an initialisation, or to a clone() if it is part of the computation.
""",
)
def a_write_to_a_view_of_a_leaf() -> None:
    w = torch.ones(3, requires_grad=True)  # made
    w[0] = 5.0  # write


@ends_in(
    RuntimeError,
    """
unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.
  in add_(self: float32[3, 4] with strides [1, 0], other=1)
""",
)
def a_write_to_an_expanded_tensor() -> None:
    torch.ones(3, 1).expand(3, 4).add_(1)


@ends_in(
    RuntimeError,
    """
output with shape [3] doesn't match the broadcast shape [2, 3]
  in mul_(self: float32[3], other: float32[2, 3])
  A tensor that is written in place keeps its shape.
  Hint: use the result of the op that is not in place, or expand() the tensor before it is computed.
""",
)
def a_write_that_would_grow_a_tensor() -> None:
    torch.ones(3).mul_(torch.ones(2, 3))


@ends_in(
    RuntimeError,
    """
result type Float can't be cast to the desired output type Long
  in add_(int64[3], 0.5)
  A tensor that is written keeps its dtype.
  Hint: use the result of the op that is not in place, or make the tensor of float32 first: .to(torch.float32).
""",
)
def a_write_of_floats_to_integers() -> None:
    x = torch.ones(3, dtype=torch.int64)
    x += 0.5


@ends_in(
    RuntimeError,
    """
Error(s) in loading state_dict for Linear:
\tMissing key(s) in state_dict: "bias".\x20
\tUnexpected key(s) in state_dict: "scale".\x20
\tsize mismatch for weight: copying a param with shape torch.Size([3, 4]) from checkpoint, the shape in current model is torch.Size([3, 2]).
""",
)
def a_state_dict_of_another_model() -> None:
    nn.Linear(2, 3).load_state_dict({"weight": torch.ones(3, 4), "scale": torch.ones(2)})


@ends_in(
    RuntimeError,
    """
Error(s) in loading state_dict for Linear:
\tMissing key(s) in state_dict: "weight", "bias".\x20
\tUnexpected key(s) in state_dict: "module.weight", "module.bias".\x20
\tHint: the names of the state_dict begin with 'module.' and the others do not. Load {k.removeprefix('module.'): v for k, v in state_dict.items()}.
""",
)
def a_state_dict_of_a_wrapped_model() -> None:
    state = {f"module.{name}": value for name, value in nn.Linear(2, 3).state_dict().items()}
    nn.Linear(2, 3).load_state_dict(state)


@ends_in(
    RuntimeError,
    """
Function HalfBackward returned an invalid gradient at index 0 - got [2] but expected shape compatible with [4]
  returned by its backward at <returned>
  Hint: backward returns one gradient for each argument of forward, of the argument's shape, or None where there is none.
  in backward of HalfBackward, made at <applied>
""",
)
def gradients_of_the_wrong_shape() -> None:
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x[:2]

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad  # returned

    Half.apply(torch.ones(4, requires_grad=True)).sum().backward()  # applied


@ends_in(
    RuntimeError,
    """
hook 'first_two' has changed the size of value: the gradient was [3], the hook returned [2]
  the hook is defined at <hook>
  in backward of MulBackward0, made at <op>
""",
)
def a_hook_that_changes_the_size() -> None:
    def first_two(grad: Any) -> Any:  # hook
        return grad[:2]

    y = torch.ones(3, requires_grad=True) * 2  # op
    y.register_hook(first_two)
    y.sum().backward()


@ends_in(
    ValueError,
    """
optimizer got an empty parameter list
  Hint: model.parameters() is a generator, which can be gone through once. And layers in a plain list or dict are not parts of a model: use nn.ModuleList or nn.ModuleDict.
""",
)
def an_optimizer_of_nothing() -> None:
    torch.optim.SGD([], lr=0.1)


@ends_in(
    ValueError,
    """
can't optimize a non-leaf Tensor
  parameter 0, of shape [3], was computed by MulBackward0 at <scaled>
  Gradients are kept for leaves, and a step would not change what it was computed from.
  Hint: give the optimizer the leaf, or make this one: tensor.detach().requires_grad_(), behind .to(device) or a scaling.
""",
)
def an_optimizer_of_what_was_computed() -> None:
    w = torch.ones(3, requires_grad=True) * 0.1  # scaled
    torch.optim.Adam([w])


@ends_in(
    RuntimeError,
    """
Trying to resize storage that is not resizable: its memory is shared with NumPy, DLPack or another library
  in resize_(self: float64[3], size=100)
  Hint: resize a clone() of the tensor, which has memory of its own.
""",
)
def resizing_memory_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    torch.from_numpy(np.ones(3)).resize_(100)


@ends_in(
    RuntimeError,
    """
Expected all tensors to be on the same device, but found at least two devices, meta and cpu! (in mul)
  in mul(float32[3] on meta, float32[3])
  Hint: move one of them with .to(device); a model and its input belong together.
""",
)
def tensors_of_two_devices() -> None:
    torch.ones(3, device="meta") * torch.ones(3)


@ends_in(
    NotImplementedError,
    """
Cannot copy out of meta tensor; no data!
  in to(self: float32[3] on meta, device='cpu')
  Hint: module.to_empty(device='cpu') gives a module memory, which is then to be filled, for example by load_state_dict(); of a tensor torch.empty_like(t, device='cpu') does.
""",
)
def values_of_a_meta_tensor() -> None:
    torch.ones(3, device="meta").to("cpu")


@ends_in(
    RuntimeError,
    """
Given groups=1, weight of size [4, 3, 3, 3], expected input[2, 8, 8, 3] to have 3 channels, but got 8 channels instead
  in conv2d(input: float32[2, 8, 8, 3], weight: float32[4, 3, 3, 3], bias: float32[4], stride=(1, 1), padding=(0, 0), dilation=(1, 1))
in 0 (Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1))): got input [2, 8, 8, 3], expected [N, 3, H, W] or [3, H, W]
  the layer was made at <layer> and called at <call>
  Hint: the channels are last, and belong before the places: input.permute(0, 3, 1, 2).
""",
)
def a_convolution_of_other_channels() -> None:
    net = nn.Sequential(nn.Conv2d(3, 4, 3))  # layer
    net(torch.ones(2, 8, 8, 3))  # call


@ends_in(
    ValueError,
    """
Expected more than 1 value per channel when training, got input size torch.Size([1, 3])
  The variance of one value is zero.
  Hint: train with batches of two or more (DataLoader(..., drop_last=True) leaves out a last one that is smaller), or call model.eval() for predictions.
in BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True): got input [1, 3], expected [N, 3] or [N, 3, L]
  the layer was made at <layer> and called at <call>
""",
)
def a_batch_norm_of_one_value() -> None:
    norm = nn.BatchNorm1d(3)  # layer
    norm(torch.ones(1, 3))  # call


@ends_in(
    RuntimeError,
    """
Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.
""",
)
def numpy_of_a_tensor_that_requires_grad() -> None:
    torch.ones(3, requires_grad=True).numpy()


@ends_in(
    RuntimeError,
    """
Boolean value of Tensor with more than one value is ambiguous
  it has shape [3]
  Hint: say which truth is meant: .any(), .all(), or .numel() > 0; element by element there are torch.where(), & and | (in place of if, and, or); of an optional tensor ask `is not None`.
""",
)
def the_truth_of_several_elements() -> None:
    if torch.ones(3) > 0:
        pass


@ends_in(
    RuntimeError,
    """
a Tensor with 4 elements cannot be converted to Scalar
  it has shape [2, 2]
  Hint: reduce it to one number, as .mean() or .sum() do, take one of its elements, or use .tolist() for all.
""",
)
def one_number_of_several() -> None:
    torch.ones(2, 2).item()


@ends_in(
    NotImplementedError,
    """
"softmax_lastdim_kernel_impl" not implemented for 'Long'
  in softmax(self: int64[3], dim=0)
  Hint: use another dtype, for example torch.float32 by .float().
""",
)
def a_dtype_that_an_op_does_not_take() -> None:
    torch.arange(3).softmax(0)


@ends_in(
    RuntimeError,
    """
mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long
  in mean(self: int64[3])
  Hint: the mean of integers is a fraction: .float().mean(), or mean(dtype=torch.float32).
""",
)
def the_mean_of_integers() -> None:
    torch.arange(3).mean()


@ends_in(
    RuntimeError,
    """
Only Tensors of floating point and complex dtype can require gradients, and this one is of torch.int64
  Hint: make it of floats, with 1.0 for 1 or dtype=torch.float32.
""",
)
def integers_that_shall_require_grad() -> None:
    torch.tensor([1, 2], requires_grad=True)


@ends_in(
    RuntimeError,
    """
all elements of input should be between 0 and 1
  in binary_cross_entropy(input: float32[1], target: float32[1])
  Hint: this loss takes probabilities: apply sigmoid() first, or use binary_cross_entropy_with_logits, which takes scores of any size.
""",
)
def probabilities_that_are_none() -> None:
    F.binary_cross_entropy(torch.tensor([1.5]), torch.tensor([1.0]))


@ends_in(
    RuntimeError,
    """
Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4 for tensor number 1 in the list.
  in cat(tensors=[float32[2, 3], float32[2, 4]])
""",
)
def joining_tensors_that_do_not_fit() -> None:
    torch.cat([torch.ones(2, 3), torch.ones(2, 4)])


@ends_in(
    RuntimeError,
    """
The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1
  in add(float32[3] of each sample, float32[4])
  Sizes are compared from the last dimension on, and have to be equal, or one of them 1.
  Hint: unsqueeze(), transpose() or expand() one of the tensors so that they are.
""",
)
def a_shape_inside_vmap() -> None:
    torch.vmap(lambda x: x + torch.ones(4))(torch.ones(5, 3))


@ends_in(
    RuntimeError,
    """
The size of tensor a (5) must match the size of tensor b (3) at non-singleton dimension 0
  in add_(self: float32[5], other: float32[3], alpha=-0.1)
  Sizes are compared from the last dimension on, and have to be equal, or one of them 1.
  Hint: unsqueeze(), transpose() or expand() one of the tensors so that they are.
  parameter 0, of shape [5], has a gradient of shape [3]: it has changed its size since.
  Hint: make a new optimizer for parameters of a new size, and compute their gradients anew.
""",
)
def a_step_of_a_parameter_that_changed_its_size() -> None:
    w = torch.ones(3, requires_grad=True)
    (w * 2).sum().backward()
    w.data = torch.ones(5)
    torch.optim.SGD([w], lr=0.1).step()


@ends_in(
    RuntimeError,
    """
hook 'shorter' has changed the size of value: the grad_output was [2, 2], the hook returned [1, 2]
  the hook is defined at <hook>
  in backward of BackwardHookFunctionBackward, made at <call>
""",
)
def a_module_hook_that_changes_the_size() -> None:
    def shorter(module: Any, grad_output: Any) -> Any:  # hook
        return (grad_output[0][:1],)

    layer = nn.Linear(3, 2)
    layer.register_full_backward_pre_hook(shorter)
    layer(torch.ones(2, 3, requires_grad=True)).sum().backward()  # call


@ends_in(
    ValueError,
    """
not again
  while a checkpoint was computed again for backward; checkpoint() was called at <called>
  in backward of ExpBackward0, made at <op>
""",
)
def a_checkpoint_that_fails_the_second_time() -> None:
    times: list[int] = []

    def block(x: Any) -> Any:
        times.append(1)
        if len(times) == 2:
            raise ValueError("not again")
        return x.exp()  # op

    torch.utils.checkpoint.checkpoint(block, torch.ones(3, requires_grad=True), use_reentrant=False).sum().backward()  # called


@ends_in(
    AssertionError,
    """
No inf checks were recorded for this optimizer. None of the parameters of this SGD has a gradient.
  Hint: call scaler.scale(loss).backward() before scaler.step(optimizer), for a loss that depends on them.
""",
)
def a_scaler_without_gradients() -> None:
    optimizer = torch.optim.SGD(nn.Linear(2, 1).parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(torch.ones(1))
    scaler.step(optimizer)


@ends_in(
    RuntimeError,
    """
The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot be clipped. Pass `error_if_nonfinite=False` to scale the gradients by it anyway.
  1 of 1 gradients are not finite, the first of shape [3]
  Hint: torch.autograd.set_detect_anomaly(True) names the op whose derivative is not.
""",
)
def clipping_what_is_not_finite() -> None:
    w = torch.ones(3, requires_grad=True)
    (w * float("inf")).sum().backward()
    nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=True)


@pytest.mark.parametrize(("program", "error", "text"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_whole_text(program: Callable[[], Any], error: type[Exception], text: str) -> None:
    lines, first = inspect.getsourcelines(program)
    for i, line in enumerate(lines):
        _, _, mark = line.rstrip().partition("  # ")
        text = text.replace(f"<{mark}>", f"{__file__}:{first + i}") if mark else text
    with torch.doctor.off(), pytest.raises(error) as caught:
        program()
    assert type(caught.value) is error and whole(caught.value) == text
