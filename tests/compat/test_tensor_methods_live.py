"""Methods of tensors that are no ops, beside PyTorch's."""

import pytest

torch = pytest.importorskip("torch")

import retrograd  # noqa: E402

FORMATS = ["contiguous_format", "channels_last"]


def outcome(f):
    try:
        return f()
    except Exception as error:
        return type(error).__name__


def shapes(e):
    yield from (e.ones(2, 3), e.ones(2, 3).t(), e.ones(1, 3), e.ones(1, 1), e.ones(0, 3), e.tensor(1.0), e.ones(3, 1).expand(3, 4))
    yield from (e.ones(3, 1, 2), e.ones(3, 1, 4).transpose(0, 2), e.ones(2, 1, 2).transpose(0, 1), e.ones(5, 1)[::2])
    for sizes in ((2, 3, 4, 5), (1, 3, 4, 5), (2, 1, 4, 5), (2, 3, 1, 5), (2, 3, 1, 1)):
        yield e.ones(*sizes)
        yield e.ones(sizes[0], *sizes[2:], sizes[1]).permute(0, 3, 1, 2)
        yield e.ones(*sizes).permute(0, 2, 3, 1)


@pytest.mark.parametrize("check", [False, True, FORMATS[:1], FORMATS[1:], FORMATS, "other"])
def test_dim_order(check):
    for ours, theirs in zip(shapes(retrograd), shapes(torch), strict=True):
        found = [
            outcome(lambda t=t, e=e: t.dim_order(ambiguity_check=[getattr(e, f) for f in check] if isinstance(check, list) else check))
            for e, t in ((retrograd, ours), (torch, theirs))
        ]
        assert found[0] == found[1], (tuple(theirs.shape), theirs.stride())


@pytest.mark.parametrize(
    "program",
    [
        lambda e: e.arange(6.0).reshape(2, 3).map2_(e.arange(3.0), e.ones(2, 1), lambda a, b, c: a + b * c).tolist(),
        lambda e: e.arange(6.0).map2_(e.arange(6), e.arange(6.0), lambda a, b, c: a),
        lambda e: e.arange(6.0).map2_(e.arange(6.0), 3, lambda a, b, c: a),
        lambda e: e.arange(6.0).requires_grad_().map2_(e.arange(6.0), e.arange(6.0), lambda a, b, c: a),
        lambda e: e.arange(6.0).map_(e.arange(6), lambda a, b: a),
        lambda e: [e.ones(2, dtype=getattr(e, d)).storage_type().__name__ for d in ("float32", "int64", "bool", "float16", "complex64")],
        lambda e: e.zeros(2).module_load(e.ones(2)).tolist(),
        lambda e: e.zeros(2).module_load(e.ones(2, requires_grad=True), assign=True).requires_grad,
        lambda e: e.tensor([2, 4]).__rdiv__(1).tolist(),
        lambda e: e.tensor([2, 4]).__rdiv__("a") is NotImplemented,
    ],
)
def test_programs(program):
    assert outcome(lambda: program(retrograd)) == outcome(lambda: program(torch))
