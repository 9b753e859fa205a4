"""Pooling: functions and layers, what they refuse, and how their results lie in memory."""

import pickle


def _numbers(torch, *shape):
    torch.manual_seed(0)
    return torch.randn(*shape, dtype=torch.float64)


def _sizes(dims):
    return (7, 6, 5)[:dims]


def _function(nn, name, dims):
    return getattr(nn.functional, f"{name}_pool{dims}d")


def _leaf(torch, *shape):
    return _numbers(torch, *shape).requires_grad_()


def _digest(torch, t):
    """A number that depends on all elements and on where they are."""
    t = t.detach().double()
    return (t * torch.linspace(0.5, 1.5, t.numel(), dtype=t.dtype).reshape(t.shape)).sum().round(decimals=8) + 0.0


def _result(torch, show, x, out):
    """What came out, and the gradient of the input."""
    parts = out if isinstance(out, tuple) else (out,)
    grad = torch.autograd.grad((parts[0] * torch.linspace(0.5, 1.5, parts[0].numel(), dtype=x.dtype).reshape(parts[0].shape)).sum(), x)[0]
    show(*[p.shape for p in parts], [_digest(torch, t) for t in (*parts, grad)])


def max_pool(torch, nn, show):
    for dims in (1, 2, 3):
        pool, size = _function(nn, "max", dims), _sizes(dims)
        for shape in ((2, 2, *size), (3, *size)):
            x = _leaf(torch, *shape)
            for options in (
                {"kernel_size": 2},
                {"kernel_size": (3,) * dims, "stride": 2, "padding": 1},
                {"kernel_size": 2, "stride": 1, "dilation": 2, "return_indices": True},
                {"kernel_size": 2, "ceil_mode": True, "return_indices": True},
                {"kernel_size": 3, "stride": (3,) * dims, "padding": 1, "ceil_mode": True},
            ):
                _result(torch, show, x, pool(x, **options))


def avg_pool(torch, nn, show):
    for dims in (1, 2, 3):
        pool, size = _function(nn, "avg", dims), _sizes(dims)
        for shape in ((2, 2, *size), (3, *size)):
            x = _leaf(torch, *shape)
            for options in (
                {"kernel_size": 2},
                {"kernel_size": (3,) * dims, "stride": 2, "padding": 1},
                {"kernel_size": 3, "stride": 1, "padding": 1, "count_include_pad": False},
                {"kernel_size": 2, "ceil_mode": True, "padding": 1},
                *(
                    [{"kernel_size": 2, "divisor_override": 3}, {"kernel_size": 2, "padding": 1, "divisor_override": -1}]
                    if dims > 1
                    else []
                ),
            ):
                _result(torch, show, x, pool(x, **options))


def adaptive(torch, nn, show):
    for dims in (1, 2, 3):
        size = _sizes(dims)
        for shape in ((2, 2, *size), (3, *size)):
            x = _leaf(torch, *shape)
            for wanted in (1, 2, 3, size, tuple(n + 2 for n in size)):
                _result(torch, show, x, _function(nn, "adaptive_avg", dims)(x, wanted))
                _result(torch, show, x, _function(nn, "adaptive_max", dims)(x, wanted, return_indices=True))
            if dims > 1:
                kept = (None,) * (dims - 1) + (2,)
                _result(torch, show, x, _function(nn, "adaptive_avg", dims)(x, kept))
                _result(torch, show, x, _function(nn, "adaptive_max", dims)(x, kept))


def powers(torch, nn, show, attempt):
    for dims in (1, 2, 3):
        pool, size = _function(nn, "lp", dims), _sizes(dims)
        x = _leaf(torch, 2, 2, *size)
        _result(torch, show, x, pool(x, 2, 2))
        _result(torch, show, x, pool(x, 2.0, (3,) * dims if dims > 1 else 3, 1, True))
        y = (_numbers(torch, 3, *size).abs() + 0.1).requires_grad_()
        _result(torch, show, y, pool(y, 1.5, 2, stride=None))
    attempt(lambda: nn.functional.lp_pool2d(x, 0, 2))


def fractional(torch, nn, show):
    for dims in (2, 3):
        pool, size = _function(nn, "fractional_max", dims), (9, 8, 7)[:dims]
        for shape in ((2, 3, *size), (3, *size)):
            x = _leaf(torch, *shape)
            torch.manual_seed(5)
            _result(torch, show, x, pool(x, 2, output_size=4, return_indices=True))
            show(torch.rand(1))  # as many numbers drawn
            _result(torch, show, x, pool(x, (1, 3, 2)[:dims], output_ratio=(0.5, 0.6, 0.7)[:dims]))
            samples = torch.tensor([0.1, 0.5, 0.95][:dims], dtype=torch.float64).expand(2, 3, dims)
            _result(torch, show, x, pool(x, 3, output_size=(1, 5, 2)[:dims], return_indices=True, _random_samples=samples))


def unpool(torch, nn, show, attempt, kind):
    F = nn.functional
    for dims in (1, 2, 3):
        pool, back = _function(nn, "max", dims), getattr(F, f"max_unpool{dims}d")
        for shape in ((2, 2, *(6,) * dims), (3, *(6,) * dims)):
            x = _leaf(torch, *shape)
            for options in (
                {},
                {"output_size": (7,) * dims},
                {"stride": 2, "output_size": x.shape if len(shape) == dims + 2 else (6,) * dims},
            ):
                pooled, indices = pool(x, 2, return_indices=True)
                _result(torch, show, x, back(pooled, indices, 2, **options))
            pooled = pooled.detach()
        attempt(lambda back=back, p=pooled, i=indices: back(p, i * 0 + 1000, 2))
        attempt(lambda back=back, p=pooled, i=indices: back(p, i * 0 - 1000, 2))
        attempt(lambda back=back, p=pooled, i=indices: back(p, i.int(), 2))
        attempt(lambda back=back, p=pooled, i=indices: back(p, i[..., :1], 2))
        attempt(lambda back=back, p=pooled, i=indices, dims=dims: back(p, i, 2, output_size=(12,) * dims))
        attempt(lambda back=back, p=pooled, i=indices: back(p, i, 2, output_size=(3,) * 7))
        attempt(lambda back=back, p=pooled, i=indices: back(p, i, 2, padding=5))


def through_torch(torch, show):
    x = _leaf(torch, 2, 2, 8)
    _result(torch, show, x, torch.max_pool1d(x, 2, None))
    _result(torch, show, x, torch.max_pool1d(input=x, kernel_size=3, stride=(), padding=1))
    _result(torch, show, x, torch.max_pool1d_with_indices(x, 3, 2))
    _result(torch, show, x, torch.avg_pool1d(x, 2, count_include_pad=False))
    _result(torch, show, x, torch.adaptive_avg_pool1d(x, 3))
    _result(torch, show, x, torch.adaptive_max_pool1d(x, 3))
    x = _leaf(torch, 2, 4, 8)
    _result(torch, show, x, torch.max_pool2d(x, 2))
    _result(torch, show, x, torch._adaptive_avg_pool2d(x, (2, 3)))
    x = _leaf(torch, 2, 4, 4, 3)
    _result(torch, show, x, torch.max_pool3d(x, 2, [2, 2, 1]))


def nodes(torch, nn, show):
    """Names of the nodes up to the input."""

    def chain(node):
        names = []
        while node is not None and len(names) < 5:
            names.append(type(node).__name__)
            node = node.next_functions[0][0] if node.next_functions else None
        return names[:-1]

    for dims in (1, 2, 3):
        x = _leaf(torch, 1, 2, *(6,) * dims)
        for name in ("max", "avg", "adaptive_avg", "adaptive_max"):
            show(chain(_function(nn, name, dims)(x, 2).grad_fn), chain(_function(nn, name, dims)(x, 1).grad_fn))
        pooled, indices = _function(nn, "max", dims)(x, 2, return_indices=True)
        show(
            indices.requires_grad,
            indices.grad_fn,
            chain(getattr(nn.functional, f"max_unpool{dims}d")(pooled.detach().requires_grad_(), indices, 2).grad_fn),
        )
        if dims > 1:
            show(chain(_function(nn, "fractional_max", dims)(x, 2, output_size=2).grad_fn))


def special_values(torch, nn, show):
    nan, inf = float("nan"), float("inf")
    x = torch.tensor([[1, nan, 3, nan], [nan, 2, nan, 5], [-inf, -inf, 2, 2], [-inf, -inf, 2, 2]])
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        for layout in (lambda t: t, lambda t: t.expand(1, 8, 4, 4).contiguous(memory_format=torch.channels_last)):
            y = layout(x.to(dtype)[None, None])
            for name in ("max", "adaptive_max"):
                values, places = _function(nn, name, 2)(y, 2, return_indices=True)
                show(values[0, 0].float(), places[0, 0])
        values, places = nn.functional.max_pool3d(x.to(dtype).expand(1, 1, 2, 4, 4), 2, return_indices=True)
        show(values.float(), places)
    long = torch.full((1, 40), -inf)
    long[0, 13:17] = torch.tensor([2.0, nan, nan, 1.0])
    show(nn.functional.max_pool1d(long, 3, 1, 1, return_indices=True), nn.functional.max_pool1d(long, 5, 2, 2, return_indices=True))


def integers(torch, nn, show):
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        x = torch.arange(96).reshape(1, 2, 4, 12).mul(37).remainder(101).to(dtype)
        show(nn.functional.max_pool2d(x, (2, 4)), nn.functional.max_pool3d(x.reshape(1, 1, 4, 4, 6), (4, 2, 2)))
        show(nn.functional.max_pool2d(x[:, :1], 3, 2, 1, return_indices=True), nn.functional.max_pool1d(x[0], 4, return_indices=True))
    x = torch.arange(-8, 8).reshape(1, 1, 4, 4)
    show(nn.functional.avg_pool2d(x, 2), nn.functional.avg_pool2d(x, 3, 2, 1), nn.functional.avg_pool2d(x, 2, divisor_override=-3))
    show(nn.functional.avg_pool1d(x[0], 2), nn.functional.avg_pool3d(x[None], (1, 2, 2)))


def refused_dtypes(torch, nn, attempt, kind):
    F = nn.functional
    for dtype in (torch.bool, torch.complex64):
        x = torch.ones(1, 2, 4, 4, dtype=dtype)
        for name in ("max", "avg", "adaptive_avg", "adaptive_max"):
            kind(lambda name=name, x=x: _function(nn, name, 2)(x, 2))
    for dtype in (torch.uint8, torch.int32):
        x = torch.ones(1, 2, 4, 4, dtype=dtype)
        for name in ("avg", "adaptive_avg", "adaptive_max"):
            attempt(lambda name=name, x=x: _function(nn, name, 2)(x, 2))
    attempt(lambda: F.adaptive_avg_pool2d(torch.ones(1, 2, 4, 4, dtype=torch.int64), 2))
    attempt(lambda: F.max_unpool2d(torch.ones(1, 1, 1, 1, dtype=torch.int64), torch.zeros(1, 1, 1, 1, dtype=torch.int64), 2))


def half_precision(torch, nn, show):
    for dtype in (torch.float16, torch.bfloat16):
        x = (_numbers(torch, 2, 3, 9, 10) * 4).round().to(dtype).requires_grad_()
        for out in (
            nn.functional.max_pool2d(x, 3, 2, 1),
            nn.functional.avg_pool2d(x, 2),
            nn.functional.avg_pool2d(x, 3, 1, 1),
            nn.functional.adaptive_avg_pool2d(x, (4, 3)),
            nn.functional.adaptive_max_pool2d(x, (4, 3)),
            nn.functional.max_pool1d(x[0], 2),
        ):
            show(out.dtype, out.shape, torch.autograd.grad(out.sum(), x)[0].dtype, out.sum().float().round())


def layout(torch, nn, show):
    """Strides of results and gradients."""
    F = nn.functional
    for dims, form in ((2, torch.channels_last), (3, torch.channels_last_3d)):
        for shape in ((2, 3, *(6,) * dims), (1, 4, *(4,) * dims)):
            x = _numbers(torch, *shape).contiguous(memory_format=form).requires_grad_()
            for out in (
                _function(nn, "max", dims)(x, 2),
                _function(nn, "max", dims)(x, shape[-1]),
                _function(nn, "avg", dims)(x, 2),
                _function(nn, "adaptive_avg", dims)(x, 2),
                _function(nn, "adaptive_avg", dims)(x, 3),
                _function(nn, "adaptive_max", dims)(x, 2),
                _function(nn, "adaptive_max", dims)(x, 1),
                _function(nn, "fractional_max", dims)(x, 2, output_size=2),
            ):
                show(out.stride(), torch.autograd.grad(out.sum(), x)[0].stride())
            values, places = _function(nn, "max", dims)(x, 2, return_indices=True)
            show(places.stride(), getattr(F, f"max_unpool{dims}d")(values, places, 2).stride())
            show(_function(nn, "max", dims)(x.detach()[0], 2).stride(), _function(nn, "avg", dims)(x.detach()[0], 2).stride())
            plain = x.detach().contiguous().requires_grad_()
            out = _function(nn, "max", dims)(plain, 2)
            show(out.stride(), torch.autograd.grad(out, plain, torch.ones_like(out).contiguous(memory_format=form))[0].stride())


def refused(torch, nn, attempt, kind):
    for dims in (1, 2, 3):
        x = torch.zeros(1, 2, *(4,) * dims)
        for name in ("max", "avg"):
            pool = _function(nn, name, dims)
            for call in (
                lambda: pool(x, 5),
                lambda: pool(x, (4,) * (dims - 1) + (6,)),
                lambda: pool(x, 2, 1, 2),
                lambda: pool(x, 2, 1, -1),
                lambda: pool(x, 0, 1),
                lambda: pool(x, -1, 1),
                lambda: pool(x, 2, 0),
                lambda: pool(x, 2, -1),
                lambda: pool(torch.zeros((4,) * dims), 2),
                lambda: pool(torch.zeros(1, 1, 1, *(4,) * dims), 2),
                lambda: pool(torch.zeros(()), 2),
                lambda: pool(x, (2,) * (dims + 1)),
                lambda: pool(x, ()),
                lambda: pool(x, 2, (2,) * (dims + 1)),
                lambda: pool(x, 2, 1, (0,) * (dims + 1)),
                lambda: pool(torch.zeros(2, 0, *(4,) * dims), 2),
                lambda: pool(torch.zeros(2, 2, 0, *(4,) * (dims - 1)), 2),
                lambda: pool(x, 2.0),
                lambda: pool(x, "a"),
                lambda: pool(x, None),
            ):
                attempt(call)
        attempt(lambda: _function(nn, "max", dims)(x, 2, 1, 0, 0))
        attempt(lambda: _function(nn, "max", dims)(x, 2, 1, 0, -1))
        attempt(lambda: _function(nn, "max", dims)(x, 2, 1, 0, 4))
        attempt(lambda: _function(nn, "max", dims)(torch.zeros(1, 1, *(9,) * dims), 3, 1, 2, 2))
        attempt(lambda: _function(nn, "max", dims)(x, 2, 1, 2, return_indices=True))
        attempt(lambda: _function(nn, "max", dims)(x, 5, return_indices=True))
        if dims > 1:
            attempt(lambda: _function(nn, "avg", dims)(x, 2, divisor_override=0))
        for name in ("adaptive_avg", "adaptive_max"):
            pool = _function(nn, name, dims)
            for call in (
                lambda: pool(x, -1),
                lambda: pool(x, (2,) * (dims + 1)),
                lambda: pool(torch.zeros((4,) * dims), 2),
                lambda: pool(torch.zeros(1, 1, 1, *(4,) * dims), 2),
                lambda: pool(torch.zeros(2, 2, 0, *(4,) * (dims - 1)), 2),
            ):
                attempt(call)
            kind(lambda: pool(x, None))
            kind(lambda: pool(x, 2.0))
    for dims in (2, 3):
        x, samples = torch.zeros(1, 2, *(5,) * dims), torch.zeros(1, 2, dims)
        pool = _function(nn, "fractional_max", dims)
        for call in (
            lambda: pool(x, 2),
            lambda: pool(x, 4, output_size=3),
            lambda: pool(x, 2, output_size=-1),
            lambda: pool(torch.zeros((5,) * dims), 2, output_size=2, _random_samples=samples),
            lambda: pool(x, (2,) * 4, output_size=2),
            lambda: pool(x, 2, output_size=(2,) * 4),
            lambda: pool(x, 2, output_size=2, _random_samples=torch.zeros(1, 3, dims)),
            lambda: pool(x, 2, output_size=2, _random_samples=torch.zeros(1, 2, 5)),
            lambda: pool(x, 2, output_size=2, _random_samples=torch.zeros(2, dims)),
            lambda: pool(x, 2, output_size=2, _random_samples=samples.double()),
            lambda: pool(torch.zeros(2, 2, *(5,) * dims), 2, output_size=2, _random_samples=samples),
            lambda: pool(torch.zeros(2, 0, *(5,) * dims), 2, output_size=2),
        ):
            attempt(call)


def refused_layers(nn, attempt):
    attempt(lambda: nn.FractionalMaxPool2d(2))
    attempt(lambda: nn.FractionalMaxPool3d(2, output_size=2, output_ratio=0.5))
    attempt(lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5))
    attempt(lambda: nn.FractionalMaxPool3d(2, output_ratio=(0.5, 0, 0.5)))


def layers(torch, nn, show):
    for layer in (
        nn.MaxPool1d(2, stride=[]),
        nn.MaxPool2d((2, 3), stride=(1, 2), padding=1, dilation=2, return_indices=True, ceil_mode=True),
        nn.MaxPool3d(2),
        nn.AvgPool1d(2),
        nn.AvgPool2d((2, 3), stride=(1, 2), padding=1, ceil_mode=True, count_include_pad=False, divisor_override=3),
        nn.AvgPool3d(2, 1),
        nn.LPPool1d(2, 3),
        nn.LPPool2d(1.5, (2, 3), stride=2, ceil_mode=True),
        nn.LPPool3d(2, 2),
        nn.AdaptiveAvgPool1d(2),
        nn.AdaptiveAvgPool2d((None, 3)),
        nn.AdaptiveAvgPool3d(1),
        nn.AdaptiveMaxPool1d(2, True),
        nn.AdaptiveMaxPool2d((2, None)),
        nn.AdaptiveMaxPool3d(3),
        nn.FractionalMaxPool2d(2, output_size=3),
        nn.FractionalMaxPool3d(2, output_ratio=0.5, return_indices=True),
        nn.MaxUnpool1d(2),
        nn.MaxUnpool2d((2, 3), stride=(1, 2), padding=1),
        nn.MaxUnpool3d(2, 3),
    ):
        told = {k: v for k, v in vars(layer).items() if not k.startswith("_")}
        show(repr(layer), told, layer.state_dict())
        show(repr(pickle.loads(pickle.dumps(layer))) == repr(layer))


def empty(torch, nn, show):
    for dims in (1, 2, 3):
        x = torch.zeros(0, 2, *(4,) * dims, requires_grad=True)
        for name in ("max", "avg", "adaptive_avg", "adaptive_max"):
            out = _function(nn, name, dims)(x, 2)
            show(out.shape, torch.autograd.grad(out.sum(), x)[0].shape)
        for name in ("adaptive_avg", "adaptive_max"):
            show(_function(nn, name, dims)(torch.ones(1, 2, *(4,) * dims), 0).shape)


def second_derivatives(torch, nn, show):
    x = _leaf(torch, 1, 2, 6, 6)
    for out in (
        nn.functional.max_pool2d(x, 3, 2, 1),
        nn.functional.avg_pool2d(x, 3, 2, 1),
        nn.functional.adaptive_avg_pool2d(x, (4, 5)),
        nn.functional.adaptive_max_pool2d(x, (4, 5)),
        nn.functional.lp_pool2d(x, 2, 2),
    ):
        (first,) = torch.autograd.grad(out.pow(3).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.pow(2).sum(), x)
        show(_digest(torch, first), _digest(torch, second))


def on_meta(torch, nn, show):
    x = torch.empty(2, 3, 8, 8, device="meta")
    y = torch.empty(2, 3, 8, 8, 8, device="meta").contiguous(memory_format=torch.channels_last_3d)
    for out in (
        nn.functional.max_pool2d(x, 3, 2, 1),
        nn.functional.avg_pool2d(x, 3, 2, 1, True),
        nn.functional.adaptive_avg_pool2d(x, 3),
        nn.functional.adaptive_max_pool2d(x, 3),
        nn.functional.max_pool3d(y, 2),
        nn.functional.avg_pool3d(y, 2),
        nn.functional.max_pool1d(x[0], 2),
        nn.functional.lp_pool2d(x, 2, 2),
    ):
        show(out.shape, out.dtype, out.device, out.stride())


def lazy_convolutions(torch, nn, show, attempt, kind):
    for dims, shape in ((1, (2, 4, 9)), (2, (4, 9, 8)), (3, (1, 4, 5, 4, 5))):
        for make in (getattr(nn, f"LazyConv{dims}d"), getattr(nn, f"LazyConvTranspose{dims}d")):
            torch.manual_seed(3)
            layer = make(6, 3, 2, groups=2)
            show(repr(layer), layer.has_uninitialized_params(), type(layer.weight).__name__, type(layer.bias).__name__)
            out = layer(torch.ones(shape))
            show(repr(layer), type(layer).__name__, out.shape, layer.weight.sum(), layer.bias, layer.in_channels)
            other = make(6, 3, 2, groups=2)
            other.load_state_dict(layer.state_dict())
            show(other.has_uninitialized_params(), other(torch.ones(shape)).equal(out))
            kind(lambda make=make, shape=shape, dims=dims: make(6, 3, groups=2)(torch.ones(2, 3, *shape[-dims:])))
            attempt(lambda make=make: make(6, 3)(torch.ones(3)))
    attempt(lambda: nn.LazyConvTranspose2d(4, 3, padding_mode="reflect"))
    show(nn.LazyConv2d(4, 3, bias=False)(torch.ones(1, 2, 4, 4)).shape)
