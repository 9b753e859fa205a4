"""Layers with inputs to call them on, for test_layers.py and the file of values that goes with it.

Run as a program, this writes PyTorch's results to layer_values.json.
"""

import importlib
import json
import math
import pathlib
import warnings

VALUES = pathlib.Path(__file__).with_name("layer_values.json")


def _randn(*shape):
    return lambda t: t.randn(*shape, dtype=t.float64)


def _rand(*shape):
    return lambda t: t.rand(*shape, dtype=t.float64)


def _classes(n, shape):
    return lambda t: t.randint(0, n, shape)


def _signs(*shape):
    return lambda t: t.randint(0, 2, shape).double() * 2 - 1


def _none(t):
    return None


def _flag(value):
    return lambda t: value


def _padding(*lengths, size):
    return lambda t: t.arange(size) >= t.tensor(lengths)[:, None]


def _causal(size):
    return lambda t: t.ones(size, size, dtype=t.bool).triu(1)


def _positive(*shape):
    return lambda t: t.rand(*shape, dtype=t.float64) + 0.1


def _log_probabilities(*shape):
    return lambda t: t.randn(*shape, dtype=t.float64).log_softmax(1)


def _states(*shapes):
    return lambda t: tuple(t.randn(*shape, dtype=t.float64) for shape in shapes)


def _packed(lengths, size):
    def pack(t):
        padded = t.randn(max(lengths), len(lengths), size, dtype=t.float64)
        rnn = importlib.import_module(t.__name__ + ".nn.utils.rnn")
        return rnn.pack_padded_sequence(padded, lengths, enforce_sorted=False)

    return pack


# (how to make the layer, what to call it on). Floating point parameters are turned into float64.
CASES = [
    ("Identity(1, x=2)", [_randn(2, 3)]),
    ("Linear(3, 4)", [_randn(2, 3)]),
    ("Linear(3, 4, bias=False)", [_randn(2, 5, 3)]),
    ("Bilinear(3, 4, 2)", [_randn(5, 3), _randn(5, 4)]),
    ("Conv1d(3, 4, 3)", [_randn(2, 3, 7)]),
    ("Conv1d(4, 6, 2, stride=2, padding=1, groups=2, bias=False)", [_randn(4, 7)]),
    ("Conv1d(2, 3, 4, padding='same', dilation=2, padding_mode='circular')", [_randn(2, 2, 9)]),
    ("Conv2d(3, 4, 3)", [_randn(2, 3, 5, 6)]),
    ("Conv2d(3, 4, (3, 2), stride=(2, 1), padding=(0, 1), dilation=(1, 2))", [_randn(3, 5, 6)]),
    ("Conv2d(4, 8, 3, padding=1, groups=4)", [_randn(2, 4, 5, 6)]),
    ("Conv2d(2, 3, 3, padding=(2, 1), padding_mode='reflect')", [_randn(2, 2, 4, 5)]),
    ("Conv2d(2, 3, 2, padding='same', padding_mode='replicate')", [_randn(2, 2, 4, 5)]),
    ("Conv2d(2, 3, 3, stride=2, padding=1, padding_mode='circular', bias=False)", [_randn(2, 2, 4, 5)]),
    ("Conv2d(2, 3, 3, padding='valid')", [_randn(1, 2, 4, 5)]),
    ("Conv3d(2, 3, 2)", [_randn(1, 2, 3, 4, 3)]),
    ("Conv3d(2, 4, (1, 2, 3), stride=2, padding=(0, 1, 1), groups=2)", [_randn(2, 3, 4, 5)]),
    ("Conv3d(1, 2, 3, padding='same', padding_mode='replicate')", [_randn(1, 1, 3, 4, 3)]),
    ("ConvTranspose1d(3, 4, 3, stride=2, padding=1, output_padding=1)", [_randn(2, 3, 4)]),
    ("ConvTranspose2d(3, 4, 3)", [_randn(2, 3, 3, 4)]),
    ("ConvTranspose2d(4, 6, (3, 2), stride=(2, 3), padding=(1, 0), output_padding=(1, 2), groups=2, dilation=2)", [_randn(4, 3, 4)]),
    ("ConvTranspose3d(2, 3, 2, stride=2, bias=False)", [_randn(1, 2, 2, 3, 2)]),
    ("Unfold((2, 3), dilation=2, padding=1, stride=(1, 2))", [_randn(2, 3, 5, 6)]),
    ("Fold((4, 5), kernel_size=2, padding=1)", [_randn(2, 12, 30)]),
    ("MultiheadAttention(8, 2)", [_randn(4, 3, 8), _randn(5, 3, 8), _randn(5, 3, 8)]),
    ("MultiheadAttention(8, 2, bias=False)", [_randn(4, 8), _randn(5, 8), _randn(5, 8)]),
    ("MultiheadAttention(8, 4, batch_first=True)", [_randn(3, 4, 8), _randn(3, 5, 8), _randn(3, 5, 8), _padding(5, 2, 4, size=5)]),
    (
        "MultiheadAttention(8, 1)",
        [_randn(4, 3, 8), _randn(4, 3, 8), _randn(4, 3, 8), _padding(4, 2, 3, size=4), _flag(True), _causal(4), _flag(False)],
    ),
    ("MultiheadAttention(6, 3, kdim=4, vdim=5)", [_randn(4, 2, 6), _randn(3, 2, 4), _randn(3, 2, 5), _none, _flag(False)]),
    (
        "MultiheadAttention(6, 2, add_bias_kv=True, add_zero_attn=True)",
        [_randn(4, 2, 6), _randn(3, 2, 6), _randn(3, 2, 6), _padding(3, 1, size=3), _flag(True), _randn(4, 4, 3)],
    ),
    (
        "MultiheadAttention(6, 2, add_bias_kv=True, add_zero_attn=True, kdim=4)",
        [_randn(4, 2, 6), _randn(3, 2, 4), _randn(3, 2, 6), _padding(3, 1, size=3), _flag(False), _randn(4, 4, 3)],
    ),
    (
        "MultiheadAttention(8, 2, dropout=0.2)",
        [_randn(4, 3, 8), _randn(4, 3, 8), _randn(4, 3, 8), _none, _flag(False), _causal(4), _flag(True), _flag(True)],
        "eval",
    ),
    ("TransformerEncoderLayer(8, 2, 12)", [_randn(4, 3, 8)], "eval"),
    (
        "TransformerEncoderLayer(8, 4, 12, dropout=0.0, activation='gelu', norm_first=True, batch_first=True, bias=False)",
        [_randn(3, 4, 8), _causal(4), _padding(4, 2, 3, size=4)],
    ),
    ("TransformerDecoderLayer(8, 2, 12)", [_randn(4, 3, 8), _randn(5, 3, 8), _causal(4), _none, _none, _padding(5, 2, 4, size=5)], "eval"),
    (
        "TransformerDecoderLayer(8, 4, 12, 0.0, torch.nn.functional.silu, norm_first=True, batch_first=True)",
        [_randn(3, 4, 8), _randn(3, 5, 8)],
    ),
    (
        "TransformerEncoder(TransformerEncoderLayer(8, 2, 12, batch_first=True), 2, LayerNorm(8))",
        [_randn(3, 4, 8), _none, _padding(4, 2, 3, size=4)],
        "eval",
    ),
    (
        "TransformerDecoder(TransformerDecoderLayer(8, 2, 12), 2)",
        [_randn(4, 8), _randn(5, 8), lambda t: t.nn.Transformer.generate_square_subsequent_mask(4, dtype=t.float64)],
        "eval",
    ),
    (
        "Transformer(8, 2, 1, 2, 12, dropout=0.0)",
        [_randn(5, 3, 8), _randn(4, 3, 8), _none, _causal(4), _none, _padding(5, 2, 4, size=5), _none, _padding(5, 2, 4, size=5)],
    ),
    ("Threshold(0.1, -2)", [_randn(3, 4)]),
    ("ReLU()", [_randn(3, 4)]),
    ("RReLU()", [_randn(3, 4)], "eval"),
    ("Hardtanh()", [_randn(3, 4)]),
    ("Hardtanh(-0.5, 0.25, inplace=True)", [lambda t: t.randn(3, 4, dtype=t.float64)], "inplace"),
    ("ReLU6()", [lambda t: t.randn(3, 4, dtype=t.float64) * 4]),
    ("Sigmoid()", [_randn(3, 4)]),
    ("Hardsigmoid()", [lambda t: t.randn(3, 4, dtype=t.float64) * 4]),
    ("Tanh()", [_randn(3, 4)]),
    ("SiLU()", [_randn(3, 4)]),
    ("Mish()", [_randn(3, 4)]),
    ("Hardswish()", [lambda t: t.randn(3, 4, dtype=t.float64) * 4]),
    ("ELU(0.5)", [_randn(3, 4)]),
    ("CELU(0.5)", [_randn(3, 4)]),
    ("SELU()", [_randn(3, 4)]),
    ("GLU()", [_randn(3, 4)]),
    ("GLU(0)", [_randn(4, 3)]),
    ("GELU()", [_randn(3, 4)]),
    ("GELU('tanh')", [_randn(3, 4)]),
    ("Hardshrink()", [_randn(3, 4)]),
    ("Softshrink(0.3)", [_randn(3, 4)]),
    ("LeakyReLU(0.2)", [_randn(3, 4)]),
    ("LogSigmoid()", [_randn(3, 4)]),
    ("Softplus(2, 1)", [_randn(3, 4)]),
    ("PReLU()", [_randn(3, 4)]),
    ("PReLU(4, init=0.5)", [_randn(3, 4)]),
    ("Softsign()", [_randn(3, 4)]),
    ("Tanhshrink()", [_randn(3, 4)]),
    ("Softmin(dim=1)", [_randn(3, 4)]),
    ("Softmax(dim=0)", [_randn(3, 4)]),
    ("LogSoftmax(dim=-1)", [_randn(3, 4)]),
    ("Softmax2d()", [_randn(2, 3, 2, 2)]),
    ("Dropout(0.4)", [_randn(6, 5)], "eval"),
    ("Embedding(5, 3)", [_classes(5, (2, 4))]),
    ("Embedding(5, 3, padding_idx=-1)", [_classes(5, (2, 4))]),
    ("Embedding(5, 3, max_norm=0.5, norm_type=1.0, scale_grad_by_freq=True)", [_classes(5, (2, 4))]),
    ("EmbeddingBag(5, 3)", [_classes(5, (2, 4))]),
    ("EmbeddingBag(5, 3, mode='sum')", [_classes(5, (6,)), lambda t: t.tensor([0, 2])]),
    ("EmbeddingBag(5, 3, mode='max')", [_classes(5, (2, 4))]),
    ("LayerNorm(4)", [_randn(3, 4)]),
    ("LayerNorm([2, 4], elementwise_affine=False)", [_randn(3, 2, 4)]),
    ("LayerNorm(4, eps=0.1, bias=False)", [_randn(3, 4)]),
    ("RMSNorm(4)", [_randn(3, 4)]),
    ("RMSNorm([2, 4], eps=0.1, elementwise_affine=False)", [_randn(3, 2, 4)]),
    ("LocalResponseNorm(2)", [_randn(2, 4, 3)]),
    ("LocalResponseNorm(3, alpha=0.5, beta=0.5, k=2.0)", [_randn(2, 4, 3, 2)]),
    ("CrossMapLRN2d(5, alpha=0.5)", [_randn(2, 2, 3, 2)]),
    ("CrossMapLRN2d(4, alpha=0.5, beta=0.5, k=2)", [_randn(2, 2, 2, 2)]),
    ("BatchNorm1d(3)", [_randn(4, 3)]),
    ("BatchNorm1d(3, eps=0.1, momentum=0.3, affine=False)", [_randn(2, 3, 5)]),
    ("BatchNorm1d(3, momentum=None)", [_randn(2, 3, 20)]),
    ("BatchNorm1d(3, bias=False)", [_randn(2, 3, 20)], "eval"),
    ("BatchNorm2d(3)", [_randn(2, 3, 4, 5)]),
    ("BatchNorm2d(3, track_running_stats=False)", [_randn(2, 3, 4, 5)], "eval"),
    ("BatchNorm2d(3, affine=False)", [lambda t: t.randn(2, 3, 4, 5, dtype=t.float64).contiguous(memory_format=t.channels_last)]),
    ("BatchNorm3d(2)", [_randn(2, 2, 3, 2, 3)]),
    ("SyncBatchNorm(3)", [_randn(2, 3, 4)]),
    ("GroupNorm(2, 4)", [_randn(2, 4)]),
    ("GroupNorm(3, 6, eps=0.1, bias=False)", [_randn(2, 6, 20)]),
    ("GroupNorm(1, 4, affine=False)", [_randn(2, 4, 3, 2)]),
    ("GroupNorm(2, 4, 1e-3)", [lambda t: t.randn(2, 4, 3, 5, dtype=t.float64).contiguous(memory_format=t.channels_last)]),
    ("InstanceNorm1d(3)", [_randn(2, 3, 5)]),
    ("InstanceNorm1d(3, affine=True)", [_randn(3, 5)]),
    ("InstanceNorm2d(3, affine=True, track_running_stats=True, momentum=0.3)", [_randn(2, 3, 4, 5)]),
    ("InstanceNorm2d(3, affine=True, track_running_stats=True)", [_randn(2, 3, 4, 5)], "eval"),
    ("InstanceNorm3d(2, eps=0.1)", [_randn(2, 2, 3, 2, 3)]),
    ("LazyBatchNorm1d()", [_randn(4, 3)], "lazy"),
    ("LazyBatchNorm2d(affine=False)", [_randn(2, 3, 4, 5)], "lazy"),
    ("LazyBatchNorm3d(momentum=None)", [_randn(2, 2, 3, 2, 3)], "lazy"),
    ("LazyInstanceNorm1d()", [_randn(2, 3, 5)], "lazy"),
    ("LazyInstanceNorm2d(track_running_stats=False)", [_randn(2, 3, 4, 5)], "lazy"),
    ("LazyInstanceNorm3d(affine=False)", [_randn(2, 2, 3, 2, 3)], "lazy"),
    ("Flatten()", [_randn(2, 3, 4)]),
    ("Flatten(0, 1)", [_randn(2, 3, 4)]),
    ("Unflatten(1, (2, 3))", [_randn(2, 6)]),
    ("ZeroPad1d(1)", [_randn(2, 3)]),
    ("ZeroPad2d((1, 2, 0, 1))", [_randn(2, 3, 3)]),
    ("ZeroPad3d(1)", [_randn(1, 2, 2, 2)]),
    ("ConstantPad1d(2, 3.5)", [_randn(2, 3)]),
    ("ConstantPad2d((1, 0, 2, 1), -1.5)", [_randn(2, 3, 3)]),
    ("ConstantPad3d(1, 2)", [_randn(1, 2, 2, 2)]),
    ("ReflectionPad1d(2)", [_randn(2, 4)]),
    ("ReflectionPad2d((1, 2, 0, 1))", [_randn(2, 3, 3)]),
    ("ReflectionPad3d(1)", [_randn(1, 2, 2, 2)]),
    ("ReplicationPad1d(2)", [_randn(2, 4)]),
    ("ReplicationPad2d((1, 2, 0, 1))", [_randn(2, 3, 3)]),
    ("ReplicationPad3d(1)", [_randn(1, 2, 2, 2)]),
    ("CircularPad1d(2)", [_randn(2, 4)]),
    ("CircularPad2d((1, 2, 0, 1))", [_randn(2, 3, 3)]),
    ("CircularPad3d(1)", [_randn(1, 2, 2, 2)]),
    ("MaxPool1d(2)", [_randn(2, 3, 7)]),
    ("MaxPool1d(3, stride=2, padding=1, dilation=2, ceil_mode=True, return_indices=True)", [_randn(3, 9)]),
    ("MaxPool2d(2)", [_randn(2, 3, 5, 6)]),
    ("MaxPool2d((3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), return_indices=True)", [_randn(3, 5, 6)]),
    ("MaxPool2d(3, 2, 1, ceil_mode=True)", [lambda t: t.randn(2, 5, 6, 8, dtype=t.float64).contiguous(memory_format=t.channels_last)]),
    ("MaxPool3d(2)", [_randn(1, 2, 4, 5, 4)]),
    ("MaxPool3d((1, 3, 2), stride=2, padding=(0, 1, 1), return_indices=True, ceil_mode=True)", [_randn(2, 3, 5, 4)]),
    ("MaxUnpool1d(2)", [_randn(2, 3, 3), lambda t: t.tensor([0, 3, 5]).expand(2, 3, 3)]),
    ("MaxUnpool2d((2, 1), stride=(2, 1))", [_randn(1, 2, 2, 3), lambda t: t.tensor([[0, 4, 2], [6, 7, 11]]).expand(1, 2, 2, 3)]),
    ("MaxUnpool2d(2)", [_randn(2, 2, 2), lambda t: t.tensor([[0, 3], [10, 13]]).expand(2, 2, 2), lambda t: (5, 5)]),
    ("MaxUnpool3d(2)", [_randn(1, 2, 1, 1, 2), lambda t: t.tensor([0, 3]).expand(1, 2, 1, 1, 2), lambda t: t.Size((1, 2, 2, 3, 4))]),
    ("FractionalMaxPool2d(2, output_size=3)", [_randn(2, 3, 7, 8)]),
    ("FractionalMaxPool2d((1, 3), output_ratio=(0.5, 0.4), return_indices=True)", [_randn(3, 7, 8)]),
    ("FractionalMaxPool3d(2, output_ratio=0.5)", [_randn(1, 2, 5, 6, 7)]),
    ("FractionalMaxPool3d((1, 2, 1), output_size=(2, 3, 4), return_indices=True)", [_randn(2, 5, 6, 7)]),
    ("AvgPool1d(2)", [_randn(2, 3, 7)]),
    ("AvgPool1d((3,), stride=2, padding=1, ceil_mode=True, count_include_pad=False)", [_randn(3, 8)]),
    ("AvgPool2d(2)", [_randn(2, 3, 5, 6)]),
    ("AvgPool2d((3, 2), stride=(2, 1), padding=(1, 0), ceil_mode=True)", [_randn(3, 6, 6)]),
    (
        "AvgPool2d(3, 2, 1, count_include_pad=False)",
        [lambda t: t.randn(2, 5, 6, 8, dtype=t.float64).contiguous(memory_format=t.channels_last)],
    ),
    ("AvgPool2d(2, divisor_override=3)", [_randn(1, 2, 4, 4)]),
    ("AvgPool3d(2)", [_randn(1, 2, 4, 5, 4)]),
    ("AvgPool3d((1, 3, 2), stride=2, padding=(0, 1, 1), ceil_mode=True, count_include_pad=False)", [_randn(2, 3, 5, 4)]),
    ("AdaptiveAvgPool1d(3)", [_randn(2, 3, 7)]),
    ("AdaptiveAvgPool2d((3, None))", [_randn(2, 3, 7, 4)]),
    ("AdaptiveAvgPool2d(1)", [_randn(3, 5, 4)]),
    ("AdaptiveAvgPool3d((2, 1, 3))", [_randn(1, 2, 3, 4, 5)]),
    ("AdaptiveMaxPool1d(3)", [_randn(2, 3, 7)]),
    ("AdaptiveMaxPool2d((None, 2), return_indices=True)", [_randn(2, 3, 4, 5)]),
    ("AdaptiveMaxPool3d(2)", [_randn(1, 2, 3, 4, 5)]),
    ("LPPool1d(2, 3)", [_randn(2, 3, 7)]),
    ("LPPool2d(3.0, (2, 3), stride=1, ceil_mode=True)", [_positive(2, 3, 5, 6)]),
    ("LPPool3d(1, 2)", [_positive(1, 2, 4, 4, 4)]),
    ("LazyConv1d(4, 3)", [_randn(2, 3, 7)], "lazy"),
    ("LazyConv2d(4, (3, 2), stride=2, padding=1, groups=2, bias=False)", [_randn(2, 5, 6)], "lazy"),
    ("LazyConv3d(3, 2, padding='same', padding_mode='replicate')", [_randn(1, 2, 3, 4, 3)], "lazy"),
    ("LazyConvTranspose1d(4, 3, stride=2, output_padding=1)", [_randn(2, 3, 5)], "lazy"),
    ("LazyConvTranspose2d(4, 3, groups=2, dilation=2)", [_randn(2, 3, 4)], "lazy"),
    ("LazyConvTranspose3d(2, 2)", [_randn(1, 3, 2, 3, 2)], "lazy"),
    ("PairwiseDistance(keepdim=True)", [_randn(3, 4), _randn(3, 4)]),
    ("CosineSimilarity()", [_randn(3, 4), _randn(3, 4)]),
    ("PixelShuffle(2)", [_randn(2, 8, 2, 3)]),
    ("PixelUnshuffle(2)", [_randn(2, 2, 4, 6)]),
    ("ChannelShuffle(2)", [_randn(2, 6, 2)]),
    ("Upsample((3, 7), mode='bicubic')", [_randn(2, 3, 4, 5)]),
    ("Upsample(scale_factor=1.7, mode='linear', align_corners=True)", [_randn(2, 3, 5)]),
    ("Upsample(scale_factor=(2, 1, 1.5), mode='nearest-exact')", [_randn(1, 2, 3, 2, 4)]),
    ("Upsample(scale_factor=2.3, mode='trilinear', recompute_scale_factor=True)", [_randn(1, 2, 3, 2, 4)]),
    ("UpsamplingNearest2d(scale_factor=2)", [_randn(2, 3, 4, 5)]),
    ("UpsamplingBilinear2d(size=(3, 8))", [_randn(2, 3, 4, 5)]),
    ("RNNCell(3, 4)", [_randn(2, 3)]),
    ("RNNCell(3, 4, bias=False, nonlinearity='relu')", [_randn(2, 3), _randn(2, 4)]),
    ("LSTMCell(3, 4)", [_randn(2, 3)]),
    ("LSTMCell(3, 2, bias=False)", [_randn(3), lambda t: (t.randn(2, dtype=t.float64), t.randn(2, dtype=t.float64))]),
    ("GRUCell(3, 4)", [_randn(2, 3), _randn(2, 4)]),
    ("GRUCell(3, 4, bias=False)", [_randn(3)]),
    ("RNN(3, 4)", [_randn(5, 2, 3)]),
    ("RNN(3, 4, 2, 'relu', bias=False, batch_first=True)", [_randn(2, 5, 3), _randn(2, 2, 4)]),
    ("RNN(3, 4, 2, bidirectional=True)", [_randn(5, 3), _randn(4, 4)]),
    ("RNN(3, 4, bidirectional=True)", [_packed([5, 3, 1], 3)]),
    ("GRU(3, 4)", [_randn(5, 2, 3), _randn(1, 2, 4)]),
    ("GRU(3, 4, 2, bias=False, batch_first=True, bidirectional=True)", [_randn(2, 5, 3)]),
    ("GRU(3, 4, 3, dropout=0.5)", [_randn(5, 2, 3)], "eval"),
    ("GRU(3, 4, 2, bidirectional=True)", [_packed([2, 4, 1], 3), _randn(4, 3, 4)]),
    ("GRU(2, 1)", [_randn(1, 2)]),
    ("LSTM(3, 4)", [_randn(5, 2, 3)]),
    ("LSTM(3, 4, 2, batch_first=True)", [_randn(2, 5, 3), _states((2, 2, 4), (2, 2, 4))]),
    ("LSTM(3, 4, 2, bias=False, bidirectional=True)", [_randn(5, 3), _states((4, 4), (4, 4))]),
    ("LSTM(3, 4, 2, proj_size=2, bidirectional=True)", [_randn(5, 2, 3), _states((4, 2, 2), (4, 2, 4))]),
    ("LSTM(3, 4, proj_size=2, bias=False)", [_packed([3, 3, 2], 3)]),
    ("LSTM(3, 4, 2, bidirectional=True, dropout=0.3)", [_packed([1, 4, 2], 3)], "eval"),
    ("AdaptiveLogSoftmaxWithLoss(16, 20, [3, 7])", [_randn(6, 16), lambda t: t.tensor([0, 4, 19, 7, 2, 6])]),
    ("AdaptiveLogSoftmaxWithLoss(8, 20, [5], div_value=2.0, head_bias=True)", [_randn(8), lambda t: t.tensor(7)]),
    ("L1Loss()", [_randn(3, 4), _randn(3, 4)]),
    ("L1Loss(reduction='none')", [_randn(3, 4), _randn(3, 4)]),
    ("MSELoss()", [_randn(3, 4), _randn(3, 4)]),
    ("MSELoss(reduction='sum')", [_randn(3, 4), _randn(3, 4)]),
    ("NLLLoss()", [_log_probabilities(3, 4), _classes(4, (3,))]),
    ("NLLLoss(weight=torch.arange(1.0, 5.0), ignore_index=1, reduction='sum')", [_log_probabilities(3, 4), _classes(4, (3,))]),
    ("CrossEntropyLoss()", [_randn(3, 4), _classes(4, (3,))]),
    ("CrossEntropyLoss(weight=torch.arange(1.0, 5.0), ignore_index=1, label_smoothing=0.1)", [_randn(3, 4), _classes(4, (3,))]),
    ("CrossEntropyLoss(reduction='none')", [_randn(3, 4, 2), _classes(4, (3, 2))]),
    ("PoissonNLLLoss()", [_randn(3, 4), _positive(3, 4)]),
    ("PoissonNLLLoss(log_input=False, full=True)", [_positive(3, 4), lambda t: t.rand(3, 4, dtype=t.float64) * 5]),
    ("GaussianNLLLoss(full=True)", [_randn(3, 4), _randn(3, 4), _positive(3, 4)]),
    ("KLDivLoss(reduction='batchmean')", [_log_probabilities(3, 4), _positive(3, 4)]),
    ("KLDivLoss(reduction='sum', log_target=True)", [_log_probabilities(3, 4), _log_probabilities(3, 4)]),
    ("BCELoss()", [_rand(3, 4), _rand(3, 4)]),
    ("BCELoss(weight=torch.tensor([1.0, 2.0, 3.0, 4.0]), reduction='sum')", [_rand(3, 4), _rand(3, 4)]),
    ("BCEWithLogitsLoss()", [_randn(3, 4), _rand(3, 4)]),
    ("BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 3.0, 4.0]))", [_randn(3, 4), _rand(3, 4)]),
    ("HingeEmbeddingLoss(0.5)", [_randn(3, 4), _signs(3, 4)]),
    ("MultiLabelMarginLoss()", [_randn(2, 4), lambda t: t.tensor([[3, 0, -1, 1], [1, -1, 0, 0]])]),
    ("SmoothL1Loss(beta=0.5)", [_randn(3, 4), _randn(3, 4)]),
    ("HuberLoss(delta=0.5)", [_randn(3, 4), _randn(3, 4)]),
    ("SoftMarginLoss()", [_randn(3, 4), _signs(3, 4)]),
    ("MultiLabelSoftMarginLoss()", [_randn(3, 4), lambda t: t.randint(0, 2, (3, 4)).double()]),
    ("CosineEmbeddingLoss(0.1)", [_randn(3, 4), _randn(3, 4), _signs(3)]),
    ("MarginRankingLoss(0.1)", [_randn(3), _randn(3), _signs(3)]),
    ("MultiMarginLoss(p=2, margin=0.5)", [_randn(3, 4), _classes(4, (3,))]),
    ("TripletMarginLoss(swap=True)", [_randn(3, 4), _randn(3, 4), _randn(3, 4)]),
    ("TripletMarginWithDistanceLoss(margin=2.0)", [_randn(3, 4), _randn(3, 4), _randn(3, 4)]),
]


def make(torch, source):
    """The layer, with parameters from a fixed seed."""
    torch.manual_seed(1234)
    return eval(source, {name: getattr(torch.nn, name) for name in dir(torch.nn)} | {"torch": torch})


def flat(value):
    return value.detach().double().reshape(-1).tolist()


def tensors(value):
    """The tensors of a result, one in the other; of packed sequences the elements."""
    if hasattr(value, "batch_sizes"):
        return [value.data]
    if isinstance(value, tuple):
        return [t for part in value for t in tensors(part)]
    return [] if value is None else [value]


def run(torch, case):
    """Output, gradients and parameters of one case."""
    source, inputs, *how = case
    layer = make(torch, source)
    parameters = {} if "lazy" in how else {name: flat(p) for name, p in layer.named_parameters()}
    layer = layer.double()
    if "eval" in how:
        layer.eval()
    if "text" in how:  # it is not to be called
        return {"repr": repr(layer), "parameters": parameters}
    args = [make_input(torch) for make_input in inputs]
    leaves = [a.requires_grad_() for a in tensors(args[0]) if a.is_floating_point()]
    if "inplace" in how:
        args[0] = args[0] * 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = layer(*args)
    if isinstance(out, tuple):
        out = torch.cat([part.reshape(-1) for part in tensors(out)])
    (out * torch.linspace(0.5, 1.5, max(out.numel(), 1), dtype=out.dtype).reshape(out.shape)).sum().backward()
    grads = {"input": flat(leaves[0].grad)} if leaves else {}
    grads.update({name: flat(p.grad) for name, p in layer.named_parameters()})
    found = {"repr": repr(layer), "shape": list(out.shape), "out": flat(out), "grads": grads, "parameters": parameters}
    if buffers := {name: flat(b) for name, b in layer.named_buffers() if name not in ("weight", "pos_weight")}:
        found["buffers"] = buffers
    return found


def rounded(value):
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.12g}") if isinstance(value, float) and math.isfinite(value) else value


def store(oracle, cases, path):
    lines = (f"{json.dumps(case[0])}: {json.dumps(rounded(run(oracle, case)))}" for case in cases)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    store(importlib.import_module("torch"), CASES, VALUES)
