"""torch.masked: reductions of the elements that a mask selects."""


def _inputs(torch):
    x = torch.tensor([[-3.0, -2, -1], [0, 1, 2]], dtype=torch.float64)
    return x, torch.tensor([[True, False, True], [False, False, False]]), torch.tensor([True, False, True])


def reductions(torch, show):
    x, mask, row = _inputs(torch)
    for name in ("sum", "prod", "amax", "amin", "mean", "logsumexp", "norm", "var", "std"):
        f = getattr(torch.masked, name)
        for dim in (0, 1, -1, None, (0, 1), ()):
            options = {"dim": dim} | ({"unbiased": False} if name in ("var", "std") else {})
            for m in (None, mask, row):
                show(name, dim, f(x, mask=m, **options), f(x, mask=m, keepdim=True, **options))
        show(f(x), f(x.float(), mask=mask, dtype=torch.float64), f(x, mask=mask.double()))


def options_of_reductions(torch, show):
    M = torch.masked
    x, mask, row = _inputs(torch)
    show(M.var(x, 1, mask=row), M.var(x, 1, False, mask=row), M.std(x, 1, correction=1, mask=row), M.var(x, 1, mask=mask))
    for p in (1, 0, 3.0, float("inf"), float("-inf")):
        show(M.norm(x, p, 1, mask=mask))
    i = x.long()
    show(M.sum(i, 1, mask=mask), M.prod(i.int(), 1, mask=mask), M.amax(i, 1, mask=mask), M.amin(i.to(torch.int8), 1, mask=mask))
    show(M.var(i, 1, mask=mask, unbiased=False))


def places_and_medians(torch, show, attempt):
    M = torch.masked
    x, mask, row = _inputs(torch)
    for dim in (0, 1, None):
        show(M.argmax(x, dim, mask=mask), M.argmin(x, dim, mask=row, keepdim=True), M.argmax(x.long(), dim, mask=mask))
    for m in (None, mask, row):
        show(M.median(x, mask=m), M.median(x, 0, mask=m, keepdim=True))
    attempt(lambda: M.median(x.long(), 1, mask=mask))


def along_a_dimension(torch, show):
    M = torch.masked
    x, mask, row = _inputs(torch)
    for name in ("softmax", "log_softmax", "softmin", "cumsum", "cumprod"):
        for dim in (0, 1):
            for m in (None, mask, row):
                show(name, dim, getattr(M, name)(x, dim, mask=m), getattr(M, name)(x.float(), dim, mask=m, dtype=torch.float64).dtype)
    for dim in (0, 1):
        show(M.normalize(x, 2.0, dim, mask=mask), M.normalize(x, 1, dim, mask=row, eps=10.0), M.normalize(x, 2, dim))
    show(M.logaddexp(x, x, input_mask=mask, other_mask=mask), M.logaddexp(x, -x), M.logaddexp(x, x, input_mask=mask))


def gradients(torch, show):
    x, _, row = _inputs(torch)
    for name in ("sum", "prod", "amax", "mean", "logsumexp", "norm", "var", "softmax", "log_softmax", "cumsum", "median"):
        y = x.clone().add_(0.5).requires_grad_()
        result = getattr(torch.masked, name)(y, dim=1, mask=row)
        result.masked_fill(~result.isfinite(), 0).square().sum().backward()
        show(name, y.grad + 0.0)


def refusals(torch, attempt, kind):
    M = torch.masked
    x, mask, _ = _inputs(torch)
    attempt(lambda: M.sum(x, 1, mask=torch.ones(4, dtype=torch.bool)))
    attempt(lambda: M.sum(x[0], 0, mask=mask))
    attempt(lambda: M.mean(x.long(), 1, mask=mask))
    kind(lambda: M.sum(x, 5, mask=mask))
    kind(lambda: M.sum(x, (0, 0), mask=mask))
    kind(lambda: M.softmax(x.long(), 1, mask=mask))
