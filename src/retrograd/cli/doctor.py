"""Runs a PyTorch script under the doctor and ends with its report.

    retrograd doctor train.py --epochs 3
    retrograd doctor --html report.html -m package.module

The script runs unchanged, as under `retrograd run`, and is looked at closely from its first to its last step. However it ends (an exception, sys.exit, a signal, os._exit), the report of
what was seen follows. The exit status is the script's own; 1 where that is 0 and something was found.

options, before the script:
    --html FILE   write the report as a page, too
    --strict      stop the script at the first mistake
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from retrograd import _files
from retrograd.cli import refuse, run

_USAGE = "usage: retrograd doctor [--html FILE] [--strict] (script.py | -m module) [arguments]"


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"{_USAGE}\n\n{__doc__}")
        return 0 if arguments else 2
    if arguments[0] == "--inside":
        return _inside(Path(arguments[1]), arguments[2:])
    options: dict[str, Any] = {"html": None, "strict": False}
    rest = list(arguments)
    while rest and rest[0] in ("--html", "--strict"):
        name = rest.pop(0)
        if name == "--strict":
            options["strict"] = True
        elif not rest:
            return refuse("doctor", "--html needs a file")
        else:
            options["html"] = os.path.abspath(rest.pop(0))
    if wrong := run.missing(rest) or (options["html"] and _files.refusal(options["html"])):
        return refuse("doctor", wrong)
    return _outside(options, rest)


# -- the process that stays -----------------------------------------------------


def _outside(options: dict[str, Any], script: list[str]) -> int:
    """Starts the script in a process of its own, which may end in any way, and tells what it wrote down."""
    with tempfile.TemporaryDirectory(prefix="retrograd-doctor-") as folder:
        record = Path(folder)
        (record / "options.json").write_text(json.dumps(options))
        child = subprocess.Popen([sys.executable, "-m", "retrograd", "doctor", "--inside", folder, *script])
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the script
        try:
            status = child.wait()
        finally:
            signal.signal(signal.SIGINT, before)
        sys.stdout.flush()
        found = _tell(record, status)
        page = record / "report.html"
        if options["html"] and page.exists():
            try:
                _files.write_text(options["html"], page.read_text(encoding="utf-8"))
                print(f"The report is in {options['html']}")
            except OSError as error:
                print(f"retrograd doctor: cannot write {options['html']}: {error.strerror}", file=sys.stderr)
                found = True
    if status < 0:
        return 128 - status
    return status or int(found)


def _tell(record: Path, status: int) -> bool:
    """Prints the report, or what is left where the process could not write one. Whether anything was found."""
    noted = (
        [json.loads(line) for line in (record / "findings.jsonl").read_text(encoding="utf-8").splitlines()]
        if (record / "findings.jsonl").exists()
        else []
    )
    findings = [text for _, text in noted]
    print()
    if (record / "report.txt").exists():
        print((record / "report.txt").read_text(encoding="utf-8"))
        elsewhere = dict.fromkeys(text for is_own, text in noted if not is_own)
        if elsewhere:
            print("Found in processes that the script started:\n")
        for text in elsewhere:
            print("\n".join("  " + line for line in text.splitlines()) + "\n")
        return bool(findings)
    how = (
        f"was ended by {signal.Signals(-status).name}"
        if status < 0
        else f"left by itself with status {status}, before a report could be made"
    )
    print(f"retrograd doctor\n  the script {how}. What was found until then:\n")
    for finding in findings or ["nothing"]:
        print("\n".join("  " + line for line in finding.splitlines()) + "\n")
    return bool(findings)


# -- the process of the script --------------------------------------------------


def _inside(record: Path, script: list[str]) -> int:
    import atexit

    from retrograd import doctor
    from retrograd.doctor import _findings
    from retrograd.doctor._watch import watcher

    options = json.loads((record / "options.json").read_text())
    owner = os.getpid()

    def note(finding: doctor.Finding) -> None:
        with open(record / "findings.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps([os.getpid() == owner, finding.text()]) + "\n")

    def write_report() -> None:
        if os.getpid() != owner:
            return  # a process that the script started: its findings are noted
        report = doctor.report()
        (record / "report.txt").write_text(str(report), encoding="utf-8")
        if options["html"]:
            report.save(record / "report.html")

    _findings.listeners.append(note)
    doctor.on()
    watcher.always = True
    atexit.register(write_report)
    if options["strict"]:
        doctor.strict()
    watcher.open(at_once=True)
    try:
        return run.main(script)
    except Exception as error:
        _findings.note_error(error)
        raise
