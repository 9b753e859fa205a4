"""Runs the samples of the op table and the programs of tests/programs on PyTorch, and stores what it gives for tests on machines without it.

    python tools/make_references.py             rewrites tests/ops/references/*.json.gz and tests/programs/outcomes/*.json; needs torch
    python tools/make_references.py programs    rewrites the latter alone, or with `ops` the former, with `losses` those of tests/amp
    python tools/make_references.py programs layers   rewrites those of these topics
    python tools/make_references.py --check     says which samples and programs have no stored result yet; needs nothing

Of the samples float64 and complex128 (with gradients), float32 and int64 are stored for every sample, the other dtypes for the first two of each op.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import optable
from tests import programs
from tests.amp import training
from tests.ops import references
from tests.ops.cases import Case, all_cases, fits, specs_of
from tests.ops.differences import comparable
from tests.ops.harness import TOLERANCE, Record, differing, entries, run
from tests.ops.tensors import COMPLEX, DTYPES
from tests.programs.runner import as_compared, shown, stored

ALWAYS = ("float64", "float32", "int64", "complex128")


def dtypes_for(case: Case) -> list[str]:
    found = [d for d in DTYPES if (d in ALWAYS or case.index < 2) and fits(case, d)]
    floats = any(spec.kind == "float" for spec in specs_of(case.sample))
    return found + [d for d in COMPLEX if floats and (d in ALWAYS or case.index < 2)]


def drop_rounded(narrow: Record, wide: Record) -> None:
    """Forgets float32 numbers that float64's say already."""
    for n, w in zip(narrow.outputs, wide.outputs, strict=False):
        if (n.dtype, w.dtype) == ("float32", "float64") and not differing(n.values, w.values, TOLERANCE["float32"] / 10):
            n.values = None
    narrow.grads = []


def make(family: str, torch: Any) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for entry in entries(lambda e: e.family == family and e.kernel.kind != "alias" and comparable(e)):
        for case in all_cases(entry):
            records = {d: run(torch, case, d) for d in dtypes_for(case)}
            if "float32" in records and "float64" in records:
                drop_rounded(records["float32"], records["float64"])
            for dtype, record in records.items():
                if dtype not in ALWAYS:
                    record.grads = []
            content.setdefault(entry.qualified, {})[case.key] = {d: references.to_json(r) for d, r in records.items()}
    return content


def make_ops(torch: Any) -> None:
    references.FOLDER.mkdir(exist_ok=True)
    for family in optable.FAMILIES:
        references.write(family, make(family, torch))
        print(f"{family}: {(references.FOLDER / f'{family}.json.gz').stat().st_size / 1024:.0f} KB")


def make_topic(topic: str) -> str:
    import torch

    import retrograd

    torch.set_num_threads(1)
    outcomes: dict[str, Any] = {}
    with as_compared(torch):
        for program in programs.programs(topic):
            lines = stored(shown(torch, program.function))
            outcomes[program.name] = {"torch": lines, "retrograd": stored(shown(retrograd, program.function))} if program.differs else lines
    programs.write(topic, outcomes)
    return f"{topic}: {len(outcomes)} programs"


def make_programs(topics: list[str]) -> None:
    """Each topic in a process of its own, which may start others: parts of PyTorch change settings of others when they are imported (torch._dynamo stops distributions checking their values)."""
    for topic in topics:
        subprocess.run(
            [sys.executable, "-c", f"from tools.make_references import make_topic; print(make_topic({topic!r}))"],
            check=True,
            cwd=sys.path[0],
        )


def missing() -> list[str]:
    """Samples without a stored result, and stored results without a sample."""
    lines = []
    for family in optable.FAMILIES:
        found = references.read(family)
        for entry in entries(lambda e, family=family: e.family == family and e.kernel.kind != "alias" and comparable(e)):
            here = {case.key: case for case in all_cases(entry)}
            there = found.get(entry.qualified, {})
            lines += [f"{case}: no stored result" for key, case in here.items() if key not in there]
            lines += [f"{entry.qualified}: stored result {key} of a sample that is gone" for key in there if key not in here]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["ops", "programs", "losses"])
    parser.add_argument("topics", nargs="*", choices=[*programs.TOPICS, []], metavar="topic")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.check:
        lines = missing() + programs.missing()
        print("\n".join(lines) or "every sample and every program has its stored result")
        sys.exit(bool(lines))
    import torch

    torch.set_num_threads(1)
    if arguments.what in (None, "ops"):
        make_ops(torch)
    if arguments.what in (None, "programs"):
        make_programs(arguments.topics or programs.TOPICS)
    if arguments.what in (None, "losses"):
        training.store(torch)


if __name__ == "__main__":
    main()
