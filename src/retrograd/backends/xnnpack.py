"""torch.backends.xnnpack: XNNPACK, which is not used."""

__all__ = ["is_available"]

enabled: bool = False


def is_available() -> bool:
    """Whether it is used."""
    return False
