# code: mode_confusion
import torch
from torch import nn

torch.manual_seed(1)
rnn = nn.LSTM(5, 8, num_layers=2, dropout=0.4, batch_first=True)
fc = nn.Linear(8, 1)
params = list(rnn.parameters()) + list(fc.parameters())
series = torch.randn(24, 10, 5)
target = series.mean((1, 2)).unsqueeze(1)
for step in range(5):
    out, _ = rnn(series[:16])  # ALSO
    loss = (fc(out[:, -1]) - target[:16]).pow(2).mean()
    grads = torch.autograd.grad(loss, params)
    with torch.no_grad():
        for p, g in zip(params, grads):
            p -= 0.05 * g

with torch.no_grad():
    out, _ = rnn(series[16:])  # LINE
    test = (fc(out[:, -1]) - target[16:]).pow(2).mean().item()
