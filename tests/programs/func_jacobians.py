"""func.jacrev, jacfwd, hessian and linearize."""

from tests.programs import differs


def jacrev(jacrev, x3, show):
    show(jacrev(lambda x: x**2)(x3))


def jacrev_of_many(jacrev, x3, show):
    show(jacrev(lambda x, y: (x * y, x.sum()), argnums=(0, 1))(x3, x3))


def jacrev_of_a_dict(jacrev, x3, show):
    show(jacrev(lambda d: d["a"] * d["b"])({"a": x3, "b": x3}))


def jacrev_to_a_dict(jacrev, x3, show):
    show(jacrev(lambda x: {"s": x.sum(), "p": x * 2})(x3))


def jacrev_to_a_list(jacrev, x3, show):
    show(jacrev(lambda x: [x.sum(), x * 2])(x3))


def jacrev_has_aux(jacrev, x3, show):
    show(jacrev(lambda x: (x * 2, x * 3), has_aux=True)(x3))


def jacrev_has_aux_missing(jacrev, x3):
    jacrev(lambda x: x * 2, has_aux=True)(x3)


def jacrev_of_a_scalar(jacrev, x3, show):
    show(jacrev(lambda x: x.sum())(x3))


def jacrev_of_a_matrix(jacrev, x23, show):
    show(jacrev(lambda x: x @ x.T)(x23))


def jacrev_chunk_size(jacrev, x3, show):
    show(jacrev(lambda x: x**2, chunk_size=2)(x3))


def jacrev_chunk_size_one(jacrev, x3, show):
    show(jacrev(lambda x: (x**2, x.sum()), chunk_size=1)(x3))


def jacrev_chunk_size_zero(jacrev, x3):
    jacrev(lambda x: x**2, chunk_size=0)(x3)


def jacrev_chunk_size_negative(jacrev):
    jacrev(lambda x: x**2, chunk_size=-1)


def jacrev_preallocate(jacrev, x3, show):
    show(jacrev(lambda x: x**2, chunk_size=2, _preallocate_and_copy=True)(x3))


def jacrev_argnums_out_of_range(jacrev, x3):
    jacrev(lambda x: x**2, argnums=2)(x3)


def jacrev_of_an_integer_output(jacrev, x3):
    jacrev(lambda x: x.long())(x3)


def jacrev_of_a_number(jacrev, x3):
    jacrev(lambda x: 1.0)(x3)


def jacrev_of_an_integer_input(torch, jacrev):
    jacrev(lambda x: x * 1.0)(torch.tensor([1]))


def jacrev_of_a_number_input(jacrev):
    jacrev(lambda x: x * 1.0)(1.0)


def jacrev_of_an_empty_output(jacrev, x3, show):
    show(jacrev(lambda x: x[:0])(x3))


def jacrev_with_randomness(torch, jacrev, x3, show):
    jacrev(lambda x: x * torch.rand(3))(x3)
    show("done")


@differs("accepts them")
def jacrev_keyword_arguments(jacrev, x3, show):
    show(jacrev(lambda x, y=None: x * y)(x3, y=x3))


def jacfwd(jacfwd, x3, show):
    show(jacfwd(lambda x: x**2)(x3))


def jacfwd_of_many(jacfwd, x3, show):
    show(jacfwd(lambda x, y: (x * y, x.sum()), argnums=(0, 1))(x3, x3))


def jacfwd_of_a_dict(jacfwd, x3, show):
    show(jacfwd(lambda d: d["a"] * d["b"])({"a": x3, "b": x3}))


def jacfwd_has_aux(jacfwd, x3, show):
    show(jacfwd(lambda x: (x * 2, x * 3), has_aux=True)(x3))


def jacfwd_has_aux_missing(jacfwd, x3):
    jacfwd(lambda x: x * 2, has_aux=True)(x3)


def jacfwd_randomness(torch, jacfwd, x3):
    jacfwd(lambda x: x * torch.rand(3))(x3)


def jacfwd_randomness_same(torch, jacfwd, x3, show):
    show(tuple(jacfwd(lambda x: x * torch.rand(3), randomness="same")(x3).shape))


def jacfwd_randomness_unknown(jacfwd, x3):
    jacfwd(lambda x: x * 2, randomness="none")(x3)


def jacfwd_of_an_integer_input(torch, jacfwd):
    jacfwd(lambda x: x * 1.0)(torch.tensor([1]))


@differs("a ValueError that says so")
def jacfwd_of_a_number_input(jacfwd):
    jacfwd(lambda x: x * 1.0)(1.0)


def jacfwd_of_a_number_output(jacfwd, x3):
    jacfwd(lambda x: 1.0)(x3)


def jacfwd_of_an_integer_output(jacfwd, x3, show):
    show(jacfwd(lambda x: x.long())(x3))


def jacfwd_of_a_constant(torch, jacfwd, x3, show):
    show(jacfwd(lambda x: torch.ones(2))(x3))


def jacfwd_of_a_matrix(jacfwd, x23, show):
    show(jacfwd(lambda x: x @ x.T)(x23))


def jacfwd_argnums_out_of_range(jacfwd, x3):
    jacfwd(lambda x: x**2, argnums=2)(x3)


def hessian(hessian, x3, show):
    show(hessian(lambda x: (x**3).sum())(x3))


def hessian_of_many(hessian, x3, show):
    show(hessian(lambda x, y: (x * y**2).sum(), argnums=(0, 1))(x3, x3))


def hessian_of_a_vector(hessian, x3, show):
    show(hessian(lambda x: x**2)(x3))


def hessian_of_a_dict(hessian, x3, show):
    show(hessian(lambda d: (d["a"] * d["b"]).sum())({"a": x3[:2], "b": x3[:2]}))


def jacfwd_of_jacfwd(jacfwd, x3, show):
    show(jacfwd(jacfwd(lambda x: (x**3).sum()))(x3))


def jacrev_of_jacrev(jacrev, x3, show):
    show(jacrev(jacrev(lambda x: (x**3).sum()))(x3))


def linearize(linearize, x3, show):
    out, f = linearize(lambda x: x**2, x3)
    show(out, f(x3), f(x3 * 2))


def linearize_of_many(linearize, x3, show):
    out, f = linearize(lambda x, y: (x * y, x), x3, x3 * 2)
    show(out, f(x3, x3))


def linearize_with_the_wrong_shape(linearize, x3, x33):
    out, f = linearize(lambda x: x**2, x3)
    f(x33)


def linearize_with_the_wrong_dtype(linearize, x3):
    out, f = linearize(lambda x: x**2, x3)
    f(x3.float())


def linearize_with_the_wrong_structure(linearize, x3):
    out, f = linearize(lambda x: x**2, x3)
    f(x3, x3)


def linearize_of_a_dict(linearize, x3, show):
    out, f = linearize(lambda d: d["a"] * d["b"], {"a": x3, "b": x3})
    show(f({"a": x3, "b": x3}))


def linearize_vmap(torch, linearize, vmap, f64, x3, show):
    out, f = linearize(lambda x: x**2, x3)
    show(vmap(f)(torch.eye(3, dtype=f64)))


@differs("a tensor, no Parameter")
def linearize_of_a_constant(torch, linearize, x3, show):
    out, f = linearize(lambda x: torch.ones(2), x3)
    show(out, f(x3))
