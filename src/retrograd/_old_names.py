"""Names of Tensor, and functions, that PyTorch keeps from its first versions: operators of Python 2, devices that are never there, and what was removed, which says so."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

from retrograd._C import Tensor
from retrograd._overridable import overridable


def _get_volatile(self: Tensor) -> bool:
    """Always False."""
    warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
    return False


def _set_volatile(self: Tensor, *value: Any) -> None:
    warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", UserWarning, stacklevel=2)


def _nowhere(name: str) -> property:
    def is_there(self: Tensor) -> bool:
        return False

    return property(is_there, doc=f"Whether the tensor is on a device of this kind ({name}): never.")


def _removed(instead: str) -> RuntimeError:
    return RuntimeError(f"This function was deprecated since version 1.9 and is now removed. Use {instead}.")


def eig(input: Tensor, eigenvectors: bool = False, *, e: Any = None, v: Any = None) -> NoReturn:
    """Removed: use torch.linalg.eig, which gives complex tensors."""
    raise _removed("torch.linalg.eig, which gives complex tensors")


def lstsq(input: Tensor, A: Tensor, *, out: Any = None) -> NoReturn:
    """Removed: use torch.linalg.lstsq, whose arguments are the other way round."""
    raise _removed("torch.linalg.lstsq, whose arguments are the other way round")


def matrix_rank(input: Tensor, tol: float | None = None, symmetric: bool = False, *, out: Any = None) -> NoReturn:
    """Removed: use torch.linalg.matrix_rank, where symmetric is called hermitian."""
    raise _removed("torch.linalg.matrix_rank, where symmetric is called hermitian")


def solve(input: Tensor, A: Tensor, *, out: Any = None) -> NoReturn:
    """Removed: use torch.linalg.solve, whose arguments are the other way round."""
    raise _removed("torch.linalg.solve, whose arguments are the other way round")


def symeig(input: Tensor, eigenvectors: bool = False, upper: bool = True, *, out: Any = None) -> NoReturn:
    """Removed: use torch.linalg.eigh, or torch.linalg.eigvalsh for the eigenvalues alone."""
    raise _removed("torch.linalg.eigh, or torch.linalg.eigvalsh for the eigenvalues alone")


def reinforce(self: Tensor, reward: Any) -> Any:
    """Removed: write the loss of the policy yourself, from the logarithm of the probability of the action."""
    raise RuntimeError(
        "reinforce() was removed. The loss is -log_prob * reward: compute it from the probabilities, and call backward() on it."
    )


@overridable
def is_distributed(self: Tensor) -> bool:
    """Always False."""
    return False


@overridable
def const_data_ptr(self: Tensor) -> int:
    """The address of the first element, for reading."""
    return self.data_ptr()


def _is_zerotensor(self: Tensor) -> bool:
    """Whether the tensor stands for zeros without having memory: never."""
    return False


METHODS: dict[str, Any] = {
    "volatile": property(_get_volatile, _set_volatile, _set_volatile),
    **{name: _nowhere(name) for name in ("is_ipu", "is_maia", "is_mtia", "is_vulkan")},
    "__div__": Tensor.__truediv__,
    "__rdiv__": Tensor.__rtruediv__,
    "__idiv__": Tensor.__itruediv__,
    "__long__": Tensor.__int__,
    "__nonzero__": Tensor.__bool__,
    "eig": eig,
    "lstsq": lstsq,
    "solve": solve,
    "symeig": symeig,
    "reinforce": reinforce,
    "is_distributed": is_distributed,
    "const_data_ptr": const_data_ptr,
    "_is_zerotensor": _is_zerotensor,
}
