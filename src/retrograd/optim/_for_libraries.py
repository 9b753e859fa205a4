"""What optimizers of other libraries import from torch.optim.optimizer: which way to compute there is, and values as numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import Tensor

_foreach_doc = "foreach (bool, optional): accepted, and ignored: parameters are stepped one after the other (default: None)"
_fused_doc = "fused (bool, optional): accepted, and ignored: the step is one pass over memory where it can be (default: None)"
_capturable_doc = "capturable (bool, optional): for graphs of an accelerator, refused on the CPU (default: False)"
_differentiable_doc = "differentiable (bool, optional): records the step itself, for gradients through it (default: False)"
_maximize_doc = "maximize (bool, optional): goes up instead of down (default: False)"
_params_doc = "params (iterable): tensors, (name, tensor) pairs, or dictionaries with options of their own"


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A step that is recorded where the optimizer is differentiable, and not otherwise."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _C.set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)

    return step


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[Any], Any]:
    """A decorator that leaves a function as it is: nothing here compiles it."""
    return lambda function: function


def _get_value(x: Any) -> Any:
    """The number in a tensor of one element."""
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x: Any) -> Any:
    """A tensor of one element without dimensions."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() != 0 else x


def _stack_if_compiling(x: Any) -> Any:
    return x


def _get_scalar_dtype(is_fused: bool | None = None) -> _C.dtype:
    """The dtype of numbers of steps."""
    return _C.float64 if not is_fused and _C.get_default_dtype() == _C.float64 else _C.float32


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Puts real views in place of complex tensors, into these lists."""
    for i, param in enumerate(params):
        if param.is_complex():
            for tensors in (params, *state_and_grads):
                tensors[i] = _C._ops.view_as_real(tensors[i])


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    return ["cuda", "xpu", "hpu", "privateuseone", *["xla"] * supports_xla]


def _get_foreach_kernels_supported_devices() -> list[str]:
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _can_be_fused(p: Tensor) -> bool:
    return p.device.type in _get_fused_kernels_supported_devices() and p.is_floating_point()


def _default_to_fused_or_foreach(params: list[Any], differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """Which of (fused, foreach) an optimizer takes that was told neither: on the CPU never the second."""
    return use_fused and not differentiable and all(p is None or _can_be_fused(p) for p in params), False


def _device_dtype_check_for_fused(p: Tensor, cuda_unsupported: bool = False) -> None:
    """Refuses parameters that fused steps are not for."""
    if not _can_be_fused(p):
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors of supported devices: "
            f"{_get_fused_kernels_supported_devices()} but torch.{str(p.dtype).rpartition('.')[2]} and {p.device.type}"
        )


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Any]], with_indices: bool = False
) -> dict[tuple[_C.device, _C.dtype], tuple[list[list[Any]], list[int]]]:
    """Lists side by side, apart by the device and dtype of the first one's tensors, with the places they had if asked for."""
    places: dict[Any, list[int]] = {}
    for i, tensor in enumerate(tensorlistlist[0]):
        places.setdefault((tensor.device, tensor.dtype), []).append(i)
    return {
        key: ([[each[i] for i in at] if each else [] for each in tensorlistlist], at if with_indices else []) for key, at in places.items()
    }
