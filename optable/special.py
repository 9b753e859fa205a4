"""Special functions beyond those of the family pointwise: Bessel's and Airy's functions, and orthogonal polynomials."""

from __future__ import annotations

from . import camel, op, pointwise
from .facts import DEGREE
from .samples import BROADCAST_ERROR, E, I, S, T, binary, unary

DOUBLE = ("f32", "f64")

# ---- Bessel's and Airy's functions ----

for name, expr, low, formula, words, like in (
    ("airy_ai", "airy_ai_(x)", -2, "grad * ops::_airy_ai_slope(self)", "Airy's function Ai", ""),
    ("bessel_j0", "bessel_j0_(x)", -3, "-(grad * ops::special_bessel_j1(self))", "Bessel function of the first kind of order 0", "j0"),
    (
        "bessel_j1",
        "bessel_j1_(x)",
        -3,
        "first_order_backward(grad, self, ops::special_bessel_j0(self), result, -1)",
        "Bessel function of the first kind of order 1",
        "j1",
    ),
    ("bessel_y0", "bessel_y0_(x)", 0.3, "-(grad * ops::special_bessel_y1(self))", "Bessel function of the second kind of order 0", "y0"),
    (
        "bessel_y1",
        "bessel_y1_(x)",
        0.3,
        "grad * (ops::special_bessel_y0(self) - result / self)",
        "Bessel function of the second kind of order 1",
        "y1",
    ),
    (
        "modified_bessel_i0",
        "i0_(x)",
        -3,
        "grad * ops::special_modified_bessel_i1(self)",
        "Modified Bessel function of the first kind of order 0",
        "i0",
    ),
    (
        "modified_bessel_i1",
        "i1_(x)",
        -3,
        "first_order_backward(grad, self, ops::special_modified_bessel_i0(self), result, 1)",
        "Modified Bessel function of the first kind of order 1",
        "i1",
    ),
    (
        "modified_bessel_k0",
        "bessel_k0_(x)",
        0.3,
        "-(grad * ops::special_modified_bessel_k1(self))",
        "Modified Bessel function of the second kind of order 0",
        "k0",
    ),
    (
        "modified_bessel_k1",
        "bessel_k1_(x)",
        0.3,
        "-(grad * (ops::special_modified_bessel_k0(self) + result / self))",
        "Modified Bessel function of the second kind of order 1",
        "k1",
    ),
    (
        "scaled_modified_bessel_k0",
        "scaled_bessel_k0_(x)",
        0.3,
        "grad * (result - ops::special_scaled_modified_bessel_k1(self))",
        "special.modified_bessel_k0 times exp(x)",
        "k0e",
    ),
    (
        "scaled_modified_bessel_k1",
        "scaled_bessel_k1_(x)",
        0.3,
        "grad * (result - ops::special_scaled_modified_bessel_k0(self) - result / self)",
        "special.modified_bessel_k1 times exp(x)",
        "k1e",
    ),
):
    op(
        f"special_{name}(Tensor self) -> Tensor",
        variants="function out",
        kernel=pointwise(expr, dtypes=DOUBLE, out="float", cost=50, label=name, lanes=name.startswith(("bessel", "modified_bessel_i"))),
        grad={"self": formula},
        jvp="elementwise",
        home="special",
        doc=f"{words}.",
        samples=unary(low=low, high=3) + unary(low=7, high=12)[:2] + [S(I(3, low=1))],
        special=(0.0, 1.0, 2.0, 40.0),
        reference=f"scipy.special.{like}" if like else None,
    )
op(
    "_airy_ai_slope(Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("airy_ai_slope_(x)", dtypes=DOUBLE, out="float", cost=150),
    grad={"self": "grad * (self * ops::special_airy_ai(self))"},
    jvp="elementwise",
    doc="Derivative of special.airy_ai.",
)
op(
    "special_spherical_bessel_j0(Tensor self) -> Tensor",
    variants="function out",
    kernel=pointwise(
        "x == 0 ? T(1) : sin_(x) / x",
        dtypes=DOUBLE,
        out="float",
        cost=16,
        label="spherical_bessel_j0",
        rare=("abs_(x) > trig_bound<T>()", "is_inf(x) ? T(0) : std::sin(x) / x"),
    ),
    grad={"self": "ops::_sinc_backward(grad, self * 0.3183098861837907) * 0.3183098861837907"},
    jvp="elementwise",
    home="special",
    doc="Spherical Bessel function of order 0, sin(x) / x.",
    samples=unary(low=-4, high=4) + unary(low=7, high=12)[:2] + [S(I(3))],
    special=(0.0, 1e6, 1e22),
)

# ---- orthogonal polynomials: the degree is the integer part of n, and there are none of negative degree ----

for name, expr, formula, words in (
    ("chebyshev_polynomial_t", "chebyshev_t({}, y)", "chebyshev_t_backward({})", "Chebyshev polynomial of the first kind"),
    ("chebyshev_polynomial_u", "chebyshev_u({}, y)", "chebyshev_u_backward({})", "Chebyshev polynomial of the second kind"),
    ("chebyshev_polynomial_v", "chebyshev_v({}, y)", "chebyshev_vw_backward({}, -1)", "Chebyshev polynomial of the third kind"),
    ("chebyshev_polynomial_w", "chebyshev_w({}, y)", "chebyshev_vw_backward({}, 1)", "Chebyshev polynomial of the fourth kind"),
    ("hermite_polynomial_h", "hermite_h(x, y)", "hermite_h_backward(grad, x, n)", "Hermite polynomial of the physicists"),
    ("hermite_polynomial_he", "hermite_he(x, y)", "hermite_he_backward(grad, x, n)", "Hermite polynomial of the statisticians"),
    ("laguerre_polynomial_l", "laguerre_l(x, y, 0)", "laguerre_backward(grad, x, n)", "Laguerre polynomial"),
    ("legendre_polynomial_p", "legendre_p(x, y)", "legendre_backward(grad, x, n)", "Legendre polynomial"),
):
    for shifted in (False, True) if "{}" in expr else (False,):
        full = f"special_{'shifted_' * shifted}{name}"
        of = "2 * x - 1" if shifted else "x"
        arguments = "grad * 2, x * 2 - 1, n" if shifted else "grad, x, n"
        low, high = (0.05, 1.3) if shifted else (-1.3, 1.3)
        for overload, first, second in (("", "Tensor", "Tensor"), (".x_scalar", "Operand", "Tensor"), (".n_scalar", "Tensor", "Operand")):
            samples = {
                "": [S(s.args[0], I(*s.args[1].shape, high=6)) for s in binary(low=low, high=high)]
                + [
                    S(T(9, low=low, high=high), I(9, low=30, high=40)),
                    S(T(3, low=low, high=high), T(3, grad=False, values=(2.5, -1.0, 0.5))),
                    S(I(3), I(3)),
                ],
                ".x_scalar": [S(0.3, I(3, 4, high=6)), S(2, I(high=5)), S(0.5, I(0))],
                ".n_scalar": [s for n in (0, 1, 2, 5, 2.7, -1) for s in unary(low=low, high=high, n=n)[:3]] + [S(I(3), 3)],
            }[overload]
            op(
                f"{full}{overload}({first} x, {second} n) -> Tensor",
                variants="function out",
                kernel=pointwise(expr.format(of), dtypes=DOUBLE, out="float", cost=30, label=full.removeprefix("special_"), lanes=True),
                **(
                    {"no_grad": DEGREE}
                    if overload == ".x_scalar"
                    else {
                        "grad": {"x": formula.format(arguments)},
                        "node": f"{camel(full)}Backward{int(bool(overload))}",
                        "nondiff": ("n",),
                        "jvp": "elementwise",
                    }
                ),
                home="special",
                doc=f"{words}, of degree n{', of 2 x - 1' * shifted}.",
                samples=samples,
                errors=(BROADCAST_ERROR, E(S(0.5, 2), TypeError, "received an invalid combination of arguments")) if not overload else (),
            )
for name, expr, formula, words in (
    ("_gegenbauer", "gegenbauer_c(x, y, order)", "grad * ops::_gegenbauer(x, n - 1, order + 1) * (2 * order)", "Gegenbauer polynomial"),
    ("_laguerre", "laguerre_l(x, y, order)", "-(grad * ops::_laguerre(x, n - 1, order + 1))", "Associated Laguerre polynomial"),
):
    op(
        f"{name}(Tensor x, Tensor n, float order) -> Tensor",
        variants="internal",
        kernel=pointwise(expr, dtypes=DOUBLE, out="float", params=("order",), cost=30, lanes=True),
        grad={"x": formula},
        nondiff=("n",),
        jvp="elementwise",
        doc=f"{words}, which the derivatives of others are.",
    )
