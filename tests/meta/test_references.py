"""Files and notes that comments, docstrings and documents name are there."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("csrc", "src", "tools", "optable", "tests", "benchmarks", "examples", "docs", ".ci")
SUFFIXES = {".h", ".cpp", ".py", ".pyi", ".md", ".txt", ".json", ".toml", ".cmake"}
# Written by the build, not kept.
GENERATED = {
    "ops.h",
    "bindings.h",
    "param_kinds.h",
    "boxed_arguments.h",
    "pointwise_tables.h",
    "pointwise_rows.h",
    "complex_words.h",
    "functions.pyi",
    "python_ops.py",
    "return_types.pyi",
}
# Programs of users in examples and messages, and files of others.
EXAMPLES = {"train.py", "x.py", "model.py", "setup.py"}

PATH = re.compile(
    r"(?<![\w/.<*{-])((?:[\w.-]+/)*\w[\w-]*(?<!_F)(?<!_N)\.(?:h|cpp|pyi?|md|txt|json|toml|cmake))\b(?![\w*(])"
)  # docs_F.cpp: of a family
FOLDER = re.compile(r"(?<![\w/.<*{:-])((?:[\w.-]+/){2,})(?![\w*<{.])")
BRACES = re.compile(r"([\w./-]+\.)\{(\w+), ?(\w+)\}")  # two files at once
NOTE = re.compile(r"Note \[([^\]]+)\](?: in `?([\w/.]+\.(?:h|cpp|py)))?")


def files():
    found = [p for p in ROOT.iterdir() if p.is_file()]
    for top in SOURCES:
        found += [p for p in (ROOT / top).rglob("*") if p.is_file() and not {"__pycache__", "_generated", "build"} & set(p.parts)]
    return sorted(found)


FILES = files()
# Every way of naming a file by the end of its path: tensor.h, core/tensor.h, csrc/core/tensor.h.
KNOWN = {"/".join(parts[i:]) for p in FILES for parts in [p.relative_to(ROOT).parts] for i in range(len(parts))}

FOLDERS = {
    "/".join(parts[i:]) + "/"
    for parts in {folder.relative_to(ROOT).parts for p in FILES for folder in p.parents if folder.is_relative_to(ROOT)}
    for i in range(len(parts))
}


def prose(path):
    """(line, text) of what is written for readers in a file."""
    text = path.read_text()
    if path.suffix in (".h", ".cpp"):
        for number, line in enumerate(text.splitlines(), 1):
            comment = re.search(r"//(.*)", re.sub(r'"(?:[^"\\]|\\.)*"', '""', line))
            if comment:
                yield number, comment[1]
    elif path.suffix in (".py", ".pyi"):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield getattr(node, "lineno", 1), " ".join((ast.get_docstring(node) or "").split())
    elif path.suffix == ".md":
        yield from enumerate(
            re.sub(r"^```(?:console|python).*?^```", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S).splitlines(), 1
        )
    elif path.name == "CMakeLists.txt":
        yield from ((n, line.partition("#")[2]) for n, line in enumerate(text.splitlines(), 1))


UNREAD = ("CHANGELOG.md", "_C.pyi", "compat.md")  # the last names files of other repositories
READ = [p for p in FILES if p.name not in UNREAD and (p.suffix in (".h", ".cpp", ".py", ".pyi", ".md") or p.name == "CMakeLists.txt")]
PROSE = [(path, line, text) for path in READ for line, text in prose(path)]


def test_files_that_are_named_exist():
    missing = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, line, text in PROSE
        for name in PATH.findall(BRACES.sub(r"\1\2 \1\3", text))
        if name.replace("../", "") not in KNOWN and name.rpartition("/")[2] not in GENERATED | EXAMPLES
    ]
    missing += [
        f"{path.relative_to(ROOT)}:{line}: {name}" for path, line, text in PROSE for name in FOLDER.findall(text) if name not in FOLDERS
    ]
    assert not missing, "\n" + "\n".join(missing)


def notes():
    """The file of each note: the one with a comment that begins with its title."""
    found = {}
    for path, _, text in PROSE:
        if title := re.match(r"[#/ ]*Note \[([^\]]+)\]\W*$", text):
            found.setdefault(title[1], []).append(path.relative_to(ROOT).as_posix())
    return found


def test_notes_stand_in_one_place():
    assert {title: homes for title, homes in notes().items() if len(homes) != 1} == {}


def test_notes_that_are_named_exist():
    homes = notes()
    wrong = []
    for path, line, text in PROSE:
        for title, home in NOTE.findall(text):
            if title not in homes or (home and not f"/{homes[title][0]}".endswith(f"/{home}")):
                wrong.append(f"{path.relative_to(ROOT)}:{line}: Note [{title}]" + (f" in {home}" if home else ""))
    assert homes
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("text", ["see core/nowhere.h", "as in `autograd/gone.cpp`.", "(tools/opgen_gone.py)"])
def test_a_missing_file_is_seen(text):
    assert [name for name in PATH.findall(text) if name not in KNOWN]
