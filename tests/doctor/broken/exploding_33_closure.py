# code: exploding_gradient
import torch

torch.manual_seed(0)
theta = torch.tensor([1.0, -0.5], requires_grad=True)
opt = torch.optim.SGD([theta], lr=0.01, momentum=0.9)
xs = torch.linspace(-1, 1, 32)
for step in range(40):
    scale = 1.0 if step < 30 else 40.0

    def closure():
        opt.zero_grad()
        z = theta[0] * xs * scale + theta[1]
        loss = (torch.exp(z) - xs).pow(2).mean()
        loss.backward()  # LINE
        return loss

    opt.step(closure)
    if step == 30:
        break
