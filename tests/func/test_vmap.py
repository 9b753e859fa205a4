"""vmap: dimensions, randomness, errors, and what it leaves behind. tests/func/test_batching_table.py runs every op."""

import gc

import pytest

import retrograd
from retrograd import _C
from retrograd.func import grad, jacfwd, jacrev, vjp, vmap
from retrograd.func._vmap import current_level
from retrograd.nn import functional as F
from retrograd.testing import assert_close

X = retrograd.arange(6.0).reshape(2, 3)
W = retrograd.tensor([1.0, 2.0, 3.0])


def test_top_level_name():
    assert retrograd.vmap is vmap
    assert_close(retrograd.vmap(retrograd.dot)(X, X), (X * X).sum(1))


def test_the_function_sees_one_example():
    seen = []

    def look(x):
        seen.append((x.shape, x.ndim, x.dtype, x.device.type, x.numel(), x.is_contiguous(), isinstance(x, retrograd.Tensor)))
        return x

    vmap(look)(X)
    assert seen == [((3,), 1, retrograd.float32, "cpu", 3, True, True)]


def test_repr_shows_the_whole_batch():
    text = []
    vmap(lambda x: (text.append(repr(x)), x)[1])(X)
    assert text[0].startswith("BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[0., 1., 2.],")


def test_writes_to_the_argument_reach_it():
    x = X.clone()
    vmap(lambda t: t.mul_(2))(x)
    assert_close(x, 2 * X)


def test_type_promotion_is_that_of_examples():
    """A batch of numbers is a vector, but each example is 0-d and yields to a dimensioned tensor."""
    doubles = retrograd.ones(2, dtype=retrograd.float64)
    for f in (lambda a, b: a * b, lambda a, b: b * a, lambda a, b: retrograd.where(a > 0, a, b), lambda a, b: a.clone().add_(b)):
        assert vmap(f)(X, doubles).dtype is retrograd.float32
    ints = retrograd.ones(2, 3, dtype=retrograd.int32)
    assert vmap(lambda a, b: a + b)(ints, retrograd.ones(2, dtype=retrograd.int64)).dtype is retrograd.int32
    assert vmap(lambda a, b: a + b)(ints, retrograd.ones(2)).dtype is retrograd.float32
    assert vmap(lambda a: a[0] + retrograd.tensor(1.0, dtype=retrograd.float64))(X).dtype is retrograd.float64


def test_conditions_by_where():
    assert_close(vmap(lambda x: retrograd.where(x.sum() > 5, x, -x))(X), retrograd.stack([-X[0], X[1]]))


@pytest.mark.parametrize("size", [0, 1, 5])
def test_sizes_of_the_batch(size):
    x = retrograd.ones(size, 3)
    assert vmap(lambda t: t.sin().sum())(x).shape == (size,)
    assert vmap(lambda t: t.renorm(2, 0, 1.0) if t.ndim > 1 else t.histc(4, 0, 2))(x).shape == (size, 4)
    assert vmap(grad(lambda t: (t**2).sum()))(x).shape == (size, 3)
    assert vmap(lambda t: t.squeeze())(retrograd.ones(size, 1, 3)).shape == (size, 3)


def test_chunks():
    x = retrograd.arange(10.0).reshape(5, 2)
    sizes = []

    def f(t):
        value, _ = _C._unwrap_batched(t, _C._batch_level(t))
        sizes.append(value.shape[0])
        return t * 2, {"sum": t.sum()}

    product, sums = vmap(f, chunk_size=2, out_dims=(1, 0))(x)
    assert sizes == [2, 2, 1]
    assert_close(product, (2 * x).T)
    assert_close(sums["sum"], x.sum(1))


# -- indexing -------------------------------------------------------------------------------------

T = retrograd.arange(2.0 * 3 * 4 * 5).reshape(2, 3, 4, 5)
I = retrograd.tensor([[0, 2], [1, 1]])
J = retrograd.tensor([[[3, 0], [1, 2]], [[2, 2], [0, 1]]])


@pytest.mark.parametrize(
    "index",
    [
        lambda i, j: (i,),
        lambda i, j: (slice(None), i),
        lambda i, j: (slice(None), slice(None), i),
        lambda i, j: (i, i),
        lambda i, j: (slice(None), i, i),
        lambda i, j: (i, slice(None), i),
        lambda i, j: (i, slice(1, 3), i),
        lambda i, j: (slice(None), j, i),
        lambda i, j: (None, i, 1),
        lambda i, j: (i, ..., j),
        lambda i, j: (i[0],),
        lambda i, j: (retrograd.tensor([True, False, True]),),
        lambda i, j: (slice(None), retrograd.tensor([True, False, True, True])),
    ],
)
@pytest.mark.parametrize("what", ["both", "tensor", "index"])
def test_advanced_indexing(index, what):
    """Reading, writing and adding, with the tensor, the indices or both batched; and the gradient of reading."""
    batched = {"both": (0, 0, 0), "tensor": (0, None, None), "index": (None, 0, 0)}[what]
    args = [t if d == 0 else t[0] for t, d in zip((T, I, J), batched, strict=True)]

    def one(k):
        return [t[k] if d == 0 else t for t, d in zip(args, batched, strict=True)]

    def read(t, i, j):
        return t[index(i, j)]

    def write(t, i, j):
        t = t.clone() + 0 * i.sum()
        t[index(i, j)] = t.sum() * 0.01
        return t

    def weigh(t, i, j):
        return grad(lambda t: (t[index(i, j)] ** 2).sum())(t)

    for f in (read, write, weigh):
        assert_close(vmap(f, in_dims=batched)(*args), retrograd.stack([f(*one(k)) for k in range(2)]))


def test_an_integer_that_differs_between_examples():
    """It takes a dimension away as any integer does, also beside other indices."""

    def read(t, i, j):
        return t[i[0], :, j], t[:, i[1]], t[-i[0], 0]

    for k in range(2):
        assert_close([r[k] for r in vmap(read)(T, I, J)], list(read(T[k], I[k], J[k])))

    def write(t, i, j, value):
        t, s = t.clone(), t.clone()
        t[i[0], :, j] = 1.0
        s[i[0], j % 2] = value
        return t, s

    values = retrograd.arange(10.0).reshape(2, 5)
    for k in range(2):
        assert_close([r[k] for r in vmap(write)(T, I, J, values)], list(write(T[k], I[k], J[k], values[k])))

    def apart(t, i, j):
        t = t.clone()
        t[i[0], :, j] = t[0, :, :2]
        return t

    with pytest.raises(RuntimeError, match="an integer that differs between samples cannot be apart from other index tensors"):
        vmap(apart)(T, I, J)


@pytest.mark.parametrize("shape", [(), (2,), (1, 2), (4, 5)])
def test_index_put_broadcasts_values(shape):
    values = retrograd.arange(2.0 * retrograd.zeros(shape).numel()).reshape(2, *shape)
    indices = {(4, 5): lambda i: (i[0],)}.get(shape, lambda i: (slice(None), slice(None), i))

    def f(t, i, v):
        t = t.clone()
        t[indices(i)] = v
        return t.index_put((i,), v.sum(), accumulate=True)

    assert_close(vmap(f)(T, I, values), retrograd.stack([f(T[k], I[k], values[k]) for k in range(2)]))


# -- randomness -----------------------------------------------------------------------------------

RANDOM = {
    "rand": lambda x: retrograd.rand(3),
    "randn": lambda x: retrograd.randn(3),
    "randint": lambda x: retrograd.randint(0, 1000, (3,)),
    "randperm": lambda x: retrograd.randperm(50),
    "rand_like": retrograd.rand_like,
    "randn_like": lambda x: retrograd.randn_like(x),
    "randint_like": lambda x: retrograd.randint_like(x, 1000),
    "normal": lambda x: retrograd.normal(0.0, 1.0, (3,)),
    "dropout": lambda x: F.dropout(retrograd.ones(50)),
    "dropout of a batch": lambda x: F.dropout(x.sum() * 0 + retrograd.ones(50)),
    "alpha_dropout": lambda x: F.alpha_dropout(x.sum() * 0 + retrograd.ones(50), training=True),
    "uniform_": lambda x: (x * 0).uniform_(),
    "normal_": lambda x: (x * 0).normal_(),
    "exponential_": lambda x: (x * 0).exponential_(),
    "torch.dropout": lambda x: retrograd.dropout(x.sum() * 0 + retrograd.ones(50), 0.5, True),
    "torch.alpha_dropout": lambda x: retrograd.alpha_dropout(x.sum() * 0 + retrograd.ones(50), 0.5, True),
    "native_dropout": lambda x: retrograd.native_dropout(x.sum() * 0 + retrograd.ones(50), 0.5, True)[0],
}
BY_TENSOR = {
    "bernoulli": lambda x: retrograd.bernoulli(x.sum() * 0 + retrograd.full((50,), 0.5)),
    "normal": lambda x: retrograd.normal(x, 1.0),
    "multinomial": lambda x: retrograd.multinomial(x.sum() * 0 + retrograd.ones(50), 5),
    "poisson": lambda x: retrograd.poisson(x * 0 + 100),
}


@pytest.mark.parametrize("name", RANDOM)
def test_randomness(name):
    f = RANDOM[name]
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        vmap(f)(X)
    same = vmap(f, randomness="same")(X)
    assert_close(same[0], same[1])
    different = vmap(f, randomness="different")(X)
    assert different.shape == same.shape
    assert not retrograd.equal(different[0], different[1])


@pytest.mark.parametrize("name", BY_TENSOR)
def test_randomness_by_a_tensor(name):
    f = BY_TENSOR[name]
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        vmap(f)(X)
    with pytest.raises(RuntimeError, match="Vmap does not currently support same randomness with a batched tensor input"):
        vmap(f, randomness="same")(X)
    different = vmap(f, randomness="different")(X)
    assert not retrograd.equal(different[0], different[1])


def test_random_numbers_that_are_not_asked_for():
    assert_close(vmap(lambda x: F.dropout(x, training=False))(X), X)
    assert_close(vmap(lambda x: retrograd.native_dropout(x, 0.5, False)[0])(X), X)


def test_same_randomness_in_chunks():
    result = vmap(lambda x: x * 0 + retrograd.rand(3), randomness="same", chunk_size=1)(X)
    assert_close(result[0], result[1])


def test_in_place_on_a_tensor_that_is_not_batched():
    with pytest.raises(RuntimeError, match="Cannot ask for different inplace randomness on an unbatched tensor"):
        vmap(lambda x: retrograd.zeros(3).uniform_() + x, randomness="different")(X)


# -- errors ---------------------------------------------------------------------------------------


def identity(x):
    return x


@pytest.mark.parametrize(
    ("run", "kind", "message"),
    [
        (lambda: vmap(identity)(), ValueError, "vmap\\(identity\\)\\(<inputs>\\): got no inputs"),
        (lambda: vmap(identity, in_dims=None)(X), ValueError, "expected `in_dims` to be int or a \\(potentially nested\\) tuple"),
        (lambda: vmap(identity, in_dims=[0])(X), ValueError, "got: <class 'list'>"),
        (lambda: vmap(identity, in_dims=(None,))(X), ValueError, "Expected at least one Tensor to vmap over"),
        (lambda: vmap(identity, in_dims=("a",))(X), ValueError, "in_dim must be either an integer dimension or None"),
        (lambda: vmap(identity, in_dims=(0, 0))(X), ValueError, "(?s)in_dims is not compatible with the structure of `inputs`.*TreeSpec"),
        (lambda: vmap(identity, in_dims=2)(X), ValueError, "expected in_dim to satisfy -2 <= in_dim < 2"),
        (lambda: vmap(lambda a, b: a)(X, 3), ValueError, "We cannot vmap over non-Tensor arguments"),
        (lambda: vmap(lambda a, b: a)(X, W), ValueError, "to have the same size in the mapped dimension, got sizes \\[2, 3\\]"),
        (lambda: vmap(lambda a: 1.0)(X), ValueError, "must only return Tensors, got type <class 'float'>"),
        (lambda: vmap(lambda a: None)(X), ValueError, "must only return Tensors, got type <class 'NoneType'>"),
        (lambda: vmap(identity, out_dims=None)(X), ValueError, "can not return a BatchedTensor when out_dim is None"),
        (lambda: vmap(identity, out_dims=(0, 0))(X), ValueError, "out_dims is not compatible with the structure of `outputs`"),
        (lambda: vmap(identity, out_dims="a")(X), ValueError, "`out_dims` must be an int, None or a python collection of ints"),
        (lambda: vmap(identity, out_dims=5)(X), IndexError, "Dimension out of range"),
        (lambda: vmap(identity, randomness="some"), RuntimeError, "Only allowed values for randomness are"),
        (lambda: vmap(identity, chunk_size=0), ValueError, "chunk_size should be None or greater than 0. \\(got 0\\)"),
        (lambda: vmap(lambda a: W.clone().add_(a))(X), RuntimeError, "there exists a Tensor `other` in extra_args that has more elements"),
        (lambda: vmap(lambda a: a.sum().item())(X), RuntimeError, "It looks like you're calling .item\\(\\) on a Tensor"),
        (lambda: vmap(lambda a: a if a.sum() > 0 else -a)(X), RuntimeError, "vmap: It looks like"),
        (lambda: vmap(lambda a: a.tolist())(X), RuntimeError, "vmap: It looks like you're calling .tolist\\(\\)"),
        (lambda: vmap(lambda a: a.nonzero())(X), RuntimeError, "can output dynamic shape. Attempted to vmap over aten::nonzero"),
        (lambda: vmap(lambda a: a.unique())(X), RuntimeError, "Attempted to vmap over aten::_unique2"),
        (lambda: vmap(lambda a: a[a > 0])(X), RuntimeError, "A boolean mask picks another number of elements"),
        (lambda: vmap(lambda a: a.masked_select(a > 0))(X), RuntimeError, "Attempted to vmap over `mask` in torch.masked_select"),
        (lambda: vmap(lambda a: F.one_hot(a))(X.long()), RuntimeError, "please provide an explicit positive num_classes"),
        (lambda: vmap(lambda a: a.sum(1))(X), IndexError, "expected to be in range of \\[-1, 0\\], but got 1"),
        (lambda: vmap(lambda a: a.mul_(retrograd.ones(2, 3)))(X.clone()), RuntimeError, "doesn't match the broadcast shape"),
        (lambda: vmap(lambda a: a @ retrograd.ones(2))(X), RuntimeError, "same number of elements|size|shape"),
        (lambda: vmap(lambda a: retrograd.bincount(a))(X.long()), RuntimeError, "stack expects each tensor to be equal size"),
    ],
)  # fmt: skip
def test_errors(run, kind, message):
    with pytest.raises(kind, match=message):
        run()
    assert current_level() == 0


# -- what is left behind --------------------------------------------------------------------------


def live_tensors():
    gc.collect()
    return sum(isinstance(o, retrograd.Tensor) for o in gc.get_objects())


def test_nothing_is_left_on_the_handler_stack():
    def fails(x):
        (x * 2).sum()
        raise KeyError("inside")

    for _ in range(3):
        with pytest.raises(KeyError):
            vmap(vmap(grad(fails)))(retrograd.ones(2, 2, 2))
    assert current_level() == 0
    with pytest.raises(RuntimeError, match="the handler stack is empty"):
        _C._pop_op_handler()
    assert_close(vmap(lambda x: x * 2)(X), X * 2)


def test_nothing_is_kept():
    def run():
        vmap(grad(lambda x: (x.sin() * W).sum()))(X)
        vmap(lambda x: vjp(lambda t: t * W, x)[1](x))(X)
        jacrev(lambda x: (x * W).cumsum(0))(W)
        with pytest.raises(KeyError):
            vmap(grad(lambda x: {}[x.sum()]))(X)

    run()
    before = live_tensors()
    for _ in range(5):
        run()
    assert live_tensors() <= before


def test_a_tensor_that_escapes_cannot_be_used():
    kept = []
    vmap(lambda x: (kept.append(x * 2), x)[1])(X)
    (lost,) = kept
    for use in (
        lambda: lost + 1,
        lambda: lost.sum(),
        lambda: lost.view(3, 1),
        lambda: lost.mul_(2),
        lambda: retrograd.cat([lost, W]),
        lambda: W.clone().copy_(lost),
        lambda: vmap(lambda x: x + lost)(X),
        lambda: vmap(vmap(lambda x: x * lost))(X),
    ):
        with pytest.raises(RuntimeError, match="may have escaped from inside a function being vmapped"):
            use()
    lost = None
    kept.clear()
    gc.collect()
    assert_close(W + 1, retrograd.tensor([2.0, 3.0, 4.0]))


def test_memory_of_a_sample_cannot_be_had():
    for use, message in [
        (lambda x: x.clone().resize_(5), "resize_\\(\\) cannot be used inside vmap"),
        (lambda x: setattr(x, "data", x * 2), "mutating directly with `.data` under vmap transform is not allowed"),
        (lambda x: retrograd.nn.Parameter(x), "cannot become one of the subclass"),
        (lambda x: retrograd.add(x, 1, out=retrograd.empty(3)), "being vmapped over"),
        (lambda x: retrograd.add(x, 1, out=x.new_empty(2)), "out= cannot be resized inside vmap"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            vmap(use)(X)
    assert_close(vmap(lambda x: retrograd.add(x, 1, out=x.clone()))(X), X + 1)
    with pytest.warns(UserWarning, match="To copy construct"):
        assert_close(vmap(lambda x: retrograd.tensor(x))(X), X)


@pytest.mark.told("checkpoint_side_effects", why="it notes each run")
def test_checkpoints():
    from retrograd.utils.checkpoint import checkpoint

    runs = []

    def f(x):
        runs.append(1)
        return (x.sin() * W).exp()

    assert_close(vmap(grad(lambda x: checkpoint(f, x, use_reentrant=False).sum()))(X), vmap(grad(lambda x: f(x).sum()))(X))
    assert len(runs) == 3


def test_shapes_changed_in_place():
    x = retrograd.arange(24.0).reshape(2, 3, 4)
    assert_close(vmap(lambda t: t.clone().t_())(x), x.mT)
    assert_close(vmap(lambda t: t.clone().unsqueeze_(0).squeeze_(0).transpose_(0, 1))(x), x.mT)


def test_threads_have_levels_of_their_own():
    import threading

    results = {}

    def work(k):
        results[k] = vmap(vmap(lambda x: x * k))(retrograd.ones(2, 3))

    def outer(x):
        thread = threading.Thread(target=work, args=(3,))
        thread.start()
        thread.join()
        return x + 1

    assert_close(vmap(outer)(X), X + 1)
    assert_close(results[3], 3 * retrograd.ones(2, 3))


def test_transforms_of_samples_of_inference_tensors():
    def f(x):
        return retrograd.einsum("i,j->ij", x, x).sin().sum()

    x = retrograd.tensor([[0.3, -0.6, 0.9], [0.5, 0.2, 0.4]], dtype=retrograd.float64)
    with retrograd.inference_mode():
        inside = x.clone()
        for transform in (grad, lambda f: jacrev(jacrev(f)), lambda f: jacfwd(jacfwd(f))):
            assert_close(vmap(transform(f))(inside), vmap(transform(f))(x))
            assert vmap(transform(f))(inside).abs().max().item() > 0.1
