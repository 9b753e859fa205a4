"""Corners of ordinary calls: forms of them, values at the end of their range, what data may be made of, and gradients that programs write to."""

import array

import numpy


def reductions_that_only_keep_dims(torch, attempt):
    x = torch.tensor([[1, 0], [2, 3]])
    for name in ("any", "all"):
        attempt(lambda: getattr(x, name)(keepdim=True))
        attempt(lambda: getattr(torch, name)(x, keepdim=False))
        attempt(lambda: getattr(torch, name)(x, dim=None, keepdim=True))


def losses_with_older_flags(torch, F, attempt):
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0])
    for flags in ((0,), (1, 0), (0, 0), (None, 0), (0, None), (0, 1), (True, False)):
        attempt(lambda: F.l1_loss(x, y, *flags))
        attempt(lambda: F.soft_margin_loss(x, y, *flags))
    attempt(lambda: F.cross_entropy(torch.eye(2), torch.tensor([0, 1]), None, 0))


def losses_of_the_top_level(torch, attempt):
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])
    for reduction in ((), (0,), (1,), (2,)):
        attempt(lambda: torch.kl_div(x, y, *reduction))
        attempt(lambda: torch.binary_cross_entropy_with_logits(x, y, None, None, *reduction))


def results_in_given_memory(torch, attempt):
    matrix = torch.arange(6.0).reshape(2, 3)
    attempt(lambda: torch.range(1, 4, out=torch.empty(0)))
    attempt(lambda: torch.slice_scatter(matrix, torch.zeros(1, 3), 0, 1, out=torch.empty(2, 3)))
    attempt(lambda: torch.mvlgamma(matrix + 2, 2, out=torch.empty(2, 3)))
    attempt(lambda: torch.special.multigammaln(matrix + 2, 2, out=torch.empty(2, 3, dtype=torch.float64)))
    attempt(lambda: torch.special.ndtr(matrix, out=torch.empty(2, 3)))
    attempt(lambda: torch.geqrf(matrix, out=(torch.empty(0), torch.empty(0)))[0].shape)


def names_of_arguments(torch, attempt):
    x = torch.tensor([1.0, 2.0])
    attempt(lambda: x.is_set_to(tensor=x))
    attempt(lambda: torch.vander(x, 3, True))
    attempt(lambda: x.histogram()[0].sum())
    attempt(lambda: torch.histogram(x, density=True)[1].shape)
    attempt(lambda: x[::0])


def python_types_as_dtypes(torch, attempt):
    attempt(lambda: torch.zeros(1, dtype=complex))
    attempt(lambda: torch.tensor(1, dtype=complex).dtype)
    attempt(lambda: torch.ones(1).to(complex))
    attempt(lambda: torch.set_default_dtype(float))


def tolerances_by_matrix(torch, attempt):
    pair = torch.diag(torch.tensor([1.0, 0.1])).repeat(2, 1, 1)
    limits = torch.tensor([0.01, 0.5])
    for matrices in (pair, pair[0]):
        for hermitian in (False, True):
            attempt(lambda: torch.linalg.pinv(matrices, rtol=limits, hermitian=hermitian))
            attempt(lambda: torch.linalg.pinv(matrices, limits, hermitian))
            attempt(lambda: torch.linalg.pinv(matrices, atol=limits, hermitian=hermitian))
    attempt(lambda: torch.linalg.pinv(pair, rtol=torch.tensor(0.5)))
    attempt(lambda: torch.linalg.pinv(torch.eye(2), torch.tensor([])).shape)
    attempt(lambda: torch.linalg.pinv(pair, atol=limits, rtol=torch.tensor([0.0, 0.0])))


def norms_of_single_numbers(torch, attempt):
    for x in (
        torch.tensor([1e30]),
        torch.tensor([1e-30]),
        torch.tensor([3e-200, 1e200], dtype=torch.float64),
    ):
        for p in (2, 1, 3, 0.5, -1, 0):
            attempt(lambda: torch.linalg.vector_norm(x, p, dim=0 if x.numel() == 1 else ()))
            attempt(lambda: torch.linalg.vector_norm(x.unsqueeze(1), p, dim=1))
    x = torch.tensor([[1e30], [0.0]], requires_grad=True)
    attempt(lambda: torch.autograd.grad(torch.linalg.vector_norm(x, dim=1).sum(), x))


def variance_of_nothing(torch, attempt):
    for correction in (-1.5, 0, 1):
        attempt(lambda: torch.var(torch.zeros(0, 2), 0, correction=correction))
        attempt(lambda: torch.std_mean(torch.zeros(0), correction=correction))


def gamma_functions_left_of_zero(torch, attempt):
    numbers = [-3.75, -3.0, -2.5, -0.5, 0.0, 0.3, 0.5, 1.0, 1.5, 7.3, float("inf"), float("-inf"), float("nan")]
    for dtype in (torch.float32, torch.float64):
        for p in (1, 2, 3):
            attempt(lambda: torch.mvlgamma(torch.tensor(numbers, dtype=dtype), p))


def airy_far_to_the_left(torch, attempt):
    attempt(lambda: torch.special.airy_ai(torch.tensor([-20.0, -1e3, -1e5, -1e7], dtype=torch.float64)))
    attempt(lambda: torch.special.airy_ai(torch.tensor([-1e12, -1e16, -1e20, -1e100], dtype=torch.float64)).abs() < 1e-3)


def signs_of_zeros_in_qr(torch, attempt):
    zero = -0.0
    for rows in (
        [[zero, 1.0], [2.0, 3.0]],
        [[zero, zero, 0.5], [1.0, 0.0, zero], [zero, 2.0, 1.0]],
        [[zero, 1.0]],
        [[zero], [0.0]],
        [[1.0, 2.0], [0.0, zero]],
    ):
        for dtype in (torch.float32, torch.float64):
            attempt(lambda: torch.linalg.qr(torch.tensor(rows, dtype=dtype)).R)


def gradients_of_means_can_be_written(torch, F, attempt):
    x = torch.ones(1, 2, 2, 2, requires_grad=True)
    for f in (torch.mean, lambda x: x.mean(0).sum(), lambda x: x.mean((1, 2), True).sum(), lambda x: F.adaptive_avg_pool2d(x, 1).sum()):
        attempt(lambda: torch.autograd.grad(f(x), x)[0].mul_(2))
    seen = []
    y = x * 1
    y.register_hook(lambda grad: seen.append(grad.clamp_(max=0.01)))
    y.mean().backward()
    attempt(lambda: (seen[0], x.grad))


def one_number_as_a_vector_and_the_other_way_round(torch, attempt):
    vector, number = torch.tensor([0]), torch.tensor(0)
    for at, values in ((vector, 2.0), (number, [2.0]), (number, [2.0, 3.0]), (vector, [2.0])):
        for into in (torch.zeros(()), torch.zeros(1), torch.zeros(3)):
            for f in ("scatter", "scatter_add"):
                source = torch.tensor(values, requires_grad=True)
                attempt(lambda: getattr(into, f)(0, at, source).detach())
    for into in (torch.zeros(()), torch.zeros(2)):
        source = torch.tensor(2.0, requires_grad=True)
        attempt(lambda: torch.autograd.grad(into.scatter_add(0, vector, source).sum(), source))
        attempt(lambda: torch.autograd.grad(into.scatter(0, vector, source).sum(), source))
        attempt(lambda: torch.autograd.grad(into.scatter_reduce(0, vector, source, "sum").sum(), source))


def detaching_in_place_drops_tangents(torch, attempt):
    ones = torch.ones(2)
    attempt(lambda: torch.func.jvp(lambda x: x.clone().detach_(), (ones,), (ones,)))
    attempt(lambda: torch.func.jvp(lambda x: x.detach() * x, (ones,), (ones,)))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(ones, ones) * 2
        attempt(lambda: torch.autograd.forward_ad.unpack_dual(dual.detach_()).tangent)


def sequences_of_numbers_from_the_library(torch, attempt):
    for data in (
        array.array("d", [1, 2]),
        array.array("i", [1, 2]),
        bytearray(b"ab"),
        memoryview(b"ab"),
        [bytearray(b"ab")],
        [array.array("f", [1])],
    ):
        attempt(lambda: torch.tensor(data))
        attempt(lambda: torch.as_tensor(data))
        attempt(lambda: torch.tensor(data, dtype=torch.float64))


def integers_beyond_64_bits_among_floats(torch, attempt):
    attempt(lambda: torch.tensor([2**63, 1.0]))
    attempt(lambda: torch.tensor([1.0, 2**70]))
    attempt(lambda: torch.tensor(2**64, dtype=torch.float64))
    attempt(lambda: torch.tensor([2**63]))
    attempt(lambda: torch.tensor([10**400], dtype=torch.float64))


def texts_and_dates_are_no_numbers(torch, attempt):
    for data in (
        "a",
        ["a"],
        [["a"]],
        [1, "a"],
        [1.0, "a"],
        b"a",
        [b"a"],
        numpy.str_("a"),
        numpy.datetime64("2020"),
        [numpy.datetime64("2020")],
    ):
        attempt(lambda: torch.tensor(data))
    for data in (numpy.array(["a"]), numpy.array([b"a"]), numpy.array(["2020"], dtype="datetime64[D]"), numpy.array([1], dtype=object)):
        attempt(lambda: torch.tensor(data))
        attempt(lambda: torch.from_numpy(data))
    for data in (numpy.array([1], dtype=">i4"), numpy.array([1.0], dtype=">f8")):
        attempt(lambda: torch.tensor(data))
        attempt(lambda: torch.as_tensor(data))


def reading_a_tensor_without_values(torch, attempt):
    attempt(lambda: torch.ones(2, device="meta").tolist())


def arguments_by_older_names_and_orders(torch, attempt):
    x = torch.tensor([1.0, 2.0])
    attempt(lambda: torch.ones(2).copy_(other=x))
    attempt(lambda: torch.ones(2).copy_(other=2))
    attempt(lambda: torch.ones(2).copy_(other=x, non_blocking=True))
    attempt(lambda: torch.subtract(x, 1, 3))
    attempt(lambda: x.subtract(1, 3))
    attempt(lambda: torch.ones(2).subtract_(1, 3))


def dtypes_of_results_by_keyword(torch, attempt):
    x = torch.tensor([1.0], dtype=torch.float64)
    attempt(lambda: torch.result_type(tensor=x, other=2))
    attempt(lambda: torch.result_type(other=x, tensor=torch.tensor(1)))
    attempt(lambda: torch.result_type(scalar=2.0, tensor=torch.tensor(1)))
    attempt(lambda: torch.result_type(scalar1=1, scalar2=2.0))
    for wrong in (
        {"tensor1": x, "tensor2": x},
        {"tensor": 1, "other": 2},
        {"scalar": x, "tensor": x},
        {"tensor": x},
        {"tensor": "a", "other": x},
    ):
        attempt(lambda: torch.result_type(**wrong))


def one_number_among_many_by_its_name(torch, attempt):
    x = torch.arange(6).reshape(2, 3)
    attempt(lambda: torch.isin(x, test_element=2))
    attempt(lambda: torch.isin(element=2, test_elements=x))
    attempt(lambda: torch.isin(elements=x, test_element=1, invert=True))


def bounds_of_draws_in_tensors(torch, attempt):
    x = torch.ones(2, 3)
    torch.manual_seed(0)
    for high in (torch.tensor(5.0), torch.tensor(5), torch.tensor(5.7, dtype=torch.float64), torch.tensor([5, 6])):
        attempt(lambda: torch.randint_like(x, high))
        attempt(lambda: torch.randint_like(x, high=high, dtype=torch.int64))


def what_is_given_as_out_comes_back_by_name(torch, show):
    x = torch.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])
    square = torch.tensor([[4.0, 1.0], [1.0, 3.0]])
    calls = {
        "max": (x, 1),
        "min": (x, 1),
        "sort": (x, 1),
        "topk": (x, 2),
        "mode": (x, 1),
        "median": (x, 1),
        "cummax": (x, 1),
        "aminmax": (x,),
        "geqrf": (square,),
    }
    for name, args in calls.items():
        function = getattr(torch, name)
        given = [torch.empty_like(result) for result in function(*args)]
        result = function(*args, out=tuple(given))
        show(name, type(result).__name__, [a is b for a, b in zip(result, given, strict=True)], result)
    show(torch.max(x, 1, out=(torch.empty(2), torch.empty(2, dtype=torch.int64))).values)


def sizes_that_numpy_counted(torch, nn, attempt):
    signal, image = torch.arange(6.0).reshape(1, 1, 6), torch.arange(16.0).reshape(1, 1, 4, 4)
    one, two = numpy.int64(1), numpy.int64(2)
    attempt(lambda: nn.ReflectionPad1d(one)(signal))
    attempt(lambda: nn.ConstantPad1d(one, 3.0)(signal))
    attempt(lambda: nn.ZeroPad2d(two)(image).shape)
    attempt(lambda: nn.Unfold(two)(image).shape)
    attempt(lambda: nn.Fold((4, 4), two, one, one - 1, two)(torch.ones(1, 4, 4)))
    attempt(lambda: nn.LPPool1d(2, two)(signal))
    attempt(lambda: nn.Unflatten(two, (2, 3))(signal).shape)
    attempt(lambda: torch.zeros(2, True).shape)
    attempt(lambda: torch.zeros((2, False, True)).shape)
    attempt(lambda: torch.unravel_index(torch.tensor([3], dtype=torch.int32), (2, 2)))


def powers_without_end(torch, F, attempt):
    signal = torch.tensor([[[-3.0, 1, 2, -5, 0.5, 0]]], requires_grad=True)
    for power in (float("inf"), -float("inf")):
        attempt(lambda: F.lp_pool1d(signal.detach(), power, 2))
        attempt(lambda: F.lp_pool2d(signal.detach().unsqueeze(-1), power, (2, 1), 1, True))
        attempt(lambda: F.lp_pool3d(signal.detach()[..., None, None].expand(1, 1, 6, 2, 2), power, 2))
        attempt(lambda: torch.autograd.grad(F.lp_pool1d(signal, power, 2).sum(), signal))


def sequences_cut_to_their_lengths(torch, nn, show):
    padded = torch.arange(6.0).reshape(3, 2)
    first, second = nn.utils.rnn.unpad_sequence(padded, torch.tensor([3, 2]))
    first.zero_()
    show(first.is_contiguous(), second, padded.sum())


def bounds_that_are_no_numbers(torch, F, attempt):
    nan, x = float("nan"), torch.tensor([1.0, -3.0, 0.5])
    for bounds in ((nan, 1.0), (-1.0, nan), (nan, nan)):
        attempt(lambda: F.hardtanh(x, *bounds))
        attempt(lambda: F.hardtanh(x.clone(), *bounds, inplace=True))
        attempt(lambda: torch.clamp(x, *bounds))
    attempt(lambda: F.hardtanh(x, 1.0, -1.0))


def zeros_at_a_bound_keep_their_sign(torch, F, attempt):
    for count in (2, 40):
        x = torch.tensor([0.0, -0.0] * (count // 2))
        for zero in (0.0, -0.0):
            for f in (
                lambda: x.clamp(zero, 1),
                lambda: x.clamp(-1, zero),
                lambda: x.clamp(min=zero),
                lambda: x.clamp(max=zero),
                lambda: F.hardtanh(x, zero, 1),
            ):
                attempt(lambda: f().signbit()[:2])


def results_lie_as_transposed_inputs_do(torch, attempt):
    x, v, tall = torch.arange(16.0).reshape(4, 4), torch.arange(4.0), torch.ones(4, 2)
    for y in (x, x.t()):
        attempt(lambda: torch.addr(y, v, v).stride())
        attempt(lambda: torch.addr(y, v, v, beta=0, alpha=2).t().contiguous().stride())
        attempt(lambda: torch.addr(y, v, v))
        attempt(lambda: torch.kron(y, y).stride())
        attempt(lambda: torch.kron(y, y)[1])
        attempt(lambda: torch.gru_cell(x, y, torch.ones(12, 4), torch.ones(12, 4)).stride())
    attempt(lambda: torch.kron(tall.t(), tall.t()).stride())
    attempt(lambda: torch.addr(v, v, v).stride())
