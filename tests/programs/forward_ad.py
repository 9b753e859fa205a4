"""Forward mode: levels and dual tensors."""

from tests.programs import differs, own


def a_dual_tensor(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3 * 2)
        show(fwAD.unpack_dual(d), fwAD.unpack_dual(d * d))


def named_tuple(fwAD, x3, show):
    with fwAD.dual_level():
        u = fwAD.unpack_dual(fwAD.make_dual(x3, x3))
        show(type(u).__name__, u._fields, u.primal, u.tangent)


def make_dual_without_a_level(fwAD, x3):
    fwAD.make_dual(x3, x3)


def unpack_dual_without_a_level(fwAD, x3, show):
    show(fwAD.unpack_dual(x3))


def unpack_dual_with_a_level_that_is_not_there(fwAD, x3, show):
    show(fwAD.unpack_dual(x3, level=0))


def unpack_dual_of_a_plain_tensor(fwAD, x3, show):
    with fwAD.dual_level():
        show(fwAD.unpack_dual(x3))


@own("words")
def unpack_dual_of_something_else(fwAD):
    with fwAD.dual_level():
        fwAD.unpack_dual(3)


def make_dual_of_something_else(fwAD, x3):
    with fwAD.dual_level():
        fwAD.make_dual(3, x3)


def make_dual_with_a_number_as_tangent(fwAD, x3):
    with fwAD.dual_level():
        fwAD.make_dual(x3, 3.0)


def make_dual_of_integers(torch, fwAD):
    with fwAD.dual_level():
        fwAD.make_dual(torch.tensor([1, 2]), torch.tensor([1.0, 2.0]))


def make_dual_of_bools(torch, fwAD):
    with fwAD.dual_level():
        fwAD.make_dual(torch.tensor([True]), torch.tensor([1.0]))


def make_dual_with_integer_tangent(torch, fwAD):
    with fwAD.dual_level():
        fwAD.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1, 2]))


def make_dual_with_another_size(torch, fwAD, f64, x3):
    with fwAD.dual_level():
        fwAD.make_dual(x3, torch.ones(2, dtype=f64))


def make_dual_with_a_size_that_broadcasts(torch, fwAD, f64, x3):
    with fwAD.dual_level():
        fwAD.make_dual(x3, torch.ones(1, dtype=f64))


@differs("a tangent has the dtype of its tensor")
def make_dual_with_another_dtype(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3.float())
        show(fwAD.unpack_dual(d), fwAD.unpack_dual(d * 2))


def make_dual_twice(fwAD, x3):
    with fwAD.dual_level():
        fwAD.make_dual(fwAD.make_dual(x3, x3), x3)


def make_dual_of_an_op_on_a_dual(fwAD, x3):
    with fwAD.dual_level():
        fwAD.make_dual(fwAD.make_dual(x3, x3) * 2, x3)


def make_dual_with_a_dual_tangent(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, fwAD.make_dual(x3, x3))
        show(fwAD.unpack_dual(d))


def make_dual_of_a_level_that_is_not_there(fwAD, x3):
    with fwAD.dual_level():
        fwAD.make_dual(x3, x3, level=2)


def make_dual_of_the_level(fwAD, x3, show):
    with fwAD.dual_level() as level:
        show(level)
        d = fwAD.make_dual(x3, x3, level=level)
        show(fwAD.unpack_dual(d, level=level))


def nested_levels(fwAD):
    with fwAD.dual_level(), fwAD.dual_level():
        pass


def nested_levels_leave_the_outer_one_usable(fwAD, show):
    with fwAD.dual_level():
        try:
            fwAD.enter_dual_level()
        except RuntimeError as e:
            show(type(e))
        show(fwAD._current_level)
    show(fwAD._current_level)


def current_level(fwAD, show):
    show(fwAD._current_level)
    with fwAD.dual_level():
        show(fwAD._current_level)
    show(fwAD._current_level)


def enter_and_exit(fwAD, show):
    level = fwAD.enter_dual_level()
    show(level)
    fwAD.exit_dual_level(level=level)
    show(fwAD._current_level)


def exit_without_a_level(fwAD):
    fwAD.exit_dual_level()


def exit_another_level(fwAD):
    fwAD.enter_dual_level()
    try:
        fwAD.exit_dual_level(level=3)
    finally:
        fwAD.exit_dual_level()


def exit_by_position(fwAD):
    fwAD.enter_dual_level()
    try:
        fwAD.exit_dual_level(0)
    finally:
        fwAD.exit_dual_level()


def exit_after_an_exception(fwAD, show):
    try:
        with fwAD.dual_level():
            raise ValueError("mine")
    except ValueError:
        show(fwAD._current_level)


def tangents_are_gone_after_the_level(fwAD, x3, show):
    with fwAD.dual_level():
        d = fwAD.make_dual(x3, x3)
    show(fwAD.unpack_dual(d), d)
    with fwAD.dual_level():
        show(fwAD.unpack_dual(d))


def a_decorator(fwAD, x3, show):
    @fwAD.dual_level()
    def f(x):
        return fwAD.unpack_dual(fwAD.make_dual(x, x) ** 2).tangent

    show(f(x3))
