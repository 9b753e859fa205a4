"""Hooks on leaves: post accumulate hooks and those of AccumulateGrad."""


def post_accumulate_hooks(leaf, show):
    x = leaf(1.0, 2.0)

    def clear(p):
        show(p, p.grad)
        p.grad = None

    h = x.register_post_accumulate_grad_hook(clear)
    (x * 2).sum().backward()
    show(x.grad)
    h.remove()
    (x * 2).sum().backward()
    show(x.grad)


def post_accumulate_hooks_are_called_once_per_backward(leaf, show):
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda p: show("called", p.grad))
    (x * 2 + x * 3).backward()
    (x * 2).backward()


def post_accumulate_hook_that_frees_and_updates(torch, leaf, show):
    x = leaf(1.0)

    def step(p):
        with torch.no_grad():
            p -= 0.1 * p.grad
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 2).backward()
    show(x, x.grad)


def hook_of_accumulate_grad(leaf, show):
    x = leaf(1.0)
    y = x * 2
    acc = y.grad_fn.next_functions[0][0]
    acc.register_hook(lambda gi, go: show("post", gi, go, x.grad))
    acc.register_prehook(lambda go: (go[0] * 10,))
    y.backward()
    show(x.grad)


def prehook_order_on_accumulate_grad(leaf, show):
    x = leaf(1.0)
    y = x * 2
    acc = y.grad_fn.next_functions[0][0]
    acc.register_prehook(lambda go: show("pre", go))
    x.register_hook(lambda g: show("tensor", g))
    x.register_post_accumulate_grad_hook(lambda p: show("accumulated"))
    acc.register_hook(lambda gi, go: show("post", gi, go))
    y.backward()


def accumulate_grad_goes_away(leaf, show):
    x = leaf(1.0)
    y = x * 2
    acc = y.grad_fn.next_functions[0][0]
    show(acc.variable is x, acc.next_functions)
    del y
    z = x * 3
    show(z.grad_fn.next_functions[0][0] is acc)


def clearing_grad_in_a_tensor_hook(leaf, show):
    x = leaf(1.0)
    (x * 2).backward()

    def hook(g):
        x.grad = None

    x.register_hook(hook)
    (x * 3).backward()
    show(x.grad)


def setting_grad_in_a_post_accumulate_hook(leaf, show):
    x = leaf(1.0)

    def hook(p):
        p.grad = p.grad * 2

    x.register_post_accumulate_grad_hook(hook)
    (x * 3).backward()
    (x * 3).backward()
    show(x.grad)


def backward_inside_a_post_accumulate_hook(leaf, show):
    x, w = leaf(1.0), leaf(2.0)

    def hook(p):
        if w.grad is None:
            (w * 5).backward()

    x.register_post_accumulate_grad_hook(hook)
    (x * 3).backward()
    show(x.grad, w.grad)


def an_exception_in_a_post_accumulate_hook(leaf, show, attempt):
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda p: 1 / 0)
    attempt(lambda: (x * 3).backward())
    show(x.grad)


def several_post_accumulate_hooks(leaf, show):
    x = leaf(1.0)
    a = x.register_post_accumulate_grad_hook(lambda p: show("a"))
    x.register_post_accumulate_grad_hook(lambda p: show("b"))
    (x * 3).backward()
    a.remove()
    (x * 3).backward()
    show(len(x._post_accumulate_grad_hooks))
