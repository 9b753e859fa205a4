"""torch.fft and stft beyond what the op table asks: every length, every layout, against sums that are written out; errors, threads, derivatives."""

import math
import warnings

import pytest

import retrograd as torch

LENGTHS = [*range(1, 41), 49, 64, 97, 100, 121, 127, 128, 131, 144, 169, 210, 254, 257, 262, 500, 512, 1000, 1009, 1024, 1155]
EPSILON = {torch.complex64: 1e-6, torch.complex128: 2e-15}


def matrix(n, dtype=torch.complex128, sign=-1):
    """exp(sign 2 pi i j k / n), of products modulo n: the angle is small, and the sine right to the last bit or so."""
    j = torch.arange(n)
    angle = (sign * 2 * math.pi / n) * (j[:, None] * j % n).double()
    return torch.complex(angle.cos(), angle.sin()).to(dtype)


def close(got, expected, dtype):
    error = (got.to(torch.complex128) - expected).abs().pow(2).mean().sqrt() / expected.abs().pow(2).mean().sqrt()
    assert error < EPSILON[dtype], error


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", EPSILON, ids=str)
def test_every_length_in_lanes_and_alone(n, dtype):
    torch.manual_seed(n)
    for rows in (1, 3, 17):  # alone, lanes half empty, one group of lanes and a bit
        x = torch.randn(rows, n, dtype=dtype)
        expected = x.to(torch.complex128) @ matrix(n)
        for input, dim in ((x, 1), (x.t().contiguous(), 0), (x.t().contiguous().t(), 1), (x.repeat_interleave(2, 1)[:, ::2], 1)):
            got = torch.fft.fft(input, dim=dim)
            close(got if dim else got.t(), expected, dtype)
        close(torch.fft.ifft(torch.fft.fft(x)), x, dtype)
        real = x.real.contiguous()
        spectrum = real.to(torch.complex128) @ matrix(n)
        close(torch.fft.rfft(real), spectrum[:, : n // 2 + 1], dtype)
        close(torch.fft.rfft(real.t().contiguous(), dim=0).t(), spectrum[:, : n // 2 + 1], dtype)
        close(torch.fft.fft(real), spectrum, dtype)
        close(torch.fft.irfft(spectrum[:, : n // 2 + 1].to(dtype), n=n), real, dtype)


@pytest.mark.parametrize("n", [32768, 40000, 32771, 2 * 20011, 65536, 3 * 5 * 7 * 11 * 13 * 4])
def test_long_lines(n):
    torch.manual_seed(0)
    x = torch.randn(2, n, dtype=torch.complex128)
    some = torch.tensor([0, 1, 2, n // 3, n // 2, n - 1])
    j = torch.arange(n)
    angle = (-2 * math.pi / n) * (some[:, None] * j % n).double()
    expected = x @ torch.complex(angle.cos(), angle.sin()).t()
    close(torch.fft.fft(x)[:, some], expected, torch.complex128)
    close(torch.fft.fft(x.t().contiguous(), dim=0)[some].t(), expected, torch.complex128)
    close(torch.fft.fft(x.to(torch.complex64))[:, some], expected, torch.complex64)
    close(torch.fft.irfft(torch.fft.rfft(x.real), n=n), x.real, torch.complex128)
    close(torch.fft.ifft(torch.fft.fft(x)), x, torch.complex128)


def test_the_number_of_threads_changes_no_bit():
    threads = torch.get_num_threads()
    cases = [
        (torch.fft.fft, torch.randn(1 << 16, dtype=torch.complex64)),
        (torch.fft.fft, torch.randn(40009, dtype=torch.complex64)),
        (torch.fft.fft2, torch.randn(300, 250, dtype=torch.complex128)),
        (torch.fft.rfft, torch.randn(333, 1000)),
        (torch.fft.irfft, torch.randn(333, 501, dtype=torch.complex64)),
        (torch.fft.rfft, torch.randn(100002)),
    ]
    try:
        for function, x in cases:
            results = []
            for count in (1, 2, 3):
                torch.set_num_threads(count)
                results.append(function(x))
            assert torch.equal(results[0], results[1]) and torch.equal(results[0], results[2]), function
    finally:
        torch.set_num_threads(threads)


def test_several_dimensions_are_one_after_the_other():
    x = torch.randn(3, 4, 5, 6, dtype=torch.complex128)
    expected = torch.fft.fft(torch.fft.fft(torch.fft.fft(x, dim=1), dim=3), dim=0)
    torch.testing.assert_close(torch.fft.fftn(x, dim=(0, 3, 1)), expected)
    torch.testing.assert_close(torch.fft.ifftn(torch.fft.fftn(x, norm="ortho"), norm="ortho"), x)
    real = x.real.contiguous()
    torch.testing.assert_close(torch.fft.irfftn(torch.fft.rfftn(real, dim=(0, 2)), s=(3, 5), dim=(0, 2)), real)
    torch.testing.assert_close(torch.fft.ihfftn(torch.fft.hfftn(x, s=(3, 9), dim=(0, 1)), dim=(0, 1))[:, 1:4], x[:, 1:4])


def test_only_the_real_part_is_read_where_a_real_number_is_due():
    x = torch.randn(5, dtype=torch.complex128)
    x2 = x.clone()
    x2[0] += 3j
    x2[-1] += 2j
    assert torch.equal(torch.fft.irfft(x, n=8), torch.fft.irfft(x2, n=8))
    x2[-1] = x[-1]
    assert torch.equal(torch.fft.irfft(x, n=9), torch.fft.irfft(x2, n=9))


def test_the_transform_of_a_product_is_a_convolution():
    a, b = torch.randn(50, dtype=torch.float64), torch.randn(20, dtype=torch.float64)
    product = torch.fft.irfft(torch.fft.rfft(a, n=69) * torch.fft.rfft(b, n=69), n=69)
    expected = torch.nn.functional.conv1d(a.view(1, 1, -1), b.flip(0).view(1, 1, -1), padding=19).flatten()
    torch.testing.assert_close(product, expected)


NORMS = [None, "ortho", "forward", "backward"]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [5, 6])
def test_derivatives_of_complex_numbers(n, norm):
    z = torch.randn(3, n, dtype=torch.complex128, requires_grad=True)
    x = torch.randn(3, n, dtype=torch.float64, requires_grad=True)
    half = torch.randn(2, n // 2 + 1, dtype=torch.complex128, requires_grad=True)
    both = {"check_forward_ad": True, "check_batched_grad": True}
    assert torch.autograd.gradcheck(lambda z: torch.fft.fft(z, norm=norm), z, **both)
    assert torch.autograd.gradcheck(lambda z: torch.fft.ifft(z, n + 2, 0, norm), z, **both)
    assert torch.autograd.gradcheck(lambda x: torch.fft.rfft(x, norm=norm), x, **both)
    assert torch.autograd.gradcheck(lambda x: torch.fft.fft(x, norm=norm), x, **both)
    assert torch.autograd.gradcheck(lambda x: torch.fft.rfft2(x, norm=norm), x, **both)
    assert torch.autograd.gradcheck(lambda x: torch.fft.ihfft(x, norm=norm), x, **both)
    assert torch.autograd.gradcheck(lambda h: torch.fft.irfft(h, n, norm=norm), half, **both)
    assert torch.autograd.gradcheck(lambda h: torch.fft.hfft2(h, (2, n), norm=norm), half, **both)
    for function, input in ((torch.fft.fft, z), (torch.fft.rfft, x), (lambda h: torch.fft.irfft(h, n), half)):
        assert torch.autograd.gradgradcheck(lambda t, function=function: function(t).abs().pow(3), input)


def test_vmap_and_meta():
    z = torch.randn(4, 3, 6, dtype=torch.complex128)
    for dims in ((0,), (-1,), (0, 1), ()):
        mapped = torch.vmap(lambda t, dims=dims: torch.fft.fftn(t, dim=dims), in_dims=1)(z)
        expected = torch.stack([torch.fft.fftn(z[:, i], dim=dims) for i in range(3)])
        torch.testing.assert_close(mapped, expected)
    made = torch.fft.rfft2(torch.empty(3, 8, 9, device="meta"))
    assert made.shape == (3, 8, 5) and made.dtype == torch.complex64
    assert torch.stft(torch.empty(2, 100, device="meta"), 16, window=torch.ones(16, device="meta"), return_complex=True).shape == (2, 9, 26)


@pytest.mark.parametrize("function", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "rfftn", "irfftn", "hfftn", "ihfftn"])
def test_no_half_precision(function):
    for dtype in (torch.float16, torch.bfloat16):
        with pytest.raises(RuntimeError, match="^Unsupported dtype (Half|BFloat16)"):
            getattr(torch.fft, function)(torch.ones(4, 4, dtype=dtype))


@pytest.mark.parametrize("function", ["rfft", "ihfft", "rfft2", "rfftn"])
def test_real_numbers_are_asked_for(function):
    with pytest.raises(RuntimeError, match="expects a real(-valued)? input tensor, but got ComplexFloat"):
        getattr(torch.fft, function)(torch.ones(4, 4, dtype=torch.complex64))


def test_out():
    z, x = torch.randn(4, 4, dtype=torch.complex64), torch.randn(4, 4)
    out = torch.empty(0, dtype=torch.complex128)
    assert torch.fft.fft(z, out=out) is out and torch.equal(out, torch.fft.fft(z).to(out.dtype))
    for function, input, dtype, words in (
        ("fft", z, torch.float32, "fft expects a complex output tensor, but got Float"),
        ("ifftn", z, torch.int64, "fftn expects a complex output tensor, but got Long"),
        ("rfft2", x, torch.float64, "rfftn expects a complex output tensor, but got Double"),
        ("irfft", z, torch.complex64, "irfft expects a floating point output tensor, but got ComplexFloat"),
        ("hfft2", z, torch.complex128, "hfftn expects a floating point output tensor, but got ComplexDouble"),
    ):
        with pytest.raises(RuntimeError, match=words):
            getattr(torch.fft, function)(input, out=torch.empty(0, dtype=dtype))
    with pytest.raises(RuntimeError, match=r"_fft_c2c\(\): functions with out=... arguments don't support automatic differentiation"):
        torch.fft.fft(z.requires_grad_(), out=out)


# ---- frequencies ----


def test_frequencies():
    assert torch.fft.fftfreq(6, 0.5).tolist() == pytest.approx([0, 1 / 3, 2 / 3, -1, -2 / 3, -1 / 3])
    assert torch.fft.rfftfreq(7, dtype=torch.float64).tolist() == pytest.approx([0, 1 / 7, 2 / 7, 3 / 7])
    assert torch.fft.fftfreq(0).shape == (0,) and torch.fft.rfftfreq(0).isnan().all()
    assert torch.fft.fftfreq(3, requires_grad=True).requires_grad and torch.fft.fftfreq(3, dtype=torch.float16).dtype == torch.float16
    out = torch.empty(0, dtype=torch.float64)
    assert torch.fft.rfftfreq(4, out=out) is out and out.tolist() == [0, 0.25, 0.5]
    for call, error, words in (
        (lambda: torch.fft.fftfreq(-1), RuntimeError, r"Trying to create tensor with negative dimension -1: \[-1\]"),
        (lambda: torch.fft.fftfreq(4, dtype=torch.int64), RuntimeError, "fftfreq requires a floating point or complex dtype"),
        (lambda: torch.fft.rfftfreq(4, dtype=torch.complex64), NotImplementedError, "\"arange_cpu\" not implemented for 'ComplexFloat'"),
        (lambda: torch.fft.fftfreq(4.5), TypeError, r"fft_fftfreq\(\): argument 'n' \(position 1\) must be int, not float"),
        (lambda: torch.fft.rfftfreq(4, "1"), TypeError, r"fft_rfftfreq\(\): argument 'd' \(position 2\) must be float, not str"),
    ):
        with pytest.raises(error, match=words):
            call()


# ---- pieces ----


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("n_fft", [16, 15, 11])
@pytest.mark.parametrize("hop", [1, 3, 4])
@pytest.mark.parametrize("normalized", [False, True])
def test_there_and_back(n_fft, hop, normalized):
    window = torch.hann_window(n_fft, dtype=torch.float64) + 0.1
    x = torch.randn(2, 10 * n_fft, dtype=torch.float64)
    for center in (True, False):
        options = {"window": window, "center": center, "normalized": normalized}
        pieces = torch.stft(x, n_fft, hop, return_complex=True, **options)
        back = torch.istft(pieces, n_fft, hop, **options)
        torch.testing.assert_close(back, x[:, : back.shape[1]])
        z = torch.complex(x, x.flip(1))
        pieces = torch.stft(z, n_fft, hop, **options)
        back = torch.istft(pieces, n_fft, hop, return_complex=True, **options)
        torch.testing.assert_close(back, z[:, : back.shape[1]])


def test_derivatives_of_pieces():
    x = torch.randn(2, 30, dtype=torch.float64, requires_grad=True)
    window = (torch.hann_window(8, dtype=torch.float64) + 0.2).requires_grad_()
    both = {"check_forward_ad": True, "check_batched_grad": True}
    assert torch.autograd.gradcheck(lambda x, w: torch.stft(x, 8, 3, window=w, return_complex=True), (x, window), **both)
    pieces = torch.stft(x, 8, 3, window=window, return_complex=True).detach().requires_grad_()
    assert torch.autograd.gradcheck(lambda p, w: torch.istft(p, 8, 3, window=w), (pieces, window), check_forward_ad=True)


def test_errors_of_istft():
    z = torch.randn(2, 9, 26, dtype=torch.complex64)
    head = r"istft\(CPUComplexFloatType\[2, 9, 26\], n_fft=\d+, .*\)"
    for arguments, words in (
        ({"n_fft": 32}, head + r" : expected the frequency dimension \(3rd to the last\) of the input tensor to match n_fft / 2 \+ 1 when"),
        (
            {"onesided": False},
            head + r" : expected the frequency dimension \(3rd to the last\) of the input tensor to match n_fft when onesided=False",
        ),
        ({"hop_length": 0}, head + " : expected 0 < hop_length <= win_length"),
        ({"hop_length": 17}, head + " : expected 0 < hop_length <= win_length"),
        ({"win_length": 17}, head + " : expected 0 < win_length <= n_fft"),
        ({"window": torch.ones(8)}, head + " : Invalid window shape. window has to be 1D and length of `win_length`"),
        ({"window": torch.zeros(16)}, head + " window overlap add min: 1"),
        ({"return_complex": True}, "Cannot have onesided output if window or input is complex"),
        ({"window": torch.ones(16, dtype=torch.complex64)}, "Complex windows are incompatible with return_complex=False"),
        ({"length": -5}, "min"),
    ):
        with pytest.raises(RuntimeError, match=words):
            torch.istft(z, **{"n_fft": 16, **arguments})
    for wrong, error, words in (
        (z.real, RuntimeError, "istft requires a complex-valued input tensor matching the output from stft"),
        (z[:0], RuntimeError, "input tensor cannot be empty."),
        (z[None], RuntimeError, "expected a tensor with 3 or 4 dimensions, but got 5"),
        (z[0, 0], IndexError, r"Dimension out of range \(expected to be in range of \[-2, 1\], but got -3\)"),
    ):
        with pytest.raises(error, match=words):
            torch.istft(wrong, 16)


def test_a_missing_window_is_said():
    with pytest.warns(UserWarning, match="A window was not provided"):
        pieces = torch.ones(40).stft(8, return_complex=True)
    with pytest.warns(UserWarning, match="A window was not provided"):
        pieces.istft(8)
    with pytest.warns(UserWarning, match="The length of signal is shorter than the length parameter"):
        assert pieces.istft(8, window=torch.ones(8), length=100)[40:].eq(0).sum() == 56
    with pytest.warns(UserWarning, match="return_complex=False is deprecated"):
        assert torch.ones(40).stft(8, window=torch.ones(8), return_complex=False).shape == (5, 21, 2)
