"""vmap: subscripts and masks that are batched."""

from tests.programs import differs


def batched_index_into_an_unbatched_tensor(torch, vmap, x33, show):
    show(vmap(lambda i: x33[i])(torch.tensor([0, 2])))


def batched_index_into_a_batched_tensor(torch, vmap, x33, show):
    show(vmap(lambda a, i: a[i])(x33, torch.tensor([0, 2, 1])))


def batched_index_beside_another_index(torch, vmap, x33, show):
    show(vmap(lambda a, i: a[i, torch.tensor([0, 1])], in_dims=(None, 0))(x33, torch.tensor([[0, 2], [1, 1]])))


def batched_index_beside_a_slice(torch, vmap, x33, show):
    show(vmap(lambda a, i: a[i, 1:], in_dims=(None, 0))(x33, torch.tensor([[0, 2], [1, 1]])))


def batched_index_assignment(torch, vmap, x33, show):
    def f(a, i):
        a = a.clone()
        a[i] = 7
        return a

    show(vmap(f)(x33, torch.tensor([[0, 2], [1, 1], [0, 1]])))


def batched_index_assignment_beside_another_index(torch, vmap, x33, show):
    def f(a, i):
        a = a.clone()
        a[i, torch.tensor([0, 1])] = 7
        return a

    show(vmap(f)(x33.expand(2, 3, 3), torch.tensor([[0, 2], [1, 1]])))


def batched_index_assignment_beside_an_int(torch, vmap, x33, show):
    def f(a, i):
        a = a.clone()
        a[i, 1] = 7
        return a

    show(vmap(f)(x33.expand(2, 3, 3), torch.tensor([[0, 2], [1, 1]])))


def batched_index_assignment_beside_a_slice(torch, vmap, x33, show):
    def f(a, i):
        a = a.clone()
        a[1:, i] = 7
        return a

    show(vmap(f)(x33.expand(2, 3, 3), torch.tensor([[0, 2], [1, 1]])))


def assignment_by_a_batched_index_without_dimensions(torch, vmap, x33, show):
    def f(a, i):
        a = a.clone()
        a[i] = 7
        return a

    show(vmap(f)(x33, torch.tensor([0, 2, 1])))


def assignment_by_a_batched_index_without_dimensions_beside_another(torch, vmap, x33, show):
    def f(a, i):
        a = a.clone()
        a[i, torch.tensor([0, 1])] = 7
        return a

    show(vmap(f)(x33.expand(2, 3, 3), torch.tensor([0, 2])))


def batched_values_assignment_beside_an_index(torch, vmap, x23, x33, show):
    def f(a, i, v):
        a = a.clone()
        a[i, torch.tensor([0, 1])] = v
        return a

    show(vmap(f)(x33.expand(2, 3, 3), torch.tensor([[0, 2], [1, 1]]), x23[:, :2]))


@differs("accepts it")
def batched_mask_assignment(vmap, x23, show):
    def f(a, m):
        a = a.clone()
        a[m] = 0
        return a

    show(vmap(f)(x23, x23 > 0))


@differs("accepts it")
def batched_mask_assignment_with_batched_values(torch, vmap, f64, x23, show):
    def f(a, m, v):
        a = a.clone()
        a[m] = v
        return a

    show(vmap(f)(x23, x23 > 0, torch.tensor([10.0, 20.0], dtype=f64)))


def masked_scatter(torch, vmap, f64, x23, show):
    show(vmap(lambda a, m: a.masked_scatter(m, torch.arange(3.0, dtype=f64)))(x23, x23 > 0))


def masked_scatter_with_everything_batched(vmap, x23, show):
    show(vmap(lambda a, m, s: a.masked_scatter(m, s))(x23, x23 > 0, x23 * 10))


def grad_of_masked_scatter_with_a_batched_mask(torch, grad, vmap, f64, x23, show):
    def f(a, m):
        return (a.masked_scatter(m, torch.arange(1.0, 4.0, dtype=f64)) ** 2).sum()

    show(vmap(grad(f))(x23, x23 > 0))


def grad_of_masked_scatter_with_a_batched_mask_for_the_source(grad, vmap, x23, show):
    def f(s, a, m):
        return (a.masked_scatter(m, s) ** 2).sum()

    show(vmap(grad(f))(x23, x23 * 2, x23 > 0))


def grad_outside_of_masked_scatter_with_a_batched_mask(grad, vmap, x23, show):
    show(grad(lambda s: (vmap(lambda s, a, m: a.masked_scatter(m, s))(s, x23 * 2, x23 > 0) ** 2).sum())(x23))


def jvp_of_masked_scatter_with_a_batched_mask(jvp, vmap, x23, show):
    show(vmap(lambda a, m: jvp(lambda a: a.masked_scatter(m, a * 2), (a,), (a,)))(x23, x23 > 0))
