"""Runs one thing on both engines, in a fresh folder each, and says how they agree."""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
from typing import Any

from . import results
from .libraries import LIBRARIES, Library
from .programs import PROGRAMS, REVISIONS, Program

_HERE = pathlib.Path(__file__).parent
_SKIPPED = (".gif", ".pdf", ".png", ".jpg", ".jpeg", ".ipynb", ".svg")  # nothing that runs


def _unpack(program: Program, repositories: pathlib.Path, folder: pathlib.Path) -> None:
    """The files of the revision, out of a clone."""
    clone = repositories / program.repository.replace("/", "+")
    git = ["git", "--git-dir", str(clone / "repo" if (clone / "repo").is_dir() else clone / ".git")]
    revision = REVISIONS[program.repository]
    listed = subprocess.run([*git, "ls-tree", "-r", "--name-only", revision], capture_output=True, text=True, check=True)
    wanted = [name for name in listed.stdout.splitlines() if not name.endswith(_SKIPPED) and not name.startswith("word_language_model/")]
    archive = subprocess.run([*git, "archive", revision, "--", *wanted], capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")


def _start(program: Program, folder: pathlib.Path) -> None:
    if program.prepare is not None:
        program.prepare(folder)
    script = folder / program.run[0]
    for large, small in program.sizes.items():
        text = script.read_text()
        if large not in text:
            raise SystemExit(f"{program.title}: {program.run[0]} has no {large!r}")
        script.write_text(text.replace(large, small))


def _once(program: Program | Library, engine: str, folder: pathlib.Path, options: argparse.Namespace) -> dict[str, Any]:
    """What one run wrote down; `error` is the end of what it said where it failed."""
    paths = [str(_HERE / "stand_ins" / name) for name in program.stand_ins]
    if engine == "pytorch":
        paths.append(str(options.pytorch.resolve()))
    given = program.environment.get("PYTHONPATH")
    if given:
        paths.append(str((folder / given).resolve()))
    variables = {
        **os.environ,
        **program.environment,
        "PYTHONPATH": os.pathsep.join(paths),
        "PATH": os.pathsep.join([*paths, os.environ["PATH"]]),
        "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",
        "RETROGRAD_DOCTOR": "0" if engine == "unwatched" else "1",
    }
    if options.strict_warnings and engine == "retrograd":
        filters = ["error:", *(f"ignore:[{code}]" for code in program.diagnoses)]
        variables["PYTHONWARNINGS"] = ",".join(f"{start}:retrograd.doctor.SilentFailureWarning" for start in filters)
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # else what is not compiled yet is, within the time of the steps, at each run
    result = folder / f"watched-{engine}.json"
    name = program.title.replace("/", "+").replace(" ", "_")
    kept = options.keep / f"{name}.{engine}" if options.keep else None
    if options.reuse and engine == "pytorch" and kept and (kept.parent / f"{kept.name}.json").exists():
        again: dict[str, Any] = json.loads((kept.parent / f"{kept.name}.json").read_text())
        return again
    kind = ["--pytest"] if program.tests else ["--steps", str(program.steps)]
    python = str(options.environment.resolve() / "bin/python")
    launcher = (
        [python, "-m", "retrograd", "run"] if engine != "pytorch" and isinstance(program, Program) else [python]
    )  # the shim serves libraries
    command = [*launcher, str(_HERE / "watch.py"), str(result), *kind, *program.run]
    try:
        ended = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, timeout=options.seconds, stdin=subprocess.DEVNULL
        )
        said, code = ended.stdout + ended.stderr, ended.returncode
    except subprocess.TimeoutExpired as error:
        said, code = f"longer than {error.timeout:.0f} seconds", 1
    watched: dict[str, Any] = json.loads(result.read_text()) if result.exists() else {"losses": [], "tests": {}, "seconds": 0.0}
    if (code != 0 and not program.tests) or not result.exists():
        watched["error"] = said.strip()[-2000:] or f"exit status {code}"
    if program.printed and code == 0:
        watched["losses"] = [float(number) for number in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e[+-]?\d+)?(?![\w.])", ended.stdout)]
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        (kept.parent / f"{kept.name}.txt").write_text(said)
        (kept.parent / f"{kept.name}.json").write_text(json.dumps(watched))
    return watched


def _difference(ours: list[float], theirs: list[float]) -> float:
    """The largest relative difference of two rows of losses."""
    largest = 0.0
    for a, b in zip(ours, theirs, strict=True):
        if (math.isnan(a) and math.isnan(b)) or a == b:
            continue
        if not (math.isfinite(a) and math.isfinite(b)):
            return math.inf
        largest = max(largest, abs(a - b) / max(abs(a), abs(b), 1e-12))
    return largest


def _diagnoses(program: Program | Library, ours: dict[str, Any]) -> list[str]:
    """What the doctor said of a program and should not have."""
    if not ours.get("doctor_was_on", True):
        return ["the doctor was off"]
    return [text for code, _, text in ours.get("findings", ()) if code not in program.diagnoses]


def _verdict(program: Program | Library, ours: dict[str, Any], theirs: dict[str, Any], unwatched: dict[str, Any]) -> dict[str, Any]:
    """A row of the page: ours is the run that the doctor watches, unwatched the same one without it."""
    seconds = [theirs["seconds"], ours["seconds"], unwatched["seconds"]]
    row: dict[str, Any] = {"ok": False, "steps": len(theirs["losses"]), "seconds": seconds}
    if "error" in theirs:
        row["said"] = "fails on PyTorch: " + theirs["error"].splitlines()[-1]
    elif "error" in ours:
        row["said"] = ours["error"].splitlines()[-1]
    elif program.tests:
        differ = [name for name, outcome in theirs["tests"].items() if outcome == "passed" and ours["tests"].get(name) != "passed"]
        passed = sum(outcome == "passed" for outcome in ours["tests"].values())
        expected = sum(outcome == "passed" for outcome in theirs["tests"].values())
        row |= {"ok": not differ and expected > 0, "said": f"{passed} tests pass, {expected} on PyTorch", "differ": differ}
    elif len(ours["losses"]) != len(theirs["losses"]) or not theirs["losses"]:
        row["said"] = f"{len(ours['losses'])} steps, {len(theirs['losses'])} on PyTorch"
    else:
        difference = _difference(ours["losses"], theirs["losses"])
        row |= {"ok": difference <= program.tolerance, "difference": difference}
        row["said"] = (
            f"{len(theirs['losses'])} losses, largest relative difference {difference:.0e}"
            if difference
            else f"{len(theirs['losses'])} losses, equal bit for bit"
        )
    row["diagnoses"] = _diagnoses(program, ours)
    if repr(ours["losses"]) != repr(unwatched["losses"]):  # a NaN is like another
        row["diagnoses"].append("the losses are others when the doctor is off")
    row["ok"] = row["ok"] and not row["diagnoses"]
    return row


def _versions(python: pathlib.Path, packages: list[str]) -> dict[str, str]:
    question = "import sys; from importlib import metadata\nfor n in sys.argv[1:]: print(n, metadata.version(n))"
    answer = subprocess.run([str(python), "-c", question, *packages], capture_output=True, text=True, check=True)
    return dict(line.split() for line in answer.stdout.splitlines())


def _chosen(title: str, only: list[str]) -> bool:
    return not only or any(part in title for part in only)


def run(options: argparse.Namespace) -> int:
    """Compares what was asked for, keeps each result as it comes, and returns how many disagree."""
    programs = options.command == "programs"
    things = [thing for thing in (PROGRAMS if programs else LIBRARIES) if _chosen(thing.title, options.only)]
    failures = 0
    for thing in things:
        with tempfile.TemporaryDirectory() as scratch:
            watched = {}
            for engine in ("pytorch", "retrograd", "unwatched"):
                root = pathlib.Path(scratch) / engine
                root.mkdir()
                folder = root
                if isinstance(thing, Program):
                    _unpack(thing, options.repositories, root)
                    folder = root / thing.folder
                    _start(thing, folder)
                else:
                    shutil.copy(_HERE / "small" / thing.run[0], root)
                watched[engine] = _once(thing, engine, folder, options)
        row = _verdict(thing, watched["retrograd"], watched["pytorch"], watched["unwatched"])
        if isinstance(thing, Program):
            row["version"] = REVISIONS[thing.repository][:10]
        else:
            row["version"] = _versions(options.environment / "bin/python", [thing.package])[thing.package]
        results.keep("programs" if programs else "libraries", thing.title, row)
        failures += not row["ok"]
        theirs, *ours = row["seconds"]
        speeds = " and ".join(f"{theirs / seconds:.2f}x" for seconds in ours if seconds)
        print(f"{'ok  ' if row['ok'] else 'FAIL'} {thing.title}: {row['said']}; {speeds} as fast, with and without the doctor", flush=True)
        for name in [*row.get("differ", []), *row["diagnoses"]][:10]:
            print("       ", name)
    return failures
