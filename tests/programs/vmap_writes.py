"""vmap: writes in place."""

from tests.programs import own


@own("words")
def in_place_on_an_unbatched_tensor(torch, vmap, x33):
    def f(x):
        y = torch.zeros(3)
        y.add_(x)
        return y

    vmap(f)(x33.float())


def in_place_on_an_unbatched_tensor_by_copy(torch, vmap, x33):
    def f(x):
        y = torch.zeros(3)
        y.copy_(x)
        return y

    vmap(f)(x33.float())


def in_place_on_an_unbatched_argument(vmap, x3, x33):
    vmap(lambda x, y: x.mul_(y), in_dims=(None, 0))(x3.clone(), x33)


def setitem_on_an_unbatched_tensor(torch, vmap, x3):
    def f(x):
        y = torch.zeros(3)
        y[0] = x
        return y

    vmap(f)(x3.float())


def setitem_with_an_index_tensor_on_an_unbatched_tensor(torch, vmap, x3):
    def f(x):
        y = torch.zeros(3)
        y[torch.tensor([0])] = x
        return y

    vmap(f)(x3.float())


def index_put_with_a_batched_index_on_an_unbatched_tensor(torch, vmap):
    def f(i):
        y = torch.zeros(3)
        y[i] = 1.0
        return y

    vmap(f)(torch.tensor([[0], [1]]))


def masked_fill_with_a_batched_mask_on_an_unbatched_tensor(torch, vmap):
    def f(m):
        y = torch.zeros(3)
        y.masked_fill_(m, 1.0)
        return y

    vmap(f)(torch.tensor([[True, False, True]]))


def in_place_on_an_unbatched_tensor_with_a_number(torch, vmap, x33, show):
    def f(x):
        y = torch.zeros(3)
        y.add_(1)
        return x + y

    show(vmap(f)(x33.float()))


def in_place_with_an_unbatched_tensor(torch, vmap, x33, show):
    show(vmap(lambda x: x.add_(torch.ones(3)))(x33.clone()))


def in_place_is_seen_outside(vmap, x33, show):
    a = x33.clone()
    vmap(lambda x: x.mul_(2))(a)
    show(a)


def in_place_on_a_view(vmap, x33, show):
    def f(x):
        x[0] = 5
        return x.sum()

    a = x33.clone()
    show(vmap(f)(a), a)


@own("words")
def out_inside(torch, vmap, x33):
    vmap(lambda x: torch.add(x, x, out=torch.empty(3)))(x33.float())
