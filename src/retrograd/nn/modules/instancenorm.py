"""Instance normalisation: a batch norm for each sample by itself."""

from __future__ import annotations

import warnings
from typing import Any

from retrograd._C import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules.batchnorm import LazyNorm, _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d"]


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        if local_metadata.get("version") is None and not self.track_running_stats:
            found = [name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if found:
                names, kind = " and ".join(f'"{prefix + name}"' for name in found), type(self).__name__
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {kind} with track_running_stats=False. If state_dict is a checkpoint "
                    f"saved before 0.4.0, this may be expected because {kind} does not track running stats by default since 0.4.0. Please "
                    "remove these keys from state_dict. If the running stats are actually needed, instead set track_running_stats=True in "
                    f"{kind} to enable them. See the documentation of {kind} for details."
                )
                for name in found:
                    state_dict.pop(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        alone = input.dim() == self._dims[0]  # a sample without a batch
        at = 0 if alone else 1
        if input.size(at) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={at} to match num_features ({self.num_features}), but got: {input.size(at)}."
                )
            warnings.warn(
                f"input's size at dim={at} does not match num_features. You can silence this warning by not passing in num_features, which is "
                "not used because affine=False",
                stacklevel=2,
            )
        of_sample = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        given = input.unsqueeze(0) if alone else input
        out = F.instance_norm(given, self.running_mean, self.running_var, self.weight, self.bias, of_sample, momentum, self.eps)
        return out.squeeze(0) if alone else out


class InstanceNorm1d(_InstanceNorm):
    """Brings each channel of each sample of [N, C, L] or [C, L] to mean 0 and variance 1, then, if affine, scales and shifts.

    Args:
        track_running_stats: whether there are running statistics, which stand for those of a sample in evaluation.
    """

    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """The same for images [N, C, H, W] or [C, H, W]."""

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """The same for volumes [N, C, D, H, W] or [C, D, H, W]."""

    _dims = (4, 5)


class LazyInstanceNorm1d(LazyNorm, InstanceNorm1d):
    """An InstanceNorm1d that takes num_features from its first input; affine and with running statistics, unless told."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(LazyNorm, InstanceNorm2d):
    """An InstanceNorm2d that takes num_features from its first input; affine and with running statistics, unless told."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(LazyNorm, InstanceNorm3d):
    """An InstanceNorm3d that takes num_features from its first input; affine and with running statistics, unless told."""

    cls_to_become = InstanceNorm3d
