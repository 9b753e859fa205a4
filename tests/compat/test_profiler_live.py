"""The same program under both profilers: names in order, columns of tables, fields of traces."""

import json
import re

import pytest

import retrograd

torch = pytest.importorskip("torch")

ENGINES = (retrograd, torch)


def recorded_step(engine, **options):
    engine.manual_seed(0)
    nn, profiler = engine.nn, engine.profiler
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = engine.optim.SGD(model.parameters(), lr=0.1)
    x, y = engine.randn(3, 4), engine.randn(3, 2)

    def step():
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    step()
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], **options) as recorded:
        for _ in range(2):
            with profiler.record_function("step"):
                step()
    return recorded


# What PyTorch's kernels are made of, and how it starts a backward and broadcasts a loss: ops that there is no need of here.
THEIRS_ALONE = {"aten::broadcast_tensors", "aten::ones_like"}


def outline(recorded):
    """Blocks, what is called in them, nodes: without what is inside the ops."""
    found = []
    for event in recorded.events():
        if event.cpu_parent is None or event.cpu_parent.is_user_annotation or event.scope == 1:
            inside_step = event.cpu_parent is not None and event.cpu_parent.name.startswith("Optimizer.")
            if event.name not in THEIRS_ALONE and not inside_step:
                found.append(event.name)
    return found


def test_names_in_order():
    ours, theirs = (outline(recorded_step(engine)) for engine in ENGINES)
    assert ours == theirs and len(ours) > 50


def test_linear_is_made_of_the_same():
    trees = []
    for engine in ENGINES:
        linear = next(event for event in recorded_step(engine, record_shapes=True).events() if event.name == "aten::linear")
        trees.append([(child.name, child.input_shapes) for child in linear.cpu_children])
    assert trees[0] == trees[1] == [("aten::t", [[8, 4]]), ("aten::addmm", [[8], [3, 4], [4, 8], [], []])]


def test_nodes_belong_to_the_same_ops():
    pairs = []
    for engine in ENGINES:
        events = recorded_step(engine).events()
        forward = {}
        for event in events:
            if event.sequence_nr >= 0 and not event.fwd_thread:
                forward[event.sequence_nr] = event.name
        pairs.append([(event.name, forward[event.sequence_nr]) for event in events if event.scope == 1 and event.sequence_nr >= 0])
    assert pairs[0] == pairs[1]


@pytest.mark.parametrize(
    ("recording", "averages", "table"),
    [
        ({}, {}, {}),
        ({"profile_memory": True}, {}, {"sort_by": "self_cpu_memory_usage"}),
        ({"record_shapes": True}, {"group_by_input_shape": True}, {"sort_by": "cpu_time_total", "row_limit": 5}),
        ({"record_shapes": True, "profile_memory": True}, {"group_by_input_shape": True}, {"max_shapes_column_width": 14}),
        ({"with_flops": True}, {}, {"max_name_column_width": 20, "header": "A heading"}),
        ({}, {}, {"top_level_events_only": True, "time_unit": "ms"}),
    ],
)
def test_columns_of_tables(recording, averages, table):
    heads = []
    for engine in ENGINES:
        lines = recorded_step(engine, **recording).key_averages(**averages).table(**table).splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("---"))
        titles = lines[start + 1].split("  ")
        heads.append(([t.strip() for t in titles if t.strip()], len(lines[:start]), lines[-1].partition(":")[0], lines[start] == lines[-2]))
    assert heads[0] == heads[1]


def test_numbers_are_written_alike():
    ours, theirs = (engine.autograd.profiler_util for engine in ENGINES)
    for value in (0.0, 0.5, 12.3456, 999.9996, 12345.6, 1.2e7):
        assert ours._format_time(value) == theirs._format_time(value)
    for value in (0, 1, -1, 123, 1024, -5000, 5_000_000, 3_000_000_000):
        assert ours._format_memory(value) == theirs._format_memory(value)


def test_a_whole_table_of_given_events():
    texts = []
    for engine in ENGINES:
        util = engine.autograd.profiler_util
        events = [
            util.FunctionEvent(1, "aten::add", 1, 0.0, 1500.0, stack=[], input_shapes=[[3, 4], []], overload_name=""),
            util.FunctionEvent(2, "a name that is rather long, longer than a column may be", 1, 1500.0, 2000.0, stack=[], input_shapes=[]),
        ]
        plain = [util.EventList(events, profile_memory=True).table(sort_by=key) for key in (None, "cpu_time_total", "name")]
        narrow = {"max_name_column_width": 12, "max_shapes_column_width": 6, "header": "Heading", "top_level_events_only": True}
        texts.append([*plain, util.EventList(events).table(**narrow), util.EventList(events).table(row_limit=1, time_unit="ms")])
    assert texts[0] == texts[1]


def test_attributes_that_programs_read():
    ours, theirs = (recorded_step(engine, record_shapes=True, profile_memory=True) for engine in ENGINES)
    later = {  # what Kineto and devices add
        "_metadata_json", "activity_type", "event_metadata", "external_id", "flow_id", "flow_start", "flow_type", "linked_correlation_id",
        "metadata_json", "self_cpu_percent", "total_cpu_percent", "total_device_percent",
    }  # fmt: skip
    for mine, other in ((ours.events()[0], theirs.events()[0]), (ours.key_averages()[0], theirs.key_averages()[0])):
        public = {name for name in dir(other) if not name.startswith("__")}
        assert public - later - set(dir(mine)) == set()


def test_fields_of_traces(tmp_path):
    found = []
    for engine in ENGINES:
        path = tmp_path / f"{engine.__name__}.json"
        recorded_step(engine, record_shapes=True, profile_memory=True).export_chrome_trace(str(path))
        trace = json.loads(path.read_text())
        fields = {}
        for event in trace["traceEvents"]:
            if event.get("cat") == "cpu_op" and event["name"] in ("aten::linear", "AddmmBackward0", "aten::relu"):
                fields[event["name"]] = (set(event), set(event["args"]), event["args"].get("Input Dims"), event["args"].get("Input type"))
            elif event.get("cat") in ("fwdbwd", "user_annotation"):
                fields[event["cat"], event["ph"]] = set(event)
        found.append((set(trace), fields))
    assert found[0] == found[1]


# -- three models ---------------------------------------------------------------


def models(engine):
    """Name -> model, inputs, optimizer."""
    nn = engine.nn
    image = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 16, 10)]
    return {
        "mlp": (nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 3)), engine.randn(5, 4), "Adam"),
        "images": (nn.Sequential(*image), engine.randn(2, 3, 8, 8), "SGD"),
        "transformer": (nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), engine.randn(2, 5, 16), "AdamW"),
    }


def recorded_model(engine, name, **options):
    model, inputs, kind = models(engine)[name]
    optimizer = getattr(engine.optim, kind)(model.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        with engine.profiler.record_function("forward"):
            out = model(inputs)
        out.square().mean().backward()
        optimizer.step()

    step()
    config = engine.profiler._ExperimentalConfig(verbose=True)  # PyTorch fills stacks in only then
    with engine.profiler.profile(activities=[engine.profiler.ProfilerActivity.CPU], experimental_config=config, **options) as recorded:
        step()
    return recorded


def both(name, **options):
    return [recorded_model(engine, name, **options) for engine in ENGINES]


@pytest.mark.parametrize("name", ["mlp", "images"])
def test_nodes_of_a_model_and_their_counts(name):
    """Not of attention, which is made of other ops here."""
    ours, theirs = ({row.key: row.count for row in recorded.key_averages() if row.key.endswith("Backward0")} for recorded in both(name))
    assert ours == theirs and len(ours) > 7


@pytest.mark.parametrize("name", ["mlp", "images", "transformer"])
def test_modules_blocks_and_named_steps(name):
    def calls(recorded):
        return [e.name for e in recorded.events() if e.name.startswith(("nn.Module: ", "Optimizer.", "forward"))]

    ours, theirs = map(calls, both(name, with_modules=True, with_stack=True))
    assert ours == theirs and len(ours) > 6


@pytest.mark.parametrize("name", ["mlp", "images", "transformer"])
def test_ops_are_called_with_the_same_shapes(name):
    """Of ops that both have, those that ours are called with are among PyTorch's."""
    ours, theirs = (
        {(row.key, str(row.input_shapes)) for row in recorded.key_averages(group_by_input_shape=True) if row.key.startswith("aten::")}
        for recorded in both(name, record_shapes=True)
    )
    known = {key for key, _ in theirs}
    left = {key for key, shapes in ours - theirs if key in known}
    expected = {  # a mean's derivative divides one number; a bias is summed apart; attention splits its projection; gradients are copied
        "mlp": {"aten::div"},
        "images": {"aten::div", "aten::reshape", "aten::sum", "aten::convolution_backward", "aten::native_batch_norm_backward"},
        "transformer": {"aten::div", "aten::add", "aten::view", "aten::clone", "aten::_unsafe_view", "aten::native_layer_norm_backward"},
    }
    assert left <= expected[name] and len(ours & theirs) > 8


@pytest.mark.parametrize("name", ["mlp", "images"])
def test_memory_of_the_forward(name):
    rows = [{row.key: row.cpu_memory_usage for row in recorded.key_averages()} for recorded in both(name, profile_memory=True)]
    ours, theirs = ({key: row[key] for key in ("forward", "aten::linear", "aten::square", "aten::mean")} for row in rows)
    assert ours == theirs and ours["forward"] > ours["aten::linear"] > 0


@pytest.mark.parametrize("name", ["mlp", "images", "transformer"])
def test_stacks_lead_through_the_same_modules_and_functions(name, tmp_path):
    stacks, files = [], []
    for recorded in both(name, with_stack=True):
        linear = next(event for event in recorded.events() if event.name == "aten::linear")
        stacks.append([entry for entry in linear.stack if entry.startswith("nn.Module") or "test_profiler_live" in entry])
        recorded.export_stacks(str(tmp_path / "stacks.txt"))
        files.append((tmp_path / "stacks.txt").read_text().splitlines())
    assert stacks[0] == stacks[1] and len(stacks[0]) >= 3
    for lines in files:  # frames from the outermost, then whole microseconds
        assert lines and all(re.fullmatch(r"[^ ]+ \d+", line) for line in lines)
        assert any(f"nn.Module:_{models(retrograd)[name][0].__class__.__name__}_0" in line for line in lines)


def test_schedules_and_what_they_hand_over():
    logs = []
    for engine in ENGINES:
        profiler, log = engine.profiler, []

        def ready(recorded, log=log):
            log.append((recorded.step_num, [e.name for e in recorded.events() if e.name in ("ProfilerStep*", "aten::ones", "aten::add")]))

        plan = profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU], schedule=plan, on_trace_ready=ready) as recorded:
            for i in range(11):
                engine.ones(2) + i
                recorded.step()
        logs.append(log)
    assert logs[0] == logs[1] and [step for step, _ in logs[0]] == [5, 9]


def test_steps_are_counted_alike():
    counts = []
    for engine in ENGINES:
        tracker, profiler, seen = engine.autograd.profiler.KinetoStepTracker, engine.profiler, []
        start = tracker.current_step()
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as recorded:
            for _ in range(3):
                recorded.step()
            seen.append(tracker.current_step() - start)
        tracker.init_step_count("a")
        seen += [tracker.increment_step(who) - start for who in ("a", "a", "b", "a", "b")]
        seen += [tracker.erase_step_count(who) for who in ("a", "b", "c", "ProfilerStep")]
        counts.append(seen)
    assert counts[0] == counts[1]


def test_signatures_of_profiles():
    import inspect

    for name in ("profile", "_KinetoProfile"):
        ours, theirs = (inspect.signature(getattr(engine.profiler, name)).parameters for engine in ENGINES)
        assert {p.name: p.default for p in ours.values()} == {p.name: p.default for p in theirs.values()}
