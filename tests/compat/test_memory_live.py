"""Memory that is shared: versions, views, writes in place and `out=`, statement by statement and op by op on PyTorch and on retrograd."""

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


def shown(value):
    """What is to be seen of a result."""
    if isinstance(value, (torch.Tensor, retrograd.Tensor)):
        return [value.detach().tolist(), str(value.dtype).split(".")[-1], list(value.shape), list(value.stride()), value.requires_grad, value._is_view(), value.is_inference(), version(value)]  # fmt: skip
    return [shown(item) for item in value] if isinstance(value, (list, tuple)) else value


def version(t):
    try:
        return t._version
    except RuntimeError:
        return "none"


def rounded(value):
    if isinstance(value, float):
        return "nan" if value != value else float(f"{value:.5g}")
    return [rounded(item) for item in value] if isinstance(value, list) else value


def outcome(engine, program):
    space = {"torch": engine}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(program, space)
        except Exception as error:
            return type(error).__name__, opening(str(error).split("\n")[0], 50)
    return "fine", rounded(shown(space["r"]))


VERSIONS = r"""
a = torch.zeros(3); a.add_(1); b = torch.ones(2); b.add_(1).add_(1); a.set_(b); r = [a, b]; b.add_(1); r += [a, b]; a.add_(1); r += [a, b]
a = torch.zeros(3); a.set_(); r = a
a = torch.zeros(4); v = a[:2]; b = torch.ones(2); a.set_(b); r = [a, v, v._base is a]; a.add_(1); r += [a, v]
a = torch.zeros(4); v = a[:2]; b = torch.ones(2); v.set_(b); r = [a, v, v._base is a]; v.add_(1); r += [a, v]
a = torch.zeros(4); a.set_(a); r = a
a = torch.zeros(4); b = torch.ones(3); b.add_(1); a.data = b; r = [a]; a.add_(1); r += [a, b]
x = torch.ones(4, requires_grad=True); y = x * 2; v = y[:2]; y.data = torch.zeros(6); y.mul_(2); r = [v, v.grad_fn.name()]
y = torch.arange(6.); y.add_(1); p = y.unsafe_split(2); p[0].add_(1); r = [y, *p]
y = torch.arange(6.); y.add_(1); p = y.unsafe_chunk(2); p[0].add_(1); y.add_(1); r = [y, *p]
y = torch.arange(6.); y.add_(1); p = y.unsafe_split_with_sizes([2, 4]); p[0].add_(1); r = [y, *p]
x = torch.arange(6., requires_grad=True); y = x * 1; p = y.unsafe_split(2); q = p[0][:1]; q.mul_(2); r = [q, *p, y, p[0].grad_fn.name()]
b = torch.ones(3, requires_grad=True); a = torch.zeros(2); a.set_(b); r = [a.requires_grad, a.grad_fn.name(), a.is_leaf]
b = torch.ones(3, requires_grad=True); a = torch.zeros(2); a.set_(b); a.sum().backward()
b = torch.ones(3); a = torch.zeros(2, requires_grad=True) * 2; a.set_(b); a.sum().backward()
b = torch.ones(3); x = torch.zeros(4, requires_grad=True) * 2; a = x[:2]; a.set_(b); r = [a.grad_fn.name(), x.grad_fn.name(), a._base is x]
b = torch.ones(3); x = torch.zeros(4); a = x[:2]; a.set_(b); w = torch.ones(4, requires_grad=True); x.mul_(w); a.sum().backward(); r = [a, x, w.grad]
b = torch.ones(3, requires_grad=True); a = torch.zeros(2); a.set_(b, 0, (2,), (1,)); r = [a, a.grad_fn]
x = torch.zeros(()); r = [x.T, x.T is x, x.mT is x]
z = torch.arange(4.)\nwith torch.inference_mode(): r = z.view(torch.int32)
y = torch.ones(2, 3, requires_grad=True) * 2; y.retain_grad(); (y * y).sum().backward(retain_graph=True); y.t_(); (y * y).sum().backward(); r = y.grad
"""

STALE = {
    "one of many": "x = torch.arange(4., requires_grad=True); y = x * 1; v = y.split(2)[0]; y.mul_(2)",
    "one of many, without history": "y = torch.arange(4.); v = y.split(2)[0]; y.mul_(torch.ones(4, requires_grad=True))",
    "no_grad": "y = torch.arange(4., requires_grad=True) * 1\nwith torch.no_grad(): v = y[:2]\ny.mul_(2)",
    "no_grad, without history": "y = torch.arange(4.)\nwith torch.no_grad(): v = y[:2]\ny.mul_(torch.ones(4, requires_grad=True))",
    "inference": "y = torch.arange(4., requires_grad=True) * 1\nwith torch.inference_mode(): v = y[:2]\ny.mul_(2)",
    "leaf": "y = torch.arange(4., requires_grad=True)\nwith torch.no_grad():\n  v = y[:2]\n  y.mul_(2)",
    "fine": "y = torch.arange(4., requires_grad=True) * 1; v = y[:2]; y.mul_(2)",
}
ASKED = [
    "v.retain_grad()",
    "v.retains_grad",
    "v.requires_grad",
    "v.requires_grad_()",
    "v.requires_grad_(False)",
    "setattr(v,'requires_grad',True)",
    "setattr(v,'requires_grad',False)",
    "v.is_leaf",
    "v.grad_fn.name()",
    "v.detach()",
    "v.detach_()",
    "v.data",
    "v*2",
    "v.view(-1)",
    "v.add_(1)",
    "v.clone()",
    "v.zero_()",
    "v.sum().backward()",
    "torch.autograd.grad(y.sum(),v)",
    "y.sum().backward()",
    "v.copy_(torch.ones(2))",
    "torch.ones(2).copy_(v)",
    "v.data.add_(1)",
    "v==v",
    "v.unsqueeze_(0)",
]

INFERENCE = [
    "t.detach()",
    "t.view(2,2)",
    "t[1:]",
    "t.data",
    "t.view(torch.int32)",
    "t.requires_grad_()",
    "t.add_(1)",
    "t.detach().add_(1)",
    "t.data.add_(1)",
    "t._version",
    "t.detach()._version",
    "t.flip(0)",
    "t.expand(2,4)",
    "t.split(2)",
    "t.unsafe_split(2)",
    "t.resize_(2)",
    "t.set_()",
    "t.detach_()",
    "t.view(2,2).add_(1)",
    "torch.exp(torch.ones(4),out=t)",
    "t*w",
    "w+t",
    "w.clone().copy_(t)",
    "w.clone().mul_(t)",
    "t.sin()",
    "setattr(t,'data',torch.ones(2))",
    "setattr(w,'data',t)",
    "torch.stack([w,t])",
]

CORNERS = [
    "z.roll(1)",
    "z.roll(1,0)",
    "z.roll((1,2),(0,0))",
    "z.roll(1,1)",
    "torch.ones(0).roll(1,3)",
    "torch.ones(3).roll((1,2))",
    "z.index_add_(0,torch.tensor([0,0]),torch.tensor(1.))",
    "z.index_add_(0,torch.tensor([-1]),torch.tensor(1.))",
    "z.index_add_(0,torch.tensor([0]),torch.tensor([1.]))",
    "z.index_fill_(0,torch.tensor([1]),1.)",
    "z.index_fill_(0,torch.tensor(0),1.)",
    "z.index_copy_(0,torch.tensor([0,0]),torch.tensor([1.,2.]))",
    "z.index_copy_(0,torch.tensor([],dtype=torch.long),torch.tensor([]))",
    "z.index_copy_(0,torch.tensor([0,0]),torch.tensor(1.))",
    "z.index_select(0,torch.tensor([0,0]))",
    "z.__setitem__(torch.tensor([0,0]),1.)",
    "z.renorm_(2,0,1.)",
    "torch.ones(1,3).expand(2,3).renorm_(2,0,1.)",
    "torch.ones(1).expand(3).fill_(2)",
    "torch.ones(1).expand(3).fill_(torch.tensor(2.))",
    "torch.ones(1,3).expand(3,3).tril_()",
    "torch.arange(1.,4.).view(3,1).expand(3,3).triu_()",
    "torch.ones(1,3).expand(3,3).pow_(1)",
    "o.add_(o[0])",
    "o[None].mul_(o)",
    "o[None].copy_(o)",
    "o.__setitem__(None,o)",
    "o[:2].add_(o[1:])",
    "o[:2].copy_(o[1:])",
    "o[::2].copy_(o[:2])",
    "torch.as_strided_scatter(o[1:],torch.tensor([9.]),(1,),(1,),2)",
    "torch.as_strided_scatter(o.view(3,1).t(),torch.tensor([9.]),(1,),(1,))",
    "torch.as_strided_scatter(o[1:],torch.tensor([9.]),(1,),(1,),4)",
    "torch.var(o[:1],dim=0)",
    "torch.std(o[:1],0,correction=2)",
    "torch.ones(3,1).expand(3,3).bernoulli_(torch.ones(3,3))",
]

PROGRAMS = [
    *[line.replace("\\n", "\n") for line in VERSIONS.strip().split("\n")],
    *[f"{made}\nr = {question}" for made in STALE.values() for question in ASKED],
    *[f"with torch.inference_mode(): t = torch.arange(4.)\nw = torch.ones(4, requires_grad=True)\nr = {use}" for use in INFERENCE],
    *[f"z = torch.tensor(3.); o = torch.arange(3.)\nr = {corner}" for corner in CORNERS],
    *[
        f"x = torch.tensor([2., 5.][:{n}], requires_grad=True); y = torch.{f}(x, dim={dim}, correction={c}); g, = torch.autograd.grad(y, x, create_graph=True)\n"
        f"r = [y.item(), g.tolist(), g.requires_grad and torch.autograd.grad(g.sum(), x)[0].tolist()]"
        for f in ("var", "std")
        for n in (1, 2)
        for c in range(4)
        for dim in (None, 0)
    ],
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_program(program):
    assert outcome(retrograd, program) == outcome(torch, program)


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
}
# Taken where PyTorch takes none.
OUT_TAKEN = {"where", "lerp", "nansum", "linspace", "logspace", "randperm", "ldexp", "mean", "addbmm", "normal", "histc"}
OUT_WARNINGS = {"matmul", "mode", "normal", "ger", "randint", "arange"}


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
            return type(error).__name__, opening(str(error), 40)
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
