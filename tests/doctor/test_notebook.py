"""Diagnoses in a notebook: one block below the cell, once, through `warnings`; lines are named by their cells."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel, which run notebooks")
nbformat = pytest.importorskip("nbformat", reason="needs nbformat, which nbclient brings")
pytest.importorskip("ipykernel", reason="needs ipykernel, which runs the cells")

LOOP = "for _ in range(6):\n    loss = (model(x) - y).square().mean()\n    loss.backward()\n    optimizer.step()"
CELLS = {
    "start": (
        "import logging, warnings\nimport retrograd as torch\nfrom retrograd import nn\nmodel = nn.Linear(3, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), 0.01)\nx, y = torch.randn(8, 3), torch.randn(8, 1)"
    ),
    "loop": LOOP,
    "again": LOOP,  # the same cell, run once more
    "other warning": "warnings.warn('of somebody else')",
    "error": (
        "torch.doctor.forget()\nwith warnings.catch_warnings():\n    warnings.simplefilter('error', torch.doctor.SilentFailureWarning)\n"
        + LOOP.replace("\n", "\n    ").replace("for", "    for", 1)
    ),
    "ignored": (
        "torch.doctor.forget()\noptimizer.zero_grad()\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n"
        + LOOP.replace("\n", "\n    ").replace("for", "    for", 1)
    ),
    "recorded": (
        "torch.doctor.forget()\noptimizer.zero_grad()\nwith warnings.catch_warnings(record=True) as log:\n    warnings.simplefilter('always')\n"
        + LOOP.replace("\n", "\n    ").replace("for", "    for", 1)
        + "\nprint([w.message.code for w in log])"
    ),
    "logged": "torch.doctor.forget()\noptimizer.zero_grad()\nlogging.basicConfig()\nlogging.captureWarnings(True)\n"
    + LOOP
    + "\nlogging.captureWarnings(False)",
    "shown": "torch.doctor.forget()\noptimizer.zero_grad()\n" + LOOP,
    "raised": "w = torch.ones(3, requires_grad=True)\nh = w.exp()\nh.add_(1)\nh.sum().backward()",
    "why": "with torch.no_grad():\n    cut = w * 2\nprint(cut.why_no_grad())",
}


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("notebook")
    spec = folder / "kernels" / "here"
    spec.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "RETROGRAD_DOCTOR": "1"}
    (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "here", "language": "python", "env": environment}))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()])
    before = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = str(folder)
    try:
        nbclient.NotebookClient(
            notebook, timeout=300, allow_errors=True, kernel_name="here", resources={"metadata": {"path": str(folder)}}
        ).execute()
    finally:
        os.environ.pop("JUPYTER_PATH")
        if before is not None:
            os.environ["JUPYTER_PATH"] = before
    return dict(zip(CELLS, notebook.cells, strict=True))


def test_a_diagnosis_is_one_block(cells: dict[str, Any]) -> None:
    for name, cell in (("loop", 2), ("shown", 9)):
        (output,) = cells[name].outputs
        line = CELLS[name].splitlines().index("    loss.backward()") + 1
        assert output.output_type == "display_data"
        text, html = output.data["text/plain"], output.data["text/html"]
        assert text.startswith("[missing_zero_grad] this backward() adds onto gradients")
        assert f"at Cell In[{cell}], line {line} (loss.backward())" in text and "Why: " in text and "Fix: " in text
        assert html.startswith("<div") and "<b>missing_zero_grad</b>" in html and "optimizer.zero_grad()" in html and "\x1b" not in html


def test_it_is_not_told_twice(cells: dict[str, Any]) -> None:
    assert cells["start"].outputs == [] and cells["again"].outputs == []


def test_other_warnings_are_printed_as_ever(cells: dict[str, Any]) -> None:
    (output,) = cells["other warning"].outputs
    assert output.output_type == "stream" and output.name == "stderr" and "UserWarning: of somebody else" in output.text


def test_filters_recorders_and_logs_have_their_way(cells: dict[str, Any]) -> None:
    (error,) = cells["error"].outputs
    assert error.output_type == "error" and error.ename == "SilentFailureWarning"
    assert cells["ignored"].outputs == []
    (printed,) = cells["recorded"].outputs
    assert printed.text == "['missing_zero_grad']\n"
    (logged,) = cells["logged"].outputs
    assert logged.output_type == "stream" and logged.text.count("[missing_zero_grad]") == 1 and "WARNING:py.warnings" in logged.text


def test_errors_and_answers_name_cells(cells: dict[str, Any]) -> None:
    (error,) = cells["raised"].outputs
    assert "saved for ExpBackward0 at Cell In[10], line 2\n  changed at Cell In[10], line 3" in error.evalue
    (answer,) = cells["why"].outputs
    assert "gradients were switched off at Cell In[11], line 1 (with torch.no_grad():)" in answer.text
