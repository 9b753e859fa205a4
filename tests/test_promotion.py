"""Which dtype comes out when dtypes meet. The tables are PyTorch 2.13's."""

import operator

import pytest

import retrograd as torch

DTYPES = {
    "f8": torch.float64,
    "f4": torch.float32,
    "f2": torch.float16,
    "bf": torch.bfloat16,
    "i8": torch.int64,
    "i4": torch.int32,
    "i2": torch.int16,
    "i1": torch.int8,
    "u1": torch.uint8,
    "b1": torch.bool,
}

# Both have dimensions, or neither has.
EQUALS = """
    .  f8 f4 f2 bf i8 i4 i2 i1 u1 b1
    f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8
    f4 f8 f4 f4 f4 f4 f4 f4 f4 f4 f4
    f2 f8 f4 f2 f4 f2 f2 f2 f2 f2 f2
    bf f8 f4 f4 bf bf bf bf bf bf bf
    i8 f8 f4 f2 bf i8 i8 i8 i8 i8 i8
    i4 f8 f4 f2 bf i8 i4 i4 i4 i4 i4
    i2 f8 f4 f2 bf i8 i4 i2 i2 i2 i2
    i1 f8 f4 f2 bf i8 i4 i2 i1 i2 i1
    u1 f8 f4 f2 bf i8 i4 i2 i2 u1 u1
    b1 f8 f4 f2 bf i8 i4 i2 i1 u1 b1
"""
# The one on the left has dimensions, the one above has none.
ZERO_DIMENSIONAL = """
    .  f8 f4 f2 bf i8 i4 i2 i1 u1 b1
    f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8
    f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4
    f2 f2 f2 f2 f2 f2 f2 f2 f2 f2 f2
    bf bf bf bf bf bf bf bf bf bf bf
    i8 f8 f4 f2 bf i8 i8 i8 i8 i8 i8
    i4 f8 f4 f2 bf i4 i4 i4 i4 i4 i4
    i2 f8 f4 f2 bf i2 i2 i2 i2 i2 i2
    i1 f8 f4 f2 bf i1 i1 i1 i1 i1 i1
    u1 f8 f4 f2 bf u1 u1 u1 u1 u1 u1
    b1 f8 f4 f2 bf i8 i4 i2 i1 u1 b1
"""
# True division: integers become the default dtype.
DIVISION = """
    .  f8 f4 f2 bf i8 i4 i2 i1 u1 b1
    f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8
    f4 f8 f4 f4 f4 f4 f4 f4 f4 f4 f4
    f2 f8 f4 f2 f4 f2 f2 f2 f2 f2 f2
    bf f8 f4 f4 bf bf bf bf bf bf bf
    i8 f8 f4 f2 bf f4 f4 f4 f4 f4 f4
    i4 f8 f4 f2 bf f4 f4 f4 f4 f4 f4
    i2 f8 f4 f2 bf f4 f4 f4 f4 f4 f4
    i1 f8 f4 f2 bf f4 f4 f4 f4 f4 f4
    u1 f8 f4 f2 bf f4 f4 f4 f4 f4 f4
    b1 f8 f4 f2 bf f4 f4 f4 f4 f4 f4
"""
# A tensor, with or without dimensions, and a Python number.
NUMBERS = """
    .  True 1  1.5
    f8 f8   f8 f8
    f4 f4   f4 f4
    f2 f2   f2 f2
    bf bf   bf bf
    i8 i8   i8 f4
    i4 i4   i4 f4
    i2 i2   i2 f4
    i1 i1   i1 f4
    u1 u1   u1 f4
    b1 b1   i8 f4
"""
# Whether a result of the dtype on the left may be written to a tensor of the dtype above.
CASTS = """
    .  f8 f4 f2 bf i8 i4 i2 i1 u1 b1
    f8 y  y  y  y  n  n  n  n  n  n
    f4 y  y  y  y  n  n  n  n  n  n
    f2 y  y  y  y  n  n  n  n  n  n
    bf y  y  y  y  n  n  n  n  n  n
    i8 y  y  y  y  y  y  y  y  y  n
    i4 y  y  y  y  y  y  y  y  y  n
    i2 y  y  y  y  y  y  y  y  y  n
    i1 y  y  y  y  y  y  y  y  y  n
    u1 y  y  y  y  y  y  y  y  y  n
    b1 y  y  y  y  y  y  y  y  y  y
"""


def cells(table):
    """(row, column, entry) of a table."""
    head, *rows = (line.split() for line in table.strip().splitlines())
    return [(row[0], column, entry) for row in rows for column, entry in zip(head[1:], row[1:], strict=True)]


def line(code):
    return torch.ones(2, dtype=DTYPES[code])


def point(code):
    return torch.ones((), dtype=DTYPES[code])


def table(text):
    return pytest.mark.parametrize(("a", "b", "expected"), cells(text))


# -- the tables ---------------------------------------------------------------


@table(EQUALS)
def test_equals(a, b, expected):
    expected = DTYPES[expected]
    assert torch.promote_types(DTYPES[a], DTYPES[b]) == expected
    for make in (line, point):
        assert torch.result_type(make(a), make(b)) == expected
        assert (make(a) + make(b)).dtype == expected
        assert (make(a) * make(b)).dtype == expected


@table(ZERO_DIMENSIONAL)
def test_zero_dimensional(a, b, expected):
    expected = DTYPES[expected]
    assert torch.result_type(line(a), point(b)) == torch.result_type(point(b), line(a)) == expected
    assert (line(a) + point(b)).dtype == (point(b) + line(a)).dtype == expected
    assert (line(a) * point(b)).dtype == expected


@table(NUMBERS)
def test_numbers(a, b, expected):
    number, expected = {"True": True, "1": 1, "1.5": 1.5}[b], DTYPES[expected]
    for make in (line, point):
        assert torch.result_type(make(a), number) == expected
        assert (make(a) + number).dtype == (number + make(a)).dtype == expected
        assert (make(a) * number).dtype == (number * make(a)).dtype == expected


@table(DIVISION)
def test_division(a, b, expected):
    assert (line(a) / line(b)).dtype == DTYPES[expected]
    assert torch.true_divide(line(a), line(b)).dtype == DTYPES[expected]
    assert torch.atan2(line(a), line(b)).dtype == DTYPES[expected]


@table(CASTS)
def test_casts(a, b, expected):
    assert torch.can_cast(DTYPES[a], DTYPES[b]) == (expected == "y")
    target = line(b)
    if torch.can_cast(torch.promote_types(DTYPES[a], DTYPES[b]), DTYPES[b]):
        target.mul_(line(a))
        assert target.dtype == DTYPES[b]
    else:
        with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
            target.mul_(line(a))


@table(CASTS)
def test_out(a, b, expected):
    out = torch.empty(2, dtype=DTYPES[b])
    if expected == "y":
        torch.mul(line(a), line(a), out=out)
        assert out.tolist() == [1, 1]
    else:
        with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
            torch.mul(line(a), line(a), out=out)


@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("b", DTYPES)
def test_copy_goes_anywhere(a, b):
    t = torch.zeros(2, dtype=DTYPES[a])
    t.copy_(line(b))
    assert t.tolist() == [1, 1] and t.dtype == DTYPES[a]
    t = torch.zeros(2, dtype=DTYPES[a])
    t[0] = line(b)[0]
    assert t.tolist() == [1, 0]
    assert line(a).to(DTYPES[b]).dtype == DTYPES[b]


# -- families of operations ---------------------------------------------------


@pytest.mark.parametrize("op", [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
@table(EQUALS)
def test_comparisons_give_bools(op, a, b, expected):
    assert op(line(a), line(b)).dtype == torch.bool


@table(EQUALS)
def test_same_rule_for_other_operations(a, b, expected):
    expected = DTYPES[expected]
    assert torch.maximum(line(a), line(b)).dtype == expected
    assert torch.where(line("b1"), line(a), line(b)).dtype == expected
    assert torch.cat([line(a), line(b)]).dtype == expected
    if "b1" not in (a, b):
        assert (line(a) - line(b)).dtype == expected
        assert (line(a) // line(b)).dtype == expected
        assert (line(a) % line(b)).dtype == expected
        assert (line(a) ** line(b)).dtype == expected


@pytest.mark.parametrize("name", ["exp", "log", "sin", "sqrt", "rsqrt", "sigmoid", "tanh", "erf", "reciprocal"])
@pytest.mark.parametrize("code", DTYPES)
def test_functions_of_integers_are_floating_point(name, code):
    dtype = DTYPES[code]
    expected = dtype if dtype.is_floating_point else torch.float32
    assert getattr(torch, name)(line(code)).dtype == expected


@pytest.mark.parametrize("code", DTYPES)
def test_functions_that_keep_the_dtype(code):
    for name in ("sign", "clone", "relu", "abs", "neg", "floor"):
        if code == "b1" and name not in ("sign", "clone"):
            continue
        assert getattr(torch, name)(line(code)).dtype == DTYPES[code]


@pytest.mark.parametrize("code", DTYPES)
def test_sums_of_integers_are_long(code):
    dtype = DTYPES[code]
    expected = dtype if dtype.is_floating_point else torch.int64
    assert line(code).sum().dtype == line(code).sum(0).dtype == line(code).prod().dtype == expected
    assert line(code).cumsum(0).dtype == expected
    assert line(code).sum(dtype=torch.float64).dtype == torch.float64
    assert line(code).max().dtype == dtype


@pytest.mark.parametrize("code", ["i8", "i4", "u1", "b1"])
def test_mean_wants_floating_point(code):
    with pytest.raises(RuntimeError, match=r"could not infer output dtype|floating point"):
        line(code).mean()
    assert line(code).mean(dtype=torch.float32).item() == 1.0


@pytest.mark.parametrize("code", DTYPES)
def test_bitwise_is_for_integers(code):
    if DTYPES[code].is_floating_point:
        with pytest.raises((NotImplementedError, RuntimeError)):
            line(code) & line(code)
    else:
        assert (line(code) & line(code)).dtype == DTYPES[code]
        assert (line(code) | 1).dtype == (torch.int64 if code == "b1" else DTYPES[code])


def test_bools():
    t = torch.tensor([True, False])
    assert (t + t).tolist() == [True, False]
    assert (t * t).dtype == torch.bool
    assert (t + 1).tolist() == [2, 1]
    with pytest.raises(RuntimeError, match=r"Subtraction.*bool tensor.* not supported"):
        t - t
    with pytest.raises(RuntimeError, match="bool"):
        -t


def test_matmul_wants_one_dtype():
    a, b = torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="same dtype"):
        a @ b


def test_default_dtype_takes_part():
    try:
        torch.set_default_dtype(torch.float64)
        assert (line("i8") + 1.5).dtype == torch.float64
        assert (line("i8") / 2).dtype == torch.float64
        assert line("i4").exp().dtype == torch.float64
        assert (line("f4") + 1.5).dtype == torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


# -- values -------------------------------------------------------------------


def test_integers_wrap():
    assert (torch.tensor([250], dtype=torch.uint8) + 10).tolist() == [4]
    assert (torch.tensor([100], dtype=torch.int8) * 2).tolist() == [-56]
    assert (torch.tensor([2**63 - 1]) + 1).tolist() == [-(2**63)]
    assert (-torch.tensor([1], dtype=torch.uint8)).tolist() == [255]


def test_a_wide_number_does_not_widen_the_tensor():
    assert (torch.ones(1, dtype=torch.float16) * 1e-3).dtype == torch.float16
    assert (torch.ones(1) * 1e300).item() == float("inf")


def test_intermediate_results_are_of_the_result_dtype():
    # In float16 the sum would be 2048: 2049 has no place there.
    a = torch.tensor([2048.0], dtype=torch.float16)
    assert (a + torch.tensor([1.0])).item() == 2049.0
    assert (a + 1).item() == 2048.0


def test_comparison_of_integers_and_floats():
    big = torch.tensor([2**53 + 1])
    assert (big == float(2**53)).item() is (float(2**53 + 1) == float(2**53))
    assert (torch.tensor([3]) > 2.5).item() is True
    assert (torch.tensor([-1]) < torch.tensor([1], dtype=torch.uint8)).item() is True


def test_to_and_friends():
    t = torch.tensor([1.7, -1.7])
    assert t.long().tolist() == [1, -1] and t.int().dtype == torch.int32
    assert t.bool().tolist() == [True, True]
    assert t.double().dtype == torch.float64 and t.half().dtype == torch.float16
    assert t.to(torch.int8).tolist() == [1, -1]
    assert t.type_as(torch.ones(1, dtype=torch.int16)).dtype == torch.int16
    assert t.to(torch.ones(1, dtype=torch.int16)).dtype == torch.int16
    assert torch.tensor([0.1]).bfloat16().float().item() == 0.10009765625
    assert torch.tensor([65520.0]).half().item() == float("inf")
