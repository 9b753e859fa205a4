"""What the documentation shows is what happens: examples in docstrings, in the README and in docs/ are run."""

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
from pathlib import Path

import pytest

import retrograd

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = {"retrograd.__main__"}


def modules():
    found = ["retrograd"]
    for info in pkgutil.walk_packages(retrograd.__path__, "retrograd."):
        if info.name not in SKIPPED and not info.name.startswith("retrograd._C"):
            found.append(info.name)
    return found


@pytest.mark.parametrize("name", modules())
def test_docstrings(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report = io.StringIO()
    with retrograd.random.fork_rng():
        for test in finder.find(module, extraglobs={"retrograd": retrograd, "torch": retrograd}):
            if test.examples:
                runner.run(test, out=report.write)
    assert runner.failures == 0, report.getvalue()


def blocks(path, language):
    text = path.read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


@pytest.mark.parametrize("code", blocks(ROOT / "README.md", "python"))
def test_readme(code):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})  # the README is ours
    for line in re.findall(r"print\(.*\)  # (.*)", code):
        assert re.search(re.escape(line).replace(r"\.\.\.", ".*"), out.getvalue()), out.getvalue()


def test_readme_has_an_example_that_prints():
    assert any("print(" in code for code in blocks(ROOT / "README.md", "python"))


def test_links_lead_somewhere():
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "ops/README.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"
