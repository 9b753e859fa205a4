"""Attention alone, a layer of it, and steps of transformers."""

from registry import case


def attention(torch, batch, heads, length, width, **options):
    attend = torch.nn.functional.scaled_dot_product_attention
    q, k, v = (torch.randn(batch, heads, length, width, requires_grad=True) for _ in range(3))
    grad = torch.randn(batch, heads, length, width)

    def step():
        attend(q, k, v, **options).backward(grad)
        q.grad = k.grad = v.grad = None

    return step


# Floor: 14 flops for each pair of a query and a key and each element of a head's width, 4 forward and 10 backward.
@case("attention 8 x 8 x 512 x 64, forward + backward", target=1.2)
def short(torch):
    return attention(torch, 8, 8, 512, 64)


@case("attention 8 x 8 x 512 x 64, causal, forward + backward", target=1.2)
def causal(torch):
    return attention(torch, 8, 8, 512, 64, is_causal=True)


@case("attention 8 x 8 x 4096 x 64, forward + backward", target=1.2)
def long(torch):
    return attention(torch, 8, 8, 4096, 64)


@case("attention 1 x 1 x 16 x 8, forward + backward", target=5)
def tiny(torch):
    return attention(torch, 1, 1, 16, 8)


@case("MultiheadAttention + LayerNorm d32, length 16, batch 1, forward + backward", target=5)
def layer(torch):
    attend, norm = torch.nn.MultiheadAttention(32, 4), torch.nn.LayerNorm(32)
    x = torch.randn(16, 1, 32)
    parameters = [*attend.parameters(), *norm.parameters()]

    def step():
        norm(x + attend(x, x, x, need_weights=False)[0]).sum().backward()
        for p in parameters:
            p.grad = None

    return step


def transformer(torch, layers, width, heads, batch, length):
    """A step of a language model: embedding, encoder with a causal mask, logits, AdamW."""
    nn, words = torch.nn, 1000
    embedding, head = nn.Embedding(words, width), nn.Linear(width, words)
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True),
        layers,
        enable_nested_tensor=False,
    )
    model = nn.ModuleList([embedding, encoder, head])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens, mask = torch.randint(0, words, (batch, length + 1)), nn.Transformer.generate_square_subsequent_mask(length)

    def step():
        optimizer.zero_grad()
        hidden = encoder(embedding(tokens[:, :-1]), mask=mask, is_causal=True)
        nn.functional.cross_entropy(head(hidden).flatten(0, 1), tokens[:, 1:].reshape(-1)).backward()
        optimizer.step()

    return step


@case("transformer 2 layers d128, batch 8, length 32, step", target=1.5)
def small_transformer(torch):
    return transformer(torch, 2, 128, 4, 8, 32)


@case("transformer 4 layers d256, batch 16, length 128, step", target=1.3)
def large_transformer(torch):
    return transformer(torch, 4, 256, 8, 16, 128)
