"""Files that are there whole or not at all, and whether they can be: for reports, traces, tables and pictures."""

from __future__ import annotations

import os
import stat
import tempfile
import uuid
from collections.abc import Iterable
from pathlib import Path

Name = str | os.PathLike[str]


def write_all(files: Iterable[tuple[Name, bytes]]) -> None:
    """Writes files; what was there stays, and nothing new is left, where one of them cannot be written."""
    parts: dict[str, str] = {}  # the file, and where its content waits until all have theirs
    try:
        for name, data in files:
            path = os.path.realpath(name)
            try:
                if _is_stream(name):
                    with open(name, "ab") as stream:
                        stream.write(data)
                    continue
                part = os.path.join(os.path.dirname(path), f".{os.path.basename(path)[:40]}.{uuid.uuid4().hex}")
                with open(part, "xb") as file:
                    parts[path] = part
                    file.write(data)
            except OSError as error:
                raise type(error)(error.errno, error.strerror, os.fspath(name)) from None
        for path, part in parts.items():
            os.replace(part, path)
    finally:
        for part in parts.values():
            Path(part).unlink(missing_ok=True)


def write_text(path: Name, text: str) -> None:
    write_all([(path, text.encode("utf-8", "surrogateescape"))])


def _is_stream(name: Name) -> bool:
    """A terminal, a pipe, /dev/stdout wherever that leads: nothing can be put in its place."""
    try:
        mode = os.stat(name).st_mode
    except OSError:
        return False
    return not stat.S_ISDIR(mode) and (not stat.S_ISREG(mode) or os.path.abspath(name).startswith("/dev/"))


# -- for commands, which ask before the long work ---------------------------------


def refusal(path: Name) -> str | None:
    """Why no file can be written there, in words; None where it can."""
    target = Path(path)
    folder = target.resolve().parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if target.is_dir():
        return f"{target} is a folder"
    return None if _is_stream(target) else _closed(folder)


def folder_refusal(path: Name) -> str | None:
    """The same of a folder, which is made where there is none."""
    wanted = Path(path).resolve()
    existing = next(p for p in (wanted, *wanted.parents) if p.exists())
    return _closed(existing) if existing.is_dir() else f"{existing} is not a folder"


def _closed(folder: Path) -> str | None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"cannot write in {folder}: {error.strerror}"
