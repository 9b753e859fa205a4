import torch
from torch import nn

torch.manual_seed(0)
netG = nn.Sequential(nn.ConvTranspose2d(4, 8, 4), nn.BatchNorm2d(8), nn.ReLU(True), nn.ConvTranspose2d(8, 1, 4, 2, 1), nn.Tanh())
netD = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.BatchNorm2d(8), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(8, 1, 4), nn.Sigmoid())
criterion = nn.BCELoss()
optD, optG = torch.optim.Adam(netD.parameters(), 2e-4), torch.optim.Adam(netG.parameters(), 2e-4)
fixed_noise = torch.randn(8, 4, 1, 1)
img_list = []
for i in range(12):
    netD.zero_grad()
    label = torch.full((8,), 1.0)
    errD_real = criterion(netD(torch.rand(8, 1, 8, 8)).view(-1), label)
    errD_real.backward()
    fake = netG(torch.randn(8, 4, 1, 1))
    label.fill_(0.0)
    errD_fake = criterion(netD(fake.detach()).view(-1), label)
    errD_fake.backward()
    optD.step()
    netG.zero_grad()
    label.fill_(1.0)
    errG = criterion(netD(fake).view(-1), label)
    errG.backward()
    optG.step()
    if i % 3 == 0:
        with torch.no_grad():
            sample = netG(fixed_noise).detach().cpu()
        img_list.append(sample.numpy())
