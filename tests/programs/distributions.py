"""torch.distributions: draws from a seed, densities, moments, gradients, and what is refused."""

import importlib


def _made(torch, dtype=None):
    """One or two of each, by a name: functions, since making some of them draws or warns."""
    D = importlib.import_module(f"{torch.__name__}.distributions")
    dtype = dtype or torch.float64

    def t(*values):
        return torch.tensor(values[0] if len(values) == 1 else list(values), dtype=dtype)

    a, p, rows, column = t(0.7, 1.3), t(0.2, 0.8), t([[0.1, 0.2, 0.3, 0.4], [0.4, 0.4, 0.1, 0.1]]), t([[0.5], [-1.0]])
    loc, factor = t(0.1, 0.2, 0.3), t([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [-0.3, 0.4, 1.5]])
    covariance, low_rank = factor @ factor.T, t([[1.0, 0.5], [0.2, 0.3], [0.1, 0.9]])
    return {
        "Normal": lambda: D.Normal(column, a),
        "Bernoulli": lambda: D.Bernoulli(p),
        "Bernoulli logits": lambda: D.Bernoulli(logits=a),
        "Beta": lambda: D.Beta(a, column.abs() + 0.6),
        "Binomial": lambda: D.Binomial(5, p),
        "Binomial logits": lambda: D.Binomial(t(5.0, 5.0), logits=a),
        "Categorical": lambda: D.Categorical(rows),
        "Categorical logits": lambda: D.Categorical(logits=rows * 3),
        "Cauchy": lambda: D.Cauchy(column, a),
        "Chi2": lambda: D.Chi2(a * 3),
        "ContinuousBernoulli": lambda: D.ContinuousBernoulli(t(0.2, 0.5, 0.4995, 0.8)),
        "ContinuousBernoulli logits": lambda: D.ContinuousBernoulli(logits=a),
        "Dirichlet": lambda: D.Dirichlet(rows * 5),
        "Exponential": lambda: D.Exponential(a),
        "FisherSnedecor": lambda: D.FisherSnedecor(a * 5, a * 7),
        "Gamma": lambda: D.Gamma(a, column.abs()),
        "Geometric": lambda: D.Geometric(p),
        "Gumbel": lambda: D.Gumbel(column, a),
        "HalfCauchy": lambda: D.HalfCauchy(a),
        "HalfNormal": lambda: D.HalfNormal(a),
        "Independent": lambda: D.Independent(D.Normal(column, a), 1),
        "InverseGamma": lambda: D.InverseGamma(a * 3, a),
        "Kumaraswamy": lambda: D.Kumaraswamy(a + 0.5, a),
        "LKJCholesky": lambda: D.LKJCholesky(3, a),
        "Laplace": lambda: D.Laplace(column, a),
        "LogNormal": lambda: D.LogNormal(column, a),
        "LogisticNormal": lambda: D.LogisticNormal(a, a),
        "LowRankMultivariateNormal": lambda: D.LowRankMultivariateNormal(torch.stack([loc, loc + 1]), low_rank, loc + 0.4),
        "MixtureSameFamily": lambda: D.MixtureSameFamily(D.Categorical(t(0.1, 0.2, 0.7)), D.Normal(t(-1.0, 0.0, 1.0), loc + 0.4)),
        "MixtureSameFamily of vectors": lambda: D.MixtureSameFamily(
            D.Categorical(rows), D.Independent(D.Normal(torch.arange(24, dtype=dtype).reshape(2, 4, 3), 1.0), 1)
        ),
        "Multinomial": lambda: D.Multinomial(6, rows),
        "Multinomial logits": lambda: D.Multinomial(6, logits=rows),
        "MultivariateNormal": lambda: D.MultivariateNormal(loc, covariance),
        "MultivariateNormal precision": lambda: D.MultivariateNormal(torch.stack([loc, loc + 1]), precision_matrix=covariance),
        "MultivariateNormal factor": lambda: D.MultivariateNormal(loc, scale_tril=torch.stack([factor, factor * 2 + covariance]).tril()),
        "NegativeBinomial": lambda: D.NegativeBinomial(t(3.0, 5.5), p),
        "NegativeBinomial logits": lambda: D.NegativeBinomial(3.0, logits=-a),
        "OneHotCategorical": lambda: D.OneHotCategorical(rows),
        "OneHotCategoricalStraightThrough": lambda: D.OneHotCategoricalStraightThrough(rows),
        "Pareto": lambda: D.Pareto(a, a * 2.5),
        "Poisson": lambda: D.Poisson(a * 6),
        "RelaxedBernoulli": lambda: D.RelaxedBernoulli(t(0.6), p),
        "RelaxedOneHotCategorical": lambda: D.RelaxedOneHotCategorical(t(0.6), rows),
        "StudentT": lambda: D.StudentT(a * 4, column, a),
        "TransformedDistribution": lambda: D.TransformedDistribution(
            D.Normal(column, a), [D.AffineTransform(1.0, -2.0), D.SigmoidTransform()]
        ),
        "TransformedDistribution of uniform": lambda: D.TransformedDistribution(
            D.Uniform(a * 0, a * 0 + 1), [D.SigmoidTransform().inv, D.AffineTransform(a, a)]
        ),
        "Uniform": lambda: D.Uniform(column, a + 1),
        "VonMises": lambda: D.VonMises(column, a),
        "Weibull": lambda: D.Weibull(a, a + 0.4),
        "Wishart": lambda: D.Wishart(t(5.0, 6.5), covariance),
        "Wishart precision": lambda: D.Wishart(t(5.0), precision_matrix=covariance),
    }


def _plain(show, name, function):
    """What a method gives, without its history, or the kind of its error."""
    try:
        result = function()
    except Exception as error:
        result = type(error).__name__
    show(name, result.detach() if hasattr(result, "detach") else result)


def draws_from_a_seed(torch, show):
    for dtype in (torch.float32, torch.float64):
        for name, make in _made(torch, dtype).items():
            show(name)
            for shape in ((), (2,), (1, 3)):
                torch.manual_seed(7)
                _plain(show, "sample", lambda: make().sample(shape))
                show(torch.rand(1))  # which shows where the generator stands
                _plain(show, "rsample", lambda: make().rsample(shape))
                show(torch.randn(1))


def draws_in_float32_of_20(torch, show):
    """Sixteen and more are drawn another way."""
    for name, make in _made(torch, torch.float32).items():
        torch.manual_seed(1)
        _plain(show, name, lambda: make().sample((20,)).double().mean(0))


def densities(torch, show):
    for name, make in _made(torch).items():
        d = make()
        torch.manual_seed(3)
        value = d.sample((2,))
        _plain(show, name, lambda: d.log_prob(value))
        _plain(show, "cdf", lambda: d.cdf(value))
        chances = torch.rand((2, *d.batch_shape, *d.event_shape), dtype=torch.float64)
        _plain(show, "icdf", lambda: d.icdf(chances))


def moments_and_parts(torch, show):
    parts = ("mean", "mode", "variance", "stddev", "batch_shape", "event_shape", "has_rsample", "has_enumerate_support", "param_shape")
    for name, make in _made(torch).items():
        d = make()
        show(name, repr(d))
        for part in (*parts, "logits", "probs", "covariance_matrix", "precision_matrix", "scale_tril"):
            _plain(show, part, lambda: getattr(d, part))
        for method in ("entropy", "perplexity", "enumerate_support"):
            _plain(show, method, lambda: getattr(d, method)())
        _plain(show, "not expanded", lambda: d.enumerate_support(False))
        if "Uniform" not in name and "Pareto" not in name and "Binomial" not in name:
            show(repr(d.support), sorted((k, repr(v)) for k, v in d.arg_constraints.items()))


def expanded(torch, show):
    for name, make in _made(torch).items():
        d = make().expand((2, *make().batch_shape))
        show(name, repr(d), d.batch_shape, d.event_shape)
        torch.manual_seed(5)
        value = d.sample((2,))
        show(value)
        _plain(show, "log_prob", lambda: d.log_prob(value))
        _plain(show, "mean", lambda: d.mean)
        _plain(show, "variance", lambda: d.variance)


def gradients_of_densities(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")

    def of(make, value, *parameters):
        leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in parameters]
        show(torch.autograd.grad(make(*leaves).log_prob(torch.tensor(value, dtype=torch.float64)).sum(), leaves))

    for make in (D.Normal, D.Laplace, D.Cauchy, D.Gumbel, D.Gamma, D.Beta, D.LogNormal, D.Weibull, D.Kumaraswamy, D.InverseGamma):
        of(make, [0.3, 0.6], [0.7, 1.3], [1.1, 0.4])
    for make in (D.Exponential, D.HalfNormal, D.HalfCauchy, D.Chi2, D.ContinuousBernoulli):
        of(make, [0.3, 0.6], [0.7, 0.9])
    of(D.StudentT, [0.3, -2.0], [3.0, 4.0], [0.5, 0.1], [1.0, 2.0])
    of(D.Dirichlet, [0.3, 0.7], [1.5, 2.5])
    of(lambda logits: D.Categorical(logits=logits), [1, 0], [[0.1, 0.5, -0.3], [1.0, 2.0, 3.0]])
    of(D.Categorical, [1, 0], [[0.1, 0.5, 0.3], [1.0, 2.0, 3.0]])
    of(D.MultivariateNormal, [0.3, 0.7], [0.1, 0.2], [[2.0, 0.3], [0.3, 1.0]])
    of(lambda loc, factor: D.MultivariateNormal(loc, scale_tril=factor.tril()), [0.3, 0.7], [0.1, 0.2], [[2.0, 0.3], [0.3, 1.0]])
    of(D.Bernoulli, [0.0, 1.0], [0.2, 0.7])
    of(D.Poisson, [2.0, 0.0], [0.2, 0.7])
    of(D.VonMises, [0.2, 0.7], [0.2, 0.7], [1.5, 5.0])


def gradients_of_draws(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    for make in (D.Normal, D.Laplace, D.Cauchy, D.Gumbel, D.LogNormal, D.Weibull, D.Kumaraswamy, D.Pareto, D.LogisticNormal):
        torch.manual_seed(2)
        leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in ([0.7, 1.3], [1.1, 0.4])]
        show(torch.autograd.grad(make(*leaves).rsample((3,)).square().sum(), leaves))
    for temperature in (0.3, 2.0):
        logits = torch.tensor([[0.1, 0.5, -0.3], [1.0, 2.0, 3.0]], dtype=torch.float64, requires_grad=True)
        for make in (D.RelaxedOneHotCategorical, D.RelaxedBernoulli):
            torch.manual_seed(2)
            drawn = make(torch.tensor(temperature, dtype=torch.float64), logits=logits).rsample((2,))
            show(torch.autograd.grad(drawn.square().sum(), logits))
    straight = D.OneHotCategoricalStraightThrough(logits=logits).rsample()
    show(torch.autograd.grad((straight * torch.arange(3)).sum(), logits))


def without_history(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    scale = torch.tensor([1.0, 2.0], requires_grad=True)
    for d in (D.Normal(0.0, scale), D.Gamma(scale, 1.0), D.Categorical(logits=scale), D.Beta(scale, scale)):
        show(d.sample().requires_grad, d.has_rsample and d.rsample().requires_grad, d.mean.requires_grad)
    with torch.no_grad():
        d = D.Categorical(logits=scale)
    show(d.probs.requires_grad)


def reinforce(torch, nn, show):
    """A step of a policy gradient, as programs write it."""
    D = importlib.import_module(f"{torch.__name__}.distributions")
    policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
    for _ in range(3):
        state = torch.randn(5, 4)
        chosen = D.Categorical(logits=policy(state))
        action = chosen.sample()
        loss = -(chosen.log_prob(action) * state.sum(1)).mean() - 0.01 * chosen.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(action, loss.item())


def variational(torch, show):
    """A step of a variational autoencoder's bound."""
    D = importlib.import_module(f"{torch.__name__}.distributions")
    loc, log_scale = torch.zeros(3, requires_grad=True), torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.SGD([loc, log_scale], lr=0.1)
    for _ in range(3):
        posterior = D.Independent(D.Normal(loc, log_scale.exp()), 1)
        prior = D.Independent(D.Normal(torch.zeros(3), torch.ones(3)), 1)
        z = posterior.rsample((4,))
        loss = D.kl_divergence(posterior, prior) - D.Normal(z, 0.5).log_prob(torch.ones(3)).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(loss.item(), loc.detach(), log_scale.detach())


def refused_parameters(torch, attempt):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    t, ones = torch.tensor, torch.ones
    for make in (
        lambda: D.Normal(t([0.0, float("nan")]), 1.0),
        lambda: D.Normal(0.0, -1.0),
        lambda: D.Normal(0.0, 0.0),
        lambda: D.Normal("a", 1.0),
        lambda: D.Normal(ones(2), ones(3)),
        lambda: D.Normal(0.0, -1.0, validate_args=False),
        lambda: D.Bernoulli(probs=0.3, logits=0.2),
        lambda: D.Bernoulli(),
        lambda: D.Bernoulli(1.5),
        lambda: D.Categorical(t(0.2)),
        lambda: D.Categorical(logits=t(0.2)),
        lambda: D.Categorical(),
        lambda: D.Categorical(t([-0.2, 0.3])),
        lambda: D.Categorical(logits=t([float("nan"), 0.3])),
        lambda: D.Uniform(1.0, 0.0),
        lambda: D.Binomial(-1, t([0.5])),
        lambda: D.Binomial(1.5, t([0.5])),
        lambda: D.Binomial(3),
        lambda: D.Multinomial(t(3.0), t([0.5])),
        lambda: D.MultivariateNormal(t(0.0), torch.eye(2)),
        lambda: D.MultivariateNormal(ones(2)),
        lambda: D.MultivariateNormal(ones(2), torch.eye(2), torch.eye(2)),
        lambda: D.MultivariateNormal(ones(2), -torch.eye(2)),
        lambda: D.MultivariateNormal(ones(2), ones(2)),
        lambda: D.MultivariateNormal(ones(2), precision_matrix=ones(2)),
        lambda: D.MultivariateNormal(ones(2), scale_tril=ones(2)),
        lambda: D.MultivariateNormal(ones(2), t([[1.0, 0.5], [0.2, 1.0]])),
        lambda: D.MultivariateNormal(ones(2), scale_tril=ones(2, 2)),
        lambda: D.LowRankMultivariateNormal(t(0.0), torch.eye(2), ones(2)),
        lambda: D.LowRankMultivariateNormal(ones(2), ones(2), ones(2)),
        lambda: D.LowRankMultivariateNormal(ones(2), ones(3, 2), ones(2)),
        lambda: D.LowRankMultivariateNormal(ones(2), ones(2, 2), ones(3)),
        lambda: D.LowRankMultivariateNormal(ones(3, 2), ones(4, 2, 1), ones(2)),
        lambda: D.Dirichlet(t(1.0)),
        lambda: D.Dirichlet(t([1.0, -2.0])),
        lambda: D.Dirichlet([1.0, 2.0]),
        lambda: D.Beta(-1.0, 2.0),
        lambda: D.Gamma(0.0, 2.0),
        lambda: D.Wishart(t(1.0), torch.eye(2)),
        lambda: D.Wishart(3, ones(2)),
        lambda: D.Wishart(3),
        lambda: D.LKJCholesky(1),
        lambda: D.Geometric(0.0),
        lambda: D.Poisson(-1.0),
        lambda: D.NegativeBinomial(3.0, t(1.0)),
        lambda: D.Independent(D.Normal(0.0, 1.0), 1),
        lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)),
        lambda: D.MixtureSameFamily(D.Categorical(ones(3)), 3),
        lambda: D.MixtureSameFamily(D.Categorical(ones(3)), D.Normal(ones(2), 1.0)),
        lambda: D.MixtureSameFamily(D.Categorical(ones(2, 3)), D.Normal(ones(4, 3), 1.0)),
        lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
        lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
        lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()),
    ):
        attempt(make)


def refused_values(torch, attempt, kind):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    t, normal = torch.tensor, D.Normal(0.0, 1.0)
    attempt(lambda: normal.log_prob(1.0))
    attempt(lambda: normal.log_prob(t(float("nan"))))
    attempt(lambda: D.Normal(torch.zeros(2), torch.ones(2)).log_prob(t([1.0, 2.0, 3.0])))
    attempt(lambda: D.MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(3)))
    attempt(lambda: D.Bernoulli(0.5).log_prob(t(0.5)))
    attempt(lambda: D.Categorical(t([0.2, 0.3])).log_prob(t(2)))
    attempt(lambda: D.Categorical(t([0.2, 0.3])).log_prob(t(1.5)))
    attempt(lambda: D.Categorical(t([0.2, 0.3])).log_prob(t(1.0)))
    attempt(lambda: D.Uniform(0.0, 1.0).log_prob(t(2.0)))
    attempt(lambda: D.Binomial(3, t([0.5])).log_prob(t(4.0)))
    attempt(lambda: D.Dirichlet(t([1.0, 2.0])).log_prob(t([0.5, 0.6])))
    attempt(lambda: D.Beta(1.0, 2.0).log_prob(t(1.5)))
    attempt(lambda: D.OneHotCategorical(t([0.2, 0.3])).log_prob(t([1.0, 1.0])))
    attempt(lambda: D.TransformedDistribution(normal, [D.ExpTransform()]).log_prob(t(-1.0)))
    attempt(lambda: D.Multinomial(3, t([0.5, 0.5])).log_prob(t([3.0, 1.0])))
    attempt(lambda: D.Poisson(1.0).log_prob(t(-1.0)))
    attempt(lambda: D.Binomial(t([3.0, 4.0]), t([0.5])).enumerate_support())
    attempt(lambda: D.Independent(D.Bernoulli(t([0.1, 0.2])), 1).enumerate_support())
    attempt(lambda: normal.rsample(3))
    attempt(lambda: D.Bernoulli(0.5).rsample())
    attempt(lambda: normal.enumerate_support())
    attempt(lambda: D.Normal(t(0), t(1)).sample())
    attempt(lambda: D.Gamma(1.0, 1.0).icdf(t(0.5)))
    attempt(lambda: D.LKJCholesky(3).mean)
    kind(lambda: D.Beta(t(1), t(2)).concentration1.dtype)


def classes_of_ones_own(torch, show, attempt):
    D = importlib.import_module(f"{torch.__name__}.distributions")

    class Bare(D.Distribution):
        pass

    class Shifted(D.Normal):
        def __init__(self, loc):
            super().__init__(loc, 1.0)

    class Kept(Shifted):
        def expand(self, batch_shape, _instance=None):
            return super().expand(batch_shape, self._get_checked_instance(Kept, _instance))

    class Even(D.constraints.Constraint):
        def check(self, value):
            return value % 2 == 0

    class Stepping(D.Distribution):
        arg_constraints = {"step": Even()}
        support = Even()

        def __init__(self, step):
            self.step = step
            super().__init__(step.shape)

    attempt(lambda: repr(Bare()))
    attempt(lambda: Bare(validate_args=False).sample())
    attempt(lambda: Bare(validate_args=False).mode)
    attempt(lambda: Bare(validate_args=False).expand((2,)))
    attempt(lambda: Shifted(1.0).expand((2,)))
    show(repr(Kept(1.0).expand((2,))))
    attempt(lambda: Stepping(torch.tensor([2.0, 3.0])))
    attempt(lambda: Stepping(torch.tensor([2.0, 4.0]))._validate_sample(torch.tensor([1.0, 2.0])))
    attempt(lambda: D.Distribution.set_default_validate_args(3))
    D.Distribution.set_default_validate_args(False)
    show(repr(D.Normal(0.0, -1.0)))
    D.Distribution.set_default_validate_args(True)
    show(D.Normal(0.0, 1.0).sample_n(2).shape)


def numbers_and_dtypes(torch, show):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    for d in (D.Normal(0, 1), D.Normal(torch.tensor([1.0], dtype=torch.float64), 1), D.Normal(torch.tensor([1]), 1.0), D.Bernoulli(1)):
        show(repr(d), [getattr(d, name).dtype for name in d.arg_constraints if name in vars(d)])
    torch.set_default_dtype(torch.float64)
    try:
        show(D.Gamma(1, 2).sample().dtype, D.Categorical(torch.ones(2)).probs.dtype)
    finally:
        torch.set_default_dtype(torch.float32)


def inside_vmap(torch, func, vmap, show, attempt):
    D = importlib.import_module(f"{torch.__name__}.distributions")
    x = torch.tensor([0.1, 0.2, 0.3])
    show(vmap(lambda m: D.Normal(m, 1.0).log_prob(m + 1))(x))
    show(vmap(func.grad(lambda m: D.Gamma(m, 1.0).log_prob(m + 1)))(x))
    attempt(lambda: vmap(lambda m: D.Normal(0.0, m).log_prob(m))(-x))


def log_normal_numbers_that_nobody_checks(torch, show):
    d = torch.distributions.LogNormal(torch.tensor([0.0, 1.0]), 1.0, validate_args=False)
    show(d.log_prob(torch.tensor(-1.0)), d.log_prob(torch.tensor(2.0)), d.cdf(torch.tensor(-1.0)))
