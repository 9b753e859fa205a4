"""Running a program on an engine, what it shows as lines of text, and when such lines agree."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import zip_longest
from typing import Any

# What is compared of a message is its opening, which people match on: the first sentence, or as much of it as this. What follows is ours.
MESSAGE = 60
CUT = "…"  # ends a stored line that goes on in words of PyTorch's own
DIGITS = 6  # of floating-point numbers, which agree when they differ by less than a unit of the last but one
NUMBER = re.compile(r"((?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w.])|(?<=\d)[-+]\d+(?:\.\d+)?(?:e[-+]\d+)?(?=j))")
# Warnings of PyTorch about its inside (deprecated parts it uses itself, rules it lacks, its tracer), and those that docs/differences.md says are not ours.
NOISE = (
    "torch.jit",
    "performance drop because we have not yet implemented",
    "insert a get_attr Node",
    "will create a reference cycle",
    "gradient layout contract",
    "nested tensors is in prototype stage",
    "flex_attention called without torch.compile()",
    "Sparse invariant checks are implicitly disabled",
    "tensor support is in beta state",
    "torch.sparse.SparseTensor(",
)


class Message(str):
    """A line that ends in the words of an error or a warning. `cut` is the line with no more of them than their opening."""

    cut: str

    def __new__(cls, start: str, text: str) -> Message:
        line = super().__new__(cls, start + plain(text))
        line.cut = start + opening(plain(text)) + CUT
        return line


def opening(text: str, most: int = MESSAGE) -> str:
    return text[:most].split(". ")[0].rstrip(" .")


def plain(text: str) -> str:
    """Text without what may differ: the name of the package, addresses, and where a program stands."""
    text = text.replace("retrograd", "torch").replace("torch._C._autograd.", "torch.").replace("torch._C.", "torch.").replace("\n", " ")
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"(\w+\.)+<locals>\.", "", text)
    text = re.sub(r" \(Triggered internally at [^)]*\)", "", text)
    return re.sub(r" +", " ", text)


class Run:
    """One program on one engine: what it finds under which name, and the lines it shows."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.lines: list[str] = []

    def scope(self) -> dict[str, Any]:
        """All that a program can name as a parameter."""
        engine = self.engine
        func, functional, forward_ad, checkpointing = (
            import_module(f"{engine.__name__}.{part}")
            for part in ("func", "autograd.functional", "autograd.forward_ad", "utils.checkpoint")
        )
        transforms = ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize", "vmap", "functional_call")
        rows = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [0.1, 0.2, 0.3]]
        return {
            "torch": engine,
            "autograd": engine.autograd,
            "Function": engine.autograd.Function,
            "graph": engine.autograd.graph,
            "functional": functional,
            "fwAD": forward_ad,
            "nn": engine.nn,
            "F": engine.nn.functional,
            "func": func,
            **{name: getattr(func, name) for name in transforms},
            "checkpointing": checkpointing,
            "checkpoint": checkpointing.checkpoint,
            "f64": engine.float64,
            "x3": engine.tensor(rows[0], dtype=engine.float64),
            "x23": engine.tensor(rows[:2], dtype=engine.float64),
            "x33": engine.tensor(rows, dtype=engine.float64),
            "leaf": self.leaf,
            "show": self.show,
            "attempt": self.attempt,
            "kind": self.kind,
        }

    def leaf(self, *values: Any, **options: Any) -> Any:
        """A leaf that requires grad, of one number or of several."""
        options.setdefault("dtype", self.engine.float32)
        return self.engine.tensor(list(values) if len(values) != 1 else values[0], requires_grad=True, **options)

    def show(self, *values: Any) -> None:
        self.lines.append(self.line(*values))

    def attempt(self, function: Callable[[], Any], *values: Any) -> None:
        try:
            self.show(*values, function())
        except Exception as error:
            self.failed(self.line(*values, ""), error)

    def kind(self, function: Callable[[], Any], *values: Any) -> None:
        try:
            self.show(*values, function())
        except Exception as error:
            self.show(*values, type(error).__name__)

    def failed(self, start: str, error: Exception) -> None:
        self.lines.append(Message(f"{start}{type(error).__name__}: ", str(error)))

    def line(self, *values: Any) -> str:
        return " ".join(v if isinstance(v, str) else self.words(v) for v in values)

    def words(self, value: Any) -> str:
        engine = self.engine
        if isinstance(value, engine.Tensor):
            return self.tensor(value)
        if isinstance(value, engine.autograd.graph.GradientEdge):
            return f"edge({self.words(value.node)}, {value.output_nr})"
        if isinstance(value, engine.Size):
            return f"Size{list(value)}"
        if isinstance(value, (tuple, list)):
            inside = ", ".join(self.words(v) for v in value)
            name = "" if type(value) in (tuple, list) else type(value).__name__
            return name + (f"[{inside}]" if isinstance(value, list) else f"({inside})")
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k}: {self.words(v)}" for k, v in value.items()) + "}"
        if isinstance(value, float):
            return f"{value:.{DIGITS}g}"
        if isinstance(value, complex):  # without the sign of zeros
            return f"{value.real + 0.0:.{DIGITS}g}{value.imag + 0.0:+.{DIGITS}g}j"
        if isinstance(value, type):
            return value.__name__
        if hasattr(value, "next_functions"):
            return f"<{value.name()}>"
        return plain(repr(value))

    def tensor(self, t: Any) -> str:
        values = "meta" if t.is_meta else self.words(t.detach().tolist())
        shape = "" if t.numel() and not t.is_meta else f" {tuple(t.shape)}"  # elsewhere the brackets say it
        name = "" if type(t) is self.engine.Tensor else type(t).__name__ + " "
        history = f" <{t.grad_fn.name()}>" if t.grad_fn is not None else " leaf" if t.requires_grad else ""
        return f"{name}{values}{shape} {str(t.dtype).split('.')[-1]}{history}"


def shown(engine: Any, function: Callable[..., None]) -> list[str]:
    """The lines that a program shows on an engine, how it ended and what it warned about last."""
    this = Run(engine)
    scope = this.scope()
    engine.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function(**{name: scope[name] for name in inspect.signature(function).parameters})
        except Exception as error:
            this.failed("ended by ", error)
        finally:
            engine.autograd.set_detect_anomaly(False)
    heard = [(w.category.__name__, str(w.message)) for w in caught]
    this.lines += [Message(f"warned {kind}: ", text) for kind, text in heard if not any(noise in text for noise in NOISE)]
    return this.lines


@contextmanager
def as_compared(torch: Any) -> Iterator[None]:
    """PyTorch with the settings that outcomes are stored with: each warning every time, not once per process, and one thread."""
    threads, always = torch.get_num_threads(), torch.is_warn_always_enabled()
    torch.set_num_threads(1)
    torch.set_warn_always(True)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_warn_always(always)


def stored(lines: list[str]) -> list[str]:
    """Lines as they are stored: of messages only what the other engine has to say too."""
    return [line.cut if isinstance(line, Message) else line for line in lines]


def without(own: tuple[str, ...], lines: list[str]) -> list[str]:
    """Lines without what a program says is not to be compared."""
    if "nodes" in own:
        lines = [re.sub(r"<[\w:]+>", "<>", line) for line in lines]
    if "words" in own:
        lines = [re.sub(r"^(ended by \w+: ).*", rf"\1{CUT}", line) for line in lines]
    return lines


def agree(want: str, got: str) -> bool:
    """Whether a line shows what a stored one says."""
    if want.endswith(CUT):
        return got.startswith(want.removesuffix(CUT))
    return want == got or _close(NUMBER.split(want), NUMBER.split(got))


def _close(want: list[str], got: list[str]) -> bool:
    """Text, number, text ...: the text is equal and numbers with a fraction nearly."""
    return len(want) == len(got) and all(
        a == b or (i % 2 == 1 and set(".e") & set(a + b) and math.isclose(float(a), float(b), rel_tol=10 ** (1 - DIGITS)))
        for i, (a, b) in enumerate(zip(want, got, strict=True))
    )


def all_agree(want: list[str], got: list[str]) -> bool:
    return len(want) == len(got) and all(map(agree, want, got))


def difference(want: list[str], got: list[str]) -> str:
    """What is wrong, line by line."""
    pairs = zip_longest(want, got, fillvalue="(nothing)")
    return "\n".join(f"  both {b[:300]}" if agree(a, b) else f"  want {a[:300]}\n  got  {b[:300]}" for a, b in pairs)
