"""How autocast treats an op is what PyTorch's autocast on the CPU does with it: seen by the casts of its arguments."""

import contextlib

import pytest

torch = pytest.importorskip("torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import optable  # noqa: E402
import retrograd  # noqa: E402
from tests.ops.cases import cases  # noqa: E402
from tests.ops.harness import call, exists, ids, variants_of  # noqa: E402
from tests.ops.tensors import flatten  # noqa: E402

torch.set_num_threads(1)


class Casts(TorchDispatchMode):
    """The dtypes that given tensors are copied to."""

    def __init__(self, tensors):
        super().__init__()
        self.ids, self.found = {id(t) for t in tensors}, set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function.name().startswith("aten::_to_copy") and id(args[0]) in self.ids:
            self.found.add(kwargs.get("dtype"))
        return function(*args, **kwargs)


def casts(entry, args, kwargs, on):
    floating = [t for t in flatten([*args, *kwargs.values()]) if isinstance(t, torch.Tensor) and t.is_floating_point()]
    # What an op makes of 16-bit numbers, or of two dtypes, is its own affair.
    refusals = contextlib.suppress(RuntimeError, NotImplementedError, TypeError)
    with torch.autocast("cpu", torch.bfloat16, enabled=on), Casts(floating) as seen, refusals:
        call(torch, entry, args, kwargs)
    return seen.found


def lower_second(value, state):
    if isinstance(value, (list, tuple)):
        return type(value)(lower_second(v, state) for v in value)
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        state.append(value)
        return value if len(state) == 1 else value.to(torch.bfloat16)
    return value


def policy(entry):
    """What the first samples show."""
    for case in cases(entry)[:3]:
        for dtype, word in (("float32", "lower precision"), ("bfloat16", "float32"), ("mixed", "promote")):
            args, kwargs, _ = case.bind(torch, "bfloat16" if dtype == "bfloat16" else "float32", grad=False)
            state = []
            if dtype == "mixed":
                args, kwargs = lower_second(args, state), {k: lower_second(v, state) for k, v in kwargs.items()}
            wanted = torch.bfloat16 if word == "lower precision" else torch.float32
            if wanted in casts(entry, args, kwargs, True) - casts(entry, args, kwargs, False):
                return word
    return ""


def compared(entry):
    ours = entry.test.get("compat") is False
    return (
        entry.kernel.kind in ("native", "pointwise", "view") and entry.samples and not ours and variants_of(entry) and exists(torch, entry)
    )


@pytest.mark.parametrize("entry", [e for e in optable.load() if compared(e)], ids=ids)
def test_policy(entry):
    assert policy(entry) == entry.autocast


# One op here, which computes in float32; PyTorch's is a decomposition and products, which autocast casts.
OF_ONE_PIECE = {"linalg_pinv"}


def dtypes(engine, entry, case, dtype, on=True):
    """Of the results under autocast; None where the op refuses its arguments."""
    args, kwargs, _ = case.bind(engine, dtype, grad=False)
    try:
        with engine.autocast("cpu", engine.bfloat16, enabled=on):
            out = call(engine, entry, args, kwargs)
    except (RuntimeError, NotImplementedError, TypeError, IndexError, ValueError):
        return None
    return [str(t.dtype).rpartition(".")[2] for t in flatten(out if isinstance(out, (list, tuple)) else [out]) if hasattr(t, "dtype")]


def has_results(entry):
    return entry.kernel.kind != "alias" and entry.samples and variants_of(entry) and exists(torch, entry) and entry.name not in OF_ONE_PIECE


@pytest.mark.parametrize("entry", [e for e in optable.load() if has_results(e)], ids=ids)
def test_dtypes_of_results(entry):
    for case in cases(entry)[:3]:
        for dtype in ("float32", "bfloat16"):
            wanted, got = dtypes(torch, entry, case, dtype), dtypes(retrograd, entry, case, dtype)
            if None in (wanted, got) or got == wanted:
                continue
            assert dtypes(torch, entry, case, dtype, on=False) != dtypes(retrograd, entry, case, dtype, on=False), (wanted, got)
