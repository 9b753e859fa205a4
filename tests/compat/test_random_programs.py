"""Random programs of views, writes in place, custom functions and hooks, line by line on PyTorch and on retrograd.

A program is a list of lines of Python. Each is made at random from the tensors that the lines before left in PyTorch's namespace, and run in
both. After each line all variables have to agree: values, requires_grad, is_leaf, version, what they are views of, and whether the line
failed, with which exception. In the end gradients and second derivatives of everything are compared.
"""

import math
import random
import warnings

import pytest

import retrograd

torch = pytest.importorskip("torch")

PROGRAMS = 1000
BATCHES = 10

PREAMBLE = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


class Flat(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.view(-1)

    @staticmethod
    def backward(ctx, grad):
        return grad.view(ctx.shape)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        z = x * 3
        ctx.mark_non_differentiable(z)
        return x.view(x.shape), x * 2, z

    @staticmethod
    def backward(ctx, a, b, c):
        return a + 2 * b


class Part(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.view(-1)[:1]

    @staticmethod
    def backward(ctx, grad):
        out = torch.zeros(ctx.shape, dtype=grad.dtype)
        out.view(-1)[:1] = grad
        return out


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1), x.view(x.shape)

    @staticmethod
    def backward(ctx, a, b):
        return a.view(b.shape) + b


class Written(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        x.add_(y.sum())
        ctx.mark_dirty(x)
        ctx.save_for_backward(y)
        return x, y.sin()

    @staticmethod
    def backward(ctx, a, b):
        (y,) = ctx.saved_tensors
        return a, a.sum() * torch.ones_like(y) + b * y.cos()


log = []


def record(name):
    return lambda grad: log.append((name, grad.detach().clone()))


def tracked(*all):
    def usable(x):
        try:
            return isinstance(x, torch.Tensor) and x.requires_grad and not x.is_inference() and (x.is_leaf or True)
        except RuntimeError:  # a view whose base was changed where it could not follow
            return False

    return [x for x in all if usable(x)]


def weighted(tensors, power):
    return sum(((x**power) * (0.3 + i)).sum() for i, x in enumerate(tensors))
"""
ENDING = """
ends = tracked({all})
total = weighted(ends, 1)
first = torch.autograd.grad(total, ends, allow_unused=True, create_graph=True) if ends else []

again = [g for g in first if g is not None and g.requires_grad]
leaves = [x for x in ends if x.is_leaf]
second = torch.autograd.grad(weighted(again, 2), leaves, allow_unused=True, retain_graph=True) if again and leaves else []

total.backward() if ends else None
"""

SHAPES = [(4,), (2, 3), (3, 2), (2, 2, 2), (6,), (2, 1, 3), (), (4, 1)]
SIZES = {1: [(1,), (1, 1), ()], 2: [(2,), (1, 2)], 4: [(4,), (2, 2), (-1, 2)], 6: [(6,), (2, 3), (3, 2)], 8: [(8,), (2, 4), (2, 2, 2)]}


class Writer:
    """Makes lines that fit the tensors there are."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def leaf(self):
        rng = self.rng
        shape = rng.choice(SHAPES)
        values = [round(rng.uniform(-2, 2), 2) for _ in range(math.prod(shape))]
        line = f"{self.name()} = torch.tensor({values}, dtype=torch.float64).reshape({shape})"
        line += rng.choice(["", ".clone()", ".clone()"])  # a view or not
        return line + rng.choice(["", ".requires_grad_()", ".requires_grad_()"])

    def subscript(self, t):
        rng, parts = self.rng, []
        for size in t.shape[: rng.randint(1, max(1, t.dim()))]:
            start = rng.randrange(size) if size else 0
            chosen = [rng.randrange(size) for _ in range(rng.randint(1, 3))] if size else [0]
            mask = [rng.random() < 0.5 for _ in range(size)]
            parts.append(
                rng.choice([str(start), ":", f"{start}:{size}", f"{start}:{start}", "::2", "None", str(chosen), f"torch.tensor({mask})"])
            )
        return ", ".join(parts) or rng.choice(["...", "None", "()"])

    def line(self, tensors):
        rng = self.rng
        names = list(tensors)
        a, b = (names[-1 - min(int(rng.expovariate(0.4)), len(names) - 1)] for _ in range(2))
        t = tensors[a]
        d = rng.randrange(t.dim()) - rng.choice([0, 0, t.dim()]) if t.dim() else 0
        size = t.shape[d] if t.dim() else 1
        i, shape = self.subscript(t), rng.choice(SIZES.get(t.numel(), [(-1,)]))
        at = f"torch.tensor({sorted({rng.randrange(max(1, size)) for _ in range(2)})})"
        # fmt: off
        views = [
            f"{a}.view({shape})", f"{a}[{i}]", f"{a}[{i}]", f"{a}.transpose({d}, -1)", f"{a}.unsqueeze({d})", f"{a}.squeeze()", f"{a}.reshape({shape})",
            f"{a}.flatten()", f"{a}.expand((2, *{a}.shape))", f"{a}.narrow({d}, 0, {rng.randint(0, 1)})", f"{a}.select({d}, {rng.randint(-1, 1)})", f"{a}.diagonal()",
            f"{a}.unfold({d}, 1, 1)", f"{a}.detach()", f"{a}.view_as({a})", f"{a}.movedim({d}, 0)", f"{a}.as_strided((2,), (1,))",
            f"{a}.expand_as({b})", f"Same.apply({a})", f"Flat.apply({a})",
        ]
        views += [
            f"{a}.view(torch.int64).view(torch.float64)", f"{a}.as_strided({a}.shape, {a}.stride())", f"{a}.as_strided((1,), (2,), {rng.randint(0, 2)})",
            f"{a}.T", f"{a}.data", f"{a}[...]", f"{a}[None]", f"{a}.swapaxes({d}, 0)", f"{a}.squeeze({d})", f"{a}.flatten().unflatten(0, (1, -1))", f"{a}.permute({tuple(reversed(range(t.dim())))})",
            f"{a}.broadcast_to((2, *{a}.shape))", f"{a}.view(1, *{a}.shape)[0]", f"Part.apply({a})", f"{a}.real", f"torch.atleast_2d({a})", f"{a}.adjoint() if {a}.dim() > 1 else {a}.t()",
        ]
        several = [f"{a}.unsafe_split(1, {d})", f"{a}.unsafe_chunk(2, {d})", f"{a}.hsplit(1)", f"Both.apply({a})", f"{a}.split_with_sizes([{max(size, 0)}], {d}) * 2", f"{a}.split(1, {d})", f"{a}.unbind({d})", f"{a}.chunk(2, {d})", f"{a}.tensor_split(2, {d})", f"torch.broadcast_tensors({a}, {b})"]
        values = [
            f"{a}.sin()", f"{a}.exp()", f"{a}.tanh()", f"{a} * {b}", f"{a} + {b}", f"{a} / 2", f"torch.where({a} > 0, {a}, {b})", f"{a}.clone()", f"{a}.sum({d})",
            f"torch.stack([{a}, {b}])", f"{a}.index_select({d}, {at})", f"{a}.roll(1)" if not t.is_inference() else f"{a}.flip(0)", f"{a}.cumsum({d})", f"{a}.masked_fill({b} > 0, 2)", f"Square.apply({a})",
        ]
        writes = [
            f"{a}.sin_()", f"{a}.exp_()", f"{a}.tanh_()", f"{a}.zero_()", f"{a}.add_(1)", f"{a}.mul_(2)", f"{a}.pow_(2)", f"{a}.fill_(0.5)", f"{a}.clamp_(-1, 1)",
            f"{a}.mul_({b}.clone())", f"{a}.add_({b}.clone())", f"{a}.copy_({b}.clone())", f"{a}.addcmul_({b}.clone(), {b}.exp())", f"{a} += {b}.clone()", f"{a} *= {b}.clone()", f"{a}.masked_fill_({a} > 0, 1.5)",
            f"{a}.masked_fill_({a} > 0, {b}.sum())", f"{a}.index_fill_({d}, {at}, 2.0)", f"{a}.index_fill_({d}, {at}, {b}.sum())", f"{a}.index_add_({d}, {at}, {a}.detach().index_select({d}, {at}))",
            f"{a}[{i}] = 1.0", f"{a}[{i}] = {b}.sum()", f"{a}[{i}] *= 2", f"{a}[{i}] = {a}[{i}] * 2", f"{a}.view(-1)[:1].mul_({b}.sum())", f"{a}.unbind(0)[0].add_(1)",
            f"Doubled.apply({a})", f"Doubled.apply({a})", f"{a}.unsqueeze_(0)", f"{a}.transpose_({d}, -1)",
        ]
        if t._base is None and not t.requires_grad and not any(v._base is t for v in tensors.values()):
            # PyTorch may crash where a tensor whose memory was taken away had views or a history.
            writes += [f"{a}.set_({b})", f"{a}.set_({b}.detach())", f"{a}.set_()"]
        writes += [
            f"{a}.data = {b}.data.reshape({a}.shape)", f"{a}.data = {b}.detach().clone().reshape({a}.shape)", f"{a}.data.mul_(2)", f"{a}.data[{i}] = 1.0", f"{a}.detach().add_(1)", f"{a}.data.copy_({b}.detach().sum())",
            f"{a}.copy_({b}.float())", f"{a}.copy_({b}.sum())", f"{a}.copy_(torch.arange({a}.numel()).view({a}.shape))", f"{a}.copy_({b}[None])", f"{a}[{i}] = {b}.sum().float()", f"{a}[{i}] = torch.tensor(2)", f"{a}[{i}] = {a}[{i}] + {b}.sum()", f"{a}[{a} > 0] = 0.5", f"{a}[{a} > 0] = {b}.sum()",
            f"{a}[{a} > 0] *= 2", f"{a}[..., None] = 1.0", f"{a}[None] = {b}.sum()", f"{a}[torch.tensor([0, 0])] = {b}.sum()", f"{a}.index_put_((torch.tensor([0, 0]),), {b}.sum(), accumulate=True)", f"{a}.index_copy_({d}, {at}, {a}.detach().index_select({d}, {at}) * 2)",
            f"{a}.scatter_({d}, torch.zeros({a}.shape, dtype=torch.long), {b}.detach().sum().item())", f"{a}.masked_scatter_({a} > 0, {b}.detach().expand(2, *{b}.shape).clone())", f"{a}.fill_({b}.sum())", f"{a}.fill_diagonal_(2.0)", f"{a}.tril_()", f"{a}.triu_()", f"{a}.sigmoid_()", f"{a}.relu_()", f"{a}.abs_()", f"{a}.neg_()",
            f"{a}.lerp_({b}.clone(), 0.5)", f"{a}.div_(2)", f"{a}.sub_({b}.clone())", f"{a}.clamp_({b}.detach())", f"{a}.as_strided((1,), (1,)).mul_(3)", f"{a}.squeeze_()", f"{a}.t_()", f"{a}.view(torch.int64).fill_(0)", f"{a}.expand((2, *{a}.shape)).add_(1)", f"{a}.detach()[{i}] = 2.0",
            f"{a}.grad.mul_(2) if {a}.is_leaf and {a}.grad is not None else None", f"setattr({a}, 'grad', None)", f"{a}.cumsum_({d})", f"{a}.addcdiv_({b}.clone(), {b}.exp())", f"{a}.where({a} > 0, {b}.sum())", f"{a}.swapaxes_({d}, 0)", f"torch.add({b}.detach().clone(), 1, out={a})", f"torch.mul({a}.detach().clone(), 2, out={a})", f"torch.cumsum({a}.detach().clone(), {d}, out={a})",
        ]
        other = [
            f"{a}.register_hook(lambda g: g * 2)" if attempt(lambda: t.is_leaf) is True else f"{a}.register_hook(record('{a}'))", f"{a}.grad = {b}.detach().clone()", f"{a}.data.requires_grad_()", f"{self.name()} = {a}.detach().requires_grad_()", f"{self.name()} = {a}.requires_grad_(False)", f"({a}.sum() * 2).backward(retain_graph=True)", f"({a} * {b}).sum().backward(inputs=[{b}])",
            f"{a}.requires_grad_()", f"{a}.detach_()", f"{a}.requires_grad = {rng.random() < 0.5}", f"{a}.retain_grad()", f"{a}.register_hook(record('{a}'))",
            f"({a} * {b}).sum().backward()", f"torch.autograd.graph.increment_version({a})", f"torch.exp({a}.clone(), out={a})", f"del {a}", self.leaf(),
        ]
        # fmt: on
        kind = rng.random()
        if kind < 0.32:
            line = f"{self.name()} = {rng.choice(views)}"
        elif kind < 0.38:
            line = f"{self.name()}, *_, {self.name()} = {rng.choice(several)}"
        elif kind < 0.52:
            line = f"{self.name()} = {rng.choice(values)}"
        elif kind < 0.56:
            line = f"{self.name()}, {self.name()}, {self.name()} = Pair.apply({a})"
        elif kind < 0.58:
            line = f"{self.name()}, {self.name()} = Written.apply({a}, {b})"
        elif kind < 0.9:
            line = rng.choice(writes)
        else:
            line = rng.choice(other)
        mode = rng.random()
        if mode > 0.12 or any(
            words in line for words in ("squeeze_", "transpose_", ".t_", "swapaxes_", "set_", ".data = ", "requires_grad")
        ):  # a history does not notice another shape
            return line
        return f"with torch.{'no_grad' if mode < 0.11 or 'unsafe' in line else 'inference_mode'}():\n    {line}"


def run(line, space):
    try:
        exec(line, space)
    except Exception as error:
        return error


def variables(space):
    return {k: v for k, v in space.items() if k[0] == "v" and k[1:].isdigit()}


def attempt(read):
    try:
        return read()
    except RuntimeError:
        return "an error"


def near(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-7 * max(1, abs(a), abs(b))
    return a == b


def plain(x):
    if isinstance(x, (list, tuple)):
        return [plain(item) for item in x]
    return attempt(x.detach().tolist) if hasattr(x, "tolist") else x


def state(t, space):
    base = attempt(lambda: t._base)
    known = [k for k, v in variables(space).items() if v is base]
    return {
        "shape": tuple(t.shape),
        "requires_grad": t.requires_grad,
        "is_leaf": attempt(lambda: t.is_leaf),
        "version": "an error" if "inferred" in space else t._version,
        "base": "an error" if "inferred" in space else known[0] if known else "none" if base is None else "other",
        "retains_grad": t.retains_grad,
        "kept": attempt(lambda: plain(t.grad) if t.is_leaf or t.retains_grad else None),
        "inference": t.is_inference(),
        "output_nr": attempt(lambda: t.output_nr),
        "values": plain(t),
    }


# What PyTorch leaves behind when it fails in the middle of a line, or computes by accident: nothing to compare from there on.
UNCOMPARABLE = [
    "nference tensor",  # changed before it was refused
    "INTERNAL ASSERT",
    "should be positive",  # an index into nothing
    "with size 0",  # also
    "invalid gradient at",  # metadata changed under no_grad
    "derivative for set_",  # what was accumulated before that was noticed
    "Number of elements of source <",  # written in part
    "is out of bounds for dimension",  # so here
    "Index put requires the source and destination dtypes match",  # a 0-d value is converted, see docs/differences.md
]
WITH_OUT = ["some elements of the input tensor", "must match"]  # an out= that was, or was not, resized before that was noticed
# What is documented in docs/differences.md: ours goes on where PyTorch stops. Nothing to compare from there on.
ACCEPTED = [
    "a second time",  # what no derivative reads is not saved
    "modified by an inplace operation",  # nor compared
]
REFUSED = "was written through .data, or another tensor on its memory"  # where PyTorch computes a wrong gradient


def disagreements(spaces, line):
    theirs, ours = (run(line, s) for s in spaces)
    if theirs is not None and any(words in str(theirs) for words in UNCOMPARABLE):
        return None
    if "out=" in line and any(words in str(theirs) for words in WITH_OUT):
        return None
    if "index_fill" in line and "setStorage" in str(theirs):
        return None  # PyTorch runs into its own view of a 0-d value
    if theirs is not None and type(theirs) is type(ours) and ("backward(" in line or "grad(" in line):
        return None  # and leaves what it did until then
    if "its base or another view of its base" in str(theirs) and ours is not None:
        return []  # which of two faults comes first
    if theirs is None and "its base or another view of its base" in str(ours) and ("requires_grad" in line or "retain_grad" in line):
        return None  # PyTorch asks such a view nothing there
    if "its base or another view of its base" in str(theirs) and ("backward(" in line or "grad(" in line):
        return None  # PyTorch asks for the history of what it saved, whether or not it needs that
    if ours is None and theirs is not None and any(words in str(theirs) for words in ACCEPTED):
        return None
    if REFUSED in str(ours):
        return None
    if type(theirs) is not type(ours):
        return [f"{theirs!r} | {ours!r}"]
    a, b = map(variables, spaces)
    if list(a) != list(b):
        return [f"{list(a)} | {list(b)}"]
    if any(a[name].stride() != b[name].stride() for name in a):
        return None  # the layout of results is compared in test_ops_live.py; from here on one copies where the other does not
    found = []
    for name in a:
        one, two = state(a[name], spaces[0]), state(b[name], spaces[1])
        found += [f"{name}.{k}: {one[k]} | {two[k]}" for k in one if not near(one[k], two[k]) and one[k] != "an error"]
    for name in ("log", "first", "second"):
        one, two = (plain(s.get(name, [])) for s in spaces)
        if name == "log" and "second" in line:
            continue  # the history of what an op saved of a view that it wrote to leads through that op, or through its base
        if not near(one, two) and "an error" not in one:  # an undefined gradient that is shown as a tensor
            found.append(f"{name}: {one} | {two}")
    return found


def play(seed):
    spaces = {"torch": torch}, {"torch": retrograd}
    for space in spaces:
        exec(PREAMBLE, space)
    writer = Writer(seed)
    lines = []

    def step(line):
        lines.append(line)
        if "inference_mode" in line:
            for space in spaces:
                space["inferred"] = True  # versions and bases are of no interest any more: see docs/differences.md
        found = disagreements(spaces, line)
        if found:
            pytest.fail("\n".join([f"program {seed}:", *lines, "PyTorch | retrograd", *found]), pytrace=False)
        return found is not None

    for i in range(writer.rng.randint(7, 17)):
        tensors = variables(spaces[0])
        if not step(writer.leaf() if i < 2 or not tensors else writer.line(tensors)):
            return
    for line in ENDING.split("\n\n"):
        if not step(line.format(all=", ".join(variables(spaces[0])))):
            return


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("batch", range(BATCHES))
def test_both_do_the_same(batch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(batch * PROGRAMS // BATCHES, (batch + 1) * PROGRAMS // BATCHES):
            play(seed)
