"""Native ops that are one function still, `impl::<cname>`, which allocates for itself and minds meta tensors. To convert one, see README.md."""

WHOLE = set(
    """
    celu log_sigmoid gelu pow_scalar pow_self_scalar logit mvlgamma div_mode round_decimals clamp_tensor clamp clamp_min clamp_max
    nan_to_num nextafter where masked_fill_tensor masked_fill

    _conj_physical complex polar angle

    view_dtype _unsafe_view select_backward slice_backward diagonal_backward diagonal_copy diag_embed unfold_backward
    _as_strided_transfer detach unsafe_split_Tensor unsafe_split_with_sizes cat stack _block_diag repeat repeat_interleave_Tensor flip
    roll rot90 tril triu clone clone_format _clone_as _to_copy copy fill_Scalar fill_Tensor fill_inplace_Tensor fill_inplace_Scalar zero

    zeros zeros_like new_zeros ones ones_like new_ones empty empty_like new_empty empty_strided new_empty_strided empty_permuted full
    full_like new_full scalar_tensor eye eye_m arange arange_start_step range linspace logspace tril_indices triu_indices

    rand randn randint randint_low randperm rand_like randn_like randint_like randint_like_low uniform_inplace normal_inplace
    log_normal_inplace exponential_inplace cauchy_inplace geometric_inplace bernoulli_inplace_Tensor bernoulli_inplace random_inplace
    random_to random_from bernoulli bernoulli_p normal_Tensor_Tensor normal_Tensor_float normal_float_Tensor normal_float_float poisson
    multinomial native_dropout
    """.split()  # noqa: SIM905 - a paragraph reads better than a list of strings
)
