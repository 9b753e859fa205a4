"""Writes that versions do not show are refused where a saved value changed, and only there."""

import gc
import inspect
import random
import re

import pytest

import retrograd as torch
from tests.autograd.hidden_writes import RIGHT, WRONG

MODIFIED = "modified by an inplace operation"


def written_at(program):
    lines, first = inspect.getsourcelines(program)
    (at,) = [i for i, line in enumerate(lines) if "# WRITE" in line]
    return f"hidden_writes.py:{first + at}"


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT.keys())
def test_right(program):
    if "numpy" in inspect.getsource(program):
        pytest.importorskip("numpy")
    got, want = program(torch)
    assert got == pytest.approx(want) if not isinstance(got[0], list) else torch.allclose(torch.tensor(got), torch.tensor(want))


@pytest.mark.parametrize("program", WRONG.values(), ids=WRONG.keys())
def test_wrong(program):
    if "numpy" in inspect.getsource(program):
        pytest.importorskip("numpy")
    with pytest.raises(RuntimeError, match=MODIFIED) as error:
        program(torch)
    named = re.search(r"\n  (?:changed|handed out|written) at .*\b(hidden_writes\.py:\d+)", str(error.value))
    assert named and named[1] == written_at(program), str(error.value)


# ---- the write that is named, when versions show it ----


def test_a_visible_write_is_named_by_its_elements():
    memory, x = torch.arange(1.0, 9.0), torch.ones(4, requires_grad=True)
    loss = (x * memory[:4]).sum()
    memory[1] = 0.0
    line = inspect.currentframe().f_lineno - 1
    memory[6] = 0.0
    with pytest.raises(RuntimeError, match=r"is at version 2; expected version 0") as error:
        loss.backward()
    assert re.search(rf"changed at .*test_hidden_writes\.py:{line}\n", str(error.value))


def test_a_visible_write_beside_the_elements_says_so():
    memory, x = torch.arange(1.0, 9.0), torch.ones(4, requires_grad=True)
    loss = (x * memory[:4]).sum()
    memory[6] = 0.0
    with pytest.raises(RuntimeError, match=r"a write to other elements of its memory"):
        loss.backward()


# ---- what is kept, and for how long ----


def random_region(rng, memory):
    """Rows, columns, blocks, steps, windows and single elements of a matrix."""
    view = memory
    for dim in range(2):
        first = rng.randrange(view.shape[dim])
        last = rng.randrange(first, view.shape[dim]) + 1
        view = view[(slice(None),) * dim + (slice(first, last, rng.choice((1, 1, 2, 3))),)]
    return view.t() if rng.random() < 0.3 else view


@pytest.mark.parametrize("seed", range(60))
def test_random_writes(seed):
    """Refused exactly when an element that was saved is another one now."""
    rng = random.Random(seed)
    memory = torch.arange(48.0).reshape(6, 8)
    saved = []
    for _ in range(rng.randrange(4, 14)):
        if rng.random() < 0.35 or not saved:
            part = random_region(rng, memory)
            x = torch.ones(part.shape, requires_grad=True)
            saved.append((x, (x * part).sum(), part.tolist(), part))
            continue
        part = random_region(rng, memory)
        before = part.clone()
        how = rng.random()
        if how < 0.3:
            part.data.add_(rng.choice((0.0, 1.0)))
        elif how < 0.6:
            part.data.zero_()
            part.data.copy_(before)
        elif how < 0.8:
            memory.data.copy_(torch.arange(48.0).reshape(6, 8))
        else:
            part.data[rng.randrange(part.shape[0])] *= rng.choice((1.0, 2.0))
    for x, loss, values, part in saved:
        if part.tolist() == values:
            loss.backward()
            assert x.grad.tolist() == values
        else:
            with pytest.raises(RuntimeError, match=MODIFIED):
                loss.backward()


@pytest.mark.parametrize("seed", range(20))
def test_random_writes_to_large_memory(seed):
    """Without copies of what was there: never accepted wrongly, and disjoint regions are told apart."""
    rng = random.Random(seed)
    memory = torch.zeros(64, 4096)
    saved = []
    for step in range(12):
        row = rng.randrange(64)
        if step % 3 == 0:
            x = torch.ones(4096, requires_grad=True)
            saved.append((x, (x * memory[row]).sum(), row, memory[row].clone()))
        else:
            memory.data[row : row + 2] = float(step)
    for x, loss, row, values in saved:
        if torch.equal(memory[row], values):
            loss.backward()
            assert torch.equal(x.grad, values)
        else:
            with pytest.raises(RuntimeError, match=MODIFIED):
                loss.backward()


class Fuzz:
    """Saves, writes of all kinds, memory that is handed out and tensors that move, beside lists of what was saved."""

    def __init__(self, np, seed):
        self.np, self.rng = np, random.Random(seed)
        self.memory = [torch.arange(48.0).reshape(6, 8) for _ in range(2)]
        self.movable = [torch.nn.Parameter(self.rng.choice(self.memory)[:3]) for _ in range(2)]
        self.arrays, self.values, self.saved = [], [], []

    def step(self):
        target = self.rng.choice(self.memory + self.movable)
        acts = [self.save] * 6 + [self.write] * 5 + [self.move] * 3 + [self.hand_out, self.write_outside, self.write_alias, self.check]
        self.rng.choice(acts if self.saved else [self.save])(target)

    def save(self, t):
        part = t if self.rng.random() < 0.4 else random_region(self.rng, t.detach() if self.rng.random() < 0.7 else t.data)
        x = torch.ones(part.shape, requires_grad=True)
        self.saved.append((x, (x * part).sum(), part, part.tolist()))

    def write(self, t):
        part, how = random_region(self.rng, t.data), self.rng.randrange(4)
        if how == 0:
            part.add_(self.rng.choice((0.0, 1.0)))
        elif how == 1:
            t.data.copy_(torch.arange(48.0).reshape(6, 8)[: t.shape[0]])
        elif how == 2:
            part[part > 20] = self.rng.choice((0.0, 21.0))
        else:
            torch.add(part, self.rng.choice((0.0, 1.0)), out=part)

    def write_alias(self, t):
        alias = torch.empty(0).set_(t.detach()) if self.rng.random() < 0.5 else self.rng.choice(t.data.unsafe_split(2))
        random_region(self.rng, alias).mul_(self.rng.choice((1.0, 2.0)))

    def move(self, _):
        w, how = self.rng.choice(self.movable), self.rng.randrange(5)
        if how == 0:
            w.data = w.data.clone()
        elif how == 1:
            w.data = self.rng.choice(self.memory)[self.rng.randrange(3) :][:3]
        elif how == 2:
            before, w.data = w.data, torch.zeros(3, 8)
            w.data = before
        elif how == 3:
            self.values.append(w.tolist())
        elif self.values:
            w.data = torch.tensor(self.rng.choice(self.values))

    def hand_out(self, t):
        self.arrays.append(random_region(self.rng, t.detach()).numpy())

    def write_outside(self, _):
        if self.arrays:
            array = self.rng.choice(self.arrays)
            array[self.rng.randrange(len(array))] += self.rng.choice((0.0, 1.0))

    def check(self, _=None):
        x, loss, part, values = self.saved.pop(self.rng.randrange(len(self.saved)))
        if part.tolist() == values:
            loss.backward()
            assert x.grad.tolist() == values
        else:
            with pytest.raises(RuntimeError, match=MODIFIED):
                loss.backward()


@pytest.mark.parametrize("seed", range(150))
def test_all_ways_together(seed):
    fuzz = Fuzz(pytest.importorskip("numpy"), seed)
    for _ in range(20):
        fuzz.step()
    while fuzz.saved:
        fuzz.check()


def test_more_moves_than_are_kept_refuse():
    w = torch.ones(4, requires_grad=True)
    old = (w * w).sum()
    for k in range(100):
        w.data = torch.full((4,), float(k))
    new = (w * w).sum()
    w.data = torch.ones(4)
    with pytest.raises(RuntimeError, match=MODIFIED):
        old.backward()
    w.data = torch.full((4,), 99.0)
    new.backward()
    assert w.grad.tolist() == [198.0] * 4


def test_more_writes_before_a_move_than_are_kept_refuse():
    w = torch.ones(200, requires_grad=True)
    old = (w * w).sum()
    keep = []
    for k in range(200):
        w.data[k] = 2.0
        keep.append((w * w).sum())
    w.data = torch.ones(200)
    with pytest.raises(RuntimeError, match=MODIFIED):
        old.backward()
    w.data = torch.full((200,), 2.0)
    keep[-1].backward()
    assert w.grad.tolist() == [4.0] * 200


def test_more_writes_than_are_kept_refuse():
    memory, x = torch.zeros(3, 6000), torch.ones(6000, requires_grad=True)
    loss = (x * memory[0]).sum()
    for k in range(6000):
        memory.data[1, k] = 1.0
    later = (x * memory[0]).sum()
    memory.data[1, 0] = 2.0
    with pytest.raises(RuntimeError, match=MODIFIED):
        loss.backward()
    later.backward()  # it has notes of all that came after it
    assert x.grad.tolist() == [0.0] * 6000


def test_memory_that_was_handed_out_is_watched_beside_many_writes():
    pytest.importorskip("numpy")
    memory, x = torch.zeros(2, 2048), torch.ones(2048, requires_grad=True)
    loss = (x * memory[0]).sum()
    array = memory[0].numpy()
    for _ in range(2):
        for k in range(2048):
            memory.data[1, k] = 1.0
            memory.data[1, k] = 0.0
            memory.data[1, k : k + 3] += 0.0
    array[0] = 5.0
    with pytest.raises(RuntimeError, match=MODIFIED):
        loss.backward()


def saves(t):
    return t._storage_info()[5:]


def test_notes_go_with_the_last_save():
    memory, x = torch.zeros(64), torch.ones(64, requires_grad=True)
    memory.data.add_(1.0)
    assert saves(memory) == (0, False)
    first, second = (x * memory).sum(), (x * memory).sum()
    memory.data.add_(0.0)
    assert saves(memory) == (2, True)
    first.backward()
    assert saves(memory) == (1, True)
    second.backward(retain_graph=True)
    assert saves(memory) == (1, True)
    del second
    assert saves(memory) == (0, False)


class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


USES = {
    "two inputs": lambda w: w * w,
    "number": lambda w: w**3,
    "output": lambda w: w.exp().tanh(),
    "matrix": lambda w: w.reshape(2, 2) @ w.reshape(2, 2).t(),
    "list": lambda w: torch.linalg.multi_dot([w.reshape(2, 2), w.reshape(2, 2), w.reshape(2, 2)]),
    "index": lambda w: torch.index_select(w * w, 0, torch.tensor([1, 2])),
    "custom": Keeps.apply,
    "in place": lambda w: (w * 1).mul_(2).exp_(),
    "linear": lambda w: torch.nn.functional.linear(w.reshape(2, 2), w.reshape(2, 2), w[:2]),
    "checkpoint": lambda w: torch.utils.checkpoint.checkpoint(lambda w: w.exp() * w, w, use_reentrant=False),
}


@pytest.mark.parametrize("end", ["backward", "dropped", "freed twice", "second derivative"])
@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_saves_are_counted(use, end):
    w = torch.ones(4, requires_grad=True)
    y = use(w).sum()
    if end == "backward":
        y.backward()
    elif end == "freed twice":
        torch.autograd.grad(y, w, retain_graph=True)
        torch.autograd.grad(y, w)
    elif end == "second derivative":
        (g,) = torch.autograd.grad(y, w, create_graph=True)
        if g.requires_grad:
            g.sum().backward()
        del g
    del y
    gc.collect()
    assert saves(w) == (0, False)


def test_saves_move_with_their_tensor():
    w = torch.ones(4, requires_grad=True)
    y = (w * w).sum()
    w.data = torch.zeros(4)
    assert saves(w)[0] == 2
    del y
    assert saves(w)[0] == 0
    y = (w * w).sum()
    view = w.detach()
    w.data = torch.zeros(4)  # which of both has the saves is not known from here on
    assert saves(w)[0] > 2**29 and saves(view)[0] > 2**29
    del y
    y = (w * w).sum()
    w.data[0] = 3.0
    w.data[0] = 0.0
    y.backward()
    assert w.grad.tolist() == [0.0] * 4


def test_a_version_that_was_set_leaves_no_order():
    memory, x = torch.zeros(8), torch.ones(4, requires_grad=True)
    loss = (x * memory[:4]).sum()
    with torch.autograd._unsafe_preserve_version_counter(memory):
        memory[5] = 1.0
    memory.data[6] = 1.0
    with pytest.raises(RuntimeError, match=MODIFIED):
        loss.backward()


def test_increment_version_of_an_alias():
    memory, x = torch.zeros(8), torch.ones(4, requires_grad=True)
    loss = (x * memory[:4]).sum()
    torch.autograd.graph.increment_version(memory.data[4:])
    loss.backward()
    loss = (x * memory[:4]).sum()
    torch.autograd.graph.increment_version(memory.data)
    with pytest.raises(RuntimeError, match=MODIFIED):
        loss.backward()


def test_detached_after_it_was_saved_on_shared_memory():
    pytest.importorskip("numpy")

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y.detach().numpy()
    z = Square.apply(y)
    y.detach_()
    z.sum().backward()
    assert x.grad.tolist() == [2.0] * 3


def test_resizing_the_storage_moves_no_version():
    x = torch.ones(4)
    x.untyped_storage().resize_(1024)
    assert x._version == 0 and x.tolist() == [1.0] * 4
