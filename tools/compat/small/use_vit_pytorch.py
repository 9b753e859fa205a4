"""Vision transformers of several kinds."""

import torch
from torch import nn
from vit_pytorch import ViT
from vit_pytorch.cct import CCT
from vit_pytorch.deepvit import DeepViT
from vit_pytorch.mae import MAE
from vit_pytorch.simple_vit import SimpleViT

images, labels = torch.randn(4, 3, 32, 32), torch.randint(0, 5, (4,))
sizes = {"image_size": 32, "patch_size": 8, "num_classes": 5, "dim": 32, "depth": 2, "heads": 4, "mlp_dim": 64}
for model in (
    ViT(**sizes, dropout=0.1, emb_dropout=0.1),
    SimpleViT(**sizes),
    DeepViT(**sizes, dropout=0.1),
    CCT(
        img_size=32,
        embedding_dim=32,
        n_conv_layers=1,
        num_layers=2,
        num_heads=4,
        mlp_ratio=2.0,
        num_classes=5,
        positional_embedding="learnable",
    ),
):
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
mae = MAE(encoder=ViT(**sizes, pool="mean"), masking_ratio=0.75, decoder_dim=16, decoder_depth=1)
for _ in range(3):
    mae(images).backward()
