"""torch.backends.mha: the fast path of transformer layers in eval mode. Kept; there is one path here."""

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """Whether the fast path may be taken."""
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Allows the fast path."""
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
