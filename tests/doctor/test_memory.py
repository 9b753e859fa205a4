"""Memory by line, module and purpose; plans that keep a step within a budget."""

from __future__ import annotations

import functools

import pytest

import retrograd as torch
from retrograd import doctor, nn
from retrograd.doctor._checkpoint_plan import bytes_of, plan
from retrograd.utils.checkpoint import auto


def doctor_off(test):
    """In a close look the doctor takes memory of its own."""

    @functools.wraps(test)
    def quietly(*args, **kwargs):
        with doctor.off():
            return test(*args, **kwargs)

    return quietly


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def _models():
    torch.manual_seed(0)
    conv = [nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()) for _ in range(5)]
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
    return {
        "blocks": (nn.Sequential(*(Block(64) for _ in range(6))), torch.randn(256, 64)),
        "transformer": (nn.TransformerEncoder(layer, 4), torch.randn(8, 32, 32)),
        "convolutions": (nn.Sequential(*conv), torch.randn(8, 8, 24, 24)),
    }


def test_no_byte_counts_twice_or_for_more_than_was_asked_for():
    before = doctor.memory().now
    kept = [torch.empty(n) for n in (432, 2880, 5000, 40_000)]  # which the allocator rounds up
    now = doctor.memory().now
    assert now.allocated - before.allocated == sum(now.kinds.values()) - sum(before.kinds.values()) == sum(4 * t.numel() for t in kept)


def test_an_optimizer_of_the_users_needs_no_state():
    class Descent:
        def __init__(self, params):
            self.param_groups = [{"params": list(params), "lr": 0.1}]

    model = nn.Linear(3, 2)
    optimizer = Descent(model.parameters())
    doctor.watch(model, optimizer)
    assert doctor.memory(model).now.kinds["parameters"] >= 32


@pytest.mark.parametrize("name", ["blocks", "transformer", "convolutions"])
def test_all_bytes_are_attributed_now_and_at_the_peak(name):
    before = doctor.memory().now
    left = before.allocated * (1 - before.attributed)  # by other tests of this process
    model, x = _models()[name]
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        with doctor.memory(model) as used:
            model(x).pow(2).mean().backward()
        optimizer.step()
    for snapshot in (used.now, used.peak, doctor.memory(model).now):
        assert snapshot.attributed + left / snapshot.allocated > 0.99, str(snapshot)
    assert used.peak.allocated > used.now.allocated
    assert used.peak.kinds["saved for backward"] > 0
    assert sum(used.peak.modules.values()) == sum(used.peak.lines.values()) == used.peak.kinds["saved for backward"]


def test_by_line_module_and_variable():
    model = nn.Sequential(nn.Linear(64, 256), nn.Tanh())
    x = torch.randn(1024, 64)
    with doctor.memory(model) as used:
        y = model(x)
    assert used.now.modules["1"] == 1024 * 256 * 4
    lines = {place.text: size for place, size in used.now.lines.items()}
    assert lines["y = model(x)"] >= 1024 * 256 * 4
    assert used.now.kinds["parameters"] >= sum(p.nbytes for p in model.parameters())
    assert "saved for backward, by line" in str(used)
    aside = torch.zeros(10_240)
    now = doctor.memory().now
    assert now.variables["aside"] == 40_960
    del y, aside


@pytest.mark.parametrize("name", ["blocks", "transformer", "convolutions"])
@pytest.mark.parametrize("share", [0.8, 0.6, 0.4])
@doctor_off
def test_a_plan_predicts_what_then_happens(name, share):
    model, x = _models()[name]

    def step():
        model.zero_grad()
        model(x).pow(2).mean().backward()

    step()
    whole = plan(model, step, 0).measured_peak
    chosen = plan(model, step, int(share * whole)).apply()
    model.zero_grad()
    torch._C._reset_peak_memory_stats()
    step()
    peak = torch._C._memory_stats()["peak_allocated"]
    chosen.remove()
    assert abs(chosen.peak / peak - 1) < 0.1, f"{chosen.peak} predicted, {peak} measured"
    if chosen.fits:
        assert peak <= 1.1 * share * whole


@doctor_off
def test_auto_changes_memory_and_nothing_else():
    model = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.1), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()) for _ in range(6)))
    x = torch.randn(512, 64)

    def step():
        torch.manual_seed(1)
        model.zero_grad()
        torch._C._reset_peak_memory_stats()
        loss = model(x).pow(2).mean()
        loss.backward()
        return loss.item(), [p.grad.clone() for p in model.parameters()], torch._C._memory_stats()["peak_allocated"]

    loss, gradients, peak = step()
    state = torch.get_rng_state()
    found = auto(model, x, budget=int(0.6 * peak))
    assert torch.equal(torch.get_rng_state(), state)
    assert found.modules
    assert "modules checkpointed" in str(found)
    again, same, less = step()
    assert again == loss
    assert all(torch.equal(a, b) for a, b in zip(gradients, same, strict=True))
    assert less <= 1.1 * found.peak
    assert less < 0.8 * peak
    found.remove()
    assert not any("forward" in vars(module) for module in model.modules())


def test_budgets():
    assert [bytes_of(b) for b in (12, "12", "1 KB", "1.5 KiB", "2mb", "1 GiB")] == [12, 12, 1000, 1536, 2_000_000, 2**30]
    with pytest.raises(ValueError, match="a budget is a number of bytes"):
        bytes_of("much")
