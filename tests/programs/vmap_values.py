"""vmap: reading values, shapes, factories, views and promotion inside."""

import copy

from tests.programs import differs, own


def item(vmap, x3):
    vmap(lambda x: x.item())(x3)


def item_of_an_unbatched_tensor(torch, vmap, x3, show):
    show(vmap(lambda x: x * torch.tensor(2.0).item())(x3))


def float_of_a_batched_tensor(vmap, x3):
    vmap(lambda x: float(x))(x3)


def int_of_a_batched_tensor(vmap, x3):
    vmap(lambda x: int(x))(x3)


def if_on_a_batched_tensor(vmap, x3):
    vmap(lambda x: x if x > 0 else -x)(x3)


def if_on_an_unbatched_tensor(torch, vmap, x3, show):
    show(vmap(lambda x: x if torch.tensor(True) else -x)(x3))


def while_on_a_batched_tensor(vmap, x3):
    def f(x):
        while x < 10:
            x = x * 2
        return x

    vmap(f)(x3)


def bool_of_a_batched_tensor(vmap, x3):
    vmap(lambda x: bool(x))(x3)


def index_of_a_list(torch, vmap):
    vmap(lambda x: [1, 2, 3][x])(torch.tensor([0, 1]))


@own("words")
def tolist(vmap, x3):
    vmap(lambda x: x.tolist())(x3)


@own("words")
def to_numpy(vmap, x3):
    vmap(lambda x: x.numpy())(x3)


def nonzero(vmap, x23):
    vmap(lambda x: x.nonzero())(x23)


def masked_select(vmap, x23):
    vmap(lambda x: x.masked_select(x > 0))(x23)


def boolean_index(vmap, x23):
    vmap(lambda x: x[x > 0])(x23)


def unbatched_boolean_index(torch, vmap, x23, show):
    show(vmap(lambda x: x[torch.tensor([True, False, True])])(x23))


def unique(vmap, x23):
    vmap(lambda x: x.unique())(x23)


def data_ptr(vmap, x3):
    vmap(lambda x: x.data_ptr())(x3)


@own("words")
def allclose(torch, vmap, x3):
    vmap(lambda x: torch.allclose(x, x))(x3)


def equal(torch, vmap, x3):
    vmap(lambda x: torch.equal(x, x))(x3)


def is_nonzero(vmap, x3):
    vmap(lambda x: x.is_nonzero())(x3)


def new_zeros(vmap, x33, show):
    def f(x):
        y = x.new_zeros(3)
        y.add_(x)
        return y

    show(vmap(f)(x33))


def zeros_like(torch, vmap, x33, show):
    def f(x):
        y = torch.zeros_like(x)
        y[0] = x[1]
        return y

    show(vmap(f)(x33))


def shape_inside(vmap, x23, show):
    seen = []
    vmap(lambda x: seen.append((tuple(x.shape), x.ndim, x.dim(), x.numel(), len(x), x.is_contiguous(), x.stride())) or x)(x23)
    show(seen)


def size_of_a_dimension(vmap, x23, show):
    seen = []
    vmap(lambda x: seen.append((x.size(0), x.size(-1), tuple(x.size()))) or x)(x23)
    show(seen)


def type_inside(vmap, x3, show):
    seen = []
    vmap(lambda x: seen.append(type(x).__name__) or x)(x3)
    show(seen)


def iterate(vmap, x23, show):
    show(vmap(lambda x: sum(t * i for i, t in enumerate(x)))(x23))


def unpack(vmap, x23, show):
    def f(x):
        a, b, c = x
        return a * b - c

    show(vmap(f)(x23))


def where_with_one_argument(torch, vmap, x23):
    vmap(lambda x: torch.where(x > 0))(x23)


def repeat_interleave_with_batched_repeats(torch, vmap, show):
    show(vmap(lambda r: torch.repeat_interleave(r))(torch.tensor([[1, 2], [2, 1]])))


def bincount(torch, vmap, show):
    show(vmap(lambda x: torch.bincount(x))(torch.tensor([[0, 1], [1, 1]])))


def one_hot_without_classes(torch, F, vmap):
    vmap(lambda x: F.one_hot(x))(torch.tensor([[0, 1], [1, 1]]))


def one_hot(torch, F, vmap, show):
    show(vmap(lambda x: F.one_hot(x, 3))(torch.tensor([[0, 1], [1, 2]])))


@differs("a TypeError: arange takes numbers")
def arange_of_a_batched_number(torch, vmap):
    vmap(lambda n: torch.arange(n))(torch.tensor([1, 2]))


def slice_by_a_batched_number(torch, vmap, x33):
    vmap(lambda x, n: x[:n])(x33, torch.tensor([1, 2, 1]))


@differs("copies it")
def tensor_of_a_batched_tensor(torch, vmap, x3):
    vmap(lambda x: torch.tensor(x))(x3)


def tensor_of_a_list_of_batched_tensors(torch, vmap, x3):
    vmap(lambda x: torch.tensor([x, x]))(x3)


def as_tensor(torch, vmap, x3, show):
    show(vmap(lambda x: torch.as_tensor(x) * 2)(x3))


def stack_with_unbatched(torch, vmap, f64, x3, show):
    show(vmap(lambda x: torch.stack([x, torch.ones((), dtype=f64)]))(x3))


def cat_with_unbatched(torch, vmap, f64, x23, show):
    show(vmap(lambda x: torch.cat([x, torch.ones(1, dtype=f64)]))(x23))


def promotion_by_an_example_without_dimensions(torch, vmap, x3, show):
    show(vmap(lambda x: x + torch.ones(2, dtype=torch.float32))(x3))


def promotion_by_a_number(torch, vmap, show):
    show(vmap(lambda x: x + 1.5)(torch.tensor([1, 2])))


@own("words")
def deepcopy_inside(vmap, x3, show):
    show(vmap(lambda x: copy.deepcopy(x) * 2)(x3))


@own("words")
def storage_inside(vmap, x3):
    vmap(lambda x: x.untyped_storage())(x3)


def view_inside(vmap, x23, show):
    show(vmap(lambda x: x.view(3, 1))(x23).shape)


def view_of_the_wrong_size(vmap, x23):
    vmap(lambda x: x.view(4))(x23)


def wrong_dim(vmap, x23):
    vmap(lambda x: x.sum(1))(x23)


@own("words")
def wrong_shapes(torch, vmap, f64, x23):
    vmap(lambda x: x @ torch.ones(4, dtype=f64))(x23)


def as_strided_inside(vmap, x23, show):
    show(vmap(lambda x: x.as_strided((2,), (1,)))(x23))


def unfold_inside(vmap, x23, show):
    show(vmap(lambda x: x.unfold(0, 2, 1))(x23))


def to_inside(torch, vmap, x23, show):
    show(vmap(lambda x: x.to(torch.float32))(x23))


def contiguous_and_strides(torch, vmap, show):
    show(vmap(lambda x: x.T.contiguous())(torch.arange(12.0).reshape(2, 2, 3)))
