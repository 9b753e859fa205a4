import torch
from torch import nn

torch.manual_seed(0)
cnn = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1))
img = torch.rand(1, 3, 8, 8)
tgt = torch.rand(1, 3, 8, 8)
x = img.clone().requires_grad_(True)
opt = torch.optim.LBFGS([x], max_iter=3)
for i in range(4):

    def closure():
        with torch.no_grad():
            x.clamp_(0, 1)
        opt.zero_grad()
        l = nn.functional.mse_loss(cnn(x), cnn(tgt).detach())
        l.backward()
        return l

    opt.step(closure)
# nn.Parameter as the image
y = nn.Parameter(img.clone())
opt = torch.optim.Adam([y], 0.01)
for i in range(6):
    opt.zero_grad()
    nn.functional.mse_loss(cnn(y), cnn(tgt).detach()).backward()
    opt.step()
