"""Results of the last runs, in a file beside this one: one row for each program or library, replaced when it is run again."""

from __future__ import annotations

import json
import pathlib
from typing import Any

_FILE = pathlib.Path(__file__).with_name("results.json")


def read() -> dict[str, dict[str, dict[str, Any]]]:
    if not _FILE.exists():
        return {"programs": {}, "libraries": {}}
    rows: dict[str, dict[str, dict[str, Any]]] = json.loads(_FILE.read_text())
    return rows


def keep(part: str, title: str, row: dict[str, Any]) -> None:
    rows = read()
    rows[part][title] = row
    _FILE.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n")
