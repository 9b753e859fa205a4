# code: retain_graph_leak
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, tokens):
        return self.head(self.emb(tokens).mean(1))


def train(steps=5):
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters())
    for i in range(steps):
        loss = nn.functional.cross_entropy(model(torch.randint(0, 10, (4, 6))), torch.randint(0, 2, (4,)))
        optimizer.zero_grad()
        torch.autograd.backward(loss, retain_graph=True)  # LINE
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


train()
