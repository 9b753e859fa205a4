"""retrograd.testing: assert_close and make_tensor, the tools that other tests stand on."""

import math

import pytest

import retrograd as torch
from retrograd.testing import assert_allclose, assert_close, make_tensor

nan, inf = math.nan, math.inf


def failure(actual, expected, **kwargs):
    with pytest.raises(AssertionError) as info:
        assert_close(actual, expected, **kwargs)
    return str(info.value)


# -- what passes --------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "expected", "options"),
    [
        ([1.0, 2.0], [1.0, 2.0 + 1e-6], {}),
        ([1, 2], [1, 2], {}),
        ([], [], {}),
        ([inf, -inf], [inf, -inf], {}),
        ([nan], [nan], {"equal_nan": True}),
        ([True, False], [True, False], {}),
        ([1.0], [1.4], {"rtol": 0, "atol": 0.5}),
        ([100.0], [110.0], {"rtol": 0.1, "atol": 0}),
        ([1, 2], [1.0, 2.0], {"check_dtype": False}),
        ([7, 7], [8, 6], {"rtol": 0, "atol": 1}),
    ],
)
def test_close_tensors(actual, expected, options):
    assert_close(torch.tensor(actual), torch.tensor(expected), **options)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (1, 1),
        (1.0, 1.0 + 1e-9),
        (True, True),
        (None, None),
        ([1, 2.0], (1, 2.0)),
        ({"a": 1, "b": [2.0]}, {"b": [2.0], "a": 1}),
        ([], []),
        ({}, {}),
        (range(3), [0, 1, 2]),
    ],
)
def test_close_python_values(actual, expected):
    assert_close(actual, expected)


def test_containers_of_tensors():
    assert_close({"w": [torch.ones(2), 3]}, {"w": (torch.ones(2), 3)})


def test_strides_count_only_on_request():
    rows, columns = torch.ones(2, 3), torch.ones(3, 2).t()
    assert_close(rows, columns)
    assert "attribute 'stride()' do not match: (3, 1) != (1, 2)" in failure(rows, columns, check_stride=True)


def test_history_does_not_matter():
    x = torch.ones(2, requires_grad=True)
    assert_close(x * 1, torch.ones(2))


def test_subclasses_count_only_on_request():
    plain, parameter = torch.ones(2), torch.nn.Parameter(torch.ones(2))
    assert_close(plain, parameter)
    with pytest.raises(TypeError):
        assert_close(plain, parameter, allow_subclasses=False)


@pytest.mark.parametrize(
    ("dtype", "rtol", "atol"),
    [
        ("float16", 1e-3, 1e-5),
        ("bfloat16", 1.6e-2, 1e-5),
        ("float32", 1.3e-6, 1e-5),
        ("float64", 1e-7, 1e-7),
    ],
)
def test_default_tolerances(dtype, rtol, atol):
    dtype = getattr(torch, dtype)
    zero, one = torch.zeros(1, dtype=dtype), torch.ones(1, dtype=dtype)
    text = failure(one, zero)
    assert f"(up to {rtol} allowed)" in text
    assert f"(up to {atol} allowed)" in text
    assert_close(zero + atol * 0.9, zero)


def test_the_wider_of_two_default_tolerances_holds():
    text = failure(torch.ones(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float16), check_dtype=False)
    assert "(up to 0.001 allowed)" in text
    assert "(up to 1e-05 allowed)" in text


# -- what fails, and how it says so -------------------------------------------


def test_message_for_tensors():
    actual, expected = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.5], [3.0, 8.0]])
    assert failure(actual, expected).splitlines() == [
        "Tensor-likes are not close!",
        "",
        "Mismatched elements: 2 / 4 (50.0%)",
        "Greatest absolute difference: 4.0 at index (1, 1) (up to 1e-05 allowed)",
        "Greatest relative difference: 0.5 at index (1, 1) (up to 1.3e-06 allowed)",
    ]


def test_message_for_integers():
    assert failure(torch.tensor([1, 2, 3]), torch.tensor([1, 4, 3])).splitlines() == [
        "Tensor-likes are not equal!",
        "",
        "Mismatched elements: 1 / 3 (33.3%)",
        "Greatest absolute difference: 2 at index (1,)",
        "Greatest relative difference: 0.5 at index (1,)",
    ]


def test_message_for_a_zero_dimensional_tensor():
    assert failure(torch.tensor(1.0), torch.tensor(2.0)).splitlines() == [
        "Scalars are not close!",
        "",
        "Expected 2.0 but got 1.0.",
        "Absolute difference: 1.0 (up to 1e-05 allowed)",
        "Relative difference: 0.5 (up to 1.3e-06 allowed)",
    ]


def test_message_for_numbers():
    assert failure(1.0, 2.0).splitlines()[2:] == [
        "Expected 2.0 but got 1.0.",
        "Absolute difference: 1.0 (up to 1e-07 allowed)",
        "Relative difference: 0.5 (up to 1e-07 allowed)",
    ]
    assert failure(1, 2).splitlines()[2:] == [
        "Expected 2 but got 1.",
        "Absolute difference: 1",
        "Relative difference: 0.5",
    ]


def test_unsigned_differences_do_not_wrap():
    text = failure(torch.tensor([1], dtype=torch.uint8), torch.tensor([3], dtype=torch.uint8))
    assert "Greatest absolute difference: 2 at index (0,)" in text


def test_worst_of_the_mismatches_only():
    # The largest relative difference is at index 0, which is close by its absolute difference.
    text = failure(torch.tensor([1e-6, 2.0]), torch.tensor([2e-6, 1.0]), rtol=0, atol=0.1)
    assert "Mismatched elements: 1 / 2 (50.0%)" in text
    assert "Greatest relative difference: 1.0 at index (1,)" in text


def test_nan_and_infinity():
    assert "nan at index (1,)" in failure(torch.tensor([1.0, nan]), torch.tensor([1.0, nan]))
    assert "inf at index (0,)" in failure(torch.tensor([inf]), torch.tensor([-inf]))
    assert "Expected nan but got nan" in failure(nan, nan)


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        (lambda: torch.ones(2), lambda: torch.ones(1, 2), "attribute 'shape' do not match"),
        (lambda: torch.ones(1), lambda: torch.ones(1, dtype=torch.float64), "attribute 'dtype' do not match"),
        (lambda: torch.ones(1), lambda: torch.ones(1, device="meta"), "attribute 'device' do not match: cpu != meta"),
        (lambda: [1, 2], lambda: [1, 2, 3], "length of the sequences mismatch: 2 != 3"),
        (lambda: {"a": 1}, lambda: {"b": 1}, "Missing keys in the actual mapping: ['b']"),
        (lambda: {"a": 1}, lambda: {"b": 1}, "Additional keys in the actual mapping: ['a']"),
        (lambda: 1, lambda: 1.0, "(d)types do not match"),
        (lambda: True, lambda: False, "Booleans mismatch: True is not False"),
        (lambda: None, lambda: 1, "None mismatch"),
    ],
)
def test_mismatch_before_values(actual, expected, words):
    assert words in failure(actual(), expected())


def test_place_in_nested_containers():
    text = failure({"a": [torch.ones(1), {"b": torch.ones(1)}]}, {"a": [torch.ones(1), {"b": torch.zeros(1)}]})
    assert text.endswith("\n\nThe failure occurred for item ['a'][1]['b']")


def test_own_message():
    assert failure(1, 2, msg="off by one") == "off by one"
    text = failure([1], [2], msg=lambda found: f"step 3: {found}")
    assert text.startswith("step 3: Scalars are not equal!")
    assert text.endswith("The failure occurred for item [0]")


@pytest.mark.parametrize(
    ("actual", "expected"),
    [("a", "a"), (1.0, "1.0"), (object(), object())],
)
def test_incomparable(actual, expected):
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        assert_close(actual, expected)


def test_tensor_and_number_are_not_comparable():
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close(torch.tensor(1.0), 1.0)


def test_one_tolerance_is_not_enough():
    with pytest.raises(ValueError, match="got no atol"):
        assert_close(1.0, 1.0, rtol=0.1)
    with pytest.raises(ValueError, match="got no rtol"):
        assert_close(1.0, 1.0, atol=0.1)


def test_numpy():
    numpy = pytest.importorskip("numpy")
    assert_close(numpy.ones(2), numpy.ones(2))
    assert_close(numpy.float32(1), 1.0)
    assert "Mismatched elements: 1 / 2" in failure(numpy.array([1.0, 2.0]), numpy.array([1.0, 3.0]))


def test_assert_allclose_is_laxer():
    with pytest.warns(FutureWarning):
        assert_allclose(torch.tensor([1.0, nan]), torch.tensor([1.00005, nan], dtype=torch.float64))
    with pytest.warns(FutureWarning):
        assert_allclose(torch.tensor([1.0]), [1.0])
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="far off"):
        assert_allclose(torch.tensor([1.0]), torch.tensor([2.0]), msg="far off")


# -- make_tensor --------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("float32", -9, 9),
        ("float64", -9, 9),
        ("float16", -9, 9),
        ("bfloat16", -9, 9),
        ("int64", -9, 9),
        ("int8", -9, 9),
        ("uint8", 0, 9),
        ("bool", 0, 1),
    ],
)
def test_make_tensor_default_range(dtype, low, high):
    t = make_tensor(50, 40, dtype=getattr(torch, dtype), device="cpu")
    assert t.shape == (50, 40)
    assert t.dtype == getattr(torch, dtype)
    wide = t.to(torch.float64)
    # 2000 draws leave no end of the range empty.
    assert low <= wide.min().item() <= low + 0.1
    assert high - 0.1 <= wide.max().item() <= high


def test_make_tensor_range():
    t = make_tensor(1000, dtype=torch.float32, device="cpu", low=2, high=3)
    assert 2 <= t.min().item() < 2.1 and 2.9 < t.max().item() <= 3
    assert set(make_tensor(100, dtype=torch.int64, device="cpu", low=2, high=4).tolist()) == {2, 3}


def test_make_tensor_range_is_cut_to_the_dtype():
    t = make_tensor(1000, dtype=torch.int8, device="cpu", low=100, high=1000)
    assert t.min().item() >= 100
    t = make_tensor(1000, dtype=torch.float32, device="cpu", low=-inf, high=inf)
    assert bool(torch.isfinite(t).all())


@pytest.mark.parametrize("shape", [(2, 3), [2, 3], ()])
def test_make_tensor_shape(shape):
    assert make_tensor(shape, dtype=torch.float32, device="cpu").shape == tuple(shape)
    assert make_tensor(*shape, dtype=torch.float32, device="cpu").shape == tuple(shape)


def test_make_tensor_noncontiguous():
    t = make_tensor(3, 4, dtype=torch.float32, device="cpu", noncontiguous=True)
    assert t.shape == (3, 4)
    assert not t.is_contiguous()
    assert make_tensor(1, dtype=torch.float32, device="cpu", noncontiguous=True).is_contiguous()


def test_make_tensor_requires_grad():
    t = make_tensor(2, dtype=torch.float32, device="cpu", noncontiguous=True, requires_grad=True)
    assert t.requires_grad and t.is_leaf


def test_make_tensor_without_zeros():
    t = make_tensor(100, dtype=torch.int64, device="cpu", low=-1, high=2, exclude_zero=True)
    assert set(t.tolist()) == {-1, 1}
    assert make_tensor(10, dtype=torch.bool, device="cpu", exclude_zero=True).all()


def test_make_tensor_follows_the_seed():
    torch.manual_seed(3)
    first = make_tensor(10, dtype=torch.float32, device="cpu")
    torch.manual_seed(3)
    assert torch.equal(first, make_tensor(10, dtype=torch.float32, device="cpu"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"low": 3, "high": 1}, "`low` must be less than `high`"),
        ({"low": nan}, "cannot be NaN"),
        ({"dtype": "int64", "low": 1, "high": 1}, "`low` must be less than `high`"),
        ({"dtype": "int8", "low": 500, "high": 600}, "only supports"),
        ({"dtype": "int64", "requires_grad": True}, "not supported for boolean and integral dtypes"),
    ],
)
def test_make_tensor_errors(options, words):
    options = {"dtype": "float32", **options}
    options["dtype"] = getattr(torch, options["dtype"])
    with pytest.raises(ValueError, match=words):
        make_tensor(2, device="cpu", **options)
