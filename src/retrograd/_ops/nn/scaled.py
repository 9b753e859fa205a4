"""scaled_mm: the product of two matrices kept in 8 bits, with the numbers they were divided by."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd._overridable import overridable


class ScalingType(enum.IntEnum):
    """What one scale belongs to: the whole matrix, a row (of the first matrix; a column of the second), a block."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(enum.IntEnum):
    """How scales lie in memory; on the CPU they lie in order, whatever is said."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


_EIGHT_BITS = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)


def scaled_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    scale_a: Tensor | list[Tensor],
    scale_recipe_a: ScalingType | list[ScalingType],
    scale_b: Tensor | list[Tensor],
    scale_recipe_b: ScalingType | list[ScalingType],
    swizzle_a: SwizzleType | list[SwizzleType] | None = None,
    swizzle_b: SwizzleType | list[SwizzleType] | None = None,
    bias: Tensor | None = None,
    output_dtype: Any = torch.bfloat16,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> Tensor:
    """(mat_a * scale_a) @ (mat_b * scale_b) + bias, for matrices of 8-bit floats, computed in float32 and rounded once to `output_dtype`.

    Args:
        scale_a: float32; one number for TensorWise, a column for RowWise. scale_b: one number, or a row.
        output_dtype: None means the dtype of mat_a.
        swizzle_a, swizzle_b, contraction_dim, use_fast_accum: speak of other hardware; taken and ignored.
    """
    for name, matrix in (("mat_a", mat_a), ("mat_b", mat_b)):
        if matrix.dim() != 2:
            raise ValueError(f"{name} must be a matrix, but it has {matrix.dim()} dimensions")
    (m, k), n = mat_a.shape, mat_b.size(1)
    if k != mat_b.size(0):
        raise ValueError(f"mat_a and mat_b shapes cannot be multiplied ({m}x{k} and {mat_b.size(0)}x{n})")
    a, b = _one(scale_a, "scale_a"), _one(scale_b, "scale_b")
    recipes = (_one(scale_recipe_a, "scale_recipe_a"), _one(scale_recipe_b, "scale_recipe_b"))
    fits = all(x.dtype in _EIGHT_BITS for x in (mat_a, mat_b)) and a.dtype == b.dtype == torch.float32
    if fits and recipes == (ScalingType.TensorWise, ScalingType.TensorWise):
        for name, scale in (("scale_a", a), ("scale_b", b)):
            if scale.numel() != 1:
                raise ValueError(f"{name} must have 1 Float element, but it has {scale.numel()}")
        a, b = a.reshape(()), b.reshape(())
    elif not (fits and recipes == (ScalingType.RowWise, ScalingType.RowWise) and a.shape == (m, 1) and b.shape == (1, n)):
        raise ValueError(
            "Invalid scaling configuration.\n"
            "- For TensorWise scaling, a and b should be float8, scales should be float and singletons.\n"
            f"- For RowWise scaling, a and b should be float8, scales should be float, scale_a should be ({m}, 1) and scale_b should be (1, {n}).\n"
            f"Got {mat_a.dtype} with {a.dtype} {tuple(a.shape)} ({recipes[0]!r}) and {mat_b.dtype} with {b.dtype} {tuple(b.shape)} ({recipes[1]!r})"
        )
    if bias is not None and bias.numel() != n:
        raise ValueError(f"Bias must be size {n} but got {bias.numel()}")
    product = (mat_a.float() * a) @ (mat_b.float() * b)
    if bias is not None:
        product = product + bias.reshape(n)
    return product.to(mat_a.dtype if output_dtype is None else output_dtype)


def _one(given: Any, name: str) -> Any:
    """PyTorch takes lists too, for two levels of scales; here there is one."""
    if not isinstance(given, (list, tuple)):
        return given
    if len(given) != 1:
        raise ValueError(
            f"{name}: two levels of scales are for matrices of 4 bits, which there are none of here; expected one, got {len(given)}"
        )
    return given[0]


@overridable
def _scaled_mm(
    input: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: Any = None,
    use_fast_accum: bool = False,
) -> Tensor:
    """scaled_mm() as it was called before: what the scales belong to is seen from their sizes. `scale_result` is ignored, as on other CPUs."""
    if input.size(1) != mat2.size(0):
        raise RuntimeError(
            f"mat_a and mat_b shapes cannot be multiplied ({input.size(0)}x{input.size(1)} and {mat2.size(0)}x{mat2.size(1)})"
        )
    kind = ScalingType.TensorWise if scale_a.numel() == scale_b.numel() == 1 else ScalingType.RowWise
    return scaled_mm(input, mat2, scale_a, kind, scale_b, kind, bias=bias, output_dtype=out_dtype, use_fast_accum=use_fast_accum)


def scaled_grouped_mm(*args: Any, **kwargs: Any) -> Tensor:
    """Products of groups of scaled matrices are for GPUs, in PyTorch too."""
    raise NotImplementedError(
        "scaled_grouped_mm: not implemented for the CPU; take grouped_mm of matrices that were scaled back to float32"
    )
