# code: disconnected_parameter
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
decoder = nn.Linear(8, 4)  # LINE
params = list(encoder.parameters())
optimizer = torch.optim.Adam(params, lr=1e-2)  # ALSO
for epoch in range(5):
    batch = torch.randn(10, 4)
    optimizer.zero_grad()
    loss = (decoder(encoder(batch)) - batch).square().mean()
    loss.backward()
    optimizer.step()
