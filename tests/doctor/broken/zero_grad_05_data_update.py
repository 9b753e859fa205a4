# code: missing_zero_grad
import torch

torch.manual_seed(1)


def fit(params, batches, lr):
    history = []
    for x, y in batches:
        hidden = torch.tanh(x @ params["w1"])
        loss = (hidden @ params["w2"] - y).pow(2).mean()
        loss.backward()  # LINE
        for name in params:
            params[name].data.add_(params[name].grad.data, alpha=-lr)
        history.append(loss.item())
    return history


weights = {"w1": torch.randn(3, 5, requires_grad=True), "w2": torch.randn(5, 1, requires_grad=True)}
fit(weights, [(torch.randn(7, 3), torch.randn(7, 1)) for _ in range(4)], lr=0.05)
