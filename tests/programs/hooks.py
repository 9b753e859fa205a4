"""Hooks on tensors and on nodes."""

import collections
import copy
import pickle

from tests.programs import differs


def order_of_tensor_hooks(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: show("first", g))
    y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: show("third", g))
    y.retain_grad()
    y.register_hook(lambda g: show("after retain", g))
    y.register_hook(lambda g: g * 5)
    y.backward()
    show(y.grad, x.grad)


def order_of_hooks_on_a_leaf(leaf, show):
    x = leaf(1.0)
    x.register_hook(lambda g: show("first", g))
    x.register_hook(lambda g: g * 2)
    x.register_post_accumulate_grad_hook(lambda t: show("post", t, t.grad))
    x.register_hook(lambda g: show("third", g))
    (x * 3).backward()
    show(x.grad)


def hooks_and_node_hooks_together(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: show("tensor", g))
    y.grad_fn.register_prehook(lambda gs: show("pre", gs))
    y.grad_fn.register_hook(lambda gi, go: show("post", gi, go))
    y.retain_grad()
    y.register_hook(lambda g: show("tensor 2", g))
    y.grad_fn.register_prehook(lambda gs: show("pre 2", gs))
    y.backward()


def node_hooks_that_change_gradients(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 100, *gi[1:]))
    y.backward()
    show(x.grad)


def what_node_hooks_may_return(torch, leaf, show, attempt):
    x = leaf(1.0)
    for made in (
        lambda a: (a, None),
        lambda a: [a],
        lambda a: a,
        lambda a: (),
        lambda a: (a, a, a),
        lambda a: (None, None),
        lambda a: 3,
        lambda a: (3, None),
        lambda a: (torch.ones(5), None),
        lambda a: (a.double(), None),
    ):
        x.grad = None
        y = x * 2
        y.grad_fn.register_hook(lambda gi, go: made(gi[0]))
        attempt(lambda: y.backward())
        show(x.grad)


def what_node_prehooks_may_return(torch, leaf, show, attempt):
    x = leaf(1.0)
    for made in (
        lambda a: (a * 3,),
        lambda a: [a],
        lambda a: a,
        lambda a: (),
        lambda a: (a, a),
        lambda a: (None,),
        lambda a: 3,
        lambda a: ("x",),
        lambda a: (torch.ones(5),),
        lambda a: (a.double(),),
    ):
        x.grad = None
        y = x * 2
        y.grad_fn.register_prehook(lambda go: made(go[0]))
        attempt(lambda: y.backward())
        show(x.grad)


def what_tensor_hooks_may_return(torch, leaf, show, attempt):
    x = leaf(1.0, 2.0)
    for made in (
        lambda a: a * 3,
        lambda a: None,
        lambda a: (a,),
        lambda a: [a],
        lambda a: 3,
        lambda a: "x",
        lambda a: torch.ones(1),
        lambda a: torch.ones(2, 2),
        lambda a: a.double(),
        lambda a: a.long(),
        lambda a: torch.ones(2, device="meta"),
        lambda a: a.detach(),
        lambda a: a.expand(3, 2),
    ):
        x.grad = None
        y = x * 2
        y.register_hook(made)
        attempt(lambda: y.sum().backward())
        show(x.grad)


def what_leaf_hooks_may_return(torch, leaf, show, attempt):
    for made in (lambda a: a * 3, lambda a: (a,), lambda a: 3, lambda a: torch.ones(1), lambda a: a.double()):
        x = leaf(1.0, 2.0)
        x.register_hook(made)
        attempt(lambda: (x * 2).sum().backward())
        show(x.grad)


def what_post_accumulate_hooks_may_return(leaf, show, attempt):
    for made in (lambda a: None, lambda a: a, lambda a: 3):
        x = leaf(1.0, 2.0)
        x.register_post_accumulate_grad_hook(made)
        attempt(lambda: (x * 2).sum().backward())
        show(x.grad)


def names_in_hook_errors(torch, leaf, attempt):
    def my_hook(g):
        return torch.ones(7)

    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(my_hook)
    attempt(lambda: y.sum().backward())

    class Hook:
        def __call__(self, g):
            return torch.ones(7)

    y = x * 2
    y.register_hook(Hook())
    attempt(lambda: y.sum().backward())


def registering_where_it_is_refused(torch, leaf, attempt):
    x = torch.ones(2)
    attempt(lambda: x.register_hook(print))
    attempt(lambda: x.register_post_accumulate_grad_hook(print))
    attempt(lambda: x.retain_grad())
    y = leaf(1.0) * 2
    attempt(lambda: y.register_post_accumulate_grad_hook(print))
    attempt(lambda: leaf(1.0).retain_grad())
    attempt(lambda: y.register_hook(3))
    attempt(lambda: leaf(1.0).register_hook(None))
    attempt(lambda: y.backward())


def removing_hooks(leaf, show):
    x = leaf(1.0)
    y = x * 2
    a = y.register_hook(lambda g: show("a"))
    b = y.register_hook(lambda g: show("b"))
    y.backward(retain_graph=True)
    a.remove()
    a.remove()
    y.backward(retain_graph=True)
    b.remove()
    y.backward(retain_graph=True)
    with y.register_hook(lambda g: show("c")):
        y.backward(retain_graph=True)
    y.backward()


def removing_a_hook_inside_a_hook(leaf, show):
    x = leaf(1.0)
    y = x * 2
    handles = []

    def once(g):
        show("once")
        handles[0].remove()
        handles[1].remove()

    handles.append(y.register_hook(once))
    handles.append(y.register_hook(lambda g: show("other")))
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)


def removing_a_node_hook_inside_a_node_hook(leaf, show):
    x = leaf(1.0)
    y = x * 2
    handles = []

    def once(gi, go):
        show("once")
        handles[0].remove()
        handles[1].remove()

    handles.append(y.grad_fn.register_hook(once))
    handles.append(y.grad_fn.register_hook(lambda gi, go: show("other")))
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)


def adding_a_hook_inside_a_hook(leaf, show):
    x = leaf(1.0)
    y = x * 2

    def add(g):
        show("add")
        y.register_hook(lambda g: show("added"))

    y.register_hook(add)
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)


def hooks_that_fail(leaf, show, attempt):
    x = leaf(1.0)
    y = x * 2
    h = y.register_hook(lambda g: 1 / 0)
    attempt(lambda: y.backward(retain_graph=True))
    h.remove()
    attempt(lambda: y.backward(retain_graph=True))
    show(x.grad)


def handles(leaf, show):
    x = leaf(1.0)
    h = x.register_hook(lambda g: g)
    show(type(h), type(x * 2), hasattr(h, "id"))
    show(len(x._backward_hooks))
    h.remove()
    show(len(x._backward_hooks))


def hooks_and_in_place_writes(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: show("before", g))
    y.mul_(3)
    y.register_hook(lambda g: show("after", g))
    y.backward()
    show(x.grad)


def hook_on_a_tensor_before_and_after_a_write_in_place_order(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g + 1)
    y.retain_grad()
    y.exp_()
    y.register_hook(lambda g: g * 2)
    y.backward()
    show(y.grad, x.grad)


def hook_on_a_tensor_kept_by_grad(autograd, leaf, show):
    x = leaf(2.0)
    y = x * x
    z = y * 3
    y.register_hook(lambda g: g * 10)
    show(autograd.grad(z, x, retain_graph=True))
    show(autograd.grad(z, y, retain_graph=True))


def hooks_of_leaves_in_grad(autograd, leaf, show):
    x = leaf(2.0)
    x.register_hook(lambda g: g * 10)
    x.register_post_accumulate_grad_hook(lambda t: show("post"))
    show(autograd.grad(x * x, x))
    (x * x).backward(inputs=[x])
    show(x.grad)


def hooks_see_undefined_gradients(Function, leaf, show):
    class Drop(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: show("hook", g))
    y.grad_fn.register_prehook(lambda g: show("pre", g))
    y.grad_fn.register_hook(lambda a, b: show("post", a, b))
    x.register_hook(lambda g: show("leaf", g))
    x.register_post_accumulate_grad_hook(lambda p: show("acc", p.grad))
    Drop.apply(y).backward()
    show(x.grad)


def a_hook_gives_a_gradient_where_there_was_none(torch, Function, leaf, show, attempt):
    class Drop(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x = leaf(1.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda g: (torch.ones(()),))
    attempt(lambda: Drop.apply(y).backward())
    show(x.grad)


def the_gradient_in_a_hook(torch, leaf, show):
    x = leaf(1.0, 2.0)
    y = x * 2

    def hook(g):
        show(g, g.requires_grad, g.is_leaf, torch.is_grad_enabled())

    y.register_hook(hook)
    y.sum().backward(retain_graph=True)
    y.sum().backward(create_graph=True)


def writing_into_the_gradient_in_a_hook(torch, leaf, show):
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y + y.clone()

    def hook(g):
        g.mul_(5)

    y.register_hook(hook)
    z.backward(torch.ones(2))
    show(x.grad)


def hooks_on_a_tensor_of_several_outputs(leaf, show):
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    a.register_hook(lambda g: show("a", g))
    b.register_hook(lambda g: g * 10)
    b.retain_grad()
    (a * 2 + b * 3).backward()
    show(b.grad, x.grad)


def prehook_on_several_outputs(leaf, show):
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    a.grad_fn.register_prehook(lambda gs: show(gs))
    a.grad_fn.register_hook(lambda gi, go: show(gi, go))
    a.backward()
    show(x.grad)


def hooks_on_views_share_nothing(leaf, show):
    x = leaf(1.0, 2.0)
    y = x * 2
    v = y.view(2, 1)
    v.register_hook(lambda g: show("v", g))
    y.register_hook(lambda g: show("y", g))
    (v.sum() + y.sum()).backward()


def requires_grad_false_and_hooks(leaf, show):
    x = leaf(1.0)
    x.register_hook(lambda g: show("hook"))
    y = x * 2
    x.requires_grad_(False)
    y.backward()
    show(x.grad)


def detach_and_hooks(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: show("hook"))
    y.retain_grad()
    y.detach_()
    show(y, y.retains_grad, y.is_leaf)
    y.requires_grad_()
    (y * 3).backward()
    show(y.grad)


def register_hook_dict_and_backward_hooks(leaf, show):
    x = leaf(1.0)
    show(x._backward_hooks)
    h = x.register_hook(lambda g: g * 2)
    show(type(x._backward_hooks), list(x._backward_hooks) == [h.id])
    x._backward_hooks.clear()
    (x * 2).backward()
    show(x.grad)


def setting_backward_hooks(leaf, show):
    x = leaf(1.0)
    x._backward_hooks = collections.OrderedDict([(0, lambda g: g * 5)])
    (x * 2).backward()
    show(x.grad)
    x._backward_hooks = None
    show(x._backward_hooks)
    (x * 2).backward()
    show(x.grad)


def a_hook_on_the_root(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g * 7)
    y.backward()
    show(x.grad)


def a_hook_on_a_root_that_is_a_leaf(autograd, leaf, show, attempt):
    x = leaf(1.0)
    x.register_hook(lambda g: g * 7)
    x.backward()
    show(x.grad)
    attempt(lambda: autograd.grad(x, x))


def hooks_and_deepcopy(leaf, show):
    x = leaf(1.0)
    x.register_hook(lambda g: g * 2)
    y = copy.deepcopy(x)
    show(y._backward_hooks is None or len(y._backward_hooks))
    (y * 2).backward()
    show(y.grad)


def hooks_and_pickle(leaf, attempt):
    x = leaf(1.0)
    x.register_hook(lambda g: g * 2)
    attempt(lambda: pickle.dumps(x) and None)


def unserializable_hook(torch, leaf, show):
    def f(g):
        return g * 2

    x = leaf(1.0)
    x.register_hook(torch.utils.hooks.unserializable_hook(f))
    (x * 2).backward()
    show(x.grad)


def hooks_of_clones_and_detached_tensors(leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: show("hook"))
    z = y.detach().requires_grad_()
    (z * 2).backward()
    w = y.clone()
    w.backward()


def hook_on_the_result_of_requires_grad(torch, show):
    x = torch.ones(2)
    x.requires_grad_()
    x.register_hook(lambda g: g * 3)
    x.sum().backward()
    show(x.grad)


def two_hooks_on_one_output_made_through_two_tensors(leaf, show):
    x = leaf(1.0)
    y = x * 2
    z = y
    y.register_hook(lambda g: g + 1)
    z.register_hook(lambda g: g * 10)
    y.backward()
    show(x.grad)


def data_and_hooks(torch, leaf, show):
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: show("hook", g))
    y.data = torch.tensor(5.0)
    y.backward()
    show(x.grad)


def grad_mode_changed_inside_a_hook(torch, leaf, show):
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    z.register_hook(lambda g: torch.set_grad_enabled(True) and None)
    y.register_hook(lambda g: show(torch.is_grad_enabled()))
    z.backward()
    show(torch.is_grad_enabled())


def hooks_of_a_view(leaf, show):
    x = leaf(1.0, 2.0)
    y = x * 1
    v = y[:1]
    v.register_hook(lambda g: show("v", g))
    (v * 3).sum().backward()
    show(x.grad)


def hooks_of_a_view_before_a_write_to_the_base(leaf, show):
    x = leaf(1.0, 2.0)
    y = x * 1
    v = y[:1]
    v.register_hook(lambda g: show("before", g))
    y.mul_(2)
    (v * 3).sum().backward()
    show(x.grad)


@differs("calls the one that was registered after the write")
def hooks_of_a_view_before_and_after_a_write_to_the_base(leaf, show):
    x = leaf(1.0, 2.0)
    y = x * 1
    v = y[:1]
    v.register_hook(lambda g: show("before", g))
    y.mul_(2)
    v.register_hook(lambda g: show("after", g))
    (v * 3).sum().backward()
    show(x.grad)


def hooks_of_tensors_that_grad_asks_for(autograd, leaf, show):
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    y.register_hook(lambda g: show("hook", g))
    x.register_hook(lambda g: show("leaf", g))
    autograd.grad(z, y, retain_graph=True)
    autograd.grad(z, x, retain_graph=True)
    z.backward(inputs=[y], retain_graph=True)
    z.backward(inputs=[x])


def node_hooks_in_grad_with_inputs(autograd, leaf, show):
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    y.grad_fn.register_hook(lambda a, b: show("y post"))
    y.grad_fn.register_prehook(lambda b: show("y pre"))
    z.grad_fn.register_hook(lambda a, b: show("z post"))
    autograd.grad(z, y, retain_graph=True)
    show("next")
    autograd.grad(z, x, retain_graph=True)


def prehooks_and_captured_gradients(autograd, leaf, show):
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
    show(autograd.grad(z, y, retain_graph=True))
    show(autograd.grad(z, x, retain_graph=True))
