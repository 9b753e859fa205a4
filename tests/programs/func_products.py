"""func.vjp and func.jvp."""

from tests.programs import own


def vjp(vjp, x3, show):
    out, pull = vjp(lambda x: x**2, x3)
    show(out, pull(x3))


def vjp_twice(vjp, x3, show):
    out, pull = vjp(lambda x: x**2, x3)
    show(pull(x3), pull(x3 * 2))


def vjp_with_many_inputs_and_outputs(vjp, x3, show):
    out, pull = vjp(lambda x, y: (x * y, x + y), x3, x3 * 2)
    show(out, pull((x3, x3)))


def vjp_with_the_wrong_structure(vjp, x3):
    out, pull = vjp(lambda x: x**2, x3)
    pull((x3, x3))


def vjp_with_a_tuple_for_a_tensor(vjp, x3):
    out, pull = vjp(lambda x: x**2, x3)
    pull((x3,))


def vjp_with_the_wrong_shape(vjp, x3, x33):
    out, pull = vjp(lambda x: x**2, x3)
    pull(x33)


def vjp_with_the_wrong_dtype(vjp, x3, show):
    out, pull = vjp(lambda x: x**2, x3)
    show(pull(x3.float()))


def vjp_with_an_integer_vector(torch, vjp, x3, show):
    out, pull = vjp(lambda x: x**2, x3)
    show(pull(torch.tensor([1, 2, 3])))


@own("words")
def vjp_with_a_number(vjp, x3):
    out, pull = vjp(lambda x: x.sum(), x3)
    pull(1.0)


@own("words")
def vjp_without_a_vector(vjp, x3):
    out, pull = vjp(lambda x: x.sum(), x3)
    pull()


def vjp_of_an_integer_output(vjp, x3):
    vjp(lambda x: x.long(), x3)


def vjp_of_a_number_output(vjp, x3):
    vjp(lambda x: 2.0, x3)


def vjp_of_no_output(vjp, x3):
    vjp(lambda x: (), x3)


def vjp_without_primals(torch, vjp, show):
    out, pull = vjp(lambda: torch.ones(3))
    show(out)


def vjp_of_an_integer_primal(torch, vjp):
    vjp(lambda x: x * 1.0, torch.tensor([1]))


def vjp_of_a_number_primal(vjp, x3):
    vjp(lambda x, y: x * y, x3, 2.0)


def vjp_has_aux(vjp, x3, show):
    out, pull, aux = vjp(lambda x: (x**2, x * 3), x3, has_aux=True)
    show(out, pull(x3), aux)


def vjp_has_aux_without_aux(vjp, x3):
    vjp(lambda x: x**2, x3, has_aux=True)


def vjp_of_a_dict_output(vjp, x3, show):
    out, pull = vjp(lambda x: {"a": x * 2, "b": x * 3}, x3)
    show(out, pull({"a": x3, "b": x3}))


def vjp_of_a_constant_output(torch, vjp, f64, x3, show):
    out, pull = vjp(lambda x: torch.ones(3, dtype=f64), x3)
    show(out, pull(x3))


def vjp_with_an_unused_input(vjp, x3, show):
    out, pull = vjp(lambda x, y: x * 2, x3, x3)
    show(pull(x3))


def vmap_of_a_pullback(torch, vjp, vmap, f64, x3, show):
    out, pull = vjp(lambda x: x**2, x3)
    show(vmap(pull)(torch.eye(3, dtype=f64)))


@own("nodes")
def vjp_of_a_tracked_input(vjp, x3, show):
    a = x3.clone().requires_grad_()
    out, pull = vjp(lambda x: x**2, a)
    show(out, pull(x3))


def jvp(jvp, x3, show):
    show(jvp(lambda x: x**2, (x3,), (x3,)))


def jvp_with_many(jvp, x3, show):
    show(jvp(lambda x, y: (x * y, x), (x3, x3 * 2), (x3, x3)))


def jvp_primals_a_list(jvp, x3):
    jvp(lambda x: x**2, [x3], [x3])


def jvp_primals_a_tensor(jvp, x3):
    jvp(lambda x: x**2, x3, x3)


def jvp_tangents_of_another_structure(jvp, x3):
    jvp(lambda x: x**2, (x3,), (x3, x3))


def jvp_tangents_a_list(jvp, x3):
    jvp(lambda x: x**2, (x3,), [x3])


def jvp_tangents_of_another_shape(jvp, x3, x33):
    jvp(lambda x: x**2, (x3,), (x33,))


def jvp_tangents_of_another_dtype(jvp, x3, show):
    show(jvp(lambda x: x**2, (x3,), (x3.float(),)))


def jvp_integer_tangents(torch, jvp, x3):
    jvp(lambda x: x**2, (x3,), (torch.tensor([1, 2, 3]),))


def jvp_integer_primals(torch, jvp):
    jvp(lambda x: x * 2, (torch.tensor([1, 2, 3]),), (torch.tensor([1, 2, 3]),))


def jvp_empty(torch, jvp):
    jvp(lambda: torch.ones(3), (), ())


def jvp_number_primal(jvp):
    jvp(lambda x: x * 2, (2.0,), (1.0,))


def jvp_number_tangent(jvp, x3):
    jvp(lambda x: x * 2, (x3,), (1.0,))


def jvp_strict(torch, jvp, x3):
    jvp(lambda x: torch.ones(3), (x3,), (x3,), strict=True)


def jvp_of_a_constant(torch, jvp, x3, show):
    show(jvp(lambda x: torch.ones(3), (x3,), (x3,)))


def jvp_strict_that_is_fine(jvp, x3, show):
    show(jvp(lambda x: x * 2, (x3,), (x3,), strict=True))


def jvp_of_an_integer_output(jvp, x3, show):
    show(jvp(lambda x: x.long(), (x3,), (x3,)))


def jvp_of_a_number_output(jvp, x3):
    jvp(lambda x: 2.0, (x3,), (x3,))


def jvp_of_an_empty_output(jvp, x3):
    jvp(lambda x: (), (x3,), (x3,))


def jvp_has_aux(jvp, x3, show):
    show(jvp(lambda x: (x * 2, x * 3), (x3,), (x3,), has_aux=True))


def jvp_has_aux_without_aux(jvp, x3):
    jvp(lambda x: x * 2, (x3,), (x3,), has_aux=True)


def jvp_has_aux_with_a_number(jvp, x3):
    jvp(lambda x: (x * 2, 3), (x3,), (x3,), has_aux=True)


def jvp_of_dicts(jvp, x3, show):
    show(jvp(lambda d: {"o": d["a"] * d["b"]}, ({"a": x3, "b": x3},), ({"a": x3, "b": x3},)))


def jvp_of_jvp(jvp, x3, show):
    show(jvp(lambda x: jvp(lambda y: y**3, (x,), (x3,))[1], (x3,), (x3,)))


@own("nodes")
def jvp_of_tracked_input(jvp, x3, show):
    a = x3.clone().requires_grad_()
    out, tangent = jvp(lambda x: x**2, (a,), (x3,))
    show(out, tangent)


def jvp_in_place_on_the_argument(jvp, x3, show):
    a = x3.clone()
    show(jvp(lambda x: x.mul_(2) * x, (a,), (x3,)))
    show(a)


def jvp_in_place_on_a_tensor_outside(torch, jvp, f64, x3, show):
    y = torch.zeros(3, dtype=f64)

    def f(x):
        y.add_(x)
        return y * 1

    show(jvp(f, (x3,), (x3,)))
    show(y)


def jvp_under_no_grad(torch, jvp, x3, show):
    with torch.no_grad():
        show(jvp(lambda x: x**2, (x3,), (x3,)))


def no_grad_inside_jvp(torch, jvp, x3, show):
    def f(x):
        with torch.no_grad():
            return x**2

    show(jvp(f, (x3,), (x3,)))


def fw_ad_switched_off_around_jvp(fwAD, jvp, x3, show):
    with fwAD._set_fwd_grad_enabled(False):
        show(jvp(lambda x: x**2, (x3,), (x3,)))


def fw_ad_switched_off_inside_jvp(fwAD, jvp, x3, show):
    def f(x):
        with fwAD._set_fwd_grad_enabled(False):
            return x**2

    show(jvp(f, (x3,), (x3,)))


def detach_inside_jvp(jvp, x3, show):
    show(jvp(lambda x: x.detach() * x, (x3,), (x3,)))
