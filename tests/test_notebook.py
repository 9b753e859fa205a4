"""What shows itself in a notebook: tensors, graphs, reports, tables of profiles, memory. As HTML that stands alone, and through IPython's own choice of what to show."""

import html.parser
import json

import pytest

import retrograd as torch
from retrograd import doctor, nn, profiler, viz

VOID = {"meta", "br", "img", "input", "link"}


def recorded():
    x = torch.ones(3, requires_grad=True)
    with profiler.profile(record_shapes=True, profile_memory=True) as found, profiler.record_function("<b>bold</b>"):
        (x * 2).sum().backward()
    return found


def memory():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    with doctor.memory(model) as used:
        model(torch.ones(512, 4)).sum().backward()
    return used


SHOWN = {
    "tensor": (lambda: torch.arange(6.0).reshape(2, 3), "2 \u00d7 3"),
    "parameter": (lambda: nn.Parameter(torch.ones(2)), "Parameter"),
    "graph": (lambda: viz.graph(torch.ones(2, requires_grad=True).exp().sum()), "ExpBackward0"),
    "report": (doctor.report, "retrograd doctor"),
    "averages": (lambda: recorded().key_averages(), "Self CPU %"),
    "averages by shape": (lambda: recorded().key_averages(group_by_input_shape=True), "[[3], []]"),
    "events": (lambda: recorded().events(), "MulBackward0"),
    "memory": (memory, "saved for backward, by line"),
    "snapshot": (lambda: memory().peak, "by module"),
}


class Checked(html.parser.HTMLParser):
    """Elements close in the order they were opened, and nothing comes from elsewhere; frames are looked into."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.inside = [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        assert not {"src", "href"} & given.keys(), given
        if "srcdoc" in given:
            self.inside.append(given["srcdoc"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert not {"src", "href"} & dict(attributes).keys()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(text):
    """All the words of it."""
    found = Checked()
    found.feed(text)
    found.close()
    assert found.open == []
    return " ".join(found.text) + "".join(read(page) for page in found.inside)


@pytest.mark.parametrize("name", SHOWN)
def test_it_is_html_that_stands_alone(name):
    make, words = SHOWN[name]
    assert words in read(make()._repr_html_())


def test_names_stay_text():
    shown = recorded().key_averages()._repr_html_()
    assert "<b>bold" not in shown and "<b>bold</b>" in read(shown)


def test_an_empty_table_and_a_long_one():
    assert read(torch.autograd.profiler_util.EventList([])._repr_html_()).strip() == ""
    x = torch.ones(2)
    with profiler.profile() as found:
        for _ in range(150):
            x + 1
    assert "and 50 more" in read(found.events()._repr_html_()) and found.events()._repr_html_().count("<tr>") == 101


@pytest.mark.parametrize("name", SHOWN)
def test_ipython_shows_it(name):
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed")
    make, words = SHOWN[name]
    shown, _ = formatters.DisplayFormatter().format(make())
    assert words in read(shown["text/html"]) and shown["text/plain"]


def test_pandas_takes_tensors_and_what_bench_writes(tmp_path, capsys):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(torch.arange(6.0).reshape(2, 3).numpy(), columns=list("abc"))
    assert frame["c"].tolist() == [2.0, 5.0]
    held = pandas.DataFrame({"weights": [torch.ones(2), torch.zeros(2)]})
    assert "tensor" in repr(held) and "tensor" in held._repr_html_()
    assert pandas.Series(torch.tensor([1, 2])).sum() == 3

    from retrograd.cli import bench

    options = ["ops", "mul", "exp", "--sizes", "4", "--seconds", "0.02", "--quiet", "--csv", str(tmp_path / "ops.csv")]
    assert bench.main([*options, "--json", str(tmp_path / "ops.json")]) == 0
    table = pandas.read_csv(tmp_path / "ops.csv")
    assert table["op"].tolist() == ["exp", "mul"] and (table["seconds"] > 0).all() and "exp" in table._repr_html_()
    assert pandas.DataFrame(json.loads((tmp_path / "ops.json").read_text())["rows"])["op"].tolist() == ["exp", "mul"]
