"""Overhead per op, the engine, and the two kernels everybody meets: what the core promises."""

from registry import case, fresh_process

LEARNING_RATE = 0.01


def small_op(name, statement, target=8, **options):
    """A statement on two 4x4 matrices, without history."""

    @case(name, target=target, **options)
    def setup(torch):
        return statement, {"torch": torch, "a": torch.randn(4, 4), "b": torch.randn(4, 4)}


for op, statement in (("add", "a + b"), ("mul", "a * b")):
    small_op(f"{op} 4x4", statement)
    small_op(f"{op} 4x4, no_grad", statement, under="no_grad")
    small_op(f"{op} 4x4, inference_mode", statement, under="inference_mode")

    @case(f"{op} 4x4, tracked", target=8)
    def tracked(torch, statement=statement):
        return statement, {"a": torch.randn(4, 4, requires_grad=True), "b": torch.randn(4, 4, requires_grad=True)}


small_op("matmul 4x4", "a @ b")

# Entering and leaving a mode, and one op inside.
for mode in ("no_grad()", "inference_mode()", "enable_grad()", "set_grad_enabled(False)"):
    small_op(f"with {mode}: a * b 4x4", f"with torch.{mode}: a * b", target=10)


@case("@no_grad function call, a * b 4x4", target=10)
def decorated(torch):
    @torch.no_grad()
    def product(a, b):
        return a * b

    return "product(a, b)", {"product": product, "a": torch.randn(4, 4), "b": torch.randn(4, 4)}


@case("a[3, 2:9]", target=8)
def basic_indexing(torch):
    return "a[3, 2:9]", {"a": torch.randn(16, 16)}


def chain(torch):
    """A hundred tracked multiplications, each by the same small constant tensor."""
    x = torch.randn(4, 4, requires_grad=True)
    factor = torch.full((4, 4), 1.001)

    def forward():
        y = x
        for _ in range(100):
            y = y * factor
        return y

    return x, forward


@case("chain of 100 mul, forward", target=15)
def chain_forward(torch):
    _, forward = chain(torch)
    return forward


@case("chain of 100 mul, forward + backward", target=10)
def chain_backward(torch):
    x, forward = chain(torch)
    ones = torch.ones(4, 4)

    def step():
        forward().backward(ones)
        x.grad = None

    return step


@case("MLP 16-32-32-1 step, SGD by hand", target=8)
def mlp_step(torch):
    x, target = torch.randn(8, 16), torch.randn(8, 1)
    sizes = [(16, 32), (32, 32), (32, 1)]
    weights = [(torch.randn(i, o) / i**0.5).requires_grad_() for i, o in sizes]
    biases = [torch.zeros(o, requires_grad=True) for _, o in sizes]
    parameters = weights + biases

    def step():
        h = x
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            h = torch.tanh(h @ w + b)
        loss = ((h @ weights[-1] + biases[-1] - target) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= LEARNING_RATE * p.grad
                p.grad = None

    return step


@case("matmul 1024x1024 float32", target=0.95)
def large_matmul(torch):
    return "a @ b", {"a": torch.randn(1024, 1024), "b": torch.randn(1024, 1024)}


@case("sum of 16M floats", target=1)
def large_sum(torch):
    return "a.sum()", {"a": torch.randn(16 * 1024 * 1024)}


@case("tanh(x) * x + sigmoid(x) at 4M, forward + backward", target=3)
def large_chain(torch):
    x, grad = torch.randn(4 * 1024 * 1024, requires_grad=True), torch.ones(4 * 1024 * 1024)

    def step():
        x.grad = None
        (torch.tanh(x) * x + torch.sigmoid(x)).backward(grad)

    return step


@case("add 16M floats, fresh result", target=3)
def large_add(torch):
    return "a + b", {"a": torch.randn(16_000_000), "b": torch.randn(16_000_000)}


fresh_process("import", "import {engine}", target=15)
