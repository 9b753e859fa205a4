"""The op table: everything retrograd knows about an op, in one place.

An entry is a call of `op(...)` in one of the files of this package. `tools/opgen` turns the entries into C++ (dispatch, graph nodes,
Python bindings, pointwise kernels) and stubs; the tests, the benchmarks and the compiler read the same entries.
See README.md beside this file for the fields and CONTRIBUTING.md for a worked example.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass, field
from typing import Any

from .facts import ELEMENTWISE, NO_RULE, NOTHING, PARTS, Batching, NoGrad, Out, Unchecked
from .types import PARAM_TYPES, RETURN_TYPES, ParamType, ReturnType

FAMILIES = (
    "pointwise",
    "special",
    "complex",
    "reduce",
    "shape",
    "index",
    "linalg",
    "conv",
    "pool",
    "attention",
    "norm",
    "image",
    "nn",
    "recurrent",
    "fft",
    "sparse",
    "create",
    "random",
    "optim",
)

# ---- dtype sets a kernel may be compiled for ----
FLOATING = ("f16", "bf16", "f32", "f64")
COMPLEX = ("c64", "c128")
INTEGRAL = ("u8", "i8", "i16", "i32", "i64")
NUMERIC = INTEGRAL + FLOATING
ALL = ("bool",) + NUMERIC
BITWISE = ("bool",) + INTEGRAL

# What an op can do with guest dtypes, uint16, uint32 and uint64: see Note [Guest dtypes] in csrc/core/dtype.h.
GUESTS = {
    "pointwise": {
        "bits": "computes in uint64, with the loop of int64: the bits of the result are the same",
        "own": "computes in uint64, with a loop of its own",
    },
    "native": {
        "moves": "the kernel moves elements of any kind, or what it calls minds guests itself",
        "value": "int64 stands in for them: of uint64 its bits",
        "order": "int64 stands in for them, ordered as they are",
    },
}

NO_META = "attempted to run this operator with Meta tensors, but its result depends on values, which they do not have"
CHEAP = 6  # pointwise kernels up to this cost get loops of their own for a broadcast scalar


@dataclass(frozen=True)
class Param:
    type: str
    name: str
    default: str | None = None
    keyword_only: bool = False

    @property
    def row(self) -> ParamType:
        return PARAM_TYPES[self.type]

    @property
    def is_tensor(self) -> bool:
        return bool(self.row.tensors)

    @property
    def is_operand(self) -> bool:
        return self.row.tensors == "operand"

    @property
    def is_list(self) -> bool:
        return self.row.tensors == "list"


@dataclass(frozen=True)
class Return:
    type: str
    name: str

    @property
    def row(self) -> ReturnType:
        return RETURN_TYPES[self.type]

    @property
    def is_tensor(self) -> bool:
        return self.type in ("Tensor", "Tensor[]")


@dataclass
class Kernel:
    """How an op computes. kind: pointwise | native | view | composite | alias | python."""

    kind: str
    expr: str = ""
    dtypes: tuple[str, ...] = ()
    out: str = "same"  # pointwise: same | bool | float (integers are promoted to the default float dtype first) | real (of complex ones)
    params: tuple[str, ...] = ()  # pointwise: scalar arguments the expression uses
    cost: int = 4  # pointwise: rough ns per 8 elements, decides when to use threads
    check: str = ""  # C++ statement run before a pointwise kernel (argument checks)
    label: str = ""  # pointwise: the name in "..._cpu not implemented for 'Bool'", when it is not the op's
    rare: tuple[str, str] | tuple[()] = ()  # pointwise: a test of the inputs, and the expression for the few elements that pass it
    lanes: bool = False  # pointwise: the expression is one of several elements at once, as doubles (csrc/cpu/lanes.h)
    halves: bool = False  # pointwise: the expression takes 16-bit floats as they are
    straight: tuple[str, int] | tuple[()] = ()  # python: the op that a call with so many arguments is one of
    unchecked: Unchecked | None = None  # python: why arguments are not held to the types of the schema
    target: str = ""  # python: "module:function"; alias: cname of the op it is another name of
    exact_numbers: bool = False  # pointwise, two inputs: a number beside a 16-bit tensor is not rounded to its dtype
    complex: str = ""  # pointwise: the expression for complex elements, if there is one; native: "yes" when the kernel takes them, "lazy" when conjugates too
    complex_rare: tuple[str, str] | tuple[()] = ()  # pointwise: as `rare`, for complex elements
    guests: str = ""  # what becomes of dtypes that kernels do not know, see GUESTS; "": refused
    any_overlap: bool = False  # pointwise: may write memory that several elements share
    elementwise: bool = False  # native: broadcasts like a pointwise op, so gradients are brought back to the inputs' shapes and dtypes
    needs_values: str = ""  # native: the result depends on values as no shape rule can say; what a meta tensor is told
    whole: bool = False  # native: one function, made of other ops of impl::, which mind meta tensors
    runs_on_empty: bool = False  # native: the kernel is wanted though all results are empty
    plan: str = ""  # native: a class of csrc/ops/<family>/plan.h, what rule and kernel share
    on_copy: str = ""  # native: the in-place form on a copy of self, "contiguous" or "preserve"


@dataclass
class Op:
    schema: str
    name: str
    overload: str
    params: list[Param]
    returns: list[Return]
    kernel: Kernel
    family: str
    variants: frozenset[str]
    grad: dict[str, str] = field(default_factory=dict)
    jvp: str | None = None
    node: str = ""
    doc: str = ""
    samples: list[Any] | None = None
    errors: tuple[Any, ...] = ()
    reference: str | None = None
    special: tuple[float, ...] = ()
    inplace: str = ""  # name of a native in-place kernel; default: compute and copy
    inplace_function: bool = False  # torch.x_ is a function too
    home: str = "torch"  # where the function is found: "torch", "nn.functional", "linalg", "special", "fft"; "": nowhere, PyTorch keeps it to itself
    hidden: bool = False  # this overload is kept out of the errors that list them
    no_grad: NoGrad | None = None  # why there is no derivative at all
    nondiff: tuple[str, ...] = ()  # tensors without one, beside others that have
    outputs_nondiff: tuple[str, ...] = ()
    view_origin: str = "Default"
    wirtinger: bool = (
        False  # the formulas are written for complex numbers, conjugates included; others are conjugated as a whole (see apply_node)
    )
    out: Out = NO_RULE  # what out= may be
    random: bool = False  # draws numbers
    crosses_devices: bool = False  # takes tensors of several devices: it copies between them, or looks at sizes alone
    syncs: bool = False  # itself reads values back, for a size or a check; composites: beside what their parts read
    mutates: tuple[str, ...] = ()  # arguments that the op itself writes; an in-place form writes self, one with out= that
    aliases: str = ""  # what results share with the first argument: "view", "memory" (no view of it), "maybe" (it itself, a view or a copy)
    uninitialized: bool = False  # the values of the result mean nothing
    no_complex: str = ""  # PyTorch's words for complex numbers, where they are others than for all dtypes that the kernel does not take; a RuntimeError, if none is named
    steep: bool = False  # its derivative is infinite, or there is none, somewhere that it has a value, or grows fast: the doctor looks at the gradients that it sends
    autocast: str = ""  # how autocast runs it, see facts.py
    batching: Batching | None = None  # how vmap does; pointwise ops and those that are made of others need not say
    vmap_name: str = ""  # of the in-place form, where vmap has no room for what it writes; PyTorch's words
    copies: bool = False  # gives an inference tensor, outside inference mode, as a normal one with a history
    test: dict[str, Any] = field(default_factory=dict)  # per-op settings of the table-driven tests

    @property
    def cname(self) -> str:
        return f"{self.name}_{self.overload}" if self.overload else self.name

    @property
    def qualified(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def has_plain_results(self) -> bool:
        """Whether its several results have no names."""
        return all(r.name == f"result{i}" for i, r in enumerate(self.returns))

    def param(self, name: str) -> Param:
        return next(p for p in self.params if p.name == name)


entries: list[Op] = []
_loading = ""


def _split(text: str) -> list[str]:
    """Splits at commas outside brackets and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c in "'\"":
            quoted = not quoted
        elif not quoted and c in "([":
            depth += 1
        elif not quoted and c in ")]":
            depth -= 1
        elif c == "," and not depth and not quoted:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [p for p in parts if p]


def parse_schema(schema: str) -> tuple[str, str, list[Param], list[Return]]:
    match = re.fullmatch(r"(\w+)(?:\.(\w+))?\((.*)\) -> (.+)", schema)
    if not match:
        raise ValueError(f"cannot read schema: {schema!r}")
    name, overload, args, ret = match.groups()
    params, keyword_only = [], False
    for part in _split(args):
        if part == "*":
            keyword_only = True
            continue
        m = re.fullmatch(r"(\S+) (\w+)(?:=(.+))?", part)
        if not m or m[1] not in PARAM_TYPES:
            raise ValueError(f"cannot read parameter {part!r} of {schema!r}")
        params.append(Param(m[1], m[2], m[3], keyword_only))
    returns = []
    for i, part in enumerate(_split(ret[1:-1]) if ret.startswith("(") else [ret]):
        kind, _, label = part.partition(" ")
        if kind not in RETURN_TYPES:
            raise ValueError(f"cannot read result {part!r} of {schema!r}")
        returns.append(Return(kind, label or ("result" if not ret.startswith("(") else f"result{i}")))
    return name, overload or "", params, returns


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.strip("_").split("_"))


def pointwise(
    expr: str,
    *,
    dtypes=ALL,
    out: str = "same",
    params: tuple[str, ...] = (),
    cost: int = 4,
    check: str = "",
    label: str = "",
    rare: tuple[str, str] | tuple[()] = (),
    lanes: bool = False,
    exact_numbers: bool = False,
    any_overlap: bool = False,
    complex: bool | str | tuple[str, str, str] = False,
    guests: str = "",
    halves: bool = False,
) -> Kernel:
    """An elementwise kernel from one C expression of x, y, z (the tensor arguments in order) and the named scalar parameters.

    `complex`: True where the same expression serves complex elements, else theirs; of three, the expression, and what `rare` says, of theirs.
    `guests`: see GUESTS. `halves`: the expression takes 16-bit floats as they are, where rows are dense; it has to give what it gives in float."""
    complex_rare: tuple[str, str] | tuple[()] = ()
    if isinstance(complex, tuple):
        complex, *rest = complex
        complex_rare = (rest[0], rest[1])
    if complex:
        dtypes = (*dtypes, *COMPLEX)
    if guests:
        dtypes = (*dtypes, "u64")
    for_complex = expr if complex is True else complex or ""
    return Kernel(
        "pointwise",
        expr,
        tuple(dtypes),
        out,
        tuple(params),
        cost,
        check,
        label,
        rare,
        lanes,
        exact_numbers=exact_numbers,
        complex=for_complex,
        complex_rare=complex_rare,
        any_overlap=any_overlap,
        guests=guests,
        halves=halves,
    )


_pointwise_kernel = pointwise  # the module optable.pointwise takes the name over when it is imported; load() gives it back


def native(
    elementwise: bool = False,
    complex: bool | str = False,
    needs_values: bool | str = False,
    whole: bool = False,
    runs_on_empty: bool = False,
    plan: str = "",
    on_copy: str = "",
    guests: str = "",
) -> Kernel:
    """rule::<cname>(args...) in csrc/ops says what the result is, after all checks that need no values; compute::<cname>(args..., results...)
    computes into its memory, and records nothing. It never meets meta tensors, nor results that are all empty (but for `runs_on_empty`).

    `needs_values`: how large the result is depends on values, or it is one. compute::<cname>(args...) gives the result; a meta tensor is
    refused, in these words where they are not the usual ones. `whole`: impl::<cname>(args...), made of other functions of impl::.
    `plan`: a class made of the arguments is the rule, and handed to compute. `on_copy`: the in-place form on a copy of self, which is
    "contiguous" or laid out as self is ("preserve"); only that form is written.
    `complex`: True for a kernel that takes complex numbers, "lazy" for one that also minds Note [Lazy conjugation]. `guests`: see GUESTS."""
    words = needs_values if isinstance(needs_values, str) else "{name}" * needs_values
    if words and " " not in words:  # a name alone: PyTorch's for the op
        words = f"aten::{words}: {NO_META}"
    kind = "yes" if complex is True else complex or ""
    return Kernel(
        "native",
        elementwise=elementwise,
        complex=kind,
        needs_values=words,
        whole=whole,
        runs_on_empty=runs_on_empty,
        plan=plan,
        on_copy=on_copy,
        guests=guests,
    )


def view() -> Kernel:
    """impl::<cname>(args...) returns a tensor (or tensors) on the memory of the first argument."""
    return Kernel("view")


def composite() -> Kernel:
    """composite::<cname>(args...) in csrc/ops: written in other ops, which record the history."""
    return Kernel("composite")


def copy_of(view: str) -> Kernel:
    """What a view shows, an expression of other ops, in memory of its own."""
    return Kernel("composite", expr=view)


def python(target: str, straight: tuple[str, int] | tuple[()] = (), unchecked: Unchecked | None = None) -> Kernel:
    """A function of the package, "retrograd._ops.einsum:einsum", written in other ops. For what is not on a hot path.

    `straight`, an op and a number: a call with at most so many arguments, all by position, is one of that op. Arguments of other types than the
    schema's are refused in PyTorch's words, unless there is a reason in `unchecked`."""
    return Kernel("python", target=target, straight=straight, unchecked=unchecked)


def op(schema: str, *, kernel: Kernel, variants: str = "function method", **fields: Any) -> Op:
    name, overload, params, returns = parse_schema(schema)
    entry = Op(schema, name, overload, params, returns, kernel, _loading, frozenset(variants.split()), **fields)
    if entry.grad and not entry.node:
        entry.node = f"{camel(name)}Backward0"
    if any(o.cname == entry.cname for o in entries):
        raise ValueError(f"{entry.qualified} is in the table twice")
    known = {p.name for p in params}
    for key in entry.grad:
        for target in key.split(", "):
            if target not in known:
                raise ValueError(f"{schema}: gradient for unknown argument {target!r}")
    _check_derivatives(entry)
    if entry.steep and not entry.grad:
        raise ValueError(f"{schema}: steep is said of a derivative, and there is none")
    if kernel.guests and kernel.guests not in GUESTS[kernel.kind]:
        raise ValueError(f"{schema}: guests={kernel.guests!r} is none of {list(GUESTS[kernel.kind])}")
    if kernel.kind == "view":
        entry.aliases = "view"
    if entry.batching is None:
        entry.batching = _batching(entry)
    entries.append(entry)
    return entry


def _check_derivatives(entry: Op) -> None:
    """Every tensor argument of a kernel has a derivative or is said to have none."""
    if entry.kernel.kind not in ("pointwise", "native", "view"):
        return  # made of others
    tensors = {p.name for p in entry.params if p.is_tensor}
    formulas = {name for key in entry.grad for name in key.split(", ")}
    if entry.no_grad and (formulas or entry.nondiff):
        raise ValueError(f"{entry.schema}: no_grad beside derivatives")
    if tensors and not formulas and not entry.no_grad:
        raise ValueError(f"{entry.schema}: neither derivatives nor no_grad, the reason why there are none")
    missing = tensors - formulas - set(entry.nondiff) if formulas else set()
    if missing or set(entry.nondiff) - tensors or set(entry.nondiff) & formulas:
        raise ValueError(f"{entry.schema}: derivatives of {sorted(formulas)}, nondiff={entry.nondiff}: each tensor is in one of them")


def _batching(entry: Op) -> Batching:
    """What follows from the kernel."""
    if entry.kernel.kind in ("composite", "alias", "python"):
        return PARTS
    if entry.kernel.kind == "pointwise" or entry.kernel.elementwise:
        return ELEMENTWISE
    if entry.random or (any(p.is_tensor for p in entry.params) and any(r.type.startswith("Tensor") for r in entry.returns)):
        raise ValueError(f"{entry.schema}: batching is missing, which says how vmap runs it")
    return NOTHING


def alias(name: str, of: str, *, doc: str = "", inplace_function: bool | None = None) -> None:
    """Another name for every overload of an op that is already in the table."""
    for entry in [o for o in entries if o.name == of and o.kernel.kind != "python"]:
        schema = entry.schema.replace(of, name, 1)
        variants = " ".join(v for v in sorted(entry.variants) if v != "internal")
        spelled = entry.inplace_function if inplace_function is None else inplace_function
        op(
            schema,
            kernel=Kernel("alias", target=entry.cname),
            variants=variants,
            inplace_function=spelled,
            hidden=entry.hidden,
            out=entry.out,
            doc=doc or f"Another name for `{of}`.",
            samples=entry.samples,
            errors=entry.errors,
            reference=entry.reference,
            test=entry.test,
        )


def target(entry: Op) -> Op:
    """The entry itself, or the one it is another name of."""
    return next(o for o in entries if o.cname == entry.kernel.target) if entry.kernel.kind == "alias" else entry


def inplace_functions(table: list[Op]) -> list[str]:
    """The names of in-place methods that are functions too: torch.relu_(x)."""
    return list(dict.fromkeys(f"{entry.name}_" for entry in table if entry.inplace_function))


def load() -> list[Op]:
    """The whole table, in the order of FAMILIES."""
    global _loading
    if not entries:
        for family in FAMILIES:
            _loading = family
            importlib.import_module(f"{__name__}.{family}")
            globals()["pointwise"] = _pointwise_kernel
    return entries
