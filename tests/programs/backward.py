"""backward(): roots, gradients given, inputs, retain_graph, tensors that change before it runs."""


def retain_graph(leaf, show, attempt):
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    attempt(lambda: y.backward())
    show(x.grad)


def freed_graphs_without_saved_values_run_again(leaf, show, attempt):
    x = leaf(2.0)
    y = x + x
    y.backward()
    attempt(lambda: y.backward())
    show(x.grad)


def retain_graph_and_create_graph(autograd, leaf, attempt):
    x = leaf(2.0)
    y = x * x
    y.backward(create_graph=True)
    attempt(lambda: y.backward())
    y = x * x
    attempt(lambda: autograd.grad(y, x, retain_graph=False, create_graph=True))
    attempt(lambda: autograd.grad(y, x))


def retain_graph_odd_values(autograd, leaf, kind):
    x = leaf(2.0)
    for value in (1, 0, "a", None, []):
        kind(lambda: (x * x).backward(retain_graph=value))
        kind(lambda: (x * x).backward(create_graph=value))
        kind(lambda: autograd.grad(x * x, x, retain_graph=value))
        kind(lambda: autograd.grad(x * x, x, create_graph=value))


def roots_that_do_not_require_grad(torch, autograd, leaf, attempt):
    attempt(lambda: torch.ones(()).backward())
    attempt(lambda: torch.ones(2).backward())
    attempt(lambda: torch.ones(2).backward(torch.ones(2)))
    attempt(lambda: torch.ones(()).long().backward())
    attempt(lambda: autograd.backward([leaf(1.0), torch.ones(())]))
    attempt(lambda: autograd.grad(torch.ones(()), leaf(1.0)))
    attempt(lambda: autograd.grad([leaf(1.0) * 2, torch.ones(())], leaf(1.0)))


def roots_of_wrong_shape(torch, leaf, show, attempt):
    x = leaf(1.0, 2.0)
    attempt(lambda: (x * 2).backward())
    attempt(lambda: (x * 2).backward(torch.ones(3)))
    attempt(lambda: (x * 2).backward(torch.ones(())))
    attempt(lambda: (x * 2).backward(torch.ones(2, 1)))
    attempt(lambda: (x * 2).backward(torch.ones(1)))
    attempt(lambda: (x * 2).backward(None))
    attempt(lambda: (x * 2).sum().backward(torch.ones(1)))
    attempt(lambda: (x * 2)[:1].backward())
    show(x.grad)


def gradient_argument_of_other_types(torch, autograd, leaf, attempt):
    x = leaf(1.0, 2.0)
    for g in (1, 1.0, "a", [1.0, 1.0], (torch.ones(2),), [torch.ones(2)], True, (), {}):
        attempt(lambda: (x * 2).backward(g))
        attempt(lambda: autograd.backward(x * 2, g))
        attempt(lambda: autograd.grad(x * 2, x, g))


def gradients_of_other_dtypes(torch, autograd, leaf, show, attempt):
    x = leaf(1.0, 2.0)
    for g in (torch.ones(2).double(), torch.ones(2).long(), torch.ones(2).bool(), torch.ones(2).half(), torch.ones(2, device="meta")):
        x.grad = None
        attempt(lambda: (x * 2).backward(g), g.dtype)
        show(x.grad)
        attempt(lambda: autograd.grad(x * 2, x, g))


def gradients_that_require_grad(leaf, show, attempt):
    x = leaf(1.0, 2.0)
    g = leaf(1.0, 2.0)
    (x * 2).backward(g)
    show(x.grad)
    x.grad = None
    (x * 2).backward(g, create_graph=True)
    show(x.grad.requires_grad, x.grad.detach())
    attempt(lambda: x.grad.sum().backward())
    show(g.grad)


def backward_of_tuples(torch, autograd, leaf, show, attempt):
    x, y = leaf(1.0), leaf(2.0)
    autograd.backward((x * 2, y * 3))
    show(x.grad, y.grad)
    autograd.backward([x * 2, y * 3], [torch.tensor(5.0), None])
    show(x.grad, y.grad)
    attempt(lambda: autograd.backward((x * 2, y * 3), (torch.ones(()),)))
    attempt(lambda: autograd.backward(()))
    attempt(lambda: autograd.backward([]))
    attempt(lambda: autograd.backward(3))
    attempt(lambda: autograd.backward([3]))
    attempt(lambda: autograd.backward(None))
    attempt(lambda: autograd.backward([None]))
    attempt(lambda: autograd.backward((x * 2, 3), (None, None)))


def backward_grad_variables(torch, autograd, leaf, show, attempt):
    x = leaf(1.0)
    attempt(lambda: autograd.backward(x * 2, grad_variables=torch.ones(())))
    attempt(lambda: autograd.backward(x * 2, torch.ones(()), grad_variables=torch.ones(())))
    show(x.grad)


def the_same_root_twice(autograd, leaf, show):
    x = leaf(1.0)
    y = x * 2
    autograd.backward([y, y])
    show(x.grad)
    show(autograd.grad([x * 2, x * 3], x))


def a_root_behind_a_root(autograd, leaf, show):
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    autograd.backward([z, y])
    show(x.grad)
    x.grad = None
    y = x * 2
    z = y * 3
    autograd.backward([y, z])
    show(x.grad)


def a_leaf_as_a_root(torch, autograd, leaf, show, attempt):
    x = leaf(1.0, 2.0)
    x.backward(torch.ones(2))
    show(x.grad)
    x.backward(torch.ones(2))
    show(x.grad)
    attempt(lambda: x.backward())
    show(autograd.grad(x, x, torch.ones(2)))


def inputs(torch, leaf, show, attempt):
    x, y = leaf(1.0), leaf(2.0)
    z = x * y
    z.backward(inputs=[x], retain_graph=True)
    show(x.grad, y.grad)
    z.backward(inputs=y, retain_graph=True)
    show(x.grad, y.grad)
    z.backward(inputs=(x, y), retain_graph=True)
    show(x.grad, y.grad)
    z.backward(inputs=[x, x], retain_graph=True)
    show(x.grad)
    attempt(lambda: z.backward(inputs=[], retain_graph=True))
    attempt(lambda: z.backward(inputs=(), retain_graph=True))
    attempt(lambda: z.backward(inputs=[torch.ones(())], retain_graph=True))
    attempt(lambda: z.backward(inputs=[3], retain_graph=True))
    attempt(lambda: z.backward(inputs=3, retain_graph=True))
    attempt(lambda: z.backward(inputs=[None], retain_graph=True))
    attempt(lambda: z.backward(inputs=["a"], retain_graph=True))


def inputs_that_are_not_in_the_graph(leaf, show, attempt):
    x, y = leaf(1.0), leaf(2.0)
    attempt(lambda: (x * 2).backward(inputs=[y]))
    show(x.grad, y.grad)
    attempt(lambda: (x * 2).backward(inputs=[x, y]))
    show(x.grad, y.grad)


def inputs_that_do_not_require_grad(torch, autograd, leaf, show, attempt):
    x, y = leaf(1.0), torch.tensor(2.0)
    z = x * y
    attempt(lambda: z.backward(inputs=[y], retain_graph=True))
    attempt(lambda: z.backward(inputs=[x, y], retain_graph=True))
    attempt(lambda: autograd.grad(z, y, retain_graph=True))
    attempt(lambda: autograd.grad(z, [x, y], retain_graph=True))
    attempt(lambda: autograd.grad(z, [x, y], retain_graph=True, allow_unused=True))
    attempt(lambda: autograd.grad(z, [y], retain_graph=True, materialize_grads=True))
    show(x.grad, y.grad)


def inputs_that_are_not_leaves(leaf, show):
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    z.backward(inputs=[y], retain_graph=True)
    show(y.grad, x.grad, y.retains_grad)
    z.backward(inputs=[y, x], retain_graph=True)
    show(y.grad, x.grad)
    z.backward(retain_graph=True)
    show(y.grad, x.grad)


def the_root_as_an_input(autograd, leaf, show, attempt):
    x = leaf(1.0)
    y = x * 2
    attempt(lambda: y.backward(inputs=[y], retain_graph=True))
    show(y.grad, x.grad)
    attempt(lambda: autograd.grad(y, y, retain_graph=True))


def in_place_on_a_saved_input(leaf, attempt):
    x = leaf(2.0)
    y = x * 1
    z = y * y
    y.add_(1)
    attempt(lambda: z.backward())


def backward_of_a_view_after_its_base_changed(leaf, show):
    x = leaf(1.0, 2.0)
    y = x * 1
    v = y[0]
    y.mul_(2)
    show(v.grad_fn)
    v.backward()
    show(x.grad)


def requires_grad_of_gradients(leaf, show):
    x = leaf(2.0)
    (x * x).backward()
    show(x.grad.requires_grad, x.grad.is_leaf, x.grad.grad_fn)


def tensor_backward_arguments(torch, leaf, show, attempt, kind):
    x = leaf(2.0)
    kind(lambda: x.backward(1, 2, 3, 4, 5))
    kind(lambda: x.backward(nothing=1))
    attempt(lambda: (x * 2).backward(gradient=torch.ones(()), retain_graph=None, create_graph=False, inputs=None))
    show(x.grad)


def changing_a_leaf_between_forward_and_backward(torch, leaf, show, attempt):
    x = leaf(2.0)
    y = x * x
    with torch.no_grad():
        x.add_(1)
    attempt(lambda: y.backward())
    x = leaf(2.0)
    y = x + 1
    with torch.no_grad():
        x.add_(1)
    attempt(lambda: y.backward())
    show(x.grad)


def swapping_data_of_a_leaf_between_forward_and_backward(torch, leaf, show, attempt):
    x = leaf(1.0, 2.0)
    y = x + 3
    x.data = torch.zeros(2)
    attempt(lambda: y.sum().backward())
    show(x.grad, x)


def a_leaf_that_stops_requiring_grad(leaf, show):
    x, w = leaf(1.0), leaf(2.0)
    y = x * w
    x.requires_grad_(False)
    y.backward()
    show(x.grad, w.grad)
    x.requires_grad_()
    (x * w).backward()
    show(x.grad)


def a_leaf_turned_into_an_inner_tensor(torch, leaf, attempt):
    x = leaf(1.0)
    y = x * 2
    with torch.no_grad():
        x.requires_grad_(False)
    x.mul_(leaf(3.0))
    attempt(lambda: y.backward())


def backward_through_the_same_graph_from_two_outputs(leaf, show, attempt):
    x = leaf(2.0)
    y = x * x
    a, b = y * 2, y * 3
    a.backward(retain_graph=True)
    b.backward()
    show(x.grad)
    attempt(lambda: a.backward())


def partially_freed_graph(leaf, show, attempt):
    x = leaf(2.0)
    y = x.exp()
    a, b = y * 2, y.sin()
    a.backward()
    attempt(lambda: b.backward())
    show(x.grad)


def graph_kept_for_inputs_only(autograd, leaf, attempt):
    x, w = leaf(2.0), leaf(3.0)
    y = x.exp() * w.exp()
    autograd.grad(y, x)
    attempt(lambda: autograd.grad(y, w))
