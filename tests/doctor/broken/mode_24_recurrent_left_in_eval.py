# code: mode_confusion
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30, 8)
        self.rnn = nn.GRU(8, 8, num_layers=2, dropout=0.5, batch_first=True)
        self.out = nn.Linear(8, 5)

    def forward(self, tokens):
        return self.out(self.rnn(self.emb(tokens))[0])


def validate(model):
    model.eval()  # LINE
    with torch.no_grad():
        return model(torch.randint(0, 30, (4, 6))).argmax(-1).float().mean().item()


def train(model, opt):
    for _ in range(3):
        tokens = torch.randint(0, 30, (4, 6))
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), (tokens % 5).flatten())  # ALSO
        opt.zero_grad()
        loss.backward()
        opt.step()


model = Tagger()
opt = torch.optim.Adam(model.parameters())
for _ in range(3):
    train(model, opt)
    validate(model)
