import torch
from torch import nn

generator, scorer = nn.Linear(3, 4), nn.Embedding(4, 1)
optimizer = torch.optim.SGD([*generator.parameters(), *scorer.parameters()], lr=0.05)
for step in range(8):
    logits = generator(torch.randn(6, 3))
    token = logits.argmax(1)
    score = scorer(token).squeeze(1)
    if step % 2:
        loss = (score - 1).pow(2).mean()
    else:
        loss = -(logits.log_softmax(1).gather(1, token.unsqueeze(1)).squeeze(1) * score.detach()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
