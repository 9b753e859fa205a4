import torch
from torch import nn

cell, out = nn.RNNCell(2, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.01)
k1, k2 = 2, 4
for seq in range(3):
    states = [(None, torch.zeros(1, 4))]
    opt.zero_grad()
    for j in range(12):
        state = states[-1][1].detach().requires_grad_()
        new = cell(torch.randn(1, 2), state)
        states.append((state, new))
        while len(states) > k2:
            del states[0]
        if (j + 1) % k1 == 0:
            loss = out(new).pow(2).sum() / 6
            loss.backward(retain_graph=True)
            for i in range(k2 - 1):
                if len(states) < i + 2 or states[-i - 2][0] is None:
                    break
                states[-i - 2][1].backward(states[-i - 1][0].grad, retain_graph=True)
    opt.step()
