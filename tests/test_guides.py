"""The guides of docs/guide run, block after block as a reader would, and in silence; the site is built from pages that exist."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

from retrograd import doctor
from tools import site

ROOT = Path(__file__).resolve().parent.parent
GUIDES = sorted((ROOT / "docs" / "guide").glob("*.md"))


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_guides_run(path):
    namespace: dict[str, object] = {"__name__": "guide"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", doctor.SilentFailureWarning)
        for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", path.read_text(), re.M | re.S)):
            exec(compile(block, f"{path.name}[{number}]", "exec"), namespace)


def test_every_page_of_the_site_is_there():
    pages = re.findall(r": ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    made = {*site.TOP.values(), "api/index.md"}
    assert [page for page in pages if page not in made and not (ROOT / "docs" / page).exists()] == []
    assert {f"guide/{path.name}" for path in GUIDES} <= set(pages)


def test_the_reference_has_every_public_name():
    pages = site.api_pages()
    for path in ("", "nn", "doctor", "viz"):
        text = pages[f"api/{path or 'torch'}.md"]
        for name in site.public_names(site.member(path)):
            assert f"`{path + '.' if path else ''}{name}" in text


def test_what_is_filled_in():
    assert "torch.nn.functional" in site.coverage_table()
    assert site.picture().startswith("<svg")
    assert site._relinked("[a](../ARCHITECTURE.md) [b](guide/modes.md#x) [c](../tools/dev)", "index.md") == (
        "[a](contributing/architecture.md) [b](guide/modes.md#x) c (`tools/dev`)"
    )
