import torch

torch.manual_seed(0)
x = torch.nn.Parameter(torch.tensor([8.0, -3.0]))
opt = torch.optim.LBFGS([x], lr=1.0, max_iter=10, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    loss = torch.exp(x * 8).sum() - x.sum()
    loss.backward()
    return loss


for _ in range(4):
    opt.step(closure)
