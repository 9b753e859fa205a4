"""`retrograd bench`: what it measures, says and writes, and how it refuses."""

import csv
import importlib.util
import io
import json
import re
import sys
from pathlib import Path

import pytest

from retrograd.cli import bench
from retrograd.cli.bench import measure, show
from retrograd.cli.bench.models import BUILT_IN

MODEL = """
import torch

def model_fn(batch_size):
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    return model, torch.randn(batch_size, 8)
"""
QUICK = ["--seconds", "0.02", "--threads", "1", "--quiet"]


@pytest.fixture
def script(tmp_path):
    def write(text=MODEL):
        (tmp_path / "model.py").write_text(text)
        return f"{tmp_path / 'model.py'}:model_fn"

    return write


def run(capsys, *arguments):
    status = bench.main([*arguments, *QUICK])
    found = capsys.readouterr()
    return status, found.out, found.err


def test_modes_of_a_model_of_ones_own(capsys, tmp_path, script):
    status, out, err = run(
        capsys, "modes", script(), "--batch-sizes", "2", "64", "--csv", str(tmp_path / "m.csv"), "--json", str(tmp_path / "m.json")
    )
    assert (status, err) == (0, "")
    assert all(word in out for word in ("model.py:model_fn", "train()", "eval()", "inference_mode", "samples/s", "kept", "beyond noise"))
    rows = list(csv.DictReader((tmp_path / "m.csv").open()))
    assert len(rows) == 2 * 2 * 3
    by = {(row["batch"], row["call"], row["mode"]): row for row in rows}
    for batch in ("2", "64"):
        for call in ("train()", "eval()"):
            default, quiet, inference = (by[batch, call, mode] for mode in ("default", "no_grad", "inference_mode"))
            assert int(default["peak_bytes"]) >= int(quiet["peak_bytes"]) == int(inference["peak_bytes"])
            assert int(quiet["kept_bytes"]) == int(batch) * 16 < int(default["kept_bytes"])  # the result alone
            assert float(quiet["time_ratio_low"]) <= float(quiet["time_ratio"]) <= float(quiet["time_ratio_high"])
    assert int(by["64", "train()", "default"]["kept_bytes"]) > int(by["2", "train()", "default"]["kept_bytes"])
    assert int(by["64", "eval()", "default"]["peak_bytes"]) > int(by["64", "eval()", "no_grad"]["peak_bytes"])
    stored = json.loads((tmp_path / "m.json").read_text())
    assert len(stored["rows"]) == 12 and len(stored["rows"][0]["samples"]) >= measure.LEAST_ROUNDS and "retrograd" in stored["engines"]
    assert out.count("beyond the noise") + out.count("(95%:") == 12  # a statement for each comparison, of inference_mode two


def test_checkpointing_saves_memory(capsys, tmp_path):
    status, out, _ = run(capsys, "checkpoint", "transformer", "--depths", "4", "--batch-sizes", "1", "--csv", str(tmp_path / "c.csv"))
    assert status == 0 and "4 of 4" in out
    peaks = [int(row["peak_bytes"]) for row in csv.DictReader((tmp_path / "c.csv").open())]
    assert peaks[0] > peaks[1] > peaks[2] > peaks[3] and peaks[4] < 0.6 * peaks[0]


def test_training_steps_and_anomaly_mode(capsys):
    status, out, _ = run(capsys, "train", "mlp", "--batch-sizes", "4", "--cpu-time")
    assert status == 0 and "detect_anomaly" in out and "samples/s" in out


def test_ops(capsys):
    status, out, _ = run(capsys, "ops", "mul", "exp", "mm", "--sizes", "8")
    assert status == 0 and [line.split()[0] for line in out.splitlines()[2:]] == ["exp", "mm", "mul"]
    assert len(bench.ops_of([], [4])) > 300


def test_every_built_in_model_runs():
    import retrograd as torch

    for name, built_in in BUILT_IN.items():
        made = built_in.make(torch, 2, built_in.depth)
        assert made.model(*made.inputs).shape[0] == 2, name
    sizes = [p.shape[1] for p in BUILT_IN["wide-mlp"].make(torch, 1, 2).model.parameters() if p.dim() == 2]
    assert sizes == [1024, 2048, 2048, 1024]


@pytest.mark.needs_torch
def test_against_pytorch(capsys, script, tmp_path):
    status, out, err = run(capsys, "ops", "exp", "--sizes", "16", "--against", "torch", "--json", str(tmp_path / "m.json"))
    assert (status, err) == (0, "") and "times as fast" in out and "PyTorch peak" in out
    ours, theirs = json.loads((tmp_path / "m.json").read_text())["rows"]
    assert (ours["engine"], theirs["engine"]) == ("retrograd", "torch") and theirs["time_against"] > 0
    assert ours["kept_bytes"] == theirs["kept_bytes"] == ours["peak_bytes"] == theirs["peak_bytes"] == 1024
    status, _, err = run(
        capsys, "modes", script(MODEL.replace("import torch", "import retrograd as torch")), "--against", "torch", "--batch-sizes", "4"
    )
    assert status == 1 and "import torch in the script, not retrograd" in err


# -- plots ----------------------------------------------------------------------


def test_plots(capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="plots are drawn by matplotlib, which is not installed")
    folder = tmp_path / "new" / "plots"
    assert run(capsys, "modes", "mlp", "--batch-sizes", "1", "4", "--depths", "1", "3", "--plot", str(folder))[0] == 0
    assert run(capsys, "checkpoint", "mlp", "--batch-sizes", "2", "--plot", str(folder))[0] == 0
    assert run(capsys, "ops", "mul", "--sizes", "4", "--plot", str(folder))[0] == 0
    names = sorted(f.name for f in folder.iterdir())
    assert names == ["checkpoint.png", "ops.png", "saving-by-batch.png", "saving-by-depth.png"]
    assert all(f.read_bytes()[:4] == b"\x89PNG" for f in folder.iterdir())


# -- bad input ------------------------------------------------------------------

FAILING = {
    "raises": ("def model_fn(n):\n    return 1 / 0\n", ("model_fn(1) failed: ZeroDivisionError: division by zero", "model.py:2")),
    "syntax": ("def model_fn(n:\n", ("cannot be imported: SyntaxError",)),
    "import": ("import no_such_module\n", ("cannot be imported: ModuleNotFoundError: No module named 'no_such_module'",)),
    "absent": ("def other(n): pass\n", ("has no function 'model_fn'",)),
    "shape": ("def model_fn(n): return 3\n", ("has to give a model and its inputs", "got int")),
    "inputs": ("import torch\ndef model_fn(n): return torch.nn.Linear(2, 2), [1, 2]\n", ("inputs have to be tensors", "builtins.list")),
    "forward": (
        "import torch\ndef model_fn(n): return torch.nn.Linear(2, 2), torch.ones(n, 3)\n",
        ("batch size 1: RuntimeError: mat1 and mat2 shapes cannot be multiplied",),
    ),
    "exits": ("import os\ndef model_fn(n): os._exit(3)\n", ("ended with status 3",)),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_model_that_fails_is_one_line_and_leaves_nothing(capsys, tmp_path, script, name):
    text, words = FAILING[name]
    status, out, err = run(capsys, "modes", script(text), "--csv", str(tmp_path / "m.csv"), "--plot", str(tmp_path / "plots"))
    assert status == 1 and out == "" and err.count("\n") == 1 and err.startswith("retrograd bench: ")
    assert all(part in err for part in words), err
    assert sorted(f.name for f in tmp_path.iterdir() if f.name != "__pycache__") == ["model.py"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["modes", "nothing"], "no model 'nothing': expected one of mlp, wide-mlp"),
        (["modes", "absent.py:f"], "no file 'absent.py'"),
        (["modes", "--csv", "/proc/m.csv"], "cannot write in /proc"),
        (["modes", "--json", "/no/such/folder/m.json"], "there is no folder /no/such/folder"),
        (["modes", "--plot", "/proc/plots"], "--plot: cannot write in /proc"),
        (["modes", "--plot", f"{__file__}/plots"], "is not a folder"),
        (["modes", "--batch-sizes", "0"], "--batch-sizes have to be at least 1"),
        (["modes", "--device", "cuda"], "this build measures on the CPU alone"),
        (["modes", "--cpu-time", "--threads", "2"], "it needs --threads 1"),
        (["modes", "--seconds", "nan"], "--seconds has to be more than 0"),
        (["ops", "no_such_op"], "there is no op 'no_such_op'"),
    ],
)
def test_refusals_come_before_the_work(capsys, monkeypatch, arguments, words):
    def none_started(*_):
        raise AssertionError("something was measured")

    if "absent.py:f" not in arguments:
        monkeypatch.setattr(bench, "Engine", none_started)
    status = bench.main(arguments)
    err = capsys.readouterr().err
    assert status == 1 and words in err and err.count("\n") == 1


def test_a_missing_matplotlib_is_said(capsys, monkeypatch, tmp_path):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in ("matplotlib", "torch") else found(name, *rest))
    assert bench.main(["modes", "mlp", "--plot", str(tmp_path / "p")]) == 1
    assert "--plot needs matplotlib, which is not installed: pip install matplotlib" in capsys.readouterr().err
    assert bench.main(["modes", "mlp", "--against", "torch"]) == 1 and "PyTorch is not installed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# -- statistics and forms ---------------------------------------------------------


def row(samples, **spec):
    return measure.Row("retrograd", {"kind": "modes", "eval": True, **spec}, samples, 1000, 10)


def test_noise_is_told_from_a_difference():
    import random

    chance = random.Random(1)
    base = row([1.0 + chance.gauss(0, 0.05) for _ in range(21)])
    same = row([1.0 + chance.gauss(0, 0.05) for _ in range(21)])
    faster = row([0.8 + chance.gauss(0, 0.05) for _ in range(21)])
    assert not measure.compare(base, same).real
    found = measure.compare(base, faster)
    assert found.real and found.low < found.ratio < found.high < 0.9 and found.ratio == pytest.approx(0.8, abs=0.05)


def test_false_alarms_are_rare():
    import random

    chance = random.Random(2)
    alarms = sum(measure.compare(*(row([chance.lognormvariate(0, 0.2) for _ in range(21)]) for _ in range(2))).real for _ in range(100))
    assert alarms <= 8  # at most 5 in a hundred are expected, 2.7 with 21 rounds


def test_tables(capsys):
    results = [
        show.Result({"model": "a", "batch": 2}, row([1e-3] * 8, batch=2)),
        show.Result({"model": "long name", "batch": 2}, row([2e-6] * 8, batch=2)),
    ]
    show.table(results, plain=True)
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[0].split()[:3] == ["model", "batch", "time"]
        and "1 ms" in lines[2]
        and "2 us" in lines[3]
        and lines[2].index("2") == lines[3].index("2")
    )


def test_tables_by_rich(capsys):
    pytest.importorskip("rich", reason="rich is not installed")
    show.table([show.Result({"model": "a", "batch": 2}, row([1e-3] * 8, batch=2))], plain=False)
    out = capsys.readouterr().out
    assert "model" in out and "1 ms" in out and out != out.strip()


def test_a_terminal_gets_a_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    assert bench.main(["train", "mlp", "--batch-sizes", "2", "--seconds", "0.02", "--threads", "1"]) == 0
    assert "[mlp 2 default]" in screen.getvalue() and "rounds" in screen.getvalue()


def test_the_commands_of_the_claims_page_are_commands():
    """Each table follows the command that measures it, and has a figure in every cell but the first."""
    text = (Path(__file__).parent.parent / "docs" / "claims.md").read_text()
    commands = set(re.findall(r"retrograd (bench (?!--)[^`\n|]*)", text))
    assert len(commands) >= 4
    for command in commands:
        options = bench.parser_of().parse_args(command.split()[1:])
        assert bench.groups_of(options), command
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        tables = section.split("\n| ")
        if len(tables) > 1:
            assert "`retrograd bench " in tables[0] or "The first command above" in tables[0], section.splitlines()[0]
    rows = [line.split("|")[2:-1] for line in text.splitlines() if line.startswith("| ") and "|---" not in line]
    figures = [cell for row in rows for cell in row if re.search(r"\d", cell) or "no difference" in cell]
    assert len(rows) > 25 and len(figures) >= sum(map(len, rows)) - 20  # heads have none
