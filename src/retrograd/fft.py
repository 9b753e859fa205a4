"""torch.fft: discrete Fourier transforms of any length, along one dimension or several."""

from __future__ import annotations

from retrograd import _C
from retrograd._ops.fft import fftfreq, rfftfreq
from retrograd._overridable import offer

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn",
    "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

_ops = _C._ops

fft, ifft, rfft, irfft, hfft, ihfft = _ops.fft_fft, _ops.fft_ifft, _ops.fft_rfft, _ops.fft_irfft, _ops.fft_hfft, _ops.fft_ihfft
fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = _ops.fft_fft2, _ops.fft_ifft2, _ops.fft_rfft2, _ops.fft_irfft2, _ops.fft_hfft2, _ops.fft_ihfft2
fftn, ifftn, rfftn, irfftn, hfftn, ihfftn = _ops.fft_fftn, _ops.fft_ifftn, _ops.fft_rfftn, _ops.fft_irfftn, _ops.fft_hfftn, _ops.fft_ihfftn
fftshift, ifftshift = _ops.fft_fftshift, _ops.fft_ifftshift
offer(globals())


def __dir__() -> list[str]:
    return __all__
