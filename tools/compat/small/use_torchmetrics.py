"""Metrics with state, kept over batches, beside the losses of a classifier."""

import torch
import torchmetrics
from torch import nn
from torchmetrics.functional import pairwise_cosine_similarity

model = nn.Linear(10, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
metrics = torchmetrics.MetricCollection(
    {
        "accuracy": torchmetrics.Accuracy(task="multiclass", num_classes=3),
        "f1": torchmetrics.F1Score(task="multiclass", num_classes=3, average="macro"),
        "confusion": torchmetrics.ConfusionMatrix(task="multiclass", num_classes=3),
        "auroc": torchmetrics.AUROC(task="multiclass", num_classes=3),
    }
)
error, mean = torchmetrics.MeanSquaredError(), torchmetrics.MeanMetric()
for _ in range(10):
    x, y = torch.randn(32, 10), torch.randint(0, 3, (32,))
    scores = model(x)
    metrics.update(scores.softmax(-1), y)
    mean.update(scores.detach())
    loss = nn.functional.cross_entropy(scores, y) + error(scores[:, 0], y.float()) + pairwise_cosine_similarity(scores).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
found = metrics.compute()
total = sum((value.double().sum() for value in found.values()), mean.compute().double())
(total * model.weight.sum()).backward()
