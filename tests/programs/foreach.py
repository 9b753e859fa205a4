"""torch._foreach_*, which PyTorch's optimizers and others' are made of."""


def _lists(torch):
    return [torch.tensor([1.0, 4.0]), torch.tensor([[9.0]])], [torch.tensor([2.0, 0.5]), torch.tensor([[3.0]])]


def every_name(torch, show):
    a, b = _lists(torch)
    unary = (
        "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt sigmoid sign "
        "sin sinh sqrt tan tanh trunc"
    )
    for name in unary.split():
        inputs = [t / 10 for t in a]
        show(name, getattr(torch, f"_foreach_{name}")(inputs), getattr(torch, f"_foreach_{name}_")([t.clone() for t in inputs]))
    for name in ("add", "sub", "mul", "div", "clamp_max", "clamp_min", "maximum", "minimum", "pow"):
        f, f_ = getattr(torch, f"_foreach_{name}"), getattr(torch, f"_foreach_{name}_")
        for other in (2, 1.5, [2, 3.5], b):
            show(name, f(a, other), f_([t.clone() for t in a], other))
    for name in ("add", "mul", "div"):
        show(name, getattr(torch, f"_foreach_{name}")(a, torch.tensor(2.0)))
    show(
        torch._foreach_add(a, b, alpha=2),
        torch._foreach_sub(tuple(a), b, alpha=2),
        torch._foreach_pow(2, a),
        torch._foreach_add(a, scalar=2),
    )
    for name in ("addcmul", "addcdiv"):
        f, f_ = getattr(torch, f"_foreach_{name}"), getattr(torch, f"_foreach_{name}_")
        for value in ((), (2,), ([2, 3],), (torch.tensor([2.0, 3.0]),)):
            show(name, f(a, b, b, *value), f_([t.clone() for t in a], b, b, *value))
        show(f(a, b, b, value=3))
    for weight in (0.5, [0.5, 0.25], b):
        show("lerp", torch._foreach_lerp(a, b, weight), torch._foreach_lerp_([t.clone() for t in a], b, weight))


def the_others(torch, show):
    a, b = _lists(torch)
    show(torch._foreach_norm(a), torch._foreach_norm(a, 1), torch._foreach_norm(a, float("inf")), torch._foreach_norm(a, 2, torch.float64))
    show(torch._foreach_powsum(a), torch._foreach_powsum(a, 3), torch._foreach_powsum([-t for t in a], 3, torch.float64))
    show(torch._foreach_max(a), torch._foreach_mm([torch.ones(2, 2)], [torch.ones(2, 1)]), torch._foreach_clone(a))
    show(torch._foreach_copy_([t.clone() for t in a], b), torch._foreach_zero_([t.clone() for t in a]))
    show(torch._foreach_copy_([torch.tensor([1, 2])], [torch.tensor([1.7, 2.2])]), torch._foreach_add([torch.tensor([1, 2])], 1.5))


def writes_and_gradients(torch, leaf, show, attempt):
    a, _ = _lists(torch)
    first, version = a[0], a[0]._version
    result = torch._foreach_add_(a, 1)
    show(result[0] is first, first._version - version, first)
    x = leaf(1.0, 4.0)
    (y,) = torch._foreach_mul(torch._foreach_add([x], 2), [x])
    y.sum().backward()
    show(x.grad)
    attempt(lambda: torch._foreach_add_([x], 1))


def refusals(torch, attempt, kind):
    a, b = _lists(torch)
    attempt(lambda: torch._foreach_abs([]))
    attempt(lambda: torch._foreach_add([], 1))
    attempt(lambda: torch._foreach_abs(3))
    attempt(lambda: torch._foreach_abs([3]))
    attempt(lambda: torch._foreach_abs(torch.ones(2)))
    attempt(lambda: torch._foreach_add(a, b[:1]))
    attempt(lambda: torch._foreach_add(a, [1]))
    attempt(lambda: torch._foreach_add(a, torch.ones(2)))
    attempt(lambda: torch._foreach_add([torch.ones(2)], [torch.ones(3)]))
    attempt(lambda: torch._foreach_add_([torch.tensor([1])], 1.5))
    attempt(lambda: torch._foreach_sqrt_([torch.tensor([1])]))
    attempt(lambda: torch._foreach_addcdiv(a, b, b, torch.tensor([2.0])))
    attempt(lambda: torch._foreach_addcdiv(a, b, b, torch.ones(2, 1)))
    attempt(lambda: torch._foreach_addcdiv(a, b, b, [2]))
    attempt(lambda: torch._foreach_lerp(a, b, b[:1]))
    attempt(lambda: torch._foreach_copy_(a, b[:1]))
    attempt(lambda: torch._foreach_norm([torch.ones(0)], float("inf")))
    attempt(lambda: torch._foreach_max([torch.ones(0)]))
    kind(lambda: torch._foreach_add(a))
    kind(lambda: torch._foreach_add(a, 2, alpha=2))
