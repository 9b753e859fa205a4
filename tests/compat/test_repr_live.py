"""repr(tensor) against the installed PyTorch's, on random tensors, dtypes and print options."""

import math
import random

import pytest

import retrograd

torch = pytest.importorskip("torch")

DTYPES = [
    *("float32", "float64", "float16", "bfloat16"),
    *("int64", "int32", "int16", "int8", "uint8", "bool"),
]
SIZES = [0, 1, 2, 3, 5, 8, 13, 40]
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0]


def random_number(rng, kind):
    if kind == "unit":
        return rng.random()
    if kind == "whole":
        return float(rng.randint(-2000, 2000))
    if kind == "wide":
        return rng.gauss(0, 1) * 10.0 ** rng.randint(-12, 12)
    if kind == "edge":
        return rng.choice([1e8, 1.0001e8, 1e-4, 0.99e-4, 1000.0, 1001.0, 1.0])
    return rng.gauss(0, 1)


def random_numbers(rng, count, dtype):
    if dtype == "bool":
        return [rng.random() < 0.5 for _ in range(count)]
    if "int" in dtype:
        info = retrograd.iinfo(getattr(retrograd, dtype))
        bound = 10 ** rng.randint(0, 18)
        return [rng.randint(max(info.min, -bound), min(info.max, bound)) for _ in range(count)]
    kind = rng.choice(["unit", "whole", "wide", "edge", "normal"])
    special = rng.choice([0.0, 0.0, 0.3, 1.0])
    return [rng.choice(SPECIAL) if rng.random() < special else random_number(rng, kind) for _ in range(count)]


def random_shape(rng):
    while True:
        shape = [rng.choice(SIZES) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4]))]
        if rng.random() < 0.8:
            shape = [max(1, size) for size in shape]
        if math.prod(shape) < 5000:
            return shape


def random_options(rng):
    if rng.random() < 0.5:
        return {"profile": "default"}
    return {
        "precision": rng.choice([None, 0, 1, 2, 6, 10]),
        "threshold": rng.choice([None, 0, 5, 50, 1000, math.inf]),
        "edgeitems": rng.choice([None, 0, 1, 2, 5]),
        "linewidth": rng.choice([None, 10, 40, 60, 81, 120, 200]),
        "profile": rng.choice([None, "short", "full", "default"]),
        "sci_mode": rng.choice([None, True, False]),
    }


def variation(rng, dtype):
    """A function that turns a tensor of either library into a more interesting one."""
    steps = []
    if rng.random() < 0.2:
        steps.append(lambda t: t.transpose(0, -1) if t.dim() > 1 else t)
    if rng.random() < 0.2:
        steps.append(lambda t: t.expand(3, *t.shape))
    if "float" in dtype and rng.random() < 0.3:
        steps.append(lambda t: t.detach().requires_grad_())
        if rng.random() < 0.6:
            steps.append(rng.choice([lambda t: t * 2, lambda t: t.sum(), lambda t: t.reshape(-1)]))

    def apply(t):
        for step in steps:
            t = step(t)
        return t

    return apply


@pytest.fixture(autouse=True)
def default_settings():
    yield
    for library in (torch, retrograd):
        library.set_printoptions(profile="default")
        library.set_default_dtype(library.float32)


@pytest.mark.parametrize("seed", range(20))
def test_same_text(seed):
    rng = random.Random(seed)
    for _ in range(100):
        dtype, shape, options = rng.choice(DTYPES), random_shape(rng), random_options(rng)
        numbers = random_numbers(rng, math.prod(shape), dtype)
        default = rng.choice(["float32", "float32", "float64", "float16"])
        vary = variation(rng, dtype)
        texts = []
        for library in (torch, retrograd):
            library.set_default_dtype(getattr(library, default))
            library.set_printoptions(profile="default")
            library.set_printoptions(**options)
            # By way of float64 or int64: one rounding, the same in both.
            wide = library.bool if dtype == "bool" else library.float64 if "float" in dtype else library.int64
            t = library.tensor(numbers, dtype=wide).reshape(shape).to(getattr(library, dtype))
            texts.append(repr(vary(t)))
        assert texts[0] == texts[1], (dtype, shape, options, default)
