"""The modules of retrograd.nn, one family a file, under the names of PyTorch's files."""

from retrograd.nn.modules.activation import *  # noqa: F403
from retrograd.nn.modules.adaptive import *  # noqa: F403
from retrograd.nn.modules.channelshuffle import *  # noqa: F403
from retrograd.nn.modules.container import *  # noqa: F403
from retrograd.nn.modules.distance import *  # noqa: F403
from retrograd.nn.modules.dropout import *  # noqa: F403
from retrograd.nn.modules.flatten import *  # noqa: F403
from retrograd.nn.modules.linear import Bilinear as Bilinear, Identity as Identity, LazyLinear as LazyLinear, Linear as Linear
from retrograd.nn.modules.loss import *  # noqa: F403
from retrograd.nn.modules.module import Module as Module
from retrograd.nn.modules.normalization import *  # noqa: F403
from retrograd.nn.modules.padding import *  # noqa: F403
from retrograd.nn.modules.pixelshuffle import *  # noqa: F403
from retrograd.nn.modules.rnn import *  # noqa: F403
from retrograd.nn.modules.sparse import *  # noqa: F403
