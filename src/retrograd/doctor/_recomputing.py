"""checkpoint_side_effects: a checkpointed block that does not compute again what it computed, or whose side effects happen twice. Called by utils/checkpoint.py.

What the first run saves leaves a fingerprint, and the second run is compared with it. Around the second run the state that the block can reach (attributes, closures, the globals that it
names, buffers, generators) is looked at before and after: what changed then has changed for the second time. Setting an attribute to the result of this run is no such change, for it
may be what a run of another checkpoint left there; counting, appending and averaging are, and the line that does so is found in the source.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import random
import sys
from collections import deque
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from retrograd import _C
from retrograd.doctor._findings import Finding, tell
from retrograd.doctor._places import Place, here, is_package_file, of_leaf, tree_of
from retrograd.doctor._watch import watcher

FIRST_CALLS = 16  # that are watched whether the doctor looks closely or not
MOST_SAVED = 4096
SAMPLE = 4096  # elements of a tensor that its fingerprint is taken of

_MUTATORS = {"append", "extend", "insert", "add", "update", "pop", "popleft", "appendleft", "setdefault", "remove", "clear", "write"}
_RANDOM_MODULES = {"random"}
_PLAIN = (int, float, list, dict, set, deque)  # what a class may hold for all its objects, and that may change


def begin(preserves_random: bool) -> Watched | None:
    """A watch over one call of checkpoint(), or None where nobody looks."""
    on, close, _ = _C._doctor_state()
    if not on or watcher._busy or not (close or watcher.checkpoints < FIRST_CALLS):
        return None
    watcher.checkpoints += 1
    return Watched(preserves_random)


class Watched:
    """One call of checkpoint(): what its first run saved, in numbers."""

    def __init__(self, preserves_random: bool) -> None:
        self.place = here()
        self.preserves_random = preserves_random
        self._prints: list[tuple[float, ...]] = []
        self._differs: str | None = None  # what the second run computed otherwise, first
        self._line: Place | None = None
        self._before: dict[Any, Any] = {}

    def saved(self, tensor: Any) -> None:
        if len(self._prints) < MOST_SAVED:
            self._prints.append(_quietly(_fingerprint, tensor))

    def saved_again(self, position: int, tensor: Any, what: str, line: Place | None) -> None:
        if self._differs is None and position < len(self._prints) and not _close(self._prints[position], _quietly(_fingerprint, tensor)):
            self._differs, self._line = what, line

    def before_second(self, function: Any, args: Any) -> None:
        self._differs = self._line = None
        self._before = _quietly(_snapshot, function, args, self.preserves_random)

    def after_second(self, function: Any, args: Any) -> None:
        before, self._before = self._before, {}
        after = _quietly(_snapshot, function, args, self.preserves_random)
        finding = _quietly(self._judge, function, args, before, after)
        if finding is not None:
            tell(finding)

    def _judge(self, function: Any, args: Any, before: dict[Any, Any], after: dict[Any, Any]) -> Finding | None:
        codes = list(_codes_of(function, args))
        for key, token in after.items():
            if key not in before or before[key] == token:
                continue
            name, kind = key[1], token[0]
            line = _line_of(codes, name, kind)
            if kind == "random":
                return self._random(name, line)
            was = before[key]
            replaced = kind == "value" or (kind == "tensor" and was[1] != token[1])
            if replaced and line is None:
                continue
            made = _layer_of(function, args, key) if line is None else None
            return self._twice(name, line or made, "the layer was made at" if made else "changed at")
        if self._differs is not None:
            taken = _line_of(codes, None, "taken")
            return Finding(
                "checkpoint_side_effects",
                f"A checkpointed block did not compute again what it had computed: {self._differs} has other values in backward than in forward.",
                self.place,
                "The gradients are those of a computation that never was.",
                "call next() outside of the block and pass the value in as an argument"
                if taken
                else "let the block depend on its arguments alone, and change nothing that it uses between forward and backward",
                taken or self._line,
                "another value is taken from the iterator at" if taken else "the first values that differ are made at",
            )
        return None

    def _random(self, name: str, line: Place | None) -> Finding:
        default = name == "the default generator"
        return Finding(
            "checkpoint_side_effects",
            f"A checkpointed block draws from {name}, so its second run, in backward, draws other numbers than its first.",
            self.place,
            "checkpoint() restores the default generator of torch alone"
            + (", and here it was told not to (preserve_rng_state=False)." if default else ".")
            + " The gradients are those of a computation that never was.",
            "leave preserve_rng_state at True"
            if default
            else "draw with torch's default generator (torch.rand and the like), or draw outside and pass the numbers in as an argument",
            line,
            "drawn at",
        )

    def _twice(self, name: str, line: Place | None, how: str) -> Finding:
        return Finding(
            "checkpoint_side_effects",
            f"A checkpointed block changes {name} each time it runs, and it runs twice: in forward, and once more in backward.",
            self.place,
            "What is counted, collected or averaged there counts double"
            + (", and the second run did not compute what the first had computed." if self._differs is not None else "."),
            "leave that layer out of the checkpointed block, or give it momentum=1 - (1 - momentum) ** 0.5, which two updates make up to one"
            if name.endswith(("running_mean", "running_var"))
            else f"move what changes {name} out of the checkpointed block, or let it return what is to be collected",
            line,
            how,
        )


def _layer_of(function: Any, args: Any, key: Any) -> Place | None:
    """Where a layer was made whose buffer changes, when no line of the program calls it: in a Sequential."""
    layer = next((owner for owner, _ in _reach(function, args) if id(owner) == key[0]), None)
    weight = getattr(layer, "weight", None)
    return of_leaf(weight) if isinstance(weight, _C.Tensor) else None


def impure_line(function: Any, args: Any) -> Place | None:
    """The first statement of a block that looks as if it did something else each time."""
    codes = list(_codes_of(function, args))
    for kind in ("random", "value"):
        line = _line_of(codes, None, kind)
        if line is not None:
            return line
    return None


# -- fingerprints -----------------------------------------------------------------------


def _quietly(function: Any, *args: Any) -> Any:
    """Computes something that is neither watched nor recorded."""
    with watcher.unwatched():
        return function(*args)


def _fingerprint(tensor: Any) -> tuple[float, ...]:
    if tensor.device.type != "cpu" or tensor.layout != _C.strided or _C._batch_level(tensor) or not tensor.numel():
        return ()
    plain = tensor.detach()
    if not plain.is_contiguous() and plain.numel() > SAMPLE:
        plain = plain[(0,) * (plain.ndim - 1)]  # a row: a copy of all would be seen in the peak of memory
    flat = plain.reshape(-1)[:SAMPLE]
    flat = flat.abs() if flat.is_complex() else flat
    flat = flat.double()
    ramp = _C._ops.linspace(1.0, 2.0, flat.numel(), dtype=_C.float64)
    return (float(flat.sum()), float((flat * ramp).sum()), float(flat.abs().sum()))


def _close(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    if len(a) != len(b):
        return False
    scale = abs(a[2]) + abs(b[2]) if a else 0.0
    return all(x == y or (math.isnan(x) and math.isnan(y)) or abs(x - y) <= 1e-6 * scale for x, y in zip(a, b, strict=True))


# -- the state that a block can reach ----------------------------------------------------


def _is_users(code: CodeType) -> bool:
    return not is_package_file(code.co_filename)


def _reach(function: Any, args: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Objects and what they hold by name. Every function, module and object of the user's that can be found in a few steps."""
    seen: set[int] = set()
    queue: list[tuple[Any, int]] = [(function, 0), *((a, 1) for a in args)]
    while queue:
        thing, depth = queue.pop(0)
        if id(thing) in seen or depth > 4 or isinstance(thing, _C.Tensor | ModuleType | str | int | float | None):
            continue
        seen.add(id(thing))
        if isinstance(thing, type):
            if not is_package_file(getattr(sys.modules.get(thing.__module__), "__file__", None) or ""):
                yield thing, {name: value for name, value in vars(thing).items() if isinstance(value, _PLAIN) and not name.startswith("__")}
            continue
        held: dict[str, Any] = {}
        if isinstance(thing, functools.partial):
            queue += [(part, depth) for part in (thing.func, *thing.args, *thing.keywords.values())]
        elif isinstance(thing, MethodType):
            queue += [(thing.__self__, depth), (thing.__func__, depth)]
        elif isinstance(thing, FunctionType):
            held = _held_by_function(thing)
        elif hasattr(thing, "named_modules") and hasattr(thing, "_buffers"):
            for path, module in thing.named_modules():
                inner = {name: value for name, value in vars(module).items() if name not in ("_parameters", "_buffers", "_modules")}
                buffers = {f"{path}.{name}" if path else name: value for name, value in module._buffers.items() if value is not None}
                yield module, {**inner, **buffers}
                queue += [(cls, depth) for cls in type(module).__mro__ if cls.__module__.partition(".")[0] not in ("retrograd", "builtins")]
                forward = getattr(type(module), "forward", None)
                queue += [(value, depth + 1) for value in (*inner.values(), forward)]
            continue
        elif isinstance(thing, list | tuple) and len(thing) <= 64:
            queue += [(value, depth + 1) for value in thing]
            continue
        elif isinstance(thing, dict) and len(thing) <= 64:
            queue += [(value, depth + 1) for value in thing.values()]
            continue
        elif type(getattr(thing, "__dict__", None)) is dict:
            held = dict(vars(thing))
        if held:
            yield thing, held
            queue += [(value, depth + 1) for value in held.values()]


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _held_by_function(function: FunctionType) -> dict[str, Any]:
    held: dict[str, Any] = {}
    if _is_users(function.__code__):
        for code in _nested(function.__code__):
            held.update((name, function.__globals__[name]) for name in code.co_names if name in function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            held[name] = cell.cell_contents
        except ValueError:  # not set yet
            continue
    return held


def _codes_of(function: Any, args: Any) -> Iterator[CodeType]:
    """The code of the user's that a block may run."""
    reached = list(_reach(function, args))
    queue = [function, *(f for _, held in reached for f in held.values())]
    queue += [getattr(type(thing), "forward", None) for thing, _ in reached]
    types = list(dict.fromkeys(type(thing) for thing, _ in reached))
    seen: set[Any] = set()
    for thing in queue:  # grows while it is read: by the methods that are named
        thing = getattr(thing, "__func__", thing)
        if isinstance(thing, functools.partial):
            thing = getattr(thing.func, "__func__", thing.func)
        if isinstance(thing, FunctionType) and _is_users(thing.__code__) and thing.__code__ not in seen:
            seen.add(thing.__code__)
            queue += [getattr(cls, name, None) for code in _nested(thing.__code__) for name in code.co_names for cls in types]
            yield thing.__code__


def _token(value: Any, depth: int = 0) -> tuple[Any, ...] | None:
    """What is compared of a value; None for what is not."""
    if value is None or isinstance(value, bool | int | float | str):
        return ("value", value)
    if isinstance(value, _C.Tensor):
        return ("tensor", id(value), _fingerprint(value)) if value.numel() <= 1 << 20 else None
    if isinstance(value, list | deque):
        return (
            ("container", len(value), tuple(_token(v, 1) for v in list(value)[-32:] if isinstance(v, int | float))) if not depth else None
        )
    if isinstance(value, dict):
        return (
            ("container", len(value), tuple((str(k), v) for k, v in list(value.items())[:32] if isinstance(v, int | float)))
            if not depth
            else None
        )
    if isinstance(value, set):
        return ("container", len(value))
    if isinstance(value, itertools.count):
        return ("container", repr(value))
    if isinstance(value, _C.Generator):
        return ("random", _fingerprint(value.get_state()))
    if isinstance(value, random.Random):
        return ("random", hash(value.getstate()))
    bits = getattr(value, "bit_generator", None)
    if bits is not None:
        return ("random", str(bits.state))
    if type(value).__name__ == "RandomState" and hasattr(value, "get_state"):
        return ("random", str(value.get_state()))
    return None


def _snapshot(function: Any, args: Any, preserves_random: bool) -> dict[Any, Any]:
    tokens: dict[Any, Any] = {}
    for owner, held in _reach(function, args):
        for name, value in list(held.items()):
            if name.startswith("__") or name in _RANDOM_MODULES:
                continue
            token = _token(value)
            if token is not None:
                tokens[id(owner), f"the generator {name}" if token[0] == "random" else name] = token
    tokens[0, "Python's random"] = ("random", hash(random.getstate()))
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        name, keys, *rest = numpy.random.get_state()
        tokens[0, "NumPy's random numbers"] = ("random", hash(keys.tobytes()), *rest)
    if not preserves_random:
        from retrograd.random import get_rng_state

        tokens[0, "the default generator"] = ("random", _fingerprint(get_rng_state()))
    return tokens


# -- the line that does it ---------------------------------------------------------------


def _line_of(codes: list[CodeType], name: str | None, kind: str) -> Place | None:
    for code in codes:
        tree = tree_of(code.co_filename)
        definition = next((n for n in ast.walk(tree) if _is_definition(n, code)), None) if tree is not None else None
        for node in ast.walk(definition) if definition is not None else ():
            if kind == "taken":
                line = node.lineno if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "next" else 0
            else:
                line = _draws(node, name) if kind == "random" else _changes(node, name, definition)
            if line:
                return Place(code.co_filename, line, code.co_qualname)
    return None


def _is_definition(node: ast.AST, code: CodeType) -> bool:
    if isinstance(node, ast.FunctionDef):
        first = min((d.lineno for d in node.decorator_list), default=node.lineno)
        return node.name == code.co_name and first == code.co_firstlineno
    return isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno


_TORCH_DRAWS = {"dropout", "rand", "randn", "rand_like", "randn_like", "bernoulli", "randint", "randperm", "normal", "multinomial", "drop"}
_DRAWS = {
    "random",
    "gauss",
    "uniform",
    "choice",
    "choices",
    "randint",
    "randrange",
    "shuffle",
    "sample",
    "betavariate",
    "normal",
    "standard_normal",
    "permutation",
    "rand",
    "randn",
    "integers",
    "binomial",
}


def _draws(node: ast.AST, name: str | None) -> int:
    if not isinstance(node, ast.Call):
        return 0
    text, attribute = ast.unparse(node.func), node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "the default generator":
        return node.lineno if attribute in _TORCH_DRAWS else 0
    if name is not None and name.startswith("the generator "):
        wanted = name.removeprefix("the generator ")
        return node.lineno if wanted in text or any(wanted in ast.unparse(k.value) for k in node.keywords) else 0
    return node.lineno if ("random" in text or attribute in _DRAWS) and not text.startswith("torch.") else 0


def _base(target: ast.expr) -> str | None:
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else None


def _locals_of(definition: Any) -> set[str]:
    outer = {n for statement in ast.walk(definition) if isinstance(statement, ast.Global | ast.Nonlocal) for n in statement.names}
    stored = {n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return (stored | {a.arg for a in definition.args.args}) - outer


def _changes(node: ast.AST, name: str | None, definition: Any) -> int:
    """The line of a statement that changes what `name` names (or anything that outlives the block), with regard to what it was."""
    if name is not None and "." in name and isinstance(node, ast.Call):  # a buffer of a layer: the call of the layer
        layer = name.split(".")[-2]
        return node.lineno if isinstance(node.func, ast.Attribute) and node.func.attr == layer else 0
    target: ast.expr | None = None
    if isinstance(node, ast.AugAssign):
        target = node.target
    elif isinstance(node, ast.Assign):
        for candidate in node.targets:
            base = _base(candidate)
            reads = any(_base(n) == base for n in ast.walk(node.value) if isinstance(n, ast.Name | ast.Attribute)) if base else False
            if reads or (isinstance(candidate, ast.Subscript) and name is not None):
                target = candidate
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr in _MUTATORS or node.func.attr.endswith("_"))
    ):
        target = node.func.value
        while isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):  # a.mul_(x).add_(y)
            target = target.func.value
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "next" and node.args:
        target = node.args[0]
    if target is None:
        return 0
    base = _base(target)
    if name is not None:
        return target.lineno if base == name.split(".")[-1] else 0
    outlives = isinstance(target, ast.Attribute) or (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute))
    return target.lineno if outlives or (base is not None and base not in _locals_of(definition)) else 0
