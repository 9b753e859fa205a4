"""FileCheck: whether pieces of text stand in a text, in an order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass
class _Check:
    kind: str  # as in a file of checks: "", NOT, SAME, NEXT, DAG, COUNT, COUNT-EXACTLY, REGEX, SOURCE-HIGHLIGHTED
    text: str
    count: int = 1

    @property
    def title(self) -> str:
        words = f"-{self.kind}-{self.count}" if self.kind.startswith("COUNT") else f"-{self.kind}" if self.kind else ""
        return f"CHECK{words}: {self.text}"

    def find(self, text: str, start: int) -> tuple[int, int]:
        """Where it begins and ends, from `start` on."""
        if self.kind == "REGEX":
            found = re.compile(self.text).search(text, start)
            place = found.span() if found else None
        else:
            at = text.find(self.text, start)
            place = None if at < 0 else (at, at + len(self.text))
        if place is None:
            raise RuntimeError(f'Expected to find "{self.text}" but did not find it\nSearched string:\n{text[start:]}From {self.title}\n')
        return place

    def must_not(self, what: str, text: str, start: int, end: int) -> None:
        at = text.find(what, start, end)
        if at >= 0:
            shown = what.replace("\n", "\\n")
            raise RuntimeError(f'Expected to not find "{shown}" but found it\n{_marked(text, at, at + len(what))}From {self.title}\n')


def _marked(text: str, start: int, end: int) -> str:
    """The text with a line below the one in question."""
    begin, stop = text.rfind("\n", 0, start) + 1, text.find("\n", start)
    stop = len(text) if stop < 0 else stop
    return f"{text[:stop]}\n{' ' * (start - begin)}{'~' * (min(end, stop) - start)} <--- HERE\n{text[stop + 1 :]}"


_LINE = re.compile(r"CHECK(?:-(NOT|SAME|NEXT|DAG|REGEX|SOURCE-HIGHLIGHTED)|-(COUNT-EXACTLY|COUNT)-(\d+))?: ?([^\n]*)")


class FileCheck:
    """Checks are added one by one, each behind the one before, and run on a text; or they are read from comments, `# CHECK: words`."""

    def __init__(self) -> None:
        self._checks: list[_Check] = []
        self._was_run = False

    def _add(self, kind: str, text: str, count: int = 1) -> FileCheck:
        if not isinstance(text, str):
            raise TypeError(f"expected the text to look for, got {type(text).__name__}")
        self._checks.append(_Check(kind, text, count))
        return self

    def check(self, text: str) -> FileCheck:
        """Somewhere behind what was found before."""
        return self._add("", text)

    def check_not(self, text: str) -> FileCheck:
        """Nowhere between what was found before and what is found next."""
        return self._add("NOT", text)

    def check_same(self, text: str) -> FileCheck:
        """On the same line."""
        return self._add("SAME", text)

    def check_next(self, text: str) -> FileCheck:
        """On the next line."""
        return self._add("NEXT", text)

    def check_count(self, text: str, count: int, exactly: bool = False) -> FileCheck:
        """So many times, and with `exactly` no more before what is found next."""
        if count < 1:
            raise RuntimeError("check_count: the count has to be at least 1; check_not() says that there is none")
        return self._add("COUNT-EXACTLY" if exactly else "COUNT", text, count)

    def check_dag(self, text: str) -> FileCheck:
        """One behind the other in the list, anywhere behind what was found before in the text."""
        return self._add("DAG", text)

    def check_regex(self, pattern: str) -> FileCheck:
        """A regular expression."""
        return self._add("REGEX", pattern)

    def check_source_highlighted(self, text: str) -> FileCheck:
        """With a line of ~ below it."""
        return self._add("SOURCE-HIGHLIGHTED", text)

    def run(self, *texts: Any) -> None:
        """run(text), or run(text with checks, text). Anything that is not a text is looked at as its str().

        Raises:
            RuntimeError: with the text and the check that it does not pass.
        """
        if len(texts) == 2:
            for kind, counted, count, words in _LINE.findall(texts[0]):
                self._add(kind or counted, words.strip(), int(count or 1))
        elif len(texts) != 1:
            raise TypeError(f"run() takes a text, or a text with checks and a text, but {len(texts)} arguments were given")
        self._was_run = True
        if not self._checks:
            raise RuntimeError("No checks have been added to this instance of FileCheck! Check for bad input.")
        self._run(str(texts[-1]))

    def _run(self, text: str) -> None:
        end, i = 0, 0  # of what was found last; of the next check
        forbidden: list[_Check] = []
        while i < len(self._checks):
            check = self._checks[i]
            if check.kind == "NOT":
                forbidden.append(check)
                i += 1
                continue
            if check.kind == "DAG":
                stop = i
                while stop < len(self._checks) and self._checks[stop].kind == "DAG":
                    stop += 1
                places = []
                taken: dict[str, int] = {}
                for each in self._checks[i:stop]:  # the same words twice are two places
                    places.append(each.find(text, taken.get(each.text, end)))
                    taken[each.text] = places[-1][1]
                start, after, i = min(p[0] for p in places), max(p[1] for p in places), stop
            else:
                start, after = check.find(text, end)
                if check.kind == "SAME":
                    check.must_not("\n", text, end, start)
                elif check.kind == "NEXT":
                    line = text.find("\n", end)
                    if line < 0 or line >= start:
                        raise RuntimeError(
                            f'Expected to find "{check.text}" but did not find it\nSearched string:\n{text[end:]}From {check.title}\n'
                        )
                    check.must_not("\n", text, line + 1, start)
                elif check.kind == "SOURCE-HIGHLIGHTED":
                    after = self._highlighted(check, text, start, after)
                for _ in range(check.count - 1):
                    _, after = check.find(text, after)
                i += 1
            for each in forbidden:
                each.must_not(each.text, text, end, start)
            forbidden = [_Check("NOT", check.text)] if check.kind == "COUNT-EXACTLY" else []
            end = after
        for each in forbidden:
            each.must_not(each.text, text, end, len(text))

    @staticmethod
    def _highlighted(check: _Check, text: str, start: int, end: int) -> int:
        """The end of the line of marks below the words."""
        while True:
            begin, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
            below = text[stop + 1 :].partition("\n")[0] if stop >= 0 else ""
            marks = below[start - begin : end - begin]
            if marks and set(marks) == {"~"}:
                return stop + 1 + len(below)
            start, end = check.find(text, end)

    def __del__(self) -> None:
        if not self._was_run:
            checks = "\n".join(f"\t{check.title}" for check in self._checks)
            print(f"You have not run this instance of FileCheck!\nFileCheck checks:\n{checks}")
