"""Fourier transforms. The floor of a long one: its bytes read and written twice, 5 n log2 n flops."""

from registry import case

# name: (function, sizes, dtype, arguments, target)
TRANSFORMS = {
    "fft 2^20 complex64": ("fft", (1 << 20,), "complex64", {}, 0.8),
    "fft 2^20 complex128": ("fft", (1 << 20,), "complex128", {}, 0.8),
    "fft 10^6 complex64": ("fft", (1000000,), "complex64", {}, 0.8),
    "rfft 2^20 float32": ("rfft", (1 << 20,), "float32", {}, 0.8),
    "rfft 1000x1000 float32": ("rfft", (1000, 1000), "float32", {}, 0.8),
    "irfft 1000x501 complex64": ("irfft", (1000, 501), "complex64", {}, 0.8),
    "fft 1000x1024 complex64": ("fft", (1000, 1024), "complex64", {}, 0.8),
    "fft 1024x1000 complex64, dim 0": ("fft", (1024, 1000), "complex64", {"dim": 0}, 0.8),
    "fft 10000x16 complex64": ("fft", (10000, 16), "complex64", {}, 0.8),
    "fft2 1024x1024 complex64": ("fft2", (1024, 1024), "complex64", {}, 0.8),
    "rfft2 16x256x256 float32": ("rfft2", (16, 256, 256), "float32", {}, 0.8),
    "fft 1009 complex64": ("fft", (1009,), "complex64", {}, 0.8),
    "fft 100x1009 complex64": ("fft", (100, 1009), "complex64", {}, 0.8),
    "fft 8 complex64": ("fft", (8,), "complex64", {}, 5),
    "fft 16 complex64": ("fft", (16,), "complex64", {}, 5),
    "rfft 16 float32": ("rfft", (16,), "float32", {}, 5),
    "fft 1024 complex64": ("fft", (1024,), "complex64", {}, 1),
}


def transform(name):
    function, sizes, dtype, arguments, _ = TRANSFORMS[name]

    def setup(torch):
        x = torch.randn(*sizes, dtype=getattr(torch, dtype))
        extra = "".join(f", {k}={v}" for k, v in arguments.items())
        return f"f(x{extra})", {"f": getattr(torch.fft, function), "x": x}

    return setup


for _name, (*_, _target) in TRANSFORMS.items():
    case(_name, target=_target)(transform(_name))


@case("rfft 64x512 float32, forward + backward", target=1)
def backward(torch):
    x = torch.randn(64, 512, requires_grad=True)

    def run():
        x.grad = None
        torch.fft.rfft(x).abs().sum().backward()

    return run


@case("stft 1 s at 16 kHz, 512 by 128", target=1)
def spectrogram(torch):
    x, window = torch.randn(4, 16000), torch.hann_window(512)
    return lambda: torch.stft(x, 512, 128, window=window, return_complex=True)
