"""Fourier transforms in programs: spectra, filters, layers in the frequency domain, and what is refused."""


def _signal(torch, n=24):
    t = torch.arange(float(n), dtype=torch.float64)
    return (0.3 * t).sin() + 0.5 * (1.1 * t).cos()


def functions(torch, show):
    x = _signal(torch, 10)
    z = torch.complex(x, x.flip(0))
    f = torch.fft
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        show(name, getattr(f, name)(x if name in ("rfft", "ihfft") else z))
        show(getattr(f, name)(x if name in ("rfft", "ihfft") else z, 7, 0, "ortho"))
    m = z.reshape(2, 5)
    show(f.fft2(m), f.ifft2(m, s=(4, 3)), f.rfft2(m.real), f.irfft2(m, norm="forward"), f.hfft2(m), f.ihfft2(m.imag))
    show(f.fftn(m, dim=(0,)), f.rfftn(m.real, s=(3, -1)), f.irfftn(m, s=(2, 9)), f.hfftn(m, dim=(1, 0)), f.ihfftn(m.real, dim=(1, 0)))


def kinds_of_results(torch, show):
    f, x = torch.fft, torch.arange(6)
    show(
        f.fft(x).dtype, f.rfft(x.bool()).dtype, f.irfft(x).dtype, f.fft(x.float()).dtype, f.fft(x.double()).dtype, f.hfft(x.double()).dtype
    )
    m = torch.zeros(3, 4, 5)
    for dims in ((0,), (1,), (2,), (0, 2), (1, 0), (2, 0, 1)):
        show(dims, f.rfftn(m, dim=dims).stride(), f.fftn(m, dim=dims).stride(), f.irfftn(m, dim=dims).stride())
    show(f.ifft(x).is_conj(), f.ihfft(x).is_conj(), f.fft(x).is_conj())


def frequencies_and_shifts(torch, show):
    f = torch.fft
    show(f.fftfreq(5), f.fftfreq(6, 0.25), f.rfftfreq(5), f.rfftfreq(6, d=2.0, dtype=torch.float64))
    m = torch.arange(15).reshape(3, 5)
    show(f.fftshift(m), f.fftshift(m, dim=1), f.ifftshift(f.fftshift(m)), f.ifftshift(m, dim=(0,)))


def power_spectrum(torch, show):
    x = _signal(torch).requires_grad_()
    power = torch.fft.rfft(x * torch.hann_window(24, dtype=torch.float64)).abs().square()
    (power * torch.arange(13.0)).sum().backward()
    show(power, x.grad)


def convolution_by_spectra(torch, show):
    x, w = _signal(torch).requires_grad_(), torch.tensor([0.5, -1.0, 0.25], dtype=torch.float64, requires_grad=True)
    y = torch.fft.irfft(torch.fft.rfft(x, n=26) * torch.fft.rfft(w, n=26), n=26)
    show(y, torch.autograd.grad(y.square().sum(), (x, w)))


def spectral_layer(torch, nn, show):
    """A few steps of a layer whose weights are complex and act on low frequencies, as neural operators have."""
    weight = nn.Parameter(torch.complex(torch.linspace(-1, 1, 5), torch.linspace(1, 0, 5)))
    optimizer = torch.optim.SGD([weight], lr=0.05)
    x, target = _signal(torch).float(), _signal(torch).float().roll(2)
    for _ in range(3):
        optimizer.zero_grad()
        spectrum = torch.fft.rfft(x)
        low = torch.cat([spectrum[:5] * weight, torch.zeros(8, dtype=spectrum.dtype)])
        loss = nn.functional.mse_loss(torch.fft.irfft(low, n=24), target)
        loss.backward()
        show(loss.detach(), weight.grad)
        optimizer.step()
    show(weight.detach())


def derivatives_of_spectra(torch, show):
    """Spectral differentiation, and the second derivative of a loss through it."""
    x = (torch.arange(16.0, dtype=torch.float64) * torch.pi / 8 + 0.2).sin().requires_grad_()
    k = torch.fft.fftfreq(16, 1 / 16, dtype=torch.float64)
    slope = torch.fft.ifft(1j * k * torch.fft.fft(x)).real
    (first,) = torch.autograd.grad(slope.pow(3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum(), x)
    show(slope, first, second)


def transforms_of_transforms(torch, func, vmap, show):
    x = _signal(torch, 12).reshape(3, 4)
    show(vmap(torch.fft.rfft)(x), vmap(torch.fft.fft, in_dims=1, out_dims=1)(x))
    show(func.jacrev(lambda v: torch.fft.rfft(v).abs())(x[0]), func.jvp(torch.fft.fft, (x,), (x * 2,)))
    show(vmap(func.grad(lambda v: torch.fft.hfft(v, n=6).square().sum()))(x))


def short_pieces(torch, show):
    x = _signal(torch, 40)
    window = torch.hann_window(8, dtype=torch.float64)
    pieces = torch.stft(x, 8, window=window, return_complex=True)
    show(pieces.shape, pieces[:, 3], torch.istft(pieces, 8, window=window))
    show(torch.stft(x, 8, 3, 6, window[:6], center=False, normalized=True, onesided=False, return_complex=True)[:, 2])
    show(x.stft(8, window=window, pad_mode="constant", return_complex=True)[:, 0], pieces.istft(8, window=window, length=30))


def gradients_of_short_pieces(torch, show):
    x, window = _signal(torch, 40).requires_grad_(), torch.hann_window(8, dtype=torch.float64).requires_grad_()
    torch.stft(x, 8, 2, window=window, return_complex=True).abs().square().sum().backward()
    show(x.grad, window.grad)


def refused(torch, attempt):
    f, x, z = torch.fft, torch.ones(3, 4), torch.ones(3, 4, dtype=torch.complex64)
    attempt(lambda: f.fft(x, n=0))
    attempt(lambda: f.irfft(torch.ones(1)))
    attempt(lambda: f.fft(torch.tensor(1.0)))
    attempt(lambda: f.fft(x, dim=2))
    attempt(lambda: f.fft(x, norm="half"))
    attempt(lambda: f.fft(x, norm=1))
    attempt(lambda: f.fft(x.half()))
    attempt(lambda: f.rfft(z))
    attempt(lambda: f.ihfft(z))
    attempt(lambda: f.rfftn(z))
    attempt(lambda: f.ihfft2(z))
    attempt(lambda: f.fft2(x, s=(2,)))
    attempt(lambda: f.fftn(x, s=(2, 2, 2)))
    attempt(lambda: f.fftn(x, dim=(0, 0)))
    attempt(lambda: f.rfftn(x, dim=()))
    attempt(lambda: f.fft(x, 1.5))
    attempt(lambda: f.fft([1.0]))
    attempt(lambda: f.fft(x, out=torch.empty(3, 4)))
    attempt(lambda: f.irfft(x, out=torch.empty(3, 4, dtype=torch.complex64)))
    attempt(lambda: f.fftfreq(4, dtype=torch.int32))
    attempt(lambda: f.fftfreq(-1))
    attempt(lambda: torch.stft(x, 4))
    attempt(lambda: torch.stft(torch.ones(20), 8, window=torch.ones(4), return_complex=True))
    attempt(lambda: torch.stft(torch.ones(20), 8, 0, return_complex=True))
    attempt(lambda: torch.istft(x, 4))
    attempt(lambda: torch.istft(z, 8, window=torch.ones(8)))
    attempt(lambda: torch.istft(z, 4, window=torch.zeros(4)))
