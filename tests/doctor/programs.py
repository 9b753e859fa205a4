"""Runs a program as `retrograd run` would, in a process of its own, and says what the doctor told of it.

A program is a PyTorch script. A broken one begins with `# code: graph_leak` (or several codes, where it is honestly an instance of each, with commas), has `# LINE` at the end of
the line that the diagnosis has to name and `# ALSO` at the end of the second one, where the code has one. `# default` in the first line: not under strict(), which would stop
it before; `# strict`: only there. Programs in correct/ must be quiet in both modes.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
BROKEN = sorted((FOLDER / "broken").glob("*.py"))
CORRECT = sorted((FOLDER / "correct").glob("*.py"))


class Expected(NamedTuple):
    codes: tuple[str, ...]
    modes: tuple[str, ...]
    lines: list[int]
    also: list[int]


class Told(NamedTuple):
    code: str
    text: str
    is_error: bool


class Outcome(NamedTuple):
    told: list[Told]
    failure: str  # a traceback, of anything but a diagnosis


def expected(path: Path) -> Expected:
    source = path.read_text().splitlines()
    match = re.match(r"# code: ([a-z_, ]+?)(?:  # (default|strict))?$", source[0])
    assert match, f"{path.name}: the first line has to be '# code: ...'"
    lines = [i for i, line in enumerate(source, 1) if re.search(r"# (LINE|LINE, ALSO)$", line)]
    also = [i for i, line in enumerate(source, 1) if re.search(r"# (ALSO|LINE, ALSO)$", line)]
    assert lines, f"{path.name}: no line is marked with # LINE"
    codes = tuple(code.strip() for code in match[1].split(","))
    return Expected(codes, (match[2],) if match[2] else ("default", "strict"), lines, also)


def _run(path: Path, mode: str) -> Outcome:
    """In the child."""
    import retrograd
    from retrograd import doctor

    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        del sys.modules[name]  # PyTorch itself, where other tests of this process compare with it
    retrograd.install_as_torch()
    retrograd.manual_seed(0)
    retrograd.optim.optimizer._live.clear()  # those of other tests of this process
    doctor.on()
    doctor.forget()
    doctor.strict(mode == "strict")
    told: list[Told] = []
    failure = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            code = compile(path.read_text(), str(path), "exec")
            exec(code, {"__name__": "__main__", "__file__": str(path)})
        except BaseException as error:
            diagnosis = getattr(error, "code", None)
            if isinstance(diagnosis, str):
                notes = "".join("\n" + note for note in getattr(error, "__notes__", ()))
                told.append(Told(diagnosis, str(error) + notes + "\n" + _user_lines(error, path), True))
            else:
                failure = traceback.format_exc()
        doctor.strict(False)
        from retrograd.doctor._watch import watcher

        watcher.end()
    told += [Told(w.message.code, str(w.message), False) for w in caught if isinstance(w.message, doctor.SilentFailureWarning)]  # type: ignore[union-attr]
    failure += "".join(f"{w.category.__name__}: {w.message}\n" for w in caught if "the doctor failed" in str(w.message))
    return Outcome(told, failure)


def _user_lines(error: BaseException, path: Path) -> str:
    """The line of the program that raised, as Python's own traceback shows it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f'File "{path}", line {frames[-1].lineno}' if frames else ""


def run(path: Path, mode: str, timeout: float = 60) -> Outcome:
    """In a child, so that nothing is left of one program for the next."""
    import retrograd  # before the fork: once for all
    import retrograd.doctor
    import retrograd.nn
    import retrograd.optim  # noqa: F401

    with tempfile.NamedTemporaryFile() as file:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.environ["RETROGRAD_DOCTOR"] = "debug"
                with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                    outcome = _run(path, mode)
                Path(file.name).write_bytes(pickle.dumps(tuple(outcome)))
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status != 0:
            return Outcome([], f"the process ended with {status}")
        told, failure = pickle.loads(Path(file.name).read_bytes())
    return Outcome(told, failure)


def names_line(text: str, path: Path, line: int) -> bool:
    return bool(re.search(rf"{re.escape(path.name)}:{line}\b", text) or re.search(rf"{re.escape(path.name)}\", line {line}\b", text))


def verdict(path: Path, mode: str) -> str:
    """Empty when a broken program was diagnosed as it should be, else what is wrong."""
    want = expected(path)
    outcome = run(path, mode)
    shown = "\n".join(f"{t.code}: {t.text}" for t in outcome.told) or "nothing was told"
    right = [t for t in outcome.told if t.code in want.codes]
    if not right:
        return f"expected {want.codes}; {shown}\n{outcome.failure}"
    if not any(any(names_line(t.text, path, line) for line in want.lines) for t in right):
        return f"line {want.lines} is not named:\n{shown}"
    if want.also and not any(any(names_line(t.text, path, line) for line in want.also) for t in right):
        return f"the second line {want.also} is not named:\n{shown}"
    if len(right) != len(outcome.told):
        return f"more was told than {want.codes}:\n{shown}"
    return ""


def main(arguments: list[str]) -> Any:
    """python tests/doctor/programs.py [part of a name]: each program that matches, in both modes."""
    for path in BROKEN + CORRECT:
        if arguments and not any(a in path.name for a in arguments):
            continue
        if path.parent.name == "broken":
            for mode in expected(path).modes:
                wrong = verdict(path, mode)
                print(f"{'ok  ' if not wrong else 'FAIL'} broken  {mode:8} {path.name}" + (f"\n     {wrong}" if wrong else ""))
        else:
            for mode in ("default", "strict"):
                outcome = run(path, mode)
                wrong = "\n".join(t.text for t in outcome.told) + outcome.failure
                print(f"{'ok  ' if not wrong else 'FAIL'} correct {mode:8} {path.name}" + (f"\n     {wrong}" if wrong else ""))


if __name__ == "__main__":
    main(sys.argv[1:])
