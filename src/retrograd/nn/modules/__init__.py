"""The modules of retrograd.nn, one family a file, under the names of PyTorch's files."""

import importlib as _importlib
import typing as _typing

from retrograd.nn.modules.activation import *  # noqa: F403
from retrograd.nn.modules.batchnorm import *  # noqa: F403
from retrograd.nn.modules.container import *  # noqa: F403
from retrograd.nn.modules.conv import *  # noqa: F403
from retrograd.nn.modules.distance import *  # noqa: F403
from retrograd.nn.modules.dropout import *  # noqa: F403
from retrograd.nn.modules.flatten import *  # noqa: F403
from retrograd.nn.modules.fold import *  # noqa: F403
from retrograd.nn.modules.linear import Bilinear as Bilinear, Identity as Identity, LazyLinear as LazyLinear, Linear as Linear
from retrograd.nn.modules.loss import *  # noqa: F403
from retrograd.nn.modules.module import Module as Module
from retrograd.nn.modules.normalization import *  # noqa: F403
from retrograd.nn.modules.padding import *  # noqa: F403
from retrograd.nn.modules.sparse import *  # noqa: F403

if _typing.TYPE_CHECKING:
    from retrograd.nn.modules.adaptive import *  # noqa: F403
    from retrograd.nn.modules.channelshuffle import *  # noqa: F403
    from retrograd.nn.modules.instancenorm import *  # noqa: F403
    from retrograd.nn.modules.pixelshuffle import *  # noqa: F403
    from retrograd.nn.modules.rnn import *  # noqa: F403
    from retrograd.nn.modules.transformer import *  # noqa: F403
    from retrograd.nn.modules.upsampling import *  # noqa: F403
else:
    # What fewer programs use is imported when it is first asked for, here or in retrograd.nn: {name: its file}.
    _LATER = {
        "AdaptiveLogSoftmaxWithLoss": "adaptive",
        "ChannelShuffle": "channelshuffle",
        "GRU": "rnn",
        "GRUCell": "rnn",
        "InstanceNorm1d": "instancenorm",
        "InstanceNorm2d": "instancenorm",
        "InstanceNorm3d": "instancenorm",
        "LSTM": "rnn",
        "LSTMCell": "rnn",
        "LazyInstanceNorm1d": "instancenorm",
        "LazyInstanceNorm2d": "instancenorm",
        "LazyInstanceNorm3d": "instancenorm",
        "PixelShuffle": "pixelshuffle",
        "PixelUnshuffle": "pixelshuffle",
        "RNN": "rnn",
        "RNNBase": "rnn",
        "RNNCell": "rnn",
        "RNNCellBase": "rnn",
        "Transformer": "transformer",
        "TransformerDecoder": "transformer",
        "TransformerDecoderLayer": "transformer",
        "TransformerEncoder": "transformer",
        "TransformerEncoderLayer": "transformer",
        "Upsample": "upsampling",
        "UpsamplingBilinear2d": "upsampling",
        "UpsamplingNearest2d": "upsampling",
    }

    def __getattr__(name):
        if name not in _LATER:
            raise AttributeError(f"module 'retrograd.nn.modules' has no attribute {name!r}")
        value = globals()[name] = getattr(_importlib.import_module(f"retrograd.nn.modules.{_LATER[name]}"), name)
        return value

    def __dir__():
        return sorted({*globals(), *_LATER})
