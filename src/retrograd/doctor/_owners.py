"""Whose a parameter is: the module that has it, the name it has there, and whether the program's source uses it."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from typing import Any, TypeGuard

from retrograd import _C
from retrograd.doctor import _names
from retrograd.doctor._books import WeakTable, node_of, tensors_in
from retrograd.doctor._graph import is_leaf_node, walk
from retrograd.doctor._places import Place, is_library_file, is_package_file, of_leaf, statement_at, tree_of


def _class(name: str) -> Any:
    nn = sys.modules.get("retrograd.nn")
    return () if nn is None else getattr(nn, name)


def parameter_class() -> Any:
    """nn.Parameter for isinstance(); nothing is one where nn was never imported."""
    return _class("Parameter")


def _roots() -> list[Any]:
    """Models that were called, and those that variables of the running functions hold."""
    found = {id(m): m for m in _names.models()}
    for frame in _names.user_frames():
        for scope in (frame.f_locals, frame.f_globals):
            for value in list(scope.values()):
                if isinstance(value, _class("Module")):
                    found[id(value)] = value
    return list(found.values())


def path_of(leaf: Any) -> list[tuple[Any, str]] | None:
    """(module, name of its member) from a model down to the parameter, or None where no model has it."""
    for root in _roots():
        for name, param in root.named_parameters():
            if param is leaf:
                path, module = [], root
                for part in name.split("."):
                    path.append((module, part))
                    module = getattr(module, part)
                return path
    return None


def _is_attribute(leaf: Any, root: Any) -> bool:
    """Whether a module holds it as a plain attribute, or in a plain list or dict; or what was computed from it alone when it was made, in its stead."""
    for module in root.modules():
        for value in vars(module).values():
            members = value.values() if type(value) is dict else value if isinstance(value, list | tuple) else (value,)
            if any(member is leaf or (isinstance(member, _C.Tensor) and _stands_for(member, leaf)) for member in members):
                return True
    return False


def _stands_for(tensor: Any, leaf: Any) -> bool:
    """Whether a tensor was computed on the line that made a leaf, from nothing else: 0.1 * torch.randn(n, requires_grad=True)."""
    node = node_of(tensor)
    if node is None or node._step >= _C._training_step() - 1:
        return False
    leaves = [end.variable for end in walk([node]) if is_leaf_node(end)]
    made = of_leaf(leaf)
    return len(leaves) == 1 and leaves[0] is leaf and made is not None and node._site is not None and node._site[:2] == made[:2]


def is_left_out(leaf: Any, trained: list[Any]) -> bool:
    """Whether a leaf that gets gradients, but is in no optimizer, may be so on purpose."""
    ids = {id(p) for p in trained}
    roots = _roots()
    registered = [root for root in roots if any(id(p) in ids for p in root.parameters())]
    if not isinstance(leaf, parameter_class()):
        if any(_is_attribute(leaf, root) for root in roots):
            return False
        return bool(registered or _names.models())  # data that requires grad, unless the whole program is written with plain tensors
    if not registered:
        return True  # an input is optimised, with a model that stays as it is
    path = path_of(leaf)
    if path is None:
        return False  # in a plain list
    if not all(module.training for module, _ in path):
        return True
    return any(_is_partly_trained(root, leaf, ids) for root in registered)


def _is_partly_trained(root: Any, leaf: Any, ids: set[int]) -> bool:
    """Whether a model seems to be trained in parts only, and this is in another: layers before a head, weights where biases are tuned, all but a few adapters."""
    named = [(name, p) for name, p in root.named_parameters() if p.requires_grad]  # what is frozen is left out by other means
    mine = next((name for name, p in named if p is leaf), None)
    if mine is None:
        return False
    trained = [name for name, p in named if id(p) in ids]
    if len(trained) < len(named) - len(trained) or {name.rpartition(".")[2] for name in trained} == {"bias"}:
        return True
    child, dot, _ = mine.partition(".")
    if not dot:
        return False  # its own parameters come first in every model, whatever they are for
    names = [name for name, _ in named]
    return names.index(mine) < names.index(trained[0]) and not any(name.partition(".")[0] == child for name in trained)


def is_left_by_a_library(leaf: Any, unreached: list[Any]) -> bool:
    """Whether it is the class of an installed library whose part nothing comes of, such as a pooler beside the states that a program asks a model for."""
    ids = {id(p) for p in unreached}
    for module, _ in _until_unused(path_of(leaf) or [], ids)[::-1]:
        codes = _codes_of(type(module))
        if codes and not is_package_file(codes[0].co_filename):
            return is_library_file(codes[0].co_filename)
    return False


def _until_unused(path: list[tuple[Any, str]], unreached: set[int]) -> list[tuple[Any, str]]:
    """The modules on a path of which something is reached."""
    return [(module, name) for module, name in path if any(id(p) not in unreached for p in module.parameters())]


def _codes_of(cls: type) -> list[Any]:
    """Of its functions: they tell where it is written, also for a class that comes from exec(), or a cell of a notebook."""
    return [code for value in vars(cls).values() if (code := getattr(value, "__code__", None)) is not None]


def _body_of(cls: type) -> list[ast.stmt] | None:
    """The statements of a class."""
    codes = _codes_of(cls)
    tree = tree_of(codes[0].co_filename) if codes else None
    for node in ast.walk(tree) if tree else ():
        if (
            isinstance(node, ast.ClassDef)
            and node.name == cls.__name__
            and node.lineno <= codes[0].co_firstlineno <= (node.end_lineno or 0)
        ):
            return node.body
    return None


@functools.lru_cache(maxsize=256)
def _mentions(cls: Any) -> frozenset[str] | None:
    """Names that a class of the user's uses outside of __init__, or None where its source cannot be judged."""
    names: set[str] = set()
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in ("retrograd", "torch", "builtins", "typing", "abc"):
            continue
        body = _body_of(base)
        if body is None:
            return None
        for statement in body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                continue
            for node in ast.walk(statement):
                if isinstance(node, ast.Attribute):
                    names.add(node.attr)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    names.add(node.value)
                elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in (
                    "getattr", "children", "named_children", "modules", "named_modules", "parameters", "named_parameters", "vars", "__getattr__",
                ):  # fmt: skip
                    return None  # members are used by other means than their names
    return frozenset(names)


def _fixed(index: ast.expr) -> Any:
    """The number or slice in a subscript, where it stands there."""
    if isinstance(index, ast.Slice):
        return slice(*(None if part is None else ast.literal_eval(part) for part in (index.lower, index.upper, index.step)))
    return ast.literal_eval(index)


def _index_of(path: list[tuple[Any, str]], modules: Any) -> int:
    """Which member of a list of modules a path goes through."""
    return next(int(name) for module, name in path if module is modules)


def _is_passed_over(cls: Any, name: str, length: int, index: int) -> bool:
    """Whether every use of a list of modules outside of __init__ takes members by fixed numbers, and never this one."""
    body = [s for base in cls.__mro__ for s in _body_of(base) or () if not (isinstance(s, ast.FunctionDef) and s.name == "__init__")]
    nodes = [node for statement in body for node in ast.walk(statement)]
    taken: set[int] = set()
    uses = 0
    for node in nodes:
        if not isinstance(node, ast.Subscript) or not (isinstance(node.value, ast.Attribute) and node.value.attr == name):
            continue
        try:
            chosen = range(length)[_fixed(node.slice)]
        except (ValueError, TypeError, IndexError):  # a variable
            return False
        uses += 1
        taken.update([chosen] if isinstance(chosen, int) else chosen)
    mentioned = sum((isinstance(n, ast.Attribute) and n.attr == name) or (isinstance(n, ast.Constant) and n.value == name) for n in nodes)
    return mentioned == uses > 0 and index not in taken


def _is_only_counted(cls: Any, name: str) -> bool:
    """Whether all that is done with a member outside of __init__ is to count its parts, or to go over them with a variable that nothing reads."""
    body = [s for base in cls.__mro__ for s in _body_of(base) or () if not (isinstance(s, ast.FunctionDef) and s.name == "__init__")]
    nodes = [node for statement in body for node in ast.walk(statement)]
    mentioned = [n for n in nodes if (isinstance(n, ast.Attribute) and n.attr == name) or (isinstance(n, ast.Constant) and n.value == name)]
    counted: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and _is_call(node, "len"):
            counted.add(node.args[0])
        elif isinstance(node, ast.For) and (over := _gone_over(node)) is not None and not _reads(node.body + node.orelse, over[1]):
            counted.add(over[0])
    return bool(mentioned) and counted.issuperset(mentioned)


def _is_call(node: ast.expr, function: str) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == function and bool(node.args)


def _gone_over(loop: ast.For) -> tuple[ast.expr, str] | None:
    """What a loop takes one by one, and the variable it takes it by."""
    over, target = loop.iter, loop.target
    if _is_call(over, "enumerate"):
        if not (isinstance(target, ast.Tuple) and len(target.elts) == 2):
            return None
        over, target = over.args[0], target.elts[1]
    return (over, target.id) if isinstance(target, ast.Name) else None


def _reads(statements: list[ast.stmt], name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for s in statements for n in ast.walk(s))


def _variables_of(leaf: Any) -> Iterator[tuple[str, str]]:
    """(name, file) of global and local variables that hold a leaf, or a module that has it."""
    for frame in _names.user_frames():
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                if value is leaf or (isinstance(value, _class("Module")) and any(p is leaf for p in value.parameters())):
                    yield name, frame.f_code.co_filename


def is_never_used(leaf: Any, optimizer: Place | None) -> bool:
    """Whether nothing in the source uses a parameter after it was made and given to the optimizer."""
    path = path_of(leaf)
    if path is not None:
        for module, name in path:
            cls: Any = type(module)
            if cls.__module__.partition(".")[0] in ("retrograd", "torch"):
                continue
            mentions = _mentions(cls)
            if mentions is None or "forward" not in vars(cls):
                continue
            inner = getattr(module, name)
            if name not in mentions or _is_only_counted(cls, name):
                return True
            if isinstance(inner, _class("ModuleList")) and _is_passed_over(cls, name, len(inner), _index_of(path, inner)):
                return True
    held = list(_variables_of(leaf))
    return bool(held) and all(_loads(name, file, optimizer) == 0 for name, file in held)


_HOUSEKEEPING = {"parameters", "named_parameters", "train", "eval", "to", "zero_grad"}  # of a module: nothing is computed with it


def _loads(name: str, file: str, optimizer: Place | None) -> int:
    """How often a variable is read, but for the statement that makes the optimizer, and to ask for the parameters of a module."""
    tree = tree_of(file)
    if tree is None:
        return 1
    count = 0
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt) or isinstance(
            statement, ast.FunctionDef | ast.ClassDef | ast.For | ast.While | ast.If | ast.With | ast.Try
        ):
            body: list[ast.AST] = []
            if isinstance(statement, ast.For):
                body = [statement.iter]
            elif isinstance(statement, ast.While | ast.If):
                body = [statement.test]
            elif isinstance(statement, ast.With):
                body = [item.context_expr for item in statement.items]
        else:
            body = [statement]
            if optimizer and statement.lineno <= optimizer.line <= (statement.end_lineno or statement.lineno):
                continue
        for part in body:
            nodes = list(ast.walk(part))
            count += sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in nodes)
            count -= sum(
                isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in _HOUSEKEEPING
                and isinstance(n.func.value, ast.Name) and n.func.value.id == name
                for n in nodes
            )  # fmt: skip
    return count


def may_be_used_later(leaf: Any, forward: WeakTable[Place | None]) -> bool:
    """Whether the source has a branch, not taken so far, that may bring what is computed from a parameter into the loss: a curriculum, a warm-up."""
    found, others = _variables_with_graphs(leaf)
    names = found or _results_by_source(leaf, forward)
    running: dict[str, list[int]] = {}
    for frame in _names.user_frames():
        running.setdefault(frame.f_code.co_filename, []).append(frame.f_lineno)
    # Where the parameter was made, where its model is called, and where the step is.
    places = [of_leaf(leaf), *(forward.get(root) for root, _ in (path_of(leaf) or [])[:1])]
    files = {place.file for place in places if place is not None} | set(list(running)[:1])
    return any((tree := tree_of(file)) is not None and _is_used_in_a_branch(tree, names, others, running.get(file, [])) for file in files)


def _variables_with_graphs(leaf: Any) -> tuple[set[str], set[str]]:
    """The variables of the running functions that hold something computed from a leaf, and those that hold something computed from others alone."""
    found: set[str] = set()
    others: set[str] = set()
    for frame in _names.user_frames():
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                nodes = [node for tensor in tensors_in(value) if (node := node_of(tensor)) is not None]
                if nodes:
                    is_computed = any(is_leaf_node(node) and node.variable is leaf for node in walk(nodes))
                    (found if is_computed else others).add(name)
    return found, others - found


def _results_by_source(leaf: Any, forward: WeakTable[Place | None]) -> set[str]:
    """The variables that calls of the models, or of their members that have a leaf, are assigned to."""
    path = path_of(leaf) or []
    members = {name for _, name in path}
    roots = [root for root, _ in path[:1]]
    places = [place for root in roots if (place := forward.get(root)) is not None]
    statements = [statement for place in places if (statement := statement_at(place)) is not None]
    for file in {place.file for place in places} | ({made.file} if (made := of_leaf(leaf)) else set()):
        for node in ast.walk(tree_of(file) or ast.Module([], [])):
            if isinstance(node, ast.Assign) and any(isinstance(n, ast.Attribute) and n.attr in members for n in ast.walk(node.value)):
                statements.append(node)
    targets = [target for s in statements if isinstance(s, ast.Assign) for target in s.targets]
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def _is_used_in_a_branch(tree: ast.Module, names: set[str], others: set[str], running: list[int]) -> bool:
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    names = _spread(tree, functions, names, others)
    loads = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)]
    for function in [tree, *functions.values()]:
        for node in _own_nodes(function):
            if isinstance(node, ast.IfExp) and any(load in ast.walk(node) for load in loads):
                return True
            if not isinstance(node, ast.If):
                continue
            body = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if not any(line in body for line in running):
                inside = [n for statement in [*node.body, *node.orelse] for n in ast.walk(statement)]
                if any(load in inside for load in loads) and any(_leads_on(n) for n in inside):
                    return True
            if any(isinstance(branch[-1], ast.Return | ast.Continue | ast.Break) for branch in (node.body, node.orelse) if branch):
                end = getattr(function, "end_lineno", None) or loads[-1].lineno + 1 if loads else 0
                if any(body.stop <= load.lineno <= end for load in loads):
                    return True
    return False


def _spread(tree: ast.Module, functions: dict[str, ast.FunctionDef], names: set[str], others: set[str]) -> set[str]:
    """The variables, too, that are computed from these, and what the functions that they are handed to call them."""
    names = set(names)
    before = -1
    while before != len(names):
        before = len(names)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and names & {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}:
                names |= {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)} - others
            elif isinstance(node, ast.Call):
                definition = functions.get(getattr(node.func, "attr", getattr(node.func, "id", "")))
                parameters = [a.arg for a in definition.args.args if a.arg != "self"] if definition is not None else []
                names |= {p for p, value in zip(parameters, node.args, strict=False) if isinstance(value, ast.Name) and value.id in names}
    return names


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, or of a module, without those of the functions in it."""
    queue = list(ast.iter_child_nodes(function))
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            queue.extend(ast.iter_child_nodes(node))


def _leads_on(node: ast.AST) -> bool:
    """Whether what is read there goes on from there: into a variable, a result, a backward."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", "") == "backward"
    return isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return)


def largest_beside(leaf: Any, leaves: list[Any]) -> Any:
    """Of the parameters of one layer, the one with the largest values: those decide what comes out of it. The first of equals."""
    path = path_of(leaf)
    if path is None:
        return leaf
    layer = path[-1][0]
    own = [p for p in layer._parameters.values() if any(p is other for other in leaves)]
    return max([leaf, *own], key=lambda p: _C._doctor_largest(p.detach()) or 0.0)


_INITIALISERS = {
    "constant_", "dirac_", "eye_", "fill_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_", "sparse_", "trunc_normal_", "uniform_",
    "xavier_normal_", "xavier_uniform_", "zero_", "zeros_",
}  # fmt: skip


def _writes(statement: ast.stmt) -> list[str] | None:
    """The names in a statement that sets values of parameters; None for any other."""
    names = [n.attr for n in ast.walk(statement) if isinstance(n, ast.Attribute)]
    if "grad" in names:
        return None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = getattr(statement.value.func, "attr", getattr(statement.value.func, "id", ""))
        if not called.endswith("_") or called.endswith("__") or called == "requires_grad_":
            return None
    elif isinstance(statement, ast.AugAssign) or (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute)):
        target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]
        parts = [n.attr for n in ast.walk(target) if isinstance(n, ast.Attribute)]
        if not any(part in ("data", "weight", "bias") for part in parts):
            return None
    else:
        return None
    return names + [n.id for n in ast.walk(statement) if isinstance(n, ast.Name)]


def initialisation(leaf: Any) -> Place | None:
    """The line that set the first values of a parameter: a statement of the program that writes to it, as far as its names tell, else where it was made."""
    made = of_leaf(leaf)
    tree = tree_of(made.file) if made else None
    if made is None or tree is None:
        return made
    path = path_of(leaf)
    wanted = {name for _, name in path or ()} | {name for name, _ in _variables_of(leaf)}
    last = path[-1][1] if path else None
    best, score = made, 0
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt) or (names := _writes(statement)) is None:
            continue
        if {"weight", "bias"} & set(names) and last in ("weight", "bias") and last not in names and not _of_same_layer(names, wanted):
            continue
        points = 2 * len(wanted & set(names)) + bool(_INITIALISERS & set(names))
        if points > score:
            best, score = Place(made.file, statement.lineno, ""), points
    return best


def of_buffer(memory: int) -> Place | None:
    """The line of a class of the program's that registers a buffer of its modules, by where its memory begins."""
    for root in _roots():
        for name, buffer in root.named_buffers():
            if buffer.data_ptr() != memory:
                continue
            path, _, last = name.rpartition(".")
            for cls in type(root.get_submodule(path)).__mro__:
                codes = _codes_of(cls)
                if not codes or is_package_file(codes[0].co_filename):
                    continue
                for node in (n for statement in _body_of(cls) or () for n in ast.walk(statement)):
                    if _registers(node, last):
                        return Place(codes[0].co_filename, node.lineno, "")
    return None


def _registers(node: ast.AST, name: str) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "register_buffer" or not node.args:
        return False
    return isinstance(node.args[0], ast.Constant) and node.args[0].value == name


def _of_same_layer(names: list[str], wanted: set[str]) -> bool:
    return bool((wanted - {"weight", "bias"}) & set(names))
