"""Patches, attention heads and pooling by einops' functions and layers."""

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn

images, labels = torch.randn(8, 3, 8, 8), torch.randint(0, 4, (8,))
patches = nn.Sequential(Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2), nn.Linear(12, 16))
mix = EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=16, d=16)
head = nn.Sequential(Reduce("b t c -> b c", "mean"), nn.Linear(16, 4))
start = nn.Parameter(torch.randn(16))
parameters = [*patches.parameters(), *mix.parameters(), *head.parameters(), start]
optimizer = torch.optim.Adam(parameters, 0.01)
for _ in range(20):
    tokens = patches(images)
    tokens, shapes = pack([repeat(start, "c -> b c", b=8), tokens], "b * c")
    heads = rearrange(tokens, "b t (h c) -> b h t c", h=4)
    weights = einsum(heads, heads, "b h i c, b h j c -> b h i j").softmax(-1)
    seen = rearrange(einsum(weights, heads, "b h i j, b h j c -> b h i c"), "b h t c -> b t (h c)")
    first, rest = unpack(mix(seen), shapes, "b * c")
    loss = nn.functional.cross_entropy(head(rest) + reduce(first, "b (k c) -> b k", "max", k=4), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
