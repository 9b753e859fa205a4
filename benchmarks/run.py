"""Times the same programs on PyTorch and on retrograd, in alternating rounds, and prints the ratios.

    python benchmarks/run.py                     every case
    python benchmarks/run.py --filter matmul     cases whose name contains a word
    python benchmarks/run.py --ops add sum.dim   a row for each of these ops of the table; --ops alone: for all
    python benchmarks/run.py --update README.md docs/guide/performance.md     the tables of both, measured anew
    python benchmarks/run.py --smoke             two short rounds: does everything run?
    python benchmarks/run.py --engines retrograd@../before/src retrograd@src     two builds of one engine

Each engine lives in its own process and is asked for one round at a time, so the two meet the same machine in the same
state. The ratio of a case says how many times faster retrograd is: the median over its rounds. Cases are in `cases/`;
see `registry.py` to add one.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field, replace

from ops import PREFIX, op_cases
from registry import Case, all_cases

HERE = pathlib.Path(__file__).parent
FRESH = "import time; _start = time.perf_counter()\n{source}\nprint(time.perf_counter() - _start)"


class CaseError(Exception):
    """A case failed on one engine; the text says how."""


class Engine:
    """A worker process with one engine in it, started anew should a case crash it."""

    def __init__(self, name: str, threads: int) -> None:
        self.name, self.threads = name, threads
        self.module, _, path = name.partition("@")
        # Both sides get the same number of threads from every library they bring along.
        limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
        self.environment = {**os.environ, **limits} | ({"PYTHONPATH": os.path.abspath(path)} if path else {})
        self.version = self._start()

    def _start(self) -> str:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), self.module, str(self.threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        return self._answer()["version"]

    def _answer(self) -> dict:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise CaseError(f"{self.name} crashed: exit code {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise CaseError(f"{self.name}: {answer['error']}")
        return answer

    def _ask(self, **request: object) -> dict:
        if self.process.poll() is not None:
            self._start()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def prepare(self, case: Case, seconds: float) -> None:
        if case.source is None:
            self._ask(prepare=case.name, seconds=seconds)

    def round(self, case: Case) -> float:
        if case.source is None:
            return self._ask(round=True)["seconds"]
        source = FRESH.format(source=case.source.format(engine=self.module))
        done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=self.environment)
        if done.returncode:
            raise CaseError(f"{self.name}: {done.stderr.strip().splitlines()[-1]}")
        return float(done.stdout.splitlines()[-1])

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Row:
    """What was measured of one case: seconds per iteration of each round, by engine."""

    name: str
    target: float | None
    rounds: list[list[float]] = field(default_factory=list)
    error: str | None = None

    def time(self, engine: int) -> float:
        return statistics.median(r[engine] for r in self.rounds)

    @property
    def ratio(self) -> float | None:
        if not self.rounds or len(self.rounds[0]) < 2:
            return None
        return statistics.median(base / ours for base, ours in self.rounds)

    @property
    def verdict(self) -> str:
        if self.error:
            return "ERROR"
        if self.ratio is None or self.target is None:
            return ""
        return "ok" if self.ratio >= self.target else "MISS"


def measure(case: Case, engines: list[Engine], rounds: int, seconds: float) -> Row:
    row = Row(case.name, case.target)
    try:
        for engine in engines:
            engine.prepare(case, seconds)
        for _ in range(rounds):
            times = []
            for engine in engines:
                time.sleep(0.003)  # idle threads of the other engine spin for a moment before they sleep
                times.append(engine.round(case))
            row.rounds.append(times)
    except CaseError as error:
        row.error = str(error)
    return row


def format_time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}" if seconds < 100 * scale else f"{seconds / scale:.0f} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def cells(row: Row, engines: int) -> list[str]:
    target = f"{row.target:g}x" if row.target else ""
    if row.error:
        return [row.name] + ["-"] * engines + ["-", target, row.verdict]
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}x" if row.ratio < 10 else f"{row.ratio:.1f}x"
    return [row.name, *(format_time(row.time(i)) for i in range(engines)), ratio, target, row.verdict]


class Table:
    """Prints rows as they come, as aligned text or as Markdown."""

    def __init__(self, names: list[str], cases: list[Case], markdown: bool) -> None:
        self.engines, self.markdown = len(names), markdown
        header = ["case", *names, "ratio", "target", ""]
        self.widths = [max(len(c.name) for c in cases), *(max(9, len(h)) for h in header[1:])]
        self._line(header)
        if markdown:
            print("|" + "|".join(["---"] + ["---:"] * (len(header) - 2) + ["---"]) + "|")
        else:
            print("-" * (sum(self.widths) + 2 * len(header)))

    def add(self, row: Row) -> None:
        self._line(cells(row, self.engines))
        if row.error:
            print(f"    {row.error}", file=sys.stderr)

    def _line(self, texts: list[str]) -> None:
        if self.markdown:
            print("| " + " | ".join(texts) + " |", flush=True)
            return
        first, *middle = texts
        aligned = [t.rjust(w) for t, w in zip(middle, self.widths[1:], strict=True)]
        print("  ".join([first.ljust(self.widths[0]), *aligned]).rstrip(), flush=True)


# -- tables of documents ----------------------------------------------------------

MARKED = re.compile(r"(?<=<!-- benchmarks -->\n\n)(?P<about>.*)\n\n(?P<head>\|.*\n\|.*\n)(?P<rows>(?:\|.*\n)*)(?=\n<!-- /benchmarks -->)")


def marked(file: str) -> re.Match[str]:
    found = MARKED.search(pathlib.Path(file).read_text())
    if found is None:
        sys.exit(f"{file} has no table between <!-- benchmarks --> and <!-- /benchmarks -->")
    return found


def named_in(file: str) -> list[str]:
    """The cases that the table of a document has."""
    return [line.split("|")[1].strip() for line in marked(file)["rows"].splitlines()]


def update(file: str, about: str, rows: list[Row]) -> None:
    """Writes what was measured into the table of a document; rows that were not measured stay."""
    found, fresh = marked(file), {row.name: "| " + " | ".join(cells(row, 2)) + " |" for row in rows if not row.error}
    lines = [fresh.get(name, line) for name, line in zip(named_in(file), found["rows"].splitlines(), strict=True)]
    text = found.string[: found.start()] + f"{about}\n\n{found['head']}" + "\n".join(lines) + "\n" + found.string[found.end() :]
    pathlib.Path(file).write_text(text)


def cpu_name() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def warn_if_busy() -> None:
    """Thread pools fare badly when others want the cores, so ratios taken on a busy machine say little."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > 0.5 * cores:
        print(f"warning: load average {load:.1f} on {cores} cores; expect noise\n", file=sys.stderr)


def start(names: list[str], threads: int) -> list[Engine]:
    """The engines that can be imported; the last one, ours, has to be among them."""
    engines = []
    for name in names:
        try:
            engines.append(Engine(name, threads))
        except CaseError as error:
            if name == names[-1]:
                sys.exit(str(error))
            print(f"{error}\nGoing on without it: no ratios.", file=sys.stderr)
    return engines


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", metavar="TEXT", action="append", default=[], help="only cases whose name contains TEXT")
    parser.add_argument("--ops", metavar="NAME", nargs="*", help="rows of ops of the table instead, by name or overload name; none: of all")
    parser.add_argument("--rounds", type=int, default=11, help="rounds per case (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.05, help="length of a round (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="threads of each engine (default: %(default)s)")
    parser.add_argument(
        "--engines", nargs="+", default=["torch", "retrograd"], metavar="MODULE[@PATH]", help="what to compare, and where to import it from"
    )
    parser.add_argument("--smoke", action="store_true", help="two very short rounds; fails if a case does not run")
    parser.add_argument("--strict", action="store_true", help="fail if a target is missed")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument(
        "--update",
        metavar="FILE",
        nargs="+",
        default=[],
        help="measure the cases that the tables of these Markdown files have, and write them there",
    )
    parser.add_argument("--json", metavar="FILE", help="also write every measurement to FILE")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    options = parser.parse_args()
    if options.smoke:
        options.rounds, options.seconds = 2, 0.001
    if len(options.engines) > 2:
        parser.error("--engines takes one or two modules")
    if options.update and (options.smoke or options.engines != ["torch", "retrograd"]):
        parser.error("--update is for whole rounds of PyTorch and retrograd")
    return options


def offered(ops: list[str] | None) -> list[Case]:
    """The cases, or rows of ops where some are asked for."""
    if ops is None:
        return list(all_cases().values())
    qualified = {name.removeprefix(PREFIX): case for name, case in op_cases().items()}
    return [case for name, case in qualified.items() if not ops or name in ops or name.partition(".")[0] in ops]


def main() -> int:
    options = parse_arguments()
    wanted = [w.lower() for w in options.filter]
    cases = [c for c in offered(options.ops) if not wanted or any(w in c.name.lower() for w in wanted)]
    if options.update:
        named = {name for file in options.update for name in named_in(file)}
        cases = [c for c in cases if c.name in named]
    if options.smoke or len({name.partition("@")[0] for name in options.engines}) == 1:
        cases = [
            replace(c, target=None) for c in cases
        ]  # rounds this short say nothing about speed, and targets are ratios against PyTorch
    if options.list or not cases:
        print("\n".join(c.name for c in cases) or "no case matches", file=sys.stdout if cases else sys.stderr)
        return 0 if cases else 2

    engines = start(options.engines, options.threads)
    versions = ", ".join(f"{e.name} {e.version}" for e in engines)
    about = f"{versions}; Python {platform.python_version()}; {cpu_name()}, {options.threads} threads"
    print(f"{about}\n")
    warn_if_busy()
    table = Table([e.name for e in engines], cases, options.markdown)
    rows = []
    for case in cases:
        rows.append(measure(case, engines, options.rounds, options.seconds))
        table.add(rows[-1])
    for engine in engines:
        engine.close()

    for file in options.update:
        update(file, about, rows)
    if options.json:
        machine = {"cpu": cpu_name(), "threads": options.threads, "python": platform.python_version()}
        result = {"engines": {e.name: e.version for e in engines}, "machine": machine}
        result["rows"] = [{**asdict(row), "ratio": row.ratio, "verdict": row.verdict} for row in rows]
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    verdicts = [row.verdict for row in rows]
    return int("ERROR" in verdicts or (options.strict and "MISS" in verdicts))


if __name__ == "__main__":
    sys.exit(main())
