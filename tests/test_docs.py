"""What the documentation shows is what happens: examples in docstrings, in the README and in docs/ are run."""

import contextlib
import doctest
import importlib
import importlib.util
import io
import pkgutil
import re
from pathlib import Path

import pytest

import retrograd
from tests.autograd_scripts import FOLDER, NAMES, outputs

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = {"retrograd.__main__"}


def modules():
    found = ["retrograd"]
    for info in pkgutil.walk_packages(retrograd.__path__, "retrograd."):
        if info.name not in SKIPPED and not info.name.startswith("retrograd._C"):
            found.append(info.name)
    return found


def _param(name):
    shows_nan = name == "retrograd.autograd.anomaly_mode"
    return pytest.param(name, marks=[pytest.mark.told("nan_origin", why="which anomaly mode finds too")] if shows_nan else [])


@pytest.mark.parametrize("name", [_param(name) for name in modules()])
def test_docstrings(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report = io.StringIO()
    with retrograd.random.fork_rng():
        for test in finder.find(module, extraglobs={"retrograd": retrograd, "torch": retrograd}):
            if test.examples:
                runner.run(test, out=report.write)
    assert runner.failures == 0, report.getvalue()


def blocks(path, language):
    text = path.read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


@pytest.mark.parametrize("code", blocks(ROOT / "README.md", "python"))
def test_readme(code):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})  # the README is ours
    for line in re.findall(r"print\(.*\)  # (.*)", code):
        assert re.search(re.escape(line).replace(r"\.\.\.", ".*"), out.getvalue()), out.getvalue()


def test_profiler_page(tmp_path, monkeypatch):
    """One block builds on the next; what they write is left in the folder."""
    monkeypatch.chdir(tmp_path)
    out, namespace = io.StringIO(), {"__name__": "page"}
    with contextlib.redirect_stdout(out):
        for code in blocks(ROOT / "docs" / "profiler.md", "python"):
            exec(compile(code, "profiler.md", "exec"), namespace)
    assert "aten::addmm" in out.getvalue() and "AddmmBackward0 belongs to aten::addmm" in out.getvalue()
    assert "recorded until step 4: " in out.getvalue() and "recorded until step 8: " in out.getvalue()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stacks.txt", "trace.json.gz"]


def test_what_the_readme_has():
    """Two commands, an example of fifteen lines that prints, a picture, every code of the doctor, the speed table with its command."""
    text = (ROOT / "README.md").read_text()
    (example,) = blocks(ROOT / "README.md", "python")
    assert len([line for line in example.splitlines() if line]) == 15 and "print(" in example
    assert blocks(ROOT / "README.md", "console")[0].count("$ ") == 2 and "](docs/pictures/model.svg)" in text
    table = text.partition("| mistake | PyTorch | retrograd |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", table)) >= set(retrograd.doctor.CODES) - {
        "backward_twice",
        "non_scalar_backward",
        "inference_tensor_misuse",
    }
    speed = text.partition("<!-- benchmarks -->")[2].partition("<!-- /benchmarks -->")[0]
    assert speed.count("|\n") > 10 and "benchmarks/run.py --update README.md" in text
    assert "## State" in text and "## Contributing, citing" in text


def walk():
    """The sections of docs/autograd-by-example.md: name of the script -> the text."""
    text = (ROOT / "docs" / "autograd-by-example.md").read_text()
    return {re.search(r"\]\(\.\./examples/autograd/(\w+)\.py\)", part)[1]: part for part in re.split(r"^## ", text, flags=re.M)[1:]}


def test_the_walk_visits_every_script():
    assert sorted(walk()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_autograd_by_example(name):
    """Code on the page is code of the script, in its order, and the output on the page is all of its output."""
    source, position, shown = (FOLDER / f"{name}.py").read_text(), 0, ""
    for language, block in re.findall(r"^```(python|text)\n(.*?)^```$", walk()[name], re.M | re.S):
        if language == "text":
            shown += block
        else:
            assert block in source[position:]
            position = source.index(block, position) + len(block)
    assert shown == outputs("retrograd")[name]


def not_there():
    """The entries of "Not there yet" in docs/differences.md: (namespace, its text)."""
    section = (ROOT / "docs" / "differences.md").read_text().partition("## Not there yet")[2].partition("\n## ")[0]
    return re.findall(r"^- \*\*`?([\w. ]+?)`?\*\*: (.*?)(?=^- |\Z)", section, re.M | re.S)


def found(path):
    """The object at a dotted path under retrograd, or None."""
    value = retrograd
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


@pytest.mark.parametrize(("namespace", "text"), [entry for entry in not_there() if entry[0].startswith("torch")])
def test_names_that_are_not_there_yet(namespace, text):
    home = retrograd if namespace == "torch" else found(namespace.removeprefix("torch."))
    names = re.findall(r"`(\w+)`", text)
    assert names and [name for name in names if hasattr(home, name)] == []


def test_namespaces_that_are_not_there_yet():
    (text,) = [text for title, text in not_there() if title == "Whole namespaces"]
    names = re.findall(r"`torch\.([\w.]+)`", text)
    assert names
    assert [name for name in names if found(name) is not None or ("." not in name and importlib.util.find_spec(f"retrograd.{name}"))] == []
