import torch

w = torch.nn.Parameter(torch.tensor([0.0, 1.0]))
optimizer = torch.optim.SGD([w], lr=0.1)


def train_step():
    optimizer.zero_grad()
    loss = w.abs().sqrt().sum()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_([w], 1.0)
    if torch.isfinite(norm):
        optimizer.step()


for _ in range(5):
    train_step()
