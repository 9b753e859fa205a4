"""torch.utils.tensorboard: writes what training measures, for TensorBoard, whose package has to be installed."""

from __future__ import annotations

import importlib.util as _util
import sys as _sys

from retrograd.utils.tensorboard.writer import SummaryWriter

__all__ = ["SummaryWriter"]

if _sys.modules.get("tensorboard", False) is None or ("tensorboard" not in _sys.modules and _util.find_spec("tensorboard") is None):
    raise ModuleNotFoundError("torch.utils.tensorboard needs the package tensorboard: pip install tensorboard", name="tensorboard")
