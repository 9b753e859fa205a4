# code: nan_origin
import torch

# angle between vectors, parallel ones
a = torch.randn(5, 3)
b = torch.nn.Parameter(a.clone())
opt = torch.optim.SGD([b], 0.1)
for i in range(3):
    cos = torch.nn.functional.cosine_similarity(a, b)
    ang = torch.acos(cos.clamp(-1, 1))  # LINE
    loss = ang.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
