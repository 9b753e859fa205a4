"""Neural networks: parameters, modules, their functions and their starting values."""

from retrograd.nn import functional, init, utils  # noqa: F401
from retrograd.nn.modules import *  # noqa: F403
from retrograd.nn.parameter import Buffer, Parameter  # noqa: F401
