import torch

trans = torch.nn.Parameter(torch.randn(3, 3))
emit = torch.nn.Parameter(torch.randn(3, 4))
start = torch.log(torch.tensor([1.0, 0.0, 0.0]))
optimizer = torch.optim.SGD([trans, emit], lr=0.1)
obs = [0, 2, 1, 3]
for _ in range(5):
    optimizer.zero_grad()
    A, B = trans.log_softmax(-1), emit.log_softmax(-1)
    alpha = start + B[:, obs[0]]
    for o in obs[1:]:
        alpha = torch.logsumexp(alpha[:, None] + A, 0) + B[:, o]
    (-torch.logsumexp(alpha, 0)).backward()
    optimizer.step()
