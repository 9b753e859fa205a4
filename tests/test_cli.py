"""`retrograd run`: a program behaves as under `python`, tracebacks included. `retrograd demo`, `retrograd profile`: what they print and leave."""

import json
import os
import subprocess
import sys

import pytest

import retrograd

PACKAGE = os.path.dirname(os.path.dirname(retrograd.__file__))


def run(tmp_path, text, *arguments, launcher=("-m", "retrograd", "run"), name="program.py", target=None):
    (tmp_path / name).write_text(text)
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    command = [sys.executable, *launcher, *(target or [name]), *arguments]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)


PROGRAMS = {
    "exception": "def inner():\n    raise ValueError('boom')\ndef outer():\n    inner()\nouter()\n",
    "chained": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError('second') from error\n",
    "syntax": "x = 1\nif x\n    pass\n",
    "import": "import no_such_module_at_all\n",
    "exit status": "import sys\nprint('before')\nsys.exit(7)\n",
    "exit text": "raise SystemExit('a last word')\n",
    "warning": "import warnings\nwarnings.warn('look here')\ndef f():\n    warnings.warn('and here', DeprecationWarning, stacklevel=2)\nf()\n",
    "own hook": (
        "import sys, traceback\n"
        "def hook(kind, error, trace):\n    print('HOOK', [f.name for f in traceback.extract_tb(trace)], error.__traceback__ is trace)\n"
        "sys.excepthook = hook\nraise ValueError\n"
    ),
    "main": (
        "import sys, __main__, pickle\nclass C: pass\nprint(__name__, __file__, sys.argv, __main__.C is C, type(pickle.loads(pickle.dumps(C()))))\n"
        "print(__spec__, __package__, __doc__, sorted(k for k in globals() if k[:2] == '__' and k != '__annotations__'))\n"
    ),
    "at exit": "import atexit\nvalue = 3\natexit.register(lambda: print('kept', value))\n",
    "encoding": "# -*- coding: latin-1 -*-\nprint(len('\\u00e9'))\n",
    "future": "from __future__ import annotations\ndef f(x: undefined): return x\nprint(f(1), f.__annotations__)\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_ends_as_under_python(tmp_path, name):
    ours, pythons = run(tmp_path, PROGRAMS[name], "a", "b"), run(tmp_path, PROGRAMS[name], "a", "b", launcher=())
    assert (ours.returncode, ours.stdout, ours.stderr) == (pythons.returncode, pythons.stdout, pythons.stderr)


@pytest.mark.parametrize("name", ["exception", "chained", "exit status", "warning", "at exit"])
def test_modules_too(tmp_path, name):
    target = ["-m", "program"]
    ours = run(tmp_path, PROGRAMS[name], target=target)
    pythons = run(tmp_path, PROGRAMS[name], target=target, launcher=())
    without = [part for part in pythons.stderr.splitlines() if "<frozen runpy>" not in part]
    assert (ours.returncode, ours.stdout, ours.stderr.splitlines()) == (pythons.returncode, pythons.stdout, without)


def test_tracebacks_open_at_the_program(tmp_path):
    found = run(tmp_path, "import torch\ntorch.ones(2).backward()\n")
    lines = found.stderr.splitlines()
    place = f'  File "{tmp_path / "program.py"}", line 2, in <module>'
    assert lines[:3] == ["Traceback (most recent call last):", place, "    torch.ones(2).backward()"]
    assert "runpy" not in found.stderr and os.path.join("cli", "run.py") not in found.stderr


def test_a_missing_file_is_said_in_words(tmp_path):
    found = run(tmp_path, "", target=["elsewhere.py"])
    assert found.returncode == 2 and "no file 'elsewhere.py'" in found.stderr and "Traceback" not in found.stderr


def test_directories_run_their_main(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text("import torch, helper\nprint(torch.__name__, helper.value)\n")
    (tmp_path / "app" / "helper.py").write_text("value = 5\n")
    found = run(tmp_path, "", target=["app"])
    assert (found.returncode, found.stdout) == (0, "torch 5\n"), found.stderr


def test_a_frame_of_the_program_called_like_the_launcher_stays(tmp_path):
    (tmp_path / "run.py").write_text("def go():\n    raise ValueError\n")
    found = run(tmp_path, "import run\nrun.go()\n")
    assert 'run.py", line 2, in go' in found.stderr


# -- refusals -----------------------------------------------------------------

REFUSED = {
    "run": [(["absent.py"], "no file 'absent.py'"), (["--fast"], "no option '--fast'"), (["-m"], "no module is given")],
    "doctor": [
        (["absent.py"], "no file 'absent.py'"),
        (["--html"], "--html needs a file"),
        (["--html", "no/such/r.html", "fine.py"], "there is no folder"),
        (["--html", "/proc/r.html", "fine.py"], "cannot write in /proc"),
        (["--html", ".", "fine.py"], "is a folder"),
        (["--fast", "fine.py"], "no option '--fast'"),
        (["--strict"], "no script is given"),
    ],
    "profile": [(["--rows", "many", "fine.py"], "invalid int value: 'many'"), (["-o", "fine.py/x", "fine.py"], "is not a folder")],
    "bench": [
        ([], "the following arguments are required: kind"),
        (["speed"], "invalid choice: 'speed'"),
        (["modes", "--batch-sizes", "two"], "invalid int value"),
        (["modes", "--csv", "/proc/m.csv"], "cannot write in /proc"),
        (["modes", "fine.py:model_fn"], "no function 'model_fn'"),
    ],
    "demo": [(["--steps", "many"], "invalid int value"), (["--output", "/proc/r.html"], "cannot write in /proc"), (["--fast"], "--fast")],
    "shim": [(["paint"], "cannot read 'paint'"), (["install", "--target", "fine.py"], "is not a folder")],
    "env": [(["all"], "takes no arguments, got 'all'")],
}


@pytest.mark.parametrize(("command", "arguments", "words"), [(name, *case) for name, cases in REFUSED.items() for case in cases])
def test_a_refusal_is_one_line_and_leaves_nothing(tmp_path, command, arguments, words):
    (tmp_path / "fine.py").write_text("open('ran', 'w')\n" if command != "bench" else "")
    environment = {**os.environ, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"}
    called = [sys.executable, "-m", "retrograd", command, *arguments]
    done = subprocess.run(called, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode in (1, 2) and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    assert done.stderr.startswith(f"retrograd {command}: ") and words in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["fine.py"]


def test_a_reader_that_goes_away_is_no_traceback(tmp_path):
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    command = f"{sys.executable} -c 'import time; time.sleep(0.2)' | {sys.executable} -m retrograd env | {sys.executable} -c pass"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_report_that_can_no_longer_be_written(tmp_path, monkeypatch, capsys):
    """The folder is gone when the work is done: one line, a status, nothing half-written."""
    from retrograd.cli import demo as demo_command

    def gone(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(demo_command, "write_report", gone)
    assert demo_command.main(["--steps", "1", "--sample", "1", "--no-compare", "--output", str(tmp_path / "r.html")]) == 1
    assert capsys.readouterr().err == f"retrograd demo: cannot write {tmp_path / 'r.html'}: No space left on device\n"
    program = "import os, shutil\nshutil.rmtree('out')\n"
    (tmp_path / "out").mkdir()
    found = run(tmp_path, program, launcher=("-m", "retrograd", "doctor", "--html", "out/r.html"))
    assert found.returncode == 1 and found.stderr.splitlines()[-1].startswith("retrograd doctor: cannot write ")
    found = run(tmp_path, "import torch\ntorch.ones(1)\nopen('out', 'w')\n", launcher=("-m", "retrograd", "profile", "-o", "out"))
    assert found.returncode == 1 and found.stderr.splitlines() == ["retrograd profile: cannot write to 'out': File exists"]


# -- the demo -----------------------------------------------------------------


def demo(tmp_path, *arguments):
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    command = [sys.executable, "-m", "retrograd", "demo", *arguments]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)


def test_the_demo_trains_writes_and_reports(tmp_path):
    found = demo(tmp_path, "--steps", "4", "--sample", "20", "--no-compare", "--output", "out.html")
    assert found.returncode == 0 and found.stderr == "", found.stderr  # no bar where there is no terminal
    assert "4 steps" in found.stdout and "tokens/s" in found.stdout and "out.html" in found.stdout
    page = (tmp_path / "out.html").read_text()
    for part in ("Loss", "Gradient norms by layer", "Memory of tensors", "Time by op", "What it writes", "layer 0", "addmm"):
        assert part in page
    assert page.count("<svg") == 4 and not any(words in page for words in ("http", "src=", "href=", "<script", "NaN"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--steps", "0"], "--steps has to be at least 1"),
        (["--seconds", "-1"], "--seconds has to be more than 0"),
        (["--seconds", "nan"], "--seconds has to be more than 0"),
        (["--output", "no/such/folder/r.html"], "there is no folder"),
        (["--output", "."], "is a folder"),
        (["--output", "/proc/report.html"], "cannot write in /proc"),
    ],
)
def test_the_demo_refuses_in_words(capsys, arguments, words):
    from retrograd.cli.demo import main

    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr().err
    assert ended.value.code == 2 and words in said and said.count("\n") == 1


def test_the_demo_learns():
    from retrograd.cli.demo.model import Corpus, Trainer

    retrograd.manual_seed(0)
    trainer = Trainer(retrograd, Corpus.of(retrograd, "abcd " * 200))
    losses = [trainer.step(0.2)[0].item() for _ in range(12)]
    assert losses[-1] < losses[0] / 2 and set(trainer.norms()) == {"symbols", "places", "layer 0", "layer 1", "layer 2", "norm", "head"}
    assert set(trainer.sample(10, "a")) <= set("abcd ")


# -- retrograd profile ----------------------------------------------------------

STEP = "import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).sum().backward()\nprint('grad', x.grad.tolist())\n"


def profile(tmp_path, text, *options, **more):
    return run(tmp_path, text, launcher=("-m", "retrograd", "profile", *options), **more)


def test_profile_leaves_a_trace_and_a_summary(tmp_path):
    done = profile(tmp_path, STEP + "import sys\nprint(sys.argv, __name__)\n", "--memory", target=["program.py", "-o", "3"])
    assert done.returncode == 0 and done.stdout == "grad [2.0, 2.0, 2.0]\n['program.py', '-o', '3'] __main__\n"
    assert len(done.stderr.splitlines()) == 1 and "events in " in done.stderr
    folder = tmp_path / "retrograd-profile"
    assert sorted(os.listdir(folder)) == ["summary.txt", "trace.json"]
    spans = {event["name"] for event in json.loads((folder / "trace.json").read_text())["traceEvents"]}
    assert {"aten::mul", "aten::sum", "MulBackward0", "autograd::engine::evaluate_function: SumBackward0"} <= spans
    summary = (folder / "summary.txt").read_text()
    assert "aten::mul" in summary and "Self CPU Mem" in summary and "Self CPU time total" in summary


def test_profile_of_a_module_and_its_threads(tmp_path):
    text = "import threading, torch\nt = threading.Thread(target=lambda: torch.ones(3).neg())\nt.start()\nt.join()\n"
    done = profile(tmp_path, text, "-q", "-o", "out", "--stack", target=["-m", "program"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "aten::neg" in (tmp_path / "out" / "summary.txt").read_text()


def test_profile_of_a_program_that_fails(tmp_path):
    done = profile(tmp_path, STEP + "def f():\n    raise ValueError('boom')\nf()\n")
    plain = run(tmp_path, STEP + "def f():\n    raise ValueError('boom')\nf()\n", launcher=("-m", "retrograd", "run"))
    assert done.returncode == plain.returncode == 1 and done.stdout == plain.stdout
    assert done.stderr.splitlines()[1:] == plain.stderr.splitlines()  # after where the profile is
    assert "MulBackward0" in (tmp_path / "retrograd-profile" / "summary.txt").read_text()
    done = profile(tmp_path, STEP + "import sys\nsys.exit(7)\n", "-o", "exits")
    assert done.returncode == 7 and "MulBackward0" in (tmp_path / "exits" / "trace.json").read_text()


@pytest.mark.parametrize(
    ("options", "target", "words"),
    [
        ((), ["nowhere.py"], "no file 'nowhere.py'"),
        ((), [], "no script is given"),
        ((), ["-m"], "no module is given"),
        (("-o", "program.py"), None, "program.py is not a folder"),
        (("-o", "program.py/deep"), None, "program.py is not a folder"),
        (("-o", "/proc/nowhere"), None, "cannot write in /proc"),
    ],
)
def test_profile_refuses_in_one_line(tmp_path, options, target, words):
    (tmp_path / "program.py").write_text("open('ran', 'w')\n")
    command = [sys.executable, "-m", "retrograd", "profile", *options, *(["program.py"] if target is None else target)]
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1 and words in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["program.py"]
