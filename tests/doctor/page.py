"""docs/doctor.md: reads its sections, runs their programs, and writes down again what is printed.

    python tests/doctor/page.py    brings the printed texts of the page up to date

A section of a code has three blocks: a program that fails in silence, what the doctor tells of it, and the program repaired.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.doctor.programs import run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "doctor.md"
_SECTION = re.compile(r"^### (\w+)\n(.*?)^```python\n(.*?)^```\n\n^```text\n(.*?)^```\n(.*?)^```python\n(.*?)^```$", re.M | re.S)


class Section(NamedTuple):
    code: str
    broken: str
    printed: str
    repaired: str


def sections() -> dict[str, Section]:
    found = [Section(m[1], m[3], m[4], m[6]) for m in _SECTION.finditer(PAGE.read_text())]
    return {section.code: section for section in found}


def told(program: str, mode: str = "default") -> list[tuple[str, str]]:
    """Codes and texts, with the file called train.py. What ended the program otherwise is one of them, without a code."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.py"
        path.write_text(program)
        outcome = run(path, mode)
        texts = [(t.code, t.text.replace(f"{folder}/", "")) for t in outcome.told]
        return texts + ([("", outcome.failure)] if outcome.failure else [])


def shown(text: str) -> str:
    """As the page has it: without the line that the harness adds from the traceback."""
    return re.sub(r'\nFile "train.py", line \d+$', "", text) + "\n"


def main() -> None:
    text = PAGE.read_text()
    for section in sections().values():
        (code, printed), *more = told(section.broken) or [("", "nothing is told")]
        if code != section.code or more:
            print(f"{section.code}: {code} {printed} {more}", file=sys.stderr)
        block = f"{section.broken}```\n\n```text\n"
        text = text.replace(block + section.printed, block + shown(printed))
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
