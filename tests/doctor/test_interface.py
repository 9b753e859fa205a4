"""Strict and quiet, codes switched off, the report, the command, the pytest plugin."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import retrograd as torch
from retrograd import doctor, nn
from retrograd.doctor import _findings, _holders, _names
from retrograd.doctor._places import Place
from retrograd.doctor._watch import watcher
from tests.doctor.programs import FOLDER, run

TRAIN = """
import os, sys, torch
from torch import nn
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for i in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print("trained")
"""
BROKEN = "model(x).backward()\n"


@pytest.fixture(autouse=True)
def _fresh():
    doctor.forget()
    yield
    doctor.strict(False)
    doctor.on()
    _findings.settings.disabled.clear()
    doctor.forget()


def _finding(line: int = 1) -> doctor.Finding:
    return doctor.Finding(
        "graph_leak",
        "something is kept",
        Place("train.py", line, "train"),
        "it grows",
        "detach() it",
        Place("train.py", 7, "train"),
        "stored at",
    )


def test_a_warning_once_per_place():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for line in (1, 1, 2):
            _findings.tell(_finding(line))
    assert [(w.message.code, w.lineno, w.filename) for w in caught] == [("graph_leak", 1, "train.py"), ("graph_leak", 2, "train.py")]
    assert str(caught[0].message).startswith("[graph_leak] something is kept")
    assert "stored at train.py:7" in str(caught[0].message)
    assert [f.place.line for f in doctor.findings()] == [1, 2]


def test_strict_is_an_exception_of_the_same_code():
    with doctor.strict(), pytest.raises(doctor.SilentFailureError, match="something is kept") as caught:
        _findings.tell(_finding())
    assert caught.value.code == "graph_leak"
    assert caught.value.place == ("train.py", 1, "train")
    assert not doctor.is_strict()


def test_filters_of_warnings_hold():
    with warnings.catch_warnings():
        warnings.simplefilter("error", doctor.SilentFailureWarning)
        with pytest.raises(doctor.SilentFailureWarning):
            _findings.tell(_finding())


@pytest.mark.parametrize("by", ["-W", "PYTHONWARNINGS", "neither"])
def test_filters_of_the_command_line_hold_in_installed_packages(tmp_path, by):
    """Python reads them before it knows of site-packages, where the class is."""
    source = os.path.dirname(os.path.dirname(torch.__file__))
    (tmp_path / "program.py").write_text(
        f"import sys\nsys.path.insert(0, {source!r})\n"
        "import retrograd as torch\n"
        "w = torch.zeros(1, requires_grad=True)\n"
        "o = torch.optim.SGD([w], 0.1)\n"
        "for _ in range(8):\n    (w - 1).square().sum().backward()\n    o.step()\n"
    )
    option = "error::retrograd.doctor.SilentFailureWarning"
    command = [sys.executable, *(["-W", option] if by == "-W" else []), "program.py"]
    variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "RETROGRAD_DOCTOR")}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=variables | ({"PYTHONWARNINGS": option} if by == "PYTHONWARNINGS" else {}),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert "[missing_zero_grad]" in done.stderr and (done.returncode == 0) is (by == "neither"), done.stderr


def test_codes_can_be_switched_off():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with doctor.configure(disable="graph_leak"):
            _findings.tell(_finding())
    assert doctor.findings() == []
    with pytest.raises(ValueError, match="unknown code 'leak'"):
        doctor.configure(disable=["leak"])


def test_off_and_on():
    assert doctor.is_on()
    with doctor.off():
        assert not doctor.is_on()
        with doctor.on():
            assert doctor.is_on()
        assert not doctor.is_on()
    assert doctor.is_on()


def _step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def test_the_report_shows_graphs_lines_and_parameters(tmp_path):
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    model[0].bias.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    _step(model, optimizer, x, y)
    kept = model(x).sum()  # its graph lives on
    report = doctor.report()
    text = str(report)
    assert "kept, made at" in text
    assert "test_interface.py" in text
    assert "model.0.weight (8, 4)" in text
    assert "does not require grad, since" in text
    assert any(row.bytes >= 16 * 8 * 4 and "TanhBackward0" in row.ops for row in report.saved)
    report.save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "model.2.bias" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "iframe" in report._repr_html_()
    del kept


def test_the_report_takes_parameters_of_every_kind():
    table, lazy, absent = nn.Embedding(10, 3, sparse=True), nn.LazyLinear(3), nn.Linear(3, 3, device="meta")
    optimizer = torch.optim.SGD([*lazy.parameters()], lr=0.1)
    table(torch.tensor([1, 1, 2])).sum().backward()
    absent(torch.ones(2, 3, device="meta"))
    report = doctor.report()
    states = {state.name: state for state in report.parameters}
    assert states["table.weight"].norm == pytest.approx(15**0.5)  # of rows of 2, 2, 2 and 1, 1, 1
    assert states["absent.weight"].norm is None
    assert sum(state.remark.startswith("has no size yet") for state in report.parameters) == 2
    assert report.tensors >= 5
    del optimizer


def test_the_report_names_what_holds_a_graph():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.kept = nn.Linear(2, 2), []

    net = Net()
    net.kept.append(net.layer(torch.ones(1, 2)))
    assert "net.kept[0]" in [graph.holder for graph in doctor.report().graphs]


def test_watch_takes_models_and_optimizers():
    model = nn.Linear(2, 1)
    doctor.watch(model, torch.optim.SGD(model.parameters(), lr=0.1))
    assert torch._C._doctor_state()[1]
    with pytest.raises(TypeError, match="param_groups"):
        doctor.watch(model, 3)


def test_programs_are_the_same_with_and_without():
    """Watching changes neither values nor random numbers."""

    def train(steps):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.3), nn.Linear(8, 1))
        optimizer = torch.optim.Adam(model.parameters())
        x, y = torch.randn(16, 4), torch.randn(16, 1)
        return [_step(model, optimizer, x, y).item() for _ in range(steps)]

    watched = train(12)
    with doctor.strict():
        strictly = train(12)
    with doctor.off():
        assert train(12) == watched == strictly


def _command(tmp_path: Path, source: str, *options: str, arguments: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "train.py"
    script.write_text(source)
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.run(
        [sys.executable, "-m", "retrograd", "doctor", *options, str(script), *arguments],
        capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120, check=False,
    )  # fmt: skip


def test_the_command_ends_with_a_report(tmp_path):
    done = _command(tmp_path, TRAIN, "--html", "report.html")
    assert done.returncode == 0, done.stderr
    assert "trained" in done.stdout
    assert "Nothing was found." in done.stdout
    assert "model.0.weight" in (tmp_path / "report.html").read_text()


ENDINGS = {
    "an error": (BROKEN, 1, "[non_scalar_backward]"),
    "exit": ("sys.exit(3)", 3, "retrograd doctor"),
    "_exit": ("os._exit(4)", 4, "left by itself with status 4"),
    "a signal": ("os.kill(os.getpid(), 9)", 137, "was ended by SIGKILL"),
    "a fork": ("pid = os.fork()\nif pid == 0: sys.exit(0)\nos.wait()", 0, "Nothing was found."),
    "a mistake in a fork": (
        "if os.fork() == 0:\n    for i in range(4):\n        model(x).sum().backward(); optimizer.step()\n    sys.exit(0)\nos.wait()", 1,
        "Found in processes that the script started:\n\n  [missing_zero_grad]",
    ),
    "threads": (
        "import threading\nt = threading.Thread(target=lambda: model(x).sum().backward())\nt.start(); t.join()", 0, "Nothing was found.",
    ),
    "asyncio": ("import asyncio\nasync def f():\n    model(x).sum().backward()\nasyncio.run(f())", 0, "Nothing was found."),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDINGS)
def test_however_the_script_ends(tmp_path, name):
    source, status, words = ENDINGS[name]
    done = _command(tmp_path, TRAIN + source)
    assert words in done.stdout, done.stdout + done.stderr
    assert done.returncode == status
    assert done.stdout.count("retrograd doctor") == 1
    if name == "an error":
        assert "cli/" not in done.stderr  # the traceback begins at the program


LOOPS = {
    "at the top": "{loop}",
    "in a function": "def train():\n{indented}\ntrain()",
    "in a thread": "import threading\ndef train():\n{indented}\nthread = threading.Thread(target=train)\nthread.start()\nthread.join()",
    "in a pool": "from concurrent.futures import ThreadPoolExecutor\ndef train():\n{indented}\nThreadPoolExecutor(1).submit(train).result()",
    "in asyncio": "import asyncio\nasync def train():\n{indented}\nasyncio.run(train())",
    "beside asyncio": "import asyncio\ndef train():\n{indented}\nasyncio.run(asyncio.to_thread(train))",
}
NEVER_ZEROED = """
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(5):
    loss = model(torch.randn(16, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("how", ["doctor", "doctor --strict", "run", "run, strict by the environment"])
@pytest.mark.parametrize("where", LOOPS)
def test_steps_are_seen_in_a_process_of_its_own(tmp_path, where, how):
    """Where nothing of the package was loaded before the doctor began, as in a program of a user; and wherever the loop is."""
    indented = "".join(f"    {line}\n" for line in NEVER_ZEROED.splitlines())
    (tmp_path / "train.py").write_text("import torch\n" + LOOPS[where].format(loop=NEVER_ZEROED, indented=indented))
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), RETROGRAD_DOCTOR="debug")
    if "environment" in how:
        environment["RETROGRAD_STRICT"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "retrograd", *how.partition(",")[0].split(), "train.py"],
        capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120, check=False,
    )  # fmt: skip
    assert "missing_zero_grad" in done.stdout + done.stderr or "SilentFailureError" in done.stderr, done.stdout + done.stderr
    assert "loss.backward()" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"), [((), "no file"), (("--html",), "no script"), (("--html", "/nowhere/report.html"), "there is no folder /nowhere")]
)
def test_bad_input_of_the_command_is_refused_in_words(tmp_path, options, words):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    script = [] if words == "no script" else ["train.py"]
    if words.startswith("there"):
        (tmp_path / "train.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "retrograd", "doctor", *options, *(["x.html"] if words == "no script" else []), *script],
        capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_plugin_fails_tests_that_fail_in_silence(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "from retrograd import doctor\n"
        "from retrograd.doctor import _findings\n"
        "def test_quiet():\n    assert doctor.is_strict()\n"
        "def test_broken():\n    _findings.tell(doctor.Finding('graph_leak', 'kept', None, 'why', 'fix'))\n"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "retrograd.doctor.pytest_plugin",
        "-c",
        os.devnull,
        "--rootdir",
        str(tmp_path),
        "test_it.py",
    ]
    done = subprocess.run(
        [*command, "--retrograd-strict"], capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120, check=False
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "SilentFailureError" in done.stdout


def test_a_holder_is_found_below_a_runner_that_reaches_a_hundred_thousand_objects():
    """As below pytest, whose frames know every test of the run."""
    runner: dict[str, object] = {}
    source = "def run(test, config):\n    return test()\n"
    exec(compile(source, "/usr/lib/python3/site-packages/runner.py", "exec"), runner)
    state = {"trainer": {"history": {"loss": [torch.ones(2)]}}}

    def test() -> object:
        return _holders.find(state["trainer"]["history"]["loss"])

    found = runner["run"](test, [[[] for _ in range(10)] for _ in range(20_000)])  # type: ignore[operator]
    assert [holder.shown for holder in found.values()] == ["state['trainer']['history']['loss'][0]"]


def test_models_of_another_program_are_forgotten():
    model = nn.Linear(2, 2)
    _names.remember(model)
    assert model in _names.models()
    doctor.forget()
    assert _names.models() == []


def test_checkpoints_of_another_program_do_not_count():
    from retrograd.utils.checkpoint import checkpoint

    doctor.forget()
    x = torch.ones(2, requires_grad=True)
    for _ in range(40):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            checkpoint(torch.exp, x, use_reentrant=False).sum().backward()
    assert watcher.checkpoints > 0
    doctor.forget()
    assert watcher.checkpoints == 0


def test_parameters_that_no_model_knows_of_are_named_by_their_path():
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.heads = [nn.Linear(2, 1), nn.Linear(2, 1)]
            self.by_name = {"value": nn.Sequential(nn.Linear(2, 1))}

    net = Net()
    layers = (nn.Linear(2, 1),)
    tensors = [net.heads[1].weight, net.by_name["value"][0].bias, layers[0].weight]
    names = _names.parameters([tensors.pop(0), tensors.pop(0), tensors.pop(0)])
    assert names == ["net.heads[1].weight", "net.by_name['value'].0.bias", "layers[0].weight"]


def test_the_fix_for_a_comprehension_stands_in_it():
    (told,) = run(FOLDER / "broken" / "graph_leak_74_comprehension_of_an_epoch.py", "strict").told
    assert "`losses = [step(torch.randn(8, 4)).item() for _ in range(10)]`" in told.text
