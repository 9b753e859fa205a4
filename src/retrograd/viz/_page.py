"""The page of a graph: its data as JSON, the style that reports share, and viewer.js, which draws."""

from __future__ import annotations

import json
import linecache
import os
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from retrograd._memory import _readable
from retrograd._pages import document, escape
from retrograd.viz import _layout
from retrograd.viz._draw import kind_of, widths_of, words_of

if TYPE_CHECKING:
    from retrograd.viz._graph import Graph

KINDS = ("leaf", "op", "function")
UNFOLDED = 400  # boxes that are shown at first, at most; beyond that modules come folded

STYLE = """
html, body { height: 100%; } body { max-width: none; margin: 0; padding: 0; display: flex; flex-direction: column; overflow: hidden; }
header { display: flex; white-space: nowrap; align-items: center; gap: .4rem .6rem; padding: .5rem .9rem; background: var(--soft); border-bottom: 1px solid var(--faint); }
header h1 { font-size: 1.05rem; margin: 0; } header .count { opacity: .7; font-size: 12px; flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; }
header input, header select, header button { font: inherit; font-size: 13px; color: inherit; background: var(--back); border: 1px solid var(--faint); border-radius: 6px; padding: .2rem .55rem; }
header input { width: 14rem; } header label { font-size: 13px; } header button { cursor: pointer; }
@media (max-width: 1000px) { header { flex-wrap: wrap; } }
main { position: relative; flex: 1; min-height: 0; display: flex; } canvas { flex: 1; min-width: 0; display: block; cursor: grab; touch-action: none; } canvas:focus { outline: none; }
#side { width: 23rem; overflow-y: auto; padding: .8rem .9rem; border-left: 1px solid var(--faint); font-size: 13px; background: var(--back); }
#side[hidden] { display: none; } #side h2 { word-break: break-all; } #side code { font: 12px/1.4 ui-monospace, monospace; word-break: break-all; }
#side table { width: 100%; } #side td { padding-right: .6rem; } #side a { color: #3b6fd4; cursor: pointer; text-decoration: none; } #side section { margin-top: .8rem; } #side h3 { font-size: 12px; margin: 0 0 .2rem; opacity: .7; }
#found { position: absolute; left: .9rem; top: .4rem; max-height: 60%; width: 30rem; max-width: 80%; overflow-y: auto; background: var(--back); border: 1px solid var(--faint); border-radius: 8px; box-shadow: 0 4px 18px #0003; font-size: 13px; z-index: 2; }
#found[hidden] { display: none; } #found div { padding: .25rem .6rem; cursor: pointer; } #found div.chosen, #found div:hover { background: var(--soft); } #found small { opacity: .65; }
#legend { position: absolute; left: .9rem; bottom: .6rem; font-size: 12px; padding: .25rem .6rem; border-radius: 6px; background: var(--soft); opacity: .9; pointer-events: none; } #legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin: 0 .3rem 0 .7rem; } #legend i:first-child { margin-left: 0; }
"""

BODY = """<header><h1>{title}</h1><span class="count" title="{count}">{count}</span>
<input id="search" type="search" placeholder="search: name, module, file.py:12" autocomplete="off" aria-label="search">
<label>colour <select id="colour"><option value="kind">kind</option><option value="bytes">saved bytes</option><option value="norm">gradient norm</option></select></label>
<button id="fold">fold all</button><button id="unfold">unfold all</button><button id="fit">fit</button></header>
<main><canvas id="canvas" tabindex="0"></canvas><div id="found" hidden></div><div id="legend"></div><aside id="side" hidden></aside></main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>"""


class Words:
    """Strings, each once, and their numbers."""

    def __init__(self) -> None:
        self.places: dict[Any, int] = {}

    def __call__(self, words: Any) -> int:
        return self.places.setdefault(words, len(self.places))


def data_of(graph: Graph) -> dict[str, Any]:
    tree = graph.tree
    words, sites = Words(), Words()
    widths = widths_of(graph)
    nodes = []
    for node in graph.nodes:
        site = -1 if node.site is None else sites(node.site)
        norm = node.norm()
        saved = [[words(s.name), words(s.words), s.bytes, int(s.parameter)] for s in node.saved]
        above, below = words_of(node)
        nodes.append([words(above), words(below), words(node.name), KINDS.index(kind_of(node)), site, node.bytes, norm, saved])
    boxes = len(graph.nodes) + len(tree.paths)
    return {
        "words": list(words.places),
        "sites": [[os.path.relpath(f) if f.startswith(os.getcwd() + os.sep) else f, n, linecache.getline(f, n).strip()] for f, n in sites.places],
        "nodes": nodes,
        "edges": [number for edge in tree.edges for number in edge],
        "parents": tree.parent,
        "paths": tree.paths,
        "classes": tree.classes,
        "rows": [tree.rows[m] for m in range(tree.count, tree.root + 1)],
        "widths": widths,
        "folded": boxes > UNFOLDED,
        "sizes": {
            name: getattr(_layout, name) for name in ("NODE_HEIGHT", "FOLDED_HEIGHT", "PAD", "HEAD", "GAP_ACROSS", "GAP_DOWN", "FAR", "AROUND")
        },
    }  # fmt: skip


def summary(graph: Graph) -> str:
    leaves = sum(node.leaf is not None for node in graph.nodes)
    norms = [n for node in graph.nodes if node.leaf is not None and (n := node.norm()) is not None]
    parts = [
        f"{len(graph.nodes):,} nodes",
        f"{len(graph.edges):,} edges",
        f"{leaves:,} leaves",
        f"{_readable(graph.total_saved)} saved for backward",
    ]
    if norms:
        parts.append(f"gradient norm {sum(n * n for n in norms) ** 0.5:.4g}")
    return " · ".join(parts)


def render(graph: Graph) -> str:
    # What could end the element that holds the data is written otherwise, and NaN, which JSON does not know, as text.
    data = json.dumps(finite(data_of(graph)), separators=(",", ":"), ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")
    script = files("retrograd.viz").joinpath("viewer.js").read_text(encoding="utf-8")
    body = BODY.format(title=escape(graph.title), count=escape(summary(graph)), data=data, script=script)
    return document(graph.title, body, STYLE)


def finite(data: dict[str, Any]) -> dict[str, Any]:
    """Norms that are no numbers as words."""
    for node in data["nodes"]:
        norm = node[6]
        if norm is not None and not abs(norm) < float("inf"):
            node[6] = str(norm)
    return data
