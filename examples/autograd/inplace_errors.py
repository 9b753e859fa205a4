"""Writes in place: which are followed, which are refused at once, and which are noticed in backward."""

import torch


def attempt(what, function):
    try:
        function()
    except RuntimeError as error:
        print(f"{what}: {str(error).splitlines()[0].split(':')[0].split('. ')[0]}")
    else:
        print(f"{what}: fine")


def leaf():
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def overwritten():
    y = leaf().exp()  # exp saves its result
    y.add_(1)
    y.sum().backward()


def not_needed():
    y = leaf() + 1  # a sum saves nothing
    y.mul_(2)
    y.sum().backward()


def through_a_view():
    y = leaf() * 1
    z = y.exp()
    z[0] = 0  # writes to a part of what exp saved
    z.sum().backward()


def parameter_between():
    w = leaf()
    y = (w * w).sum()
    with torch.no_grad():
        w.add_(1)  # an optimizer's step between forward and backward
    y.backward()


attempt("write to a leaf", lambda: leaf().add_(1))
attempt("write to a view of a leaf", lambda: leaf()[0].add_(1))
attempt("write to a saved result", overwritten)
attempt("write to a result nobody saved", not_needed)
attempt("write to a part of a saved result", through_a_view)
attempt("write to a parameter before backward", parameter_between)

# A write is followed: gradients are those of the values at each moment.
x = leaf()
y = x * 2
y[0] = x[1] * 10
y.sum().backward()
print("gradient through a write:", x.grad.tolist())

# Every write raises the version, which backward compares with the one it saved.
z = torch.zeros(2)
before = z._version
z.add_(1).mul_(2)
z[0] = 5
print("versions:", before, "->", z._version)
