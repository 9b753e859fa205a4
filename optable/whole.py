"""Native ops that are one function still, `impl::<cname>`, which allocates for itself and minds meta tensors. To convert one, see README.md."""

WHOLE = set(
    """
    rand randn randint randint_low randperm rand_like randn_like randint_like randint_like_low uniform_inplace normal_inplace
    log_normal_inplace exponential_inplace cauchy_inplace geometric_inplace bernoulli_inplace_Tensor bernoulli_inplace random_inplace
    random_to random_from bernoulli bernoulli_p normal_Tensor_Tensor normal_Tensor_float normal_float_Tensor normal_float_float poisson
    multinomial native_dropout
    """.split()  # noqa: SIM905 - a paragraph reads better than a list of strings
)
