"""`retrograd run`: a program behaves as under `python`, tracebacks included. `retrograd demo`: what it prints and leaves."""

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
    assert ended.value.code == 2 and words in capsys.readouterr().err


def test_the_demo_learns():
    from retrograd.cli.demo.model import Corpus, Trainer

    retrograd.manual_seed(0)
    trainer = Trainer(retrograd, Corpus.of(retrograd, "abcd " * 200))
    losses = [trainer.step(0.2)[0].item() for _ in range(12)]
    assert losses[-1] < losses[0] / 2 and set(trainer.norms()) == {"symbols", "places", "layer 0", "layer 1", "layer 2", "norm", "head"}
    assert set(trainer.sample(10, "a")) <= set("abcd ")
