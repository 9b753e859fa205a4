"""Prints the path of scipy-openblas32's shared library, then that of its licence text, for CMake."""

import importlib.metadata
import pathlib
import sys

import scipy_openblas32


def main() -> None:
    folder = pathlib.Path(scipy_openblas32.get_lib_dir())
    libraries = [p for p in folder.iterdir() if p.suffix in (".so", ".dylib", ".dll")]
    files = importlib.metadata.files("scipy-openblas32") or []
    licences = [f.locate() for f in files if f.name.upper().startswith("LICENSE")]
    if not libraries or not licences:
        sys.exit(f"no shared library in {folder}, or no licence text beside it")
    print(libraries[0])
    print(licences[0])


if __name__ == "__main__":
    main()
