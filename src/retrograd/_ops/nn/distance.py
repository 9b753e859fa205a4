"""Products of two inputs."""

from __future__ import annotations

import retrograd as torch
from retrograd import Tensor


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 @ weight[k] @ x2 + bias[k] for every output k."""
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    for d in range(input1.dim() - 1):
        if input1.size(d) != input2.size(d):
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {d}: got {input1.size(d)} and {input2.size(d)}")
    if input1.size(-1) != weight.size(1):
        raise RuntimeError(f"bilinear(): input1 size does not match weight size: got {input1.size(-1)} but expected {weight.size(1)}")
    if input2.size(-1) != weight.size(2):
        raise RuntimeError(f"bilinear(): input2 size does not match weight size: got {input2.size(-1)} but expected {weight.size(2)}")
    if bias is not None and bias.size(0) != weight.size(0):
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.size(0)} but expected {weight.size(0)}")
    batch = input1.shape[:-1]
    a, b = input1.reshape(-1, input1.size(-1)), input2.reshape(-1, input2.size(-1))
    # [n, i] @ [i, o * j] -> [n, o, j], then with b over j
    left = (a @ weight.permute(1, 0, 2).reshape(weight.size(1), -1)).reshape(-1, weight.size(0), weight.size(2))
    out = torch.bmm(left, b.unsqueeze(2)).reshape(*batch, weight.size(0))
    return out if bias is None else out + bias
