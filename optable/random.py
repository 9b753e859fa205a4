"""Random numbers. The same seed and the same calls give the numbers PyTorch gives; see csrc/kernels/random.h for the few exceptions.

In-place draws do not depend on what they overwrite, so their derivative is zero.
"""

from optable import composite, native, op
from optable.create import LIKE, OPTIONS
from optable.facts import INTEGERS, SIZES, Out, by
from optable.samples import E, I, S, T

GEN = "Generator? generator=None"
RANDOM = {"gradcheck": False}  # equal only from the same seed
_SIZES = [S((2, 3)), S(()), S((0,)), S((40,)), S((3, 5), dtype="float64"), S((17,), dtype="float16"), S((2,), requires_grad=True)]
_NEGATIVE = E(S((-1,)), RuntimeError, "Trying to create tensor with negative dimension -1")

op(
    f"rand(int[+] size, *, {GEN}, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(),
    out=Out(size="{size}", fill="ops::uniform_inplace_(out, 0.0, 1.0, {generator})"),
    random=True,
    batching=by("drawn", "size"),
    doc="Uniform in [0, 1).",
    samples=_SIZES,
    errors=(_NEGATIVE, E(S((2,), dtype="int64"), NotImplementedError, "not implemented for 'Long'")),
    test=RANDOM,
)
op(
    f"randn(int[+] size, *, {GEN}, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(),
    out=Out(size="{size}", fill="ops::normal_inplace_(out, 0.0, 1.0, {generator})", resize_counts=True),
    random=True,
    batching=by("drawn", "size"),
    doc="Normal with mean 0 and standard deviation 1.",
    samples=_SIZES,
    errors=(_NEGATIVE, E(S((2,), dtype="int64"), NotImplementedError, "not implemented for 'Long'")),
    test=RANDOM,
)
op(
    f"randint(int high, int[+] size, *, {GEN}, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(guests="moves"),
    out=Out(size="{size}", fill="ops::random_from_(out, 0, {high}, {generator})"),
    random=True,
    batching=by("drawn", "size"),
    doc="Integers in [low, high), uniformly.",
    samples=[S(5, (2, 3)), S(10, ()), S(3, (4,), dtype="float32"), S(200, (9,), dtype="uint8")],
    errors=(
        E(S(0, (2,)), RuntimeError, "random_ expects 'from' to be less than 'to', but got from=0 >= to=0"),
        E(S(2**40, (2,), dtype="int32"), RuntimeError, "to - 1 is out of bounds for int"),
    ),
    test=RANDOM,
)
op(
    f"randint.low(int low, int high, int[+] size, *, {GEN}, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(guests="moves"),
    out=Out(size="{size}", fill="ops::random_from_(out, {low}, {high}, {generator})"),
    random=True,
    batching=by("drawn", "size"),
    doc="Integers in [low, high), uniformly.",
    samples=[S(-5, 5, (2, 3)), S(0, 2**40, (3,))],
    errors=(E(S(5, 2, (2,)), RuntimeError, "random_ expects 'from' to be less than 'to', but got from=5 >= to=2"),),
    test=RANDOM,
)
op(
    f"randperm(int n, *, {GEN}, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(guests="value"),
    random=True,
    batching=by("drawn_one_by_one"),
    doc="The integers from 0 to n - 1 in random order.",
    samples=[S(5), S(0), S(1), S(50, dtype="int32"), S(5, dtype="float32")],
    errors=(E(S(-5), RuntimeError, r"negative dimension -5"), E(S(300, dtype="uint8"), RuntimeError, "without overflow")),
    test=RANDOM,
)
_LIKES = [S(T(2, 3, grad=False)), S(T(grad=False)), S(I(3), dtype="float32")]
op(
    f"rand_like(Tensor self, *, {GEN}, {LIKE}) -> Tensor",
    variants="function",
    kernel=native(complex=True),
    no_grad=SIZES,
    random=True,
    batching=by("drawn_like"),
    doc="`rand` with the size, dtype and stride order of self.",
    samples=_LIKES,
    test=RANDOM,
)
op(
    f"randn_like(Tensor self, *, {GEN}, {LIKE}) -> Tensor",
    variants="function",
    kernel=native(complex=True),
    no_grad=SIZES,
    random=True,
    batching=by("drawn_like"),
    doc="`randn` with the size, dtype and stride order of self.",
    samples=_LIKES,
    test=RANDOM,
)
op(
    f"randint_like(Tensor self, int high, *, {GEN}, {LIKE}) -> Tensor",
    variants="function",
    kernel=native(guests="moves"),
    no_grad=SIZES,
    random=True,
    batching=by("drawn_like"),
    doc="`randint` with the size, dtype and stride order of self.",
    samples=[S(I(3), 5), S(T(2, 3, grad=False), 5)],
    test=RANDOM,
)
op(
    f"randint_like.low(Tensor self, int low, int high, *, {GEN}, {LIKE}) -> Tensor",
    variants="function",
    kernel=native(guests="moves"),
    no_grad=SIZES,
    random=True,
    batching=by("drawn_like"),
    doc="`randint` with the size, dtype and stride order of self.",
    samples=[S(I(3), 2, 5)],
    test=RANDOM,
)

# ---- in place ----


def fill(name: str, args: str, node: str, doc: str, samples: list, errors: tuple = (), overload: str = "inplace") -> None:
    """An in-place draw: `name_`, kernel impl::<name>_<overload>_."""
    given = args.startswith("Tensor p")  # probabilities, which are checked
    op(
        f"{name}.{overload}(Tensor self, {args}*, {GEN}) -> Tensor",
        variants="inplace",
        kernel=native(complex=name in ("uniform", "normal"), guests="moves" if name == "random" and overload != "inplace" else ""),
        inplace=f"{name}_{overload}_",
        node=node,
        grad={"self": "zeros_of(grad)"},
        nondiff=("p",) if given else (),
        random=True,
        syncs=given,
        batching=by("drawn_in_place"),
        doc=doc,
        samples=samples,
        errors=errors,
        test=RANDOM,
    )


fill(
    "uniform",
    "float from=0.0, float to=1.0, ",
    "UniformBackward0",
    "Uniform in [from, to).",
    [S(T(2, 3)), S(T(40), -2.0, 3.0), S(T())],
    (
        E(S(T(3), 1.0, 0.0), RuntimeError, r"uniform_ expects to return a \[from, to\) range, but found from=1 > to=0"),
        E(S(I(3)), NotImplementedError, "not implemented for 'Long'"),
    ),
)
fill(
    "normal",
    "float mean=0.0, float std=1.0, ",
    "NormalBackward0",
    "Normal with the given mean and standard deviation.",
    [S(T(2, 3)), S(T(40), 1.0, 3.0), S(T())],
    (
        E(S(T(3), 0.0, -1.0), RuntimeError, "normal expects std >= 0.0, but found std -1"),
        E(S(I(3)), NotImplementedError, "not implemented for 'Long'"),
    ),
)
fill(
    "log_normal",
    "float mean=1.0, float std=2.0, ",
    "LogNormalBackward0",
    "The exponential of a normal number.",
    [S(T(5))],
    (E(S(T(3), 0.0, -1.0), RuntimeError, "log_normal_ expects std > 0.0, but found std=-1"),),
)
fill(
    "exponential",
    "float lambd=1.0, ",
    "ExponentialBackward0",
    "Exponential with rate lambd.",
    [S(T(5)), S(T(3), 2.0)],
    (E(S(T(3), -1.0), RuntimeError, "exponential_ expects lambda > 0.0, but found lambda=-1"),),
)
fill(
    "cauchy",
    "float median=0.0, float sigma=1.0, ",
    "CauchyBackward0",
    "Cauchy with the given median and scale.",
    [S(T(5)), S(T(3), 1.0, 2.0)],
    (E(S(T(3), 0.0, -1.0), RuntimeError, "cauchy_ expects sigma > 0.0, but found sigma=-1"),),
)
fill(
    "geometric",
    "float p, ",
    "GeometricBackward0",
    "The number of trials up to the first success.",
    [S(T(5), 0.5), S(I(4), 0.3)],
    (E(S(T(3), 0.0), RuntimeError, r"geometric_ expects p to be in \(0, 1\), but got p=0"),),
)
fill(
    "bernoulli",
    "Tensor p, ",
    "BernoulliBackward1",
    "1 with the probabilities of p, else 0.",
    [S(T(2, 3), T(2, 3, low=0.0, high=1.0, grad=False)), S(I(4), T(4, low=0.0, high=1.0, grad=False))],
    overload="inplace_Tensor",
)
fill(
    "bernoulli",
    "float p=0.5, ",
    "BernoulliBackward2",
    "1 with probability p, else 0.",
    [S(T(2, 3)), S(T(9), 0.2)],
    (E(S(T(3), 2.0), RuntimeError, r"bernoulli_ expects p to be in \[0, 1\], but got p=2"),),
)
fill("random", "", "RandomBackward2", "Integers over the whole range of the dtype.", [S(I(5)), S(T(3))])
fill("random", "int to, ", "RandomBackward1", "Integers in [0, to).", [S(I(5), 7), S(T(5), 7)], overload="to")
fill(
    "random",
    "int from, int? to, ",
    "RandomBackward0",
    "Integers in [from, to).",
    [S(I(5), 2, 7), S(T(4), -3, 3)],
    (E(S(T(3), 5, 2), RuntimeError, "random_ expects 'from' to be less than 'to', but got from=5 >= to=2"),),
    overload="from",
)

# ---- from distributions given by tensors ----

op(
    f"bernoulli(Tensor self, *, {GEN}) -> Tensor",
    variants="function method out",
    kernel=native(),
    grad={"self": "zeros_of(grad)"},
    jvp="zero",
    out=Out(size="{self}.sizes()", fill="impl::bernoulli_inplace_Tensor_(out, {self}, {generator})", silent=True),
    random=True,
    batching=by("drawn_from_one"),
    syncs=True,
    doc="1 with the probabilities of self, else 0.",
    samples=[S(T(2, 3, low=0.0, high=1.0)), S(T(low=0.0, high=1.0))],
    errors=(
        E(S(T(3, low=2.0, high=3.0)), RuntimeError, "Expected p_in >= 0 && p_in <= 1 to be true"),
        E(S(I(3)), NotImplementedError, "not implemented for 'Long'"),
    ),
    test=RANDOM,
)
op(
    f"bernoulli.p(Tensor self, float p, *, {GEN}) -> Tensor",
    variants="function method",
    kernel=native(),
    node="BernoulliBackward3",
    grad={"self": 'not_implemented("bernoulli")'},
    random=True,
    batching=by("drawn_like"),
    doc="A tensor like self: 1 with probability p, else 0.",
    samples=[S(T(2, 3, grad=False), 0.5)],
    test=RANDOM,
)
op(
    "_bernoulli_like(Tensor self, float p) -> Tensor",
    variants="internal",
    kernel=native(),
    no_grad=SIZES,
    random=True,
    batching=by("drawn_like"),
    doc="`bernoulli` with the stride order of self: what dropout multiplies with.",
)
_NORMAL = (E(S(T(3), -1.0), RuntimeError, "normal expects std >= 0.0, but found std -1"),)
op(
    f"normal.Tensor_Tensor(Tensor mean, Tensor std, *, {GEN}) -> Tensor",
    variants="function out",
    kernel=native(runs_on_empty=True),
    node="NormalBackward3",
    grad={"mean": "zeros_sized(mean_sizes, mean_dtype, mean_device)", "std": "zeros_sized(std_sizes, std_dtype, std_device)"},
    jvp="zero",
    out=Out(name="aten::normal"),
    random=True,
    batching=by("drawn_normal"),
    syncs=True,
    doc="Normal with means and standard deviations from tensors.",
    samples=[S(T(3, 4), T(3, 4, low=0.5, high=2.0)), S(T(4), T(3, 1, low=0.5, high=2.0))],
    test=RANDOM,
)
op(
    f"normal.Tensor_float(Tensor mean, float std=1.0, *, {GEN}) -> Tensor",
    variants="function out",
    kernel=native(),
    node="NormalBackward1",
    grad={"mean": "zeros_of(grad)"},
    jvp="zero",
    out=Out(name="aten::normal", size="{mean}.sizes()", fill="impl::normal_inplace_(out, 0.0, {std}, {generator}); impl::add_out(out, {mean}, Scalar(1), out)", silent=True),
    random=True,
    batching=by("drawn_normal"),
    doc="Normal with means from a tensor.",
    samples=[S(T(3, 4)), S(T(4), 2.0)],
    errors=_NORMAL,
    test=RANDOM,
)
op(
    f"normal.float_Tensor(float mean, Tensor std, *, {GEN}) -> Tensor",
    variants="function out",
    kernel=native(),
    node="NormalBackward2",
    grad={"std": "zeros_of(grad)"},
    jvp="zero",
    out=Out(name="aten::normal"),
    random=True,
    batching=by("drawn_normal"),
    syncs=True,
    doc="Normal with standard deviations from a tensor.",
    samples=[S(1.0, T(3, 4, low=0.5, high=2.0))],
    errors=(E(S(0.0, T(3, low=-2.0, high=-1.0)), RuntimeError, "normal expects all elements of std >= 0.0"),),
    test=RANDOM,
)
op(
    f"normal.float_float(float mean, float std, int[+] size, *, {GEN}, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(),
    out=Out(name="aten::normal", size="{size}", fill="ops::normal_inplace_(out, {mean}, {std}, {generator})"),
    random=True,
    batching=by("drawn", "size"),
    doc="Normal with the given mean and standard deviation.",
    samples=[S(1.0, 2.0, (3, 4)), S(0, 1, (20,))],
    test=RANDOM,
)
op(
    f"poisson(Tensor self, {GEN}) -> Tensor",
    variants="function",
    kernel=native(),
    grad={"self": "zeros_of(grad)"},
    jvp="zero",
    random=True,
    batching=by("drawn_from_one"),
    syncs=True,
    doc="Poisson with rates from self.",
    samples=[S(T(3, 4, low=0.1, high=5.0))],
    errors=(E(S(T(3, low=-2.0, high=-1.0)), RuntimeError, "invalid Poisson rate, expected rate to be non-negative"),),
    test=RANDOM,
)
op(
    f"binomial(Tensor count, Tensor prob, {GEN}) -> Tensor",
    variants="function",
    kernel=native(elementwise=True, complex=True),
    grad={"count": 'not_implemented("binomial")', "prob": 'not_implemented("binomial")'},
    jvp="elementwise",
    random=True,
    batching=by("drawn_normal"),
    doc="How many of count trials succeed, each with a chance of prob.",
    samples=[
        S(T(3, 4, low=1, high=40, grad=False), T(3, 4, low=0, high=1, grad=False)),
        S(T(3, 1, low=100, high=400, grad=False), T(4, low=0, high=1, grad=False)),
        S(T(0), T(0)),
    ],
    errors=(
        E(S(I(3), T(3)), ValueError, "binomial only supports floating-point dtypes for count, got: Long"),
        E(S(T(3), I(3)), ValueError, "binomial only supports floating-point dtypes for prob, got: Long"),
    ),
    test=RANDOM,
)
op(
    f"_standard_gamma(Tensor self, {GEN}) -> Tensor",
    variants="function",
    kernel=native(),
    grad={"self": "grad * ops::_standard_gamma_grad(self, result)"},
    jvp="elementwise",
    random=True,
    batching=by("drawn_from_one"),
    doc="Gamma with parameters from self and rate 1.",
    samples=[S(T(3, 4, low=0.1, high=3.0)), S(T(low=5.0, high=9.0)), S(T(0))],
    errors=(E(S(I(3)), NotImplementedError, "\"gamma_cpu\" not implemented for 'Long'"),),
    test=RANDOM,
)
op(
    f"_sample_dirichlet(Tensor self, {GEN}) -> Tensor",
    variants="function",
    kernel=native(),
    grad={"self": "dirichlet_backward(grad, result, self)"},
    jvp="dirichlet_tangent(self_t, result, self)",
    random=True,
    batching=by("drawn_rows"),
    doc="Dirichlet with parameters from the rows of self.",
    samples=[S(T(3, 4, low=0.1, high=3.0)), S(T(5, low=0.5, high=9.0)), S(T(0, 3))],
    errors=(E(S(I(3)), NotImplementedError, "\"dirichlet\" not implemented for 'Long'"),),
    test=RANDOM,
)
op(
    f"multinomial(Tensor self, int num_samples, bool replacement=False, *, {GEN}) -> Tensor",
    no_complex="multinomial only supports floating-point dtypes for input, got: ComplexFloat",
    variants="function method out",
    kernel=native(),
    no_grad=INTEGERS,
    out=Out(exact=("multinomial expects Long tensor out, got: {out}",), silent=True),
    random=True,
    batching=by("multinomial"),
    syncs=True,
    doc="Indices drawn with probabilities in proportion to the weights in each row of self.",
    samples=[
        S(T(4, low=0.1, high=1.0, grad=False), 2),
        S(T(3, 4, low=0.1, high=1.0, grad=False), 1),
        S(T(3, 4, low=0.1, high=1.0, grad=False), 6, True),
    ],
    errors=(
        E(S(T(3, low=0.1, high=1.0), 4), RuntimeError, r"cannot sample n_sample > prob_dist.size\(-1\) samples without replacement"),
        E(S(T(3, low=-1.0, high=-0.5), 2), RuntimeError, "probability tensor contains either `inf`, `nan` or element < 0"),
        E(
            S(T(2, low=0.0, high=0.0, values=(0.0, 0.0)), 1),
            RuntimeError,
            r"invalid multinomial distribution \(sum of probabilities <= 0\)",
        ),
        E(S(I(3), 1), RuntimeError, "multinomial only supports floating-point dtypes for input"),
        E(S(T(2, 2, 2), 1), RuntimeError, "prob_dist must be 1 or 2 dim"),
        E(S(T(3, low=0.1, high=1.0), 0), RuntimeError, "cannot sample n_sample <= 0 samples"),
    ),
    test=RANDOM,
)

# ---- dropout ----

_P_ERROR = (E(S(T(3), 2.0, True), RuntimeError, "dropout probability has to be between 0 and 1, but got 2"),)
_DROPOUT = [S(T(3, 4), 0.5, True), S(T(3, 4), 0.5, False), S(T(3), 1.0, True), S(T(3), 0.0, True), S(T(0), 0.5, True)]
for _name, _doc in (
    ("dropout", "Sets elements to zero with probability p while training, and scales the rest up by 1 / (1 - p)."),
    ("feature_dropout", "`dropout` of whole channels."),
    ("alpha_dropout", "`dropout` that keeps mean and variance of self-normalising activations."),
    ("feature_alpha_dropout", "`alpha_dropout` of whole channels."),
):
    op(
        f"{_name}(Tensor self, float p, bool train) -> Tensor",
        variants="function inplace",
        kernel=composite(),
        inplace_function=True,
        random=True,
        aliases="maybe",
        doc=_doc,
        samples=_DROPOUT if "feature" not in _name else [S(T(2, 3, 4), 0.5, True), S(T(2, 3, 4), 0.5, False)],
        errors=_P_ERROR,
        test=RANDOM,
    )
op(
    "native_dropout(Tensor input, float p, bool? train) -> (Tensor result0, Tensor result1)",
    variants="function",
    kernel=native(whole=True),
    grad={"input": "grad * result1 * dropout_scale(p, train)"},
    outputs_nondiff=("result1",),
    jvp="elementwise",
    random=True,
    batching=by("dropout"),
    doc="`dropout` and the mask of what it kept.",
    samples=[S(T(3, 4), 0.5, True), S(T(3, 4), 0.5, False)],
    test=RANDOM,
)
