"""func.grad: arguments, results, what may be done inside."""

from tests.programs import differs


def requires_grad_inside_grad(grad, x3):
    grad(lambda x: x.requires_grad_().sum())(x3)


def requires_grad_of_another_tensor_inside_grad(torch, grad, f64, x3):
    grad(lambda x: (x * torch.ones(3, dtype=f64).requires_grad_()).sum())(x3)


def requires_grad_false_inside_grad(grad, x3):
    grad(lambda x: x.requires_grad_(False).sum())(x3)


def requires_grad_inside_jvp(jvp, x3):
    jvp(lambda x: x.requires_grad_() * 2, (x3,), (x3,))


def setting_requires_grad_inside_grad(torch, grad, f64, x3, show):
    def f(x):
        y = torch.ones(3, dtype=f64)
        y.requires_grad = True
        return (x * y).sum()

    show(grad(f)(x3))


def requires_grad_inside_vjp(vjp, x3):
    vjp(lambda x: x.requires_grad_() * 2, x3)


def requires_grad_in_a_pullback(torch, vjp, x3, show):
    out, pull = vjp(lambda x: x * 2, x3)
    show(torch.ones(2).requires_grad_())


def a_factory_with_requires_grad_inside_grad(torch, grad, f64, x3, show):
    def f(x):
        y = torch.ones(3, dtype=f64, requires_grad=True)
        return (x * y).sum()

    show(grad(f)(x3))


def a_factory_with_requires_grad_inside_vmap(torch, vmap, f64, x3, show):
    def f(x):
        y = torch.ones(3, dtype=f64, requires_grad=True)
        return (x * y).sum()

    show(vmap(f)(x3))


def backward_inside_grad(grad, x3):
    def f(x):
        y = (x * 2).sum()
        y.backward()
        return y

    grad(f)(x3)


def backward_inside_jvp(jvp, x3):
    def f(x):
        y = (x * 2).sum()
        y.backward()
        return y

    jvp(f, (x3,), (x3,))


def autograd_backward_inside_grad(torch, grad, x3):
    def f(x):
        y = (x * 2).sum()
        torch.autograd.backward(y)
        return y

    grad(f)(x3)


def autograd_grad_inside_grad(torch, grad, x3, show):
    def f(x):
        y = (x**3).sum()
        return torch.autograd.grad(y, x, create_graph=True)[0].sum()

    show(grad(f)(x3))


def autograd_grad_inside_grad_without_create_graph(torch, grad, x3, show):
    def f(x):
        y = (x**3).sum()
        return torch.autograd.grad(y, x)[0].sum() + x.sum()

    show(grad(f)(x3))


def autograd_grad_inside_vmap_of_grad(torch, grad, vmap, x33, show):
    def f(x):
        y = (x**3).sum()
        return torch.autograd.grad(y, x, create_graph=True)[0].sum()

    show(vmap(grad(f))(x33))


def autograd_functional_inside_grad(functional, grad, x3):
    grad(lambda x: functional.jacobian(lambda y: y**2, x).sum())(x3)


def item_inside_grad(grad, x3, show):
    show(grad(lambda x: x.sum() * x[0].item())(x3))


def if_inside_grad(grad, x3, show):
    show(grad(lambda x: (x if x.sum() > 0 else -x).sum())(x3))


def tolist_inside_grad(grad, x3, show):
    show(grad(lambda x: x.sum() * x.tolist()[0])(x3))


@differs("reads it")
def numpy_inside_grad(grad, x3, show):
    show(grad(lambda x: x.sum() * float(x.detach().numpy()[0]))(x3))


def numpy_inside_grad_without_detach(grad, x3):
    grad(lambda x: x.sum() * float(x.numpy()[0]))(x3)


def data_inside_grad(grad, x3, show):
    show(grad(lambda x: (x * x.data).sum())(x3))


def flags_inside_grad(grad, x3, show):
    seen = []
    grad(lambda x: seen.append((x.requires_grad, x.is_leaf, x.grad_fn is None, (x * 2).requires_grad, (x * 2).is_leaf)) or x.sum())(x3)
    show(seen)


def flags_inside_jvp(jvp, x3, show):
    seen = []
    jvp(lambda x: seen.append((x.requires_grad, x.is_leaf, (x * 2).requires_grad)) or x, (x3,), (x3,))
    show(seen)


def grad_of_a_vector(grad, x3):
    grad(lambda x: x * 2)(x3)


def grad_of_a_tensor_with_one_element(grad, x3):
    grad(lambda x: x[:1])(x3)


def grad_of_a_number(grad, x3):
    grad(lambda x: 2.0)(x3)


def grad_of_a_tuple(grad, x3):
    grad(lambda x: (x.sum(), x))(x3)


def grad_of_none(grad, x3):
    grad(lambda x: None)(x3)


def grad_of_an_integer_result(grad, x3, show):
    show(grad(lambda x: x.sum().long())(x3))


def grad_of_a_constant(torch, grad, x3, show):
    show(grad(lambda x: torch.ones(()))(x3))


def grad_of_an_integer_input(torch, grad):
    grad(lambda x: (x * 1.0).sum())(torch.tensor([1, 2]))


def grad_of_a_bool_input(torch, grad):
    grad(lambda x: (x * 1.0).sum())(torch.tensor([True]))


def grad_of_a_number_input(grad):
    grad(lambda x: x * 1.0)(2.0)


def grad_of_none_input(grad, x3):
    grad(lambda x, y: x.sum(), argnums=1)(x3, None)


def grad_without_inputs(torch, grad):
    grad(lambda: torch.ones(()))()


def grad_of_a_dict(grad, x3, show):
    show(grad(lambda d: (d["a"] * d["b"]).sum())({"a": x3, "b": x3 * 2}))


def grad_of_a_dict_with_a_number(grad, x3):
    grad(lambda d: (d["a"] * d["b"]).sum())({"a": x3, "b": 2.0})


def grad_of_nested_containers(grad, x3, show):
    show(grad(lambda d: (d[0]["a"] * d[1]).sum())([{"a": x3}, x3 * 2]))


def argnums_out_of_range(grad, x3):
    grad(lambda x: x.sum(), argnums=1)(x3)


def argnums_negative(grad, x3, show):
    show(grad(lambda x, y: (x * y).sum(), argnums=-1)(x3, x3 * 2))


def argnums_below_range(grad, x3):
    grad(lambda x: x.sum(), argnums=-2)(x3)


def argnums_tuple(grad, x3, show):
    show(grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(x3, x3 * 2))


def argnums_tuple_reversed(grad, x3, show):
    show(grad(lambda x, y: (x * y).sum(), argnums=(1, 0))(x3, x3 * 2))


def argnums_tuple_of_one(grad, x3, show):
    show(grad(lambda x, y: (x * y).sum(), argnums=(1,))(x3, x3 * 2))


def argnums_empty(grad, x3):
    grad(lambda x: x.sum(), argnums=())(x3)


def argnums_twice(grad, x3):
    grad(lambda x, y: x.sum(), argnums=(0, 0))(x3, x3)


def argnums_twice_by_a_negative_number(grad, x3):
    grad(lambda x, y: x.sum(), argnums=(0, -2))(x3, x3)


def argnums_a_list(grad, x3):
    grad(lambda x, y: x.sum(), argnums=[0])(x3, x3)


def argnums_a_float(grad, x3):
    grad(lambda x: x.sum(), argnums=0.0)(x3)


def argnums_a_tuple_of_floats(grad, x3):
    grad(lambda x: x.sum(), argnums=(0.0,))(x3)


def argnums_for_a_keyword_argument(grad, x3):
    grad(lambda x, y: (x * y).sum(), argnums=1)(x3, y=x3)


def keyword_arguments(grad, x3, show):
    show(grad(lambda x, y: (x * y).sum())(x3, y=x3 * 3))


def has_aux(grad, x3, show):
    show(grad(lambda x: (x.sum(), x * 2), has_aux=True)(x3))


def has_aux_with_a_container(grad, x3, show):
    show(grad(lambda x: (x.sum(), {"a": x * 2, "b": (x,)}), has_aux=True)(x3))


def has_aux_with_a_number(grad, x3, show):
    show(grad(lambda x: (x.sum(), 3), has_aux=True)(x3))


def has_aux_with_none(grad, x3, show):
    show(grad(lambda x: (x.sum(), None), has_aux=True)(x3))


def has_aux_with_a_string(grad, x3, show):
    show(grad(lambda x: (x.sum(), "word"), has_aux=True)(x3))


def has_aux_without_a_tuple(grad, x3):
    grad(lambda x: x.sum(), has_aux=True)(x3)


def has_aux_with_three(grad, x3):
    grad(lambda x: (x.sum(), x, x), has_aux=True)(x3)


def has_aux_with_a_list(grad, x3):
    grad(lambda x: [x.sum(), x], has_aux=True)(x3)


def grad_and_value(grad_and_value, x3, show):
    show(grad_and_value(lambda x: (x**2).sum())(x3))


def grad_and_value_has_aux(grad_and_value, x3, show):
    show(grad_and_value(lambda x: ((x**2).sum(), x * 3), has_aux=True)(x3))


def grad_and_value_of_a_vector(grad_and_value, x3):
    grad_and_value(lambda x: x * 2)(x3)


def name_and_doc(grad, grad_and_value, jacrev, jacfwd, show):
    def some(x):
        "doc"
        return x.sum()

    show(grad(some).__name__, grad(some).__doc__, jacrev(some).__name__, jacfwd(some).__name__, grad_and_value(some).__name__)
