"""Optimizers and schedules of their learning rates."""

import importlib as _importlib
import typing as _typing

from retrograd.optim import _functional as _functional, lr_scheduler
from retrograd.optim._adafactor import Adafactor
from retrograd.optim._muon import Muon
from retrograd.optim.adadelta import Adadelta
from retrograd.optim.adagrad import Adagrad
from retrograd.optim.adam import Adam
from retrograd.optim.adamax import Adamax
from retrograd.optim.adamw import AdamW
from retrograd.optim.asgd import ASGD
from retrograd.optim.lbfgs import LBFGS
from retrograd.optim.nadam import NAdam
from retrograd.optim.optimizer import Optimizer, swap_in_optimizer_params_and_state
from retrograd.optim.radam import RAdam
from retrograd.optim.rmsprop import RMSprop
from retrograd.optim.rprop import Rprop
from retrograd.optim.sgd import SGD
from retrograd.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Muon", "NAdam", "Optimizer", "RAdam", "RMSprop",
    "Rprop", "SparseAdam", "lr_scheduler", "swa_utils", "swap_in_optimizer_params_and_state",
]  # fmt: skip

if _typing.TYPE_CHECKING:
    from retrograd.optim import swa_utils
else:  # imported when first used: it needs nn

    def __getattr__(name):
        if name == "swa_utils":
            return _importlib.import_module("retrograd.optim.swa_utils")
        from retrograd._missing import missing

        raise missing(__name__, name)

    def __dir__():
        return sorted({*globals(), "swa_utils"})
