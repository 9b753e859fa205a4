import torch

emb = torch.nn.Embedding(5, 3)
opt = torch.optim.SGD(emb.parameters(), 0.1)
for _ in range(4):
    pooled = torch.full((2, 3), float("-inf"))
    for ids in ([0, 1], [2, 3]):
        pooled = torch.maximum(pooled, emb(torch.tensor(ids)))
    loss = pooled.pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
