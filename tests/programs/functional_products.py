"""torch.autograd.functional: vjp, jvp, vhp and hvp."""

from tests.programs import own


def vjp_of_several_functions(torch, autograd, show, attempt):
    F = autograd.functional
    x = torch.tensor([1.0, 2.0])
    show(F.vjp(lambda x: x**2, x, torch.ones(2)))
    show(F.vjp(lambda x: (x**2).sum(), x))
    attempt(lambda: F.vjp(lambda x: x**2, x))
    attempt(lambda: F.vjp(lambda x: x**2, x, torch.ones(3)))
    attempt(lambda: F.vjp(lambda x: (x**2, x), x, torch.ones(2)))
    attempt(lambda: F.vjp(lambda x: (x**2, x), x, (torch.ones(2), torch.ones(2))))
    attempt(lambda: F.vjp(lambda x: (x**2, x), x))
    attempt(lambda: F.vjp(lambda x: x**2, x, 3))
    show(F.vjp(lambda x: x.exp(), x, torch.ones(2), create_graph=True))
    attempt(lambda: F.vjp(lambda x: x.detach(), x, torch.ones(2), strict=True))
    attempt(lambda: F.vjp(lambda x: x.detach(), x, torch.ones(2)))
    attempt(lambda: F.vjp(lambda x, y: x * 2, (x, x), torch.ones(2), strict=True))


def jvp_of_several_functions(torch, autograd, show, attempt):
    F = autograd.functional
    x = torch.tensor([1.0, 2.0])
    show(F.jvp(lambda x: x**2, x, torch.ones(2)))
    show(F.jvp(lambda x: x**2, torch.tensor(3.0)))
    attempt(lambda: F.jvp(lambda x: x**2, x))
    attempt(lambda: F.jvp(lambda x: x**2, x, torch.ones(3)))
    attempt(lambda: F.jvp(lambda x, y: x * y, (x, x), (torch.ones(2),)))
    attempt(lambda: F.jvp(lambda x, y: x * y, (x, x), (torch.ones(2), torch.ones(2))))
    attempt(lambda: F.jvp(lambda x, y: x * y, (x, x)))
    attempt(lambda: F.jvp(lambda x: x.detach(), x, torch.ones(2), strict=True))
    attempt(lambda: F.jvp(lambda x: x.detach(), x, torch.ones(2)))
    show(F.jvp(lambda x: x**2, x, torch.ones(2), create_graph=True)[1].requires_grad)
    attempt(lambda: F.jvp(lambda x: x * 2, x, torch.ones(2), strict=True, create_graph=True))


def vhp_of_several_functions(torch, autograd, show, attempt):
    F = autograd.functional
    x = torch.tensor([1.0, 2.0])
    show(F.vhp(lambda x: (x**3).sum(), x, torch.ones(2)))
    attempt(lambda: F.vhp(lambda x: x**3, x, torch.ones(2)))
    attempt(lambda: F.vhp(lambda x: (x**3).sum(), x))
    attempt(lambda: F.vhp(lambda x: (x**3).sum(), x, torch.ones(3)))
    attempt(lambda: F.vhp(lambda x: x.sum(), x, torch.ones(2)))
    attempt(lambda: F.vhp(lambda x: x.sum(), x, torch.ones(2), strict=True))
    attempt(lambda: F.vhp(lambda x: x.sum().detach(), x, torch.ones(2), strict=True))
    attempt(lambda: F.vhp(lambda x: x.detach() ** 3, x, torch.ones(2), strict=True))
    attempt(lambda: F.vhp(lambda x: (x.sum(), x.sum()), x, torch.ones(2), strict=True))
    attempt(lambda: F.vhp(lambda x: torch.ones(2), x, torch.ones(2), strict=True))
    attempt(lambda: F.vhp(lambda x: torch.ones(()), x, torch.ones(2), strict=True))
    attempt(lambda: F.vhp(lambda x: torch.ones(()), x, torch.ones(2)))
    attempt(lambda: F.vhp(lambda x, y: (x**3).sum(), (x, x), (torch.ones(2), torch.ones(2)), strict=True))
    attempt(lambda: F.vhp(lambda x, y: (x**3).sum() + y.sum(), (x, x), (torch.ones(2), torch.ones(2)), strict=True))


def hvp_of_several_functions(torch, autograd, show, attempt):
    F = autograd.functional
    x = torch.tensor([1.0, 2.0])
    show(F.hvp(lambda x: (x**3).sum(), x, torch.ones(2)))
    attempt(lambda: F.hvp(lambda x: x**3, x, torch.ones(2)))
    attempt(lambda: F.hvp(lambda x: (x**3).sum(), x))
    attempt(lambda: F.hvp(lambda x: (x**3).sum(), x, torch.ones(3)))
    attempt(lambda: F.hvp(lambda x: x.sum(), x, torch.ones(2)))
    attempt(lambda: F.hvp(lambda x: x.sum(), x, torch.ones(2), strict=True))
    attempt(lambda: F.hvp(lambda x: x.sum().detach(), x, torch.ones(2), strict=True))
    attempt(lambda: F.hvp(lambda x: x.detach() ** 3, x, torch.ones(2), strict=True))
    attempt(lambda: F.hvp(lambda x: (x.sum(), x.sum()), x, torch.ones(2), strict=True))
    attempt(lambda: F.hvp(lambda x: torch.ones(2), x, torch.ones(2), strict=True))
    attempt(lambda: F.hvp(lambda x: torch.ones(()), x, torch.ones(2), strict=True))
    attempt(lambda: F.hvp(lambda x: torch.ones(()), x, torch.ones(2)))
    attempt(lambda: F.hvp(lambda x, y: (x**3).sum(), (x, x), (torch.ones(2), torch.ones(2)), strict=True))
    attempt(lambda: F.hvp(lambda x, y: (x**3).sum() + y.sum(), (x, x), (torch.ones(2), torch.ones(2)), strict=True))


def vhp_and_hvp_of_scalars_and_tuples(torch, autograd, show, attempt):
    F = autograd.functional
    s = torch.tensor(2.0)
    show(F.vhp(lambda x: x**3, s))
    show(F.hvp(lambda x: x**3, s))
    show(F.vhp(lambda x: x**3, (s,)))
    show(F.hvp(lambda x, y: x * y, (s, s), (s, s)))
    attempt(lambda: F.hvp(lambda x, y: x * y, (s, s)))
    attempt(lambda: F.vhp(lambda x, y: x * y, (s, s)))


def functional_leaves_its_inputs_alone(torch, autograd, leaf, show):
    F = autograd.functional
    x = leaf(1.0, 2.0)
    F.jacobian(lambda x: x**2, x)
    F.hvp(lambda x: (x**3).sum(), x, torch.ones(2))
    show(x.grad, x.requires_grad)
    show(F.jacobian(lambda t: t**2, x).requires_grad)


def functional_of_wrong_returns(torch, autograd, attempt):
    F = autograd.functional
    x = torch.tensor([1.0, 2.0])
    for f in (F.vjp, F.jvp, F.vhp, F.hvp):
        attempt(lambda: f(lambda x: 3, x, torch.ones(2)))
        attempt(lambda: f(lambda x: [x.sum()], x, torch.ones(2)))
        attempt(lambda: f(lambda x: None, x, torch.ones(2)))
        attempt(lambda: f(lambda x: x.sum(), 3, torch.ones(2)))
        attempt(lambda: f(lambda x: x.sum(), x, "a"))


def vjp(functional, x3, show):
    show(functional.vjp(lambda x: x**2, x3, x3))


def vjp_without_a_vector(functional, x3, show):
    show(functional.vjp(lambda x: (x**2).sum(), x3))


def vjp_without_a_vector_for_many_elements(functional, x3):
    functional.vjp(lambda x: x**2, x3)


def vjp_without_a_vector_for_many_outputs(functional, x3):
    functional.vjp(lambda x: (x.sum(), x.sum()), x3)


def vjp_with_a_vector_of_another_size(torch, functional, x3):
    functional.vjp(lambda x: x**2, x3, torch.ones(2))


def vjp_with_a_tuple_of_another_length(functional, x3):
    functional.vjp(lambda x: x**2, x3, (x3, x3))


def vjp_with_a_tensor_for_two_outputs(functional, x3):
    functional.vjp(lambda x: (x, x), x3, x3)


def vjp_with_one_of_two_of_another_size(torch, functional, x3):
    functional.vjp(lambda x: (x, x), x3, (x3, torch.ones(2)))


def vjp_with_a_number_as_input(functional, x3):
    functional.vjp(lambda x: x**2, 2.0, x3)


def vjp_with_a_list_of_inputs(functional, x3):
    functional.vjp(lambda x: x**2, [x3], x3)


def vjp_with_a_number_in_a_tuple(functional, x3):
    functional.vjp(lambda x, y: x**2, (x3, 2.0), x3)


def vjp_with_a_number_as_output(functional, x3):
    functional.vjp(lambda x: 2.0, x3, x3)


def vjp_with_a_list_as_output(functional, x3):
    functional.vjp(lambda x: [x], x3, x3)


def vjp_with_none_in_the_outputs(functional, x3):
    functional.vjp(lambda x: (x, None), x3, x3)


def vjp_with_a_number_as_vector(functional, x3):
    functional.vjp(lambda x: x, x3, 2.0)


def vjp_with_tuples(functional, x3, show):
    show(functional.vjp(lambda x, y: (x * y, x + y), (x3, x3 * 2), (x3, x3)))


def vjp_of_a_tuple_of_one(functional, x3, show):
    show(functional.vjp(lambda x: (x * 2,), (x3,), (x3,)))


def vjp_of_a_constant(torch, functional, f64, x3, show):
    show(functional.vjp(lambda x: torch.ones(3, dtype=f64), x3, x3))


def vjp_of_a_constant_strict(torch, functional, f64, x3):
    functional.vjp(lambda x: torch.ones(3, dtype=f64), x3, x3, strict=True)


def vjp_with_an_unused_input(functional, x3, show):
    show(functional.vjp(lambda x, y: x * 2, (x3, x3), x3))


def vjp_with_an_unused_input_strict(functional, x3):
    functional.vjp(lambda x, y: x * 2, (x3, x3), x3, strict=True)


@own("nodes")
def vjp_create_graph(torch, functional, x3, show):
    a = x3.clone().requires_grad_()
    out, g = functional.vjp(lambda x: x**3, a, x3, create_graph=True)
    show(out, g)
    show(torch.autograd.grad(g.sum(), a))


def vjp_create_graph_of_a_linear_function_strict(functional, x3):
    functional.vjp(lambda x: x * 2, x3, x3, create_graph=True, strict=True)


@own("nodes")
def vjp_with_a_tracked_vector_create_graph(functional, x3, show):
    v = x3.clone().requires_grad_()
    out, g = functional.vjp(lambda x: x**2, x3, v, create_graph=True)
    show(out, g)


def vjp_of_a_tracked_input_without_create_graph(functional, x3, show):
    a = x3.clone().requires_grad_()
    show(functional.vjp(lambda x: x**3, a, x3))
    show(a.grad)


@own("nodes")
def vjp_under_no_grad(torch, functional, x3, show):
    with torch.no_grad():
        show(functional.vjp(lambda x: x**2, x3, x3))
        show(functional.vjp(lambda x: x**2, x3, x3, create_graph=True))


def vjp_of_an_integer_input(torch, functional):
    functional.vjp(lambda x: x * 1.0, torch.tensor([1, 2]), torch.ones(2))


def vjp_with_a_vector_of_another_dtype(functional, x3, show):
    show(functional.vjp(lambda x: x**2, x3, x3.float()))


def jvp(functional, x3, show):
    show(functional.jvp(lambda x: x**2, x3, x3))


def jvp_without_a_vector(torch, functional, show):
    show(functional.jvp(lambda x: x**2, torch.tensor(2.0)))


def jvp_without_a_vector_for_many_elements(functional, x3):
    functional.jvp(lambda x: x**2, x3)


def jvp_without_a_vector_for_many_inputs(functional, x3):
    functional.jvp(lambda x, y: x**2, (x3, x3))


def jvp_with_a_vector_of_another_size(torch, functional, x3):
    functional.jvp(lambda x: x**2, x3, torch.ones(2))


def jvp_with_tuples(functional, x3, show):
    show(functional.jvp(lambda x, y: (x * y, x + y), (x3, x3 * 2), (x3, x3)))


def jvp_of_a_constant(torch, functional, f64, x3, show):
    show(functional.jvp(lambda x: torch.ones(3, dtype=f64), x3, x3))


def jvp_of_a_constant_strict(torch, functional, f64, x3):
    functional.jvp(lambda x: torch.ones(3, dtype=f64), x3, x3, strict=True)


def jvp_with_an_unused_input_strict(functional, x3):
    functional.jvp(lambda x, y: x * 2, (x3, x3), (x3, x3), strict=True)


@own("nodes")
def jvp_create_graph(torch, functional, x3, show):
    a = x3.clone().requires_grad_()
    out, t = functional.jvp(lambda x: x**3, a, x3, create_graph=True)
    show(out, t)
    show(torch.autograd.grad(t.sum(), a))


def jvp_create_graph_of_a_linear_function_strict(functional, x3):
    functional.jvp(lambda x: x * 2, x3, x3, create_graph=True, strict=True)


def jvp_of_one_output_that_depends_and_one_that_does_not(torch, functional, f64, x3, show):
    show(functional.jvp(lambda x: (x * 2, torch.ones(2, dtype=f64)), x3, x3))


def jvp_of_one_output_that_does_not_depend_strict(torch, functional, f64, x3):
    functional.jvp(lambda x: (x * 2, torch.ones(2, dtype=f64)), x3, x3, strict=True)


def hvp(functional, x3, show):
    show(functional.hvp(lambda x: (x**3).sum(), x3, x3))


def hvp_without_a_vector(torch, functional, show):
    show(functional.hvp(lambda x: x**3, torch.tensor(2.0)))


def hvp_without_a_vector_for_many_elements(functional, x3):
    functional.hvp(lambda x: (x**3).sum(), x3)


def hvp_tuples(functional, x3, show):
    show(functional.hvp(lambda x, y: (x * y**2).sum(), (x3, x3), (x3, x3)))


def hvp_of_a_vector(functional, x3):
    functional.hvp(lambda x: x**3, x3, x3)


def hvp_of_a_tuple(functional, x3):
    functional.hvp(lambda x: (x.sum(),), x3, x3)


def hvp_of_a_linear_function(functional, x3, show):
    show(functional.hvp(lambda x: x.sum(), x3, x3))


def hvp_of_a_linear_function_strict(functional, x3):
    functional.hvp(lambda x: x.sum(), x3, x3, strict=True)


def hvp_of_a_constant_strict(torch, functional, x3):
    functional.hvp(lambda x: torch.ones(()), x3, x3, strict=True)


def hvp_with_an_unused_input_strict(functional, x3):
    functional.hvp(lambda x, y: (x**3).sum(), (x3, x3), (x3, x3), strict=True)


@own("nodes")
def hvp_create_graph(torch, functional, x3, show):
    a = x3.clone().requires_grad_()
    out, h = functional.hvp(lambda x: (x**3).sum(), a, x3, create_graph=True)
    show(out, h)
    show(torch.autograd.grad(h.sum(), a))


@own("nodes")
def hvp_create_graph_strict_of_a_quadratic(functional, x3, show):
    show(functional.hvp(lambda x: (x**2).sum(), x3, x3, create_graph=True, strict=True))


def hvp_with_a_vector_of_another_size(torch, functional, x3):
    functional.hvp(lambda x: (x**3).sum(), x3, torch.ones(2))


def vhp(functional, x3, show):
    show(functional.vhp(lambda x: (x**3).sum(), x3, x3))


def vhp_without_a_vector_for_many_elements(functional, x3):
    functional.vhp(lambda x: (x**3).sum(), x3)


def vhp_tuples(functional, x3, show):
    show(functional.vhp(lambda x, y: (x * y**2).sum(), (x3, x3), (x3, x3)))


def vhp_of_a_vector(functional, x3):
    functional.vhp(lambda x: x**3, x3, x3)


def vhp_of_a_linear_function_strict(functional, x3):
    functional.vhp(lambda x: x.sum(), x3, x3, strict=True)


def vhp_of_a_constant_strict(torch, functional, x3):
    functional.vhp(lambda x: torch.ones(()), x3, x3, strict=True)


def vhp_with_an_unused_input_strict(functional, x3):
    functional.vhp(lambda x, y: (x**3).sum(), (x3, x3), (x3, x3), strict=True)


@own("nodes")
def vhp_create_graph(functional, x3, show):
    a = x3.clone().requires_grad_()
    out, h = functional.vhp(lambda x: (x**3).sum(), a, x3, create_graph=True)
    show(out, h)


@own("nodes")
def vhp_create_graph_strict_of_a_quadratic(functional, x3, show):
    show(functional.vhp(lambda x: (x**2).sum(), x3, x3, create_graph=True, strict=True))
