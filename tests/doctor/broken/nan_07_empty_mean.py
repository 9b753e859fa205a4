# code: nan_origin
import torch

emb = torch.nn.Embedding(5, 2)
optimizer = torch.optim.SGD(emb.parameters(), lr=0.1)
batches = [[0, 1, 3], [2, 4], [1, 1]]
for ids in batches:
    out = emb(torch.tensor(ids))
    positive = out[torch.tensor(ids) > 2]
    loss = out.pow(2).mean() + positive.mean()  # LINE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
