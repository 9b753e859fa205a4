"""Makes an environment without PyTorch in which the libraries are installed and find retrograd as torch."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import venv

from .libraries import LIBRARIES

_SOURCE = pathlib.Path(__file__).parents[2] / "src"

# Beside what the libraries ask for: what the programs import.
_COMPANIONS = ["numpy", "scipy-openblas32", "pytest", "matplotlib", "pillow", "six", "tensorboard", "parameterized"]

# pip would install PyTorch for the sake of torchvision, unless that seems to be there; a stand-in takes its place where it is used.
_TORCHVISION = "Metadata-Version: 2.1\nName: torchvision\nVersion: 0.28.0\n"


def make(path: pathlib.Path) -> None:
    venv.create(path, with_pip=True)
    python = path.resolve() / "bin/python"
    asked = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True, check=True
    )
    packages = pathlib.Path(asked.stdout.strip())
    (packages / "retrograd-checkout.pth").write_text(f"{_SOURCE}\n")
    subprocess.run([python, "-m", "retrograd", "shim", "install"], check=True)
    information = packages / "torchvision-0.28.0.dist-info"
    information.mkdir(exist_ok=True)
    (information / "METADATA").write_text(_TORCHVISION)
    (information / "RECORD").write_text("")
    wanted = sorted({library.package for library in LIBRARIES})
    pip = [python, "-m", "pip", "install", "--quiet", "--prefer-binary"]
    subprocess.run([*pip, *_COMPANIONS], check=True)
    for package in wanted:  # one by one: a package that cannot be had takes no other with it
        if subprocess.run([*pip, package], check=False).returncode:
            print(f"not installed: {package}", file=sys.stderr)
    shutil.rmtree(information)  # libraries that ask for it shall not find it
