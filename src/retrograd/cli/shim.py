"""Puts a small `torch` package into an environment, so that everything in it that imports torch gets retrograd.

    retrograd shim install [--python PYTHON | --target FOLDER]
    retrograd shim status  [--python PYTHON | --target FOLDER]
    retrograd shim remove  [--python PYTHON | --target FOLDER]

Jupyter, pytest and libraries then find torch as if it were installed: they import it, and installers and `importlib.metadata` see its
version. Where PyTorch is installed nothing is done. Without an option the environment is the one this command runs in; --python names
the interpreter of another, --target a folder of packages. `remove`, and `pip uninstall torch`, take everything away again.

`status` exits with 0 if the shim is installed and works, otherwise with 1.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import os
import pathlib
import subprocess
import sys

from retrograd.cli import refuse
from retrograd.version import pytorch

_USAGE = "usage: retrograd shim (install | remove | status) [--python PYTHON | --target FOLDER]"

PACKAGES = pathlib.Path(__file__).parent / "packages"  # holds the package `torch`, and nothing else
_INFO = f"torch-{pytorch}.dist-info"

# Runs in the environment's interpreter: where packages go, which torch it has, and whether it has retrograd.
_QUESTION = """
import importlib.util, json, sys, sysconfig
torch = importlib.util.find_spec("torch")
print(json.dumps([sysconfig.get_path("purelib"), torch and torch.origin, importlib.util.find_spec("retrograd") is not None]))
"""


class Refused(Exception):
    """Something that is not done, and why."""


@dataclasses.dataclass
class Environment:
    packages: pathlib.Path
    torch: pathlib.Path | None  # the file that `import torch` runs there
    has_retrograd: bool

    @property
    def info(self) -> pathlib.Path:
        return self.packages / _INFO

    @property
    def is_shimmed(self) -> bool:
        installer = self.info / "INSTALLER"
        return installer.is_file() and installer.read_text().strip() == "retrograd"


def _of_python(python: str) -> Environment:
    command = [python, "-c", _QUESTION]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, cwd=os.path.expanduser("~"))
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"{python} cannot be run: {error}") from None
    if found.returncode:
        raise Refused(f"{python} is no Python that can be asked where its packages are:\n{found.stderr.strip()}")
    packages, torch, has_retrograd = json.loads(found.stdout)
    return Environment(pathlib.Path(packages), pathlib.Path(torch) if torch else None, has_retrograd)


def _of_folder(folder: str) -> Environment:
    packages = pathlib.Path(folder).expanduser().absolute()
    if packages.exists() and not packages.is_dir():
        raise Refused(f"{packages} is not a folder")
    torch = packages / "torch" / "__init__.py"
    return Environment(packages, torch if torch.exists() else None, True)


def _is_ours(file: pathlib.Path) -> bool:
    return file.is_file() and file.read_bytes() == (PACKAGES / "torch" / "__init__.py").read_bytes()


# -- the three commands -----------------------------------------------------------


def install(there: Environment) -> str:
    if there.is_shimmed:
        remove(there)  # and put there anew: that of another version may differ
    elif there.torch is not None and not _is_ours(there.torch):
        raise Refused(f"PyTorch is installed: {there.torch.parent}. The shim would hide it; nothing was done")
    elif (there.packages / "torch").exists():
        raise Refused(f"{there.packages / 'torch'} exists, and is not the shim; nothing was done")
    if not there.has_retrograd:
        raise Refused("retrograd is not installed in that environment: install it there first. Nothing was done")
    from retrograd._as_torch import METADATA

    files = {
        "torch/__init__.py": (PACKAGES / "torch" / "__init__.py").read_text(),
        f"{_INFO}/METADATA": METADATA,
        f"{_INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: retrograd\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{_INFO}/top_level.txt": "torch\n",
        f"{_INFO}/INSTALLER": "retrograd\n",
    }
    record = [f"{name},sha256={_digest(text)},{len(text.encode())}" for name, text in files.items()]
    files[f"{_INFO}/RECORD"] = "\n".join([*record, f"{_INFO}/RECORD,,", ""])
    try:
        for name, text in files.items():
            file = there.packages / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    except OSError as error:
        _delete(there, list(files))
        raise Refused(f"{there.packages} cannot be written: {error.strerror}. Nothing was done") from None
    return f"`import torch` gives retrograd now: {there.packages / 'torch'}"


def remove(there: Environment) -> str:
    if not there.is_shimmed:
        raise Refused(f"there is no shim in {there.packages}")
    record = (there.info / "RECORD").read_text().splitlines()
    left = _delete(there, [line.split(",")[0] for line in record if line])
    return f"removed from {there.packages}" + (f"; {left} holds files of others, and stays" if left else "")


def status(there: Environment) -> tuple[str, bool]:
    if there.is_shimmed:
        works = there.has_retrograd and there.torch is not None and _is_ours(there.torch)
        problem = "" if works else ", but retrograd is not" if not there.has_retrograd else f", but `import torch` finds {there.torch}"
        return f"the shim for torch {pytorch} is installed{problem}: {there.packages}", works
    if there.torch is not None:
        return f"PyTorch is installed, not the shim: {there.torch.parent}", False
    return f"neither PyTorch nor the shim is installed: {there.packages}", False


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def _delete(there: Environment, names: list[str]) -> pathlib.Path | None:
    """Deletes these files, what Python compiled from them, and the folders that are empty then; returns one that is not."""
    folders = set()
    for name in names:
        file = there.packages / name
        file.unlink(missing_ok=True)
        for compiled in file.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
            compiled.unlink()
        folders |= {file.parent / "__pycache__", file.parent}
    left = None
    for folder in sorted(folders, key=lambda f: len(f.parts), reverse=True):
        if folder.is_dir():
            if any(folder.iterdir()):
                left = folder
            else:
                folder.rmdir()
    return left


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"{_USAGE}\n\n{__doc__}")
        return 0 if arguments else 2
    command, *options = arguments
    option, _, value = options[0].partition("=") if options else ("", "", "")
    if len(options) == 2 and not value:
        value = options[1]
    elif len(options) > 1:
        option = ""
    if command not in ("install", "remove", "status") or (options and (option not in ("--python", "--target") or not value)):
        return refuse("shim", f"cannot read {' '.join(arguments)!r}")
    try:
        there = _of_folder(value) if option == "--target" else _of_python(value or sys.executable)
        if command == "status":
            text, works = status(there)
            print(text)
            return 0 if works else 1
        print(install(there) if command == "install" else remove(there))
    except Refused as refusal:
        print(f"retrograd shim: {refusal}", file=sys.stderr)
        return 1
    return 0
