"""torch.backends.cpu: which of the processor's instructions are used."""

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The widest vector instructions in use: "AVX512", "AVX2" or "DEFAULT"."""
    from retrograd import _C

    return {"v4": "AVX512", "v3": "AVX2"}.get(_C._cpu_level(), "DEFAULT")
