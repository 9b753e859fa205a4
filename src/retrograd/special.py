"""torch.special: the special functions of the op table under the names SciPy gives them."""

from __future__ import annotations

import retrograd as torch
from retrograd import _C

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t", "chebyshev_polynomial_u",
    "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1",
    "gammainc", "gammaincc", "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e", "laguerre_polynomial_l",
    "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "modified_bessel_i0", "modified_bessel_i1",
    "modified_bessel_k0", "modified_bessel_k1", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0", "xlog1py", "xlogy", "zeta",
]  # fmt: skip

_ops = _C._ops

digamma = psi = torch.digamma
erf, erfc, erfinv = torch.erf, torch.erfc, torch.erfinv
exp2, expm1, log1p = torch.exp2, torch.expm1, torch.log1p
expit, logit = torch.sigmoid, torch.logit
gammaln, polygamma, multigammaln = torch.lgamma, torch.polygamma, torch.mvlgamma
gammainc, gammaincc = torch.igamma, torch.igammac
i0, sinc, xlogy, round = torch.i0, torch.sinc, torch.xlogy, torch.round
log_softmax, logsumexp, softmax = torch.log_softmax, torch.logsumexp, torch.softmax
entr, erfcx = _ops.special_entr, _ops.special_erfcx
i0e, i1, i1e = _ops.special_i0e, _ops.special_i1, _ops.special_i1e
log_ndtr, ndtr, ndtri = _ops.special_log_ndtr, _ops.special_ndtr, _ops.special_ndtri
xlog1py, zeta = _ops.special_xlog1py, _ops.special_zeta
airy_ai, spherical_bessel_j0 = _ops.special_airy_ai, _ops.special_spherical_bessel_j0
bessel_j0, bessel_j1 = _ops.special_bessel_j0, _ops.special_bessel_j1
bessel_y0, bessel_y1 = _ops.special_bessel_y0, _ops.special_bessel_y1
modified_bessel_i0, modified_bessel_i1 = _ops.special_modified_bessel_i0, _ops.special_modified_bessel_i1
modified_bessel_k0, modified_bessel_k1 = _ops.special_modified_bessel_k0, _ops.special_modified_bessel_k1
scaled_modified_bessel_k0, scaled_modified_bessel_k1 = _ops.special_scaled_modified_bessel_k0, _ops.special_scaled_modified_bessel_k1
chebyshev_polynomial_t, chebyshev_polynomial_u = _ops.special_chebyshev_polynomial_t, _ops.special_chebyshev_polynomial_u
chebyshev_polynomial_v, chebyshev_polynomial_w = _ops.special_chebyshev_polynomial_v, _ops.special_chebyshev_polynomial_w
shifted_chebyshev_polynomial_t = _ops.special_shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u = _ops.special_shifted_chebyshev_polynomial_u
shifted_chebyshev_polynomial_v = _ops.special_shifted_chebyshev_polynomial_v
shifted_chebyshev_polynomial_w = _ops.special_shifted_chebyshev_polynomial_w
hermite_polynomial_h, hermite_polynomial_he = _ops.special_hermite_polynomial_h, _ops.special_hermite_polynomial_he
laguerre_polynomial_l, legendre_polynomial_p = _ops.special_laguerre_polynomial_l, _ops.special_legendre_polynomial_p


def __dir__() -> list[str]:
    return __all__
