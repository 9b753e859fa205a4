"""Attention, its layers and transformers."""

import copy
import itertools
from importlib import import_module

from tests.programs import differs


def _tensors(torch, *shapes):
    torch.manual_seed(0)
    return [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes]


def _weighed(torch, t):
    return (t * torch.linspace(0.5, 1.5, t.numel(), dtype=t.dtype).reshape(t.shape)).sum()


def _results(torch, show, out, *leaves, short=False):
    """What came out and its gradients, or a number for each that depends on all elements."""
    out = [part for part in (out if isinstance(out, tuple) else (out,)) if part is not None]
    grads = torch.autograd.grad(sum(_weighed(torch, part) for part in out), leaves)
    show([part.shape for part in out], [g.shape for g in grads])
    for t in (*(part.detach() for part in out), *grads):
        t = _weighed(torch, t) if short else t
        show(t.round(decimals=8) + 0.0)  # what is 0 but for rounding is 0


def functional(torch, nn, show):
    attend = nn.functional.scaled_dot_product_attention
    q, k, v = _tensors(torch, (2, 4, 3, 4), (2, 4, 5, 4), (2, 4, 5, 4))
    keep = torch.rand(3, 5) > 0.3
    none = keep.clone()
    none[1] = False
    numbers = torch.randn(2, 1, 3, 5, dtype=torch.float64)
    for options in (
        {},
        {"is_causal": True},
        {"scale": 0.3},
        {"scale": -1.0},
        {"attn_mask": keep},
        {"attn_mask": none},
        {"attn_mask": numbers},
        {"attn_mask": numbers.float()},
        {"attn_mask": numbers[:1].masked_fill(~none, -float("inf"))},
        {"attn_mask": keep[:1]},
        {"attn_mask": keep, "is_causal": True},
    ):
        _results(torch, show, attend(q, k, v, **options), q, k, v)
    _results(torch, show, attend(q[0], k[0], v[0], keep), q, k, v)
    _results(torch, show, attend(q[0, 0], k[0, 0], v[0, 0], is_causal=True), q, k, v)
    _results(torch, show, attend(q[None], k[None], v[None], keep), q, k, v)
    _results(torch, show, attend(q, k[:1], v[0]), q, k, v)
    _results(torch, show, attend(q, k, v[..., :2]), q, k, v)
    show(attend(q, k[:, :, :0], v[:, :, :0]).detach(), attend(q[:, :, :0], k, v).shape)


def grouped_heads(torch, nn, show, attempt):
    attend = nn.functional.scaled_dot_product_attention
    q, k, v = _tensors(torch, (2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4))
    _results(torch, show, attend(q, k, v, enable_gqa=True), q, k, v)
    _results(torch, show, attend(q, k, v, is_causal=True, enable_gqa=True), q, k, v)
    _results(torch, show, attend(q, k, v, torch.rand(4, 3, 5) > 0.3, enable_gqa=True), q, k, v)
    _results(torch, show, attend(q[0], k[0], v[0], enable_gqa=True), q, k, v)
    _results(torch, show, attend(q, k, v.repeat_interleave(2, 1), enable_gqa=True), q, k, v)
    attempt(lambda: attend(q, k, v))
    attempt(lambda: attend(q[:, :3], k, v, enable_gqa=True))


def mask_gradients(torch, nn, show):
    q, k, v, mask = _tensors(torch, (2, 4, 3, 4), (2, 4, 5, 4), (2, 4, 5, 4), (2, 1, 3, 5))
    _results(torch, show, nn.functional.scaled_dot_product_attention(q, k, v, mask), q, k, v, mask)


def dropped_weights(torch, nn, show):
    q, k, v = _tensors(torch, (2, 4, 3, 4), (2, 4, 5, 4), (2, 4, 5, 4))
    torch.manual_seed(1)
    _results(torch, show, nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.4), q, k, v)
    show(nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=1.0).detach())
    m = nn.MultiheadAttention(8, 2, dropout=0.5, dtype=torch.float64)
    x = torch.randn(4, 3, 8, dtype=torch.float64)
    for need_weights in (True, False):
        torch.manual_seed(2)
        show(tuple(None if t is None else t.detach() for t in m(x, x, x, need_weights=need_weights)))


def refusals(torch, nn, attempt, kind):
    attend = nn.functional.scaled_dot_product_attention
    q, k, v = (t.detach() for t in _tensors(torch, (2, 4, 3, 4), (2, 4, 5, 4), (2, 4, 5, 4)))
    attempt(lambda: attend(q[0, 0, 0], k, v))
    attempt(lambda: attend(q, k.float(), v).shape)
    attempt(lambda: attend(q, k, v, torch.zeros(3, 5, dtype=torch.long)).shape)
    attempt(lambda: attend(q.float(), k.float(), v.float(), torch.zeros(3, 5, dtype=torch.float64)).shape)
    attempt(lambda: attend(q, k, v, torch.zeros(3, 6)))
    attempt(lambda: attend(q, k, v, torch.zeros(5)))
    attempt(lambda: attend(q[0], k[0], v[0], torch.zeros(3, 5), is_causal=True))
    attempt(lambda: attend(q, k, v, dropout_p=1.5))
    kind(lambda: attend(q, k[..., :3], v))
    kind(lambda: attend(q, k[:, :3], v[:, :3]))


@differs("refused: PyTorch reads beyond the keys")
def keys_without_values(torch, nn, kind):
    q, k, v = (t.detach() for t in _tensors(torch, (2, 4, 3, 4), (2, 4, 5, 4), (2, 4, 2, 4)))
    kind(lambda: nn.functional.scaled_dot_product_attention(q, k, v).shape)


def kernels(torch, nn, show, attempt):
    sdpa_kernel, backend = nn.attention.sdpa_kernel, nn.attention.SDPBackend
    q, k, v = _tensors(torch, (1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4))

    def attend(*which):
        with sdpa_kernel(*which):
            return nn.functional.scaled_dot_product_attention(q, k, v).detach()

    for which in (backend.MATH, backend.FLASH_ATTENTION, [backend.MATH, backend.FLASH_ATTENTION], backend.EFFICIENT_ATTENTION, [], 3):
        attempt(lambda which=which: attend(which))
    attempt(lambda: attend([backend.FLASH_ATTENTION, backend.MATH], True))
    show([(b.name, b.value) for b in (backend.ERROR, backend.MATH, backend.FLASH_ATTENTION, backend.EFFICIENT_ATTENTION)])


def heads(torch, nn, show):
    q, k = _tensors(torch, (4, 3, 8), (5, 3, 8))
    q, k = q.detach(), k.detach()
    padding = torch.tensor([[False] * 5, [False, False, True, True, True], [False] * 4 + [True]])
    pairs = torch.rand(4, 5) > 0.7
    for options in ({}, {"bias": False}, {"add_bias_kv": True}, {"add_zero_attn": True}, {"batch_first": True}, {"kdim": 8, "vdim": 8}):
        torch.manual_seed(0)
        m = nn.MultiheadAttention(8, 2, dtype=torch.float64, **options)
        one, two = (q.transpose(0, 1), k.transpose(0, 1)) if m.batch_first else (q, k)
        leaves = list(m.parameters())
        for call in (
            {},
            {"need_weights": False},
            {"average_attn_weights": False},
            {"key_padding_mask": padding},
            {"key_padding_mask": padding, "need_weights": False},
            {"attn_mask": pairs},
            {"attn_mask": pairs, "need_weights": False},
            {"attn_mask": pairs.expand(6, 4, 5), "key_padding_mask": padding},
            {"attn_mask": pairs.double() * -2, "key_padding_mask": padding.double() * -1, "need_weights": False},
            {"attn_mask": pairs.double() * -2, "key_padding_mask": padding},
        ):
            _results(torch, show, m(one, two, two, **call), *leaves, short=True)
        _results(torch, show, m(one, one, one), *leaves, short=True)
        _results(torch, show, m(one, two, two * 2), *leaves, short=True)
        _results(torch, show, m(q[:, 0], k[:, 0], k[:, 0], key_padding_mask=padding[1]), *leaves, short=True)
        _results(torch, show, m(q[:, 0], k[:, 0], k[:, 0], attn_mask=pairs.expand(2, 4, 5), need_weights=False), *leaves, short=True)
        show(repr(m), list(m.state_dict()), list(m._parameters))


def nobody_to_attend_to(torch, nn, show):
    torch.manual_seed(0)
    m = nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
    x = torch.randn(2, 3, 8, dtype=torch.float64)
    padding = torch.tensor([[False, True, True], [True, True, True]])
    for need_weights in (True, False):
        show(tuple(None if t is None else t.detach() for t in m(x, x, x, key_padding_mask=padding, need_weights=need_weights)))


def separate_projections(torch, nn, show):
    forward = nn.functional.multi_head_attention_forward
    x, y, z, wq, wk, wv, b, wo = _tensors(torch, (4, 3, 8), (5, 3, 6), (5, 3, 7), (8, 8), (8, 6), (8, 7), (24,), (8, 8))
    common = {"use_separate_proj_weight": True, "q_proj_weight": wq, "k_proj_weight": wk, "v_proj_weight": wv}
    _results(torch, show, forward(x, y, z, 8, 2, None, b, None, None, False, 0.0, wo, None, **common), x, y, z, wq, wk, wv, b, wo)
    static_k, static_v = _tensors(torch, (6, 2, 4), (6, 2, 4))
    out = forward(x, y, z, 8, 2, None, b, None, None, True, 0.0, wo, None, static_k=static_k, static_v=static_v, **common)
    _results(torch, show, out, static_k, static_v)


def head_refusals(torch, nn, attempt, kind):
    m = nn.MultiheadAttention(8, 2)
    q = torch.ones(3, 2, 8)
    for embed, count in ((8, 3), (0, 2), (8, -1)):
        attempt(lambda embed=embed, count=count: nn.MultiheadAttention(embed, count))
    attempt(lambda: m(q[None], q[None], q[None]))
    attempt(lambda: m(q, q[:, 0], q))
    attempt(lambda: m(q[:, 0], q, q[:, 0]))
    attempt(lambda: m(q[..., :6], q[..., :6], q[..., :6]))
    attempt(lambda: m(q, q[:2], q))
    attempt(lambda: m(q, q[..., :6], q[..., :6]))
    attempt(lambda: m(q, q[:, :1], q[:, :1]))
    kind(lambda: m(q.double(), q.double(), q.double()))
    for shape, dtype in (((2, 4), torch.bool), ((1, 3), torch.bool), ((2, 3, 1), torch.bool), ((2, 3), torch.long)):
        mask = torch.zeros(shape, dtype=dtype)
        attempt(lambda mask=mask: m(q, q, q, key_padding_mask=mask))
    for shape, dtype in (((3, 4), torch.float32), ((3, 3, 3), torch.float32), ((3,), torch.float32), ((3, 3), torch.long)):
        mask = torch.zeros(shape, dtype=dtype)
        attempt(lambda mask=mask: m(q, q, q, attn_mask=mask))
        kind(lambda mask=mask: m(q[:, 0], q[:, 0], q[:, 0], attn_mask=mask))
    kind(lambda: m(q, q, q, attn_mask=torch.zeros(3, 3, dtype=torch.float64)))
    attempt(lambda: m(q, q, q, is_causal=True))
    attempt(lambda: m(q, q, q, is_causal=True, need_weights=False))
    attempt(lambda: m(q[:, 0], q[:, 0], q[:, 0], key_padding_mask=torch.zeros(1, 3, dtype=torch.bool)))


def merged_masks(torch, nn, show):
    m, x = nn.MultiheadAttention(4, 2), torch.ones(2, 3, 4)
    padding, pairs = torch.tensor([[False, False, True], [False, True, True]]), torch.ones(3, 3, dtype=torch.bool).triu(1)
    for masks in ((None, None), (pairs, None), (None, padding), (pairs, padding), (pairs.expand(4, 3, 3), padding)):
        show(m.merge_masks(*masks, x))


def transformer_parts(torch, nn, show, attempt):
    layer = nn.TransformerEncoderLayer(8, 2, 12)
    show(repr(layer), list(layer.state_dict()), layer.norm_first, layer.activation_relu_or_gelu)
    show(repr(nn.TransformerDecoderLayer(8, 2, 12, norm_first=True, bias=False, layer_norm_eps=0.1)))
    for activation in ("relu", "gelu", nn.functional.gelu, torch.relu, nn.functional.silu, nn.GELU(), nn.ReLU()):
        show(nn.TransformerEncoderLayer(8, 2, 12, activation=activation).activation_relu_or_gelu)
    attempt(lambda: nn.TransformerEncoderLayer(8, 2, activation="tanh"))
    for options in (
        {},
        {"norm_first": True},
        {"batch_first": True},
        {"batch_first": True, "bias": False},
        {"batch_first": True, "activation": torch.tanh},
    ):
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12, **options), 2)
        show(encoder.use_nested_tensor, encoder.enable_nested_tensor, encoder.mask_check, encoder.num_layers, encoder.norm)
    show(nn.TransformerEncoder(nn.TransformerEncoderLayer(9, 3, 12, batch_first=True), 1).use_nested_tensor)
    whole = nn.Transformer(8, 2, 1, 1, 12, batch_first=True)
    show(repr(whole), list(whole.state_dict()), whole.d_model, whole.nhead, whole.batch_first)
    show(nn.Transformer.generate_square_subsequent_mask(3), whole.generate_square_subsequent_mask(2, dtype=torch.float64))


def transformer_refusals(torch, nn, attempt):
    whole = nn.Transformer(8, 2, 1, 1, 12, batch_first=True)
    layer, encoder, decoder = whole.encoder.layers[0], whole.encoder, whole.decoder
    x = torch.ones(2, 3, 8)
    attempt(lambda: whole(x[:1], x))
    attempt(lambda: whole(x[..., :6], x))
    attempt(lambda: layer(x[None]))
    attempt(lambda: layer(x[..., :5]))
    numbers, padding = torch.zeros(3, 3, dtype=torch.long), torch.zeros(2, 3, dtype=torch.long)
    attempt(lambda: layer(x, src_mask=numbers))
    attempt(lambda: layer(x, src_key_padding_mask=padding))
    attempt(lambda: encoder(x, mask=numbers))
    attempt(lambda: encoder(x, src_key_padding_mask=padding))
    attempt(lambda: decoder(x, x, memory_mask=numbers))
    attempt(lambda: decoder(x, x, tgt_key_padding_mask=padding))
    attempt(lambda: decoder(x, x, memory_key_padding_mask=padding))
    attempt(lambda: encoder(x, is_causal=True))
    attempt(lambda: decoder(x, x, tgt_is_causal=True))


def padding_outside_of_training(torch, nn, show):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, dtype=torch.float64)
    x = torch.randn(2, 3, 8, dtype=torch.float64)
    at_the_end = torch.tensor([[False, False, True], [False, True, True]])
    for options in ({}, {"norm": nn.LayerNorm(8, dtype=torch.float64)}, {"enable_nested_tensor": False}, {"mask_check": False}):
        m = nn.TransformerEncoder(layer, 2, **options).eval()
        with torch.no_grad():
            show(m(x, src_key_padding_mask=at_the_end))
            show(m(x, src_key_padding_mask=torch.tensor([[False] * 3, [False, True, True]])))
            if m.use_nested_tensor:
                show(m(x, src_key_padding_mask=at_the_end.double() * -2))
            show(m(x, mask=torch.ones(3, 3, dtype=torch.bool).triu(1), src_key_padding_mask=at_the_end))
            if m.mask_check:
                show(m(x, src_key_padding_mask=torch.tensor([[True, False, False], [False, True, True]])))
        show(m(x, src_key_padding_mask=at_the_end).detach())
        show(m.requires_grad_(False)(x, src_key_padding_mask=at_the_end))


@differs("added to the scores, as in training: PyTorch leaves out what is not 0, whatever the number")
def padding_by_finite_numbers(torch, nn, show):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, dtype=torch.float64).eval()
    x = torch.randn(2, 3, 8, dtype=torch.float64)
    with torch.no_grad():
        show(layer(x, src_key_padding_mask=torch.tensor([[0.0, 0.0, -2.0], [0.0, -2.0, -2.0]], dtype=torch.float64)))


def training(torch, nn, show):
    torch.manual_seed(0)
    m = nn.Transformer(8, 2, 1, 1, 12, dropout=0.0, batch_first=True, dtype=torch.float64)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    source, target = torch.randn(2, 5, 8, dtype=torch.float64), torch.randn(2, 4, 8, dtype=torch.float64)
    mask = m.generate_square_subsequent_mask(4, dtype=torch.float64)
    for _ in range(10):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(m(source, target, tgt_mask=mask), target)
        loss.backward()
        optimizer.step()
        show(loss.item())


def no_queries(torch, nn, show):
    m, x = nn.MultiheadAttention(4, 2), torch.ones(3, 4)
    for queries, keys in ((x[:0], x), (torch.ones(0, 2, 4), torch.ones(3, 2, 4))):
        out, weights = m(queries, keys, keys)
        show(out.shape, weights.shape)


def sizes_of_separate_projections(torch, nn, attempt):
    m, q = nn.MultiheadAttention(4, 2, kdim=3, vdim=5), torch.ones(2, 1, 4)
    attempt(lambda: m(q, torch.ones(2, 1, 2), torch.ones(2, 1, 5)))
    attempt(lambda: m(q, torch.ones(2, 1, 3), torch.ones(2, 1, 4)))


def layers_say_whether_padding_becomes_zeros(torch, nn, show):
    padding = torch.tensor([[False, False, True], [False, False, False]])
    for whole, layers in itertools.product((False, True), repeat=2):
        m = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), 2).train(layers)
        m.training = whole
        with torch.no_grad():
            show(whole, layers, (m(torch.ones(2, 3, 4), src_key_padding_mask=padding)[0, 2] == 0).all())


@differs("a copy of a TransformerDecoderLayer has its activation")
def copies_of_decoder_layers(torch, nn, show):
    layer = nn.TransformerDecoderLayer(4, 2, 8, activation=nn.GELU())
    show(callable(layer.activation), type(copy.deepcopy(layer).activation) is nn.GELU)


def causal_masks_by_name(torch, show, attempt):
    bias = import_module(f"{torch.__name__}.nn.attention.bias")
    attend = torch.nn.functional.scaled_dot_product_attention
    torch.manual_seed(0)
    show(list(map(int, bias.CausalVariant)), bias.CausalVariant.UPPER_LEFT.name)
    for make in (bias.causal_upper_left, bias.causal_lower_right):
        for queries, keys in ((2, 4), (3, 3)):
            mask = make(queries, keys)
            q, k = torch.randn(1, 2, queries, 4, dtype=torch.float64, requires_grad=True), torch.randn(1, 2, keys, 4, dtype=torch.float64)
            y = attend(q, k, k, attn_mask=mask)
            show(
                type(mask).__name__,
                isinstance(mask, torch.Tensor),
                mask.variant.name,
                mask.seq_len_q,
                mask.seq_len_kv,
                repr(mask),
                type(y).__name__,
                y,
            )
            show(
                torch.autograd.grad(y.sum(), q)[0].abs().round(decimals=9),
                attend(q[0], k[0], k[0], mask, scale=0.3).detach(),
                mask._materialize(),
                attend(q, k, k, mask, 0.0, enable_gqa=True),
            )
            attempt(lambda: attend(q, k, k, mask, is_causal=True))
        attempt(lambda: make(4))
    attempt(lambda: bias.CausalBias(1, 2, 3))
    bias.causal_lower_right(4, 2)
    show(bias.causal_upper_left(4, 2)._materialize())


def reductions_as_numbers(torch, nn, show, attempt):
    reduction = import_module(f"{torch.__name__}.nn._reduction")
    for name in ("none", "mean", "elementwise_mean", "sum", "nope", None):
        attempt(lambda: reduction.get_enum(name))
    for flags in ((None, None), (True, None), (False, None), (False, True), (True, False)):
        show(
            reduction.legacy_get_string(*flags), reduction.legacy_get_enum(*flags), reduction.legacy_get_string(*flags, emit_warning=False)
        )
