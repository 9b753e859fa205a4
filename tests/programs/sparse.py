"""Sparse tensors: making them, computing with them, gradients to dense and sparse operands, and what refuses them."""

import copy
import io
import pickle
import warnings

from tests.programs import differs


def _parts(x):
    """What a tensor is made of, in a form that is compared number by number."""
    kind = str(x.layout)
    if kind == "torch.sparse_coo":
        return [kind, tuple(x.shape), str(x.dtype), x._indices(), x._values()]
    if kind in ("torch.sparse_csr", "torch.sparse_bsr"):
        return [kind, tuple(x.shape), str(x.dtype), x.crow_indices(), x.col_indices(), x.values().detach()]
    if kind in ("torch.sparse_csc", "torch.sparse_bsc"):
        return [kind, tuple(x.shape), str(x.dtype), x.ccol_indices(), x.row_indices(), x.values().detach()]
    return [kind, x.detach()]


def _tensors(torch):
    a = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3)).coalesce()
    b = torch.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, 2.0], (2, 3)).coalesce()
    u = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 7.0], (2, 3))
    h = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], torch.arange(6.0).reshape(3, 2), (2, 3, 2)).coalesce()
    return a, b, u, h


def made_of_indices_and_values(torch, show, attempt):
    i, v = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0])
    for make in (
        lambda: torch.sparse_coo_tensor(i, v, (2, 4)),
        lambda: torch.sparse_coo_tensor(i, v),
        lambda: torch.sparse_coo_tensor(i.tolist(), v.tolist(), torch.Size([2, 3])),
        lambda: torch.sparse_coo_tensor(i, v, (2, 3), dtype=torch.float64),
        lambda: torch.sparse_coo_tensor(i, torch.ones(3, 2), (2, 3, 2)),
        lambda: torch.sparse_coo_tensor(indices=i, values=v, size=(2, 3)),
        lambda: torch.sparse_coo_tensor((2, 3)),
        lambda: torch.sparse_coo_tensor(size=(2, 3), dtype=torch.int64),
        lambda: torch.sparse_coo_tensor(torch.empty(2, 0, dtype=torch.int64), torch.empty(0)),
        lambda: torch.sparse.FloatTensor(i, v, torch.Size([2, 3])),
        lambda: torch.sparse.FloatTensor(i, v),
        lambda: torch.sparse.FloatTensor(2, 3),
        lambda: torch.sparse.LongTensor(i, v.long()),
    ):
        x = make()
        show(*_parts(x), x.is_coalesced(), x._nnz(), x.sparse_dim(), x.dense_dim(), repr(x))
    for wrong in (
        lambda: torch.sparse_coo_tensor(i, v, (2,)),
        lambda: torch.sparse_coo_tensor(i[0], v),
        lambda: torch.sparse_coo_tensor(i, v[:2]),
        lambda: torch.sparse_coo_tensor(i, torch.ones(3, 3), (2, 3, 4)),
        lambda: torch.sparse_coo_tensor(-i, v),
        lambda: torch.sparse_coo_tensor(i, v, (2, 2), check_invariants=True),
        lambda: torch.sparse_coo_tensor(i),
        lambda: torch.sparse.FloatTensor([[0]], [1.0]),
    ):
        attempt(wrong)


def compressed(torch, show, attempt):
    crow, col, v = torch.tensor([0, 1, 3]), torch.tensor([2, 0, 2]), torch.tensor([3.0, 4.0, 5.0])
    for x in (
        torch.sparse_csr_tensor(crow, col, v, (2, 3)),
        torch.sparse_csr_tensor(crow, col, v, dtype=torch.float64),
        torch.sparse_csc_tensor([0, 1, 1, 3], [1, 0, 1], [4.0, 3.0, 5.0], (2, 3)),
        torch.sparse_compressed_tensor(crow, col, v, (2, 3), layout=torch.sparse_csr),
        torch.sparse_bsr_tensor([0, 1, 2], [0, 1], torch.arange(8.0).reshape(2, 2, 2)),
        torch.sparse_bsc_tensor([0, 1, 2], [0, 1], torch.arange(8.0).reshape(2, 2, 2)),
    ):
        show(*_parts(x), x.to_dense(), repr(x), x.is_sparse, x.is_sparse_csr)
    for layout in ("coo", "csr", "csc"):
        x = torch.tensor([[0.0, 2.0], [3.0, 0.0], [0.0, 5.0]])
        sparse = getattr(x, f"to_sparse_{layout}")()
        show(*_parts(sparse), sparse.to_dense())
        for other in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
            turned = sparse.to_sparse(layout=other)
            show(*_parts(turned.coalesce() if turned.is_sparse else turned))
        if layout != "coo":
            show(*_parts(sparse.t()), *_parts(sparse.transpose(0, 1)))
    show(*_parts(torch.eye(4).to_sparse_bsr((2, 2))), *_parts(torch.eye(4).to_sparse_bsc((2, 2))))
    for wrong in (
        lambda: torch.sparse_csr_tensor(crow, [0, 0, 5], v, (2, 3), check_invariants=True),
        lambda: torch.sparse_csr_tensor([1, 1, 3], col, v, (2, 3), check_invariants=True),
        lambda: torch.sparse_csr_tensor([0, 1, 2], col, v, (2, 3), check_invariants=True),
        lambda: torch.sparse_csr_tensor(crow, [2, 2, 0], v, (2, 3), check_invariants=True),
        lambda: torch.eye(3).to_sparse_bsr((2, 2)),
        lambda: torch.eye(3).crow_indices(),
        lambda: torch.eye(3).to_sparse_csr().indices(),
        lambda: torch.eye(3).to_sparse_csr().row_indices(),
        lambda: torch.eye(3).to_sparse_csr().coalesce(),
    ):
        attempt(wrong)


@differs("indices are checked when a tensor is made, whether that was asked for or not")
def indices_out_of_range(torch, attempt):
    attempt(lambda: torch.sparse_coo_tensor([[0], [5]], [1.0], (2, 3))._nnz())
    attempt(lambda: torch.sparse_csr_tensor([0, 1, 2], [0, 5], [1.0, 2.0], (2, 2))._nnz())


def parts_of_a_tensor(torch, show, attempt):
    a, _, u, h = _tensors(torch)
    for x in (a, u, h):
        show(x.layout, x.is_sparse, x.is_sparse_csr, x.shape, x.dtype, x.device, x.numel(), x.dim(), x.requires_grad, x.is_leaf)
        show(len(x), x.stride(), x.storage_offset(), x.element_size(), x.is_floating_point(), x.type(), isinstance(x, torch.Tensor))
        show(*_parts(x.coalesce()), x.is_coalesced(), x.coalesce().is_coalesced())
    show(a.indices(), a.values(), h.values(), torch.is_tensor(a), isinstance(a, torch.sparse.FloatTensor), isinstance(a, torch.FloatTensor))
    for wrong in (
        u.indices, u.values, a.numpy, a.item, a.data_ptr, a.untyped_storage, lambda: bool(a), lambda: float(a), lambda: a.nbytes,
        lambda: torch.ones(2).coalesce(), lambda: torch.ones(2).indices(), lambda: torch.ones(2).values(), lambda: torch.ones(2)._nnz(),
        lambda: a.crow_indices(), lambda: a.__dlpack__(),
    ):  # fmt: skip
        attempt(wrong)
    show(torch.ones(2).sparse_dim(), torch.ones(2).dense_dim(), torch.ones(2).to_dense())


def element_by_element(torch, show, attempt):
    a, b, u, h = _tensors(torch)
    dense = torch.arange(6.0).reshape(2, 3)
    for x in (
        a * 2, 2 * a, a / 2, -a, a + b, a - b, a * b, a * dense, dense * a, a * torch.ones(3), a * torch.tensor(2.0), a // 2, a**2, a + a.double(),
        a.add(b, alpha=3), torch.mul(a, 2), torch.sub(a, b), a.abs(), a.sqrt(), a.sin(), a.tanh(), a.relu(), a.sign(), a.log1p(), a.expm1(),
        a.floor(), a.isnan(), a.neg(), u.abs(), u.sqrt(), u.pow(2), u * 3, h * 2, h.relu(), a.long() * 2, a.long() / 2, torch.square(a), a.bool(),
        a.double(), a.to(torch.float64), a.half(), a.clone(), a.detach(), torch.zeros_like(a), torch.nn.functional.relu(a), a.erf(), a.trunc(),
    ):  # fmt: skip
        show(*_parts(x))
    show(*[(u + a).to_dense(), (a - u).to_dense(), dense + a, dense - a, torch.add(dense, u, alpha=2), a.norm(), a.any(), a.norm(1)])
    c = a.to_sparse_csr()
    for x in (c * 2, c + c, c.abs(), c.sin(), c * c, c * dense, c.double(), c.clone(), -c, c.relu()):
        show(*_parts(x))
    show(dense + c, c + dense)
    show(a.to("cpu") is a, a.cpu() is a, a.float() is a, a.coalesce() is a)
    for wrong in (
        lambda: a + 1, lambda: a + dense, lambda: 1 - a, lambda: a / dense, lambda: a / a, lambda: a**0, lambda: dense[0] + a, lambda: a + h,
        lambda: a.reshape(6), lambda: a.expand(2, 2, 3), lambda: a.flatten(), lambda: a.to_dense(torch.float64),
    ):  # fmt: skip
        attempt(wrong)


def what_does_not_take_them(torch, F, kind):
    a, b, _, _ = _tensors(torch)
    for f in (
        lambda: a.exp(), lambda: a.sigmoid(), lambda: a.cos(), lambda: a == b, lambda: a > 0, lambda: a.max(), lambda: a.mean(), lambda: a.view(6),
        lambda: a.sort(), lambda: a.nonzero(), lambda: a.clamp(0, 1), lambda: a.cumsum(0), lambda: a.argmax(), lambda: torch.softmax(a, 1),
        lambda: torch.ones_like(a), lambda: torch.rand_like(a), lambda: a[0:1], lambda: a[torch.tensor([0])], lambda: a.squeeze(),
        lambda: torch.equal(a, a), lambda: torch.allclose(a, a), lambda: F.dropout(a), lambda: a.prod(), lambda: a.std(), lambda: a.trace(),
        lambda: a.fill_(1), lambda: a.uniform_(), lambda: a.tril(), lambda: a.unique(), lambda: torch.linalg.vector_norm(a), lambda: 2**a,
        lambda: a % 2, lambda: 1 / a, lambda: torch.where(torch.ones(2, 3) > 0, a, a), lambda: F.cross_entropy(a, torch.tensor([0, 1])),
        lambda: a.split(1), lambda: a.narrow(0, 0, 1), lambda: torch.dot(a, a), lambda: a.pow_(2), lambda: a.exp_(),
    ):  # fmt: skip
        kind(f)


def matrix_products(torch, F, show, attempt):
    a, b, u, h = _tensors(torch)
    w, v, stacked = torch.arange(6.0).reshape(3, 2), torch.arange(3.0), torch.stack([a, b])
    for x in (
        a @ w, u @ w, torch.mm(a, w), torch.sparse.mm(a, w), torch.spmm(a, w), torch.matmul(a, w), a @ v, a.mv(v), torch.ones(2, 2) @ a,
        torch.addmm(torch.ones(2, 2), a, w, beta=2, alpha=3), torch.sparse.addmm(torch.ones(2, 2), a, w), torch.ones(2, 2).addmm(a, w),
        torch.bmm(stacked, torch.stack([w, w])), F.linear(a, torch.ones(4, 3), torch.ones(4)), a.double() @ w.double(), a.long() @ w.long(),
        a.to_sparse_csr() @ w, a.to_sparse_csc() @ w, a.to_sparse_csr() @ v, w.t() @ a.to_sparse_csr().t(), a.t() @ torch.ones(2, 2),
    ):  # fmt: skip
        show(*_parts(x))
    for x in (a @ b.t(), torch.sparse.mm(a, b.t()), u @ a.t(), a.to_sparse_csr() @ b.t().coalesce().to_sparse_csr()):
        show(x.layout, x.to_dense())
    for x in (torch.smm(a, w), torch.hspmm(a, w)):
        show(*_parts(x))
    show(torch.sspaddmm(b.t() @ a, torch.eye(3).to_sparse(), torch.ones(3, 3)).to_dense())
    show(*_parts(torch.sparse.sampled_addmm(a.to_sparse_csr(), torch.ones(2, 2), torch.arange(6.0).reshape(2, 3), beta=2, alpha=3)))
    for wrong in (
        lambda: a @ torch.ones(4, 2), lambda: torch.sparse.mm(a, torch.ones(4, 2)), lambda: a.mv(torch.ones(4)), lambda: a @ w.double(),
        lambda: torch.bmm(stacked, torch.ones(3, 3, 2)), lambda: torch.addmm(a, a, torch.ones(3, 3)),
    ):  # fmt: skip
        attempt(wrong)


def shapes(torch, show, attempt):
    a, b, u, h = _tensors(torch)
    for x in (
        a.t(), a.T, a.mT, a.transpose(0, 1), a.permute(1, 0), h.transpose(0, 1), h.permute(1, 0, 2), u.t(), a[0], a[-1], a[:, 2], h[1], h[..., 1],
        h[:, 2], a[None], a.select(0, 1), h.select(2, 0), a.unsqueeze(0), a.unsqueeze(1), h.unsqueeze(3), torch.cat([a, u]), torch.cat([a, b], 1),
        torch.cat([h, h], 2), torch.stack([a, b]), torch.stack([a, b], -1), torch.vstack([a, b]), torch.hstack([a, b]),
        a.index_select(0, torch.tensor([1, 0])), h.index_select(2, torch.tensor([1, 0])), *a.unbind(), *list(a),
    ):  # fmt: skip
        show(*_parts(x))
    show(a[0, 1], a[1, 2], h[0, 2], h[1, 2, 1], h.index_select(1, torch.tensor([2, 2, 0])).to_dense())
    for wrong in (
        lambda: a[7], lambda: h.transpose(1, 2), lambda: h.t(), lambda: torch.cat([a, torch.ones(2, 3)]), lambda: torch.cat([a, h[0]]),
        lambda: a.index_select(0, torch.tensor([5])), lambda: a.index_select(0, 1), lambda: a.select(5, 0),
    ):  # fmt: skip
        attempt(wrong)


def sums(torch, show, attempt):
    a, _, u, h = _tensors(torch)
    for x in (
        a.sum(), a.sum(0), a.sum(1), a.sum((0, 1)), a.sum(1, keepdim=True), h.sum(0), h.sum(2), h.sum((0, 1)), u.sum(0), a.sum(dtype=torch.float64),
        torch.sparse.sum(a), torch.sparse.sum(a, 0), torch.sparse.sum(a, -1), torch.sparse.sum(h, 0), torch.sparse.sum(h, 2), torch.sparse.sum(h, (0, 2)),
        torch.sparse.sum(h, (0, 1)), torch.sparse.sum(h, (0, 1, 2)), torch.sparse.sum(a, 0, dtype=torch.float64), torch.sparse.sum(a.int(), 0),
        torch.sparse.softmax(a, 0), torch.sparse.softmax(a, 1), torch.sparse.softmax(h, 1), torch.sparse.softmax(h, 2), torch.sparse.log_softmax(h, 0),
        torch.sparse.softmax(u, 1), torch.sparse.softmax(a, 1, dtype=torch.float64), a.to_sparse_csr().sum(), a.to_sparse_csr().sum(1, keepdim=True),
    ):  # fmt: skip
        show(*_parts(x))
    for wrong in (lambda: torch.sparse.sum(a, 5), lambda: torch.sparse.sum(torch.ones(2)), lambda: a.to_sparse_csr().sum(0)):
        attempt(wrong)


def masks_and_diagonals(torch, show, attempt):
    a, _, u, h = _tensors(torch)
    dense = torch.arange(6.0).reshape(2, 3)
    for x in (dense.sparse_mask(a), a.sparse_mask(u), h.to_dense().sparse_mask(h), dense.sparse_mask(a.to_sparse_csr())):
        show(*_parts(x))
    show(*_parts(torch.sparse.spdiags(torch.arange(6.0).reshape(2, 3), torch.tensor([0, 1]), (3, 3))))
    show(*_parts(torch.sparse.spdiags(torch.ones(2, 3), torch.tensor([0, -1]), (3, 3), torch.sparse_csr)))
    with torch.sparse.check_sparse_tensor_invariants():
        show(torch.sparse.check_sparse_tensor_invariants.is_enabled())
    show(torch.sparse.check_sparse_tensor_invariants.is_enabled())
    for wrong in (lambda: dense.sparse_mask(h), lambda: torch.sparse.spdiags(torch.ones(2, 3), torch.tensor([0, 0]), (3, 3))):
        attempt(wrong)


def writes(torch, show, attempt):
    a, b, u, _ = _tensors(torch)
    dense = torch.arange(6.0).reshape(2, 3)
    for write in (
        lambda x: x.mul_(2), lambda x: x.add_(b), lambda x: x.sub_(b, alpha=2), lambda x: x.div_(2), lambda x: x.zero_(), lambda x: x.neg_(),
        lambda x: x.copy_(b), lambda x: x.sqrt_(), lambda x: x.t_(), lambda x: x.mul_(dense), lambda x: x.sparse_resize_((3, 4), 2, 0),
        lambda x: x.sparse_resize_and_clear_((3, 4), 2, 0), lambda x: x.resize_as_sparse_(torch.eye(3).to_sparse()),
    ):  # fmt: skip
        x = a.clone()
        show(write(x) is x, *_parts(x))
    x = dense.clone()
    show(x.add_(a) is x, x, x.sub_(u), x.mul_(a), x.addmm_(a, torch.ones(3, 3)))
    leaf = a.clone().requires_grad_()
    for wrong in (
        lambda: leaf.mul_(2), lambda: leaf.zero_(), lambda: u.abs_(), lambda: a.clone().add_(dense), lambda: a.clone().copy_(dense),
        lambda: dense.copy_(a), lambda: a.clone().sparse_resize_((1, 1), 2, 0), lambda: a.clone().sparse_resize_((2, 3), 1, 0),
    ):  # fmt: skip
        attempt(wrong)
    with torch.no_grad():
        show(*_parts(leaf.mul_(2)))


def _weighted(x):
    x = x.to_dense()
    weights = x.detach().new_ones(x.numel()).cumsum(0).reshape(x.shape)
    return (x * weights).sum()


def gradients_of_sparse_operands(torch, show):
    """At the places of the operand: PyTorch's gradient may have others, or be dense."""
    for f in (
        lambda a, b, d, w: a.to_dense(), lambda a, b, d, w: a @ w, lambda a, b, d, w: torch.sparse.mm(a, w), lambda a, b, d, w: a @ w[:, 0],
        lambda a, b, d, w: a * 2, lambda a, b, d, w: a + b, lambda a, b, d, w: a - b, lambda a, b, d, w: a * d, lambda a, b, d, w: d + a,
        lambda a, b, d, w: a.sum(), lambda a, b, d, w: torch.sparse.sum(a, 0), lambda a, b, d, w: torch.sparse.sum(a, 1), lambda a, b, d, w: a.t(),
        lambda a, b, d, w: a.t() @ d @ w, lambda a, b, d, w: a.values(), lambda a, b, d, w: a.pow(2), lambda a, b, d, w: a.relu(),
        lambda a, b, d, w: torch.sparse.softmax(a, 1), lambda a, b, d, w: torch.sparse.addmm(d[:, :2], a, w), lambda a, b, d, w: a.double(),
        lambda a, b, d, w: a.clone(), lambda a, b, d, w: -a / 2, lambda a, b, d, w: a.to_sparse_csr(), lambda a, b, d, w: torch.stack([a, b]),
        lambda a, b, d, w: a.to_sparse_csr() @ w, lambda a, b, d, w: torch.bmm(torch.stack([a, b]), torch.stack([w, w])),
    ):  # fmt: skip
        a, b, _, _ = _tensors(torch)
        a, b = a.requires_grad_(), b.requires_grad_()
        d, w = torch.arange(6.0).reshape(2, 3).requires_grad_(), torch.arange(6.0).reshape(3, 2).requires_grad_()
        _weighted(f(a, b, d, w)).backward()
        for x in (a, b):
            show(x.grad is None or x.grad.to_dense()[tuple(x.indices())])
        for x in (d, w):
            show(x.grad is None or x.grad.to_dense())


def gradients_of_values(torch, show):
    i = torch.tensor([[0, 1, 1], [2, 0, 2]])
    for make in (
        lambda v: torch.sparse_coo_tensor(i, v, (2, 3)),
        lambda v: torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], v, (2, 3)),
        lambda v: torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], v, (2, 3)).coalesce(),
        lambda v: torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], v, (2, 3)),
    ):
        for use in (lambda x: x.to_dense(), lambda x: torch.sparse.mm(x, torch.arange(6.0).reshape(3, 2)), lambda x: (x * 2).to_dense()):
            v = torch.tensor([3.0, 4.0, 5.0], requires_grad=True)
            _weighted(use(make(v))).backward()
            show(v.grad)
    d = torch.tensor([[0.0, 2.0], [3.0, 0.0]], requires_grad=True)
    _weighted(d.to_sparse() * 3).backward()
    _weighted(d.to_sparse_csr()).backward()
    _weighted(d.sparse_mask(torch.eye(2).to_sparse())).backward()
    show(d.grad)


def gradients_that_add_up(torch, show):
    a, _, _, _ = _tensors(torch)
    a = a.requires_grad_()
    for _ in range(2):
        _weighted(a).backward()
        show(a.grad.to_dense())
    a.grad = None
    (_weighted(a * 2) + _weighted(a)).backward()
    show(a.grad.to_dense(), a.grad.requires_grad)
    seen = []
    a.register_hook(lambda g: seen.append((str(g.layout), g.to_dense())))
    _weighted(a).backward()
    show(seen)
    out = torch.sparse.mm(a, torch.ones(3, 2)).sum()
    (g,) = torch.autograd.grad(out, a)
    show(g.layout, g.to_dense())
    y = a * 3
    y.backward(torch.sparse_coo_tensor(a.indices(), torch.ones(3), (2, 3)))
    show(a.grad.to_dense())


def embeddings(torch, nn, F, show, attempt):
    def table():
        return torch.arange(12.0).reshape(4, 3).requires_grad_()

    for indices, options in (
        ([1, 3, 1], {}), ([[1, 2], [1, 0]], {}), ([1, 2, 1], {"padding_idx": 2}), ([], {}), ([0, 3], {"max_norm": 5.0}),
    ):  # fmt: skip
        w = table()
        i = torch.tensor(indices, dtype=torch.int64)
        with torch.set_grad_enabled("max_norm" not in options):
            w = w.detach().requires_grad_() if "max_norm" in options else w
        _weighted(F.embedding(i, w, sparse=True, **options)).backward()
        show(*_parts(w.grad), w.grad.is_coalesced(), repr(w.grad))
    for options in (
        {"mode": "sum"},
        {"mode": "mean"},
        {"mode": "sum", "padding_idx": 2},
        {"mode": "sum", "per_sample_weights": torch.arange(4.0)},
    ):
        w = table()
        _weighted(F.embedding_bag(torch.tensor([1, 2, 1, 3]), w, torch.tensor([0, 2]), sparse=True, **options)).backward()
        show(*_parts(w.grad))
    w = table()
    F.embedding(torch.tensor([1]), w, sparse=True).sum().backward()
    F.embedding(torch.tensor([1, 2]), w, sparse=True).sum().backward()
    show(*_parts(w.grad))
    (w * 2).sum().backward()
    show(*_parts(w.grad))
    F.embedding(torch.tensor([1]), w, sparse=True).sum().backward()
    show(*_parts(w.grad))
    w = table()
    (F.embedding(torch.tensor([0]), w, sparse=True).sum() + w.sum()).backward()
    show(*_parts(w.grad))
    m = nn.Embedding(4, 3, sparse=True)
    m(torch.tensor([2, 2])).sum().backward()
    show(m, *_parts(m.weight.grad))
    attempt(lambda: F.embedding_bag(torch.tensor([1]), table(), torch.tensor([0]), mode="max", sparse=True))
    attempt(lambda: F.embedding(torch.tensor([1]), table(), scale_grad_by_freq=True, sparse=True).sum().backward())
    w = table()
    x = F.embedding(torch.tensor([1]), w, sparse=True)
    (g,) = torch.autograd.grad((x**2).sum(), w, create_graph=True)
    show(*_parts(torch.autograd.grad(torch.sparse.sum(g), w)[0]))


def optimizers(torch, F, show, attempt):
    def steps(name, **options):
        w = torch.arange(12.0).reshape(4, 3).requires_grad_()
        optimizer = getattr(torch.optim, name)([w], lr=0.1, **options)
        for i in ([1, 3, 1], [0, 3], [1, 1]):
            optimizer.zero_grad()
            _weighted(F.embedding(torch.tensor(i), w, sparse=True)).backward()
            optimizer.step()
        state = {k: v.to_dense() if isinstance(v, torch.Tensor) else v for k, v in optimizer.state[w].items()}
        show(name, w.detach(), state)

    for options in ({}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}, {"maximize": True}, {"momentum": 0.9, "dampening": 0.5}):
        steps("SGD", **options)
    for options in ({}, {"lr_decay": 0.1, "initial_accumulator_value": 0.5}, {"maximize": True}):
        steps("Adagrad", **options)
    for options in ({}, {"betas": (0.5, 0.9), "eps": 0.1}, {"maximize": True}):
        steps("SparseAdam", **options)
    attempt(lambda: steps("SGD", weight_decay=0.1))
    attempt(lambda: steps("SGD", fused=True))
    attempt(lambda: steps("Adagrad", weight_decay=0.1))
    for name in ("Adam", "AdamW", "RMSprop", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "Rprop", "Adafactor", "Muon"):
        attempt(lambda name=name: steps(name))
    attempt(lambda: torch.optim.SparseAdam([torch.eye(2).to_sparse().requires_grad_()]))
    w = torch.arange(12.0).reshape(4, 3).requires_grad_()
    F.embedding(torch.tensor([1]), w, sparse=True).sum().backward()
    torch.optim.SGD([w], lr=0.1).zero_grad(set_to_none=False)
    show(*_parts(w.grad))


def files_and_copies(torch, nn, show):
    a, _, u, h = _tensors(torch)
    for x in (a, u, h, a.to_sparse_csr(), a.to_sparse_csc(), torch.eye(4).to_sparse_bsr((2, 2)), a.clone().requires_grad_()):
        file = io.BytesIO()
        torch.save({"x": x}, file)
        file.seek(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            show(*_parts(torch.load(file)["x"]))
        show(*_parts(pickle.loads(pickle.dumps(x))))
        if x.is_sparse:
            show(*_parts(copy.deepcopy(x)), copy.deepcopy(x).requires_grad)

    class Graph(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("adjacency", a.clone())
            self.weight = nn.Parameter(u.clone())

    m = Graph()
    show(list(m.state_dict()), *_parts(m.state_dict()["adjacency"]), isinstance(m.weight, nn.Parameter), len(list(m.parameters())))
    show(*_parts(m.double().adjacency), m.adjacency.dtype, repr(m.weight))


def a_graph_convolution(torch, nn, F, show):
    """As programs for citation graphs do it: a normalised adjacency, two layers, Adam."""

    class Layer(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.weight = nn.Parameter(torch.arange(float(inputs * outputs)).reshape(inputs, outputs).sin() * 0.5)
            self.bias = nn.Parameter(torch.zeros(outputs))

        def forward(self, x, adjacency):
            return torch.spmm(adjacency, torch.mm(x, self.weight)) + self.bias

    edges = torch.tensor([[0, 1, 1, 2, 3, 4, 4, 0], [1, 0, 2, 1, 4, 3, 0, 4]])
    adjacency = torch.sparse.FloatTensor(edges, torch.ones(8), torch.Size([5, 5]))
    adjacency = (adjacency + torch.eye(5).to_sparse()).coalesce()
    degree = torch.sparse.sum(adjacency, 1).to_dense()
    scale = degree.pow(-0.5)
    rows, columns = adjacency.indices()
    normal = torch.sparse_coo_tensor(adjacency.indices(), adjacency.values() * scale[rows] * scale[columns], adjacency.shape)
    first, second = Layer(3, 4), Layer(4, 2)
    x, labels = torch.arange(15.0).reshape(5, 3).cos(), torch.tensor([0, 1, 0, 1, 1])
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        loss = F.nll_loss(F.log_softmax(second(F.relu(first(x, normal)), normal), 1), labels)
        loss.backward()
        optimizer.step()
        show(loss.detach())
    show(first.weight.grad)


def attention_over_edges(torch, F, Function, show):
    """A product of one's own with saved sparse tensors, as graph attention networks have it."""

    class Product(Function):
        @staticmethod
        def forward(ctx, indices, values, shape, b):
            a = torch.sparse_coo_tensor(indices, values, shape)
            ctx.save_for_backward(a, b)
            ctx.rows = shape[0]
            return torch.matmul(a, b)

        @staticmethod
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            dense = grad.matmul(b.t())
            edges = a._indices()[0, :] * ctx.rows + a._indices()[1, :]
            return None, dense.view(-1)[edges], None, a.t().matmul(grad)

    edges = torch.tensor([[0, 1, 2, 2], [1, 0, 0, 2]])
    values = torch.tensor([0.5, 1.0, -1.0, 2.0], requires_grad=True)
    b = torch.arange(6.0).reshape(3, 2).requires_grad_()
    _weighted(Product.apply(edges, values, torch.Size([3, 3]), b)).backward()
    show(values.grad, b.grad)
    weights = torch.sparse.softmax(torch.sparse_coo_tensor(edges, values.detach(), (3, 3)), 1)
    show(weights.to_dense())


def older_names_and_copies(torch, show):
    dense = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    s, d = dense.to_sparse(), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    show(torch.dsmm(s, d), torch.hsmm(s, d).to_dense(), torch.saddmm(s, s, d, beta=2, alpha=3).to_dense())
    rows, columns = s.to_sparse_csr(), s.to_sparse_csc()
    show(torch.crow_indices_copy(rows), torch.col_indices_copy(rows), torch.values_copy(rows))
    show(torch.ccol_indices_copy(columns), torch.row_indices_copy(columns), torch.values_copy(columns))
    copy = torch.values_copy(rows)
    copy.zero_()
    show(rows.to_dense())
    show(torch.resize_as_sparse_(torch.sparse_coo_tensor(size=(3,)), s).shape)
