"""How `Module.to()` and its like put what they converted into a module: behaviours that PyTorch means to make its defaults."""

_overwrite_params = False
_swap_params = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether conversions put new parameters in place of those there are, whose data they change by default."""
    global _overwrite_params
    _overwrite_params = value


def get_overwrite_module_params_on_conversion() -> bool:
    return _overwrite_params


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether conversions swap the insides of parameters with `utils.swap_tensors`, so that they stay the same objects whatever they become."""
    global _swap_params
    _swap_params = value


def get_swap_module_params_on_conversion() -> bool:
    return _swap_params
