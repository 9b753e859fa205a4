"""Running one program on PyTorch and on retrograd, and comparing what they show.

A program is text. It says what it sees with `show(...)`; `attempt(f)` shows the value of `f()` or the exception it raises, `kind(f)` only the type of
the exception. Programs find the engine under the name `torch`, and a few names of it under shorter ones (see `Runner.run`).
"""

import gc
import re
import warnings

# What is compared of a message is its opening, which people match on: the first sentence, or as much of it as this. What follows is ours.
MESSAGE = 60


def opening(text, most=MESSAGE):
    return text[:most].split(". ")[0].rstrip(" .")


def plain(text):
    """Text without what may differ: the name of the package and addresses."""
    text = text.replace("retrograd", "torch").replace("torch._C._autograd.", "torch.").replace("torch._C.", "torch.").replace("\n", " ")
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r" \(Triggered internally at [^)]*\)", "", text)
    return re.sub(r" +", " ", text)


class Message(str):
    """A line that ends in the words of an error or a warning. They have to begin alike."""

    def agrees(self, theirs):
        if not isinstance(theirs, Message):
            return False
        start = theirs.index(": ") + 2
        return self.startswith(theirs[:start] + opening(theirs[start:]))


def agree(theirs, ours):
    return ours == theirs or (isinstance(ours, Message) and ours.agrees(theirs))


def all_agree(theirs, ours):
    return len(theirs) == len(ours) and all(map(agree, theirs, ours))


class Runner:
    """Runs programs on one engine, and collects the lines they show."""

    def __init__(self, engine):
        self.engine = engine
        self.lines = []

    def words(self, value):
        engine = self.engine
        if isinstance(value, engine.Tensor):
            return self.tensor(value)
        if isinstance(value, engine.autograd.graph.GradientEdge):
            return f"edge({self.words(value.node)}, {value.output_nr})"
        if isinstance(value, engine.Size):
            return f"Size{list(value)}"
        if isinstance(value, (tuple, list)):
            inside = ", ".join(self.words(v) for v in value)
            return f"[{inside}]" if isinstance(value, list) else f"({inside})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k}: {self.words(v)}" for k, v in value.items()) + "}"
        if isinstance(value, float):
            return f"{value:.5g}"
        if isinstance(value, complex):  # without the sign of zeros
            return f"{value.real + 0.0:.5g}{value.imag + 0.0:+.5g}j"
        if isinstance(value, type):
            return value.__name__
        if hasattr(value, "next_functions"):
            return f"<{value.name()}>"
        return plain(repr(value))

    def tensor(self, t):
        values = "meta" if t.is_meta else self.words(t.detach().tolist())
        name = "" if type(t) is self.engine.Tensor else type(t).__name__ + " "
        history = f" <{t.grad_fn.name()}>" if t.grad_fn is not None else " leaf" if t.requires_grad else ""
        return f"{name}{values} {str(t.dtype).split('.')[-1]}{history}"

    def show(self, *values):
        self.lines.append(" ".join(v if isinstance(v, str) else self.words(v) for v in values))

    def attempt(self, function, *values):
        try:
            self.show(*values, function())
        except Exception as error:
            self.failed(" ".join([*map(self.words, values), ""]), error)

    def kind(self, function, *values):
        try:
            self.show(*values, function())
        except Exception as error:
            self.show(*values, type(error).__name__)

    def failed(self, start, error):
        self.lines.append(Message(f"{start}{type(error).__name__}: {plain(str(error))}"))

    def run(self, code):
        space = {
            "torch": self.engine,
            "Function": self.engine.autograd.Function,
            "autograd": self.engine.autograd,
            "graph": self.engine.autograd.graph,
            "nn": self.engine.nn,
            "fwAD": self.engine.autograd.forward_ad,
            "leaf": lambda *v, **k: self.engine.tensor(
                list(v) if len(v) != 1 else v[0], requires_grad=True, **{"dtype": self.engine.float32, **k}
            ),
            "show": self.show,
            "attempt": self.attempt,
            "kind": self.kind,
            "gc": gc,
            "__name__": "program",
        }
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                exec(compile(code, "<program>", "exec"), space)
            except Exception as error:
                self.failed("ended by ", error)
            finally:
                self.engine.autograd.set_detect_anomaly(False)
        self.lines += [Message(f"warned {w.category.__name__}: {plain(str(w.message))}") for w in caught if not ignored(w)]
        return self.lines


def ignored(warning):
    """Warnings that PyTorch gives about itself, or that docs/differences.md says retrograd does not give."""
    return any(words in str(warning.message) for words in ("torch.jit", "will create a reference cycle", "gradient layout contract"))


def difference(theirs, ours):
    lines = []
    for i in range(max(len(theirs), len(ours))):
        a, b = (x[i] if i < len(x) else "(nothing)" for x in (theirs, ours))
        lines.append(f"  both  {a[:300]}" if agree(a, b) else f"  torch {a[:300]}\n  ours  {b[:300]}")
    return "\n".join(lines)
