"""Transformers: encoders, decoders and their layers."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd._C import Tensor
from retrograd._ops.nn.multihead import added_mask, check_mask_dtype, warn_of_kinds
from retrograd.nn import functional as F, init
from retrograd.nn.modules.activation import GELU, MultiheadAttention, ReLU
from retrograd.nn.modules.container import ModuleList
from retrograd.nn.modules.dropout import Dropout
from retrograd.nn.modules.linear import Linear
from retrograd.nn.modules.module import Module
from retrograd.nn.modules.normalization import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"]

Activation = str | Callable[[Tensor], Tensor]


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """-inf above the diagonal, 0 elsewhere."""
    return torch.triu(torch.full((sz, sz), -math.inf, dtype=dtype, device=device), diagonal=1)


def _length(sequence: Tensor, batch_first: bool) -> int:
    if sequence.dim() == 2:
        return sequence.size(0)
    return sequence.size(1 if batch_first else 0)


def _is_causal_mask(mask: Tensor | None, is_causal: bool | None, size: int) -> bool:
    """What is_causal says, or, if it is None, whether the mask is the causal one."""
    if is_causal is not None:
        return is_causal
    if mask is None or mask.shape != (size, size):
        return False
    if mask.is_meta:
        return False
    causal = _generate_square_subsequent_mask(size, device=mask.device, dtype=torch.float32 if mask.dtype == torch.bool else mask.dtype)
    return bool((mask == (causal != 0 if mask.dtype == torch.bool else causal)).all())


def _masks(padding: Tensor | None, mask: Tensor | None, name: str, src: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """The masks of an encoder. Bools stay what they are where both are, or where there is but one: they take less memory."""
    check_mask_dtype(padding, "src_key_padding_mask")
    warn_of_kinds(padding, "src_key_padding_mask", mask, name)
    check_mask_dtype(mask, name)
    if padding is not None and mask is not None and padding.dtype != mask.dtype:
        return added_mask(padding, src.dtype), added_mask(mask, src.dtype)  # so that each layer does not warn again
    return padding, mask


def _get_activation_fn(activation: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation == "relu":
        return F.relu
    if activation == "gelu":
        return F.gelu
    raise RuntimeError(f"activation should be relu/gelu, not {activation}")


def _get_clones(module: Module, N: int) -> ModuleList:  # these two have the names that programs import
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


class Transformer(Module):
    """An encoder and a decoder.

    Args:
        d_model, nhead: the width of the sequences and the heads of attention.
        custom_encoder, custom_decoder: modules to take in place of the usual ones.
        batch_first: [batch, length, width] in and out, not [length, batch, width].
        norm_first: layers normalise what goes into their blocks, not what comes out.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype)

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)

        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            self.encoder = TransformerEncoder(TransformerEncoderLayer(*sizes), num_encoder_layers, norm())
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            self.decoder = TransformerDecoder(TransformerDecoderLayer(*sizes), num_decoder_layers, norm())
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        at = 0 if self.batch_first else 1
        different = src.size(at) != tgt.size(at)
        if different and src.dim() == 3:
            raise RuntimeError(
                f"the batch number of src and tgt must be equal, got {src.size(at)} and {tgt.size(at)} (batch_first={self.batch_first})"
            )
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(
                f"the feature number of src and tgt must be equal to d_model, {self.d_model}, got {src.size(-1)} and {tgt.size(-1)}"
            )
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """-inf above the diagonal, 0 elsewhere: what lets a position see itself and those before it."""
        return _generate_square_subsequent_mask(sz, device=device, dtype=dtype)

    def _reset_parameters(self) -> None:
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)


class TransformerEncoder(Module):
    """num_layers copies of a layer, one after the other, and perhaps a normalisation.

    Args:
        enable_nested_tensor: outside of training and without gradients, positions that src_key_padding_mask leaves out come back as zeros.
        mask_check: whether that asks for padding at the end of the sequences.
    """

    __constants__ = ["norm"]

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        why = _why_not_nested(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not why
        self.mask_check = mask_check
        if enable_nested_tensor and why:
            warnings.warn(f"enable_nested_tensor is True, but self.use_nested_tensor is False because {why}", UserWarning, stacklevel=2)

    def forward(
        self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None, is_causal: bool | None = None
    ) -> Tensor:
        padding, mask = _masks(src_key_padding_mask, mask, "mask", src)
        left_out = None
        if padding is not None and mask is None and self._leaves_out(src, padding):
            left_out = padding = padding != 0
        batch_first = getattr(getattr(self.layers[0], "self_attn", None), "batch_first", False) if len(self.layers) else False
        is_causal = _is_causal_mask(mask, is_causal, _length(src, batch_first))
        out = src
        for layer in self.layers:
            out = layer(out, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        if left_out is not None:
            out = out.masked_fill(left_out.unsqueeze(-1), 0.0)
        return out if self.norm is None else self.norm(out)

    def _leaves_out(self, src: Tensor, padding: Tensor) -> bool:
        """Whether PyTorch would take its fast path, which computes nothing for padding and puts zeros there."""
        if not self.use_nested_tensor or src.dim() != 3 or not len(self.layers) or self.layers[0].training:
            return False
        if torch.is_grad_enabled() and (src.requires_grad or any(p.requires_grad for p in self.layers.parameters())):
            return False
        if tuple(padding.shape) != tuple(src.shape[:2]):
            return False
        if not self.mask_check:
            return True
        left_out = padding != 0
        return bool((left_out[:, :-1] <= left_out[:, 1:]).all())


def _why_not_nested(layer: Module) -> str:
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    if layer.norm_first:
        return "encoder_layer.norm_first was True"
    if not attention.batch_first:
        return "encoder_layer.self_attn.batch_first was not True(use batch_first for better inference performance)"
    if attention.in_proj_bias is None:
        return "encoder_layer.self_attn was passed bias=False"
    if not attention._qkv_same_embed_dim:
        return "encoder_layer.self_attn._qkv_same_embed_dim was not True"
    if not layer.activation_relu_or_gelu:
        return "encoder_layer.activation_relu_or_gelu was not True"
    if layer.norm1.eps != layer.norm2.eps:
        return "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps"
    if attention.num_heads % 2 == 1:
        return "encoder_layer.self_attn.num_heads is odd"
    return ""


class TransformerDecoder(Module):
    """num_layers copies of a layer, one after the other, and perhaps a normalisation."""

    __constants__ = ["norm"]

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        check_mask_dtype(tgt_mask, "tgt_mask")
        batch_first = getattr(getattr(self.layers[0], "self_attn", None), "batch_first", False) if len(self.layers) else False
        tgt_is_causal = _is_causal_mask(tgt_mask, tgt_is_causal, _length(tgt, batch_first))
        out = tgt
        for layer in self.layers:
            out = layer(
                out,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )
        return out if self.norm is None else self.norm(out)


class _Layer(Module):
    """What both kinds of layers have: attention to the sequence itself, and a network of two linear maps for each position."""

    __constants__ = ["norm_first"]
    _norms = 2

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made = {"device": device, "dtype": dtype}
        for name in ("self_attn", "multihead_attn")[: self._norms - 1]:
            self.add_module(name, MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **made))
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **made)
        self.norm_first = norm_first
        for i in range(1, self._norms + 1):
            self.add_module(f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **made))
        for i in range(1, self._norms + 1):
            self.add_module(f"dropout{i}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    def _sa_block(self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False) -> Tensor:
        x = self.self_attn(
            x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal, need_weights=False
        )[0]  # fmt: skip
        return self.dropout1(x)

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, and a network of two linear maps for each position; each adds to its input, normalised.

    Args:
        activation: "relu", "gelu" or a function, between the linear maps.
        batch_first: [batch, length, width] in and out, not [length, batch, width].
        norm_first: normalises what goes into the blocks, not what comes out.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype)
        function = self.activation
        self.activation_relu_or_gelu = (
            1 if function is F.relu or isinstance(function, ReLU) else 2 if function is F.gelu or isinstance(function, GELU) else 0
        )

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None, is_causal: bool = False
    ) -> Tensor:
        padding, mask = _masks(src_key_padding_mask, src_mask, "src_mask", src)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask, padding, is_causal=is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, mask, padding, is_causal=is_causal))
        return self.norm2(x + self._ff_block(x))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._feed_forward(x))


class TransformerDecoderLayer(_Layer):
    """A layer of an encoder, with attention to `memory`, what an encoder gave, between its blocks.

    Args:
        activation: "relu", "gelu" or a function, between the linear maps.
        batch_first: [batch, length, width] in and out, not [length, batch, width].
        norm_first: normalises what goes into the blocks, not what comes out.
    """

    _norms = 3

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), tgt_mask, tgt_key_padding_mask, tgt_is_causal)
            x = x + self._mha_block(self.norm2(x), memory, memory_mask, memory_key_padding_mask, memory_is_causal)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        x = self.norm2(x + self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        x = self.multihead_attn(
            x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal, need_weights=False
        )[0]  # fmt: skip
        return self.dropout2(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._feed_forward(x))
