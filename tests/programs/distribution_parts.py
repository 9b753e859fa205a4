"""Constraints, transforms, the registries between them, KL divergences and helpers of torch.distributions."""

import copy
import importlib
import math
import pickle


def _parts(torch):
    return importlib.import_module(f"{torch.__name__}.distributions")


def constraints_and_what_they_hold(torch, show, attempt):
    C = _parts(torch).constraints
    nan, t = float("nan"), torch.tensor
    numbers = t([-1.0, 0.0, 0.5, 1.0, 2.0, 3.5, nan])
    for name in ("boolean", "nonnegative", "nonnegative_integer", "positive", "positive_integer", "real", "unit_interval"):
        c = getattr(C, name)
        show(name, repr(c), c.event_dim, c.is_discrete, c.check(numbers))
    for c in (
        C.greater_than(0.5), C.greater_than_eq(0.5), C.less_than(0.5), C.interval(0.0, 2.0), C.half_open_interval(0.0, 2.0),
        C.integer_interval(0, 2), C.interval(t(0.5), t(2.0)), C.greater_than(t(0.5)),
    ):  # fmt: skip
        show(repr(c), c.event_dim, c.is_discrete, c.check(numbers))
    rows = t([[0.2, 0.8], [0.5, 0.6], [1.0, 0.0], [-0.5, 1.5], [1.0, 1.0]])
    for c in (C.simplex, C.one_hot, C.multinomial(1), C.real_vector, C.independent(C.positive, 1)):
        show(repr(c), c.event_dim, c.is_discrete, c.check(rows))
    square = torch.eye(2) + t([[0.0, 0.5], [0.5, 0.0]])
    matrices = torch.stack([torch.eye(2), square, square.tril(), -torch.eye(2), torch.ones(2, 2), torch.tensor([[1.0, 0.0], [0.6, 0.8]])])
    for name in ("lower_triangular", "lower_cholesky", "corr_cholesky", "square"):
        c = getattr(C, name)
        show(name, repr(c), c.event_dim, c.is_discrete, c.check(matrices))
    for name in ("symmetric", "positive_definite", "positive_semidefinite"):
        c = getattr(C, name)
        show(name, repr(c), c.event_dim, c.is_discrete, [c.check(m) for m in matrices], c.check(torch.ones(2, 3)))
    show(C.cat([C.positive, C.real], 0, [1, 2]).check(t([-1.0, 2.0, 3.0])), C.stack([C.positive, C.real], 0).check(t([-1.0, 2.0])))
    attempt(lambda: C.independent(C.positive, 1).check(t(1.0)))
    attempt(lambda: C.independent(3, 1))
    attempt(lambda: C.Constraint().check(t(1.0)))
    show(repr(C.Constraint()), repr(C.cat([C.real])), repr(C.stack([C.real])), repr(C.MixtureSameFamilyConstraint(C.real)))


def dependent_constraints(torch, show, attempt):
    D = _parts(torch)
    C = D.constraints
    attempt(lambda: C.dependent.check(torch.tensor(1.0)))
    attempt(lambda: C.dependent.event_dim)
    attempt(lambda: C.dependent.is_discrete)
    show(C.dependent(event_dim=1).event_dim, repr(C.dependent(is_discrete=True)), C.is_dependent(D.Uniform.support))
    show(D.Uniform.support.event_dim, D.Binomial.support.is_discrete, D.Multinomial.support.event_dim, C.is_dependent(C.real))
    show(repr(D.Pareto(1.0, 2.0).support), repr(D.Uniform(0.0, 1.0).support), repr(D.Binomial(3, torch.ones(2)).support))


def _transforms(torch):
    """Transforms with a place in their domain."""
    D = _parts(torch)

    def t(*values):
        return torch.tensor(values[0] if len(values) == 1 else list(values), dtype=torch.float64)

    x = t([[0.3, -1.2, 0.7], [0.1, 0.2, 2.0]])
    exponential, affine = D.ExpTransform(), D.AffineTransform(t(1.0, 2.0, 3.0), t(-1.0, 2.0, 0.5))
    return {
        "exp": (exponential, x),
        "exp.inv": (exponential.inv, x.abs()),
        "abs": (D.AbsTransform(), x),
        "affine": (affine, x),
        "affine of rows": (D.AffineTransform(1.0, -2.0, event_dim=1), x),
        "power": (D.PowerTransform(t(2.0)), x.abs()),
        "negative power": (D.PowerTransform(t(-0.5)), x.abs()),
        "sigmoid": (D.SigmoidTransform(), x),
        "softplus": (D.SoftplusTransform(), x),
        "tanh": (D.TanhTransform(), x),
        "softmax": (D.SoftmaxTransform(), x),
        "stick breaking": (D.StickBreakingTransform(), x),
        "lower cholesky": (D.LowerCholeskyTransform(), x[:, :2]),
        "positive definite": (D.PositiveDefiniteTransform(), x[:, :2]),
        "corr cholesky": (D.CorrCholeskyTransform(), x),
        "compose": (D.ComposeTransform([affine, exponential]), x),
        "compose with rows": (D.ComposeTransform([exponential.inv, D.StickBreakingTransform()]), x.abs()),
        "identity": (D.identity_transform, x),
        "independent": (D.IndependentTransform(exponential, 1), x),
        "reshape": (D.ReshapeTransform((3,), (3, 1)), x),
        "cat": (D.CatTransform([exponential, affine], -1, [3, 3]), torch.cat([x, x], -1)),
        "stack": (D.StackTransform([exponential, D.TanhTransform()], 0), x),
        "cdf": (D.CumulativeDistributionTransform(D.Normal(t(0.5), t(2.0))), x),
        "cdf.inv": (D.CumulativeDistributionTransform(D.Normal(t(0.5), t(2.0))).inv, x.sigmoid()),
    }


def _kept(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__


def transforms_there_and_back(torch, show):
    for name, (transform, x) in _transforms(torch).items():
        y = transform(x)
        show(name, repr(transform), y)
        show(transform.inv(y), _kept(lambda: transform.log_abs_det_jacobian(x, y)))
        show(transform.bijective, _kept(lambda: transform.sign), _kept(lambda: transform.event_dim))
        for end in (transform.domain, transform.codomain):
            show(_kept(lambda: (repr(end), end.event_dim, end.is_discrete)))
        show(transform.forward_shape(x.shape), transform.inverse_shape(y.shape), transform.inv.inv is transform)


def jacobians_are_those_of_autograd(torch, functional, show):
    for name in ("exp", "affine", "power", "sigmoid", "softplus", "tanh", "cdf", "compose"):
        transform, x = _transforms(torch)[name]
        x = x[0]
        slope = functional.jacobian(transform, x)
        claimed = transform.log_abs_det_jacobian(x, transform(x))
        show(name, torch.allclose(slope.diagonal().abs().log(), claimed))
    for name, rows in (("stick breaking", slice(0, -1)), ("corr cholesky", None)):
        transform, x = _transforms(torch)[name]
        slope = functional.jacobian(transform, x[0])
        slope = slope[rows] if rows is not None else torch.stack([slope[i, j] for i in range(3) for j in range(i)])
        show(name, torch.allclose(torch.linalg.slogdet(slope)[1], transform.log_abs_det_jacobian(x[0], transform(x[0]))))


def transforms_with_a_cache(torch, show, attempt):
    D = _parts(torch)
    for name, (transform, x) in _transforms(torch).items():
        cached = transform.with_cache(1)
        y = cached(x)
        show(name, cached is transform, cached.with_cache(1) is cached, cached(x) is y, cached.inv(y) is x, cached(x.clone()) is y)
    one = D.ExpTransform(cache_size=1)
    y = one.inv(torch.tensor([2.0]))
    show(one(y) is not None, one._cached_x_y[0] is y)
    attempt(lambda: D.ExpTransform(cache_size=2))
    inverse = one.inv
    show(one.inv is inverse, inverse.inv is one)


def transforms_compared_and_copied(torch, show):
    D = _parts(torch)
    t = torch.tensor
    one = [D.ExpTransform(), D.AffineTransform(1.0, 2.0), D.AffineTransform(t(1.0), t([2.0, 2.0])), D.PowerTransform(t(2.0))]
    one += [D.ComposeTransform([D.ExpTransform()]), D.TanhTransform(), D.SigmoidTransform(cache_size=1)]
    for a in one:
        show([a == b for b in one], a != a, a.inv == a or pickle.loads(pickle.dumps(a)) == a, copy.deepcopy(a) == a)
    attempt = _kept(lambda: hash(D.ExpTransform()))
    show(attempt)


def refusals_of_transforms(torch, attempt):
    D = _parts(torch)
    t, ones = torch.tensor, torch.ones
    for call in (
        lambda: D.Transform()(t(1.0)),
        lambda: D.Transform().sign,
        lambda: D.Transform().log_abs_det_jacobian(t(1.0), t(1.0)),
        lambda: D.CatTransform([3]),
        lambda: D.StackTransform([3]),
        lambda: D.StackTransform([D.ExpTransform()])(ones(2, 2)),
        lambda: D.CatTransform([D.ExpTransform()], 0, [2])(ones(3, 2)),
        lambda: D.IndependentTransform(D.ExpTransform(), 1)(t(1.0)),
        lambda: D.ReshapeTransform((2, 3), (5,)),
        lambda: D.ReshapeTransform((2, 3), (6,))(ones(2)),
        lambda: D.ReshapeTransform((2, 3), (6,)).forward_shape((2,)),
        lambda: D.ReshapeTransform((2, 3), (6,)).forward_shape((3, 2)),
        lambda: D.ReshapeTransform((2, 3), (6,)).inverse_shape((5,)),
        lambda: D.StickBreakingTransform().forward_shape(()),
        lambda: D.SoftmaxTransform().forward_shape(()),
        lambda: D.CorrCholeskyTransform().forward_shape((4,)),
        lambda: D.CorrCholeskyTransform().forward_shape(()),
        lambda: D.CorrCholeskyTransform().inverse_shape((4, 3)),
        lambda: D.CorrCholeskyTransform().inverse_shape((4,)),
    ):
        attempt(call)


def registries(torch, show, attempt):
    D = _parts(torch)
    C, t = D.constraints, torch.tensor
    x = t([[0.3, -1.2, 0.7], [0.1, 0.2, 2.0], [1.0, -1.0, 0.5]])
    for c in (
        C.real, C.positive, C.greater_than(t(2.0)), C.greater_than_eq(1.0), C.less_than(2.0), C.unit_interval, C.interval(1.0, 3.0),
        C.half_open_interval(0.0, 2.0), C.simplex, C.real_vector, C.independent(C.positive, 1), C.lower_cholesky, C.positive_definite,
        C.positive_semidefinite, C.corr_cholesky, C.cat([C.positive, C.real], -1, [1, 2]), C.stack([C.positive, C.real, C.real], 0), C.boolean,
    ):  # fmt: skip
        for registry in (D.biject_to, D.transform_to):
            attempt(lambda: repr(registry(c)))
            attempt(lambda: registry(c)(x))
    attempt(lambda: D.biject_to(3))

    class Mine(C.Constraint):
        pass

    @D.transform_to.register(Mine)
    def _mine(constraint):
        return D.TanhTransform()

    show(repr(D.transform_to(Mine())))
    attempt(lambda: D.biject_to(Mine()))
    attempt(lambda: D.transform_to.register(3, _mine))


def divergences(torch, show):
    D = _parts(torch)
    t = torch.tensor
    two, p, rows = t([0.7, 1.3]), t([0.2, 0.8]), t([[0.1, 0.2, 0.7], [0.0, 0.5, 0.5]])
    matrix = t([[2.0, 0.3], [0.3, 1.0]])
    one = [
        D.Bernoulli(p), D.Bernoulli(t([0.0, 1.0])), D.Beta(two, two + 1), D.Binomial(5, p), D.Categorical(rows), D.Categorical(logits=rows * 3),
        D.Cauchy(two, two), D.ContinuousBernoulli(p), D.Dirichlet(rows + 1), D.Exponential(two), D.Gamma(two, two + 1), D.Geometric(p),
        D.Gumbel(two, two), D.HalfNormal(two), D.Laplace(two, two), D.MultivariateNormal(two, matrix), D.Normal(two, two), D.Normal(0.0, 2.0),
        D.LowRankMultivariateNormal(two, matrix[:, :1], two), D.OneHotCategorical(rows), D.Pareto(two, two * 2), D.Poisson(two),
        D.Uniform(two * 0, two / 2), D.Uniform(two - 1.5, two), D.Chi2(two), D.Independent(D.Normal(two, two), 1), D.LogNormal(two, two),
        D.TransformedDistribution(D.Normal(two, 2.0), [D.ExpTransform()]), D.StudentT(two), D.MultivariateNormal(two + 1, matrix * 2),
        D.LowRankMultivariateNormal(two + 1, matrix[:, :1] * 2, two), D.Wishart(t(3.0), matrix), D.Wishart(t(4.0), matrix * 2),
    ]  # fmt: skip
    for a in one:
        for b in one:
            found = _kept(lambda: D.kl_divergence(a, b))
            if found != "NotImplementedError":
                show(type(a).__name__, type(b).__name__, found.detach() if hasattr(found, "detach") else found)


def divergences_have_gradients(torch, show):
    D = _parts(torch)
    leaves = [torch.tensor(x, requires_grad=True) for x in ([0.7, 1.3], [1.1, 0.4])]
    for make in (D.Normal, D.Gamma, D.Beta, D.Laplace, D.Gumbel, D.Cauchy):
        kl = D.kl_divergence(make(*leaves), make(torch.tensor([0.5, 0.6]), 2.0)).sum()
        show(torch.autograd.grad(kl, leaves))


def which_divergence(torch, show, attempt):
    D = _parts(torch)
    kl = importlib.import_module(f"{D.__name__}.kl")

    class A(D.Distribution):
        arg_constraints = {}

    class B(A):
        pass

    @D.register_kl(A, B)
    def first(p, q):
        return "first"

    @D.register_kl(B, A)
    def second(p, q):
        return "second"

    show(kl.kl_divergence(B(), A()), D.kl_divergence(A(), B()), D.kl_divergence(B(), B()))
    attempt(lambda: D.kl_divergence(A(), A()))
    attempt(lambda: D.kl_divergence(D.Normal(0.0, 1.0), D.Cauchy(0.0, 1.0)))
    attempt(lambda: D.kl_divergence(D.Binomial(5, torch.tensor(0.5)), D.Binomial(3, torch.tensor(0.5))))
    attempt(lambda: D.kl_divergence(D.Binomial(3, torch.tensor(0.5)), D.Binomial(5, torch.tensor(0.5))))
    attempt(lambda: D.kl_divergence(D.Dirichlet(torch.ones(2)), D.Exponential(1.0)))
    attempt(lambda: D.register_kl(3, D.Normal))


def helpers(torch, show, attempt):
    D = _parts(torch)
    U, t = importlib.import_module(f"{D.__name__}.utils"), torch.tensor
    show(
        U.broadcast_all(1, 2.0), U.broadcast_all(t([1.0, 2.0]), 2), U.broadcast_all(t([[1.0], [2.0]]), t([3.0, 4.0])), U.broadcast_all(True)
    )
    attempt(lambda: U.broadcast_all("a", 2))
    attempt(lambda: U.broadcast_all(None))
    p = t([0.0, 0.2, 1.0])
    show(U.clamp_probs(p), U.clamp_probs(p.double()), U.probs_to_logits(p), U.probs_to_logits(p, True), U.logits_to_probs(p))
    show(U.logits_to_probs(p, is_binary=True), U._sum_rightmost(torch.ones(2, 3), 0), U._sum_rightmost(torch.ones(2, 3), 2))
    for diagonal in (-2, -1, 0, 1):
        matrix = torch.arange(1.0, 10.0).view(3, 3)
        vector = U.tril_matrix_to_vec(matrix, diagonal)
        show(vector, U.vec_to_tril_matrix(vector, diagonal))
    attempt(lambda: U.tril_matrix_to_vec(torch.ones(3, 3), 5))
    attempt(lambda: U.vec_to_tril_matrix(torch.ones(5)))
    show(U._standard_normal((2,), torch.float64, "cpu").shape, math.isclose(U.euler_constant, 0.5772156649))

    class Lazy:
        count = 0

        @U.lazy_property
        def doubled(self):
            """Twice."""
            Lazy.count += 1
            return self.leaf * 2

    one = Lazy()
    one.leaf = torch.ones((), requires_grad=True)
    with torch.no_grad():
        show(one.doubled.requires_grad, one.doubled is one.doubled, Lazy.count, isinstance(Lazy.doubled, property))
    one.doubled = 5
    show(one.doubled)
