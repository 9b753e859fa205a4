"""Memory that is shared: versions of tensors that get other memory, views that went stale, inference tensors, writes that overlap."""

from tests.programs import own, told


def _about(value):
    """A result with all that is to be seen of its memory."""
    if isinstance(value, (list, tuple)):
        return [_about(v) for v in value]
    if not hasattr(value, "stride"):
        return value
    return value, value.stride(), "view" if value._is_view() else "no view", "inference" if value.is_inference() else value._version


def set_to_the_memory_of_another(torch, show):
    a, b = torch.zeros(3), torch.ones(2)
    a.add_(1)
    b.add_(1).add_(1)
    a.set_(b)
    show(_about([a, b]))
    b.add_(1)
    show(_about([a, b]))
    a.add_(1)
    show(_about([a, b]))


def set_to_nothing(torch, show):
    a = torch.zeros(3)
    a.set_()
    show(_about(a))


def set_to_itself(torch, show):
    a = torch.zeros(4)
    a.set_(a)
    show(_about(a))


def set_on_a_base(torch, show):
    a, b = torch.zeros(4), torch.ones(2)
    v = a[:2]
    a.set_(b)
    show(_about([a, v]), v._base is a)
    a.add_(1)
    show(_about([a, v]))


def set_on_a_view(torch, show):
    a, b = torch.zeros(4), torch.ones(2)
    v = a[:2]
    v.set_(b)
    show(_about([a, v]), v._base is a)
    v.add_(1)
    show(_about([a, v]))


def set_to_a_leaf(torch, show, attempt):
    a, b = torch.zeros(2), torch.ones(3, requires_grad=True)
    a.set_(b)
    show(a.requires_grad, a.grad_fn, a.is_leaf)
    attempt(lambda: a.sum().backward())


def set_to_a_leaf_with_sizes(torch, show):
    a, b = torch.zeros(2), torch.ones(3, requires_grad=True)
    a.set_(b, 0, (2,), (1,))
    show(_about(a), a.grad_fn)


def set_on_a_result(torch, attempt):
    a = torch.zeros(2, requires_grad=True) * 2
    a.set_(torch.ones(3))
    attempt(lambda: a.sum().backward())


def set_on_a_view_of_a_result(torch, show):
    x = torch.zeros(4, requires_grad=True) * 2
    a = x[:2]
    a.set_(torch.ones(3))
    show(a.grad_fn, x.grad_fn, a._base is x)


def set_on_a_view_whose_base_gets_history(torch, show, attempt):
    x, w = torch.zeros(4), torch.ones(4, requires_grad=True)
    a = x[:2]
    a.set_(torch.ones(3))
    x.mul_(w)
    attempt(lambda: a.sum().backward())
    attempt(lambda: _about([a, x, w.grad]))


def data_of_another(torch, show):
    a, b = torch.zeros(4), torch.ones(3)
    b.add_(1)
    a.data = b
    show(_about(a))
    a.add_(1)
    show(_about([a, b]))


def data_of_a_base_with_history(torch, show, attempt):
    x = torch.ones(4, requires_grad=True)
    y = x * 2
    v = y[:2]
    y.data = torch.zeros(6)
    y.mul_(2)
    attempt(lambda: (_about(v), v.grad_fn))


def unsafe_split(torch, show):
    y = torch.arange(6.0)
    y.add_(1)
    parts = y.unsafe_split(2)
    parts[0].add_(1)
    show(_about([y, *parts]))


def unsafe_split_with_sizes(torch, show):
    y = torch.arange(6.0)
    y.add_(1)
    parts = y.unsafe_split_with_sizes([2, 4])
    parts[0].add_(1)
    show(_about([y, *parts]))


def unsafe_split_with_history(torch, show):
    y = torch.arange(6.0, requires_grad=True) * 1
    parts = y.unsafe_split(2)
    first = parts[0][:1]
    first.mul_(2)
    show(_about([first, *parts, y]), parts[0].grad_fn)


def unsafe_chunk(torch, show):
    y = torch.arange(6.0)
    y.add_(1)
    parts = y.unsafe_chunk(2)
    parts[0].add_(1)
    y.add_(1)
    show(_about([y, *parts]))


def transpose_of_a_number(torch, show):
    x = torch.zeros(())
    show(_about(x.T), x.T is x, x.mT is x)


def view_as_another_dtype_in_inference_mode(torch, show):
    z = torch.arange(4.0)
    with torch.inference_mode():
        show(_about(z.view(torch.int32)))


def retained_gradient_after_a_transpose_in_place(torch, show):
    y = torch.ones(2, 3, requires_grad=True) * 2
    y.retain_grad()
    (y * y).sum().backward(retain_graph=True)
    y.t_()
    (y * y).sum().backward()
    show(_about(y.grad))


_ASKED_OF_A_VIEW = {
    "retain_grad": lambda torch, y, v: v.retain_grad(),
    "retains_grad": lambda torch, y, v: v.retains_grad,
    "requires_grad": lambda torch, y, v: v.requires_grad,
    "requires_grad_": lambda torch, y, v: v.requires_grad_(),
    "requires_grad_(False)": lambda torch, y, v: v.requires_grad_(False),
    "requires_grad = True": lambda torch, y, v: setattr(v, "requires_grad", True),
    "requires_grad = False": lambda torch, y, v: setattr(v, "requires_grad", False),
    "is_leaf": lambda torch, y, v: v.is_leaf,
    "grad_fn": lambda torch, y, v: v.grad_fn.name(),
    "detach": lambda torch, y, v: v.detach(),
    "detach_": lambda torch, y, v: v.detach_(),
    "data": lambda torch, y, v: v.data,
    "v * 2": lambda torch, y, v: v * 2,
    "view": lambda torch, y, v: v.view(-1),
    "add_": lambda torch, y, v: v.add_(1),
    "clone": lambda torch, y, v: v.clone(),
    "zero_": lambda torch, y, v: v.zero_(),
    "backward of it": lambda torch, y, v: v.sum().backward(),
    "grad for it": lambda torch, y, v: torch.autograd.grad(y.sum(), v),
    "backward of the base": lambda torch, y, v: y.sum().backward(),
    "copy_": lambda torch, y, v: v.copy_(torch.ones(2)),
    "copy_ from it": lambda torch, y, v: torch.ones(2).copy_(v),
    "data.add_": lambda torch, y, v: v.data.add_(1),
    "v == v": lambda torch, y, v: v == v,
    "unsqueeze_": lambda torch, y, v: v.unsqueeze_(0),
}


def _ask(torch, attempt, made):
    """Asks each question of a new view, whose base was written to after it was made."""
    for label, question in _ASKED_OF_A_VIEW.items():
        y, v = made()
        attempt(lambda: _about(question(torch, y, v)), label)


def a_view_among_several_after_a_write(torch, attempt):
    def made():
        y = torch.arange(4.0, requires_grad=True) * 1
        v = y.split(2)[0]
        y.mul_(2)
        return y, v

    _ask(torch, attempt, made)


def a_view_among_several_after_a_write_that_brings_history(torch, attempt):
    def made():
        y = torch.arange(4.0)
        v = y.split(2)[0]
        y.mul_(torch.ones(4, requires_grad=True))
        return y, v

    _ask(torch, attempt, made)


def a_view_made_under_no_grad_after_a_write(torch, attempt):
    def made():
        y = torch.arange(4.0, requires_grad=True) * 1
        with torch.no_grad():
            v = y[:2]
        y.mul_(2)
        return y, v

    _ask(torch, attempt, made)


def a_view_made_under_no_grad_after_a_write_that_brings_history(torch, attempt):
    def made():
        y = torch.arange(4.0)
        with torch.no_grad():
            v = y[:2]
        y.mul_(torch.ones(4, requires_grad=True))
        return y, v

    _ask(torch, attempt, made)


def a_view_made_in_inference_mode_after_a_write(torch, attempt):
    def made():
        y = torch.arange(4.0, requires_grad=True) * 1
        with torch.inference_mode():
            v = y[:2]
        y.mul_(2)
        return y, v

    _ask(torch, attempt, made)


def a_view_of_a_leaf_after_a_write_under_no_grad(torch, attempt):
    def made():
        y = torch.arange(4.0, requires_grad=True)
        with torch.no_grad():
            v = y[:2]
            y.mul_(2)
        return y, v

    _ask(torch, attempt, made)


@own("nodes")
def a_view_after_a_write(torch, attempt):
    def made():
        y = torch.arange(4.0, requires_grad=True) * 1
        v = y[:2]
        y.mul_(2)
        return y, v

    _ask(torch, attempt, made)


def an_inference_tensor_outside(torch, attempt):
    for label, use in {
        "detach": lambda t, w: t.detach(),
        "view": lambda t, w: t.view(2, 2),
        "slice": lambda t, w: t[1:],
        "data": lambda t, w: t.data,
        "view as integers": lambda t, w: t.view(torch.int32),
        "requires_grad_": lambda t, w: t.requires_grad_(),
        "add_": lambda t, w: t.add_(1),
        "detach, add_": lambda t, w: t.detach().add_(1),
        "data, add_": lambda t, w: t.data.add_(1),
        "_version": lambda t, w: t._version,
        "detach, _version": lambda t, w: t.detach()._version,
        "flip": lambda t, w: t.flip(0),
        "expand": lambda t, w: t.expand(2, 4),
        "split": lambda t, w: t.split(2),
        "unsafe_split": lambda t, w: t.unsafe_split(2),
        "resize_": lambda t, w: t.resize_(2),
        "set_": lambda t, w: t.set_(),
        "detach_": lambda t, w: t.detach_(),
        "view, add_": lambda t, w: t.view(2, 2).add_(1),
        "out=": lambda t, w: torch.exp(torch.ones(4), out=t),
        "times a leaf": lambda t, w: t * w,
        "added to a leaf": lambda t, w: w + t,
        "copy_ from it": lambda t, w: w.clone().copy_(t),
        "mul_ by it": lambda t, w: w.clone().mul_(t),
        "sin": lambda t, w: t.sin(),
        "data = a tensor": lambda t, w: setattr(t, "data", torch.ones(2)),
        "data of a leaf = it": lambda t, w: setattr(w, "data", t),
        "stack": lambda t, w: torch.stack([w, t]),
    }.items():
        with torch.inference_mode():
            t = torch.arange(4.0)
        w = torch.ones(4, requires_grad=True)
        attempt(lambda: _about(use(t, w)), label)


def roll_without_dimensions(torch, attempt):
    z = torch.tensor(3.0)
    attempt(lambda: _about(z.roll(1)))
    attempt(lambda: _about(z.roll(1, 0)))
    attempt(lambda: _about(z.roll((1, 2), (0, 0))))
    attempt(lambda: _about(z.roll(1, 1)))
    attempt(lambda: _about(torch.ones(0).roll(1, 3)))
    attempt(lambda: _about(torch.ones(3).roll((1, 2))))


def writes_by_index_to_a_number(torch, attempt):
    for write in (
        lambda z: z.index_add_(0, torch.tensor([0, 0]), torch.tensor(1.0)),
        lambda z: z.index_add_(0, torch.tensor([-1]), torch.tensor(1.0)),
        lambda z: z.index_add_(0, torch.tensor([0]), torch.tensor([1.0])),
        lambda z: z.index_fill_(0, torch.tensor([1]), 1.0),
        lambda z: z.index_fill_(0, torch.tensor(0), 1.0),
        lambda z: z.index_copy_(0, torch.tensor([0, 0]), torch.tensor([1.0, 2.0])),
        lambda z: z.index_copy_(0, torch.tensor([], dtype=torch.long), torch.tensor([])),
        lambda z: z.index_copy_(0, torch.tensor([0, 0]), torch.tensor(1.0)),
        lambda z: z.index_select(0, torch.tensor([0, 0])),
        lambda z: z.__setitem__(torch.tensor([0, 0]), 1.0),
        lambda z: z.renorm_(2, 0, 1.0),
    ):
        attempt(lambda: _about(write(torch.tensor(3.0))))


def writes_to_expanded_tensors(torch, attempt):
    attempt(lambda: _about(torch.ones(1, 3).expand(2, 3).renorm_(2, 0, 1.0)))
    attempt(lambda: _about(torch.ones(1).expand(3).fill_(2)))
    attempt(lambda: _about(torch.ones(1).expand(3).fill_(torch.tensor(2.0))))
    attempt(lambda: _about(torch.ones(1, 3).expand(3, 3).tril_()))
    attempt(lambda: _about(torch.arange(1.0, 4.0).view(3, 1).expand(3, 3).triu_()))
    attempt(lambda: _about(torch.ones(1, 3).expand(3, 3).pow_(1)))
    attempt(lambda: _about(torch.ones(3, 1).expand(3, 3).bernoulli_(torch.ones(3, 3))))


def writes_from_the_same_memory(torch, attempt):
    for write in (
        lambda o: o.add_(o[0]),
        lambda o: o[None].mul_(o),
        lambda o: o[None].copy_(o),
        lambda o: o.__setitem__(None, o),
        lambda o: o[:2].add_(o[1:]),
        lambda o: o[:2].copy_(o[1:]),
        lambda o: o[::2].copy_(o[:2]),
    ):
        attempt(lambda: _about(write(torch.arange(3.0))))


def as_strided_scatter(torch, attempt):
    o = torch.arange(3.0)
    attempt(lambda: _about(torch.as_strided_scatter(o[1:], torch.tensor([9.0]), (1,), (1,), 2)))
    attempt(lambda: _about(torch.as_strided_scatter(o.view(3, 1).t(), torch.tensor([9.0]), (1,), (1,))))
    attempt(lambda: _about(torch.as_strided_scatter(o[1:], torch.tensor([9.0]), (1,), (1,), 4)))


def spread_of_one_element(torch, attempt):
    o = torch.arange(3.0)
    attempt(lambda: _about(torch.var(o[:1], dim=0)))
    attempt(lambda: _about(torch.std(o[:1], 0, correction=2)))


@told("nan_origin", why="of one element, with a correction")
def derivatives_of_a_spread(torch, autograd, leaf, show, attempt):
    for spread in (torch.var, torch.std):
        for x in (leaf([2.0]), leaf([2.0, 5.0])):
            for correction in range(4):
                for dim in (None, 0):
                    y = spread(x, dim=dim, correction=correction)
                    (g,) = autograd.grad(y, x, create_graph=True)
                    show(y.detach(), g.detach(), g.requires_grad and autograd.grad(g.sum(), x))
