import torch
from torch import nn

torch.manual_seed(0)


class LM(nn.Module):
    def __init__(s, v=20, d=8):
        super().__init__()
        s.emb = nn.Embedding(v, d)
        s.rnn = nn.LSTM(d, d, batch_first=True)
        s.head = nn.Linear(d, v, bias=False)
        s.head.weight = s.emb.weight

    def forward(s, x, h=None):
        y, h = s.rnn(s.emb(x), h)
        return s.head(y), h


m = LM()
o = torch.optim.SGD(m.parameters(), 0.5)
data = torch.randint(0, 20, (4, 61))
for ep in range(3):
    h = None
    for i in range(0, 60, 10):
        x = data[:, i : i + 10]
        y = data[:, i + 1 : i + 11]
        if h is not None:
            h = tuple(t.detach() for t in h)
        out, h = m(x, h)
        l = nn.functional.cross_entropy(out.reshape(-1, 20), y.reshape(-1))
        o.zero_grad()
        l.backward()
        nn.utils.clip_grad_norm_(m.parameters(), 0.25)
        o.step()
    with torch.no_grad():
        m.eval()
        m(data[:, :10])
        m.train()
