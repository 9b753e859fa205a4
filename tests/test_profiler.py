"""Profiles: what is recorded of a step, when and of which threads; tables and traces. tests/compat/test_profiler_live.py compares with PyTorch."""

import gzip
import itertools
import json
import os
import re
import sys
import threading
import time

import pytest

import retrograd as torch
from retrograd import _C, nn, profiler
from retrograd.autograd.profiler import emit_itt, emit_nvtx, profile, record_function
from retrograd.autograd.profiler_util import EventList, FunctionEvent
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


# -- what is recorded -----------------------------------------------------------


def model_step():
    """A step of a small model, as a function, after one that was not recorded."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.randn(3, 4), torch.randn(3, 2)

    def step():
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    step()
    return step


def names(events):
    return [event.name for event in events]


def tree(event):
    return (event.name, [tree(child) for child in event.cpu_children])


def test_a_step():
    step = model_step()
    with profiler.profile() as recorded, record_function("train"):
        step()
    (train,) = [event for event in recorded.events() if event.cpu_parent is None]
    linear = ("aten::linear", [("aten::t", []), ("aten::addmm", [])])
    assert [tree(child) for child in train.cpu_children][:4] == [
        ("Optimizer.zero_grad#SGD.zero_grad", []),
        linear,
        ("aten::relu", []),
        linear,
    ]
    assert train.cpu_children[-1].name == "Optimizer.step#SGD.step"
    nodes = [event for event in train.cpu_children if event.name.startswith("autograd::engine::evaluate_function: ")]
    assert [event.name.partition(": ")[2] for event in nodes] == [
        "MseLossBackward0",
        "AddmmBackward0",
        "torch::autograd::AccumulateGrad",
        "TBackward0",
        "torch::autograd::AccumulateGrad",
        "ReluBackward0",
        "AddmmBackward0",
        "torch::autograd::AccumulateGrad",
        "TBackward0",
        "torch::autograd::AccumulateGrad",
    ]
    for event in nodes:
        assert event.cpu_children[0].name == event.name.partition(": ")[2]
        assert event.cpu_children[0].scope == 1 and event.scope == 0 and train.scope == 7


def test_forward_and_backward_know_each_other():
    step = model_step()
    with profiler.profile() as recorded:
        step()
    forward = {event.sequence_nr: event.name for event in recorded.events() if event.sequence_nr >= 0 and not event.fwd_thread}
    pairs = [(event.name, forward[event.sequence_nr]) for event in recorded.events() if event.scope == 1 and event.sequence_nr >= 0]
    assert pairs == [
        ("MseLossBackward0", "aten::mse_loss"),
        ("AddmmBackward0", "aten::addmm"),
        ("TBackward0", "aten::t"),
        ("ReluBackward0", "aten::relu"),
        ("AddmmBackward0", "aten::addmm"),
        ("TBackward0", "aten::t"),
    ]


def test_times_nest_and_add_up():
    step = model_step()
    with profiler.profile() as recorded, record_function("all"):
        step()
    events = recorded.events()
    for event in events:
        span = event.time_range
        assert span.start <= span.end and event.self_cpu_time_total >= -1e-6
        if event.cpu_parent is not None:
            assert event.cpu_parent.time_range.start <= span.start and span.end <= event.cpu_parent.time_range.end
            assert event in event.cpu_parent.cpu_children
    starts = [event.time_range.start for event in events]
    assert starts == sorted(starts)
    assert events.self_cpu_time_total == pytest.approx(events[0].cpu_time_total)
    averages = {row.key: row for row in events.key_averages()}
    assert averages["aten::linear"].count == 2 and averages["aten::linear"].cpu_time == averages["aten::linear"].cpu_time_total / 2
    assert sum(row.self_cpu_time_total for row in averages.values()) == pytest.approx(events[0].cpu_time_total)
    assert events.total_average().count == len(events)


def test_shapes_and_arguments():
    x = torch.randn(3, 4)
    with profiler.profile(record_shapes=True) as recorded:
        torch.cat([x, x]).sum(0)
        nn.functional.conv2d(torch.ones(1, 2, 5, 5), torch.ones(3, 2, 3, 3), stride=2)
    cat, total = recorded.events()[:2]
    assert (cat.name, cat.input_shapes, cat.concrete_inputs) == ("aten::cat", [[[3, 4], [3, 4]], []], [None, 0])
    assert total.input_shapes[0] == [6, 4] and total.concrete_inputs[1] == [0] and total.input_dtypes[0] == "float"
    conv = next(event for event in recorded.events() if event.name == "aten::conv2d")
    assert conv.concrete_inputs[3:] == [[2], [0], [1], 1]
    with profiler.profile() as recorded:
        x + x
    assert recorded.events()[0].input_shapes == []


def test_averages_by_shape():
    with profiler.profile(record_shapes=True) as recorded:
        for n in (3, 4, 4):
            torch.ones(n) + 1
    rows = [(row.key, row.count, row.input_shapes) for row in recorded.key_averages(group_by_input_shape=True) if row.key == "aten::add"]
    assert rows == [("aten::add", 1, [[3], [], []]), ("aten::add", 2, [[4], [], []])]
    assert [row.count for row in recorded.key_averages() if row.key == "aten::add"] == [3]


def test_memory():
    x = torch.zeros(1000)
    with profiler.profile(profile_memory=True) as recorded:
        y = x + 1
        with record_function("block"):
            z = y * 2
        del y
        z.neg_()
        del z
    assert [(event.name, event.cpu_memory_usage, event.self_cpu_memory_usage) for event in recorded.events()] == [
        ("aten::add", 4000, 4000),
        ("block", 4000, 0),
        ("aten::mul", 4000, 4000),
        ("[memory]", -4000, -4000),
        ("aten::neg_", 0, 0),
        ("[memory]", -4000, -4000),
    ]
    assert "Self CPU Mem" in recorded.key_averages().table() and "3.91 KB" in recorded.key_averages().table()


def test_flops():
    a = torch.ones(3, 4)
    with profiler.profile(with_flops=True) as recorded:
        a @ a.t()
        torch.addmm(torch.ones(3), a, a.t())
        a * a
        nn.functional.conv2d(torch.ones(1, 2, 5, 5), torch.ones(3, 2, 3, 3), stride=2)
        torch.bmm(a[None], a.t()[None])
    counts = {event.name: event.flops for event in recorded.events() if event.flops}
    assert counts == {"aten::mm": 72, "aten::addmm": 72, "aten::mul": 12, "aten::conv2d": 432, "aten::bmm": 72}
    weight = torch.ones(5, 4, requires_grad=True)
    loss = nn.functional.linear(a, weight).sum()
    with profiler.profile(with_flops=True) as recorded:
        loss.backward()
    assert [event.flops for event in recorded.events() if event.name == "aten::mm"] == [2 * 3 * 4 * 5]
    with profiler.profile(with_flops=True) as recorded, torch.no_grad():
        nn.functional.linear(a, weight, torch.ones(5))
    assert [event.flops for event in recorded.events() if event.name == "aten::addmm"] == [2 * 3 * 4 * 5]


def test_stacks_and_modules(tmp_path):
    layer = nn.Linear(4, 4)

    def inner():
        return layer(layer(torch.ones(2, 4)))

    with profiler.profile(with_stack=True) as recorded:
        inner()
    linear = [event for event in recorded.events() if event.name == "aten::linear"]
    assert "forward" in linear[0].stack[0] and linear[0].stack[1] == "nn.Module: Linear_0" and linear[1].stack[1] == "nn.Module: Linear_0"
    assert re.fullmatch(r".*test_profiler\.py\(\d+\): inner", linear[0].stack[2])
    assert re.fullmatch(r".*test_profiler\.py\(\d+\): test_stacks_and_modules", linear[0].stack[3])
    assert not any("retrograd/profiler" in name for name in names(recorded.events()))
    text = recorded.key_averages(group_by_stack_n=2).table()
    assert "Source Location" in text and "nn.Module: Linear_0" in text
    recorded.export_stacks(tmp_path / "stacks")
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert lines and all(re.fullmatch(r"\S+ \d+", line) for line in lines)

    with profiler.profile(with_modules=True) as recorded:
        nn.Sequential(layer, nn.Linear(4, 4), layer)(torch.ones(2, 4))
    called = [name for name in names(recorded.events()) if name.startswith("nn.Module")]
    assert called == ["nn.Module: Sequential_0", "nn.Module: Linear_0", "nn.Module: Linear_1", "nn.Module: Linear_0"]


def test_a_block_outlives_the_function_that_enters_it():
    with profiler.profile(with_stack=True) as recorded, record_function("block"):
        torch.ones(2)
    block, ones = (next(event for event in recorded.events() if event.name == name) for name in ("block", "aten::ones"))
    assert ones.cpu_parent is block


def test_a_profiler_of_python_is_back_after_ours():
    def other(*_):
        return None

    sys.setprofile(other)
    try:
        with profiler.profile(with_stack=True):
            torch.ones(1)
        assert sys.getprofile() is other
    finally:
        sys.setprofile(None)
    with profiler.profile(with_stack=True):
        torch.ones(1)
    assert sys.getprofile() is None


def test_overload_names():
    config = profiler._ExperimentalConfig(capture_overload_names=True)
    with profiler.profile(experimental_config=config) as recorded:
        torch.ones(2, 2).sum(0)
    assert recorded.events()[-1].overload_name == "dim"
    assert "Overload Name" in recorded.key_averages(group_by_overload_name=True).table()


# -- when and where -------------------------------------------------------------


def test_schedules():
    handed = []

    def ready(p):
        handed.append((p.step_num, [event.trace_name for event in p.events()]))

    with profiler.profile(schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready) as recorded:
        for _ in range(9):
            torch.ones(2)
            recorded.step()
    assert handed == [
        (4, ["ProfilerStep#2", "aten::ones", "ProfilerStep#3", "aten::ones"]),
        (8, ["ProfilerStep#6", "aten::ones", "ProfilerStep#7", "aten::ones"]),
    ]
    assert names(recorded.events()) == ["ProfilerStep*", "aten::ones"] * 2


def test_start_and_stop_by_hand():
    recorded = profiler.profile()
    with pytest.raises(AssertionError, match="must be initialized before accessing events"):
        recorded.events()
    with pytest.raises(AssertionError, match="must be initialized before exporting chrome trace"):
        recorded.export_chrome_trace("nowhere.json")
    recorded.start()
    torch.ones(1)
    recorded.stop()
    torch.zeros(1)
    assert names(recorded.events()) == ["aten::ones"]
    recorded.stop()  # a second time changes nothing
    with recorded:
        torch.zeros(1)
    assert names(recorded.events()) == ["aten::zeros"]
    both = profiler.profile(acc_events=True)
    for make in (torch.ones, torch.zeros):
        with both:
            make(1)
    assert names(both.events()) == ["aten::ones", "aten::zeros"]


def test_profiles_inside_each_other():
    with profiler.profile(record_shapes=True) as outer:
        torch.ones(1)
        with profile() as inner:
            torch.zeros(1)
        torch.full((1,), 2.0)
    assert names(inner.function_events) == ["aten::zeros"]
    assert names(outer.events()) == ["aten::ones", "aten::zeros", "aten::full"]
    with profile() as first:
        torch.ones(1)
        second = profile()
        second.__enter__()
        torch.zeros(1)
    torch.full((1,), 2.0)
    second.__exit__(None, None, None)
    assert names(first.function_events) == ["aten::ones", "aten::zeros"]
    assert names(second.function_events) == ["aten::zeros", "aten::full"]
    assert not _C._recording()


def test_an_exception_in_the_block():
    recorded = profiler.profile()
    with pytest.raises(RuntimeError, match="mat1 and mat2"), recorded, record_function("fails"):
        torch.ones(2, 3) @ torch.ones(2, 3)
    assert names(recorded.events())[:1] == ["fails"] and "aten::matmul" in names(recorded.events())
    assert not _C._recording()
    with recorded:
        torch.ones(1)
    assert names(recorded.events()) == ["aten::ones"] and recorded.events()[0].cpu_parent is None


def test_an_error_in_a_backward():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("no")

    with profiler.profile() as recorded:
        with pytest.raises(ValueError, match="no"):
            Fails.apply(torch.ones(1, requires_grad=True)).sum().backward()
        torch.zeros(1)
    assert "FailsBackward" in names(recorded.events()) and recorded.events()[-1].cpu_parent is None


def test_only_the_thread_that_asks_unless_all_are_wanted():
    def work():
        with record_function("in a thread"):
            torch.zeros(1)

    def run(**options):
        with profiler.profile(**options) as recorded:
            torch.ones(1)
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        return recorded.events()

    assert names(run()) == ["aten::ones"]
    events = run(experimental_config=profiler._ExperimentalConfig(profile_all_threads=True))
    assert names(events) == ["aten::ones", "in a thread", "aten::zeros"]
    assert events[0].thread != events[1].thread == events[2].thread
    assert threading.getprofile() is None


def test_two_threads_with_a_profile_each():
    found = {}

    def work(name, make):
        with profiler.profile() as recorded:
            for _ in range(200):
                make(3)
        found[name] = set(names(recorded.events())), len(recorded.events())

    threads = [threading.Thread(target=work, args=(n, m)) for n, m in (("a", torch.ones), ("b", torch.zeros))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"a": ({"aten::ones"}, 200), "b": ({"aten::zeros"}, 200)}


def test_a_block_that_another_thread_ends():
    with profiler.profile() as recorded:
        block = record_function("handed over")
        block.__enter__()
        thread = threading.Thread(target=block.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
        torch.ones(1)
    block, ones = recorded.events()
    assert block.is_async and block.self_cpu_time_total == 0 and ones.cpu_parent is None


def test_a_profile_that_ends_inside_an_op():
    recorded = profile()
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda grad: recorded.__exit__(None, None, None) or None)
    recorded.__enter__()
    (x * 2).sum().backward()
    assert "MulBackward0" in names(recorded.function_events) and not _C._recording()
    assert all(event.time_range.end >= event.time_range.start for event in recorded.function_events)


def test_nothing_changes_while_recorded():
    torch.manual_seed(0)
    x = torch.randn(4, 4, requires_grad=True)

    def run():
        torch.manual_seed(1)
        y = torch.utils.checkpoint.checkpoint(lambda v: nn.functional.dropout(v.sin(), 0.5).exp(), x, use_reentrant=False)
        (grad,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(grad.sum(), x)
        tangent = torch.func.jvp(torch.sin, (x.detach(),), (x.detach(),))[1]
        mapped = torch.vmap(lambda v: v.mul(2).add_(1))(x.detach())
        with torch.autocast("cpu", dtype=torch.bfloat16):
            product = x.detach() @ x.detach()
        return [t.tolist() for t in (y, grad, second, tangent, mapped, product)]

    plain = run()
    with profiler.profile(record_shapes=True, profile_memory=True, with_stack=True):
        watched = run()
    assert watched == plain


def test_an_op_is_one_event_whoever_looks_around():
    x = torch.ones(3, requires_grad=True)
    with profiler.profile() as recorded:
        with torch.autograd.forward_ad.dual_level():
            torch.autograd.forward_ad.make_dual(x, torch.ones(3)).sin()
        with torch.autograd.graph.save_on_cpu():
            x.exp()
            x @ x
        with torch.no_grad():
            x.neg_()
    found = names(recorded.events())
    assert [found.count(f"aten::{name}") for name in ("sin", "exp", "dot", "neg_")] == [1, 1, 1, 1]


def test_data_loaders():
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(4, 2)), batch_size=2)
    with profiler.profile() as recorded:
        list(loader)
    assert names(recorded.events()).count("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__") == 3


# -- tables and other things to read --------------------------------------------


def test_a_table():
    events = EventList(
        [FunctionEvent(1, "aten::add", 1, 0.0, 1500.0, stack=[]), FunctionEvent(2, "aten::mul", 1, 1500.0, 2000.0, stack=[])],
        profile_memory=True,
    )
    rule = "-------------  " + "------------  " * 8
    assert events.table(sort_by="cpu_time").splitlines() == [
        rule,
        "         Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg       CPU Mem  Self CPU Mem    # of Calls  ",
        rule,
        "    aten::add        75.00%       1.500ms        75.00%       1.500ms       1.500ms           0 B           0 B             1  ",
        "    aten::mul        25.00%     500.000us        25.00%     500.000us     500.000us           0 B           0 B             1  ",
        rule,
        "Self CPU time total: 2.000ms",
    ]
    assert events.table(row_limit=1, max_name_column_width=8).splitlines()[3].startswith("aten:...  ")
    assert events.table(header="Heading").splitlines()[1] == "Heading"
    with pytest.raises(AttributeError, match="nope"):
        events.key_averages().table(sort_by="nope")
    assert EventList([]).table() == ""


def test_autograd_profiles():
    with profile(record_shapes=True) as recorded:
        torch.ones(2) + 1
        assert repr(recorded) == "<unfinished torch.autograd.profile>"
    assert isinstance(recorded.function_events, EventList) and "aten::add" in str(recorded) and "Input Shapes" in recorded.table()
    assert recorded.self_cpu_time_total == pytest.approx(recorded.total_average().self_cpu_time_total)
    with profile(enabled=False) as none:
        torch.ones(2)
    assert none is None
    with pytest.raises(AssertionError, match="use_cpu=True"):
        profile(use_cpu=False)
    with pytest.raises(RuntimeError, match="not reentrant"), recorded, recorded:
        pass


def test_what_is_refused_in_words():
    with pytest.raises(AssertionError, match="No valid profiler activities"):
        profiler.profile(activities=[])
    with pytest.raises(TypeError, match="must be of ProfilerActivity"):
        profiler.profile(activities=["cpu"])
    with pytest.warns(UserWarning, match="CUDA is not available"), pytest.raises(AssertionError, match="No activities"):
        profiler.profile(activities=[profiler.ProfilerActivity.CUDA]).start()
    with profiler.profile() as recorded:
        pass
    with pytest.raises(NotImplementedError, match="export_memory_timeline"):
        recorded.export_memory_timeline("x.html")
    with pytest.raises(AssertionError, match="with_stack=True"):
        recorded.export_stacks("x")
    with pytest.raises(TypeError, match="must be a str, got int"), record_function(3):
        pass
    with pytest.raises(AssertionError, match="CUDA"), emit_nvtx():
        pass
    with pytest.raises(RuntimeError, match="ITT"), emit_itt():
        pass
    assert profiler.itt.is_available() is False and profiler.supported_activities() == {profiler.ProfilerActivity.CPU}
    with pytest.raises(ValueError):
        recorded.add_metadata_json("a", "{")


# -- traces ---------------------------------------------------------------------

# Perfetto's and Chrome's format, by phase: what an event has to have.
FIELDS = {
    "X": {"name", "cat", "pid", "tid", "ts", "dur"},
    "M": {"name", "pid", "tid", "args"},
    "i": {"name", "pid", "tid", "ts", "s"},
    "s": {"name", "cat", "id", "pid", "tid", "ts"},
    "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"},
}


def checked_trace(path):
    """A trace as its readers want it: strict JSON, the fields of each phase, arrows whose ends lie in a span of their thread."""

    def no_such_number(text):
        raise AssertionError(f"{text} is no JSON")

    trace = json.loads(path.read_text(), parse_constant=no_such_number)
    spans, starts = {}, {}
    for event in trace["traceEvents"]:
        assert event.keys() >= FIELDS[event["ph"]], event
        if "ts" in event:
            assert isinstance(event["ts"], float | int) and event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] >= 0
            spans.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    for event in trace["traceEvents"]:
        if event["ph"] in ("s", "f"):
            around = spans[event["pid"], event["tid"]]
            assert any(start <= event["ts"] <= end for start, end in around)
            starts.setdefault(event["id"], []).append(event["ph"])
    assert all(phases == ["s", "f"] for phases in starts.values())
    named = {event["tid"] for event in trace["traceEvents"] if event["ph"] == "M" and event["name"] == "thread_name"}
    assert {tid for _, tid in spans if isinstance(tid, int)} <= named
    return trace


@pytest.mark.parametrize("options", [{}, {"with_stack": True, "profile_memory": True}, {"record_shapes": True, "with_modules": True}])
def test_traces_are_what_perfetto_reads(options, tmp_path):
    step = model_step()

    def hidden():
        with record_function('a "name" with </script> and \u00e9'):
            step()

    config = profiler._ExperimentalConfig(profile_all_threads=True)
    with profiler.profile(experimental_config=config, **options) as recorded:
        hidden()
        thread = threading.Thread(target=hidden)
        thread.start()
        thread.join()
        torch.ones(1) / 0
    recorded.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = checked_trace(tmp_path / "trace.json")
    assert len({event["tid"] for event in trace["traceEvents"] if event.get("cat") == "cpu_op"}) == 2


def test_a_trace(tmp_path):
    step = model_step()
    path = tmp_path / "trace.json"
    with profiler.profile(record_shapes=True, profile_memory=True, with_flops=True) as recorded:
        recorded.add_metadata("who", "me")
        recorded.add_metadata_json("numbers", "[1, 2]")
        with record_function("train"):
            step()
    recorded.export_chrome_trace(str(path))
    trace = checked_trace(path)
    assert trace["who"] == "me" and trace["numbers"] == [1, 2] and trace["record_shapes"] == 1 and trace["schemaVersion"] == 1
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["cat"] != "Trace"]
    assert [event["name"] for event in spans] == [event.name for event in recorded.events() if event.name != "[memory]"]
    assert {event["cat"] for event in spans} == {"cpu_op", "user_annotation"}
    stack = []
    for event in spans:  # each ends before what it began in does
        while stack and stack[-1] <= event["ts"]:
            stack.pop()
        assert not stack or event["ts"] + event["dur"] <= stack[-1] + 1e-3
        stack.append(event["ts"] + event["dur"])
    linear = next(event for event in spans if event["name"] == "aten::linear")
    assert linear["args"]["Input Dims"] == [[3, 4], [8, 4], [8]] and linear["args"]["Input type"] == ["float"] * 3
    arrows = [event for event in trace["traceEvents"] if event.get("cat") == "fwdbwd"]
    assert [e["ph"] for e in arrows] == ["s", "f"] * 6 and len({e["id"] for e in arrows}) == 6
    assert all(a["ts"] < b["ts"] and a["id"] == b["id"] for a, b in zip(arrows[::2], arrows[1::2], strict=True))
    levels = [event["args"]["Total Allocated"] for event in trace["traceEvents"] if event["name"] == "[memory]"]
    assert levels and all(a != b for a, b in itertools.pairwise(levels))
    began = trace["baseTimeNanoseconds"] / 1e9 + spans[0]["ts"] / 1e6
    assert abs(began - time.time()) < 60


def test_traces_that_are_packed_or_cannot_be_written(tmp_path):
    with profiler.profile() as recorded:
        torch.ones(1)
    recorded.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    assert json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))["traceEvents"]
    with pytest.raises(FileNotFoundError, match="missing/trace.json"):
        recorded.export_chrome_trace(str(tmp_path / "missing" / "trace.json"))
    assert sorted(os.listdir(tmp_path)) == ["trace.json.gz"]
    recorded.events().export_chrome_trace(str(tmp_path / "events.json"))
    assert json.loads((tmp_path / "events.json").read_text())["traceEvents"][0]["name"] == "aten::ones"


def test_traces_for_tensorboard(tmp_path):
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path / "runs"), "worker", use_gzip=True)):
        torch.ones(1)
    (file,) = os.listdir(tmp_path / "runs")
    assert re.fullmatch(r"worker\.\d+\.pt\.trace\.json\.gz", file)
    nowhere = profiler.tensorboard_trace_handler("/proc/nowhere")
    with pytest.raises(RuntimeError, match="Can't create directory"), profiler.profile(on_trace_ready=nowhere):
        pass


def test_names_that_libraries_annotate_with():
    assert _collate_fn_t.__args__ and _worker_init_fn_t.__args__
