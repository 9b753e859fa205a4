"""Memory that is shared: writes in place and `out=`, op by op on PyTorch and on retrograd. Programs about it are in tests/programs/memory.py."""

import re
import warnings

import pytest

import optable
import retrograd
from tests.ops.cases import cases
from tests.ops.harness import call, ids, inplace_function, report
from tests.ops.tensors import flatten
from tests.programs.runner import opening

torch = pytest.importorskip("torch")
torch.set_num_threads(1)


# ---- in place, on memory that several elements or several arguments share ----


def expanded(engine, t, rest):
    return (t[:1].clone().expand(t.shape), rest) if t.dim() and t.shape[0] > 1 else None


def expanded_last(engine, t, rest):
    return (t[..., :1].clone().expand(t.shape), rest) if t.dim() and t.shape[-1] > 1 else None


def aliased(engine, t, rest, view):
    """Arguments that look like t share its memory."""
    n = t.numel()
    if n < 2:
        return None
    memory = engine.empty(n + 1, dtype=t.dtype)
    memory[:n].view(t.shape).copy_(t)
    memory[n] = memory[0]
    self = memory[:n].view(t.shape)
    made = [view(memory, self) if isinstance(a, engine.Tensor) and a.shape == t.shape and a.dtype == t.dtype else a for a in rest]
    return None if all(a is b for a, b in zip(made, rest, strict=True)) else (self, made)


def shifted(engine, t, rest):
    return aliased(engine, t, rest, lambda memory, self: memory[1:].view(self.shape))


def the_same(engine, t, rest):
    return aliased(engine, t, rest, lambda memory, self: self)


# Where PyTorch lets several elements write one place with different values, or reads what it wrote. See docs/differences.md.
WRITES_ANYHOW = {"addmv", "baddbmm", "ldexp", "masked_scatter"}
READS_FIRST = {"scatter_reduce", "scatter", "index_put", "index_copy", "index_add", "index_reduce", "put", "masked_scatter", "scatter_add"}
OTHER_WORDS = {"addr", "clamp", "clip", "cumsum", "cumprod", "ldexp", "bernoulli"}


def written(engine, entry, case, arrange):
    args, kwargs, _ = case.bind(engine, grad=False)
    if not isinstance(args[0], engine.Tensor):
        return None
    rest = [a.clone() if isinstance(a, engine.Tensor) else a for a in args[1:]]
    made = arrange(engine, args[0].clone(), rest)
    if made is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine.manual_seed(0)
        try:
            inplace_function(engine, entry)(made[0], *made[1], **kwargs)
        except Exception as error:
            return type(error).__name__, opening(str(error), 50)
    return "written", ""


@pytest.mark.parametrize("arrange", [expanded, expanded_last, shifted, the_same], ids=lambda f: f.__name__)
@pytest.mark.parametrize("entry", [e for e in optable.load() if "inplace" in e.variants and inplace_function(torch, e)], ids=ids)
def test_in_place_on_shared_memory(entry, arrange):
    failures = []
    for case in cases(entry)[:12]:
        theirs, ours = (written(engine, entry, case, arrange) for engine in (torch, retrograd))
        if theirs is None or theirs == ours:
            continue
        if (theirs[0] == "written" and entry.name in WRITES_ANYHOW) or (ours[0] == "written" and entry.name in READS_FIRST):
            continue
        if entry.name in OTHER_WORDS and theirs[0] != "written" and ours[0] != "written":
            continue
        failures.append(f"{case}: {ours}, expected {theirs}")
    report(failures)


# ---- out= ----


def as_is(engine, results):
    return [engine.zeros(r.shape, dtype=r.dtype) for r in results]


def of_dtype(name):
    def make(engine, results):
        return [engine.zeros(r.shape, dtype=getattr(engine, name)) for r in results]

    make.__name__ = name
    return make


def misshapen(engine, results):
    return [engine.ones((7, 1), dtype=r.dtype) for r in results]


def strided(engine, results):
    return [engine.zeros((*r.shape, 2), dtype=r.dtype)[..., 1] for r in results]


def of_history(engine, results):
    return [o.requires_grad_() if o.is_floating_point() else o for o in as_is(engine, results)]


# Words that are not PyTorch's, where it has several for one thing, or what it gives is an accident.
OUT_WORDS = {
    "conj_physical",
    "mvlgamma",
    "geqrf",
    "matmul",
    "diag",
    "norm",
    "median",
    "nanmedian",
    "mean",
    "max",
    "min",
    "normal",
    "where",
    "lerp",
    "addbmm",
    "histc",
    "empty",
    "randn",
    "arange",
    "narrow_copy",
    "svd",
}
# Taken where PyTorch takes none.
OUT_TAKEN = {"where", "lerp", "nansum", "linspace", "logspace", "randperm", "ldexp", "mean", "addbmm", "normal", "histc"}
OUT_WARNINGS = {"matmul", "mode", "normal", "ger", "randint", "arange", "narrow_copy", "isin"}


def into(engine, entry, case, make):
    args, kwargs, _ = case.bind(engine, grad=False)
    kwargs.pop("requires_grad", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = flatten(call(engine, entry, args, kwargs, "function"))
    if not results or not all(isinstance(r, engine.Tensor) for r in results):
        return None
    outs = make(engine, results)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call(engine, entry, args, {**kwargs, "out": outs[0] if len(outs) == 1 else tuple(outs)}, "function")
        except Exception as error:
            # PyTorch names what it calls inside (mul of kron) or with its namespace: the words after that count.
            return type(error).__name__, opening(
                re.sub(r"^(aten::)?\w+\(\): functions with", "functions with", str(error).partition("\n")[0]), 40
            )
    state = [(tuple(o.shape), str(o.dtype).split(".")[-1], o.requires_grad) for o in outs]
    return "taken", state, sum("resized" in str(w.message) for w in caught)


def has_out(entry):
    return "out" in entry.variants and "function" in entry.variants and entry.test.get("compat") is not False and hasattr(torch, entry.name)


@pytest.mark.parametrize(
    "make", [as_is, of_dtype("float32"), of_dtype("int32"), of_dtype("bool"), misshapen, strided, of_history], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("entry", [e for e in optable.load() if has_out(e)], ids=ids)
def test_out(entry, make):
    failures = []
    for case in cases(entry)[:6]:
        if entry.name == "range" and make.__name__ in ("int32", "bool", "misshapen"):
            continue  # PyTorch rounds the step of 0.5 to 0, divides by it and ends the process; the other is on docs/differences.md
        theirs = into(torch, entry, case, make)
        if theirs is None:
            continue
        ours = into(retrograd, entry, case, make)
        if theirs == ours or (theirs[0] != "taken" and ours[0] != "taken" and entry.name in OUT_WORDS):
            continue
        if ours[0] == "taken" and (
            entry.name in OUT_TAKEN or (theirs[0] == "taken" and theirs[:2] == ours[:2] and entry.name in OUT_WARNINGS)
        ):
            continue
        if theirs[0] == "taken" and entry.name in OUT_WORDS:
            continue
        failures.append(f"{case}: {ours}, expected {theirs}")
    report(failures)
