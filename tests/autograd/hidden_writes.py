"""Programs that write to memory without autograd's version counters seeing it: through .data, NumPy, DLPack, set_ or unsafe_split.

Each takes the engine and returns gradients beside the right ones, both as lists. RIGHT programs leave every saved value as it was, or put it back;
WRONG ones change a value that backward reads, at the line marked WRITE (for memory that others write to: the line that handed it out).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Program = Callable[[Any], tuple[Any, Any]]
RIGHT: dict[str, Program] = {}
WRONG: dict[str, Program] = {}


def right(program: Program) -> Program:
    RIGHT[program.__name__] = program
    return program


def wrong(program: Program) -> Program:
    WRONG[program.__name__] = program
    return program


def numpy() -> Any:
    import numpy as np

    return np


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(values or (1.0, 2.0, 3.0, 4.0), dtype=torch.float64, requires_grad=True)


def ramp(torch: Any, *shape: int) -> Any:
    return torch.arange(1.0, math.prod(shape) + 1.0, dtype=torch.float64).reshape(shape)


# ---- right: other elements of the same memory ----


@right
def unsafe_chunk_gates(torch):
    a = ramp(torch, 2, 4).div_(8).requires_grad_()
    i, f = (a * 1).unsafe_chunk(2, 1)
    i.sigmoid_()
    f.tanh_()
    (i * f).sum().backward()
    b = a.detach().clone().requires_grad_()
    (b[:, :2].sigmoid() * b[:, 2:].tanh()).sum().backward()
    return a.grad.tolist(), b.grad.tolist()


@right
def lstm_cell_in_place(torch):
    x, h = ramp(torch, 3, 4).div_(10), torch.zeros(3, 2, dtype=torch.float64)
    w = ramp(torch, 4, 8).div_(30).requires_grad_()
    i, f, g, o = (x @ w).unsafe_chunk(4, 1)
    i.sigmoid_(), f.sigmoid_(), g.tanh_(), o.sigmoid_()
    (o * (f * h + i * g).tanh()).sum().backward()
    v = w.detach().clone().requires_grad_()
    i, f, g, o = (x @ v).chunk(4, 1)
    (o.sigmoid() * (f.sigmoid() * h + i.sigmoid() * g.tanh()).tanh()).sum().backward()
    return w.grad.tolist(), v.grad.tolist()


@right
def unsafe_split_with_sizes_parts(torch):
    a = leaf(torch)
    p, q = (a * 1).unsafe_split_with_sizes([1, 3])
    p.exp_()
    q.exp_()
    (p.sum() + (q * q).sum()).backward()
    return a.grad.tolist(), [math.exp(1)] + [2 * math.exp(2 * v) for v in (2, 3, 4)]


@right
def flat_parameters(torch):
    flat = ramp(torch, 4)
    p, q = torch.nn.Parameter(flat[:2]), torch.nn.Parameter(flat[2:])
    loss = (p * p).sum()
    q.data.sub_(0.1)
    loss.backward()
    return p.grad.tolist(), [2.0, 4.0]


@right
def flat_parameters_stepped_in_hooks(torch):
    flat = ramp(torch, 6)
    layers = [torch.nn.Parameter(flat[2 * k : 2 * k + 2]) for k in range(3)]
    got = {}

    def step(k):
        def hook(grad):
            got[k] = grad.tolist()
            layers[k].data.sub_(grad, alpha=0.1)

        return hook

    for k, p in enumerate(layers):
        p.register_hook(step(k))
    x = torch.ones(2, dtype=torch.float64)
    for p in layers:
        x = x * p
    x.sum().backward()
    return [got[k] for k in range(3)], [[15.0, 24.0], [5.0, 12.0], [3.0, 8.0]]


@right
def kv_cache(torch):
    cache, x, total = torch.zeros(5, 2, dtype=torch.float64), leaf(torch, 1.0, 2.0), 0
    for t in range(5):
        cache.data[t] = float(t + 1)
        total = total + (x * cache[t]).sum()
    total.backward()
    return x.grad.tolist(), [15.0, 15.0]


@right
def kv_cache_batched(torch):
    cache, x, total = torch.zeros(2, 4, 3, dtype=torch.float64), leaf(torch, 1.0, 2.0, 3.0), 0
    for t in range(4):
        cache.data[:, t] = float(t)
        total = total + (x * cache[:, : t + 1].sum(1)).sum() + (x * cache[:, t]).sum()
    total.backward()
    return x.grad.tolist(), [2.0 * (0 + 1 + 3 + 6 + 6)] * 3


@right
def ring_buffer(torch):
    ring, x, total = torch.zeros(3, 4, dtype=torch.float64), leaf(torch), 0
    for t in range(3):
        ring[t].data.fill_(t + 1.0)
        total = total + (x * ring[t]).sum()
    total.backward()
    return x.grad.tolist(), [6.0] * 4


@right
def scratch_column_by_column(torch):
    scratch, x, total = torch.zeros(4, 3, dtype=torch.float64), leaf(torch), 0
    for j in range(3):
        scratch.data[:, j] = ramp(torch, 4) + j
        total = total + (x * scratch[:, j]).sum()
    total.backward()
    return x.grad.tolist(), [6.0, 9.0, 12.0, 15.0]


@right
def scratch_of_a_solver(torch):
    class Assign(torch.autograd.Function):  # as packages for differential equations fill the stages of a step
        @staticmethod
        def forward(ctx, scratch, value, index):
            ctx.index = index
            scratch.data[index] = value
            return scratch

        @staticmethod
        def backward(ctx, grad):
            return grad, grad[ctx.index], None

    y = leaf(torch)
    k = torch.empty(4, 3, dtype=torch.float64)
    k = Assign.apply(k, y * 1, (..., 0))
    for stage in range(1, 3):
        k = Assign.apply(k, (y + (k[..., :stage] * k[..., :stage]).sum(-1)) * 0.5, (..., stage))
    k.sum().backward()
    z = leaf(torch)
    a = z * 1
    b = (z + a * a) * 0.5
    (a + b + (z + a * a + b * b) * 0.5).sum().backward()
    return y.grad.tolist(), z.grad.tolist()


@right
def scratch_through_set(torch):
    scratch, x = torch.zeros(2, 4, dtype=torch.float64), leaf(torch)
    other = torch.empty(0, dtype=torch.float64).set_(scratch)
    other[0] = 2.0
    loss = (x * scratch[0]).sum()
    other[1] = 3.0
    loss.backward()
    return x.grad.tolist(), [2.0] * 4


@right
def set_alone_writes_nothing(torch):
    data, x = ramp(torch, 4), leaf(torch)
    loss = (x * data).sum()
    other = torch.empty(0, dtype=torch.float64).set_(data)
    loss.backward()
    return x.grad.tolist(), other.tolist()


@right
def red_black_grid(torch):
    grid, x = torch.zeros(8, dtype=torch.float64), leaf(torch)
    grid.data[::2] = 1.0
    loss = (x * grid[::2]).sum()
    grid.data[1::2] = 5.0
    loss = loss + (x * grid[1::2]).sum()
    grid.data[1::2] += 0.0
    loss.backward()
    return x.grad.tolist(), [6.0] * 4


@right
def red_black_grid_of_two_dimensions(torch):
    grid, x = ramp(torch, 4, 4), leaf(torch, 1.0, 2.0)
    loss = (x * grid[::2, ::2]).sum() + (x * grid[1::2, 1::2]).sum()
    grid.data[::2, 1::2] = 0.0
    grid.data[1::2, ::2] = 0.0
    loss.backward()
    return x.grad.tolist(), [1.0 + 9 + 6 + 14, 3.0 + 11 + 8 + 16]


@right
def diagonal_beside_the_rest(torch):
    m, x = ramp(torch, 3, 3), leaf(torch, 1.0, 1.0, 1.0)
    loss = (x * m[0, 1:].sum()).sum() + (x * m.diagonal(1).sum()).sum()
    m.data.diagonal().fill_(0.0)
    loss.backward()
    return x.grad.tolist(), [13.0] * 3


@right
def real_and_imaginary_part(torch):
    z, x = torch.complex(ramp(torch, 4), ramp(torch, 4)), leaf(torch)
    loss = (x * z.real).sum()
    z.data.imag.mul_(7)
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def as_strided_windows(torch):
    memory, x = ramp(torch, 12), leaf(torch)
    windows = memory.as_strided((2, 4), (6, 1))
    loss = (x * windows).sum()
    memory.data.as_strided((2, 2), (6, 1), 4).zero_()
    loss.backward()
    return x.grad.tolist(), [8.0, 10.0, 12.0, 14.0]


@right
def upper_half_of_a_transposed(torch):
    m, x = ramp(torch, 2, 4), leaf(torch, 1.0, 2.0)
    loss = (x * m.t()[:2]).sum()
    m.data[:, 2:] = -1.0
    loss.backward()
    return x.grad.tolist(), [3.0, 11.0]


@right
def padding_beside_the_sequence(torch):
    batch, x = torch.zeros(2, 6, dtype=torch.float64), leaf(torch)
    batch.data[:, :4] = ramp(torch, 4)
    loss = (x * batch[:, :4]).sum()
    batch.data[:, 4:].fill_(-9.0)
    loss.backward()
    return x.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def a_mask_that_hits_other_elements(torch):
    m, x = ramp(torch, 2, 4), leaf(torch)
    loss = (x * m[0]).sum()
    m.data[m > 4] = 0.0
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def a_whole_write_that_changes_other_elements(torch):
    m, x = ramp(torch, 2, 4), leaf(torch)
    loss = (x * m[0]).sum()
    m.data.add_(torch.tensor([[0.0], [5.0]], dtype=torch.float64))
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def index_put_to_other_rows(torch):
    table, x = ramp(torch, 3, 4), leaf(torch)
    loss = (x * table[0]).sum()
    table.data[torch.tensor([1, 2])] = 0.0
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def rows_of_a_large_table(torch):
    table, x = torch.zeros(300, 200, dtype=torch.float64), torch.ones(200, dtype=torch.float64, requires_grad=True)
    total = 0
    for k in range(300):
        table[k].data.fill_(k)
        total = total + (x * table[k]).sum()
    total.backward()
    return x.grad.tolist(), [300 * 299 / 2.0] * 200


@right
def columns_of_a_large_table(torch):
    table, x = torch.zeros(200, 30, dtype=torch.float64), torch.ones(200, dtype=torch.float64, requires_grad=True)
    total = 0
    for k in range(30):
        table.data[:, k] = float(k)
        total = total + (x * table[:, k]).sum()
    total.backward()
    return x.grad.tolist(), [30 * 29 / 2.0] * 200


@right
def optimizer_steps_a_neighbour(torch):
    flat = ramp(torch, 4)
    p = flat[:2].requires_grad_()
    q = flat.data[2:].requires_grad_()
    loss = (p * p).sum()
    q.grad = torch.ones(2, dtype=torch.float64)
    torch.optim.SGD([q], lr=0.5).step()
    (grad,) = torch.autograd.grad(loss, p)
    return grad.tolist() + q.tolist(), [2.0, 4.0, 2.5, 3.5]


@right
def running_statistics_in_one_buffer(torch):
    buffer, x = torch.zeros(8, dtype=torch.float64), leaf(torch)
    mean, var = buffer.data[:4], buffer.data[4:]
    mean.add_(1.0)
    loss = (x * mean).sum()
    var.mul_(0.9).add_(0.1)
    loss.backward()
    return x.grad.tolist(), [1.0] * 4


@right
def out_into_other_rows(torch):
    memory, x = torch.zeros(2, 4, dtype=torch.float64), leaf(torch)
    torch.exp(torch.zeros(4, dtype=torch.float64), out=memory.data[0])
    loss = (x * memory[0]).sum()
    torch.exp(torch.ones(4, dtype=torch.float64), out=memory.data[1])
    loss.backward()
    return x.grad.tolist(), [1.0] * 4


@right
def saved_by_a_custom_function(torch):
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x * y

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0], None

    memory, x = ramp(torch, 8), leaf(torch)
    y = Times.apply(x, memory[:4])
    memory.data[4:] = 0.0
    y.sum().backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def gate_saved_as_output(torch):
    memory = torch.zeros(8, dtype=torch.float64)
    x = leaf(torch)
    part = memory.data[:4].copy_(x.detach()).requires_grad_()
    y = part.exp()
    memory.data[4:] = 9.0
    y.sum().backward()
    return part.grad.tolist(), [math.exp(v) for v in (1, 2, 3, 4)]


@right
def dtype_view_of_other_bytes(torch):
    memory, x = ramp(torch, 8), leaf(torch)
    loss = (x * memory[:4]).sum()
    memory.data.view(torch.int64)[4:].zero_()
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def the_alias_that_was_saved(torch):
    memory, x = ramp(torch, 8), leaf(torch)
    alias = memory.data
    loss = (x * alias[:4]).sum()
    memory[4:] = 0.0
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


# ---- right: writes that change nothing, or are undone ----


@right
def clamp_in_a_forward_that_runs_twice(torch):
    w = leaf(torch, -1.0, 0.5, 2.0)
    x = torch.ones(3, dtype=torch.float64)

    def forward():
        w.data.clamp_(0.0, 1.0)
        return (w * w * x).sum()

    w.data.clamp_(0.0, 1.0)
    (forward() + forward()).backward()
    return w.grad.tolist(), [0.0, 2.0, 4.0]


@right
def mask_in_a_forward_that_runs_twice(torch):
    class Masked(torch.nn.Linear):
        def forward(self, x):
            self.weight.data.mul_(self.mask)
            return super().forward(x)

    layer = Masked(2, 2, bias=False).to(torch.float64)
    layer.mask = torch.tensor([[1.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    layer.weight.data.fill_(2.0)
    x = leaf(torch, 1.0, 3.0)
    layer(layer(x)).sum().backward()
    return x.grad.tolist(), [2.0 * 2 + 2 * 2 + 2 * 2, 2.0 * 2]


@right
def renormalised_embedding(torch):
    table = torch.nn.Parameter(torch.eye(3, dtype=torch.float64))
    index = torch.tensor([0, 2])
    total = 0
    for _ in range(3):
        table.data.div_(table.data.norm(dim=1, keepdim=True))
        total = total + (table[index] * table[index]).sum()
    total.backward()
    return table.grad.diagonal().tolist(), [6.0, 0.0, 6.0]


@right
def averaged_weights_in_and_out(torch):
    w = leaf(torch)
    average = torch.zeros(4, dtype=torch.float64)
    loss = (w * w).sum()
    backup = w.data.clone()
    w.data.copy_(average)
    assert (w * w).sum().item() == 0
    w.data.copy_(backup)
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def averaged_weights_by_assignment(torch):
    w = leaf(torch)
    average = torch.zeros(4, dtype=torch.float64)
    loss = (w * w).sum()
    backup = w.data
    w.data = average
    w.data = backup
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def swapped_through_a_temporary(torch):
    w, average = leaf(torch), ramp(torch, 4) * 10
    loss = (w * w).sum()
    for _ in range(2):
        temporary = w.data.clone()
        w.data.copy_(average)
        average.copy_(temporary)
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def perturb_and_restore(torch):
    w = leaf(torch)
    loss = (w**3).sum()
    w.data.add_(0.5)
    w.data.sub_(0.5)
    loss.backward()
    return w.grad.tolist(), [3.0, 12.0, 27.0, 48.0]


@right
def sharpness_aware_two_steps(torch):
    w = leaf(torch)
    loss = (w**2).sum()
    old = w.data.clone()
    w.data.add_(0.25)
    (second,) = torch.autograd.grad((w**2).sum(), w)
    w.data.copy_(old)
    loss.backward()
    return [w.grad.tolist(), second.tolist()], [[2.0, 4.0, 6.0, 8.0], [2.5, 4.5, 6.5, 8.5]]


@right
def numeric_gradient_element_by_element(torch):
    w = leaf(torch)
    loss = (w**2).sum()
    for k in range(4):
        old = w.data[k].item()
        for step in (1e-3, -1e-3):
            w.data[k] = old + step
            (w**2).sum()
        w.data[k] = old
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def numeric_gradient_of_many_elements(torch):
    w = torch.ones(5000, dtype=torch.float64, requires_grad=True)
    loss = (w**2).sum()
    for k in range(5000):
        w.data[k] = 2.0
        w.data[k] = 1.0
    loss.backward()
    return w.grad.tolist(), [2.0] * 5000


@right
def numeric_gradient_through_numpy(torch):
    w, x = ramp(torch, 4), leaf(torch)
    loss = (x * w).sum()
    array = w.numpy()
    for k in range(4):
        array[k] += 1.0
        array[k] -= 1.0
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def buffer_refilled_with_the_same(torch):
    buffer, x, total = torch.zeros(4, dtype=torch.float64), leaf(torch), 0
    for _ in range(3):
        buffer.data.copy_(ramp(torch, 4))
        total = total + (x * buffer).sum()
    total.backward()
    return x.grad.tolist(), [3.0, 6.0, 9.0, 12.0]


@right
def zeroed_and_refilled(torch):
    buffer, x, total = ramp(torch, 4), leaf(torch), 0
    for _ in range(5):
        total = total + (x * buffer).sum()
        buffer.data.zero_()
        buffer.data.add_(ramp(torch, 4))
    total.backward()
    return x.grad.tolist(), [5.0, 10.0, 15.0, 20.0]


@right
def offloaded_and_brought_back(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    host = w.data.clone()
    w.data = torch.empty(0, dtype=torch.float64)
    w.data = host
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def offloaded_by_the_storage(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    version = w._version
    host, nbytes = w.data.clone(), w.untyped_storage().nbytes()
    w.untyped_storage().resize_(0)
    w.untyped_storage().resize_(nbytes)
    w.data.copy_(host)
    assert w._version == version
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def grown_storage(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.untyped_storage().resize_(w.untyped_storage().nbytes() * 100)
    assert w._version == 0
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def replaced_by_an_equal_copy(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.data = w.data.clone()
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def made_contiguous_where_it_is(torch):
    w = torch.nn.Parameter(ramp(torch, 2, 3).t())
    loss = (w * w).sum()
    w.data = w.data.contiguous()
    loss.backward()
    return w.grad.tolist(), [[2.0, 8.0], [4.0, 10.0], [6.0, 12.0]]


@right
def moved_into_a_flat_buffer(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    flat = torch.zeros(8, dtype=torch.float64)
    flat[2:6] = w.data
    w.data = flat[2:6]
    flat[6:] = 9.0
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def written_and_put_back_part_by_part(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.data.zero_()
    w.data[:2] = ramp(torch, 2)
    w.data[2:] = ramp(torch, 4)[2:]
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def overlapping_windows_put_back(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    for k in range(3):
        w.data[k : k + 2] += 1.0
    w.data.copy_(ramp(torch, 4))
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def dropped_connections_put_back(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    raw = w.data.clone()
    w.data[torch.tensor([True, False, True, False])] = 0.0
    w.data = raw
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@right
def quantised_then_restored_in_a_hook(torch):
    w = leaf(torch, 0.4, 1.6, 2.2, 3.9)
    real = w.data.clone()
    loss = (w * w).sum()
    w.data.round_()
    x = leaf(torch)
    y = (x * loss.detach()).sum() + loss
    y.register_hook(lambda grad: (w.data.copy_(real), None)[1])
    y.backward()
    return w.grad.tolist(), [0.8, 3.2, 4.4, 7.8]


@right
def sorted_already(torch):
    data, x = ramp(torch, 4), leaf(torch)
    loss = (x * data).sum()
    data.data.copy_(data.data.sort().values)
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def in_place_view_of_data(torch):
    w = torch.nn.Parameter(ramp(torch, 2, 3))
    loss = (w * w).sum()
    w.data.t_()
    w.data.unsqueeze_(0)
    loss.backward()
    return w.grad.tolist(), [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]


@right
def out_of_the_same_values(torch):
    data, x = torch.ones(4, dtype=torch.float64), leaf(torch)
    loss = (x * data).sum()
    torch.exp(torch.zeros(4, dtype=torch.float64), out=data.data)
    loss.backward()
    return x.grad.tolist(), [1.0] * 4


@right
def two_saves_with_a_write_between(torch):
    data, x = ramp(torch, 4), leaf(torch)
    first = (x * data).sum()
    data.data.mul_(2)
    second = (x * data).sum()
    data.data.div_(2)
    first.backward()
    del second
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def after_backward(torch):
    w = leaf(torch)
    for _ in range(3):
        w.grad = None
        (w * w).sum().backward()
        w.data.sub_(w.grad, alpha=0.25)
    return w.grad.tolist(), [0.5, 1.0, 1.5, 2.0]


@right
def a_graph_that_was_dropped(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.data.mul_(3)
    del loss
    (w * w).sum().backward()
    return w.grad.tolist(), [6.0, 12.0, 18.0, 24.0]


@right
def nothing_saved(torch):
    w = leaf(torch)
    loss = (w + 1).sum()
    w.data.mul_(3)
    loss.backward()
    return w.grad.tolist(), [1.0] * 4


@right
def empty_part(torch):
    data, x = ramp(torch, 4), leaf(torch)
    loss = (x * data).sum()
    data.data[4:].fill_(7.0)
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


# ---- right: memory that others know ----


@right
def exported_after_the_save(torch):
    y = leaf(torch).exp()
    array = y.detach().numpy()
    return torch.autograd.grad(y.sum(), y)[0].tolist(), [1.0] * len(array)


@right
def export_of_another_row(torch):
    data, x = ramp(torch, 2, 4), leaf(torch)
    loss = (x * data[0]).sum()
    data[1].numpy()[:] = 0.0
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def export_of_all_and_write_of_another_row(torch):
    data, x = ramp(torch, 2, 4), leaf(torch)
    loss = (x * data[0]).sum()
    data.numpy()[1] = 0.0
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def scratch_filled_through_numpy(torch):
    data, x, total = torch.zeros(3, 4, dtype=torch.float64), leaf(torch), 0
    for k in range(3):
        data.numpy()[k] = k + 1.0
        total = total + (x * data[k]).sum()
    total.backward()
    return x.grad.tolist(), [6.0] * 4


@right
def numpy_memory_and_data(torch):
    np = numpy()
    array, x = np.ones((2, 4)), leaf(torch)
    data = torch.from_numpy(array)
    loss = (x * data[0]).sum()
    array[1] = 5.0
    data.data[1] += 1.0
    loss.backward()
    return x.grad.tolist(), [1.0] * 4


@right
def numpy_memory_put_back(torch):
    np = numpy()
    array, x = np.ones(4), leaf(torch)
    data = torch.from_numpy(array)
    loss = (x * data).sum()
    data.data.mul_(2)
    array[:] = 1.0
    loss.backward()
    return x.grad.tolist(), [1.0] * 4


@right
def dlpack_of_another_part(torch):
    data, x = ramp(torch, 8), leaf(torch)
    loss = (x * data[:4]).sum()
    torch.from_dlpack(data[4:]).zero_()
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@right
def exported_and_written_through_data(torch):
    data, x = ramp(torch, 2, 4), leaf(torch)
    loss = (x * data[0]).sum()
    array = data.numpy()
    data.data[1].zero_()
    array[1] += 1.0
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


# ---- wrong: a value that backward reads has changed ----


@wrong
def written_through_data(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.data.mul_(2)  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def one_element_of_many(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.data[2] = 7.0  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def the_first_of_two_writes(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.data[2] = 7.0  # WRITE
    w.data.mul_(1)
    w.data[0] = 1.0
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def a_write_before_others_elsewhere(torch):
    memory, x = ramp(torch, 8), leaf(torch)
    loss = (x * memory[:4]).sum()
    memory.data[3:5] = 0.0  # WRITE
    memory.data[4:] = 1.0
    memory.data[6:].mul_(2)
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@wrong
def put_back_wrongly(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.data.add_(1.0)
    w.data.sub_(0.5)  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def put_back_but_for_rounding(torch):
    w = leaf(torch, 0.1, 0.2, 0.3)
    loss = (w * w).sum()
    w.data.add_(1e9)
    w.data.sub_(1e9)  # WRITE
    loss.backward()
    return w.grad.tolist(), [0.2, 0.4, 0.6]


@wrong
def clamp_that_bites_the_second_time(torch):
    w = leaf(torch)
    first = (w * w).sum()
    w.data.clamp_(max=2.5)  # WRITE
    (first + (w * w).sum()).backward()
    return w.grad.tolist(), [4.0, 8.0, 6.0 + 5.0, 8.0 + 5.0]


@wrong
def averaged_weights_left_in(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.data.copy_(torch.zeros(4, dtype=torch.float64))  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def assigned_other_memory(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.data = torch.zeros(4, dtype=torch.float64)  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def assigned_memory_that_lives_on(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    kept = torch.ones(4, dtype=torch.float64)
    w.data = kept  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def assigned_an_equal_copy_and_written(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    w.data = w.data.clone()
    w.data.neg_()  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def written_then_assigned_back(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    backup = w.data
    backup.neg_()  # WRITE
    w.data = torch.zeros(4, dtype=torch.float64)
    w.data = backup
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def written_while_it_was_away(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    backup = w.data
    w.data = torch.zeros(4, dtype=torch.float64)
    backup.neg_()
    w.data = backup  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def another_part_of_the_same_memory(torch):
    memory = ramp(torch, 8)
    w = torch.nn.Parameter(memory[:4])
    loss = (w * w).sum()
    w.data = memory[4:]  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def a_part_of_unsafe_split_and_its_base(torch):
    a = leaf(torch)
    y = a.exp()
    p, _ = y.detach().unsafe_split(2)
    p.zero_()  # WRITE
    y.sum().backward()
    return a.grad.tolist(), [math.exp(v) for v in (1, 2, 3, 4)]


@wrong
def a_gate_written_after_its_use(torch):
    a = leaf(torch)
    i, f = (a * 1).unsafe_chunk(2)
    loss = (i.exp() * f).sum()
    f.data.zero_()  # WRITE
    loss.backward()
    return a.grad.tolist(), [3 * math.exp(1), 4 * math.exp(2), math.exp(1), math.exp(2)]


@wrong
def set_on_the_same_memory(torch):
    data, x = ramp(torch, 4), leaf(torch)
    loss = (x * data).sum()
    other = torch.empty(0, dtype=torch.float64).set_(data)
    other[1] = 9.0  # WRITE
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@wrong
def ring_buffer_that_wraps(torch):
    ring, x, total = torch.zeros(3, 4, dtype=torch.float64), leaf(torch), 0
    for t in range(5):
        ring.data[t % 3] = float(t)  # WRITE
        total = total + (x * ring[t % 3]).sum()
    total.backward()
    return x.grad.tolist(), [10.0] * 4


@wrong
def a_column_that_meets_a_row(torch):
    m, x = ramp(torch, 4, 4), leaf(torch)
    loss = (x * m[1]).sum()
    m.data[:, 3] = 0.0  # WRITE
    loss.backward()
    return x.grad.tolist(), [5.0, 6.0, 7.0, 8.0]


@wrong
def the_imaginary_part_of_what_was_saved(torch):
    z = torch.complex(ramp(torch, 4), ramp(torch, 4))
    x = leaf(torch)
    loss = (x * z).abs().square().sum()
    z.data.imag.zero_()  # WRITE
    loss.backward()
    return x.grad.tolist(), [4.0 * v**3 for v in (1, 2, 3, 4)]


@wrong
def strided_windows_that_meet(torch):
    memory, x = ramp(torch, 12), leaf(torch)
    loss = (x * memory.as_strided((2, 4), (6, 1))).sum()
    memory.data.as_strided((2, 2), (6, 1), 3).zero_()  # WRITE
    loss.backward()
    return x.grad.tolist(), [8.0, 10.0, 12.0, 14.0]


@wrong
def the_second_of_two_saves(torch):
    data, x = ramp(torch, 4), leaf(torch)
    first = (x * data).sum()
    data.data.mul_(2)
    second = (x * data).sum()
    data.data.div_(2)  # WRITE
    (first + second).backward()
    return x.grad.tolist(), [3.0, 6.0, 9.0, 12.0]


@wrong
def overlapping_windows_put_back_but_one(torch):
    w = leaf(torch)
    loss = (w * w).sum()
    for k in range(3):
        w.data[k : k + 2] += 1.0
    w.data.copy_(torch.tensor([1.0, 2.0, 3.0, 4.5]))  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def saved_by_a_custom_function_and_written(torch):
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x * y

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0], None

    data, x = ramp(torch, 4), leaf(torch)
    y = Times.apply(x, data)
    data.data[3] = 0.0  # WRITE
    y.sum().backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@wrong
def in_a_hook_before_it_is_read(torch):
    w = leaf(torch)
    y = w * w
    z = y * 1
    z.register_hook(lambda grad: (w.data.zero_(), None)[1])  # WRITE
    z.sum().backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def an_index_that_moves(torch):
    index, x = torch.tensor([0, 1]), leaf(torch)
    loss = x[index].sum()
    index.data.add_(2)  # WRITE
    loss.backward()
    return x.grad.tolist(), [1.0, 1.0, 0.0, 0.0]


@wrong
def out_into_what_was_saved(torch):
    data, x = torch.ones(4, dtype=torch.float64), leaf(torch)
    loss = (x * data).sum()
    torch.exp(torch.ones(4, dtype=torch.float64), out=data.data)  # WRITE
    loss.backward()
    return x.grad.tolist(), [1.0] * 4


@wrong
def a_large_tensor(torch):
    w = torch.ones(100_000, dtype=torch.float64, requires_grad=True)
    loss = (w * w).sum()
    w.data[99_999:] = 3.0  # WRITE
    loss.backward()
    return w.grad.tolist(), [2.0] * 100_000


@wrong
def a_step_by_data_before_backward(torch):
    w = leaf(torch)
    (w * w).sum().backward()
    loss = (w * w).sum()
    w.data.sub_(w.grad, alpha=0.1)  # WRITE
    w.grad = None
    loss.backward()
    return w.grad.tolist(), [2.0, 4.0, 6.0, 8.0]


@wrong
def numpy_after_the_save(torch):
    data, x = ramp(torch, 4), leaf(torch)
    loss = (x * data).sum()
    array = data.numpy()
    array[0] = 9.0  # WRITE
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@wrong
def numpy_of_a_row_after_the_save(torch):
    data, x = ramp(torch, 2, 4), leaf(torch)
    loss = (x * data).sum()
    array = data[1].numpy()
    array[3] = 9.0  # WRITE
    loss.backward()
    return x.grad.tolist(), [6.0, 8.0, 10.0, 12.0]


@wrong
def numpy_after_the_save_and_data_elsewhere(torch):
    data, x = ramp(torch, 2, 4), leaf(torch)
    loss = (x * data[0]).sum()
    array = data.numpy()
    array[0, 0] = 9.0  # WRITE
    data.data[1] = 0.0
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@wrong
def dlpack_after_the_save(torch):
    data, x = ramp(torch, 4), leaf(torch)
    loss = (x * data).sum()
    other = torch.from_dlpack(data)  # WRITE
    other.zero_()
    loss.backward()
    return x.grad.tolist(), [1.0, 2.0, 3.0, 4.0]


@wrong
def data_of_exported_memory(torch):
    data, x = ramp(torch, 4), leaf(torch)
    loss = (x * data).sum()
    array = data.numpy()
    data.data.mul_(2)  # WRITE
    loss.backward()
    return x.grad.tolist(), (array / 2).tolist()


@wrong
def data_of_numpy_memory(torch):
    array, x = numpy().ones(4), leaf(torch)
    data = torch.from_numpy(array)
    loss = (x * data).sum()
    data.data.mul_(2)  # WRITE
    loss.backward()
    return x.grad.tolist(), [1.0] * 4
