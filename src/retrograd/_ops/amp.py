"""What a gradient scaler computes: gradients divided and checked, the scale grown or shrunk. Nothing is read back."""

from __future__ import annotations

from collections.abc import Sequence

import retrograd as torch
from retrograd import Tensor


def _check_value(t: Tensor, name: str) -> None:
    if t.numel() != 1:
        raise RuntimeError(f"{name} must be a 1-element tensor.")
    if t.dtype is not torch.float32:
        raise RuntimeError(f"{name} must be a float tensor.")


def _amp_foreach_non_finite_check_and_unscale_(self: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Multiplies tensors by `inv_scale`, in place; `found_inf` becomes 1 where one of them was not finite."""
    _check_value(inv_scale, "inv_scale")
    _check_value(found_inf, "found_inf")
    with torch.no_grad():
        for grad in self:
            if not grad.is_floating_point():
                raise NotImplementedError(
                    f"\"_amp_foreach_non_finite_check_and_unscale_cpu\" not implemented for '{str(grad.dtype)[6:].capitalize()}'"
                )
            bad = grad.isfinite().all().logical_not_()
            torch.maximum(found_inf, bad.to(found_inf.dtype).reshape(found_inf.shape), out=found_inf)
            grad.mul_(inv_scale.reshape(()).to(grad.dtype) if grad.dtype is torch.float64 else inv_scale.reshape(()))


def _amp_update_scale_(
    self: Tensor, growth_tracker: Tensor, found_inf: Tensor, scale_growth_factor: float, scale_backoff_factor: float, growth_interval: int
) -> Tensor:
    """The scale after a step, in place: shrunk where `found_inf`, grown after `growth_interval` steps without, unless that were infinite."""
    if growth_tracker.numel() != 1:
        raise RuntimeError("growth_tracker must be a 1-element tensor.")
    if growth_tracker.dtype is not torch.int32:
        raise RuntimeError("growth_tracker must be an int tensor.")
    _check_value(self, "current_scale")
    _check_value(found_inf, "found_inf")
    with torch.no_grad():
        found = found_inf.reshape(self.shape) != 0
        steps = growth_tracker.reshape(self.shape) + 1
        grows = (steps == growth_interval) & ~found
        grown = self * scale_growth_factor
        grown = torch.where(grown.isfinite(), grown, self)
        self.copy_(torch.where(found, self * scale_backoff_factor, torch.where(grows, grown, self)))
        growth_tracker.copy_(torch.where(found | grows, 0, steps).reshape(growth_tracker.shape))
    return self
