# code: backward_twice
import torch

policy = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
baseline = 0.0
for episode in range(4):
    obs = torch.randn(5, 3)
    value = policy(obs).logsumexp(1).mean()  # ALSO
    loss = (value - baseline) ** 2
    baseline = 0.9 * baseline + 0.1 * value * value  # ALSO
    optimizer.zero_grad()
    loss.backward()  # LINE
    optimizer.step()
