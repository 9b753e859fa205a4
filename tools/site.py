"""What the documentation site has beside the files of docs/: pages made from the package, from the documents at the top, and pictures from the viewer.

A hook of MkDocs (mkdocs.yml). By itself:

    python tools/site.py coverage    counts the names of PyTorch that are here, in docs/coverage.json; needs PyTorch
    python tools/site.py picture     draws docs/graph.svg, the picture of the README
"""

from __future__ import annotations

import inspect
import json
import pathlib
import re
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
COVERAGE = ROOT / "docs" / "coverage.json"

# Documents at the top of the repository, and what they are on the site.
TOP = {"ARCHITECTURE.md": "contributing/architecture.md", "CONTRIBUTING.md": "contributing/contributing.md", "README.md": "readme.md"}

NAMESPACES = (
    "", "Tensor", "nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "autograd", "autograd.functional", "func", "linalg", "special", "fft", "amp", "distributions",
    "utils.data", "utils.checkpoint", "sparse", "nested", "fx", "library", "profiler", "testing", "doctor", "viz",
)  # fmt: skip


def member(name: str) -> Any:
    import importlib

    import retrograd

    if name in ("", "Tensor"):
        return retrograd.Tensor if name else retrograd
    return importlib.import_module(f"retrograd.{name}")


def public_names(owner: Any) -> list[str]:
    names = getattr(owner, "__all__", None) or [name for name in dir(owner) if not name.startswith("_")]
    return sorted({name for name in names if not inspect.ismodule(getattr(owner, name, None)) and not name.startswith("_")})


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
    for path in NAMESPACES:
        owner = member(path)
        names = public_names(owner)
        title = f"torch.{path}" if path else "torch"
        file = f"{path or 'torch'}.md"
        first = (inspect.getdoc(owner) or "").partition("\n")[0]
        body = "".join(entry(path, name, getattr(owner, name)) for name in names if hasattr(owner, name))
        pages[f"api/{file}"] = f"# {title}\n\n{first}\n\n{len(names)} names.\n\n{body}"
        rows.append(f"| [`{title}`]({file}) | {len(names)} | {first.replace('|', ' ')} |")
    pages["api/index.md"] = (
        "# API reference\n\nEvery public name, from its docstring.\n\n| namespace | names | |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )
    return pages


def coverage_table() -> str:
    counts = json.loads(COVERAGE.read_text())
    rows = [f"| `{name}` | {here} of {there} | {100 * here / there:.1f} % |" for name, (here, there) in counts["names"].items()]
    return f"Public names of PyTorch {counts['version']} that are here:\n\n| namespace | names | |\n|---|---|---|\n" + "\n".join(rows)


def picture() -> str:
    """The graph of the guide's example."""
    import retrograd as torch

    torch.manual_seed(0)
    w = torch.randn(3, requires_grad=True)
    loss = (torch.tanh(torch.randn(8, 3) @ w) - 1).pow(2).mean()
    return str(torch.viz.graph(loss, names={"w": w}).svg()).replace("\n\n", "\n")


def model_picture() -> str:
    """The graph of a small network, by module."""
    import retrograd as torch
    from retrograd import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    with torch.viz.watch(model):
        out = model(torch.randn(16, 3))
    loss = nn.functional.mse_loss(out, torch.randn(16, 1))
    return str(torch.viz.graph(loss, model=model).svg())


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
        place = TOP.get(path, path.removeprefix("docs/") if path.startswith("docs/") and path.endswith(".md") else None)
        if place is None:
            return f"{text} (`{path}`)"
        up = "../" * len(folder.parts)
        return f"[{text}]({up}{place}{anchor})"

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)", link, markdown)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    here = page.file.src_uri
    if not here.startswith("api/"):
        markdown = _relinked(markdown, here)
    return (
        markdown.replace("{{coverage}}", coverage_table())
        if "{{coverage}}" in markdown
        else markdown.replace("{{picture}}", picture())
        if "{{picture}}" in markdown
        else markdown
    )


# -- counting -------------------------------------------------------------------


def count_coverage() -> None:
    import importlib

    import torch

    names = {}
    for path in (
        "",
        "Tensor",
        "nn",
        "nn.functional",
        "nn.init",
        "optim",
        "autograd",
        "func",
        "linalg",
        "special",
        "fft",
        "distributions",
        "utils.data",
        "utils.checkpoint",
    ):
        theirs = torch.Tensor if path == "Tensor" else importlib.import_module(f"torch.{path}".rstrip("."))
        wanted = public_names(theirs)
        ours = member(path)
        names[f"torch.{path}".rstrip(".")] = (sum(hasattr(ours, name) for name in wanted), len(wanted))
    COVERAGE.write_text(json.dumps({"version": torch.__version__.partition("+")[0], "names": names}, indent=2) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["coverage"]:
        count_coverage()
    elif sys.argv[1:] == ["picture"]:
        (ROOT / "docs" / "graph.svg").write_text(model_picture() + "\n")
    else:
        sys.exit(__doc__)
