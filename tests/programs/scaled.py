"""hash_tensor, and products of scaled matrices of 8-bit floats."""


def hashes(torch, show):
    x = torch.arange(12.0).reshape(3, 4) - 5
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.bool):
        y = x.to(dtype)
        show(torch.hash_tensor(y), y.hash_tensor(0), torch.hash_tensor(y, (0, 1), keepdim=True), torch.hash_tensor(y.t(), 1))
    show(
        torch.hash_tensor(torch.tensor(float("nan"))),
        torch.hash_tensor(x.requires_grad_()).requires_grad,
        x.to("meta").hash_tensor(1).shape,
    )
    out = torch.empty(3, dtype=torch.uint64)
    show(torch.hash_tensor(x.detach(), 1, out=out) is out, out)


def hashes_refused(torch, attempt, kind):
    x = torch.ones(2, 3)
    kind(lambda: torch.hash_tensor(x.to(torch.complex64)))
    kind(lambda: torch.hash_tensor(x.to(torch.uint16)))
    kind(lambda: torch.hash_tensor(x, out=torch.empty((), dtype=torch.int64)))
    attempt(lambda: torch.hash_tensor(x, mode=2))


def _matrices(torch):
    a = (torch.arange(24.0).reshape(4, 6) % 7 - 3).to(torch.float8_e4m3fn)
    b = (torch.arange(30.0).reshape(5, 6) % 5 - 2).to(torch.float8_e4m3fn).t()
    return a, b


def scaled_products(torch, show):
    F, (a, b) = torch.nn.functional, _matrices(torch)
    whole, rows, s = F.ScalingType.TensorWise, F.ScalingType.RowWise, torch.tensor(0.5)
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        show(F.scaled_mm(a, b, s, whole, s, whole, output_dtype=dtype))
    show(F.scaled_mm(a, b, s, whole, s, whole).dtype, F.scaled_mm(a, b, s, whole, s, whole, output_dtype=None).dtype)
    show(F.scaled_mm(a, b, [s], [whole], [s], [whole], bias=torch.ones(5), output_dtype=torch.float32))
    column, row = torch.tensor([[1.0], [2.0], [0.5], [4.0]]), torch.tensor([[1.0, 0.5, 2.0, 4.0, 0.25]])
    show(F.scaled_mm(a, b, column, rows, row, rows, output_dtype=torch.float32))
    show([(m.name, int(m)) for m in (whole, rows, F.SwizzleType.NO_SWIZZLE)])


def scaled_products_refused(torch, attempt, kind):
    F, (a, b) = torch.nn.functional, _matrices(torch)
    whole, rows, s = F.ScalingType.TensorWise, F.ScalingType.RowWise, torch.tensor(0.5)
    attempt(lambda: F.scaled_mm(a[0], b, s, whole, s, whole))
    attempt(lambda: F.scaled_mm(a, b[:4], s, whole, s, whole))
    attempt(lambda: F.scaled_mm(a, b, torch.ones(2), whole, s, whole))
    attempt(lambda: F.scaled_mm(a, b, s, whole, s, whole, bias=torch.ones(7)))
    kind(lambda: F.scaled_mm(a.float(), b, s, whole, s, whole))
    kind(lambda: F.scaled_mm(a, b, s, whole, torch.ones(1, 5), rows))
    kind(lambda: F.scaled_mm(a, b, torch.ones(4, 1), F.ScalingType.BlockWise1x32, torch.ones(1, 5), F.ScalingType.BlockWise1x32))
    kind(lambda: F.scaled_grouped_mm(a, b, s, whole, s, whole))


def scaled_products_by_their_older_name(torch, show, attempt):
    a, b = _matrices(torch)
    s, column, row = torch.tensor(0.5), torch.arange(1.0, a.size(0) + 1).reshape(-1, 1), torch.arange(1.0, b.size(1) + 1).reshape(1, -1)
    show(torch._scaled_mm(a, b, s, s, out_dtype=torch.float32), torch._scaled_mm(a, b, s, s).dtype)
    show(torch._scaled_mm(a, b, scale_a=column, scale_b=row, bias=torch.ones(b.size(1)), out_dtype=torch.float32, use_fast_accum=True))
    attempt(lambda: torch._scaled_mm(a, b[:4], s, s))
