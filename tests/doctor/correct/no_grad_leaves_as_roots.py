import torch


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


x, y = leaf(1.0, 2.0), leaf(3.0)
x.backward(torch.ones(2))
x.backward(torch.ones(2))  # what is given is added: there is nothing to learn here
y.backward()
print(x.grad, y.grad)
