"""Attention whose scores a function changes and a mask leaves out, computed with ordinary ops: all scores, then what the functions say of each."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import retrograd as torch
from retrograd._C import Tensor

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask", "create_mask", "create_nested_block_mask", "flex_attention",
    "noop_mask", "or_masks",
]  # fmt: skip

_DEFAULT_SPARSE_BLOCK_SIZE = 128
_mask_mod_signature = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
_score_mod_signature = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
FlexKernelOptions = dict[str, Any]  # for kernels that are compiled


class AuxRequest(NamedTuple):
    """What is wanted beside the result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was wanted beside the result."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


# -- functions of places ------------------------------------------------------------


def _over_places(function: Callable[..., Any], with_score: bool) -> Callable[..., Any]:
    """A function of one score and its place (batch, head, query, key), for tensors of all of them."""
    first = (0,) if with_score else ()
    for place in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
        function = torch.vmap(function, in_dims=(*first, *place))
    return function


def _places(sizes: tuple[int, ...], device: Any) -> list[Tensor]:
    return [torch.arange(n, device=device) for n in sizes]


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Leaves nothing out."""
    return batch.new_ones(size=(), dtype=torch.bool, device=batch.device)


def and_masks(*mask_mods: _mask_mod_signature) -> _mask_mod_signature:
    """What all masks keep."""
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones((), dtype=torch.bool)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return and_mask


def or_masks(*mask_mods: _mask_mod_signature) -> _mask_mod_signature:
    """What some mask keeps."""
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_zeros((), dtype=torch.bool)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return or_mask


def create_mask(
    mod_fn: Callable[..., Any], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None, **options: Any
) -> Tensor:
    """What a mask keeps, as a tensor [B, H, Q_LEN, KV_LEN] of truth values; of a function of scores, which of them it leaves finite ones at 0."""
    places = _places((1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN), device)
    if mod_fn.__code__.co_argcount == 5 if hasattr(mod_fn, "__code__") else False:
        scores = torch.zeros(*(len(place) for place in places), device=device)
        return _over_places(mod_fn, True)(scores, *places) != float("-inf")
    return _over_places(mod_fn, False)(*places).to(torch.bool)


# -- blocks -------------------------------------------------------------------------


def _ordered(dense: Tensor) -> tuple[Tensor, Tensor]:
    """How many blocks of a row count, and their numbers, those that count first."""
    dense = dense.to(torch.int32)
    return dense.sum(-1).to(torch.int32), torch.argsort(dense, dim=-1, descending=True, stable=True).to(torch.int32)


class BlockMask:
    """A mask, and which blocks of scores it keeps in part or as a whole.

    Attributes:
        mask_mod: the mask itself.
        kv_num_blocks, kv_indices: blocks of keys that a block of queries meets in part.
        full_kv_num_blocks, full_kv_indices: those that it meets as a whole.
        BLOCK_SIZE: queries and keys of a block.
        seq_lengths: of queries and keys.
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int],
        mask_mod: _mask_mod_signature,
    ) -> None:
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: _mask_mod_signature | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """Of blocks that are known."""
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
        lengths = seq_lengths or (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        return cls(lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, size, mask_mod or noop_mask)  # type: ignore[arg-type]

    @property
    def shape(self) -> tuple[int, ...]:
        """[batch, heads, queries, keys]."""
        return (*self.kv_num_blocks.shape[:2], *self.seq_lengths)

    def to_dense(self) -> Tensor:
        """Which blocks are met, as a tensor of ones and zeros."""
        met = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            met = met | _dense(self.full_kv_num_blocks, self.full_kv_indices)
        return met

    def numel(self) -> int:
        """The number of scores."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """Percent of blocks that are not met."""
        dense = self.to_dense()
        return 100.0 * (1 - dense.sum().item() / dense.numel())

    def to(self, device: Any) -> BlockMask:
        """The same on a device."""
        moved: Any = [
            None if t is None else t.to(device)
            for t in (self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices)
        ]
        return BlockMask(self.seq_lengths, moved[0], moved[1], moved[2], moved[3], self.BLOCK_SIZE, self.mask_mod)

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        return create_block_mask(
            self.mask_mod, self.shape[0], self.shape[1], new_q_len, new_kv_len, self.kv_indices.device, self.BLOCK_SIZE
        )

    def __getitem__(self, index: Any) -> BlockMask:
        """Of some batches, heads and blocks of queries; the mask itself cannot follow, and is left out of what does not fit the blocks."""
        index = index if isinstance(index, tuple) else (index,)
        index = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in index)
        parts: Any = [
            None if t is None else t[index] for t in (self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices)
        ]
        length = parts[0].shape[-1] * self.BLOCK_SIZE[0] if len(index) > 2 else self.seq_lengths[0]

        def unknown(*places: Any) -> Tensor:
            raise RuntimeError("a BlockMask that was indexed has no mask_mod: set it to one for the new places")

        return BlockMask((length, self.seq_lengths[1]), parts[0], parts[1], parts[2], parts[3], self.BLOCK_SIZE, unknown)

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, BLOCK_SIZE={self.BLOCK_SIZE})"


def _dense(number: Tensor, indices: Tensor) -> Tensor:
    columns = indices.shape[-1]
    counts = torch.arange(columns, device=indices.device) < number.unsqueeze(-1)
    return torch.zeros(indices.shape, dtype=torch.int32, device=indices.device).scatter_(-1, indices.long(), counts.to(torch.int32))


def create_block_mask(
    mask_mod: _mask_mod_signature,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    **options: Any,
) -> BlockMask:
    """A mask with the blocks it keeps."""
    q, kv = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    padded = torch.nn.functional.pad(mask, (0, -KV_LEN % kv, 0, -Q_LEN % q))
    rows, columns = padded.shape[-2] // q, padded.shape[-1] // kv
    kept = padded.view(*padded.shape[:2], rows, q, columns, kv).sum((-3, -1))
    full = kept == q * kv
    return BlockMask((Q_LEN, KV_LEN), *_ordered((kept > 0) & ~full), *_ordered(full), (q, kv), mask_mod)


def create_nested_block_mask(*args: Any, **kwargs: Any) -> BlockMask:
    """For nested tensors, with which attention is not computed."""
    raise NotImplementedError("create_nested_block_mask: attention over nested tensors is not supported; pad them")


# -- attention ----------------------------------------------------------------------


def _check(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> None:
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dim() != 4:
            raise NotImplementedError(f"NYI: query, key, and value must be 4D tensors, got {name} with {tensor.dim()} dimensions")
    if query.dtype != key.dtype or query.dtype != value.dtype:
        raise ValueError(f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype}, key.dtype: {key.dtype}, and "
                         f"value.dtype: {value.dtype} instead.")  # fmt: skip
    if query.size(-1) != key.size(-1):
        raise ValueError(
            f"Expect query and key/value to have the same embedding dimension but got E={query.size(-1)} and E={key.size(-1)}."
        )
    if not enable_gqa and query.size(-3) != key.size(-3):
        raise ValueError(f"Expect query and key/value to have the same number of heads but got Hq={query.size(-3)} and Hkv={key.size(-3)}. Try setting "
                         "enable_gqa=True for GQA.")  # fmt: skip
    if enable_gqa and query.size(1) % key.size(1) != 0:
        raise ValueError(
            f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={query.size(1)} and Hkv={key.size(1)}."
        )
    if query.size(0) != key.size(0) and key.size(0) != 1:
        raise ValueError(
            f"Expect query and key/value to have the same batch size, or key and value of size 1, but got Bq={query.size(0)} and Bkv={key.size(0)}."
        )


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: _score_mod_signature | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(query @ key.T * scale)) @ value over what the mask keeps; rows of which it keeps nothing are 0.

    Args:
        query: [batch, heads, queries, features]; key and value alike, with fewer heads if enable_gqa.
        score_mod: score_mod(score, batch, head, query, key) -> score.
        block_mask: from create_block_mask().
        return_lse: also returns the logarithm of the sum of exponentials of each row.
    """
    _check(query, key, value, enable_gqa)
    if enable_gqa:
        repeats = query.size(1) // key.size(1)
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    working = torch.float64 if query.dtype == torch.float64 else torch.float32
    scores = (query.to(working) @ key.to(working).transpose(-2, -1)) * (1.0 / math.sqrt(query.size(-1)) if scale is None else scale)
    places = _places(tuple(scores.shape), scores.device)
    if score_mod is not None:
        scores = _over_places(score_mod, True)(scores, *places).to(working)
    if block_mask is not None:
        if block_mask.shape[0] not in (1, scores.size(0)) or block_mask.shape[1] not in (1, scores.size(1)):
            raise ValueError(f"block_mask is of {block_mask.shape[:2]} batches and heads, and the scores of {tuple(scores.shape[:2])}")
        if block_mask.shape[-2] < scores.size(-2) or block_mask.shape[-1] < scores.size(-1):
            raise ValueError(f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={scores.size(-2)} and kv_len={scores.size(-1)}. As "
                             "the block mask was created for a smaller length than you're using it for, you likely need to create a new block mask.")  # fmt: skip
        kept = _over_places(block_mask.mask_mod, False)(*places)
        blocks = block_mask.to_dense().repeat_interleave(block_mask.BLOCK_SIZE[0], -2).repeat_interleave(block_mask.BLOCK_SIZE[1], -1)
        kept = kept & (blocks[..., : scores.size(-2), : scores.size(-1)] > 0)
        scores = scores.masked_fill(~kept, float("-inf"))
    lse = scores.logsumexp(-1)
    weights = torch.exp(scores - lse.masked_fill(lse == float("-inf"), 0.0).unsqueeze(-1))
    result = (weights @ value.to(working)).to(query.dtype)
    if return_aux is not None:
        return result, AuxOutput(lse if return_aux.lse else None, scores.amax(-1).detach() if return_aux.max_scores else None)
    if return_lse:
        text = "return_lse is deprecated and will be removed in v2.10. Please use return_aux=AuxRequest(lse=True) instead."
        warnings.warn(text, FutureWarning, stacklevel=2)
        return result, lse
    return result
