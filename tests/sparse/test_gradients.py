"""Derivatives of what is computed with sparse tensors: against differences, to the second order, and as leaves, graphs and hooks see them."""

import gc
import weakref

import pytest

import retrograd as torch
from retrograd.autograd import gradcheck, gradgradcheck

F = torch.nn.functional
PLACES = torch.tensor([[0, 1, 1, 2], [2, 0, 2, 1]])
TWICE = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])  # one place is there two times


def coo(v, places=PLACES):
    return torch.sparse_coo_tensor(places, v, (3, 3))


def csr(v):
    return torch.sparse_csr_tensor([0, 1, 3, 4], [2, 0, 2, 1], v, (3, 3))


def dense(*shape):
    return torch.arange(1.0, 1 + torch.Size(shape).numel(), dtype=torch.float64).reshape(shape).sin()


FUNCTIONS = {
    "to_dense": lambda v, d: coo(v).to_dense(),
    "coalesce": lambda v, d: coo(v, TWICE).coalesce().values(),
    "twice to_dense": lambda v, d: coo(v, TWICE).to_dense(),
    "mm": lambda v, d: coo(v) @ d,
    "mm twice": lambda v, d: coo(v, TWICE) @ d,
    "mm csr": lambda v, d: csr(v) @ d,
    "mm csc": lambda v, d: csr(v).to_sparse_csc() @ d,
    "dense mm": lambda v, d: d.t() @ coo(v),
    "mv": lambda v, d: coo(v) @ d[:, 0],
    "addmm": lambda v, d: torch.sparse.addmm(d, coo(v), d, beta=2, alpha=3),
    "sparse mm": lambda v, d: (coo(v) @ coo(v * 2).t()).to_dense(),
    "bmm": lambda v, d: torch.bmm(torch.stack([coo(v), coo(v * v)]), torch.stack([d, d * d])),
    "sampled": lambda v, d: torch.sparse.sampled_addmm(csr(v), d, d.t()).values(),
    "mul": lambda v, d: (coo(v) * (d @ d.t())).to_dense(),
    "mul sparse": lambda v, d: (coo(v) * coo(v.sin(), TWICE)).to_dense(),
    "add dense": lambda v, d: (d @ d.t()) + coo(v, TWICE),
    "add": lambda v, d: (coo(v) + 3 * coo(v * v, TWICE)).to_dense(),
    "sum": lambda v, d: torch.sparse.sum(coo(v) ** 2, 0).to_dense(),
    "softmax": lambda v, d: torch.sparse.softmax(coo(v), 1).to_dense(),
    "log_softmax": lambda v, d: torch.sparse.log_softmax(coo(v), 0).values(),
    "shapes": lambda v, d: torch.cat([coo(v).t(), coo(v * v)], 1)[1].to_dense(),
    "index_select": lambda v, d: coo(v).index_select(1, torch.tensor([2, 0, 2])).to_dense(),
    "functions": lambda v, d: (coo(v, TWICE).tanh().sin() * 2 / 3 - coo(v).abs()).to_dense(),
    "norm": lambda v, d: coo(v, TWICE).norm(),
    "mask": lambda v, d: (d @ d.t()).sparse_mask(coo(v).coalesce()).values() * v,
    "to_sparse": lambda v, d: (d @ d.t()).to_sparse().sin().to_dense() * v.sum(),
    "layouts": lambda v, d: coo(v).to_sparse_csr().to_sparse_csc().to_sparse_coo().to_dense(),
    "blocks": lambda v, d: torch.sparse_bsr_tensor([0, 1], [0], v.reshape(1, 2, 2)).to_dense() @ d[:2],
    "hybrid": lambda v, d: torch.sparse.sum(torch.sparse_coo_tensor([[0, 2]], v.reshape(2, 2), (3, 2)) * 2, 0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    f = FUNCTIONS[name]
    v = torch.tensor([0.5, -1.25, 2.0, 0.75], dtype=torch.float64, requires_grad=True)
    d = dense(3, 2).requires_grad_()
    assert gradcheck(f, (v, d), raise_exception=True)
    assert gradgradcheck(f, (v, d), raise_exception=True)


def test_embedding_derivatives():
    w = dense(4, 3).requires_grad_()
    i = torch.tensor([[1, 3], [1, 0]])
    dense_grad = torch.autograd.grad((F.embedding(i, w) ** 3).sum(), w)[0]
    sparse_grad = torch.autograd.grad((F.embedding(i, w, sparse=True) ** 3).sum(), w, create_graph=True)[0]
    assert sparse_grad.is_sparse and torch.equal(sparse_grad.to_dense(), dense_grad)
    second = torch.autograd.grad((sparse_grad.to_dense() ** 2).sum(), w)[0]
    again = torch.autograd.grad((F.embedding(i, w) ** 3).sum(), w, create_graph=True)[0]
    torch.testing.assert_close(second.to_dense(), torch.autograd.grad((again**2).sum(), w)[0])


def test_forward_mode_of_dense_operands():
    a, d, t = coo(torch.tensor([1.0, 2.0, 3.0, 4.0])), torch.ones(3, 2), torch.arange(6.0).reshape(3, 2)
    value, tangent = torch.func.jvp(lambda x: a @ x, (d,), (t,))
    assert torch.equal(value, a.to_dense() @ d) and torch.equal(tangent, a.to_dense() @ t)
    w = torch.arange(12.0).reshape(4, 3)
    i = torch.tensor([1, 3])
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(w.clone().requires_grad_(), w * 2)
        rows = F.embedding(i, dual, sparse=True)
        assert torch.equal(torch.autograd.forward_ad.unpack_dual(rows).tangent, (w * 2)[i])


def test_vmap_of_dense_operands():
    a, batch = coo(torch.tensor([1.0, 2.0, 3.0, 4.0])), torch.arange(24.0).reshape(4, 3, 2)
    assert torch.equal(torch.vmap(lambda x: a @ x)(batch), torch.stack([a.to_dense() @ x for x in batch]))


def test_the_gradient_of_a_leaf_has_its_places():
    for make in (lambda: coo(torch.ones(4)).coalesce(), lambda: csr(torch.ones(4)), lambda: coo(torch.ones(4), TWICE)):
        x = make().requires_grad_()
        (x @ torch.ones(3, 2)).sum().backward()
        (x.to_dense() * 3).sum().backward()
        assert x.grad.layout is x.layout and x.grad._nnz() <= x._nnz()
        expected = torch.zeros(3, 3)
        expected[tuple(x.to_sparse_coo().coalesce().indices().detach())] = 5
        assert torch.equal(x.grad.to_dense(), expected)


def test_nodes_of_dense_ops_get_dense_gradients():
    w = torch.arange(12.0).reshape(4, 3).requires_grad_()
    F.embedding(torch.tensor([0, 2]), (w * 2).t().t().exp() + w, sparse=True).sum().backward()
    expected = torch.zeros(4, 3)
    expected[[0, 2]] = (2 * (2 * w).exp() + 1)[[0, 2]].detach()
    torch.testing.assert_close(w.grad, expected)


def test_hooks_see_and_replace_sparse_gradients():
    w = torch.ones(4, 3, requires_grad=True)
    seen = []
    w.register_hook(lambda g: seen.append(g.layout) or g * 2)
    w.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.layout))
    F.embedding(torch.tensor([1]), w, sparse=True).sum().backward()
    assert seen == [torch.sparse_coo] * 2 and torch.equal(w.grad.to_dense()[1], torch.full((3,), 2.0))
    w.register_hook(lambda g: g.to_dense())
    F.embedding(torch.tensor([1]), w, sparse=True).sum().backward()
    assert w.grad.layout is torch.strided and torch.equal(w.grad[1], torch.full((3,), 4.0))


def test_retain_grad_and_saved_outputs():
    v = torch.ones(4, requires_grad=True)
    x = coo(v)
    x.retain_grad()
    y = x * 2
    y.retain_grad()
    y.to_dense().sum().backward()
    assert x.grad.is_sparse and torch.equal(x.grad._values(), torch.full((4,), 2.0)) and y.grad.is_sparse

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x * 2
            ctx.save_for_backward(out, x)
            return out

        @staticmethod
        def backward(ctx, grad):
            out, x = ctx.saved_tensors
            assert out.is_sparse and torch.equal(out._values(), 2 * x._values())
            return grad * 2

    leaf = coo(torch.ones(4)).requires_grad_()
    Doubled.apply(leaf).to_dense().sum().backward()
    assert torch.equal(leaf.grad._values(), torch.full((4,), 2.0))


def test_dtypes_of_gradients():
    leaf = coo(torch.ones(4)).requires_grad_()
    (leaf.double() * 3).to_dense().sum().backward()
    assert leaf.grad.dtype is torch.float32
    half = coo(torch.ones(4, dtype=torch.float16), TWICE).requires_grad_()
    (half @ torch.ones(3, 2, dtype=torch.float16)).sum().backward()
    assert half.grad.dtype is torch.float16


def test_complex_products():
    v = torch.tensor([1 + 2j, 3 - 1j, 2j, 1.0], dtype=torch.complex128, requires_grad=True)
    d = torch.complex(dense(3, 2), dense(3, 2).cos()).requires_grad_()
    assert gradcheck(lambda v, d: coo(v) @ d, (v, d))
    assert gradcheck(lambda v, d: d.mH @ coo(v).mH, (v, d))


def test_nothing_is_kept_alive():
    leaf = coo(torch.ones(4)).requires_grad_()
    out = (leaf * 2) @ torch.ones(3, 2)
    dead = weakref.ref(out), weakref.ref(leaf)
    out.sum().backward()
    del out, leaf
    gc.collect()
    assert dead[0]() is None and dead[1]() is None


def test_threads_give_the_same_bits():
    torch.manual_seed(0)
    a = torch.sparse_coo_tensor(torch.randint(0, 500, (2, 20000)), torch.rand(20000), (500, 500))
    x, before = torch.rand(500, 70), torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append((a @ x, a.coalesce() @ x, a.t() @ x, a.coalesce().values()))
        for other in found[1:]:
            assert all(torch.equal(p, q) for p, q in zip(found[0], other, strict=True))
    finally:
        torch.set_num_threads(before)
