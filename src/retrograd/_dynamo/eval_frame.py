"""What `torch.compile` gives for a module."""

from __future__ import annotations

from typing import Any

from retrograd import nn

_OWN = {"_orig_mod", "dynamo_ctx", "_modules", "_parameters", "_buffers", "_non_persistent_buffers_set"}


class OptimizedModule(nn.Module):
    """A module inside another name: `_orig_mod` in its state_dict, everything else as the module has it."""

    _orig_mod: nn.Module

    def __init__(self, mod: nn.Module, dynamo_ctx: Any = None) -> None:
        super().__init__()
        self._modules["_orig_mod"] = mod
        self.__dict__["dynamo_ctx"] = dynamo_ctx

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._modules["_orig_mod"](*args, **kwargs)

    @property
    def training(self) -> bool:
        return self._modules["_orig_mod"].training

    @training.setter
    def training(self, mode: bool) -> None:
        if self.__dict__.get("_modules"):
            self._modules["_orig_mod"].training = mode

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules")
        if name == "_orig_mod" and modules:
            return modules["_orig_mod"]
        if not modules or name.startswith(("_forward", "_backward")):  # hooks are this module's own
            return super().__getattr__(name)
        return getattr(modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN or name == "training" or "hooks" in name or not self.__dict__.get("_modules"):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __len__(self) -> int:
        if hasattr(type(self._orig_mod), "__len__"):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __bool__(self) -> bool:
        return True

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod), "_orig_mod"})
