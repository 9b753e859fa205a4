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


def _parts(result):
    return [_parts(r) for r in result] if isinstance(result, tuple) else list(result.unbind()) if result.is_nested else result


def reductions(torch, show):
    x = torch.nested.nested_tensor([torch.arange(6.0).reshape(3, 2), torch.arange(4.0).reshape(2, 2) - 1], layout=torch.jagged)
    for name in ("sum", "mean", "amax", "amin", "prod", "all", "any", "max", "min", "argmax", "argmin"):
        show(_parts(getattr(x, name)()))
        for dim in (1, 2, -1):
            for keepdim in (False, True):
                show(_parts(getattr(torch, name)(x, dim=dim, keepdim=keepdim)))
    for name in ("sum", "mean", "amax", "amin"):
        show(getattr(x, name)(dim=(0, 1)), getattr(x, name)(dim=(0, 1), keepdim=True))
    for dim in (1, 2, -1):
        show(_parts(x.softmax(dim)))


def shapes(torch, show):
    for layout in (torch.jagged, torch.strided):
        x = torch.nested.nested_tensor([torch.arange(6.0).reshape(3, 2), torch.arange(4.0).reshape(2, 2)], layout=layout)
        for f in (
            lambda: x.transpose(1, 2),
            lambda: x.transpose(-1, -2).transpose(2, 1),
            lambda: x.mT,
            lambda: x.unsqueeze(-1),
            lambda: x.unsqueeze(1),
            lambda: x.squeeze(-1),
            lambda: x.reshape(2, -1, 2, 1),
            lambda: x.view(2, -1, 1, 2),
            lambda: x.chunk(2, -1),
        ):
            show(_parts(f()))
        show(x.dim(), x.size(0), x.size(2))
    show(_parts(torch.cat([x, x])), _parts(x.bmm(x.transpose(1, 2))))
    x = torch.nested.nested_tensor([torch.arange(12.0).reshape(3, 2, 2), torch.arange(8.0).reshape(2, 2, 2)], layout=torch.jagged)
    show(_parts(x.permute(0, 2, 1, 3)), _parts(x.transpose(1, 2) * 2), _parts(x.sum(-1)), _parts(x.transpose(1, 2).sum(-1)))
    show(_parts(x @ torch.ones(2, 3)), _parts(torch.matmul(x, torch.ones(2, 1))), _parts(x.split(1, -1)), _parts(x.narrow(-1, 1, 1)))
    show(x.transpose(1, 2).size(1), x.transpose(1, 2).offsets(), _parts(x[..., 0]), _parts(x.select(-1, 1)))
