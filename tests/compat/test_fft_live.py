"""torch.fft, stft, istft and windows beside PyTorch's over their argument space: values, dtypes, strides, gradients, errors."""

import random
import warnings
from functools import partial

import pytest

import retrograd

torch = pytest.importorskip("torch")

NAMES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
DTYPES = ["float32", "float64", "complex64", "complex128", "int64", "bool"]
TOLERANCE = {"float32": 1e-5, "complex64": 1e-5, "float64": 1e-13, "complex128": 1e-13}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def outcome(call):
    try:
        return call(), None
    except Exception as error:
        return None, error


def same(ours, theirs, what):
    got, refused = outcome(ours)
    expected, wanted = outcome(theirs)
    if wanted is not None and "MKL FFT error" in str(wanted):
        return None  # of an empty batch, which is none here
    if wanted is not None:
        assert refused is not None, f"{what}: PyTorch refuses it: {wanted}"
        assert type(refused).__name__ == type(wanted).__name__ and str(refused).startswith(str(wanted).split("\n")[0][:60]), (
            what,
            refused,
            wanted,
        )
        return None
    assert refused is None, (what, refused)
    assert str(got.dtype) == str(expected.dtype).replace("torch", "retrograd") or str(got.dtype) == str(expected.dtype), what
    assert tuple(got.shape) == tuple(expected.shape), what
    if "align_to_window" not in what and 1 not in got.shape:
        assert got.stride() == expected.stride(), (what, got.stride(), expected.stride())
    number = str(expected.dtype).rpartition(".")[2]
    if number in TOLERANCE:
        a, b = torch.from_numpy(got.detach().resolve_conj().numpy()), expected.detach().resolve_conj()
        scale = b.abs().max().item() if b.numel() else 1
        assert torch.allclose(a, b, rtol=0, atol=TOLERANCE[number] * max(scale, 1e-3), equal_nan=True), (what, a, b)
    return got, expected


def inputs(rng, shape, dtype):
    torch.manual_seed(rng.randrange(10**6))
    kind = getattr(torch, dtype)
    x = torch.randn(shape, dtype=kind) if kind.is_floating_point or kind.is_complex else torch.randint(0, 2, shape).to(kind)
    order = list(range(len(shape)))
    if rng.random() < 0.4:
        rng.shuffle(order)
        back = [order.index(d) for d in range(len(shape))]
        x = x.permute(order).contiguous().permute(back)
    ours = retrograd.from_numpy(x.numpy()) if x.numel() else retrograd.empty(shape, dtype=getattr(retrograd, dtype))
    assert all(a == b for a, b, size in zip(ours.stride(), x.stride(), shape, strict=True) if size > 1) or not x.numel()
    return ours, x


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(12))
def test_along_one_dimension(name, seed):
    rng = random.Random(f"{name} {seed}")
    for _ in range(12):
        shape = [rng.choice([1, 2, 3, 4, 5, 8, 17]) for _ in range(rng.randint(1, 3))]
        dtype = rng.choice(DTYPES)
        ours, theirs = inputs(rng, shape, dtype)
        arguments = {}
        if rng.random() < 0.6:
            arguments["n"] = rng.choice([1, 2, 3, 4, 7, 8, 9, 20, 0, -1])
        if rng.random() < 0.6:
            arguments["dim"] = rng.randint(-len(shape) - (rng.random() < 0.1), len(shape) - 1)
        if rng.random() < 0.6:
            arguments["norm"] = rng.choice(["forward", "backward", "ortho", None])
        what = f"{name}({dtype}{shape} strides {theirs.stride()}, {arguments})"
        both = same(partial(getattr(retrograd.fft, name), ours, **arguments), partial(getattr(torch.fft, name), theirs, **arguments), what)
        if both and theirs.is_floating_point() | theirs.is_complex():
            gradients(partial(transform, name, arguments), ours, theirs, what)


def transform(name, arguments, engine, x):
    return getattr(engine.fft, name)(x, **arguments)


def pieces(windows, arguments, engine, x):
    return engine.stft(x, window=windows[engine], **arguments)


def gradients(function, ours, theirs, what):
    found = []
    for engine, x in ((retrograd, ours), (torch, theirs)):
        leaf = x.clone().requires_grad_()
        y = function(engine, leaf)
        weights = engine.arange(y.numel(), dtype=engine.float64).reshape(y.shape).cos().to(y.dtype)
        (y * weights).abs().pow(2).sum().backward()
        found.append(torch.from_numpy(leaf.grad.resolve_conj().numpy()))
    scale = max(found[1].abs().max().item(), 1e-3)
    assert torch.allclose(found[0], found[1], rtol=0, atol=2 * TOLERANCE[str(theirs.dtype).rpartition(".")[2]] * scale), what


@pytest.mark.parametrize("name", [name + kind for name in NAMES for kind in "2n"])
@pytest.mark.parametrize("seed", range(8))
def test_along_several_dimensions(name, seed):
    rng = random.Random(f"{name} {seed}")
    for _ in range(12):
        shape = [rng.choice([1, 2, 3, 4, 5, 8]) for _ in range(rng.randint(1, 4))]
        dtype = rng.choice(DTYPES)
        ours, theirs = inputs(rng, shape, dtype)
        arguments = {}
        count = rng.randint(1, len(shape))
        if rng.random() < 0.5:
            arguments["dim"] = (
                rng.sample(range(-len(shape), 0), count) if rng.random() < 0.9 else [rng.randint(-5, 4) for _ in range(count)]
            )
        if rng.random() < 0.5:
            arguments["s"] = [rng.choice([1, 2, 3, 4, 7, -1]) for _ in range(2 if name[-1] == "2" and "dim" not in arguments else count)]
        if rng.random() < 0.5:
            arguments["norm"] = rng.choice(["forward", "backward", "ortho", None])
        what = f"{name}({dtype}{shape} strides {theirs.stride()}, {arguments})"
        both = same(partial(getattr(retrograd.fft, name), ours, **arguments), partial(getattr(torch.fft, name), theirs, **arguments), what)
        if both and theirs.is_floating_point() | theirs.is_complex():
            gradients(partial(transform, name, arguments), ours, theirs, what)


@pytest.mark.parametrize("n", [8, 1000, 1009, 1024, 4096, 30030])
def test_float32_is_as_accurate_as_pytorchs(n):
    torch.manual_seed(n)
    x = torch.randn(4, n, dtype=torch.complex64)
    exact = torch.fft.fft(x.to(torch.complex128))
    theirs = (torch.fft.fft(x) - exact).norm()
    ours = (torch.from_numpy(retrograd.fft.fft(retrograd.from_numpy(x.numpy())).numpy()) - exact).norm()
    assert ours < 2 * theirs + 1e-6 * exact.norm() / 4


def windows(n):
    ramp = torch.linspace(0.5, 1.5, n)
    return [None, ramp, ramp.double(), torch.complex(ramp, ramp.flip(0)).to(torch.complex128)]


@pytest.mark.parametrize("seed", range(20))
def test_stft(seed):
    rng = random.Random(seed)
    for _ in range(15):
        dtype = rng.choice(["float32", "float64", "complex64"])
        ours, theirs = inputs(rng, rng.choice([[60], [2, 60], [1, 33]]), dtype)
        n_fft = rng.choice([8, 9, 16, 5])
        arguments = {"n_fft": n_fft, "return_complex": rng.choice([True, True, True, False])}
        win = n_fft
        if rng.random() < 0.4:
            win = arguments["win_length"] = rng.choice([4, n_fft, n_fft - 1, n_fft + 1])
        if rng.random() < 0.5:
            arguments["hop_length"] = rng.choice([1, 3, n_fft, 0])
        window = rng.choice(windows(win))
        if rng.random() < 0.5:
            arguments |= rng.choice(
                [
                    {"center": False},
                    {"center": False, "align_to_window": rng.random() < 0.7},
                    {"pad_mode": "constant"},
                    {"pad_mode": "circular"},
                ]
            )
        if rng.random() < 0.5:
            arguments |= {"normalized": rng.random() < 0.5, "onesided": rng.choice([None, True, False])}
        what = f"stft({dtype}{list(theirs.shape)}, {arguments}, window={window is not None and window.dtype})"
        w = None if window is None else retrograd.from_numpy(window.numpy())
        both = same(partial(retrograd.stft, ours, window=w, **arguments), partial(torch.stft, theirs, window=window, **arguments), what)
        if both and not arguments["return_complex"]:
            continue
        if both:
            gradients(partial(pieces, {retrograd: w, torch: window}, arguments), ours, theirs, what)
            back = {k: v for k, v in arguments.items() if k in ("n_fft", "hop_length", "win_length", "center", "normalized", "onesided")}
            if rng.random() < 0.4:
                back["length"] = rng.choice([20, 40, 100])
            back["return_complex"] = rng.random() < 0.4
            what = f"istft({dtype}{list(both[1].shape)}, {back}, window={window is not None and window.dtype})"
            z = retrograd.from_numpy(both[1].numpy())
            same(partial(retrograd.istft, z, window=w, **back), partial(torch.istft, both[1], window=window, **back), what)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hann", "kaiser"])
def test_windows(name):
    for n in (0, 1, 2, 3, 10, 33):
        for periodic in (True, False):
            for dtype in ("float32", "float64"):
                ours = getattr(retrograd, f"{name}_window")(n, periodic, dtype=getattr(retrograd, dtype))
                theirs = getattr(torch, f"{name}_window")(n, periodic, dtype=getattr(torch, dtype))
                assert torch.allclose(torch.from_numpy(ours.numpy()), theirs, atol=1e-6 if dtype == "float32" else 1e-12), (
                    name,
                    n,
                    periodic,
                )


SIGNAL = {
    "bartlett": {}, "blackman": {}, "cosine": {}, "exponential": {"tau": 2.0}, "gaussian": {"std": 0.8}, "general_cosine": {"a": [0.5, 0.3, 0.2]},
    "general_hamming": {"alpha": 0.6}, "hamming": {}, "hann": {}, "kaiser": {"beta": 9.0}, "nuttall": {},
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNAL)
def test_signal_windows(name):
    for n in (0, 1, 2, 5, 12):
        for sym in (True, False):
            ours = getattr(retrograd.signal.windows, name)(n, sym=sym, dtype=retrograd.float64, **SIGNAL[name])
            theirs = getattr(torch.signal.windows, name)(n, sym=sym, dtype=torch.float64, **SIGNAL[name])
            assert torch.allclose(torch.from_numpy(ours.numpy()), theirs, atol=1e-12), (name, n, sym)
