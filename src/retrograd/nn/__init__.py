"""Neural networks: parameters, modules, their functions and their starting values."""

from retrograd.nn import functional as functional, init as init, utils as utils
from retrograd.nn.modules import *  # noqa: F403
from retrograd.nn.parameter import Buffer as Buffer, Parameter as Parameter
