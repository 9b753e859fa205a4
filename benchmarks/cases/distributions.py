"""Distributions at the sizes of reinforcement learning, made anew for each draw, with arguments checked as by default."""

import importlib

from registry import case


def distributions(torch):
    return importlib.import_module(f"{torch.__name__}.distributions")


@case("Normal(loc, scale).rsample(), batch 8", target=8)
def normal_rsample(torch):
    Normal, loc, scale = distributions(torch).Normal, torch.randn(8), torch.rand(8) + 0.5
    return lambda: Normal(loc, scale).rsample()


@case("Normal(loc, scale).log_prob(x), batch 8", target=8)
def normal_log_prob(torch):
    Normal, loc, scale, x = distributions(torch).Normal, torch.randn(8), torch.rand(8) + 0.5, torch.randn(8)
    return lambda: Normal(loc, scale).log_prob(x)


@case("Normal: rsample and log_prob with gradients, batch 8", target=8)
def normal_step(torch):
    Normal = distributions(torch).Normal
    loc, scale = torch.randn(8, requires_grad=True), (torch.rand(8) + 0.5).requires_grad_()

    def step():
        chosen = Normal(loc, scale)
        chosen.log_prob(chosen.rsample()).sum().backward()
        loc.grad = scale.grad = None

    return step


@case("Categorical(logits).sample(), batch 8 of 4", target=8)
def categorical_sample(torch):
    Categorical, logits = distributions(torch).Categorical, torch.randn(8, 4)
    return lambda: Categorical(logits=logits).sample()


@case("Categorical(logits).log_prob(action), batch 8 of 4", target=8)
def categorical_log_prob(torch):
    Categorical, logits, action = distributions(torch).Categorical, torch.randn(8, 4), torch.randint(0, 4, (8,))
    return lambda: Categorical(logits=logits).log_prob(action)


@case("Beta(a, b).rsample() with gradients, 1000")  # no target: exact derivatives cost more than PyTorch's approximations
def beta_step(torch):
    Beta = distributions(torch).Beta
    a, b = (torch.rand(1000) + 0.5).requires_grad_(), (torch.rand(1000) + 0.5).requires_grad_()

    def step():
        Beta(a, b).rsample().sum().backward()
        a.grad = b.grad = None

    return step
