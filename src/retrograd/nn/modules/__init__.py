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
    from retrograd.nn.modules.linear_cross_entropy_options import *  # noqa: F403
    from retrograd.nn.modules.pixelshuffle import *  # noqa: F403
    from retrograd.nn.modules.pooling import *  # noqa: F403
    from retrograd.nn.modules.rnn import *  # noqa: F403
    from retrograd.nn.modules.transformer import *  # noqa: F403
    from retrograd.nn.modules.upsampling import *  # noqa: F403
else:
    # What fewer programs use is imported when it is first asked for, here or in retrograd.nn: {name: its file}.
    _LATER = {
        "AdaptiveAvgPool1d": "pooling",
        "AdaptiveAvgPool2d": "pooling",
        "AdaptiveAvgPool3d": "pooling",
        "AdaptiveLogSoftmaxWithLoss": "adaptive",
        "AdaptiveMaxPool1d": "pooling",
        "AdaptiveMaxPool2d": "pooling",
        "AdaptiveMaxPool3d": "pooling",
        "AvgPool1d": "pooling",
        "AvgPool2d": "pooling",
        "AvgPool3d": "pooling",
        "ChannelShuffle": "channelshuffle",
        "FractionalMaxPool2d": "pooling",
        "FractionalMaxPool3d": "pooling",
        "GRU": "rnn",
        "GRUCell": "rnn",
        "InstanceNorm1d": "instancenorm",
        "InstanceNorm2d": "instancenorm",
        "InstanceNorm3d": "instancenorm",
        "LPPool1d": "pooling",
        "LPPool2d": "pooling",
        "LPPool3d": "pooling",
        "LSTM": "rnn",
        "LSTMCell": "rnn",
        "LazyInstanceNorm1d": "instancenorm",
        "LazyInstanceNorm2d": "instancenorm",
        "LazyInstanceNorm3d": "instancenorm",
        "LinearCrossEntropyOptions": "linear_cross_entropy_options",
        "MaxPool1d": "pooling",
        "MaxPool2d": "pooling",
        "MaxPool3d": "pooling",
        "MaxUnpool1d": "pooling",
        "MaxUnpool2d": "pooling",
        "MaxUnpool3d": "pooling",
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
            from retrograd._missing import missing

            raise missing(__name__, name)
        value = globals()[name] = getattr(_importlib.import_module(f"retrograd.nn.modules.{_LATER[name]}"), name)
        return value

    def __dir__():
        return sorted({*globals(), *_LATER})
