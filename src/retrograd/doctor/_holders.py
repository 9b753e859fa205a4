"""Who keeps a tensor: the variable, attribute or container of the user's that it hangs on, and the line that put it there.

The search goes down from the variables of the running frames, as a reader of the program would: what it finds has a name. It is made once a check is sure.
"""

from __future__ import annotations

import ast
import copy
import functools
import gc
import inspect
import re
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from retrograd import _C
from retrograd.doctor import _names
from retrograd.doctor._graph import is_leaf
from retrograd.doctor._places import Place, function_around, is_library_file, is_package_file, statement_at, tree_of

MOST, DEEPEST = 50_000, 7  # objects looked at, levels below a variable
WINDOW = 100  # what a deque may keep at most and be a window over the last steps, which does not grow


class Holder(NamedTuple):
    """What keeps a tensor."""

    shown: str  # "self.history['loss']"
    name: str  # the variable or attribute in it that comes last: what the source calls it
    container: Any  # the list, dict, ... that has the tensor, or None where the variable itself is it
    file: str  # of the frame, or of the class, that the name belongs to
    outer: Holder | None = None  # the place in a container of the object, or function, that the name belongs to
    most: int | None = None  # how many of its kind there can be, where what drops its oldest then is on the way
    room: int = 0  # the lengths of all containers on the way: grows with any of them

    @property
    def is_bounded(self) -> bool:
        """A deque that drops its oldest, or a container that the program takes elements out of, or that has one place for each of a few things."""
        if self.most is not None:
            return True
        return self.container is not None and (_takes_out(self.file, self.name) or _has_few_places(self.file, self.name, self.container))

    @property
    def is_window(self) -> bool:
        """A few of the last ones, which are all there will ever be."""
        return self.most is not None and self.most <= WINDOW

    @property
    def is_renewed(self) -> bool:
        """A container that begins anew time and again, such as one for each epoch."""
        return self.container is not None and _is_renewed(self.shown)


class _Step(NamedTuple):
    """An object on the way down."""

    value: Any
    shown: str
    name: str
    container: Any
    file: str
    depth: int
    outer: Holder | None = None
    most: int | None = None
    room: int = 0


def _limit(value: Any) -> int | None:
    """How many elements a container takes before it drops its oldest, where it says so itself."""
    if isinstance(value, deque):
        return value.maxlen
    if isinstance(value, _Cache):
        limit: int | None = value.cache_parameters()["maxsize"]
        return limit
    return None


def _scopes(of_libraries: bool) -> Iterator[tuple[dict[str, Any], str]]:
    """The variables of the user's frames, or of those of libraries between them, innermost first, and of the modules they are in."""
    seen: set[int] = set()
    for frame in _names.user_frames():
        file = frame.f_code.co_filename
        if is_library_file(file) != of_libraries:
            continue
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            variables = frame.f_locals
            yield dict(variables), file
            if type(variables) is dict and sys.gettrace() is None:
                variables.clear()  # the interpreter's copy, which would keep what it names
        if id(frame.f_globals) not in seen:
            seen.add(id(frame.f_globals))
            yield frame.f_globals, file


def _below(step: _Step) -> Iterator[_Step]:
    """What an object holds, with names."""
    value, depth, outer = step.value, step.depth + 1, step.outer
    if step.container is not None:
        outer = Holder(step.shown, step.name, step.container, step.file, outer, step.most, step.room)
    # A record in a window is dropped with all it has; a list in it may grow on its own.
    most = _limit(value) or (None if isinstance(value, list | set | deque | _Cache) else step.most)
    room = step.room + (len(value) if isinstance(value, list | tuple | set | frozenset | deque | dict) else 0)

    def item(inner: Any, key: str) -> _Step:
        return _Step(inner, f"{step.shown}[{key}]", step.name, value, step.file, depth, step.outer, most, room)

    def attribute(inner: Any, name: str, file: str) -> _Step:
        return _Step(inner, f"{step.shown}.{name}", name, None, file, depth, outer, most, room)

    def variable(inner: Any, name: str, file: str) -> _Step:
        return _Step(inner, name, name, None, file, depth, outer, most, room)

    if isinstance(value, dict):
        for key, inner in list(value.items()):
            yield item(inner, repr(key) if isinstance(key, str | int) else "...")
    elif isinstance(value, list | tuple | set | frozenset | deque):
        for i, inner in enumerate(list(value)):
            yield item(inner, str(i) if isinstance(value, list | tuple) else "...")
    elif isinstance(value, types.FunctionType):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=False):
            try:
                inner = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
            yield variable(inner, name, value.__code__.co_filename)
        for name, inner in _defaults(value):
            yield variable(inner, name, value.__code__.co_filename)
        for name, inner in list(vars(value).items()):
            yield attribute(inner, name, value.__code__.co_filename)
    elif isinstance(value, types.MethodType):
        yield _Step(value.__self__, step.shown, step.name, None, step.file, depth, outer, most, room)
    elif isinstance(value, _Cache):
        wrapped = value.__wrapped__
        for inner in _cached(value):
            file = getattr(getattr(wrapped, "__code__", None), "co_filename", step.file)
            yield _Step(inner, step.shown, step.name, value, file, depth, outer, most, room)
    elif isinstance(value, functools.partial):
        yield _Step(value.func, step.shown, step.name, None, step.file, depth, outer, most, room)
        for inner in [*value.args, *value.keywords.values()]:
            yield item(inner, "...")
    elif isinstance(value, types.GeneratorType):
        frame = value.gi_frame
        for name, inner in list(frame.f_locals.items()) if frame is not None else ():
            yield variable(inner, name, value.gi_code.co_filename)
    elif isinstance(value, _C.Tensor):
        if is_leaf(value) and value.grad is not None:  # after backward(create_graph=True) it has a graph
            yield attribute(value.grad, "grad", step.file)
    elif not isinstance(value, types.ModuleType):
        file = _file_of(value if isinstance(value, type) else type(value)) or step.file
        for name, inner in list(_members(value)):
            yield attribute(inner, name, file)


def _cached(function: Any) -> Iterator[Any]:
    """The results that functools.lru_cache keeps: in a dict of its own, or, where their number is limited, one by one."""
    attributes = vars(function)
    for inner in gc.get_referents(function):
        if type(inner) is dict and inner is not attributes:
            yield from inner.values()
        elif not isinstance(inner, type | types.FunctionType | dict):
            yield inner


def _defaults(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The arguments of a function that have a default, with it."""
    defaults = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    yield from zip(names[len(names) - len(defaults) :], defaults, strict=False)
    yield from (function.__kwdefaults__ or {}).items()


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, type) and value.__module__.partition(".")[0] in ("retrograd", "builtins", "torch"):
        return
    members = getattr(value, "__dict__", None)
    if members is not None:
        yield from ((name, inner) for name, inner in members.items() if not name.startswith("__") and name not in _OF_MODULES)
        for name in _OF_MODULES & set(members):
            yield from members[name].items() if isinstance(members[name], dict) else [(name, members[name])]
    for cls in () if isinstance(value, type) else type(value).__mro__:
        if cls.__module__.partition(".")[0] not in ("retrograd", "builtins", "torch"):
            yield from ((name, member) for name, member in vars(cls).items() if isinstance(member, _Cache))
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield name, getattr(value, name)


def _file_of(cls: type) -> str | None:
    """The file of the user's that a class is written in."""
    files = [member.__code__.co_filename for member in vars(cls).values() if isinstance(member, types.FunctionType)]
    return next((file for file in files if not (file.startswith("<") or is_package_file(file) or is_library_file(file))), None)


_OF_MODULES = {"_buffers", "_modules", "_parameters"}  # what they hold are attributes to everybody else
_Cache = type(functools.lru_cache(lambda: None))  # has no public name
_ATOMS = (int, float, str, bytes, bool, complex, type(None), types.BuiltinFunctionType, types.CodeType)


def _is_ours(value: Any) -> bool:
    """Functions, generators and the doctor of the package: what they hold is not the user's doing."""
    if isinstance(value, types.FunctionType):
        return is_package_file(value.__code__.co_filename)
    if isinstance(value, types.GeneratorType):
        return is_package_file(value.gi_code.co_filename)
    return type(value).__module__.startswith(__name__.rpartition(".")[0] + ".")


def find(tensors: Iterable[Any], of_users_alone: bool = False) -> dict[int, Holder]:
    """The holders of tensors, by identity, of those that have one with a name."""
    wanted = {id(tensor) for tensor in tensors}
    found: dict[int, Holder] = {}
    # Frames of libraries come last: below a test runner they reach every test there is.
    for of_libraries in (False,) if of_users_alone else (False, True):
        if len(found) < len(wanted):
            _search(_scopes(of_libraries), wanted, found)
    return found


def _search(scopes: Iterable[tuple[dict[str, Any], str]], wanted: set[int], found: dict[int, Holder]) -> None:
    seen: set[int] = set()
    queue: deque[_Step] = deque()
    for variables, file in scopes:
        for name, value in list(variables.items()):
            if not (name.startswith("__") and name.endswith("__")):
                queue.append(_Step(value, name, name, None, file, 0))
    while queue and len(seen) < MOST and len(found) < len(wanted):
        step = queue.popleft()
        if isinstance(step.value, _ATOMS) or _is_ours(step.value):
            continue
        number = id(step.value)
        if number in wanted and number not in found:
            found[number] = Holder(step.shown, step.name, step.container, step.file, step.outer, step.most, step.room)
        if number in seen or step.depth >= DEEPEST:
            continue
        seen.add(number)
        queue.extend(_below(step))


# -- the source ---------------------------------------------------------------

_PUTS = {"append", "extend", "insert", "add", "appendleft", "put", "put_nowait", "setdefault", "update", "push", "register_buffer", "write"}
_MAKERS = {"list", "dict", "set", "deque", "defaultdict", "float", "int", "zeros", "ones", "full", "empty", "tensor"}
_TAKES = {"pop", "popleft", "popitem", "remove"}
_PUTS_INTO = {
    "heappush",
    "heappushpop",
    "heapreplace",
    "insort",
    "insort_left",
    "insort_right",
}  # functions, with the list as first argument
_TAKES_FROM = {"heappop", "heappushpop", "heapreplace"}
_THINGS = re.compile(r"(^|_)(task|domain|head|client|agent|player|model|net|member|env|dataset|loader|expert|fold)s$")


def _mentions(node: ast.AST) -> set[str]:
    """The variables and attributes that an expression names."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def _targets(statement: ast.stmt | ast.expr) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
        return [statement.target]
    return []


def _is_plain(value: ast.expr | None) -> bool:
    """[] or 0.0 or deque(): a beginning, which stores nothing."""
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return all(_is_plain(item) for item in value.elts)
    if isinstance(value, ast.Dict):
        return all(_is_plain(item) for item in value.values)
    if isinstance(value, ast.BinOp):  # [None] * 3
        return isinstance(value.op, ast.Mult) and isinstance(value.left, ast.List) and _is_plain(value.left)
    if isinstance(value, ast.ListComp | ast.DictComp):
        inner = value.elt if isinstance(value, ast.ListComp) else value.value
        return _is_plain(inner) and not (isinstance(inner, ast.Call) and _called(inner) not in _MAKERS)  # of a function it may be losses
    if isinstance(value, ast.Call):
        return all(_is_plain(item) for item in [*value.args, *(keyword.value for keyword in value.keywords)])
    if isinstance(value, ast.Name):
        return value.id in ("list", "dict", "set", "int", "float")
    return value is None or isinstance(value, ast.Constant | ast.UnaryOp)


def _binds(target: ast.expr, name: str) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return any(_binds(part, name) for part in target.elts)
    if isinstance(target, ast.Subscript | ast.Starred):
        return _binds(target.value, name)
    if isinstance(target, ast.Call):  # d.setdefault(k, [])[i] = ...
        return name in _mentions(target.func)
    return (isinstance(target, ast.Name) and target.id == name) or (isinstance(target, ast.Attribute) and target.attr == name)


def _stores(tree: ast.AST, name: str) -> Iterator[tuple[int, ast.AST]]:
    """Lines that put something into what is called so, with what they put there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
            inside = any(isinstance(target, ast.Subscript) for target in _targets(node))
            if any(_binds(target, name) for target in _targets(node)) and (inside or not _is_plain(node.value)):
                yield node.lineno, node.value or node
        elif isinstance(node, ast.Call) and node.args:
            if isinstance(node.func, ast.Attribute) and node.func.attr in _PUTS and name in _mentions(node.func.value):
                yield node.end_lineno or node.lineno, ast.Tuple(elts=node.args, ctx=ast.Load())
            elif (
                isinstance(node.func, ast.Name)
                and node.func.id == "setattr"
                and len(node.args) == 3
                and isinstance(node.args[1], ast.Constant)
            ):
                yield from [(node.lineno, node.args[-1])] if node.args[1].value == name else []
            elif _called(node) in _PUTS_INTO and name in _mentions(node.args[0]):
                yield node.end_lineno or node.lineno, ast.Tuple(elts=node.args[1:], ctx=ast.Load())


def _takes_out(file: str, name: str) -> bool:
    """Whether the source has losses.pop(0), del losses[0], losses = losses[-10:], losses = [*losses[-9:], loss]."""

    def takes(node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            if _called(node) in _TAKES_FROM and node.args and name in _mentions(node.args[0]):
                return True
            return isinstance(node.func, ast.Attribute) and node.func.attr in _TAKES and name in _mentions(node.func.value)
        if isinstance(node, ast.Delete):
            return any(name in _mentions(target) for target in node.targets)
        if isinstance(node, ast.Assign) and any(_binds(target, name) for target in node.targets):
            slices = (n for n in ast.walk(node.value) if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Slice))
            return any(name in _mentions(part.value) for part in slices)
        return False

    return any(takes(node) for node in ast.walk(tree_of(file) or ast.Module([], [])))


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_over_things(loop: ast.AST) -> bool:
    """Whether a loop goes over a few things that the program names, rather than over steps or batches."""
    if not isinstance(loop, ast.For | ast.comprehension):
        return False
    over = loop.iter
    if isinstance(over, ast.Call):
        parts = over.args if _called(over) in ("zip", "enumerate", "sorted", "list", "reversed") else ()
        return _called(over) in ("items", "values", "keys") or any(
            _is_over_things(ast.comprehension(loop.target, part, [], 0)) for part in parts
        )
    if isinstance(over, ast.Name | ast.Attribute):
        return bool(_THINGS.search(over.id if isinstance(over, ast.Name) else over.attr))
    return isinstance(over, ast.List | ast.Tuple | ast.Set | ast.Dict)


def _has_few_places(file: str, name: str, container: Any) -> bool:
    """Whether everything that is put into a container takes the place of something older, sooner or later: last[i % 3] = loss, losses[task] = loss in a
    loop over tasks. A list that was made with its full length cannot grow either."""
    tree = tree_of(file)
    stores = {line for line, _ in _stores(tree, name)} if tree is not None else set()
    few: set[int] = set()
    running = [frame.f_lineno for frame in _names.user_frames() if frame.f_code.co_filename == file]

    def trains_things(loop: ast.AST) -> bool:
        """Whether a loop goes over things, and the backward that has just run is in it."""
        return _is_over_things(loop) and any(loop.lineno <= line <= (loop.end_lineno or 0) for line in running)  # type: ignore[attr-defined]

    def visit(node: ast.AST, loops: tuple[ast.AST, ...]) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            loops = ()
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            loops = (*loops, node)
        elif isinstance(node, ast.stmt) and loops and trains_things(loops[-1]):
            few.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and _binds(target, name):
                    keys = {part.id for part in ast.walk(target.slice) if isinstance(part, ast.Name)}
                    named = any(isinstance(loop, ast.For) and trains_things(loop) and keys & _mentions(loop.target) for loop in loops)
                    if isinstance(container, list) or named or any(isinstance(part, ast.Mod) for part in ast.walk(target.slice)):
                        few.add(node.lineno)
        for child in ast.iter_child_nodes(node):
            visit(child, loops)

    if tree is not None:
        visit(tree, ())
    return bool(stores) and stores <= few


def _is_renewed(shown: str) -> bool:
    """Whether the variable that all of it hangs on begins anew time and again: it is assigned in a loop around the one that runs, or belongs to a function that
    is called in a loop."""
    root = re.match(r"\w*", shown)[0]  # type: ignore[index]
    frames = [frame for frame in _names.user_frames() if not is_library_file(frame.f_code.co_filename)]
    script = next((i for i, frame in enumerate(frames) if frame.f_code.co_name == "<module>"), len(frames))
    del frames[script + 1 :]  # what runs the script is no part of it
    start = next((i for i, frame in enumerate(frames) if root in frame.f_locals), None)
    if start is None:
        return False
    value = frames[start].f_locals[root]
    for i, frame in enumerate(frames[start:], start):
        names = [name for name, held in list(frame.f_locals.items()) if held is value]
        code = frame.f_code
        given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if not names or (i > start and frame.f_globals is frames[start].f_locals):
            continue
        if any(_is_assigned_in(loop, name) for loop in _loops_around(frame, of_line=True) for name in names):
            return True
        if code.co_flags & inspect.CO_OPTIMIZED and not any(name in given or name in code.co_freevars for name in names):
            return any(_loops_around(outer) for outer in frames[i + 1 :])
    return False


def _loops_around(frame: types.FrameType, of_line: bool = False) -> list[ast.For | ast.While]:
    """The loops of the function that runs in a frame which are around its line; with of_line also one that begins there, and asks for its next element."""
    function = function_around(Place(frame.f_code.co_filename, frame.f_lineno, ""))
    nodes = ast.walk(function) if function is not None else ()
    first = frame.f_lineno + of_line
    return [n for n in nodes if isinstance(n, ast.For | ast.While) and n.lineno < first <= (n.end_lineno or n.lineno) + of_line]


def _is_assigned_in(loop: ast.AST, name: str) -> bool:
    for node in ast.walk(loop):
        if isinstance(node, ast.For) and any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node.target)):
            return True
        if isinstance(node, ast.Assign | ast.AnnAssign):
            stored = (
                part
                for target in _targets(node)
                for part in ast.walk(target)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            )
            if any(part.id == name for part in stored) and node.value is not None and name not in _mentions(node.value):
                return True
    return False


def stored_at(holder: Holder, made: Place | None) -> Place | None:
    """The line that puts what was made at a line into its holder, as far as the source tells."""
    if isinstance(holder.container, _Cache):
        code = getattr(holder.container.__wrapped__, "__code__", None)
        return None if code is None else Place(code.co_filename, code.co_firstlineno, "")
    made_names: set[str] = set()
    if made is not None:
        statement = statement_at(made)
        for target in _targets(statement) if statement is not None else ():
            made_names |= _mentions(target)
    best: tuple[int, int, Place] | None = None
    for file in dict.fromkeys([holder.file, *([made.file] if made else [])]):
        tree = tree_of(file)
        for line, value in _stores(tree, holder.name) if tree is not None else ():
            here = made is not None and file == made.file
            score = 8 if here and made is not None and line == made.line else 0
            score += 4 if made_names & _mentions(value) else 0
            distance = abs(line - made.line) if here and made is not None else 10_000
            if best is None or (score, -distance) > best[:2]:
                best = (score, -distance, Place(file, line, ""))
    if best is not None:
        return best[2]
    if holder.outer is not None:
        return stored_at(holder.outer, made)
    # By a method of a library: queue.put(loss) puts it into queue.queue.
    parent, dot, _ = re.sub(r"\[[^\]]*\]", "", holder.shown).rpartition(".")
    return stored_at(holder._replace(shown=parent, name=parent.rpartition(".")[2]), made) if dot else None


class _Without(ast.NodeTransformer):
    """Puts a call of a method behind every use of a variable."""

    def __init__(self, names: set[str], method: str) -> None:
        self.names = names
        self.method = method
        self.done = 0

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names or not isinstance(node.ctx, ast.Load):
            return node
        self.done += 1
        return _calling(node, self.method)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return node if isinstance(node.func, ast.Attribute) and node.func.attr in ("item", "detach") else self.generic_visit(node)


def _calling(value: ast.expr, method: str) -> ast.expr:
    return ast.Call(func=ast.Attribute(value=value, attr=method, ctx=ast.Load()), args=[], keywords=[])


def without_history(stored: Place | None, made: Place | None, is_number: bool) -> str | None:
    """The statement that stores a tensor, written so that it stores no history; None where the source does not tell how. Without a line that stores, what
    is made is stored at once, as in a chain."""
    at = stored or made
    statement = copy.deepcopy(statement_at(at)) if at is not None else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and stored is not None:
        values = statement.value.args
    elif isinstance(statement, ast.Assign | ast.AugAssign):
        values = [statement.value]
    else:
        return None
    plain = "item" if is_number else "detach"
    names = set()
    made_in = statement_at(made) if made is not None and made != at else None
    for target in _targets(made_in) if made_in is not None else ():
        names |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    for i, value in enumerate(values):
        direct = isinstance(value, ast.Name) and (value.id in names or len(values) == 1)
        if direct or stored is None:
            new: ast.AST = _calling(value, plain if direct and stored is not None else "detach")
        else:
            elements = isinstance(value, ast.Tuple | ast.List) and all(isinstance(item, ast.Name | ast.Constant) for item in value.elts)
            change = _Without(names, plain if elements else "detach")
            new = change.visit(value)
            if not change.done and not isinstance(value, ast.ListComp):
                continue
            if not change.done:
                new.elt = _calling(new.elt, plain)  # type: ignore[attr-defined]
        if isinstance(statement, ast.Expr):
            values[i] = new  # type: ignore[call-overload]
        else:
            statement.value = new  # type: ignore[assignment]
        text = ast.unparse(ast.fix_missing_locations(statement))
        return text if len(text) <= 120 and "\n" not in text else None
    return None
