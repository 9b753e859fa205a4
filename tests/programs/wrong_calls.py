"""Calls with an argument of a wrong type or size, numbers that a dtype does not hold, and what is said of them."""

import numpy


def sizes_that_are_no_ints(torch, attempt):
    x = torch.zeros(6)
    for size in ((2, 1.5), (1.5, 2), (2, None), (2, "a"), (2.5,)):
        attempt(lambda: torch.zeros(*size))
        attempt(lambda: torch.zeros(size))
        attempt(lambda: torch.ones(size=list(size)))
        attempt(lambda: torch.full(size, 0))
    attempt(lambda: x.view(2, 1.5))
    attempt(lambda: x.view((2, 1.5)))
    attempt(lambda: x.reshape(2, 1.5))
    attempt(lambda: torch.reshape(x, (2, 1.5)))
    attempt(lambda: x.expand(2, 1.5))
    attempt(lambda: x.repeat(2, 1.5))
    attempt(lambda: x.permute([0, 1.0]))
    attempt(lambda: x.flip([0, 0.5]))
    attempt(lambda: x.sum((0, 1.0)))
    attempt(lambda: torch.nn.functional.pad(x, (1, 1.5)))
    attempt(lambda: torch.nn.functional.layer_norm(x, (6.0,)))
    attempt(lambda: torch.zeros(-1))
    attempt(lambda: torch.ones(-1))


def oldest_constructor(torch, attempt):
    attempt(lambda: torch.Tensor(2.5))
    attempt(lambda: torch.Tensor(2, 3.0))
    attempt(lambda: torch.Tensor(numpy.int64(3)).shape)
    attempt(lambda: torch.Tensor(numpy.int32(2), 3).shape)


def arguments_that_are_no_tensors(torch, F, attempt):
    array, x = numpy.ones((2, 2)), torch.ones(2, 2)
    for name in ("cov", "corrcoef", "det", "logdet", "slogdet", "matrix_exp", "nonzero", "gradient", "vander", "nanmean", "pinverse"):
        attempt(lambda: getattr(torch, name)(array))
    for name in ("inner", "allclose", "isclose"):
        attempt(lambda: getattr(torch, name)(array, x))
        attempt(lambda: getattr(torch, name)(x, array))
        attempt(lambda: getattr(x, name)(array))
    attempt(lambda: torch.matrix_power(x, 2.0))
    attempt(lambda: x.matrix_power("2"))
    attempt(lambda: F.cosine_embedding_loss(x, x, torch.ones(2), margin=x))
    attempt(lambda: F.margin_ranking_loss(x, x, x, "a"))


def margins_that_are_no_floats(torch, F, attempt):
    x, sign = torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0])
    for margin in (True, 1, torch.tensor(0.5), numpy.float32(0.5)):
        attempt(lambda: F.margin_ranking_loss(x, x * 2, sign, margin=margin))
        attempt(lambda: F.hinge_embedding_loss(x, sign, margin=margin))
        attempt(lambda: F.cosine_embedding_loss(x[None], x[None], sign[1:], margin=margin))
    attempt(lambda: F.margin_ranking_loss(x.int(), 2 * x.int(), sign.int()))


def arguments_too_few_or_too_many(torch, attempt):
    x = torch.ones(2)
    attempt(lambda: torch.dropout(x, 0.5))
    attempt(lambda: torch.dropout(x))
    attempt(lambda: torch.dropout())
    attempt(lambda: x.abs(1))
    attempt(lambda: x.log(foo=1))
    attempt(lambda: x.exp_(1))


def shifts_without_dims(torch, attempt):
    x = torch.arange(6).reshape(2, 3)
    attempt(lambda: torch.roll(x, 1, None))
    attempt(lambda: x.roll(shifts=(2,), dims=None))


def shapes_that_do_not_broadcast(torch, attempt):
    for shapes in (((2,), (3,)), ((2, 3), (3, 2)), ((-1,),), ((1,), (-1,)), ((2,), (-3,)), (1.5,), ((0,), (2,)), ((0,), (1,)), (3, [2, 1])):
        attempt(lambda: torch.broadcast_shapes(*shapes))


def numbers_beyond_int64(torch, attempt):
    x = torch.tensor([1.0, 3.0])
    for name in ("add", "sub", "mul", "div", "true_divide", "pow", "remainder", "rsub"):
        attempt(lambda: getattr(torch, name)(*((x, 2**63) if name == "rsub" else (2**63, x))))
    attempt(lambda: torch.div(2**63, torch.tensor([2])))
    attempt(lambda: torch.zeros(2).copy_(2**63))
    attempt(lambda: torch.zeros(2, dtype=torch.float64).copy_(2**64 - 1))


def numbers_that_a_dtype_does_not_hold(torch, attempt):
    first, mask = torch.tensor([0]), torch.tensor([True, False])
    for dtype in (torch.uint8, torch.int8, torch.int64, torch.float16, torch.float32, torch.bool):
        x = torch.zeros(2, dtype=dtype)
        for value in (300, -1, -1.5, 1e6, 1e40, float("nan"), float("inf")):
            attempt(lambda: x.scatter(0, first, value))
            attempt(lambda: x.index_fill(0, first, value))
            attempt(lambda: x.index_fill(0, first, torch.tensor(value)))
            attempt(lambda: x.masked_fill(mask, torch.tensor(value)))
            attempt(lambda: torch.where(mask, value, x))
            attempt(lambda: torch.where(mask, x, value))
            if dtype != torch.bool:
                attempt(lambda: x.add(x, alpha=value))
                attempt(lambda: x.sub(1, alpha=value))
                attempt(lambda: value == -1.5 or torch.addcmul(x, x, x, value=value))


def complex_numbers_where_there_is_no_order(torch, F, attempt):
    z = torch.tensor([1 + 1j, 2])
    for name in (
        "relu",
        "floor",
        "ceil",
        "trunc",
        "signbit",
        "isposinf",
        "isneginf",
        "deg2rad",
        "rad2deg",
        "argmax",
        "argmin",
        "sort",
        "argsort",
        "msort",
        "nansum",
    ):
        attempt(lambda: getattr(torch, name)(z))
    for name in ("maximum", "minimum", "fmax", "fmin", "heaviside", "max", "min"):
        attempt(lambda: getattr(torch, name)(z, z))
    attempt(lambda: z.clamp(0, 1))
    attempt(lambda: z.clamp(min=0))
    attempt(lambda: F.relu6(z))
    attempt(lambda: z.topk(1))
    attempt(lambda: F.kl_div(z, z, reduction="sum"))
    attempt(lambda: F.cosine_similarity(z, z, 0))
    attempt(lambda: torch.isin(z, z))


def decompositions_of_sixteen_bits(torch, attempt):
    a, linalg = torch.eye(2), torch.linalg
    for dtype in (torch.float16, torch.bfloat16, torch.int64):
        x = a.to(dtype)
        for name in ("det", "inv", "cholesky", "qr", "lu_factor", "lu", "eigh", "eigvalsh", "svd", "svdvals", "slogdet"):
            attempt(lambda: getattr(linalg, name)(x))
        attempt(lambda: linalg.solve(x, x))
        attempt(lambda: linalg.solve_triangular(x, x, upper=True))


def one_int_where_a_list_is_wanted(torch, nn, F, attempt):
    """Sizes are lists; dims, strides and kernels may be one int for all."""
    x, v = torch.arange(16.0).reshape(4, 4), torch.ones(4)
    for name in ("tile", "permute", "flip", "broadcast_to", "reshape", "split_with_sizes", "expand_copy", "permute_copy"):
        attempt(lambda: getattr(torch, name)(x, 1))
    for f in (torch.full, torch.empty_strided):
        attempt(lambda: f(3, 1))
    for name in ("new_full", "as_strided", "new_empty_strided"):
        attempt(lambda: getattr(x, name)(2, 1))
    attempt(lambda: torch.flip(x, dims=0))
    attempt(lambda: torch.rot90(x, 1, 0))
    attempt(lambda: torch.as_strided(x, 2, 1))
    attempt(lambda: x.unflatten(0, 4))
    attempt(lambda: torch.constant_pad_nd(x, 1))
    attempt(lambda: F.pad(x, 1))
    attempt(lambda: torch.randint(3, 4))
    attempt(lambda: torch.layer_norm(x, 4))
    attempt(lambda: torch.rms_norm(x, 4))
    attempt(lambda: torch.zeros(size=3))
    attempt(lambda: x.view(size=16))
    attempt(lambda: F.affine_grid(torch.ones(1, 2, 3), 4, align_corners=True))
    attempt(lambda: x.tile(2).shape)
    attempt(lambda: x.flip(0)[0])
    attempt(lambda: x.expand(4))
    attempt(lambda: v.expand(4))
    attempt(lambda: x.reshape(16).shape)
    attempt(lambda: torch.zeros(3))
    attempt(lambda: x.new_zeros(3))
    attempt(lambda: torch.sum(x, 0))
    attempt(lambda: torch.roll(x, 1)[0])
    attempt(lambda: torch.any(x, 0))
    attempt(lambda: torch.avg_pool1d(x, 2)[0])


def operands_that_are_nothing(torch, attempt):
    x = torch.ones(2)
    for name in ("eq", "lt", "floor_divide", "add", "sub", "mul", "div", "multiply", "bitwise_and"):
        attempt(lambda: getattr(torch, name)(x, None))
        attempt(lambda: getattr(x, name)(None))
    attempt(lambda: x.add_(None))
    attempt(lambda: x.ge_(None))
    attempt(lambda: torch.isin(x, None))
    attempt(lambda: torch.where(x > 0, x, None))


def types_that_are_none(torch, attempt):
    x = torch.ones(2)
    for given in (3, 2.5, [], True, torch.device("cpu"), "torch.Foo"):
        attempt(lambda: x.type(given))


def numbers_of_losses(torch, F, attempt):
    x, y = torch.arange(16.0).reshape(4, 4) / 16, torch.tensor([0, 1, 2, 1])
    for margin in (True, 2, 0.5, None, "1"):
        attempt(lambda: F.multi_margin_loss(x, y, margin=margin))
    for smoothing in (-0.1, float("nan"), 1.0, 1.5):
        attempt(lambda: F.cross_entropy(x, y, label_smoothing=smoothing))
        attempt(lambda: F.cross_entropy(x, x.softmax(1), label_smoothing=smoothing))
