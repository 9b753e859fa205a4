"""Writes the files.

python tools/opgen --list          their names
python tools/opgen --out DIR       the files; one whose text did not change is left alone
"""

import argparse
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
sys.path[0:1] = [str(TOOLS.parent), str(TOOLS)]  # for optable, and for this package by its name

import opgen  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true")
    what.add_argument("--out", type=Path)
    args = parser.parse_args()
    files = opgen.generate()
    if args.list:
        print("\n".join(files))
        return
    for name, text in files.items():
        path = args.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
