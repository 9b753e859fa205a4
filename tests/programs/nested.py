"""Nested tensors: made, taken apart, padded, computed with element by element."""


def _three(torch):
    torch.manual_seed(0)
    return [torch.randn(n, 2, dtype=torch.float64) for n in (3, 1, 2)]


def made_and_taken_apart(torch, show, attempt):
    for layout in (torch.strided, torch.jagged):
        x = torch.nested.nested_tensor(_three(torch), layout=layout)
        show(
            x.is_nested,
            isinstance(x, torch.Tensor),
            x.layout,
            x.dim(),
            x.numel(),
            x.dtype,
            x.requires_grad,
            x.size(0),
            x.size(2),
            torch.ones(1).is_nested,
        )
        show(list(x.unbind()), x[1] if layout is torch.strided else x.unbind()[1])
    attempt(lambda: torch.nested.nested_tensor(_three(torch)).size(1))
    show(list(torch.nested.nested_tensor([[1, 2], [3]]).unbind()), list(torch.nested.as_nested_tensor(torch.ones(2, 2)).unbind()))


def padded(torch, show):
    for layout in (torch.strided, torch.jagged):
        x = torch.nested.nested_tensor(_three(torch), layout=layout)
        show(x.to_padded_tensor(0.0).sum(), x.to_padded_tensor(-1.0)[1])
        show(torch.nested.to_padded_tensor(x, 2.0, output_size=(3, 4, 2))[2])


def jagged(torch, show):
    x = torch.nested.nested_tensor(_three(torch), layout=torch.jagged)
    show(x.values(), x.offsets(), x.lengths())
    y = torch.nested.nested_tensor_from_jagged(torch.arange(5.0), torch.tensor([0, 3, 5]))
    show(list(y.unbind()), y.offsets())
    z = torch.nested.masked_select(torch.arange(4.0).reshape(2, 2), torch.tensor([[True, False], [True, True]]))
    show(list(z.unbind()))


def elementwise(torch, F, show, attempt):
    for layout in (torch.strided, torch.jagged):
        x = torch.nested.nested_tensor(_three(torch), layout=layout)
        for f in (
            lambda: x + x,
            lambda: x * 2,
            lambda: -x,
            lambda: x.relu(),
            lambda: torch.sin(x),
            lambda: F.silu(x),
            lambda: x.to(torch.float32),
            lambda: x.clone(),
        ):
            show(list(f().unbind()))
        show(list(x.softmax(-1).unbind()), list(F.linear(x, torch.ones(3, 2, dtype=torch.float64)).unbind())[1])
    y = torch.nested.nested_tensor([torch.ones(1)])
    attempt(lambda: torch.nested.nested_tensor(_three(torch)) + y)


def derivatives(torch, leaf, show):
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0, 5.0)
    x = torch.nested.as_nested_tensor([a, b])
    (x * 2).sin().to_padded_tensor(0.0).sum().backward()
    show(a.grad, b.grad)


def what_does_not_fit(torch, attempt):
    n = torch.nested.nested_tensor
    attempt(lambda: n([torch.ones(2), torch.ones(2, 2)]))
    attempt(lambda: n([torch.ones(3, 2), torch.ones(2, 3)], layout=torch.jagged))
    attempt(lambda: n(3))
