"""What can be timed: a spec, as plain data, becomes a function of no arguments on one engine.

A spec names the command, the model, batch size and depth, and the variant: a grad mode, how many blocks are checkpointed, an op.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

from .models import BenchError, Subject, one_line, subject

Spec = dict[str, Any]
MODES = ("default", "no_grad", "inference_mode")


class Program:
    """Something to run again and again: `run` gives what it made, so that the caller can hold it."""

    def __init__(
        self, run: Callable[[], Any], context: Callable[[], Any] = contextlib.nullcontext, before: Callable[[], Any] | None = None
    ) -> None:
        self.run, self.context, self.before = run, context, before


def modes(torch: Any, spec: Spec, made: Subject) -> Program:
    """The forward alone, in a grad mode, of a model in train() or eval()."""

    def before() -> None:
        if hasattr(made.model, "train"):
            made.model.train(not spec["eval"])

    mode = spec["mode"]
    context = contextlib.nullcontext if mode == "default" else getattr(torch, mode)
    return Program(lambda: made.model(*made.inputs), context, before)


def checkpoint(torch: Any, spec: Spec, made: Subject) -> Program:
    """A step, forward and backward, with the first so many blocks checkpointed."""
    if made.blocks is None:
        raise BenchError(f"{spec['model']} gives no nn.Sequential, whose parts could be checkpointed one by one")
    again = importlib.import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    count = round(spec["part"] * len(made.blocks))
    parameters = [p for p in made.model.parameters() if p.requires_grad]
    for p in parameters:
        p.grad = torch.zeros_like(p)  # there from the start, so that the peak is about activations

    def step() -> None:
        x = made.inputs[0]
        for i, block in enumerate(made.blocks or ()):
            x = again(block, x, use_reentrant=False) if i < count else block(x)
        x.square().mean().backward()

    return Program(step, before=lambda: made.model.train())


def train(torch: Any, spec: Spec, made: Subject) -> Program:
    """A whole training step: zero_grad, forward, a mean square as loss, backward, AdamW."""
    optimizer = torch.optim.AdamW(made.model.parameters(), lr=1e-4)

    def step() -> Any:
        optimizer.zero_grad()
        found = made.model(*made.inputs)
        loss = (found if isinstance(found, torch.Tensor) else found[0]).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    context = torch.autograd.detect_anomaly if spec["mode"] == "detect_anomaly" else contextlib.nullcontext
    return Program(step, context, lambda: made.model.train())


# -- ops ----------------------------------------------------------------------


def function_of(torch: Any, name: str) -> Callable[..., Any]:
    family, _, rest = name.partition("_")
    if family in ("fft", "linalg", "special") and (found := getattr(getattr(torch, family), rest, None)) is not None:
        return found
    for home in (torch, torch.nn.functional, torch.Tensor):
        if (found := getattr(home, name, None)) is not None and not isinstance(found, property):
            return found
    raise BenchError(f"{torch.__name__} has no {name}")


def op(torch: Any, spec: Spec, _made: Any) -> Program:
    """One op on square matrices of positive numbers."""
    size = spec["size"]
    torch.manual_seed(0)
    matrices = [torch.rand(size, size) + 0.5 for _ in range(3)]
    given = {"Tensor": iter(matrices), "Operand": iter(matrices[2:]), "Tensor[]": iter([matrices[:2]])}
    values = [next(given[kind]) if kind in given else value for kind, value in spec["arguments"]]
    function = function_of(torch, spec["op"])
    return Program(lambda: function(*values))


def arguments_of(parameters: Any) -> list[tuple[str, Any]] | None:
    """Kind and value of what an op has to be given; None where nothing can be guessed."""
    guesses: dict[str, Any] = {"Tensor": None, "Operand": None, "Tensor[]": None, "Scalar": 2, "float": 2.0, "int": 0, "bool": False}
    needed = [p for p in parameters if p.required]
    if not needed or any(p.type not in guesses or p.keyword_only for p in needed) or needed[0].type not in ("Tensor", "Tensor[]"):
        return None
    if sum(p.type == "Tensor" for p in needed) > 3 or sum(p.type == "Tensor[]" for p in needed) > 1:
        return None
    return [(p.type, guesses[p.type]) for p in needed]


MAKERS: dict[str, Callable[[Any, Spec, Any], Program]] = {"modes": modes, "checkpoint": checkpoint, "train": train, "ops": op}


def build(torch: Any, specs: list[Spec]) -> tuple[list[Program], int | None]:
    """Programs for specs that are compared with each other, which share one model; and how many blocks that has."""
    first = specs[0]
    torch.manual_seed(0)
    made = None if first["kind"] == "ops" else subject(torch, first["model"], first["batch"], first.get("depth"))
    programs = []
    for spec in specs:
        try:
            programs.append(MAKERS[spec["kind"]](torch, spec, made))
            run(programs[-1])
        except BenchError:
            raise
        except Exception as error:
            if first["kind"] == "ops":
                raise BenchError(one_line(error)) from error
            raise BenchError(
                f"{spec['model']}, batch size {spec['batch']}: {one_line(error, spec['model'].rpartition(':')[0] or None)}"
            ) from error
    return programs, None if made is None or made.blocks is None else len(made.blocks)


def run(program: Program) -> Any:
    if program.before is not None:
        program.before()
    with program.context():
        return program.run()
