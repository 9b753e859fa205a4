"""Neural networks: parameters, modules, their functions and their starting values."""

import importlib as _importlib
import typing as _typing

from retrograd.nn import functional as functional, init as init, modules as modules, utils as utils
from retrograd.nn.modules import *  # noqa: F403
from retrograd.nn.parameter import (
    Buffer as Buffer,
    Parameter as Parameter,
    UninitializedBuffer as UninitializedBuffer,
    UninitializedParameter as UninitializedParameter,
)


def factory_kwargs(kwargs: dict[str, _typing.Any] | None) -> dict[str, _typing.Any]:
    """The options for factory functions (device, dtype, memory_format) among the arguments of a module, which may also come as `factory_kwargs`."""
    if kwargs is None:
        return {}
    simple = {"device", "dtype", "memory_format"}
    expected = simple | {"factory_kwargs"}
    if not kwargs.keys() <= expected:
        raise TypeError(f"unexpected kwargs {kwargs.keys() - expected}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for key in ("device", "dtype", "memory_format"):
        if key in kwargs:
            if key in found:
                raise TypeError(f"{key} specified twice, in **kwargs and in factory_kwargs")
            found[key] = kwargs[key]
    return found


if _typing.TYPE_CHECKING:
    from retrograd.nn import attention as attention, common_types as common_types, grad as grad, parallel as parallel
    from retrograd.nn.parallel import DataParallel as DataParallel
else:  # imported when first used

    def __getattr__(name):
        if name in modules._LATER:
            value = getattr(modules, name)
        elif name in ("_reduction", "attention", "common_types", "grad", "parallel"):
            value = _importlib.import_module(f"retrograd.nn.{name}")
        elif name == "DataParallel":
            value = _importlib.import_module("retrograd.nn.parallel").DataParallel
        else:
            from retrograd._missing import missing

            raise missing(__name__, name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *modules._LATER, "attention", "common_types", "grad", "parallel", "DataParallel"})

    __all__ = [name for name in __dir__() if not name.startswith("_")]
