"""torch.special: the special functions of the op table under the names SciPy gives them."""

from __future__ import annotations

import retrograd as torch
from retrograd import _C

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln", "i0", "i0e", "i1",
    "i1e", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "sinc",
    "softmax", "xlog1py", "xlogy", "zeta",
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


def __dir__() -> list[str]:
    return __all__
