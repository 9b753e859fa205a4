"""The names of torch.profiler: schedules as PyTorch's (the numbers are what it answers), blocks with names, and a refusal in words."""

import pytest

from retrograd import profiler
from retrograd.autograd.profiler import profile, record_function
from retrograd.utils.data.dataloader import _collate_fn_t, _worker_init_fn_t


@pytest.mark.parametrize(
    ("options", "actions"),
    [
        ({"wait": 1, "warmup": 1, "active": 2, "repeat": 2, "skip_first": 1}, [0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 0]),
        ({"wait": 2, "warmup": 1, "active": 2, "skip_first": 1, "skip_first_wait": 1}, [0, 1, 2, 3, 0, 0, 1, 2, 3, 0, 0, 1]),
        ({"wait": 2, "warmup": 1, "active": 2, "skip_first_wait": 2, "repeat": 1}, [1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ({"wait": 0, "warmup": 0, "active": 1}, [3] * 12),
    ],
)
def test_schedule(options, actions):
    action = profiler.schedule(**options)
    assert [action(step).value for step in range(12)] == actions


def test_a_schedule_that_makes_no_sense():
    with pytest.raises(AssertionError, match=r"Got wait=-1 \(need >= 0\)"):
        profiler.schedule(wait=-1, warmup=0, active=1)
    with pytest.raises(AssertionError, match="Step must be non-negative"):
        profiler.schedule(wait=0, warmup=1, active=1)(-1)


def test_a_named_block_runs():
    calls = []

    @record_function("decorated")
    def f():
        with profiler.record_function("block") as block:
            calls.append(block.name)
        return 3

    assert f() == 3 and calls == ["block"]
    with pytest.raises(KeyError), record_function("fails"):
        raise KeyError


def test_recording_is_refused_in_words():
    for kind in (profiler.profile, profile):
        with pytest.raises(NotImplementedError, match="not there yet"):
            kind()
    assert profiler.supported_activities() == {profiler.ProfilerActivity.CPU}


def test_names_that_libraries_annotate_with():
    assert _collate_fn_t.__args__ and _worker_init_fn_t.__args__
