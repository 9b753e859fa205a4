"""functionalize, debug_unwrap, rearrange and other small things of torch.func."""

from tests.programs import differs, own


def functionalize(func, x3, show):
    def f(x):
        y = x.clone()
        y.add_(1)
        return y

    show(func.functionalize(f)(x3))


def functionalize_writes_to_its_input(func, x3, show):
    a = x3.clone()

    def f(x):
        x.mul_(2)
        return x + 1

    show(func.functionalize(f)(a), a)


def functionalize_writes_to_a_view(func, x33, show):
    a = x33.clone()

    def f(x):
        x[0].mul_(2)
        return x.sum()

    show(func.functionalize(f)(a), a)


def functionalize_and_views(func, x33, show):
    def f(x):
        y = x.view(9)
        y[0] = 5
        return x * 1

    show(func.functionalize(f, remove="mutations_and_views")(x33.clone()))


def functionalize_with_an_unknown_remove(func):
    func.functionalize(lambda x: x, remove="views")


def functionalize_is_lazy_about_its_argument(func, x3):
    func.functionalize(lambda x: x, remove="views")(x3)


def functionalize_of_a_container(func, x3, show):
    show(func.functionalize(lambda d: {"o": d["a"].clone().add_(d["b"])})({"a": x3, "b": x3}))


def functionalize_of_a_number(func, x3, show):
    show(func.functionalize(lambda x, n: x * n)(x3, 2))


def functionalize_returns_its_input(func, x3, show):
    a = x3.clone()
    out = func.functionalize(lambda x: x)(a)
    show(out, out is a)


@differs("warns, as outside")
def functionalize_resizes(torch, func, f64, x3, show):
    def f(x):
        y = torch.zeros(2, dtype=f64)
        torch.add(x, 1, out=y)
        return y

    show(func.functionalize(f)(x3))


def functionalize_of_a_tracked_tensor(func, x3, show):
    a = x3.clone().requires_grad_()
    out = func.functionalize(lambda x: (x * 2).mul_(x))(a)
    show(out)
    out.sum().backward()
    show(a.grad)


def grad_of_functionalize(func, grad, x3, show):
    show(grad(func.functionalize(lambda x: (x.clone().mul_(x)).sum()))(x3))


def functionalize_of_grad(func, grad, x3, show):
    show(func.functionalize(grad(lambda x: (x.clone().mul_(x)).sum()))(x3))


def vmap_of_functionalize(func, vmap, x33, show):
    show(vmap(func.functionalize(lambda x: x.clone().mul_(x)))(x33))


def functionalize_keyword_arguments(func, x3, show):
    show(func.functionalize(lambda x, y=1: x + y)(x3, y=2))


def functionalize_with_a_number_result(func, x3, show):
    show(func.functionalize(lambda x: 2)(x3))


def debug_unwrap_in_grad(func, grad, x3, show):
    seen = []
    grad(lambda x: seen.append(func.debug_unwrap(x)) or x.sum())(x3)
    show(seen)


def debug_unwrap_in_vmap(func, vmap, x33, show):
    seen = []
    vmap(lambda x: seen.append(func.debug_unwrap(x)) or x)(x33)
    show(seen)


def debug_unwrap_nested(func, vmap, x33, show):
    seen = []
    vmap(vmap(lambda x: seen.append((func.debug_unwrap(x), tuple(func.debug_unwrap(x, recurse=False).shape))) or x))(x33)
    show(seen)


def debug_unwrap_of_a_plain_tensor(func, x3, show):
    show(func.debug_unwrap(x3))


@own("words")
def debug_unwrap_of_something_else(func):
    func.debug_unwrap(3)


def rearrange(func, x23, show):
    show(func.rearrange(x23, "a b -> b a"))


def rearrange_merges(torch, func, show):
    show(func.rearrange(torch.arange(8).reshape(2, 2, 2), "a b c -> (a b) c"))


@differs("works for a vector")
def rearrange_splits(torch, func, show):
    show(func.rearrange(torch.arange(8), "(a b) -> a b", a=2))


def rearrange_with_an_ellipsis(torch, func, show):
    show(func.rearrange(torch.arange(8).reshape(2, 2, 2), "a ... -> ... a"))


def rearrange_with_ones(func, x23, show):
    show(func.rearrange(x23, "a b -> a 1 b"))


def replace_all_batch_norm_modules(nn, func, show):
    m = nn.Sequential(nn.Linear(2, 2))
    show(func.replace_all_batch_norm_modules_(m) is m)


def names_of_func(func, show):
    show(sorted(func.__all__))
