"""Random calls on PyTorch and on retrograd side by side: indexing, promotion, conversions, printing, and the table in odd dtypes and layouts.

Each seed is one test, so that a failure names the call that differs. Numbers come from a short list with everything special in it.
"""

import math
import random
import warnings

import pytest

torch = pytest.importorskip("torch")

import retrograd  # noqa: E402
from tests.ops.cases import Case, cases, fits  # noqa: E402
from tests.ops.differences import comparable, excused, expandable  # noqa: E402
from tests.ops.harness import compare_grads, compare_outputs, entries, report, run  # noqa: E402
from tests.ops.tensors import DTYPES, FLOATS, INTEGERS, LAYOUTS, flatten  # noqa: E402

torch.set_num_threads(1)
TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 4e-3, "bfloat16": 4e-2}
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 100.0, 1e-7]
SCALARS = [0, 1, 2, -1, 0.5, -1.5, True, False, 3, 2.0]


class Memory:
    """A tensor as data: a buffer, and how it is seen."""

    def __init__(self, rng, shape, dtype, values=None, grad=False):
        self.shape, self.dtype, self.grad = tuple(shape), dtype, grad
        order = list(range(len(shape)))
        kind = rng.choice(["dense", "dense", "turned", "steps"])
        if kind == "turned":
            rng.shuffle(order)
        step, self.offset = (2, 1) if kind == "steps" else (1, 0)
        strides, size = [0] * len(shape), step
        for d in reversed(order):
            strides[d] = size
            size *= max(shape[d], 1)
        self.strides = tuple(strides)
        make = values or (lambda: number(rng, dtype))
        self.buffer = [make() for _ in range(size + self.offset)]

    def on(self, engine):
        t = engine.tensor(self.buffer, dtype=getattr(engine, self.dtype)).as_strided(self.shape, self.strides, self.offset)
        return t.detach().requires_grad_() if self.grad else t

    def __repr__(self):
        return f"tensor({self.buffer}, {self.dtype}).as_strided({self.shape}, {self.strides}, {self.offset})"


def number(rng, dtype):
    if dtype == "bool":
        return rng.random() < 0.5
    if dtype in INTEGERS:
        return rng.randint(0 if dtype == "uint8" else -3, 4)
    return rng.choice(SPECIAL) if rng.random() < 0.2 else rng.randint(-48, 48) / 16


def some_tensor(rng, dtypes=DTYPES, dims=4, empty=0.05, grad=0.3):
    sizes = [0, 1, 2, 3] if rng.random() < empty else [1, 2, 3, 4]
    dtype = rng.choice(dtypes)
    shape = [rng.choice(sizes) for _ in range(rng.randrange(dims + 1))]
    return Memory(rng, shape, dtype, grad=dtype in FLOATS and rng.random() < grad)


def bind(engine, tree):
    if isinstance(tree, Memory):
        return tree.on(engine)
    if isinstance(tree, (list, tuple)):
        return type(tree)(bind(engine, item) for item in tree)
    return tree


def close(a, b, tolerance):
    if isinstance(b, float) and isinstance(a, float):
        return a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(abs(b), 1.0)
    return a == b


def outcome(engine, function, args, seed):
    """What a call gives, as data."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = bind(engine, args)
            result = []
            for item in flatten(function(engine, *given)):
                if not isinstance(item, engine.Tensor):
                    result.append((type(item).__name__, str(item) if isinstance(item, engine.dtype) else item))
                    continue
                place = None  # of a copy: nobody's business
                if item._base is not None and item.numel():
                    place = tuple(s for s, n in zip(item.stride(), item.shape, strict=True) if n > 1)
                result.append((str(item.dtype), tuple(item.shape), place, item.requires_grad, flatten(item.tolist())))
                leaves = [t for t in given if isinstance(t, engine.Tensor) and t.is_leaf and t.requires_grad]
                if item.requires_grad and leaves and item.grad_fn is not None:
                    rng = random.Random(seed)
                    weights = engine.tensor([rng.choice([0.5, 1.0, -1.5]) for _ in range(item.numel())], dtype=item.dtype)
                    for g in engine.autograd.grad(item, leaves, weights.reshape(tuple(item.shape)), allow_unused=True):
                        result.append(None if g is None else (str(g.dtype), tuple(g.shape), flatten(g.tolist())))
            return result
    except (RuntimeError, TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError) as error:
        kind = "RuntimeError" if isinstance(error, RuntimeError) else type(error).__name__
        return f"{kind}: {str(error).partition(chr(10))[0]}"


def same(ours, theirs, tolerance):
    if isinstance(ours, str) or isinstance(theirs, str):
        if isinstance(ours, str) and isinstance(theirs, str):
            return ours.partition(":")[0] == theirs.partition(":")[0]
        return isinstance(theirs, str) and "not implemented for" in theirs  # a dtype PyTorch has no kernel for
    if len(ours) != len(theirs):
        return False
    for a, b in zip(ours, theirs, strict=True):
        if a is None or b is None:
            if a is not b:
                return False
        elif a[:-1] != b[:-1]:
            return False
        else:
            x, y = (v[-1] if isinstance(v[-1], list) else [v[-1]] for v in (a, b))
            if len(x) != len(y) or not all(close(p, q, tolerance) for p, q in zip(x, y, strict=True)):
                return False
    return True


def compare(make, seed, count):
    rng = random.Random(seed)
    failures = []
    for i in range(count):
        what, function, args = make(rng)
        theirs, ours = outcome(torch, function, args, i), outcome(retrograd, function, args, i)
        dtypes = [a.dtype for a in args if isinstance(a, Memory)]
        if not same(ours, theirs, max((TOLERANCE.get(d, 1e-4) for d in dtypes), default=0)):
            failures.append(f"{what} {args}\n    ours {ours}\n    theirs {theirs}")
    report(failures)


# ---- subscripts ----


def some_index(rng, shape):
    items, d = [], 0
    broadcast = [rng.choice([1, 2, 3]) for _ in range(rng.randrange(3))]
    for _ in range(rng.randrange(len(shape) + 2)):
        size, choice = (shape[d] if d < len(shape) else 1), rng.random()
        if choice < 0.2:
            items.append(rng.randint(-size, max(size - 1, 0)))
            d += 1
        elif choice < 0.5:
            start, stop = (rng.choice([None, None, 0, 1, 2, -1, -2, 5, -7]) for _ in range(2))
            items.append(slice(start, stop, rng.choice([None, None, 1, 2, 3])))
            d += 1
        elif choice < 0.6:
            items.append(None)
        elif choice < 0.67 and Ellipsis not in [i for i in items if not isinstance(i, Memory)]:
            items.append(Ellipsis)
            d = max(d, len(shape) - 1)
        elif choice < 0.71:
            items.append(rng.random() < 0.5)
        elif choice < 0.85 and size:
            items.append(Memory(rng, broadcast, rng.choice(["int64", "int64", "int32"]), values=lambda n=size: rng.randint(-n, n - 1)))
            d += 1
        elif choice < 0.94:
            span = rng.choice([1, 1, 2])
            items.append(Memory(rng, shape[d : d + span], "bool"))
            d += span
        elif size:
            items.append([rng.randint(-size, size - 1) for _ in range(rng.randrange(1, 4))])
            d += 1
    return items[0] if len(items) == 1 and rng.random() < 0.7 else tuple(items)


def reading(rng):
    x = some_tensor(rng)
    return "read", lambda _, t, index: t[index], (x, some_index(rng, x.shape))


def writing(rng):
    x = some_tensor(rng)
    index = some_index(rng, x.shape)
    value = rng.choice([0, 1, 3, True, math.inf, 300] if rng.random() < 0.2 else [0, 1, 3, True])
    if rng.random() < 0.5:
        try:
            shape = list(bind(torch, x)[bind(torch, index)].shape)
        except IndexError:
            shape = [2]
        shape = [1 if rng.random() < 0.2 else n for n in shape[rng.random() < 0.2 :]]
        value = Memory(rng, shape, x.dtype, grad=x.dtype in FLOATS and rng.random() < 0.4)

    def write(_, t, i, v):
        t = t.clone()
        try:
            t[i] = v
        except IndexError as error:  # which of two mistakes is found first is nobody's business
            raise RuntimeError from error
        return t

    return "write", write, (x, index, value)


# ---- promotion, conversion, printing ----

OPERATORS = ["+", "-", "*", "/", "<", "==", ">=", "&", "|", "^"]
FUNCTIONS = ["maximum", "minimum", "fmod", "remainder", "atan2", "hypot", "logical_and", "xlogy", "copysign", "pow", "result_type", "ne"]


def promoting(rng):
    a, b = (Memory(rng, rng.choice([(), (2,), (3,), (1, 3), (2, 3), (0,)]), rng.choice(DTYPES)) for _ in range(2))
    args = rng.choice([(a, b), (a, b), (a, rng.choice(SCALARS)), (rng.choice(SCALARS), b)])
    if rng.random() < 0.6:
        op = rng.choice(OPERATORS)
        return op, lambda _, x, y: eval(f"x {op} y", {"x": x, "y": y}), args
    name = rng.choice(FUNCTIONS)
    return name, lambda engine, x, y: getattr(engine, name)(x, y), args if isinstance(args[0], Memory) else (a, b)


CONVERSIONS = {
    "item": lambda _, t: t.item(),
    "tolist": lambda _, t: repr(t.tolist()),
    "int": lambda _, t: int(t),
    "bool": lambda _, t: bool(t),
    "len": lambda _, t: len(t),
    "list": lambda _, t: list(t),
    "format": lambda _, t: format(t, ".2f"),
    "in": lambda _, t: 1 in t,
    "type": lambda _, t: t.type(),
    "stride": lambda _, t: t.stride(),
    "layout": lambda e, t: (t.is_contiguous(), t.element_size(), t.nbytes, t.storage_offset(), t.dim(), repr(t.shape)),
    "contiguous": lambda _, t: t.contiguous(),
    "clone": lambda _, t: t.clone(),
    "data": lambda _, t: t.data,
}


def converting(rng):
    x = some_tensor(rng, dims=3)
    if rng.random() < 0.5:
        name = rng.choice(DTYPES)
        if name not in FLOATS:  # what a float beyond them becomes is up to the processor
            x.buffer = [1 if isinstance(v, float) and not abs(v) < 100 else v for v in x.buffer]
            if name == "uint8":
                x.buffer = [abs(v) for v in x.buffer]
        return f"to {name}", lambda engine, t: t.to(getattr(engine, name)), (x,)
    name = rng.choice(list(CONVERSIONS))
    if name == "int" and x.dtype in FLOATS:
        x.buffer = [1.5] * len(x.buffer)
    return name, CONVERSIONS[name], (x,)


def printing(rng):
    x = some_tensor(rng, empty=0.1)
    options = {
        "precision": rng.choice([0, 2, 4, 6]),
        "threshold": rng.choice([2, 10, 1000]),
        "edgeitems": rng.choice([1, 2, 3]),
        "linewidth": rng.choice([20, 40, 80]),
        "sci_mode": rng.choice([None, None, True, False]),
    }

    def show(engine, t):
        engine.set_printoptions(**options)
        try:
            return repr(t), str(t)
        finally:
            engine.set_printoptions(profile="default", sci_mode=None)

    return f"print {options}", show, (x,)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [reading, writing, promoting, converting, printing])
def test_random_calls(make, seed):
    compare(make, f"{make.__name__} {seed}", 500)


# ---- the table ----

COMPARED = entries(lambda e: comparable(e) and not e.random and e.test.get("values") is not False)
BROKEN_TIES = {
    "topk",
    "sort",
    "argsort",
    "msort",
    "kthvalue",
    "median",
    "nanmedian",
    "mode",
    "cummax",
    "cummin",
}  # equal elements: any of them


@pytest.mark.parametrize("seed", range(4))
def test_random_samples(seed):
    """A sample of every op in a random dtype and layout."""
    rng = random.Random(seed)
    failures = []
    for entry in COMPARED:
        case: Case = rng.choice(cases(entry))
        dtype, layout = rng.choice(DTYPES), rng.choice(["contiguous", *LAYOUTS])
        if layout == "expanded":
            if not expandable(entry):
                continue
            case = case.expanded()
        if not fits(case, dtype) or entry.name in BROKEN_TIES:
            continue
        if entry.name.startswith("grid_sampler") and dtype in (
            "bfloat16",
            "float16",
        ):  # points that 16 bits put between two elements: either is the nearest
            continue
        a, b = run(retrograd, case, dtype, layout), run(torch, case, dtype, layout)
        if b.error:
            continue
        for ours, theirs in zip(a.outputs, b.outputs, strict=False):
            ours.stride = theirs.stride
        messages = compare_outputs(a, b, entry, dtype) + (compare_grads(a, b, dtype) if dtype == "float64" else [])
        failures += [f"{dtype} {layout} {case}: {m}" for m in messages if not excused(entry, m)]
    report(failures)
