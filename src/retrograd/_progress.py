"""Progress of long work, on a terminal."""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Iterable
from typing import Any


def each(items: Iterable[Any], words: str) -> Iterable[Any]:
    """The items, with a bar on a terminal while there are more after a second; through tqdm, and without one where that is not installed."""
    if not sys.stderr.isatty():
        return items
    try:
        shown: Iterable[Any] = importlib.import_module("tqdm").tqdm(items, desc=words, unit="batch", delay=1.0, leave=False)
    except ImportError:
        return items
    return shown


class Bar:
    """Progress on a terminal, by tqdm where that is installed; silent elsewhere. `with` ends its line however the work ends."""

    def __init__(self, quiet: bool, total: float, unit: str) -> None:
        self.live = not quiet and sys.stderr.isatty()
        self.total, self.unit, self.done, self.shown, self.open = total, unit, 0.0, 0.0, False
        self.tqdm: Any = None
        if self.live:
            with contextlib.suppress(ImportError):
                form = "{percentage:3.0f}%|{bar}| {n:.0f}/{total:.0f} " + unit + " [{desc}]"
                self.tqdm = importlib.import_module("tqdm").tqdm(total=total, bar_format=form)

    def show(self, done: float, words: str, finished: bool = False) -> None:
        now = time.perf_counter()
        if not self.live or (now - self.shown < 0.1 and not finished):
            return
        self.shown = now
        done = min(done, self.total)
        if self.tqdm is not None:
            self.tqdm.set_description_str(words, refresh=False)
            self.tqdm.n = done
            self.tqdm.refresh()  # at once: how often is decided above
        else:
            filled = round(24 * done / self.total)
            line = f"  [{'#' * filled}{'.' * (24 - filled)}] {done:.0f}/{self.total:.0f} {self.unit}  {words}"
            print(f"\r{line:<118}", end="\n" if finished else "", file=sys.stderr, flush=True)
            self.open = not finished
        self.done = done

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *error: object) -> None:
        if self.tqdm is not None:
            self.tqdm.refresh()  # with the last words, however quick the work was
            self.tqdm.close()
        elif self.open:
            print(file=sys.stderr)
