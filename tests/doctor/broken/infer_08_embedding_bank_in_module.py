# code: inference_tensor_misuse
import torch
from torch import nn


class Retrieval(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.query = nn.Linear(4, 4)
        self.bank = None

    @torch.inference_mode()
    def index(self, docs):
        feats = self.encoder(docs)
        self.bank = feats / feats.norm(dim=1, keepdim=True)  # ALSO

    def forward(self, q):
        return self.query(q) @ self.bank.t()  # LINE


model = Retrieval(nn.Linear(4, 4))
model.index(torch.randn(10, 4))
opt = torch.optim.SGD(model.query.parameters(), lr=0.1)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(5, 4)), torch.randint(0, 10, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
