# code: inplace_corruption
import numpy as np
import torch


class Env:
    def __init__(self):
        self.obs = np.zeros(4, dtype=np.float32)

    def step(self):
        self.obs += 1.0  # ALSO
        return self.obs


env = Env()
policy = torch.nn.Linear(4, 2)
log_probs = []
for t in range(3):
    x = torch.from_numpy(env.step())
    log_probs.append(torch.log_softmax(policy(x), -1)[0])  # LINE
loss = -torch.stack(log_probs).sum()
loss.backward()
