"""A Wasserstein critic with a gradient penalty: the loss contains the norm of a gradient, and is differentiated again."""

import argparse

import torch
from gan import mlp, real


def penalty(critic, a, b):
    mix = torch.rand(len(a), 1)
    between = (mix * a + (1 - mix) * b).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (slope.norm(dim=1) - 1).square().mean()


def main(steps):
    torch.manual_seed(0)
    generator, critic = mlp(4, 2), mlp(2, 1)
    g_optimizer = torch.optim.RMSprop(generator.parameters(), lr=5e-4)
    c_optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
    for step in range(steps):
        for _ in range(3):
            x, fake = real(128), generator(torch.randn(128, 4)).detach()
            distance = critic(x).mean() - critic(fake).mean()
            gp = penalty(critic, x, fake)
            c_optimizer.zero_grad()
            (10 * gp - distance).backward()
            c_optimizer.step()
        g_loss = -critic(generator(torch.randn(128, 4))).mean()
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()
        if step % max(steps // 10, 1) == 0:
            print(f"step {step:5d}  distance {distance.item():.5f}  penalty {gp.item():.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(10 if parser.parse_args().short else 2000)
