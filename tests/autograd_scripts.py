"""Runs the scripts of examples/autograd, all in one process, and collects what each prints."""

import contextlib
import functools
import io
import json
import pathlib
import runpy
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "examples" / "autograd"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


@functools.cache
def outputs(engine):
    """What each script prints, by name, on "retrograd" or on "torch"."""
    way = ["-m", "retrograd", "run"] if engine == "retrograd" else []
    result = subprocess.run([sys.executable, *way, __file__], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


if __name__ == "__main__":
    collected = {}
    for name in NAMES:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
        collected[name] = out.getvalue()
    print(json.dumps(collected))
