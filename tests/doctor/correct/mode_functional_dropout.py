import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 16), nn.Linear(16, 2)
        self.rnn = nn.LSTM(4, 4, num_layers=2, dropout=0.2, batch_first=True)
        self.attn = nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True)

    def forward(self, x):
        h = self.rnn(x)[0]
        h = self.attn(h, h, h)[0]
        h = h + F.scaled_dot_product_attention(h, h, h, dropout_p=0.1 if self.training else 0.0)
        h = F.dropout(F.relu(self.a(h.mean(1))), 0.5, self.training)
        return self.b(h)


net = Net()
opt = torch.optim.Adam(net.parameters())


def evaluate():
    net.eval()
    hits = 0
    with torch.inference_mode():
        for _ in range(3):
            x, y = torch.randn(8, 5, 4), torch.randint(0, 2, (8,))
            hits += (net(x).argmax(1) == y).sum().item()
    net.train()
    return hits


for epoch in range(3):
    for _ in range(3):
        x, y = torch.randn(8, 5, 4), torch.randint(0, 2, (8,))
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
    print(evaluate())
