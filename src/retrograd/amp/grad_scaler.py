"""GradScaler: multiplies losses so that small gradients survive in float16, divides gradients before the step, and skips steps whose gradients are
not finite.

An optimizer goes READY -> (unscale_) UNSCALED -> (step) STEPPED, and update() makes all of them READY again.
"""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

import retrograd as torch
from retrograd import Tensor

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """How far an optimizer is since the last `update()`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


_live: weakref.WeakSet[GradScaler] = weakref.WeakSet()  # for the doctor: gradients that overflow are meant while one is at work


class GradScaler:
    """Keeps a scale for losses: it grows while gradients are finite and shrinks when they are not.

    Args:
        device: the kind of device. Where there is no CUDA, "cuda" warns and the scaler does nothing.
        init_scale: the scale at first.
        growth_factor, growth_interval: what it is multiplied by after so many finite steps in a row.
        backoff_factor: what it is multiplied by after a step that was skipped.
        enabled: False makes `scale` return what it is given, and `step` step.

    Example:
        >>> weight = torch.nn.Parameter(torch.ones(2))
        >>> optimizer = torch.optim.SGD([weight], lr=0.1)
        >>> scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
        >>> scaler.scale(weight.sum()).backward()
        >>> weight.grad
        tensor([8., 8.])
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> weight.grad
        tensor([1., 1.])
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda":
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError(f"The growth factor must be > 1.0. Got {growth_factor}.")
        if backoff_factor >= 1.0:
            raise AssertionError(f"The backoff factor must be < 1.0. Got {backoff_factor}.")
        self._init_scale = init_scale
        _live.add(self)
        self._scale: Tensor | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Tensor | None = None
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_refresh_per_optimizer_state)

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        hint = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
        if self._scale is None:
            raise AssertionError(f"Attempted {funcname} but _scale is None.  {hint}")
        if self._growth_tracker is None:
            raise AssertionError(f"Attempted {funcname} but _growth_tracker is None.  {hint}")
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, dev: torch.device) -> Tensor:
        if self._growth_tracker is not None:
            raise AssertionError("_growth_tracker initialized before _scale")
        self._scale = torch.full((), self._init_scale, dtype=torch.float32, device=dev)
        self._growth_tracker = torch.full((), self._init_growth_tracker, dtype=torch.int32, device=dev)
        return self._scale

    # ---- one iteration ----

    def scale(self, outputs: Any) -> Any:
        """A tensor, or tensors in iterables, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            scale = self._scale if self._scale is not None else self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * scale.to(device=outputs.device, non_blocking=True)
        if isinstance(outputs, Iterable):
            each = map(self.scale, outputs)
            return type(outputs)(each) if isinstance(outputs, (list, tuple)) else each
        raise ValueError(f"outputs must be a Tensor or an iterable of Tensors, got {type(outputs).__name__}")

    def _unscale_grads_(
        self, optimizer: torch.optim.Optimizer, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[torch.device, Tensor]:
        grads: dict[torch.device, list[Tensor]] = defaultdict(list)
        with torch.no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    grad = param.grad
                    if grad is None:
                        continue
                    if not allow_fp16 and grad.dtype is torch.float16:
                        raise ValueError(
                            f"Attempting to unscale FP16 gradients. A parameter of shape {list(param.shape)} is of float16, which holds neither "
                            "small gradients nor small updates.\n  Hint: keep the model in float32 (no .half()); autocast computes in float16 where it may."
                        )
                    if grad.is_sparse:
                        if grad.dtype is torch.float16:  # the sum of equal indices may overflow where the parts do not
                            param.grad = grad = grad.coalesce()
                        grad = grad._values()
                    grads[grad.device].append(grad)
            found = {}
            for device, those in grads.items():
                found[device] = found_inf.to(device, copy=True)
                torch._amp_foreach_non_finite_check_and_unscale_(those, found[device], inv_scale.to(device))
        return found

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divides the gradients of an optimizer by the scale, before they are clipped, say; `step` does it otherwise."""
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update(). Its gradients would be divided by the scale "
                "twice.\n  Hint: call unscale_() once before a step, behind the last backward() of it, and update() behind the step."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError(
                "unscale_() is being called after step(). The step divided the gradients by the scale itself.\n  Hint: call unscale_() between "
                "backward() and step(), and update() behind them."
            )
        # The reciprocal of a double: that of a large float32 has lost digits.
        inverse = scale.double().reciprocal().float()
        found_inf = torch.full((), 0.0, dtype=torch.float32, device=scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, found_inf, False)
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(self, optimizer: torch.optim.Optimizer, optimizer_state: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if any(found.item() for found in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Steps an optimizer, unless its gradients are not finite. They are divided by the scale first, if they were not yet."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError(
                "Closure use is not currently supported if GradScaler is enabled. A closure computes gradients inside of the step, where "
                "nobody scales them.\n  Hint: use an optimizer that takes no closure, or bfloat16, which needs no scaler."
            )
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError(
                "step() has already been called since the last update(). Whether that step was skipped decides about the scale.\n"
                "  Hint: call scaler.update() behind the step of the last optimizer of an iteration."
            )
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_scaling(optimizer, state, args, kwargs)
            state["stage"] = OptState.STEPPED
            return result
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise AssertionError(
                f"No inf checks were recorded for this optimizer. None of the parameters of this {type(optimizer).__name__} has a gradient.\n"
                "  Hint: call scaler.scale(loss).backward() before scaler.step(optimizer), for a loss that depends on them."
            )
        result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _step_scaling(self, optimizer: Any, state: dict[str, Any], args: Any, kwargs: dict[str, Any]) -> Any:
        """The step of an optimizer that divides by the scale, and skips, itself."""
        takes_scaler = "grad_scaler" in inspect.signature(optimizer.step).parameters
        if takes_scaler:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In the near future GradScaler "
                "registers `grad_scale: Tensor` and `found_inf: Tensor` to the passed optimizer and let the optimizer use them directly.",
                FutureWarning,
                stacklevel=3,
            )
            return optimizer.step(*args, **kwargs, grad_scaler=self)
        scale = self._scale
        assert scale is not None
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        found = [t.to(scale.device, non_blocking=True) for t in state["found_inf_per_device"].values()]
        optimizer.grad_scale = None if state["stage"] is OptState.UNSCALED else scale * getattr(optimizer, "grad_scale", 1)
        optimizer.found_inf = sum(found) if found else torch.zeros((), device=scale.device)
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale
            del optimizer.found_inf

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Grows or shrinks the scale by what the steps since the last update found, or sets it."""
        if not self._enabled:
            return
        scale, growth_tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            if isinstance(new_scale, float):
                scale.fill_(new_scale)
            else:
                words = "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with requires_grad=False."
                if not isinstance(new_scale, Tensor) or new_scale.numel() != 1 or new_scale.requires_grad:
                    raise AssertionError(words)
                scale.copy_(new_scale)
        else:
            found = [
                found_inf.to(device=scale.device, non_blocking=True)
                for state in self._per_optimizer_states.values()
                for found_inf in state["found_inf_per_device"].values()
            ]
            if not found:
                raise AssertionError(
                    "No inf checks were recorded prior to update. No optimizer was stepped through this scaler since the last update().\n"
                    "  Hint: call scaler.step(optimizer) in place of optimizer.step()."
                )
            combined = found[0]
            for other in found[1:]:
                combined = combined + other
            torch._amp_update_scale_(scale, growth_tracker, combined, self._growth_factor, self._backoff_factor, self._growth_interval)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    # ---- what it is ----

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def get_scale(self) -> float:
        """The scale; 1.0 when disabled. Reads it back from the device."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by when it grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets what the scale is multiplied by when it grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after a skipped step."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets what the scale is multiplied by after a skipped step."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many finite steps in a row the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets after how many finite steps in a row the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self) -> bool:
        """Whether it scales."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale, the factors and the number of finite steps; empty when disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict()` gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after scaler.update()."
                )
            # Tensors of a device stay here: what is pickled starts from their values.
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _check_inf_per_device(self, optimizer: torch.optim.Optimizer) -> Any:
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one = torch.full((), 1.0, dtype=torch.float32, device=scale.device)
        found_inf = torch.full((), 0.0, dtype=torch.float32, device=scale.device)
        state = self._per_optimizer_states[id(optimizer)]
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, one, found_inf, True)
        return state["found_inf_per_device"]

    def _found_inf_per_device(self, optimizer: torch.optim.Optimizer) -> Any:
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
