"""torch.backends.openmp: threads are the package's own."""

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether threads are OpenMP's."""
    return False
