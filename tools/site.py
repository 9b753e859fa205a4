"""What the documentation site has beside the files of docs/: a reference made from the package, and the documents at the top of the repository.

A hook of MkDocs (mkdocs.yml). By itself:

    python tools/site.py pictures    draws the graphs of the guides' code, and that of the README, in docs/pictures
    python tools/site.py coverage    counts the names of PyTorch that are here, in docs/guide/from-pytorch.md; needs PyTorch
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

# Documents at the top of the repository, and what they are on the site.
TOP = {"ARCHITECTURE.md": "contributing/architecture.md", "CONTRIBUTING.md": "contributing/contributing.md", "README.md": "readme.md"}

# Whose names are counted against PyTorch's.
COUNTED = (
    "", "Tensor", "nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "autograd", "func", "linalg", "special", "fft", "distributions", "amp", "sparse", "utils.data",
    "utils.checkpoint", "profiler", "testing", "fx",
)  # fmt: skip


# -- the reference ----------------------------------------------------------------


def member(name: str) -> Any:
    import retrograd

    if name in ("", "Tensor"):
        return retrograd.Tensor if name else retrograd
    return importlib.import_module(f"retrograd.{name}")


def public_names(owner: Any) -> list[str]:
    names = getattr(owner, "__all__", None) or [name for name in dir(owner) if not name.startswith("_")]
    return sorted({name for name in names if not inspect.ismodule(getattr(owner, name, None)) and not name.startswith("_")})


def own_names(owner: Any) -> list[str]:
    """The public names, without what a module that does not list them only imports or notes."""
    names = [name for name in public_names(owner) if hasattr(owner, name)]
    if not inspect.ismodule(owner) or hasattr(owner, "__all__"):
        return names
    home = owner.__name__
    return [
        name
        for name in names
        if inspect.isbuiltin(value := getattr(owner, name)) or (getattr(value, "__module__", None) or "").startswith(home)
    ]


def namespaces() -> Iterator[tuple[str, list[str]]]:
    """Every namespace that has names of its own, which are not there further up, and all of its names; those further up first."""
    import retrograd

    found = [i.name.removeprefix("retrograd.") for i in pkgutil.walk_packages(retrograd.__path__, "retrograd.", onerror=lambda _: None)]
    public = [name for name in found if not any(part.startswith("_") for part in name.split(".")) and name.partition(".")[0] != "cli"]
    listed: set[int] = set()
    for path in ["", "Tensor", *sorted(public, key=lambda name: (name.count("."), name))]:
        try:
            owner = member(path)
        except ImportError:
            continue  # of a library that is not installed
        names = own_names(owner)
        values = {id(getattr(owner, name)) for name in names}
        if values - listed:
            yield path, names
        listed |= values


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")


def entry(path: str, name: str, value: Any) -> str:
    """The reference of one name: how it is called, and what it says of itself."""
    full = f"{path}.{name}" if path else name
    doc = inspect.getdoc(value) if not isinstance(value, (int, float, str, bool)) else None
    try:
        signature = str(inspect.signature(value)) if callable(value) else ""
    except (TypeError, ValueError):
        signature = ""
    head = f'<a id="{_anchor(full)}"></a>\n\n#### `{full}{signature if len(signature) < 200 else "(...)"}`\n\n'
    if doc is None or (not callable(value) and doc == inspect.getdoc(type(value))):
        return head + (f"`{value!r}`\n\n" if len(repr(value)) < 80 else "")
    return head + f"```text\n{doc}\n```\n\n"


def api_pages() -> dict[str, str]:
    """Path on the site -> Markdown, of a page for each namespace and one that lists them."""
    pages, rows = {}, []
    for path, names in namespaces():
        owner = member(path)
        title = f"torch.{path}" if path else "torch"
        file = f"{path or 'torch'}.md"
        first = (inspect.getdoc(owner) or "").partition("\n")[0]
        body = "".join(entry(path, name, getattr(owner, name)) for name in names)
        pages[f"api/{file}"] = f"# {title}\n\n{first}\n\n{len(names)} names.\n\n{body}"
        rows.append(f"| [`{title}`]({file}) | {len(names)} | {first.replace('|', ' ')} |")
    pages["api/index.md"] = (
        "# API reference\n\nEvery public name, from its docstring.\n\n| namespace | names | |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )
    return pages


# -- what is written into docs/ ---------------------------------------------------

_DRAWN = re.compile(r"^```python\n(?P<code>.*?)^```$|^<!-- graph: (?P<graph>.*?) -->\n!\[[^\]]*\]\((?P<file>[^)\s]+)\)$", re.M | re.S)


def drawn(page: pathlib.Path) -> Iterator[tuple[pathlib.Path, str]]:
    """The pictures of a page, as SVG: its code runs, and a comment before each picture says of what it is the graph."""
    from retrograd import viz

    space: dict[str, Any] = {"__name__": page.stem}
    for part in _DRAWN.finditer(page.read_text()):
        if part["code"] is not None:
            exec(compile(part["code"], page.name, "exec"), space)
        else:
            leaves = {
                name: value for name, value in space.items() if getattr(value, "is_leaf", False) and getattr(value, "requires_grad", False)
            }
            asked = eval(f"dict({part['graph']})", space) if "=" in part["graph"] else {"loss": eval(part["graph"], space)}
            depth = asked.pop("depth", None)
            yield page.parent / part["file"], viz.graph(asked.pop("loss"), names=leaves, **asked).svg(depth)


def pages_with_pictures() -> list[pathlib.Path]:
    return [page for page in sorted(DOCS.glob("**/*.md")) if "<!-- graph: " in page.read_text()]


def coverage() -> tuple[str, dict[str, tuple[int, int]]]:
    """PyTorch's version, and by namespace how many of its public names are here, of how many."""
    import torch

    counts = {}
    for path in COUNTED:
        theirs = torch.Tensor if path == "Tensor" else importlib.import_module(f"torch.{path}".rstrip("."))
        wanted = own_names(theirs)
        ours = member(path)
        counts[f"torch.{path}".rstrip(".")] = (sum(hasattr(ours, name) for name in wanted), len(wanted))
    return torch.__version__.partition("+")[0], counts


def coverage_table(version: str, counts: dict[str, tuple[int, int]]) -> str:
    rows = [f"| `{name}` | {here} of {there} | {100 * here / there:.1f} % |" for name, (here, there) in counts.items()]
    return f"Public names of PyTorch {version} that are here:\n\n| namespace | names | |\n|---|---|---|\n" + "\n".join(rows)


def written_between(text: str, mark: str, inside: str) -> str:
    """The text with something else between <!-- mark ... --> and <!-- /mark -->."""
    found = re.compile(rf"(<!-- {mark}\b.*?-->\n\n).*?(\n\n<!-- /{mark} -->)", re.S)
    assert found.search(text), f"no place for {mark}"
    return found.sub(lambda match: match[1] + inside + match[2], text)


# -- what MkDocs calls ----------------------------------------------------------


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    made = api_pages() | {site: (ROOT / top).read_text() for top, site in TOP.items()}
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def _relinked(markdown: str, here: str) -> str:
    """Links between documents of the repository, as they are on the site; what has no page there is named without a link."""
    folder = pathlib.PurePosixPath(here).parent
    source = {site: top for top, site in TOP.items()}.get(here)
    base = pathlib.PurePosixPath("") if source else "docs" / folder

    def link(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target or not target:
            return match[0]
        parts: list[str] = []
        for part in (base / target).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        path = "/".join(parts)
        place = TOP.get(path, path.removeprefix("docs/") if path.startswith("docs/") and path.endswith((".md", ".svg")) else None)
        if place is None:
            return f"{text} (`{path}`)"
        up = "../" * len(folder.parts)
        return f"[{text}]({up}{place}{anchor})"

    return re.sub(r"\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)", link, markdown)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    here = page.file.src_uri
    if not here.startswith("api/"):
        markdown = _relinked(markdown, here)
    return markdown


if __name__ == "__main__":
    if sys.argv[1:] == ["coverage"]:
        guide = DOCS / "guide" / "from-pytorch.md"
        guide.write_text(written_between(guide.read_text(), "coverage", coverage_table(*coverage())))
    elif sys.argv[1:] == ["pictures"]:
        for page in pages_with_pictures():
            for file, text in drawn(page):
                file.write_text(text)
    else:
        sys.exit(__doc__)
