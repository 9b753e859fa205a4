"""Pages that stand alone, and progress on a terminal: what reports and long commands share."""

import sys

import pytest

from retrograd import _pages


def test_charts():
    assert _pages.ticks(0, 10) == [0, 2, 4, 6, 8, 10] and _pages.ticks(0.1, 0.35, 5) == pytest.approx([0.1, 0.15, 0.2, 0.25, 0.3, 0.35])
    chart = _pages.line_chart("a < b", {"one": [(0, 1.0), (1, float("nan")), (2, 100.0)]}, "x", "y", logarithmic=True)
    assert "a &lt; b" in chart and "nan" not in chart and chart.count("polyline") == 1
    assert "nothing to show" in _pages.line_chart("empty", {"one": []}, "x", "y")
    assert _pages.bar_chart("bars", [("x", 0.0, "none")]).count("<rect") == 1


def test_a_page_is_one_file_and_escapes(tmp_path):
    rows = [("a<b", 1.5), ("c", 20)]
    page = _pages.Page(
        "x & y",
        [_pages.facts([("<name>", '"value"')]), _pages.table(["what", "count"], rows), _pages.card("t", _pages.preformatted("</pre>"))],
    )
    page.save(tmp_path / "p.html")
    text = (tmp_path / "p.html").read_text()
    assert "<title>x &amp; y</title>" in text and "&lt;name&gt;" in text and "a&lt;b" in text and "&lt;/pre&gt;" in text
    assert '<td class="number">20</td>' in text and '<td class="number">a' not in text
    assert not any(words in text for words in ("http", "src=", "href=", "<script")) and [f.name for f in tmp_path.iterdir()] == ["p.html"]
    assert page._repr_html_().startswith("<iframe srcdoc=") and page._repr_html_().count("<") == 2  # all of it inside the attribute


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    with pytest.raises(OSError):
        _pages.write_text(tmp_path / "no" / "p.html", "x")
    with pytest.raises(UnicodeEncodeError):
        _pages.write_text(tmp_path / "p.html", "before \ud800")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "p.html").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        _pages.write_text(tmp_path / "p.html", "before \ud800")
    assert (tmp_path / "p.html").read_text() == "old"


def test_the_bar_of_a_terminal(monkeypatch):
    import io

    from retrograd._progress import Bar

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    monkeypatch.setitem(sys.modules, "tqdm", None)
    bar = Bar(False, 10, "steps")
    bar.show(5, "loss 1.0")
    bar.show(10, "loss 0.5", finished=True)
    assert "5/10 steps  loss 1.0" in screen.getvalue() and screen.getvalue().rstrip(" ").endswith("\n")

    def fails():
        with Bar(False, 10, "steps") as bar:
            bar.show(3, "then it fails")
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert screen.getvalue().endswith("\n")  # what is said next has a line of its own
    quiet = Bar(True, 10, "steps")
    quiet.show(10, "loss", finished=True)
    assert not quiet.live
