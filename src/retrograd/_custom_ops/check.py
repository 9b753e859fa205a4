"""opcheck: whether a custom op does what its schema and its registrations say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd._custom_ops.op import CustomOp, find, on_meta
from retrograd.utils._pytree import tree_leaves, tree_map

TESTS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


class OpCheckError(Exception):
    """Raised by `opcheck` when a check fails."""


def _copied(values: Any) -> Any:
    return tree_map(lambda v: v.detach().clone().requires_grad_(v.requires_grad) if isinstance(v, Tensor) else v, values)


def test_schema(op: CustomOp, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Arguments that the schema does not say are written are as they were, and results are new."""
    given = _copied((args, kwargs))
    before = [v.detach().clone() if isinstance(v, Tensor) else None for v in tree_leaves(given)]
    written = {id(t) for a, v in zip(op._schema.arguments, given[0], strict=False) if a.written for t in tree_leaves(v)}
    written |= {id(t) for a in op._schema.arguments if a.written and a.name in given[1] for t in tree_leaves(given[1][a.name])}
    with torch.no_grad():
        out = op(*given[0], **given[1])
    for v, old in zip(tree_leaves(given), before, strict=True):
        if old is not None and id(v) not in written and not torch.equal(v.detach(), old):
            raise RuntimeError(f"Argument is not defined as mutable but was mutated: {op._schema}")
    op._check_new([v for v in tree_leaves(given) if isinstance(v, Tensor)], out) if not any(r.alias for r in op._schema.returns) else None


def test_autograd_registration(op: CustomOp, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Where inputs require grad there is a derivative."""
    leaves = [v for v in tree_leaves((args, kwargs)) if isinstance(v, Tensor) and v.requires_grad]
    if leaves and op.guarded and op.backward is None and not op._schema.mutated:
        raise AssertionError(f"{op}: inputs require grad, but no autograd formula was registered: see torch.library.register_autograd")


def test_faketensor(op: CustomOp, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """On meta tensors the results have the same sizes, strides and dtypes."""
    with torch.no_grad():
        real, fake = op(*_copied(args), **_copied(kwargs)), op(*on_meta(args), **on_meta(kwargs))
    for r, f in zip(tree_leaves(real), tree_leaves(fake), strict=True):
        if not isinstance(r, Tensor):
            continue
        words = f"When comparing the output of {op} on FakeTensor and concrete Tensors, found mismatched tensor metadata: "
        if r.shape != f.shape:
            raise AssertionError(f"{words}Shapes {r.shape} and {f.shape} are not equal!")
        if r.dtype != f.dtype:
            raise AssertionError(f"{words}Dtypes {r.dtype} and {f.dtype} are not equal!")
        if r.stride() != f.stride():
            raise AssertionError(f"{words}Strides {r.stride()} and {f.stride()} are not equal!")


def test_aot_dispatch_dynamic(op: CustomOp, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Results and gradients are those of a second call."""

    def once() -> list[Tensor]:
        given = _copied((args, kwargs))
        out = [t for t in tree_leaves(op(*given[0], **given[1])) if isinstance(t, Tensor)]
        loss = [t.sum() for t in out if t.requires_grad]
        if loss and op.backward is not None:
            torch.autograd.backward(loss)
        return [*(t.detach() for t in out), *(v.grad for v in tree_leaves(given) if isinstance(v, Tensor) and v.grad is not None)]

    torch.testing.assert_close(once(), once(), equal_nan=True)


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = TESTS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Checks a custom op on arguments: that it writes what its schema says, that gradients and meta tensors are seen to, and that calls repeat.

    Returns "SUCCESS" or the exception for each test; `raise_exception` raises the first.
    """
    found = find(op)
    results: dict[str, Any] = {}
    names = TESTS if test_utils == "ALL" else (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    unknown = set(names) - set(TESTS)
    if unknown:
        raise ValueError(f"opcheck(op, ...): test_utils {sorted(unknown)} are not among {TESTS}")
    for name in names:
        try:
            globals()[name](found, args, kwargs or {})
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error}") from error
            results[name] = error
    return results
