"""Layers with the arguments that layer_cases.py leaves at their defaults, so that each argument of each constructor is given somewhere.

Run as a program, this writes PyTorch's results to argument_values.json.
"""

import importlib
import importlib.util
import pathlib

_spec = importlib.util.spec_from_file_location("layer_cases", pathlib.Path(__file__).with_name("layer_cases.py"))
layers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(layers)

VALUES = pathlib.Path(__file__).with_name("argument_values.json")
_randn, _rand, _classes, _signs, _positive = layers._randn, layers._rand, layers._classes, layers._signs, layers._positive


def _at(*values):
    return lambda t: t.tensor(values)


def _lengths(*values):
    return lambda t: values


def _log_softmax(*shape):
    return lambda t: t.randn(*shape, dtype=t.float64).log_softmax(-1)


_THREE = "torch.tensor([1.0, 0.5, 2.0])"
_FOUR = "torch.tensor([1.0, 0.5, 2.0, 0.1])"

CASES = [
    # arguments of activations
    *((f"{name}(inplace=True)", [_randn(3, 4)], "inplace") for name in (
        "CELU", "ELU", "Hardsigmoid", "Hardswish", "LeakyReLU", "Mish", "ReLU", "ReLU6", "SELU", "SiLU",
    )),
    ("CELU(alpha=2.0, inplace=True)", [_randn(3, 4)], "inplace"),
    ("RReLU(0.1, 0.4)", [_randn(3, 4)]),
    ("RReLU(lower=0.2, upper=0.3, inplace=True)", [_randn(3, 4)], "inplace"),
    ("Threshold(threshold=0.2, value=5.0, inplace=True)", [_randn(3, 4)], "inplace"),
    ("Hardshrink(lambd=0.8)", [_randn(3, 4)]),
    ("Hardtanh(min_val=-0.3, max_val=0.4)", [_randn(3, 4)]),
    ("PReLU(num_parameters=4, init=0.1)", [_randn(2, 4, 3)]),
    ("Softplus(beta=0.5, threshold=3.0)", [_randn(3, 4)]),
    # dropout draws the same elements
    ("Dropout(p=0.3, inplace=True)", [_randn(6, 5)], "inplace"),
    ("Dropout(0.0)", [_randn(3, 4)]),
    ("Dropout(1.0)", [_randn(3, 4)]),
    *((f"{name}(p=0.4)", [_randn(2, 4, *(3,) * n)]) for name, n in (
        ("Dropout", 0), ("Dropout1d", 1), ("Dropout2d", 2), ("Dropout3d", 3), ("AlphaDropout", 1), ("FeatureAlphaDropout", 1),
    )),
    *((f"{name}(p=0.4, inplace=True)", [_randn(2, 4, *(3,) * n)], "inplace") for name, n in (
        ("Dropout1d", 1), ("Dropout2d", 2), ("Dropout3d", 3), ("AlphaDropout", 1), ("FeatureAlphaDropout", 1),
    )),
    *((f"{name}(0.7)", [_randn(2, 4, *(3,) * n)], "eval") for name, n in (
        ("Dropout1d", 1), ("Dropout2d", 2), ("Dropout3d", 3), ("AlphaDropout", 1), ("FeatureAlphaDropout", 1),
    )),
    # linear layers, tables
    ("Linear(in_features=3, out_features=2, bias=True)", [_randn(3)]),
    ("Bilinear(3, 4, 2, bias=False)", [_randn(2, 5, 3), _randn(2, 5, 4)]),
    ("Bilinear(in1_features=2, in2_features=3, out_features=4)", [_randn(2), _randn(3)]),
    ("LazyLinear(4)", [_randn(2, 3)], "lazy"),
    ("LazyLinear(out_features=4, bias=False)", [_randn(2, 3)], "lazy"),
    ("Embedding(4, 3, _weight=torch.arange(12.0).reshape(4, 3))", [_classes(4, (5,))]),
    ("Embedding(num_embeddings=6, embedding_dim=2, padding_idx=0, scale_grad_by_freq=True)", [_classes(3, (7,))]),
    ("Embedding(5, 3, max_norm=1.0)", [_classes(5, (2, 4))]),
    ("EmbeddingBag(5, 3, mode='sum', include_last_offset=True)", [_classes(5, (6,)), _at(0, 2, 6)]),
    ("EmbeddingBag(5, 3, mode='mean', padding_idx=1)", [_classes(3, (4, 3))]),
    ("EmbeddingBag(5, 3, mode='max', padding_idx=-4)", [_classes(3, (4, 3))]),
    ("EmbeddingBag(5, 3, max_norm=0.7, norm_type=1.0)", [_classes(5, (4, 3))]),
    ("EmbeddingBag(num_embeddings=5, embedding_dim=3, mode='sum')", [_classes(5, (6,)), _at(0, 3, 3), _randn(6)]),
    ("EmbeddingBag(4, 3, _weight=torch.arange(12.0).reshape(4, 3))", [_classes(4, (7,)), _at(0, 3)]),
    # all words occur equally often: PyTorch divides by the count of another word
    ("EmbeddingBag(5, 3, scale_grad_by_freq=True)", [lambda t: t.tensor([[0, 1, 4], [4, 0, 1]])]),
    # convolutions
    ("Conv1d(4, 6, kernel_size=3, stride=2, padding=2, dilation=2, groups=2, bias=True, padding_mode='replicate')", [_randn(2, 4, 8)]),
    ("Conv1d(2, 3, 3, padding=1, padding_mode='reflect')", [_randn(2, 2, 5)]),
    ("Conv3d(2, 4, 2, dilation=(1, 2, 1), bias=False)", [_randn(1, 2, 3, 4, 3)]),
    ("Conv3d(2, 2, 2, padding=1, padding_mode='circular')", [_randn(1, 2, 3, 3, 3)]),
    ("ConvTranspose1d(4, 6, 3, groups=2, bias=False, dilation=2, padding_mode='zeros')", [_randn(2, 4, 5)]),
    ("ConvTranspose2d(2, 3, 2, bias=False, padding_mode='zeros')", [_randn(2, 2, 3, 3)]),
    (
        "ConvTranspose3d(2, 4, 2, stride=2, padding=1, output_padding=1, groups=2, dilation=1, padding_mode='zeros')",
        [_randn(1, 2, 3, 2, 3)],
    ),
    ("ConvTranspose3d(1, 2, 2, dilation=2)", [_randn(1, 1, 2, 2, 2)]),
    ("Fold(output_size=5, kernel_size=2, dilation=2, padding=1, stride=2)", [_randn(2, 8, 9)]),
    ("Unfold(kernel_size=2)", [_randn(2, 3, 4, 4)]),
    # normalisation
    ("BatchNorm1d(3, track_running_stats=False)", [_randn(4, 3)], "eval"),
    ("BatchNorm2d(3, eps=0.01, momentum=0.5, bias=False)", [_randn(2, 3, 4, 5)]),
    ("BatchNorm3d(2, eps=0.01, momentum=None, affine=False)", [_randn(2, 2, 3, 2, 3)]),
    ("BatchNorm3d(2, track_running_stats=False, bias=False)", [_randn(2, 2, 3, 2, 3)]),
    ("SyncBatchNorm(3, eps=0.01, momentum=0.5, affine=False)", [_randn(2, 3, 4)], "eval"),
    ("InstanceNorm1d(3, eps=0.01, momentum=0.5, affine=True, track_running_stats=True, bias=False)", [_randn(2, 3, 5)]),
    ("InstanceNorm2d(3, eps=0.01, affine=True, bias=False)", [_randn(2, 3, 4, 5)]),
    ("InstanceNorm3d(2, momentum=0.5, affine=True, track_running_stats=True, bias=False)", [_randn(2, 2, 3, 2, 3)]),
    ("LazyBatchNorm1d(eps=0.01, momentum=0.5, affine=True, track_running_stats=False, bias=False)", [_randn(4, 3)], "lazy"),
    ("LazyBatchNorm2d(eps=0.01, momentum=0.5, track_running_stats=False, bias=False)", [_randn(2, 3, 4, 5)], "lazy"),
    ("LazyBatchNorm3d(eps=0.01, affine=True, track_running_stats=False, bias=False)", [_randn(2, 2, 3, 2, 3)], "lazy"),
    ("LazyInstanceNorm1d(eps=0.01, momentum=0.5, affine=True, track_running_stats=True, bias=False)", [_randn(2, 3, 5)], "lazy"),
    ("LazyInstanceNorm2d(eps=0.01, momentum=0.5, affine=True, bias=False)", [_randn(2, 3, 4, 5)], "lazy"),
    ("LazyInstanceNorm3d(eps=0.01, momentum=0.5, track_running_stats=False, bias=False)", [_randn(2, 2, 3, 2, 3)], "lazy"),
    ("GroupNorm(num_groups=2, num_channels=4, eps=0.01, affine=True, bias=True)", [_randn(2, 4, 3)]),
    ("LayerNorm(normalized_shape=(2, 3), eps=0.01, elementwise_affine=True, bias=True)", [_randn(4, 2, 3)]),
    ("LocalResponseNorm(size=3, alpha=0.2, beta=0.4, k=1.5)", [_randn(2, 5, 3)]),
    # recurrent layers: dropout between layers in training
    ("RNN(3, 4, num_layers=2, nonlinearity='relu', bias=True, dropout=0.5)", [_randn(5, 2, 3)]),
    ("GRU(input_size=3, hidden_size=4, num_layers=2, dropout=0.3)", [_randn(5, 2, 3)]),
    ("LSTM(2, 2, num_layers=2, dropout=0.3, bidirectional=True)", [_randn(5, 2, 2)]),
    # transformers
    (
        "Transformer(4, 2, 1, 1, 4, dropout=0.0, activation='gelu', layer_norm_eps=0.01, batch_first=True, norm_first=True, bias=False)",
        [_randn(3, 5, 4), _randn(3, 4, 4)],
    ),
    (
        ("Transformer(4, 2, dropout=0.0, custom_encoder=TransformerEncoder(TransformerEncoderLayer(4, 2, 4, 0.0), 1), "
        "custom_decoder=TransformerDecoder(TransformerDecoderLayer(4, 2, 4, 0.0), 1))"),
        [_randn(5, 3, 4), _randn(4, 3, 4)],
    ),
    ("Transformer(4, 2, 1, 1, 4, dropout=0.2)", [_randn(5, 2, 4), _randn(4, 2, 4)]),
    (
        "TransformerDecoder(TransformerDecoderLayer(4, 2, 4, 0.0, layer_norm_eps=0.01, bias=False), 1, norm=LayerNorm(4))",
        [_randn(4, 3, 4), _randn(5, 3, 4)],
    ),
    (
        "TransformerEncoder(TransformerEncoderLayer(4, 2, 4, 0.0, layer_norm_eps=0.01), 1, enable_nested_tensor=False, mask_check=False)",
        [_randn(4, 3, 4)],
    ),
    ("TransformerEncoderLayer(d_model=4, nhead=2, dim_feedforward=6, dropout=0.3)", [_randn(4, 3, 4)]),
    # distances
    ("CosineSimilarity(dim=0, eps=0.1)", [_randn(3, 4), _randn(3, 4)]),
    ("PairwiseDistance(p=1.0, eps=0.01)", [_randn(3, 4), _randn(3, 4)]),
    ("PairwiseDistance(p=float('inf'))", [_randn(3, 4), _randn(3, 4)]),
    # losses: every reduction
    *((f"{name}(reduction='{how}')", inputs) for how in ("none", "sum") for name, inputs in (
        ("BCELoss", [_rand(3, 4), _rand(3, 4)]),
        ("BCEWithLogitsLoss", [_randn(3, 4), _rand(3, 4)]),
        ("CosineEmbeddingLoss", [_randn(3, 4), _randn(3, 4), _signs(3)]),
        ("CrossEntropyLoss", [_randn(3, 4), _classes(4, (3,))]),
        ("GaussianNLLLoss", [_randn(3, 4), _randn(3, 4), _positive(3, 4)]),
        ("HingeEmbeddingLoss", [_randn(3, 4), _signs(3, 4)]),
        ("HuberLoss", [_randn(3, 4), _randn(3, 4)]),
        ("KLDivLoss", [_log_softmax(3, 4), _positive(3, 4)]),
        ("L1Loss", [_randn(3, 4), _randn(3, 4)]),
        ("MSELoss", [_randn(3, 4), _randn(3, 4)]),
        ("MarginRankingLoss", [_randn(3), _randn(3), _signs(3)]),
        ("MultiLabelMarginLoss", [_randn(2, 4), lambda t: t.tensor([[3, 0, -1, 1], [1, -1, 0, 0]])]),
        ("MultiLabelSoftMarginLoss", [_randn(3, 4), lambda t: t.randint(0, 2, (3, 4)).double()]),
        ("MultiMarginLoss", [_randn(3, 4), _classes(4, (3,))]),
        ("NLLLoss", [_log_softmax(3, 4), _classes(4, (3,))]),
        ("PoissonNLLLoss", [_randn(3, 4), _positive(3, 4)]),
        ("SmoothL1Loss", [_randn(3, 4), _randn(3, 4)]),
        ("SoftMarginLoss", [_randn(3, 4), _signs(3, 4)]),
        ("TripletMarginLoss", [_randn(3, 4), _randn(3, 4), _randn(3, 4)]),
        ("TripletMarginWithDistanceLoss", [_randn(3, 4), _randn(3, 4), _randn(3, 4)]),
    )),
    (f"BCELoss(weight={_FOUR})", [_rand(3, 4), _rand(3, 4)]),
    (f"BCEWithLogitsLoss(weight={_FOUR}, reduction='sum', pos_weight={_FOUR})", [_randn(3, 4), _rand(3, 4)]),
    (f"CrossEntropyLoss(weight={_FOUR}, label_smoothing=0.2, reduction='sum')", [_randn(3, 4), _log_softmax(3, 4)]),
    ("GaussianNLLLoss(full=True, eps=0.5, reduction='mean')", [_randn(3, 4), _randn(3, 4), _positive(3, 4)]),
    (f"MultiLabelSoftMarginLoss(weight={_FOUR})", [_randn(3, 4), lambda t: t.randint(0, 2, (3, 4)).double()]),
    (f"MultiMarginLoss(p=1, margin=0.7, weight={_FOUR})", [_randn(3, 4), _classes(4, (3,))]),
    ("PoissonNLLLoss(log_input=False, full=True, eps=0.1, reduction='mean')", [_positive(3, 4), _positive(3, 4)]),
    ("SmoothL1Loss(beta=0.0)", [_randn(3, 4), _randn(3, 4)]),
    ("TripletMarginLoss(margin=0.5, p=1.0, eps=0.01, swap=False)", [_randn(3, 4), _randn(3, 4), _randn(3, 4)]),
    (
        "TripletMarginWithDistanceLoss(distance_function=CosineSimilarity(), margin=0.5, swap=True)",
        [_randn(3, 4), _randn(3, 4), _randn(3, 4)],
    ),
    ("NLLLoss2d(ignore_index=1)", [lambda t: t.randn(2, 3, 2, 2, dtype=t.float64).log_softmax(1), _classes(3, (2, 2, 2))]),
    ("CTCLoss()", [_log_softmax(6, 2, 4), lambda t: t.tensor([[1, 2], [3, 3]]), _at(6, 5), _at(2, 2)]),
    ("CTCLoss(blank=3, reduction='sum')", [_log_softmax(6, 2, 4), _at(1, 2, 0), _lengths(6, 4), _lengths(2, 1)]),
    ("CTCLoss(reduction='none', zero_infinity=True)", [_log_softmax(6, 2, 4), lambda t: t.tensor([[1, 2], [3, 3]]), _at(1, 5), _at(2, 2)]),
    ("CTCLoss(reduction='none')", [_log_softmax(6, 4), _at(1, 2), lambda t: t.tensor(5), lambda t: t.tensor(2)]),
    ("LinearCrossEntropyLoss(5, 7)", [_randn(6, 5), _classes(7, (6,))]),
    (
        f"LinearCrossEntropyLoss(5, 3, out_features=(2, 2), bias=True, weight={_THREE}, ignore_index=1, label_smoothing=0.1)",
        [_randn(6, 5), _classes(3, (6, 2, 2))],
    ),
    ("LinearCrossEntropyLoss(5, 7, reduction='sum', options=LinearCrossEntropyOptions(batch_chunk_size=4))", [_randn(6, 5), _classes(7, (6,))]),
    (
        "LinearCrossEntropyLoss(5, 7, reduction='none', bias=True, options=LinearCrossEntropyOptions(chunking_method='aspect_ratio:1'))",
        [_randn(6, 5), _classes(7, (6,))],
    ),
    ("Container(a=Linear(2, 3))", [], "text"),
    # pooling, upsampling and lazy convolutions, every argument
    *(
        (f"{kind}Pool{n}d({options})", [_randn(2, 2, *(9 - 2 * n,) * n)])
        for n in (1, 2, 3)
        for kind, options in (
            ("Max", "kernel_size=3"), ("Max", "kernel_size=2, stride=2, padding=1, ceil_mode=True"), ("Max", "kernel_size=2, stride=1, padding=1, dilation=2"),
            ("Max", "kernel_size=2, return_indices=True"),
            ("Avg", "kernel_size=3"), ("Avg", "kernel_size=3, stride=2, padding=1, ceil_mode=True, count_include_pad=False"),
            *((("Avg", "kernel_size=2, padding=1, divisor_override=3"),) if n > 1 else ()),
            ("LP", "norm_type=2, kernel_size=3"), ("LP", "norm_type=4.0, kernel_size=2, stride=3, ceil_mode=True"),
            ("AdaptiveAvg", "output_size=3"), ("AdaptiveMax", "output_size=3"), ("AdaptiveMax", "output_size=2, return_indices=True"),
        )
    ),
    *(
        (f"{kind}Pool2d({options})", [_randn(2, 3, 6, 8)])
        for kind, options in (
            ("Max", "(3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2)"), ("Avg", "(3, 2), stride=(2, 3), padding=(0, 1)"), ("LP", "2, (2, 3), stride=(1, 2)"),
            ("AdaptiveAvg", "(None, 5)"), ("AdaptiveMax", "(4, None)"),
        )
    ),
    *((f"MaxPool{n}d(2)", [_randn(3, *(5,) * n)]) for n in (1, 2, 3)),  # no batch
    *(
        (f"FractionalMaxPool{n}d({options}, _random_samples=torch.full((2, 3, {n}), 0.4, dtype=torch.float64))", [_randn(2, 3, *(6,) * n)])
        for n in (2, 3)
        for options in ("kernel_size=2, output_size=3", "kernel_size=2, output_ratio=0.6", "kernel_size=3, output_size=2, return_indices=True")
    ),
    *(
        (f"MaxUnpool{n}d({options})", [_randn(1, 2, *(2,) * n), lambda t, n=n: t.arange(2**n).mul(2).expand(1, 2, 2**n).reshape(1, 2, *(2,) * n)])
        for n in (1, 2, 3)
        for options in ("kernel_size=2", "kernel_size=3, stride=2, padding=0")
    ),
    *(
        (f"Upsample({options})", [_randn(1, 2, *(3,) * n)])
        for n, options in (
            (1, "size=5"), (1, "scale_factor=1.7, mode='linear'"), (1, "scale_factor=2, mode='linear', align_corners=True"),
            (2, "size=(5, 4)"), (2, "scale_factor=(1.5, 2.5), mode='bilinear'"), (2, "size=7, mode='bilinear', align_corners=True"),
            (2, "scale_factor=1.5, mode='bicubic'"), (2, "size=(4, 6), mode='bicubic', align_corners=True"),
            (2, "scale_factor=1.3, mode='bilinear', recompute_scale_factor=True"), (2, "scale_factor=1.6, mode='nearest-exact'"),
            (3, "size=4"), (3, "scale_factor=1.5, mode='trilinear'"), (3, "size=(2, 5, 4), mode='trilinear', align_corners=True"), (3, "size=5, mode='area'"),
        )
    ),
    ("UpsamplingNearest2d(size=(4, 5))", [_randn(1, 2, 3, 3)]),
    ("UpsamplingNearest2d(scale_factor=2)", [_randn(1, 2, 3, 3)]),
    ("UpsamplingBilinear2d(size=5)", [_randn(1, 2, 3, 3)]),
    ("UpsamplingBilinear2d(scale_factor=1.5)", [_randn(1, 2, 3, 3)]),
    *(
        (f"Lazy{kind}{n}d({options})", [_randn(1, 4, *(8 - n,) * n)], "lazy")
        for n in (1, 2, 3)
        for kind, options in (
            ("Conv", "6, 3"), ("Conv", "out_channels=6, kernel_size=3, stride=2, padding=1, dilation=2, groups=2, bias=False, padding_mode='circular'"),
            ("ConvTranspose", "6, 3"), ("ConvTranspose", "6, 3, stride=2, padding=1, output_padding=1, groups=2, bias=False, dilation=2, padding_mode='zeros'"),
        )
    ),
    # what is left to be called by its name
    ("Identity()", [_randn(2)]),
    ("Softmin(dim=0)", [_randn(3, 4)]),
    ("GLU(dim=1)", [_randn(3, 4)]),
    ("GELU(approximate='tanh')", [_randn(3, 4)]),
    ("Flatten(start_dim=1, end_dim=2)", [_randn(2, 3, 4)]),
    ("Unflatten(dim=-1, unflattened_size=(2, 3))", [_randn(2, 6)]),
    ("AdaptiveLogSoftmaxWithLoss(in_features=8, n_classes=20, cutoffs=[4, 9], div_value=3.0, head_bias=True)", [_randn(5, 8), _classes(20, (5,))]),
]  # fmt: skip


if __name__ == "__main__":
    layers.store(importlib.import_module("torch"), CASES, VALUES)
