"""Random programs that write in place to dual tensors, their views and their tangents, on PyTorch and on retrograd: the tangents that were given
must hold the same afterwards."""

import random

import pytest

torch = pytest.importorskip("torch")

import retrograd  # noqa: E402

torch.set_num_threads(1)


def rounded(tensor):
    return None if tensor is None else [round(v, 6) for v in tensor.reshape(-1).tolist()]


def run(engine, seed):
    forward_ad, rng, steps = engine.autograd.forward_ad, random.Random(seed), []
    duals, tangents = [], []

    def fresh():
        memory = engine.linspace(0.5, 2.5, 12, dtype=engine.float64) * rng.choice([1.0, 0.7, 1.3])
        return rng.choice([lambda: memory, lambda: memory.view(3, 4), lambda: memory[2:8], lambda: memory.view(4, 3).t()])()

    def new_dual():
        value, tangent = fresh(), fresh()
        if tangent.shape != value.shape:
            tangent = value.clone() if rng.random() < 0.5 else value * 0 + 1
        shared = [t for t in tangents if t.shape == value.shape]
        if shared and rng.random() < 0.3:
            tangent = shared[0]
        tangents.append(tangent)
        duals.append(forward_ad.make_dual(value, tangent))

    def overlap(a, b):  # what such a write in place gives is PyTorch's own secret
        parts = [a, b, forward_ad.unpack_dual(a).tangent, forward_ad.unpack_dual(b).tangent]
        memories = [p.untyped_storage().data_ptr() for p in parts if p is not None]
        return len(set(memories)) < len(memories)

    def step(a, b):
        kind = rng.randrange(8)
        if kind == 0:
            new_dual()
        elif kind == 1:
            a.mul_(1.5)
        elif kind == 2:
            a.sin_()
        elif kind in (3, 4) and a.shape == b.shape and not overlap(a, b):
            a.mul_(b) if kind == 3 else a.copy_(b)
        elif kind == 5:
            duals.append(a[:2])
        elif kind == 6:
            duals.append(a.view(-1) if a.is_contiguous() else a.t() if a.dim() == 2 else a[1:])
        elif kind == 7:
            duals.append(a * b if a.shape == b.shape else a.exp())

    with forward_ad.dual_level():
        new_dual()
        for _ in range(rng.randint(3, 10)):
            a, b = rng.choice(duals), rng.choice(duals)
            try:
                step(a, b)
            except RuntimeError as error:
                steps.append(str(error)[:25])
            if rng.random() < 0.2:
                rng.choice(tangents).mul_(2)  # the caller's to write to
        pairs = [forward_ad.unpack_dual(d) for d in duals]
        return [steps, [(rounded(p.primal), rounded(p.tangent)) for p in pairs], [rounded(t) for t in tangents]]


@pytest.mark.parametrize("seed", range(150))
def test_tangents_hold_the_same(seed):
    assert run(retrograd, seed) == run(torch, seed)
