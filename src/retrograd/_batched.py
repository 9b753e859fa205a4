"""Looking behind vmap: the tensor with all samples, for checks that read values."""

from __future__ import annotations

from retrograd import _C
from retrograd._C import Tensor


def whole(tensor: Tensor) -> Tensor:
    """All samples of a tensor of which vmap shows one, of however many vmaps; otherwise the tensor itself."""
    while level := _C._batch_level(tensor):
        tensor = _C._unwrap_batched(tensor, level)[0]
    return tensor


any_true = _C._any_true  # of a condition: whether it is met anywhere, in any sample; on meta it is taken not to be
