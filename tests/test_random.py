"""Random numbers: the streams are PyTorch's for a given seed, and the statistics are right.

Uniform and integer streams are compared bit for bit. Normal ones go through logarithms and cosines, whose
last bit is the math library's own.
"""

import math
import threading

import pytest

import retrograd as torch
from retrograd.testing import assert_close

# What PyTorch 2.13 gives after manual_seed(0).
EXACT = [
    ("torch.rand(3)", [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]),
    ("torch.rand(20)[-3:]", [0.800011396408081, 0.16102945804595947, 0.28226858377456665]),
    ("torch.rand(3, dtype=torch.float64)", [0.9700530018065531, 0.707819864399788, 0.45938294312745087]),
    ("torch.rand(3, dtype=torch.float16)", [0.496337890625, 0.76806640625, 0.0885009765625]),
    ("torch.rand(3, dtype=torch.bfloat16)", [0.49609375, 0.76953125, 0.08837890625]),
    ("torch.rand(2, 2)", [[0.49625658988952637, 0.7682217955589294], [0.08847743272781372, 0.13203048706054688]]),
    ("torch.rand_like(torch.zeros(3))", [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]),
    ("torch.zeros(3).uniform_(-1, 1)", [-0.007486820220947266, 0.5364435911178589, -0.8230451345443726]),
    ("torch.empty(3, 3).t().uniform_()[1]", [0.7682217955589294, 0.30742281675338745, 0.8964447379112244]),
    ("torch.zeros(3, dtype=torch.float64).uniform_(2, 5)", [4.9101590054196596, 4.123459593199364, 3.3781488293823525]),
    ("torch.randint(10, (5,))", [4, 9, 3, 0, 3]),
    ("torch.randint(-5, 5, (5,), dtype=torch.int32)", [-1, 4, -2, -5, -2]),
    ("torch.randint(0, 2**40, (3,))", [741280623151, 506137267392, 291447657211]),
    ("torch.randint(0, 2**32, (3,))", [2546248239, 3626093760, 3684848379]),
    ("torch.randint(0, 2**32 - 1, (3,))", [608416988, 2402841398, 1978730047]),
    ("torch.randint(0, 10, (3,), dtype=torch.float32)", [4.0, 9.0, 3.0]),
    ("torch.randint(0, 256, (4,), dtype=torch.uint8)", [172, 47, 117, 192]),
    ("torch.randint(0, 2, (6,), dtype=torch.bool)", [False, True, True, False, True, True]),
    ("torch.randint_like(torch.zeros(3), 10)", [4.0, 9.0, 3.0]),
    ("torch.zeros(3, dtype=torch.int64).random_(10)", [4, 9, 3]),
    ("torch.zeros(3, dtype=torch.int64).random_(-3, 4)", [1, 0, -3]),
    ("torch.zeros(3, dtype=torch.int64).random_()", [900450186894289455, 3969543146641149120, 1895649597198586619]),
    ("torch.zeros(3, dtype=torch.uint8).random_()", [172, 47, 117]),
    ("torch.zeros(3).random_()", [8325664.0, 12888472.0, 1484222.0]),
    ("torch.randperm(10)", [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]),
    ("torch.randperm(5, dtype=torch.int32)", [4, 0, 1, 3, 2]),
    ("torch.randperm(1)", [0]),
    ("torch.randperm(100)[:6]", [44, 19, 93, 90, 71, 69]),
    ("torch.bernoulli(torch.full((8,), 0.5))", [1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0]),
    ("torch.bernoulli(torch.full((8,), 0.3, dtype=torch.float64))", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
    ("torch.zeros(8).bernoulli_(0.5)", [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0]),
    ("torch.zeros(8, dtype=torch.int64).bernoulli_(0.3)", [0, 0, 0, 0, 0, 0, 1, 0]),
    ("torch.zeros(8).bernoulli_(torch.full((8,), 0.3))", [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
    ("torch.nn.functional.dropout(torch.ones(8), 0.5)", [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 2.0]),
]
NEAR = [
    ("torch.randn(3)", [1.5409960746765137, -0.293428897857666, -2.1787893772125244]),
    ("torch.randn(15)[-2:]", [1.1006041765213013, -1.0711873769760132]),
    ("torch.randn(16)[:3]", [-1.1258398294448853, -1.152360200881958, -0.2505785822868347]),
    ("torch.randn(16)[-3:]", [1.237657904624939, 1.1167771816253662, -0.2472781538963318]),
    ("torch.randn(20)[-3:]", [1.2590092420578003, 2.0049805641174316, 0.05373690277338028]),
    ("torch.randn(33)[14:18]", [1.1167771816253662, -0.2472781538963318, -1.3526537418365479, 0.03159274160861969]),
    ("torch.randn(3, dtype=torch.float64)", [1.5409961082440433, -0.2934289057609464, -2.1787893820745574]),
    ("torch.randn(16, dtype=torch.float64)[:3]", [-2.310411800234176, -0.3732508612577643, -1.0608166785462863]),
    ("torch.randn(20, dtype=torch.float64)[-3:]", [1.0468653769814655, 0.15429517864658948, -0.7498915228391941]),
    ("torch.randn(3, dtype=torch.float16)", [1.541015625, -0.29345703125, -2.1796875]),
    ("torch.randn(20, dtype=torch.bfloat16)[:3]", [-1.125, -1.15625, -0.25]),
    ("torch.randn_like(torch.zeros(3))", [1.5409960746765137, -0.293428897857666, -2.1787893772125244]),
    ("torch.zeros(3).normal_(5, 2)", [8.081992149353027, 4.413142204284668, 0.6424212455749512]),
    ("torch.zeros(20).normal_(5, 2)[-3:]", [7.51801872253418, 9.009961128234863, 5.107473850250244]),
    ("torch.zeros(4, 5).t().normal_()[1]", [-0.293428897857666, 0.40334683656692505, 0.18203648924827576, -0.5663174986839294]),
    ("torch.zeros(6, 4)[:, ::2].normal_()[0]", [1.5409960746765137, -0.293428897857666]),
    ("torch.normal(torch.zeros(3), torch.ones(3))", [1.5409960746765137, -0.293428897857666, -2.1787893772125244]),
    ("torch.normal(0.0, 1.0, (3,))", [1.5409960746765137, -0.293428897857666, -2.1787893772125244]),
    ("torch.normal(torch.tensor([10.0, 20.0]), 2.0)", [13.081992149353027, 19.413143157958984]),
    ("torch.zeros(3).exponential_()", [3.508326292037964, 1.2303847074508667, 0.615044116973877]),
    ("torch.zeros(3).exponential_(2.0)", [1.754163146018982, 0.6151923537254333, 0.3075220584869385]),
]
SEEDS = [
    (1, [0.7576315999031067, 0.2793108820915222], [124, 368]),
    (42, [0.8822692632675171, 0.9150039553642273], [876, 414]),
    (4294967295, [0.9937993884086609, 0.5713063478469849], [476, 639]),
    (4294967296, [0.49625658988952637, 0.7682217955589294], [933, 760]),
    (9223372036854775808, [0.49625658988952637, 0.7682217955589294], [933, 760]),
    (18446744073709551615, [0.9937993884086609, 0.5713063478469849], [476, 639]),
    (-1, [0.9937993884086609, 0.5713063478469849], [476, 639]),
]


@pytest.fixture(autouse=True)
def keep_the_global_generator():
    state = torch.get_rng_state()
    yield
    torch.set_rng_state(state)


def make(source):
    return eval(source, {"torch": torch})


# -- streams ------------------------------------------------------------------


@pytest.mark.parametrize(("source", "values"), EXACT)
def test_exact(source, values):
    torch.manual_seed(0)
    assert make(source).tolist() == values


@pytest.mark.parametrize(("source", "values"), NEAR)
def test_near(source, values):
    torch.manual_seed(0)
    result = make(source)
    assert_close(result, torch.tensor(values, dtype=result.dtype), rtol=max(2e-6, torch.finfo(result.dtype).eps), atol=1e-6)


@pytest.mark.parametrize(("seed", "uniform", "integers"), SEEDS)
def test_seeds(seed, uniform, integers):
    torch.manual_seed(seed)
    assert torch.rand(2).tolist() == uniform
    assert torch.randint(1000, (2,)).tolist() == integers


def test_mixed_calls_follow_one_stream():
    torch.manual_seed(0)
    assert torch.rand(1).item() == 0.49625658988952637
    assert_close(torch.randn(1).item(), 0.20723548531532288, rtol=2e-6, atol=0.0)
    assert torch.randint(100, (1,)).item() == 79
    assert_close(torch.randn(2, dtype=torch.float64).tolist(), [0.26986864543922257, 1.2644587093281903], rtol=1e-9, atol=0.0)
    assert torch.randperm(4).tolist() == [1, 3, 2, 0]
    assert_close(torch.randn(17)[0].item(), 0.5238832831382751, rtol=2e-6, atol=0.0)
    assert torch.rand(2).tolist() == [0.815468966960907, 0.793160617351532]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("left_over", [False, True])
@pytest.mark.parametrize("name", ["exponential_", "cauchy_", "log_normal_"])
def test_draws_in_float_are_rounded_from_double(name, left_over, dtype):
    """Those in double are the C library's, those in float come from vectorised functions: to the bit the same, and so is the stream after them."""
    for n in (1, 2, 33, 1025, 300_001):
        drawn = []
        for kind in (dtype, torch.float64):
            torch.manual_seed(n)
            if left_over:
                torch.empty(1).normal_()
            drawn.append((getattr(torch.empty(n, dtype=kind), name)(), torch.get_rng_state()))
        (few, state), (many, expected) = drawn
        assert torch.equal(few, many.float().to(dtype)) and torch.equal(state, expected)


def test_a_normal_left_over_is_used_next():
    # Normals come in pairs; a new seed forgets the second of a pair.
    torch.manual_seed(0)
    first, second = torch.randn(1).item(), torch.randn(1).item()
    torch.manual_seed(0)
    assert torch.randn(2).tolist() == [first, second]
    torch.manual_seed(0)
    torch.randn(1)
    torch.manual_seed(0)
    assert torch.randn(1).item() == first


def test_shape_does_not_matter():
    torch.manual_seed(0)
    flat = torch.rand(24)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(2, 3, 4).reshape(24), flat)


def test_many_numbers():
    torch.manual_seed(0)
    whole = torch.rand(100_000)
    torch.manual_seed(0)
    parts = torch.cat([torch.rand(60_000), torch.rand(40_000)])
    assert torch.equal(whole, parts)


def test_empty_tensors_draw_nothing():
    torch.manual_seed(0)
    torch.rand(0), torch.randn(0, 3), torch.randperm(0), torch.randint(5, (0,))
    a = torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(a, torch.rand(1))


# -- generators ---------------------------------------------------------------


def test_state_can_be_kept_and_restored():
    torch.manual_seed(5)
    torch.randn(3)
    state = torch.get_rng_state()
    assert state.dtype == torch.uint8 and state.dim() == 1
    a = (torch.rand(3), torch.randn(3), torch.randperm(5))
    torch.set_rng_state(state)
    b = (torch.rand(3), torch.randn(3), torch.randperm(5))
    assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def test_fork_rng():
    torch.manual_seed(5)
    with torch.random.fork_rng():
        a = torch.rand(1)
    assert torch.equal(torch.rand(1), a)


def test_own_generator():
    g = torch.Generator()
    assert g.manual_seed(0) is g and g.initial_seed() == 0
    torch.manual_seed(0)
    expected = torch.rand(4)
    before = torch.get_rng_state()
    assert torch.equal(torch.rand(4, generator=g), expected)
    assert torch.equal(torch.get_rng_state(), before)
    assert g.device == torch.device("cpu")


def test_two_generators_do_not_disturb_each_other():
    a, b = torch.Generator().manual_seed(1), torch.Generator().manual_seed(1)
    x = [torch.rand(1, generator=a).item() for _ in range(3)]
    torch.rand(100)
    y = [torch.rand(1, generator=b).item() for _ in range(3)]
    assert x == y


@pytest.mark.parametrize(
    "call",
    [
        lambda g: torch.rand(3, generator=g),
        lambda g: torch.randn(3, generator=g),
        lambda g: torch.randint(10, (3,), generator=g),
        lambda g: torch.randperm(5, generator=g),
        lambda g: torch.bernoulli(torch.full((3,), 0.5), generator=g),
        lambda g: torch.zeros(3).uniform_(generator=g),
        lambda g: torch.zeros(3).normal_(generator=g),
        lambda g: torch.zeros(3).bernoulli_(0.5, generator=g),
        lambda g: torch.normal(torch.zeros(3), 1.0, generator=g),
        lambda g: torch.multinomial(torch.ones(5), 3, generator=g),
    ],
)
def test_generator_argument(call):
    first = call(torch.Generator().manual_seed(3))
    assert torch.equal(first, call(torch.Generator().manual_seed(3)))


def test_generator_state():
    g = torch.Generator().manual_seed(3)
    state = g.get_state()
    a = torch.rand(3, generator=g)
    g.set_state(state)
    assert torch.equal(torch.rand(3, generator=g), a)
    h = torch.Generator()
    h.set_state(state)
    assert torch.equal(torch.rand(3, generator=h), a)


def test_seeds_that_are_not_given_differ():
    a, b = torch.Generator(), torch.Generator()
    assert a.seed() != b.seed()
    assert torch.initial_seed() == torch.default_generator.initial_seed()


def test_negative_seed():
    assert torch.manual_seed(-1).initial_seed() == 2**64 - 1


@pytest.mark.parametrize("seed", [2**64, -(2**64)])
def test_seed_out_of_range(seed):
    with pytest.raises((ValueError, RuntimeError, OverflowError)):
        torch.manual_seed(seed)


def test_threads_share_the_global_generator_safely():
    def draw():
        for _ in range(100):
            assert torch.isfinite(torch.randn(10)).all()

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


# -- statistics ---------------------------------------------------------------

COUNT = 100_000


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_uniform_moments(dtype):
    torch.manual_seed(1)
    x = torch.rand(COUNT, dtype=getattr(torch, dtype)).double()
    assert x.min().item() >= 0 and x.max().item() < 1
    assert abs(x.mean().item() - 0.5) < 0.01
    assert abs(x.var().item() - 1 / 12) < 0.01


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_normal_moments(dtype):
    torch.manual_seed(1)
    x = torch.randn(COUNT, dtype=getattr(torch, dtype)).double()
    assert abs(x.mean().item()) < 0.02
    assert abs(x.std().item() - 1) < 0.02
    assert abs((x**3).mean().item()) < 0.05
    assert abs((x**4).mean().item() - 3) < 0.15
    assert abs((x.abs() < 1).double().mean().item() - math.erf(1 / math.sqrt(2))) < 0.01


def test_integers_are_even():
    torch.manual_seed(1)
    x = torch.randint(-3, 4, (COUNT,))
    assert x.min().item() == -3 and x.max().item() == 3
    for i in range(-3, 4):
        assert abs((x == i).double().mean().item() - 1 / 7) < 0.01


@pytest.mark.parametrize("n", [1, 2, 100, 5000])
def test_permutations(n):
    torch.manual_seed(1)
    assert torch.randperm(n).sort()[0].tolist() == list(range(n))


def test_first_of_a_permutation_is_even():
    torch.manual_seed(1)
    first = torch.tensor([torch.randperm(4)[0].item() for _ in range(4000)])
    for i in range(4):
        assert abs((first == i).double().mean().item() - 0.25) < 0.04


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_bernoulli_mean(p):
    torch.manual_seed(1)
    assert abs(torch.bernoulli(torch.full((COUNT,), p)).mean().item() - p) < 0.01
    x = torch.zeros(COUNT).bernoulli_(p)
    assert abs(x.mean().item() - p) < 0.01
    assert set(x.tolist()) <= {0.0, 1.0}


def test_uniform_range():
    torch.manual_seed(1)
    x = torch.empty(COUNT).uniform_(-2, 6)
    assert -2 <= x.min().item() < -1.99 and 5.99 < x.max().item() <= 6
    assert abs(x.mean().item() - 2) < 0.05
    assert (torch.empty(10).uniform_(3, 3) == 3).all()


def test_normal_with_tensors():
    torch.manual_seed(1)
    mean, std = torch.tensor([0.0, 100.0]).expand(COUNT, 2), torch.tensor([1.0, 5.0]).expand(COUNT, 2)
    x = torch.normal(mean, std)
    assert_close(x.mean(0), torch.tensor([0.0, 100.0]), rtol=0, atol=0.1)
    assert_close(x.std(0), torch.tensor([1.0, 5.0]), rtol=0.02, atol=0)


# -- errors -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: torch.randint(5, 5, (2,)), r"expects 'from' to be less than 'to', but got from=5 >= to=5"),
        (lambda: torch.randint(0, 300, (2,), dtype=torch.uint8), "out of bounds for unsigned char"),
        (lambda: torch.zeros(2).uniform_(2, 1), r"uniform_ expects to return a \[from, to\) range"),
        (lambda: torch.zeros(2).normal_(0, -1), r"normal expects std >= 0.0, but found std -1"),
        (lambda: torch.zeros(2).bernoulli_(2.0), r"bernoulli_ expects p to be in \[0, 1\]"),
        (lambda: torch.bernoulli(torch.tensor([1.5])), "p_in >= 0 && p_in <= 1"),
        (lambda: torch.rand(-1), "negative dimension -1"),
        (lambda: torch.randperm(-1), "negative|non-negative"),
    ],
)
def test_errors(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.rand(2, dtype=torch.int64),
        lambda: torch.randn(2, dtype=torch.int64),
        lambda: torch.zeros(2, dtype=torch.int64).uniform_(),
    ],
)
def test_integers_have_no_continuous_distribution(call):
    with pytest.raises((NotImplementedError, RuntimeError), match="not implemented for 'Long'"):
        call()


@pytest.mark.parametrize(("weight", "word"), [(-1.0, "< 0"), (math.inf, "= infinity or NaN"), (math.nan, "= infinity or NaN")])
def test_multinomial_says_which_weight_is_wrong(weight, word):
    weights = torch.tensor([1.0, weight])
    with pytest.raises(RuntimeError, match="probability tensor contains either"):
        torch.multinomial(weights, 1)
    with pytest.raises(RuntimeError, match=f"invalid multinomial distribution .encountering probability entry {word}"):
        torch.multinomial(weights, 2, replacement=True)


def test_rrelu_refuses_bounds_that_are_not_finite():
    with pytest.raises(RuntimeError, match="rrelu: lower bound must be finite, got nan"):
        torch.nn.functional.rrelu(torch.ones(1), math.nan, 0.3, training=True)
    with pytest.raises(RuntimeError, match="rrelu: upper bound must be finite, got inf"):
        torch.nn.functional.rrelu(torch.ones(1), 0.1, math.inf, training=True)
