"""The guides of docs/guide run, block after block as a reader would, and in silence; the site is made of pages that exist, pictures are those of the code, and links and commands lead somewhere."""

from __future__ import annotations

import re
import shlex
import unicodedata
import urllib.parse
import warnings
import xml.etree.ElementTree
from pathlib import Path

import pytest

import retrograd as torch
from retrograd import doctor, nn
from tools import site

ROOT = Path(__file__).resolve().parent.parent
GUIDES = sorted((ROOT / "docs" / "guide").glob("*.md"))
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *(ROOT / f"{name}/README.md" for name in ("optable", "benchmarks", "examples"))]
)


def blocks(path, language="python"):
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), re.M | re.S)


def name_of(path):
    return path.relative_to(ROOT).as_posix()


# -- code ---------------------------------------------------------------------


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_guides_run(path):
    namespace: dict[str, object] = {"__name__": "guide"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", doctor.SilentFailureWarning)
        for number, block in enumerate(blocks(path)):
            exec(compile(block, f"{path.name}[{number}]", "exec"), namespace)


def test_the_step_of_the_architecture_runs():
    """Its names are those of a program around it."""
    model, x, target = nn.Linear(3, 2), torch.randn(4, 3), torch.randn(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.weight.detach().clone()
    space = {"model": model, "x": x, "target": target, "optimizer": optimizer, "nn": nn, "F": nn.functional}
    (block,) = blocks(ROOT / "ARCHITECTURE.md")
    exec(compile(block, "ARCHITECTURE.md", "exec"), space)
    assert space["loss"].grad_fn.name() == "MseLossBackward0" and not torch.equal(model.weight, before)


# Code that other tests run, or that is an entry of the op table, which a test of its own adds to one.
ELSEWHERE = {
    "README.md": "tests/test_docs.py",
    "docs/profiler.md": "tests/test_docs.py",
    "docs/autograd-by-example.md": "tests/test_docs.py",
    "docs/doctor.md": "tests/doctor/test_page.py",
    "CONTRIBUTING.md": "tests/meta/test_one_entry.py",
    "optable/README.md": "tests/meta/test_one_entry.py",
}


def test_no_code_is_left_out():
    here = {*map(name_of, GUIDES), "ARCHITECTURE.md"}
    assert {name_of(path) for path in DOCUMENTS if blocks(path)} - here <= set(ELSEWHERE)
    for page, where in ELSEWHERE.items():
        names = (page, Path(page).name, "tests.doctor.page")  # which reads docs/doctor.md
        assert any(name in (ROOT / where).read_text() for name in names), page


COMMAND = re.compile(r"^\$ (.*)$|`((?:retrograd|python -m retrograd|python (?:benchmarks|tools)/\w+\.py) [^`\n]*)`", re.M)


def commands():
    for path in DOCUMENTS:
        if path.name == "CHANGELOG.md":
            continue  # of the past
        for shown, inline in COMMAND.findall(path.read_text()):
            yield name_of(path), shown or inline


def test_commands_are_commands(capsys):
    from retrograd.cli import COMMANDS, bench, demo, profile

    parsers = {"bench": bench.parser_of(), "profile": profile._parser(), "demo": demo.parser_of()}
    seen = set()
    for page, text in commands():
        words = shlex.split(re.sub(r"\[[^\]]*\]|<[^>]*>", "x", text))
        if words[:2] == ["python", "-m"]:
            words = words[2:]
        if words[0] == "python":
            assert (ROOT / words[1]).exists(), (page, text)
            options = {word for word in words[2:] if word.startswith("--")}
            assert all(option in (ROOT / words[1]).read_text() for option in options), (page, text)
        if words[0] != "retrograd" or len(words) < 2 or words[1].startswith("--") or "|" in words:
            continue
        assert words[1] in COMMANDS, (page, text)
        seen.add(words[1])
        rest = [word for word in words[2:] if word != "..."]
        if words[1] in parsers and rest not in (["--help"], []) and "x" not in rest:
            parsers[words[1]].parse_args(rest)
    assert seen >= {"run", "doctor", "demo", "bench", "profile", "shim"}


# -- pages --------------------------------------------------------------------


def test_every_page_of_the_site_is_there():
    pages = re.findall(r": ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    made = {*site.TOP.values(), "api/index.md"}
    assert [page for page in pages if page not in made and not (ROOT / "docs" / page).exists()] == []
    decisions = {f"decisions/{path.name}" for path in (ROOT / "docs" / "decisions").glob("*.md")}
    assert {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").glob("**/*.md")} - decisions == set(pages) - made


def test_the_reference_has_every_public_name():
    pages = site.api_pages()
    for path in ("", "Tensor", "nn", "nn.functional", "optim.lr_scheduler", "utils.data", "doctor", "viz", "profiler"):
        text = pages[f"api/{path or 'torch'}.md"]
        for name in site.public_names(site.member(path)):
            assert f"`{path + '.' if path else ''}{name}" in text
    everything = "\n".join(pages.values())
    for name in torch._C._op_names():  # and where they stand
        if not name.startswith("_") and hasattr(torch, name):
            assert re.search(rf"^#### `{name}\b", everything, re.M), name
    assert len(pages) > 100 and f"| [`torch.nn`](nn.md) | {len(site.public_names(nn))} |" in pages["api/index.md"]


def test_pictures_are_those_of_the_code():
    """By their words and boxes: `python tools/site.py pictures` draws them anew."""

    def outline(text):
        root = xml.etree.ElementTree.fromstring(text)
        words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        return words, len(list(root.iter("{http://www.w3.org/2000/svg}path")))

    found = [pair for page in site.pages_with_pictures() for pair in site.drawn(page)]
    assert {file.resolve() for file, _ in found} == {file.resolve() for file in (ROOT / "docs" / "pictures").iterdir()}
    for file, text in found:
        assert outline(file.read_text()) == outline(text), file.name
        assert str(ROOT) not in text
    assert len([file for file, _ in found if file.name.startswith("life-")]) >= 4


@pytest.mark.needs_torch
def test_coverage_is_not_overstated():
    _, counts = site.coverage()
    stated = re.findall(r"^\| `([\w.]+)` \| (\d+) of (\d+) \|", (ROOT / "docs" / "guide" / "from-pytorch.md").read_text(), re.M)
    assert [name for name, _, _ in stated] == list(counts)
    assert all(int(here) <= counts[name][0] and int(there) == counts[name][1] for name, here, there in stated)


def test_what_is_filled_in():
    assert "| `torch.nn` | 3 of 4 | 75.0 % |" in site.coverage_table("2", {"torch.nn": (3, 4)})
    assert site.written_between("a\n<!-- m: x -->\n\nold\n\n<!-- /m -->\nb", "m", "new") == "a\n<!-- m: x -->\n\nnew\n\n<!-- /m -->\nb"
    assert site._relinked("[a](../ARCHITECTURE.md) [b](guide/modes.md#x) [c](../tools/dev)", "index.md") == (
        "[a](contributing/architecture.md) [b](guide/modes.md#x) c (`tools/dev`)"
    )
    assert site._relinked("![a](docs/pictures/model.svg)", "readme.md") == "![a](pictures/model.svg)"


# -- links --------------------------------------------------------------------


def prose(path):
    """A document without its code, where brackets mean other things."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)
    return re.sub(r"`[^`\n]+`", lambda code: code[0] if "](" not in code[0] else "", text)


def anchors(path):
    """As GitHub and MkDocs make them from headings."""
    found = set(re.findall(r'<a id="([^"]+)">', path.read_text()))
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        words = re.sub(r"[^\w\s-]", "", unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()).strip().lower()
        found |= {re.sub(r"[-\s]+", "-", words), words.replace(" ", "-")}
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)\s]+)\)|<(https?://[^>]*)>", prose(path)):
        link = target[0] or target[1]
        parts = urllib.parse.urlsplit(link)
        if parts.scheme:
            assert parts.scheme == "https" and re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.netloc), link
            continue
        there = path if not parts.path else path.parent / parts.path
        assert there.exists(), link
        if parts.fragment:
            assert parts.fragment in anchors(there), link


def test_bad_links_would_be_found(tmp_path):
    page = tmp_path / "p.md"
    page.write_text("# A `name`, and more\n\n```python\n# not a heading\nx[0](1)\n```\n`a[0](b)` [x](#a-name-and-more)\n")
    assert anchors(page) == {"a-name-and-more"} and "](1)" not in prose(page) and "](b)" not in prose(page)
