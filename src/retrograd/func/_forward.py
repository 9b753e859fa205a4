"""jvp and what is made of it: forward mode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._arguments import (
    Argnums,
    check_aux,
    check_inputs,
    check_real,
    entered,
    map_tensors,
    output_tensors,
    picked,
    released,
    split_aux,
    tracked_below,
    tracked_outside,
    wrap_argnums,
)
from retrograd.func._reverse import _backward, _zeros, basis, jacrev
from retrograd.func._vmap import vmap
from retrograd.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

_ops = _C._ops
_API = "jvp(f, primals, tangents)"


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """(func(*primals), the Jacobian times `tangents`), in one run of the function.

    Args:
        primals: a tuple of arguments.
        tangents: the direction to move them in, of the same structure.
        strict: an output that does not depend on the inputs is an error instead of zeros.
        has_aux: `func` returns (output, anything else); returns (output, product, the rest).

    Example::

        >>> x = retrograd.tensor([1.0, 2.0])
        >>> retrograd.func.jvp(lambda x: x**2, (x,), (retrograd.ones(2),))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    return jvp_with_argnums(func, primals, tangents, None, strict, has_aux)


def jvp_with_argnums(func: Callable[..., Any], primals: Any, tangents: Any, argnums: Argnums | None, strict: bool, has_aux: bool) -> Any:
    """jvp with respect to some of the primals."""
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_API}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    leaves, spec = tree_flatten(primals if argnums is None else picked(primals, argnums))
    vectors, vector_spec = tree_flatten(tangents)
    if spec != vector_spec:
        raise RuntimeError(
            f"{_API}: Expected primals and tangents to have the same python structure. Got primals with structure {spec} and tangents "
            f"with structure {vector_spec}"
        )
    _check_tensors(leaves, "primals")
    _check_tensors(vectors, "tangents")
    for leaf in leaves:
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise ValueError(f"Expected primal to be floating point or complex, but got: {leaf.dtype}")
    for vector in vectors:
        if not (vector.is_floating_point() or vector.is_complex()):
            raise ValueError(f"Expected tangent to be floating point or complex, but got: {vector.dtype}")
    with _C._ForwardTransform():
        return _pushed(func, primals, leaves, vectors, spec, argnums, strict, has_aux)


def _pushed(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    leaves: Sequence[Tensor],
    vectors: Sequence[Tensor],
    spec: TreeSpec,
    argnums: Argnums | None,
    strict: bool,
    has_aux: bool,
) -> Any:
    level = _C._enter_dual_level()
    try:
        duals = tree_unflatten([_C._make_dual(_C._entered(p), t, level) for p, t in zip(leaves, vectors, strict=True)], spec)
        output = func(*(duals if argnums is None else entered(primals, argnums, duals)))
        aux = None
        if has_aux:
            output, aux = split_aux(output, _API)
            check_aux(aux)
            aux = map_tensors(lambda t: _C._unpack_dual(t, level)[0], aux)
        outputs, output_spec = output_tensors(output, _API)
        pairs = [_unpacked(t, level, strict) for t in outputs]
    finally:
        _C._exit_dual_level(level)
    results = tuple([tree_unflatten([p[i] for p in pairs], output_spec) for i in (0, 1)])
    return (*results, aux) if has_aux else results


def _check_tensors(leaves: Sequence[Any], name: str) -> None:
    if not leaves:
        raise RuntimeError(f"{_API}: Expected {name} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{_API}: Expected {name} to only contain Tensors, got {type(leaf)}")


def _unpacked(tensor: Tensor, level: int, strict: bool) -> tuple[Tensor, Tensor]:
    primal, tangent = _C._unpack_dual(tensor, level)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. Pass strict=False for a tangent "
                "of zeros."
            )
        tangent = _zeros(primal)
    return primal, tangent


# -- Jacobians ------------------------------------------------------------------------------------


def jacfwd(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error") -> Callable[..., Any]:
    """The function that computes the Jacobian of `func` by forward mode: a column for each element of the input, all at once.

    Args:
        argnums: with respect to which argument, or arguments.
        has_aux: `func` returns (output, anything else); the new function returns (Jacobian, the rest).
        randomness: what random ops in `func` do, as in `vmap`.

    Returns:
        As `jacrev` does.

    Example::

        >>> retrograd.func.jacfwd(lambda x: x**2)(retrograd.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        inner = functools.partial(func, **kwargs) if kwargs else func
        numbers = wrap_argnums(argnums, len(args))
        inputs, input_spec = tree_flatten(picked(args, numbers))
        for leaf in inputs:
            if not isinstance(leaf, Tensor):
                raise ValueError(f"jacfwd: Expected all inputs to be Tensors, got {type(leaf)}")
        check_real("jacfwd", "inputs", inputs)
        sizes = [i.numel() for i in inputs]
        found: list[Any] = []

        def push(*tangents: Tensor) -> list[Tensor]:
            result = jvp_with_argnums(inner, args, tree_unflatten(tangents, input_spec), numbers, False, has_aux)
            leaves, spec = tree_flatten(result[1])
            aux, aux_spec = tree_flatten(result[2] if has_aux else ())
            check_real("jacfwd", "outputs", leaves)
            found[:] = [spec, len(leaves), aux_spec]
            return [*leaves, *aux]

        if sum(sizes):
            columns = vmap(push, randomness=randomness)(*basis(inputs, sizes))
        else:
            columns = [c.new_zeros((0, *c.shape)) for c in push(*[_zeros(i) for i in inputs])]
        spec, count, aux_spec = found
        blocks = [tree_unflatten(_blocks(column, sizes, inputs), input_spec) for column in columns[:count]]
        jacobian = tree_unflatten(blocks, spec)
        return (jacobian, tree_unflatten([a[0] for a in columns[count:]], aux_spec)) if has_aux else jacobian

    return wrapper


def _blocks(column: Tensor, sizes: list[int], inputs: list[Tensor]) -> list[Tensor]:
    """From (elements of all inputs, *output) to (*output, *input) for each input."""
    shape = column.shape[1:]
    return [part.movedim(0, -1).reshape((*shape, *i.shape)) for part, i in zip(column.split(sizes), inputs, strict=True)]


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that computes the Hessian of `func`: forward mode over reverse mode.

    Example::

        >>> retrograd.func.hessian(lambda x: (x**3).sum())(retrograd.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


# -- linearize ------------------------------------------------------------------------------------


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """(func(*primals), the function that multiplies its Jacobian there by tangents).

    The function is run once. Its derivative is kept as a graph, by differentiating v' J with respect to v, and every call of the second
    result goes through that graph again: cheaper than `jvp` when many directions are wanted.

    Example::

        >>> output, jvp_fn = retrograd.func.linearize(lambda x: x**2, retrograd.tensor([1.0, 2.0]))
        >>> jvp_fn(retrograd.ones(2))
        tensor([2., 4.])
    """
    outside = _C.is_grad_enabled()
    leaves, spec = tree_flatten(primals)
    check_inputs(leaves)
    with _C._ReverseTransform():
        own = [_C._fresh_leaf(leaf) for leaf in leaves]
        outputs, output_spec = output_tensors(func(*tree_unflatten(own, spec)), "linearize(f, *primals)")
    followed = tracked_outside(outputs, own)
    with _C._ReverseTransform():
        weights = [_C._fresh_leaf(_zeros(o)) if o.is_floating_point() or o.is_complex() else None for o in outputs]
        rows = [(o, w) for o, w in zip(outputs, weights, strict=True) if w is not None]
        transposed = _backward([o for o, _ in rows], [w for _, w in rows], own, create_graph=True, retain_graph=True)
    shown = tree_unflatten([released(o, own, outside and followed) for o in outputs], output_spec)

    def jvp_fn(*tangents: Any) -> Any:
        vectors = _tangents_like(tangents, leaves, spec)
        keep = _C.is_grad_enabled() and (followed or any(v.requires_grad or tracked_below(v) for v in vectors))
        mine = [*own, *(w for w in weights if w is not None)]
        with _C._ReverseTransform():
            inputs = [w for w in weights if w is not None]
            products = iter(_backward(transposed, vectors, inputs, create_graph=keep, retain_graph=True))
        results = [_zeros(o) if w is None else released(next(products), mine, keep) for o, w in zip(outputs, weights, strict=True)]
        return tree_unflatten(results, output_spec)

    return shown, jvp_fn


def _tangents_like(tangents: tuple[Any, ...], leaves: list[Tensor], spec: TreeSpec) -> list[Tensor]:
    vectors, given = tree_flatten(tangents)
    if given != spec:
        raise RuntimeError(f"Expected the tangents {given} to have the same argspec as the primals {spec}")
    for i, (vector, leaf) in enumerate(zip(vectors, leaves, strict=True)):
        for what in ("shape", "device", "dtype"):
            if getattr(vector, what) != getattr(leaf, what):
                raise RuntimeError(
                    f"tangent:{i} with {what} {getattr(vector, what)} in flattened pytree doesn't match the {what} {getattr(leaf, what)} of "
                    "the corresponding primal."
                )
    return vectors
