"""The text of repr(tensor), to the character. The texts here were printed by PyTorch 2.13."""

import math

import pytest

import retrograd as torch

NUMBERS = [
    ("torch.tensor(2.0)", "tensor(2.)"),
    ("torch.tensor(-0.0)", "tensor(-0.)"),
    ("torch.tensor(1.5)", "tensor(1.5000)"),
    ("torch.tensor(7)", "tensor(7)"),
    ("torch.tensor(True)", "tensor(True)"),
    ("torch.tensor(nan)", "tensor(nan)"),
    ("torch.tensor(1e10)", "tensor(1.0000e+10)"),
    ("torch.tensor(1e-10)", "tensor(1.0000e-10)"),
    ("torch.tensor([1.0, 2.0, -30.0])", "tensor([  1.,   2., -30.])"),
    ("torch.tensor([1.0, 1000.0])", "tensor([   1., 1000.])"),
    ("torch.tensor([1.0, 1001.0])", "tensor([1.0000e+00, 1.0010e+03])"),
    ("torch.tensor([1e8, 1e8])", "tensor([100000000., 100000000.])"),
    ("torch.tensor([2e8])", "tensor([2.0000e+08])"),
    ("torch.tensor([0.5, 100.25])", "tensor([  0.5000, 100.2500])"),
    ("torch.tensor([1e-4, 0.01])", "tensor([1.0000e-04, 1.0000e-02])"),
    ("torch.tensor([0.99e-4, 0.01])", "tensor([9.9000e-05, 1.0000e-02])"),
    ("torch.tensor([1.0, 0.0001])", "tensor([1.0000e+00, 1.0000e-04])"),
    ("torch.tensor([0.12345678, 123.45678])", "tensor([  0.1235, 123.4568])"),
    ("torch.tensor([-1.5, 22.75, 0.0])", "tensor([-1.5000, 22.7500,  0.0000])"),
    ("torch.tensor([1.5, nan, inf, -inf])", "tensor([1.5000,    nan,    inf,   -inf])"),
    ("torch.tensor([0.0, nan, inf])", "tensor([0., nan, inf])"),
    ("torch.tensor([1.0, -inf, nan])", "tensor([1., -inf, nan])"),
    ("torch.tensor([nan, nan])", "tensor([nan, nan])"),
    ("torch.tensor([1e-3, -1e5, inf])", "tensor([ 1.0000e-03, -1.0000e+05,         inf])"),
    ("torch.tensor([0.0, 0.0, -0.0])", "tensor([0., 0., -0.])"),
    ("torch.tensor([1, -20, 300])", "tensor([  1, -20, 300])"),
    ("torch.tensor([True, False])", "tensor([ True, False])"),
    (
        "torch.tensor([[1.5, -2.0], [10.0, 0.125]])",
        """\
tensor([[ 1.5000, -2.0000],
        [10.0000,  0.1250]])""",
    ),
    (
        "torch.tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])",
        """\
tensor([[[1, 2],
         [3, 4]],

        [[5, 6],
         [7, 8]]])""",
    ),
    ("torch.tensor([[[[1.0]]]])", "tensor([[[[1.]]]])"),
    (
        "torch.arange(12).reshape(2, 3, 2)",
        """\
tensor([[[ 0,  1],
         [ 2,  3],
         [ 4,  5]],

        [[ 6,  7],
         [ 8,  9],
         [10, 11]]])""",
    ),
    (
        "torch.arange(16.0).reshape(2, 2, 2, 2)",
        """\
tensor([[[[ 0.,  1.],
          [ 2.,  3.]],

         [[ 4.,  5.],
          [ 6.,  7.]]],


        [[[ 8.,  9.],
          [10., 11.]],

         [[12., 13.],
          [14., 15.]]]])""",
    ),
    ("torch.tensor([9223372036854775807, -1])", "tensor([9223372036854775807,                  -1])"),
    ("torch.tensor([16777216.0, 1.0])", "tensor([1.6777e+07, 1.0000e+00])"),
    ("torch.tensor([3.14159, 2.71828], dtype=torch.float64)", "tensor([3.1416, 2.7183], dtype=torch.float64)"),
]

DTYPES = [
    ("torch.tensor([1.5, -2.0], dtype=torch.float16)", "tensor([ 1.5000, -2.0000], dtype=torch.float16)"),
    ("torch.tensor([1.5, -2.0], dtype=torch.bfloat16)", "tensor([ 1.5000, -2.0000], dtype=torch.bfloat16)"),
    ("torch.tensor([1.5, -2.0], dtype=torch.float32)", "tensor([ 1.5000, -2.0000])"),
    ("torch.tensor([1.5, -2.0], dtype=torch.float64)", "tensor([ 1.5000, -2.0000], dtype=torch.float64)"),
    ("torch.tensor([1, -2], dtype=torch.int8)", "tensor([ 1, -2], dtype=torch.int8)"),
    ("torch.tensor([1, -2], dtype=torch.int16)", "tensor([ 1, -2], dtype=torch.int16)"),
    ("torch.tensor([1, -2], dtype=torch.int32)", "tensor([ 1, -2], dtype=torch.int32)"),
    ("torch.tensor([1, -2], dtype=torch.int64)", "tensor([ 1, -2])"),
    ("torch.tensor([1, 255], dtype=torch.uint8)", "tensor([  1, 255], dtype=torch.uint8)"),
    ("torch.tensor([0.1, 1000.0], dtype=torch.float16)", "tensor([9.9976e-02, 1.0000e+03], dtype=torch.float16)"),
    ("torch.tensor([0.1, 1000.0], dtype=torch.bfloat16)", "tensor([1.0010e-01, 1.0000e+03], dtype=torch.bfloat16)"),
    ("torch.tensor([65504.0], dtype=torch.float16)", "tensor([65504.], dtype=torch.float16)"),
    ("torch.tensor([6e-8], dtype=torch.float16)", "tensor([5.9605e-08], dtype=torch.float16)"),
    ("torch.tensor([1e300, 1.0], dtype=torch.float64)", "tensor([1.0000e+300,  1.0000e+00], dtype=torch.float64)"),
    ("torch.tensor(3, dtype=torch.int32)", "tensor(3, dtype=torch.int32)"),
    ("torch.tensor([], dtype=torch.bool)", "tensor([], dtype=torch.bool)"),
]

EMPTY = [
    ("torch.empty(0)", "tensor([])"),
    ("torch.empty(0, 3)", "tensor([], size=(0, 3))"),
    ("torch.empty(3, 0, 2)", "tensor([], size=(3, 0, 2))"),
    ("torch.empty(0, dtype=torch.int64)", "tensor([], dtype=torch.int64)"),
    ("torch.empty(0, 3, dtype=torch.float64)", "tensor([], size=(0, 3), dtype=torch.float64)"),
    ("torch.tensor([[]])", "tensor([], size=(1, 0))"),
    ("torch.empty(0, 2, requires_grad=True)", "tensor([], size=(0, 2), requires_grad=True)"),
]

META = [
    ("torch.empty(2, 3, device='meta')", "tensor(..., device='meta', size=(2, 3))"),
    ("torch.empty((), device='meta')", "tensor(..., device='meta', size=())"),
    ("torch.empty(2, device='meta', dtype=torch.int64)", "tensor(..., device='meta', size=(2,), dtype=torch.int64)"),
    ("torch.empty(0, 3, device='meta')", "tensor(..., device='meta', size=(0, 3))"),
    ("torch.empty(2, device='meta', requires_grad=True) * 2", "tensor(..., device='meta', size=(2,), grad_fn=<MulBackward0>)"),
]

SUMMARIES = [
    ("torch.zeros(1001)", "tensor([0., 0., 0.,  ..., 0., 0., 0.])"),
    ("torch.arange(2000)", "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    (
        "torch.arange(2000.0)",
        """\
tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,
        1.9990e+03])""",
    ),
    (
        "torch.zeros(100, 100)",
        """\
tensor([[0., 0., 0.,  ..., 0., 0., 0.],
        [0., 0., 0.,  ..., 0., 0., 0.],
        [0., 0., 0.,  ..., 0., 0., 0.],
        ...,
        [0., 0., 0.,  ..., 0., 0., 0.],
        [0., 0., 0.,  ..., 0., 0., 0.],
        [0., 0., 0.,  ..., 0., 0., 0.]])""",
    ),
    (
        "torch.arange(4000).reshape(4, 1000)",
        """\
tensor([[   0,    1,    2,  ...,  997,  998,  999],
        [1000, 1001, 1002,  ..., 1997, 1998, 1999],
        [2000, 2001, 2002,  ..., 2997, 2998, 2999],
        [3000, 3001, 3002,  ..., 3997, 3998, 3999]])""",
    ),
    (
        "torch.arange(1200).reshape(2, 300, 2)",
        """\
tensor([[[   0,    1],
         [   2,    3],
         [   4,    5],
         ...,
         [ 594,  595],
         [ 596,  597],
         [ 598,  599]],

        [[ 600,  601],
         [ 602,  603],
         [ 604,  605],
         ...,
         [1194, 1195],
         [1196, 1197],
         [1198, 1199]]])""",
    ),
    (
        "torch.ones(20, 20, 20)",
        """\
tensor([[[1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         ...,
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.]],

        [[1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         ...,
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.]],

        [[1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         ...,
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.]],

        ...,

        [[1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         ...,
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.]],

        [[1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         ...,
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.]],

        [[1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         ...,
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.],
         [1., 1., 1.,  ..., 1., 1., 1.]]])""",
    ),
    (
        "torch.zeros(2, 2, 7, 50, dtype=torch.bool)",
        """\
tensor([[[[False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          ...,
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False]],

         [[False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          ...,
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False]]],


        [[[False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          ...,
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False]],

         [[False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          ...,
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False],
          [False, False, False,  ..., False, False, False]]]])""",
    ),
    ("torch.tensor([1.0]).expand(1200)", "tensor([1., 1., 1.,  ..., 1., 1., 1.])"),
    (
        "torch.linspace(0, 1, 1500)",
        """\
tensor([0.0000e+00, 6.6711e-04, 1.3342e-03,  ..., 9.9867e-01, 9.9933e-01,
        1.0000e+00])""",
    ),
]

LINES = [
    (
        "torch.arange(40.0)",
        """\
tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,
        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,
        28., 29., 30., 31., 32., 33., 34., 35., 36., 37., 38., 39.])""",
    ),
    (
        "torch.arange(60)",
        """\
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
        36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53,
        54, 55, 56, 57, 58, 59])""",
    ),
    (
        "torch.full((3, 20), 0.125)",
        """\
tensor([[0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250,
         0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250,
         0.1250, 0.1250],
        [0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250,
         0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250,
         0.1250, 0.1250],
        [0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250,
         0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250,
         0.1250, 0.1250]])""",
    ),
    (
        "torch.full((30,), True)",
        """\
tensor([True, True, True, True, True, True, True, True, True, True, True, True,
        True, True, True, True, True, True, True, True, True, True, True, True,
        True, True, True, True, True, True])""",
    ),
    (
        "torch.linspace(-1, 1, 25)",
        """\
tensor([-1.0000e+00, -9.1667e-01, -8.3333e-01, -7.5000e-01, -6.6667e-01,
        -5.8333e-01, -5.0000e-01, -4.1667e-01, -3.3333e-01, -2.5000e-01,
        -1.6667e-01, -8.3333e-02, -2.9802e-08,  8.3333e-02,  1.6667e-01,
         2.5000e-01,  3.3333e-01,  4.1667e-01,  5.0000e-01,  5.8333e-01,
         6.6667e-01,  7.5000e-01,  8.3333e-01,  9.1667e-01,  1.0000e+00])""",
    ),
    (
        "torch.arange(30.0) * 1e5",
        """\
tensor([      0.,  100000.,  200000.,  300000.,  400000.,  500000.,  600000.,
         700000.,  800000.,  900000., 1000000., 1100000., 1200000., 1300000.,
        1400000., 1500000., 1600000., 1700000., 1800000., 1900000., 2000000.,
        2100000., 2200000., 2300000., 2400000., 2500000., 2600000., 2700000.,
        2800000., 2900000.])""",
    ),
]

HISTORY = [
    ("torch.ones(2, requires_grad=True)", "tensor([1., 1.], requires_grad=True)"),
    ("torch.ones(2, requires_grad=True) * 2", "tensor([2., 2.], grad_fn=<MulBackward0>)"),
    ("torch.ones(2, requires_grad=True).sum()", "tensor(2., grad_fn=<SumBackward0>)"),
    ("torch.ones(2, 2, requires_grad=True).mean()", "tensor(1., grad_fn=<MeanBackward0>)"),
    (
        "torch.ones(13, requires_grad=True)",
        """\
tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],
       requires_grad=True)""",
    ),
    ("torch.ones(12, requires_grad=True)", "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.], requires_grad=True)"),
    ("torch.ones(2, dtype=torch.float64, requires_grad=True)", "tensor([1., 1.], dtype=torch.float64, requires_grad=True)"),
    (
        "torch.ones(13, dtype=torch.float64, requires_grad=True) + 1",
        """\
tensor([2., 2., 2., 2., 2., 2., 2., 2., 2., 2., 2., 2., 2.],
       dtype=torch.float64, grad_fn=<AddBackward0>)""",
    ),
    (
        "torch.ones(2, 3, requires_grad=True).t()",
        """\
tensor([[1., 1.],
        [1., 1.],
        [1., 1.]], grad_fn=<TBackward0>)""",
    ),
    ("torch.ones(2, requires_grad=True).detach()", "tensor([1., 1.])"),
    (
        "torch.arange(1200.0, requires_grad=True).exp()",
        """\
tensor([1.0000, 2.7183, 7.3891,  ...,    inf,    inf,    inf],
       grad_fn=<ExpBackward0>)""",
    ),
]

PARAMETERS = [
    (
        "torch.nn.Parameter(torch.zeros(2, 3))",
        """\
Parameter containing:
tensor([[0., 0., 0.],
        [0., 0., 0.]], requires_grad=True)""",
    ),
    (
        "torch.nn.Parameter(torch.ones(2, dtype=torch.float64), requires_grad=False)",
        """\
Parameter containing:
tensor([1., 1.], dtype=torch.float64)""",
    ),
]

OPTIONS = [
    ({"precision": 2}, "torch.tensor([1.23456, -2.0])", "tensor([ 1.23, -2.00])"),
    ({"precision": 0}, "torch.tensor([1.6, 2.0])", "tensor([2, 2])"),
    ({"precision": 8}, "torch.tensor([0.1], dtype=torch.float64)", "tensor([0.10000000], dtype=torch.float64)"),
    ({"sci_mode": True}, "torch.tensor([1.5, -20.0])", "tensor([ 1.5000e+00, -2.0000e+01])"),
    ({"sci_mode": True}, "torch.tensor([1.0, 2.0])", "tensor([1.0000e+00, 2.0000e+00])"),
    ({"sci_mode": True}, "torch.zeros(2)", "tensor([0., 0.])"),
    ({"sci_mode": False}, "torch.tensor([1e-7, 1e6])", "tensor([      0.0000, 1000000.0000])"),
    ({"sci_mode": False}, "torch.tensor([1.0, 1e9])", "tensor([         1., 1000000000.])"),
    ({"sci_mode": True}, "torch.tensor([1, 2])", "tensor([1, 2])"),
    ({"sci_mode": True, "precision": 1}, "torch.tensor([nan, 12345.0])", "tensor([    nan, 1.2e+04])"),
    ({"threshold": 5}, "torch.arange(6)", "tensor([0, 1, 2, 3, 4, 5])"),
    (
        {"threshold": 5},
        "torch.arange(10).reshape(2, 5)",
        """\
tensor([[0, 1, 2, 3, 4],
        [5, 6, 7, 8, 9]])""",
    ),
    (
        {"threshold": 5, "edgeitems": 1},
        "torch.arange(27).reshape(3, 3, 3)",
        """\
tensor([[[ 0,  ...,  2],
         ...,
         [ 6,  ...,  8]],

        ...,

        [[18,  ..., 20],
         ...,
         [24,  ..., 26]]])""",
    ),
    ({"threshold": 5, "edgeitems": 2}, "torch.arange(10.0)", "tensor([0., 1.,  ..., 8., 9.])"),
    (
        {"threshold": 10, "edgeitems": 3},
        "torch.arange(64).reshape(8, 8)",
        """\
tensor([[ 0,  1,  2,  ...,  5,  6,  7],
        [ 8,  9, 10,  ..., 13, 14, 15],
        [16, 17, 18,  ..., 21, 22, 23],
        ...,
        [40, 41, 42,  ..., 45, 46, 47],
        [48, 49, 50,  ..., 53, 54, 55],
        [56, 57, 58,  ..., 61, 62, 63]])""",
    ),
    ({"edgeitems": 0, "threshold": 3}, "torch.zeros(2, 5)", "tensor([...], size=(2, 5))"),
    ({"edgeitems": 0, "threshold": 3}, "torch.zeros(2)", "tensor([0., 0.], size=(2,))"),
    (
        {"linewidth": 20},
        "torch.arange(10)",
        """\
tensor([0, 1, 2, 3,
        4, 5, 6, 7,
        8, 9])""",
    ),
    (
        {"linewidth": 40},
        "torch.ones(6, requires_grad=True)",
        """\
tensor([1., 1., 1., 1., 1., 1.],
       requires_grad=True)""",
    ),
    (
        {"linewidth": 100},
        "torch.arange(60)",
        """\
tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
        23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45,
        46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59])""",
    ),
    ({"linewidth": 10}, "torch.tensor([123456789])", "tensor([123456789])"),
    ({"profile": "short"}, "torch.tensor([1.23456])", "tensor([1.23])"),
    ({"profile": "short"}, "torch.arange(1001)", "tensor([   0,    1,  ...,  999, 1000])"),
    (
        {"profile": "full", "linewidth": 200},
        "torch.full((11,), 0.5)",
        "tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000])",
    ),
    ({"profile": "default", "precision": 1}, "torch.tensor([1.26])", "tensor([1.3])"),
]

DEFAULT_DTYPES = [
    ("float64", "torch.tensor([1.0, 2.5])", "tensor([1.0000, 2.5000])"),
    ("float64", "torch.ones(2, dtype=torch.float32)", "tensor([1., 1.], dtype=torch.float32)"),
    ("float64", "torch.empty(0, 2, dtype=torch.float32)", "tensor([], size=(0, 2), dtype=torch.float32)"),
    ("float16", "torch.ones(2, dtype=torch.float16)", "tensor([1., 1.])"),
    ("bfloat16", "torch.ones(2, dtype=torch.float32)", "tensor([1., 1.], dtype=torch.float32)"),
    ("float64", "torch.tensor([1, 2])", "tensor([1, 2])"),
]


def make(source):
    return eval(source, {"torch": torch, "nan": math.nan, "inf": math.inf})


@pytest.fixture(autouse=True)
def default_settings():
    torch.set_printoptions(profile="default")
    yield
    torch.set_printoptions(profile="default")
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(("source", "text"), NUMBERS + DTYPES + EMPTY + META + SUMMARIES + LINES + HISTORY + PARAMETERS)
def test_text(source, text):
    assert repr(make(source)) == text
    assert str(make(source)) == text


@pytest.mark.parametrize(("options", "source", "text"), OPTIONS)
def test_options(options, source, text):
    torch.set_printoptions(**options)
    assert repr(make(source)) == text


@pytest.mark.parametrize(("default", "source", "text"), DEFAULT_DTYPES)
def test_dtype_is_left_out_where_it_is_the_default(default, source, text):
    torch.set_default_dtype(getattr(torch, default))
    assert repr(make(source)) == text


def test_subclass_prints_its_name():
    class Temperature(torch.Tensor):
        pass

    assert repr(torch.ones(2).as_subclass(Temperature)) == "Temperature([1., 1.])"
    assert repr(torch.zeros(0, 2).as_subclass(Temperature)) == "Temperature([], size=(0, 2))"


def test_long_subclass_name_indents_rows():
    class Kelvin(torch.Tensor):
        pass

    assert repr(torch.ones(2, 2).as_subclass(Kelvin)) == "Kelvin([[1., 1.],\n        [1., 1.]])"


def test_subclass_of_parameter():
    class Weight(torch.nn.Parameter):
        pass

    text = "Parameter containing:\nParameter(Weight([0., 0.], requires_grad=True))"
    assert repr(Weight(torch.zeros(2))) == text


def test_function_node():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    assert repr(Twice.apply(torch.ones(1, requires_grad=True))) == "tensor([2.], grad_fn=<TwiceBackward>)"


def test_in_inference_mode_and_under_no_grad():
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        assert repr(x * 2) == "tensor([2., 2.])"
    with torch.no_grad():
        assert repr(x * 2) == "tensor([2., 2.])"
        assert repr(x) == "tensor([1., 1.], requires_grad=True)"


def test_printing_leaves_no_trace():
    x = torch.ones(2000, requires_grad=True)
    y = x * 2
    repr(y)
    assert y._version == 0
    y.sum().backward()
    assert x.grad.tolist() == [2.0] * 2000


def test_sci_mode_falls_back_to_automatic():
    torch.set_printoptions(sci_mode=True)
    torch.set_printoptions(precision=2)
    assert repr(torch.tensor([1.5])) == "tensor([1.50])"


def test_unknown_profile_is_ignored():
    torch.set_printoptions(profile="tiny")
    assert repr(torch.tensor([1.5])) == "tensor([1.5000])"


def test_format():
    assert f"{torch.tensor(1.5):.3f}" == "1.500"
    assert f"{torch.tensor(3)}" == "3"
    assert f"{torch.tensor([1.0])}" == "tensor([1.])"
    with pytest.raises(TypeError):
        f"{torch.tensor([1.0]):.3f}"
