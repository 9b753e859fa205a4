"""Records of ops: for each form of an op (out of place, in place, into out=) what interception and Python know about it.

The fields are those of OpRecord, csrc/ops/record.h.
"""

from __future__ import annotations

from collections.abc import Iterator

from optable import Op, Param, target
from optable.facts import AS_IS, FLOAT32, LOWER_PRECISION, PROMOTE

from .signature import is_function
from .text import truth

AUTOCAST = {LOWER_PRECISION: "LowerPrecision", FLOAT32: "Float32", PROMOTE: "Promote", AS_IS: "AsIs"}
ALIASES = {"": "None", "view": "View", "memory": "Memory", "maybe": "Maybe"}
FORWARD_WORDS = ("elementwise", "symmetric", "linear", "multilinear", "zero")


def has_out(op: Op) -> bool:
    return "out" in op.variants and "function" in op.variants


def names(op: Op) -> list[str]:
    """The C++ names of an op's records."""
    forms = {"": is_function(op), "_": "inplace" in op.variants, "_out": has_out(op)}
    return [f"op_{op.cname}{suffix}" for suffix, exists in forms.items() if exists]


def forward(op: Op) -> str:
    """The kind of rule that forward mode follows."""
    if op.kernel.kind in ("composite", "alias"):
        return "parts"
    if not op.grad:
        return "none"
    if op.jvp is None:
        return "transposed"
    return op.jvp if op.jvp in FORWARD_WORDS else "formula"


def out_dtype(op: Op) -> str:
    """What dtype out= has to have: that of the result ("exact"), one the result can be cast to, or any, which the op computes in."""
    if any(p.name == "requires_grad" for p in op.params) or op.out.in_dtype_of_out:
        return "any"
    return "exact" if op.out.exact else "castable"


# ---- schemas ----


def marked(kind: str, letter: str) -> str:
    """`Tensor?` with the letter of the memory it shares: `Tensor(a)?`."""
    return kind.replace("Tensor", f"Tensor({letter})", 1) if letter else kind


def schema(op: Op, name: str, written: list[str], outs: list[str]) -> str:
    """The schema of a form: `written` are the arguments it writes, `outs` those of out=."""
    letters: dict[str, str] = {}
    for argument in written:
        letters[argument] = "abcdefgh"[len(letters)] + "!"
    source = target(op)
    returned = [""] * len(op.returns)
    if outs or (written and not op.mutates and op.returns[0].type == "Tensor"):  # what an op writes beside its results it does not return
        returned = [letters[a] for a in (outs or written)]
    elif source.aliases:
        letters[op.params[0].name] = "a"
        returned = ["a"] * len(op.returns)
    parts, star = [], False
    for p in [*op.params, *(Param("Tensor", out, None, True) for out in outs)]:
        if p.keyword_only and not star:
            parts.append("*")
            star = True
        default = "" if p.default is None else f"={p.default}"
        parts.append(f"{marked(p.type, letters.get(p.name, ''))} {p.name}{default}")
    results = [marked(r.type, letter) for r, letter in zip(op.returns, returned, strict=True)]
    if len(results) > 1:
        results = [f"({', '.join(f'{kind} {r.name}' for kind, r in zip(results, op.returns, strict=True))})"]
    return f"{name}({', '.join(parts)}) -> {results[0]}"


# ---- the records ----


def text_array(words: tuple[str, ...]) -> str:
    """The name of the array that holds these words, up to a null pointer."""
    return "words_" + "_".join("".join(c if c.isalnum() else "_" for c in word) for word in words)


def result_names(op: Op) -> tuple[str, ...]:
    return tuple(r.name for r in op.returns) if len(op.returns) > 1 and not op.has_plain_results else ()


def arrays(ops: list[Op]) -> str:
    """The arrays of words that the records of these ops point to."""
    used = [words for op in ops for words in ((op.batching.rule, *op.batching.words), result_names(op))]
    found = dict.fromkeys([("parts",), *(words for words in used if words)])
    lines = (
        f"const char* const {text_array(words)}[] = {{{', '.join(f'{chr(34)}{word}{chr(34)}' for word in words)}, nullptr}};"
        for words in found
    )
    return "\n".join(lines)


def fields(op: Op) -> dict[str, str]:
    """What the forms of an op share."""
    source = target(op)
    found = {"batching": text_array((op.batching.rule, *op.batching.words))}
    if result_names(op):
        found["results"] = text_array(result_names(op))
    flags = {
        "composite": op.kernel.kind == "composite",
        "random": source.random,
        "elementwise": source.kernel.kind == "pointwise" or source.kernel.elementwise,
        "crosses_devices": source.crosses_devices,
        "syncs": source.syncs,
        "uninitialized": source.uninitialized,
    }
    return found | {flag: truth(True) for flag, on in flags.items() if on}


def bits(op: Op, written: list[str]) -> str:
    at = [p.name for p in op.params]
    return hex(sum(1 << at.index(name) for name in written))


ORDER = (
    "name", "schema", "batching", "forward", "out", "results", "vmap_name", "functional", "mutates", "outs", "autocast", "aliases", "composite", "random",
    "elementwise", "crosses_devices", "syncs", "uninitialized",
)  # fmt: skip


def record(cname: str, found: dict[str, str]) -> str:
    return f"OpRecord {cname} = {{{', '.join(f'.{field} = {found[field]}' for field in ORDER if field in found)}}};"


def records(op: Op) -> Iterator[str]:
    source, shared = target(op), fields(op)
    functional = {"functional": f"&op_{op.cname}"} if is_function(op) else {}

    def named(name: str, written: list[str], outs: list[str] | None = None) -> dict[str, str]:
        return {"name": f'"{name}"', "schema": f'R"({schema(op, name, written, outs or [])})"'}

    if is_function(op):
        own = named(op.qualified, list(op.mutates)) | {"forward": f'"{forward(op)}"'}
        if source.autocast:
            own["autocast"] = f"Autocast::{AUTOCAST[source.autocast]}"
        if has_out(op):
            own["out"] = f'"{out_dtype(op)}"'
        if op.mutates:
            own["mutates"] = bits(op, list(op.mutates))
        if source.aliases:
            own["aliases"] = f"Aliases::{ALIASES[source.aliases]}"
        yield record(f"op_{op.cname}", shared | own)
    if "inplace" in op.variants:
        name = f"{op.name}_{'.' + op.overload if op.overload else ''}"
        own = named(name, ["self"]) | {"forward": f'"{forward(op)}"', "mutates": bits(op, ["self"]), "aliases": "Aliases::Same"}
        if source.vmap_name:
            own["vmap_name"] = f'"{source.vmap_name}"'
        yield record(f"op_{op.cname}_", shared | own | functional)
    if has_out(op):
        outs = ["out"] if len(op.returns) == 1 else [r.name for r in op.returns]
        written = hex(((1 << len(outs)) - 1) << len(op.params))
        own = named(f"{op.name}.{op.overload + '_' if op.overload else ''}out", outs, outs)
        own |= {
            "batching": text_array(("parts",)),
            "forward": '"none"',
            "out": f'"{out_dtype(op)}"',
            "mutates": written,
            "outs": str(len(outs)),
            "aliases": "Aliases::Same",
        }
        yield record(f"op_{op.cname}_out", shared | own | functional)
