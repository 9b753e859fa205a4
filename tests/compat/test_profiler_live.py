"""The same program under both profilers: names in order, columns of tables, fields of traces."""

import json

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
