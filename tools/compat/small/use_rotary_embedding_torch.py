"""Rotary positions for queries and keys, with a cache and over axes."""

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb
from torch import nn

rotary, axes = RotaryEmbedding(dim=8), RotaryEmbedding(dim=4, freqs_for="pixel", max_freq=16)
model = nn.Linear(16, 48)
optimizer = torch.optim.Adam(model.parameters(), 0.01)
x, y = torch.randn(2, 10, 16), torch.randn(2, 10, 16)
for _ in range(8):
    q, k, v = (part.view(2, 10, 2, 8).transpose(1, 2) for part in model(x).chunk(3, -1))
    out = nn.functional.scaled_dot_product_attention(rotary.rotate_queries_or_keys(q), rotary.rotate_queries_or_keys(k), v, is_causal=True)
    turned = apply_rotary_emb(axes.get_axial_freqs(2, 5), q.reshape(2, 2, 2, 5, 8))
    loss = nn.functional.mse_loss(out.transpose(1, 2).reshape(2, 10, 16), y) + turned.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
