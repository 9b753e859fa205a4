"""Memory by line, module and purpose; plans that keep a step within a budget."""

from __future__ import annotations

import functools
import gc

import pytest

import retrograd as torch
from retrograd import doctor, nn
from retrograd.doctor._checkpoint_plan import Plan, _candidates, bytes_of, plan
from retrograd.doctor._timeline import Recording, Timeline
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


class Residual(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.first, self.norm = nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.second, self.last = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.short = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return torch.relu(self.last(self.second(torch.relu(self.norm(self.first(x))))) + self.short(x))


class Flat(nn.Module):
    """Whose large modules are in no list."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.end = Residual(3, 8, 1), Residual(8, 8, 1), Residual(8, 16, 2), nn.Linear(16, 4)

    def forward(self, x):
        return self.end(self.c(self.b(self.a(x))).mean((2, 3)))


def convolutions(channels, out):
    return nn.Sequential(
        nn.Conv2d(channels, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(), nn.Conv2d(out, out, 3, padding=1), nn.ReLU()
    )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([convolutions(3, 8), convolutions(8, 16)])
        self.middle = convolutions(16, 32)
        self.widen = nn.ModuleList([nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)])
        self.up = nn.ModuleList([convolutions(32, 16), convolutions(16, 8)])

    def forward(self, x):
        skips = []  # held to the end, used or not
        for down in self.down:
            x = down(x)
            skips.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.middle(x)
        for widen, up, skip in zip(self.widen, self.up, reversed(skips), strict=True):
            x = up(torch.cat([widen(x), skip], 1))
        return x


class Language(nn.Module):
    """Writes with the matrix that it reads with."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(100, 32), nn.Embedding(32, 32)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True) for _ in range(3))
        self.head = nn.Linear(32, 100, bias=False)
        self.head.weight = self.words.weight

    def forward(self, numbers):
        x = self.words(numbers) + self.places(torch.arange(numbers.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(x).log_softmax(-1)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(*(nn.Sequential(nn.Linear(32, 32), nn.Dropout(0.1), nn.Linear(32, 32), nn.Tanh()) for _ in range(4)))
        self.policy, self.value = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8)), nn.Linear(32, 1)

    def forward(self, x):
        x = self.trunk(x)
        return torch.cat([self.policy(x), self.value(x)], 1)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.reader = nn.Embedding(100, 24), nn.LSTM(24, 32, batch_first=True)
        self.head = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, numbers):
        return self.head(self.reader(self.words(numbers))[0])


def _models():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
    code = [nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.ReLU()]
    return {
        "blocks": (nn.Sequential(*(Block(64) for _ in range(6))), torch.randn(256, 64)),
        "transformer": (nn.TransformerEncoder(layer, 4), torch.randn(8, 32, 32)),
        "convolutions": (nn.Sequential(*(convolutions(8, 8) for _ in range(5))), torch.randn(8, 8, 24, 24)),
        "residual": (
            nn.Sequential(Residual(3, 8, 1), Residual(8, 8, 1), Residual(8, 16, 2), Residual(16, 16, 1)),
            torch.randn(4, 3, 24, 24),
        ),
        "flat": (Flat(), torch.randn(4, 3, 24, 24)),
        "u-net": (UNet(), torch.randn(4, 3, 32, 32)),
        "language": (Language(), torch.randint(100, (8, 32))),
        "two heads": (TwoHeads(), torch.randn(256, 32)),
        "autoencoder": (nn.Sequential(nn.Sequential(*code[:4]), nn.Sequential(*code[4:]), nn.Conv2d(8, 1, 1)), torch.randn(8, 1, 28, 28)),
        "reader": (Reader(), torch.randint(100, (16, 24))),
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


def peak_of(step):
    gc.collect()
    torch._C._reset_peak_memory_stats()
    step()
    return torch._C._memory_stats()["peak_allocated"]


@pytest.mark.parametrize("name", list(_models()))
@doctor_off
def test_a_plan_predicts_what_then_happens(name):
    model, x = _models()[name]

    def step():
        model.zero_grad()
        model(x).pow(2).mean().backward()

    step()
    whole = peak_of(step)
    least = plan(model, step, 0)
    assert least.measured_peak == pytest.approx(whole, rel=0.01)
    assert not least.fits
    assert f"which checkpoints cannot meet: {torch._memory._readable(least.peak)} is the least" in str(least)
    for share in (0.95, 0.8, 0.6, 0.4, 0.3):
        model.zero_grad()
        chosen = plan(model, step, int(share * whole)).apply()
        peak = peak_of(step)
        chosen.remove()
        assert chosen.peak == pytest.approx(peak, rel=0.01), chosen
        assert chosen.fits == (peak <= share * whole) == (least.peak <= share * whole)


@doctor_off
def test_a_module_is_checkpointed_wherever_it_is_called():
    block = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    model = nn.ModuleList([block, nn.Linear(64, 64)])
    x = torch.randn(128, 64)

    def step():
        model.zero_grad()
        with torch.no_grad():
            weight = block(x).abs().mean()
        for _ in range(2):
            (model[1](block(block(block(x)))).pow(2).mean() * weight).backward()

    whole = peak_of(step)
    chosen = plan(model, step, int(0.8 * whole)).apply()
    assert chosen.modules == ["0"]
    assert chosen.fits
    assert chosen.peak == pytest.approx(peak_of(step), rel=0.01)
    chosen.remove()


@pytest.mark.parametrize("name", ["u-net", "language", "residual"])
@doctor_off
def test_the_timeline_of_a_step_tells_the_peak_with_any_blocks_checkpointed(name):
    model, x = _models()[name]

    def step():
        model.zero_grad()
        result = model(x)  # a variable holds it during backward
        result.pow(2).mean().backward()

    step()
    with Recording(model) as recording:
        step()
    for calls in _candidates(model, recording.calls):
        timeline = Timeline(recording, calls, torch._C._memory_of(torch.get_rng_state())[1])
        for _ in range(8):
            some = {i for i in range(len(calls)) if torch.rand(()) < 0.5}
            chosen = Plan({calls[i].path: model.get_submodule(calls[i].path) for i in some}, 0, 0, 0).apply()
            peak = peak_of(step)
            chosen.remove()
            assert timeline.peak(some).bytes == pytest.approx(peak, rel=0.01), [calls[i].path for i in some]


@doctor_off
def test_what_planning_keeps_aside_does_not_count():
    model = nn.Sequential(*(nn.Sequential(nn.Linear(256, 256), nn.BatchNorm1d(256), nn.Tanh()) for _ in range(4)))
    x = torch.randn(64, 256)

    def step():
        model.zero_grad()
        model(x).mean().backward()

    whole = peak_of(step)  # leaves gradients
    torch.reset_peak_memory_stats()
    before = torch.max_memory_allocated()
    assert auto(model, x, budget=2 * whole).peak == pytest.approx(whole, rel=0.01)
    assert torch.max_memory_allocated() >= before


@doctor_off
def test_a_plan_of_a_model_that_has_nothing_to_checkpoint():
    found = auto(nn.Linear(8, 8), torch.ones(4, 8), budget=1)
    assert not found.fits
    assert found.modules == []


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
