"""Sizes of the parts of tensors that lie across processes."""

from retrograd._refusals import refused
from retrograd.distributed.tensor import _WHY

globals().update(
    refused(__name__, "compute_local_shape_and_global_offset compute_global_tensor_info compute_local_shape", NotImplementedError, _WHY)
)
