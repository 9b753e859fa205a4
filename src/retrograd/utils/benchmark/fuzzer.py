"""Fuzzer: random sizes and tensors to time something with. The draws are of this package's own generator, not those of PyTorch's."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import retrograd as torch
from retrograd import Tensor

_DISTRIBUTIONS = ("loguniform", "uniform")


class ParameterAlias:
    """In a distribution of values: the value of another parameter."""

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """A number that is drawn.

    Args:
        minval, maxval: the ends, both included.
        distribution: "uniform" or "loguniform" between them, or the probability of each value in a dict.
        strict: "uniform" and "loguniform" give numbers as they are where one of the ends is a float, and an error for values of a dict that do not sum up to 1.
    """

    def __init__(self, name: str, minval: Any = None, maxval: Any = None, distribution: Any = None, strict: bool = False) -> None:
        self._name, self._minval, self._maxval, self._distribution, self.strict = name, minval, maxval, distribution, strict
        if isinstance(distribution, dict):
            if minval is not None or maxval is not None:
                raise AssertionError("a distribution of values has no minval and maxval")
            total = sum(distribution.values())
            if (
                not distribution
                or any(p < 0 for p in distribution.values())
                or total <= 0
                or (strict and not math.isclose(total, 1.0, abs_tol=1e-3))
            ):
                raise AssertionError("Distribution is not normalized")
        elif distribution not in _DISTRIBUTIONS:
            raise AssertionError(f"Unknown distribution: {distribution}")
        elif minval is None or maxval is None or minval > maxval or (distribution == "loguniform" and minval <= 0):
            raise AssertionError(f"{name}: {distribution} needs minval <= maxval, and loguniform positive ones; got {minval} and {maxval}")

    @property
    def name(self) -> str:
        return self._name

    def sample(self, state: random.Random) -> Any:
        """A value, drawn from a generator with the methods of random.Random."""
        if isinstance(self._distribution, dict):
            return state.choices(list(self._distribution), list(self._distribution.values()))[0]
        low, high = self._minval, self._maxval
        whole = isinstance(low, int) and isinstance(high, int)
        if self._distribution == "uniform":
            return state.randint(low, high) if whole else state.uniform(low, high)
        drawn = math.exp(state.uniform(math.log(low), math.log(high)))
        return min(max(round(drawn), low), high) if whole else drawn


class FuzzedTensor:
    """A tensor whose sizes are drawn.

    Args:
        size: numbers, and names of parameters.
        steps: how far apart elements lie along each dimension; 1 everywhere if it is None.
        probability_contiguous: how often the dimensions lie in memory in their order.
        min_elements, max_elements, max_allocation_bytes: a draw outside is made again.
        dim_parameter: the parameter that says how many of the sizes are used. roll_parameter: one that says by how far they are rotated.
        tensor_constructor: called as (size, dtype, **parameters); the default gives normal numbers, or integers below 127.
    """

    def __init__(
        self,
        name: str,
        size: tuple[Any, ...],
        steps: tuple[Any, ...] | None = None,
        probability_contiguous: float = 0.5,
        min_elements: int | None = None,
        max_elements: int | None = None,
        max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None,
        roll_parameter: str | None = None,
        dtype: Any = torch.float32,
        cuda: bool = False,
        tensor_constructor: Callable[..., Tensor] | None = None,
    ) -> None:
        if cuda:
            raise RuntimeError("there is no CUDA device: FuzzedTensor(cuda=True)")
        self._name, self._size, self._steps, self._probability_contiguous = name, size, steps, probability_contiguous
        self._min_elements, self._max_elements, self._max_allocation_bytes = min_elements, max_elements, max_allocation_bytes
        self._dim_parameter, self._roll_parameter, self._dtype = dim_parameter, roll_parameter, dtype
        self._tensor_constructor = tensor_constructor or self.default_tensor_constructor

    @property
    def name(self) -> str:
        return self._name

    @staticmethod
    def default_tensor_constructor(size: Any, dtype: Any, **params: Any) -> Tensor:
        """Normal numbers; integers below 127."""
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(size=size, dtype=dtype)
        return torch.randint(1, 127, size=size, dtype=dtype)

    def _get_size_and_steps(self, params: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        dim = params[self._dim_parameter] if self._dim_parameter else len(self._size)

        def resolve(values: tuple[Any, ...]) -> list[int]:
            found = [params.get(value, value) for value in values][:dim]
            return found + [1] * (dim - len(found))

        size, steps = resolve(self._size), resolve(self._steps or ())
        if self._roll_parameter and dim:
            turn = params[self._roll_parameter] % dim
            size, steps = size[turn:] + size[:turn], steps[turn:] + steps[:turn]
        return tuple(size), tuple(steps), tuple(s * t for s, t in zip(size, steps, strict=True))

    def satisfies_constraints(self, params: dict[str, Any]) -> bool:
        """Whether a draw is within the limits."""
        size, _, allocated = self._get_size_and_steps(params)
        elements, size_in_bytes = math.prod(size), math.prod(allocated) * self._dtype.itemsize
        return not (
            (self._max_allocation_bytes and size_in_bytes > self._max_allocation_bytes)
            or (self._max_elements and elements > self._max_elements)
            or (self._min_elements and elements < self._min_elements)
        )

    def _make_tensor(self, params: dict[str, Any], state: random.Random) -> tuple[Tensor, dict[str, Any]]:
        size, steps, allocated = self._get_size_and_steps(params)
        dim = len(size)
        order = list(range(dim))
        if dim > 1 and state.random() > self._probability_contiguous:
            state.shuffle(order)
        raw = self._tensor_constructor([allocated[i] for i in order], self._dtype, **params)
        tensor = raw.permute(tuple(sorted(range(dim), key=order.__getitem__)))
        tensor = tensor[tuple(slice(0, size[i] * steps[i], steps[i]) for i in range(dim))]
        properties = {
            "numel": int(tensor.numel()),
            "order": order,
            "steps": list(steps),
            "is_contiguous": tensor.is_contiguous(),
            "dtype": str(self._dtype),
        }
        return tensor, properties


class FuzzedSparseTensor(FuzzedTensor):
    """A sparse tensor whose sizes are drawn; sparse_dim, nnz, density and coalesced name parameters."""

    def __init__(
        self,
        name: str,
        size: tuple[Any, ...],
        min_elements: int | None = None,
        max_elements: int | None = None,
        dim_parameter: str | None = None,
        sparse_dim: str | None = None,
        nnz: str | None = None,
        density: str | None = None,
        coalesced: str | None = None,
        dtype: Any = torch.float32,
        cuda: bool = False,
    ) -> None:
        super().__init__(
            name, size, min_elements=min_elements, max_elements=max_elements, dim_parameter=dim_parameter, dtype=dtype, cuda=cuda
        )
        self._sparse_dim, self._nnz, self._density, self._coalesced = sparse_dim, nnz, density, coalesced

    @staticmethod
    def sparse_tensor_constructor(size: Any, dtype: Any, sparse_dim: int, nnz: float, is_coalesced: bool) -> Tensor:
        """`nnz` elements, or that part of all places where it is less than 1."""
        places = math.prod(size[:sparse_dim])
        count = math.ceil(places * nnz) if nnz < 1 else int(nnz)
        values = FuzzedTensor.default_tensor_constructor([count, *size[sparse_dim:]], dtype)
        indices = torch.stack([torch.randint(0, n, (count,)) for n in size[:sparse_dim]])
        made = torch.sparse_coo_tensor(indices, values, tuple(size), is_coalesced=False)
        return made.coalesce() if is_coalesced else made

    def _make_tensor(self, params: dict[str, Any], state: random.Random) -> tuple[Tensor, dict[str, Any]]:
        size, _, _ = self._get_size_and_steps(params)
        nnz = params[self._nnz or self._density or ""]
        coalesced = bool(self._coalesced and params[self._coalesced])
        sparse_dim = min(params[self._sparse_dim] if self._sparse_dim else len(size), len(size))
        tensor = self.sparse_tensor_constructor(size, self._dtype, sparse_dim, nnz, coalesced)
        properties = {
            "numel": int(tensor.numel()),
            "shape": tensor.size(),
            "is_coalesced": tensor.is_coalesced(),
            "density": tensor._nnz() / max(math.prod(size[:sparse_dim]), 1),
            "sparsity": 1.0 - tensor._nnz() / max(math.prod(size[:sparse_dim]), 1),
            "sparse_dim": tensor.sparse_dim(),
            "dense_dim": tensor.dense_dim(),
            "is_hybrid": tensor.dense_dim() > 0,
            "dtype": str(self._dtype),
        }
        return tensor, properties


class Fuzzer:
    """Draws parameters and makes tensors of them, again until the constraints hold.

    Args:
        constraints: functions of the parameters, by name, that say whether a draw will do.
    """

    def __init__(
        self, parameters: Any, tensors: Any, constraints: list[Callable[..., bool]] | None = None, seed: int | None = None
    ) -> None:
        self._seed = random.randrange(2**32) if seed is None else seed
        self._parameters: list[FuzzedParameter] = _flat(parameters, FuzzedParameter)
        self._tensors: list[FuzzedTensor] = _flat(tensors, FuzzedTensor)
        self._constraints = constraints or []
        names = [p.name for p in self._parameters] + [t.name for t in self._tensors]
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"Parameter and tensor names overlap: {doubled}")
        self._drawn = self._refused = 0

    def take(self, n: int) -> Iterator[tuple[dict[str, Tensor], dict[str, dict[str, Any]], dict[str, Any]]]:
        """n times: tensors by name, what is known of each, and the parameters."""
        state = random.Random(self._seed)
        kept = torch.get_rng_state()
        torch.manual_seed(self._seed)
        drawing = torch.get_rng_state()
        torch.set_rng_state(kept)
        for _ in range(n):
            params = self._generate(state)
            kept = torch.get_rng_state()
            torch.set_rng_state(drawing)
            try:
                made = {t.name: t._make_tensor(params, state) for t in self._tensors}
            finally:
                drawing = torch.get_rng_state()
                torch.set_rng_state(kept)
            yield {name: tensor for name, (tensor, _) in made.items()}, {name: about for name, (_, about) in made.items()}, params

    @property
    def rejection_rate(self) -> float:
        """The part of draws that did not hold."""
        return self._refused / self._drawn if self._drawn else 0.0

    def _generate(self, state: random.Random) -> dict[str, Any]:
        for _ in range(1000):
            self._drawn += 1
            params = {p.name: p.sample(state) for p in self._parameters}
            for name in params:
                params[name] = self._resolve(params, name)
            if all(f(**params) for f in self._constraints) and all(t.satisfies_constraints(params) for t in self._tensors):
                return params
            self._refused += 1
        raise ValueError("Failed to generate a set of valid parameters.")

    @staticmethod
    def _resolve(params: dict[str, Any], name: str) -> Any:
        seen = [name]
        value = params[name]
        while isinstance(value, ParameterAlias):
            if value.alias_to in seen:
                raise ValueError(f"Cycle in alias definition\n{' -> '.join([*seen, value.alias_to])}")
            seen.append(value.alias_to)
            value = params[value.alias_to]
        return value


def _flat(values: Any, kind: type) -> list[Any]:
    found: list[Any] = []
    for value in values:
        found += [value] if isinstance(value, kind) else value
    return found
