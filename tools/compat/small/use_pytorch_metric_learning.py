"""Losses on embeddings with miners, distances and reducers."""

import torch
from pytorch_metric_learning import distances, losses, miners, reducers
from torch import nn

x, labels = torch.randn(32, 8), torch.randint(0, 4, (32,))
miner = miners.MultiSimilarityMiner()
for loss_of in (
    losses.TripletMarginLoss(distance=distances.CosineSimilarity(), reducer=reducers.ThresholdReducer(low=0)),
    losses.ContrastiveLoss(),
    losses.NTXentLoss(),
    losses.ArcFaceLoss(4, 6),
    losses.MultiSimilarityLoss(),
    losses.SupConLoss(),
):
    model = nn.Linear(8, 6)
    optimizer = torch.optim.Adam([*model.parameters(), *loss_of.parameters()], 0.01)
    for _ in range(4):
        found = model(x)
        loss = loss_of(found, labels, miner(found, labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
