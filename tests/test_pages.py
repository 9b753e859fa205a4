"""Pages that stand alone, and progress on a terminal: what reports and long commands share."""

import os
import sys

import pytest

from retrograd import _files, _pages


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
    page = tmp_path / "p.html"
    with pytest.raises(OSError, match=r"No such file.*no/p.html"):
        _files.write_text(tmp_path / "no" / "p.html", "x")
    with pytest.raises(UnicodeEncodeError):
        _files.write_text(page, "before \ud800")
    assert list(tmp_path.iterdir()) == []
    page.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        _files.write_text(page, "before \ud800")
    with pytest.raises(OSError, match="No such file"):  # of several none
        _files.write_all([(page, b"new"), (tmp_path / "other", b"new"), (tmp_path / "no" / "third", b"new")])
    assert page.read_text() == "old" and list(tmp_path.iterdir()) == [page]
    (tmp_path / "link").symlink_to(page)
    _files.write_text(tmp_path / "link", "through a link")
    assert page.read_text() == "through a link" and (tmp_path / "link").is_symlink()
    _files.write_text(tmp_path / ("n" * 250), "a long name")
    assert len(list(tmp_path.iterdir())) == 3


def test_a_stream_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert _files.refusal(tmp_path / "pipe") is None and _files.refusal("/dev/null") is None
    _files.write_text(tmp_path / "pipe", "into it")
    _files.write_text("/dev/null", "gone")
    assert os.read(reader, 100) == b"into it" and (tmp_path / "pipe").is_fifo() and not os.path.isfile("/dev/null")
    os.close(reader)


def test_why_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert _files.refusal(tmp_path / "new") is None and _files.folder_refusal(tmp_path / "a" / "b") is None
    assert "is a folder" in _files.refusal(tmp_path) and "there is no folder" in _files.refusal(tmp_path / "a" / "b")
    assert "is not a folder" in _files.folder_refusal(tmp_path / "file" / "b") and "cannot write in /proc" in _files.refusal("/proc/x")
    assert "cannot write in /proc" in _files.folder_refusal("/proc/x")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["file"]


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
    before = screen.getvalue()
    quiet = Bar(True, 10, "steps")
    quiet.show(10, "loss", finished=True)
    assert not quiet.live and screen.getvalue() == before


@pytest.mark.parametrize(("terminal", "installed"), [(True, True), (True, False), (False, True)])
def test_a_helper_that_reads_a_loader_shows_how_far_it_is(monkeypatch, terminal, installed):
    """With a tqdm that says what it is asked for: bars come after a second, which no test should take."""
    import io
    from types import SimpleNamespace

    import retrograd as torch

    asked = []

    def tqdm(items, **options):
        asked.append((len(items), options))
        return items

    class Stream(io.StringIO):
        def isatty(self):
            return terminal

    monkeypatch.setattr(sys, "stderr", Stream())
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(tqdm=tqdm) if installed else None)
    data = torch.utils.data.TensorDataset(torch.arange(40.0).reshape(20, 2))
    model = torch.nn.BatchNorm1d(2)
    torch.optim.swa_utils.update_bn(torch.utils.data.DataLoader(data, batch_size=5), model)
    assert model.running_mean.tolist() == [19.0, 20.0] and model.num_batches_tracked == 4
    wanted = [(4, {"desc": "update_bn", "unit": "batch", "delay": 1.0, "leave": False})] if terminal and installed else []
    assert asked == wanted
