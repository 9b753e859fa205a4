"""What help() and inspect.signature() show for native functions: a signature CPython can read, the words of the entry, an example.

CPython takes `__text_signature__` from a docstring that opens with "name(parameters)\n--\n\n"; the text costs nothing until it is asked for.
"""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from optable import Op

from .stub import Form, forms, of_input, united

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "optable" / "examples"
TYPES = {"_int": "int", "_float": "float", "_bool": "bool", "_dtype": "dtype", "_DeviceLike": "device", "_layout": "layout",
         "_memory_format": "memory_format"}  # fmt: skip

# What an argument means wherever it has this name.
ARGUMENTS = {
    "A": "a matrix, or a batch of them",
    "accumulate": "whether to add to what is there instead of replacing it",
    "alpha": "a factor",
    "beta": "a factor for input",
    "bins": "how many bins, or their edges",
    "chunks": "how many pieces",
    "correction": "how much less than the number of elements to divide by; 1 if left out",
    "descending": "whether the largest comes first",
    "device": "where the result is made",
    "dim": "which dimension, or dimensions; negative ones count from the last",
    "dims": "which dimensions; negative ones count from the last",
    "dim0": "one dimension",
    "dim1": "one dimension",
    "dim2": "the other dimension",
    "dtype": "the dtype of the result",
    "eps": "a small number for stability",
    "fill_value": "the value of each element",
    "generator": "where random numbers come from; the default generator if left out",
    "index": "integers that say which elements",
    "indices": "integers that say which elements",
    "inplace": "whether to write into input",
    "keepdim": "whether reduced dimensions stay, with size 1",
    "largest": "the largest elements, or else the smallest",
    "layout": "strided is the only one",
    "mask": "booleans that say which elements",
    "max": "the upper bound, or none",
    "memory_format": "the order of the elements in memory",
    "min": "the lower bound, or none",
    "non_blocking": "accepted for PyTorch's sake",
    "offset": "which diagonal: 0 for the main one, more above, less below",
    "out": "where the result is written, instead of a new tensor",
    "pin_memory": "accepted for PyTorch's sake",
    "reduction": "0 for each element, 1 for the mean, 2 for the sum",
    "repeats": "how often",
    "requires_grad": "whether gradients are wanted for the result",
    "rounding_mode": "'trunc', 'floor', or None for true division",
    "shape": "the size of each dimension; -1 stands for the one that fits",
    "size": "the size of each dimension",
    "sorted": "whether the result is in order",
    "stable": "whether equal elements keep their order",
    "stride": "the step from one to the next, for each dimension",
    "tensors": "tensors to join",
    "training": "whether the network is being trained",
    "train": "whether the network is being trained",
    "unbiased": "whether to divide by one less than the number of elements",
    "upper": "the upper triangle, or else the lower",
}
# Where it means something else, or only there.
ARGUMENTS_OF = {
    ("mvlgamma", "p"): "how many dimensions",
    **{(name, "p"): "which norm" for name in ("norm", "dist", "renorm", "cdist", "pairwise_distance")},
    **{(name, "p"): "the probability" for name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "native_dropout",
                                                   "bernoulli", "geometric")},
    **{(name, "alpha"): "a factor for other" for name in ("add", "sub", "subtract", "rsub")},
    **{(name, "alpha"): "the limit for very negative numbers, without its sign" for name in ("elu", "celu")},
}  # fmt: skip


@functools.cache
def examples() -> dict[str, str]:
    """The examples of optable/examples by the name of the op. Each is a paragraph: the name, then a session as the interpreter shows it."""
    found: dict[str, str] = {}
    for path in sorted(EXAMPLES.glob("*.txt")):
        for paragraph in re.split(r"\n\n(?=\w+\n>>> )", path.read_text().strip()):
            name, _, session = paragraph.partition("\n")
            if name in found or not session.startswith(">>> "):
                raise ValueError(f"{path}: cannot read the example of {name!r}")
            found[name] = session
    return found


def example(op: Op) -> str:
    """The example of an op; for another name of an op that one's, under this name."""
    if op.name in examples():
        return examples()[op.name]
    if op.kernel.kind == "alias":
        for name in sorted(examples(), key=len, reverse=True):
            if op.kernel.target == name or op.kernel.target.startswith(name + "_"):
                return re.sub(rf"\b{name}\(", f"{op.name}(", examples()[name])
    return ""


def merged_signature(found: list[Form], first: str) -> str:
    """One signature that takes what any form takes: the longest, in which what other forms leave out is optional."""
    most = max(found, key=lambda form: (len(form.arguments), any(a.spread for a in form.arguments)))
    everywhere = set.intersection(*({a.name for a in form.arguments} for form in found))
    parts, star, optional = [first] * bool(first), False, False
    if first and not most.arguments:
        parts.append("/")
    for a in most.arguments:
        if a.keyword_only and not star:
            parts.append("*")
        star |= a.keyword_only or a.spread
        optional = not a.keyword_only and (optional or a.default is not None or a.name not in everywhere)
        missing = None if a.spread or (a.name in everywhere and not optional) else "None"
        default = a.default if a.default is not None else missing
        parts.append("*" * a.spread + a.name + (f"={default}" if default is not None else ""))
        if a.name.endswith("_"):  # random_(from, to): a keyword of Python, which no caller can write
            parts.append("/")
    return ", ".join(parts)


def plain(kind: str) -> str:
    return re.sub(r"_\w+", lambda m: TYPES.get(m[0], m[0]), kind)


def shown(name: str, form: Form, group: list[Op], first: str) -> str:
    given = ", ".join(part for part in (first, plain(form.shown())) if part)
    result = plain(form.returns)
    if result.startswith("return_types."):
        named = next(op for op in group if len(op.returns) > 1)
        result = f"({', '.join(f'{r.name}: {r.type}' for r in named.returns)})"
    return f"{name}({given}) -> {result}"


def described(name: str, found: list[Form]) -> Iterator[str]:
    """A line for each argument of any form: its name, its types, what it means."""
    kinds: dict[str, str] = {}
    for a in (a for form in found for a in form.arguments):
        kinds[a.name] = united(kinds[a.name], a.kind) if a.name in kinds else a.kind
    for argument, kind in kinds.items():
        kind = plain(kind).removesuffix(" | None").replace("Sequence[int]", "ints").replace("Sequence[Tensor]", "Tensors")
        text = ARGUMENTS_OF.get((name, argument)) or ARGUMENTS.get(argument, "")
        if kind == "int":
            text = text.replace("which dimension, or dimensions; negative ones count", "which dimension; a negative one counts")
        yield f"    {argument} ({kind.replace(' | ', ' or ')})" + (f": {text}" if text else "")


def document(name: str, members: list[Op], mode: str) -> str:
    """The docstring of a group of overloads under one Python name, with the signature in front."""
    method = mode in ("method", "inplace")
    result = "Tensor" if mode == "inplace" else ""
    found = forms(members, method, result)
    words = (lambda text: text) if method else of_input
    parts = [f"{name}({merged_signature(found, '$self' if method else '')})\n--\n"]
    parts.append(words(members[0].doc) + (" Written into self, which is returned." if mode == "inplace" else ""))
    by_words: dict[str, list[Op]] = {}
    for op in members:
        by_words.setdefault(op.doc, []).append(op)
    lines = []
    for doc, group in by_words.items():
        lines += [f"    {shown(name, form, group, 'self' if method else '')}" for form in forms(group, method, result)]
        lines += [f"        {words(doc)}"] * (doc != members[0].doc)
    parts.append("\n".join(lines))
    if any(form.arguments for form in found):
        parts.append("Arguments:\n" + "\n".join(described(members[0].name, found)))
    if session := example(members[0]):
        title = f"Example, of `{members[0].name}`:" if mode == "inplace" and f"{name}(" not in session else "Example:"
        parts.append(f"{title}\n{textwrap.indent(session, '    ')}")
    return "\n\n".join(parts).replace("--\n\n\n", "--\n\n") + "\n"


def python_document(op: Op) -> str:
    """The docstring of an op that is a Python function; its signature is the function's own."""
    parts = [of_input(op.doc)]
    if session := example(op):
        parts.append("Example:\n" + textwrap.indent(session, "    "))
    return "\n\n".join(parts) + "\n"
