"""torch.autograd.functional: jacobian and hessian."""

from tests.programs import differs


def jacobian_of_several_functions(torch, autograd, show):
    F = autograd.functional
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0])
    show(F.jacobian(lambda x: x**2, x))
    show(F.jacobian(lambda x, y: x * y, (x, y)))
    show(F.jacobian(lambda x, y: (x * y, x + 1), (x, y)))
    show(F.jacobian(lambda x: x.sum(), x))
    show(F.jacobian(lambda x: x**2, (x,)))
    show(F.jacobian(lambda x: x**2, [x]))


def jacobian_options(torch, autograd, show, attempt):
    F = autograd.functional
    x = torch.tensor([1.0, 2.0])
    show(F.jacobian(lambda x: x**2, x, create_graph=True))
    show(F.jacobian(lambda x: x**2, x.requires_grad_(), create_graph=True).requires_grad)
    show(F.jacobian(lambda x: x**2, x, vectorize=True))
    show(F.jacobian(lambda x: x**2, x.detach(), vectorize=True, strategy="forward-mode"))
    attempt(lambda: F.jacobian(lambda x: x**2, x, strategy="forward-mode"))
    attempt(lambda: F.jacobian(lambda x: x**2, x, strategy="other"))
    attempt(lambda: F.jacobian(lambda x: x**2, x, vectorize=True, strategy="other"))
    attempt(lambda: F.jacobian(lambda x: x**2, x, vectorize=True, strict=True))
    attempt(lambda: F.jacobian(lambda x: x**2, x, vectorize=True, strategy="forward-mode", create_graph=True))
    attempt(lambda: F.jacobian(lambda x: x**2, x, vectorize=True, strategy="forward-mode", strict=True))


def jacobian_strict(torch, autograd, attempt):
    F = autograd.functional
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    attempt(lambda: F.jacobian(lambda x: x.detach(), x, strict=True))
    attempt(lambda: F.jacobian(lambda x: x.detach(), x))
    attempt(lambda: F.jacobian(lambda x, y: x * 2, (x, y), strict=True))
    attempt(lambda: F.jacobian(lambda x, y: x * 2, (x, y)))
    attempt(lambda: F.jacobian(lambda x: x * 2, x, strict=True, create_graph=True))
    attempt(lambda: F.jacobian(lambda x: (x * 2, torch.ones(2)), x, strict=True))


def jacobian_arguments(torch, autograd, attempt):
    F = autograd.functional
    x = torch.tensor([1.0, 2.0])
    attempt(lambda: F.jacobian(lambda x: 3, x))
    attempt(lambda: F.jacobian(lambda x: (x, 3), x))
    attempt(lambda: F.jacobian(lambda x: None, x))
    attempt(lambda: F.jacobian(lambda x: x, 3))
    attempt(lambda: F.jacobian(lambda x: x, (x, 3)))
    attempt(lambda: F.jacobian(lambda x: x, "a"))
    attempt(lambda: F.jacobian(lambda x: [x, x], x))
    attempt(lambda: F.jacobian(lambda: 1, ()))


def hessian_of_several_functions(torch, autograd, show, attempt):
    F = autograd.functional
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0])
    show(F.hessian(lambda x: (x**3).sum(), x))
    show(F.hessian(lambda x, y: (x * y).sum(), (x, y)))
    attempt(lambda: F.hessian(lambda x: x**2, x))
    attempt(lambda: F.hessian(lambda x: (x.sum(), x.sum()), x))
    attempt(lambda: F.hessian(lambda x: x.sum(), x, strict=True))
    attempt(lambda: F.hessian(lambda x: x.sum(), x))
    attempt(lambda: F.hessian(lambda x: (x**3).sum(), x, vectorize=True))
    attempt(lambda: F.hessian(lambda x: (x**3).sum(), x, outer_jacobian_strategy="forward-mode"))
    attempt(lambda: F.hessian(lambda x: (x**3).sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode").detach())
    attempt(lambda: F.hessian(lambda x: (x**3).sum(), x, outer_jacobian_strategy="other"))
    attempt(lambda: F.hessian(lambda x: 3, x))
    attempt(lambda: F.hessian(lambda x: (x**3).sum(), x, create_graph=True))


def jacobian(functional, x3, show):
    show(functional.jacobian(lambda x: x**2, x3))


def jacobian_of_tuples(functional, x3, show):
    show(functional.jacobian(lambda x, y: (x * y, x.sum()), (x3, x3)))


def jacobian_of_a_tuple_of_one(functional, x3, show):
    show(functional.jacobian(lambda x: (x * 2,), (x3,)))


def jacobian_of_a_tuple_of_one_input(functional, x3, show):
    show(functional.jacobian(lambda x: x * 2, (x3,)))


def jacobian_of_a_scalar(functional, x3, show):
    show(functional.jacobian(lambda x: x.sum(), x3))


def jacobian_of_a_number_tensor(torch, functional, f64, x3, show):
    show(functional.jacobian(lambda x: x * x3, torch.tensor(2.0, dtype=f64)))


def jacobian_of_a_constant(torch, functional, x3, show):
    show(functional.jacobian(lambda x: torch.ones(2), x3))


def jacobian_of_a_constant_strict(torch, functional, x3):
    functional.jacobian(lambda x: torch.ones(2), x3, strict=True)


def jacobian_with_an_unused_input(functional, x3, show):
    show(functional.jacobian(lambda x, y: x * 2, (x3, x3)))


def jacobian_with_an_unused_input_strict(functional, x3):
    functional.jacobian(lambda x, y: x * 2, (x3, x3), strict=True)


def jacobian_of_an_output_that_is_the_input(functional, x3, show):
    show(functional.jacobian(lambda x: x, x3))


def jacobian_create_graph(torch, functional, x3, show):
    a = x3.clone().requires_grad_()
    j = functional.jacobian(lambda x: x**3, a, create_graph=True)
    show(j)
    show(torch.autograd.grad(j.sum(), a))


def jacobian_create_graph_of_a_linear_function(functional, x3, show):
    show(functional.jacobian(lambda x: x * 2, x3, create_graph=True))


def jacobian_create_graph_of_a_linear_function_strict(functional, x3):
    functional.jacobian(lambda x: x * 2, x3, create_graph=True, strict=True)


def jacobian_create_graph_of_a_constant(torch, functional, x3, show):
    show(functional.jacobian(lambda x: torch.ones(2), x3, create_graph=True))


def jacobian_vectorize(functional, x3, show):
    show(functional.jacobian(lambda x: x**2, x3, vectorize=True))


def jacobian_vectorize_tuples(functional, x3, show):
    show(functional.jacobian(lambda x, y: (x * y, x.sum()), (x3, x3), vectorize=True))


def jacobian_vectorize_constant(torch, functional, x3, show):
    show(functional.jacobian(lambda x: torch.ones(2), x3, vectorize=True))


def jacobian_vectorize_one_constant(torch, functional, x3, show):
    show(functional.jacobian(lambda x: (torch.ones(2), x * 2), x3, vectorize=True))


def jacobian_vectorize_create_graph(torch, functional, x3, show):
    a = x3.clone().requires_grad_()
    j = functional.jacobian(lambda x: x**3, a, create_graph=True, vectorize=True)
    show(j)
    show(torch.autograd.grad(j.sum(), a))


def jacobian_vectorize_strict(functional, x3):
    functional.jacobian(lambda x: x**2, x3, vectorize=True, strict=True)


def jacobian_vectorize_with_outputs_of_two_dtypes(functional, x3, show):
    show(functional.jacobian(lambda x: (x * 2, (x * 2).float()), x3, vectorize=True))


def jacobian_forward(functional, x3, show):
    show(functional.jacobian(lambda x: x**2, x3, vectorize=True, strategy="forward-mode"))


@differs("tuples, as in reverse mode")
def jacobian_forward_tuples(functional, x3, show):
    show(functional.jacobian(lambda x, y: (x * y, x.sum()), (x3, x3), vectorize=True, strategy="forward-mode"))


def jacobian_forward_constant(torch, functional, x3, show):
    show(functional.jacobian(lambda x: torch.ones(2), x3, vectorize=True, strategy="forward-mode"))


def jacobian_forward_not_vectorized(functional, x3):
    functional.jacobian(lambda x: x**2, x3, strategy="forward-mode")


def jacobian_forward_create_graph(functional, x3):
    functional.jacobian(lambda x: x**2, x3, vectorize=True, create_graph=True, strategy="forward-mode")


def jacobian_forward_strict(functional, x3):
    functional.jacobian(lambda x: x**2, x3, vectorize=True, strict=True, strategy="forward-mode")


@differs("no history without create_graph")
def jacobian_forward_of_a_tracked_input(functional, x3, show):
    a = x3.clone().requires_grad_()
    show(functional.jacobian(lambda x: x**2, a, vectorize=True, strategy="forward-mode"))


def jacobian_unknown_strategy(functional, x3):
    functional.jacobian(lambda x: x**2, x3, strategy="sideways")


def jacobian_of_a_number(functional, x3):
    functional.jacobian(lambda x: 1.0, x3)


def jacobian_of_a_list_input(functional, x3):
    functional.jacobian(lambda x: x, [x3])


def jacobian_of_an_integer_output(functional, x3, show):
    show(functional.jacobian(lambda x: x.long(), x3))


def jacobian_of_an_integer_input(torch, functional):
    functional.jacobian(lambda x: x * 1.0, torch.tensor([1, 2]))


def jacobian_leaves_grad_alone(functional, x3, show):
    a = x3.clone().requires_grad_()
    functional.jacobian(lambda x: x**2, a)
    show(a.grad)


def jacobian_with_a_parameter(functional, x3, show):
    w = x3.clone().requires_grad_()
    show(functional.jacobian(lambda x: x * w, x3))
    show(functional.jacobian(lambda x: x * w, x3, create_graph=True))
    show(w.grad)


def jacobian_under_no_grad(torch, functional, x3, show):
    with torch.no_grad():
        show(functional.jacobian(lambda x: x**2, x3))


def jacobian_of_an_in_place_function(functional, x3, show):
    def f(x):
        y = x.clone()
        y.mul_(x)
        return y

    show(functional.jacobian(f, x3))


def jacobian_writes_to_its_input(functional, x3):
    functional.jacobian(lambda x: x.mul_(2), x3.clone())


def hessian(functional, x3, show):
    show(functional.hessian(lambda x: (x**3).sum(), x3))


def hessian_of_tuples(functional, x3, show):
    show(functional.hessian(lambda x, y: (x * y**2).sum(), (x3, x3)))


def hessian_of_a_tuple_of_one(functional, x3, show):
    show(functional.hessian(lambda x: (x**3).sum(), (x3,)))


def hessian_of_one_element(functional, x3, show):
    show(functional.hessian(lambda x: (x**3).sum().reshape(1, 1), x3))


def hessian_of_a_vector(functional, x3):
    functional.hessian(lambda x: x**3, x3)


def hessian_of_a_tuple(functional, x3):
    functional.hessian(lambda x: (x.sum(), x.sum()), x3)


def hessian_of_a_number(functional, x3):
    functional.hessian(lambda x: 2.0, x3)


def hessian_of_a_linear_function(functional, x3, show):
    show(functional.hessian(lambda x: x.sum(), x3))


def hessian_of_a_linear_function_strict(functional, x3):
    functional.hessian(lambda x: x.sum(), x3, strict=True)


def hessian_of_a_constant(torch, functional, x3, show):
    show(functional.hessian(lambda x: torch.ones(()), x3))


def hessian_of_a_constant_strict(torch, functional, x3):
    functional.hessian(lambda x: torch.ones(()), x3, strict=True)


def hessian_with_an_unused_input_strict(functional, x3):
    functional.hessian(lambda x, y: (x**3).sum(), (x3, x3), strict=True)


def hessian_with_an_input_that_is_linear_strict(functional, x3):
    functional.hessian(lambda x, y: (x**3).sum() + y.sum(), (x3, x3), strict=True)


def hessian_create_graph(torch, functional, x3, show):
    a = x3.clone().requires_grad_()
    h = functional.hessian(lambda x: (x**3).sum(), a, create_graph=True)
    show(h)
    show(torch.autograd.grad(h.sum(), a))


def hessian_create_graph_strict_of_a_quadratic(functional, x3, show):
    show(functional.hessian(lambda x: (x**2).sum(), x3, create_graph=True, strict=True))


def hessian_vectorize(functional, x3, show):
    show(functional.hessian(lambda x: (x**3).sum(), x3, vectorize=True))


def hessian_vectorize_tuples(functional, x3, show):
    show(functional.hessian(lambda x, y: (x * y**2).sum(), (x3, x3), vectorize=True))


def hessian_vectorize_strict(functional, x3):
    functional.hessian(lambda x: (x**3).sum(), x3, vectorize=True, strict=True)


@differs("no history without create_graph")
def hessian_forward(functional, x3, show):
    show(functional.hessian(lambda x: (x**3).sum(), x3, vectorize=True, outer_jacobian_strategy="forward-mode"))


def hessian_forward_not_vectorized(functional, x3):
    functional.hessian(lambda x: (x**3).sum(), x3, outer_jacobian_strategy="forward-mode")


def hessian_forward_create_graph(functional, x3):
    functional.hessian(lambda x: (x**3).sum(), x3, vectorize=True, create_graph=True, outer_jacobian_strategy="forward-mode")


def hessian_unknown_strategy(functional, x3):
    functional.hessian(lambda x: (x**3).sum(), x3, outer_jacobian_strategy="up")
