"""nan_origin: the op that made the first value, or the first gradient, that is not finite.

Infinities are common and mostly meant: masks before a softmax, the start of a running minimum. So nothing is said before the loss itself, or the gradient of a leaf, is
not finite; then the value is followed back to where it began. While the doctor looks closely each op is seen when it runs, so that is known. Otherwise the graph of the
loss tells: what its nodes have saved, and what can be computed again from that (`_bad_values.py`).
"""

from __future__ import annotations

import ast
import sys
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from retrograd import _C
from retrograd.doctor import _bad_values as bad, _names
from retrograd.doctor._bad_values import INF, NAN
from retrograd.doctor._books import training
from retrograd.doctor._findings import Finding, found, tell
from retrograd.doctor._graph import Graph, is_leaf_node, saved
from retrograd.doctor._places import Place, function_around, here, is_package_file, of_leaf, of_node, statement_at, tree_of
from retrograd.doctor._watch import BAD_GRADIENT, BAD_VALUES, Check, Run, live_optimizers


class _Origin(NamedTuple):
    place: Place | None
    op: str
    what: str  # the value, in words
    meant: bool = False
    is_data: bool = False  # it was there before any op that was seen
    number: int = 0  # grows with time


class NanOrigin(Check):
    traces_ops = True
    traces_nodes = True

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._bad: dict[int, tuple[Any, _Origin]] = {}  # living tensors that are not finite, by id
        self._made = 0  # origins
        self._gradient: Finding | None = None  # of this backward, or of a grad() whose result may matter later
        self._pending: Finding | None = None  # of data whose maker may be seen in the next step
        self._step: Place | None = None

    # -- values, as ops make them -------------------------------------------------

    def _origin(self, tensor: Any) -> _Origin | None:
        entry = self._bad.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else None

    def _remember(self, tensor: Any, origin: _Origin) -> None:
        key = id(tensor)
        self._bad[key] = (weakref.ref(tensor, lambda _: self._bad.pop(key, None)), origin)
        _C._look_follow(BAD_VALUES, (key,), False)

    def opened(self) -> None:
        _C._look_follow(BAD_VALUES, tuple(self._bad), False)

    def op(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        for out in _tensors((result,)):
            kind = bad.badness(out)
            if not kind:
                self._bad.pop(id(out), None)
                continue
            origin = self._judge(op, kind, out, args, kwargs)
            if origin is not None:
                self._remember(out, origin)
                base = out._base if op.mutates else None
                if base is not None:
                    self._remember(base, origin)

    def _judge(self, op: Any, kind: int, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Origin | None:
        values = (*args, *kwargs.values())
        inputs = [t for t in _tensors(values) if t is not out or not op.mutates]
        if op.uninitialized:
            return None
        origins = [(t, self._origin(t)) for t in inputs]
        earlier = [origin for _, origin in origins if origin is not None and not origin.meant]
        if earlier:
            return min(earlier, key=lambda origin: origin.number)
        unknown = [(t, level) for t, origin in origins if origin is None and (level := bad.badness(t))]
        for tensor, level in unknown:
            if level == NAN:
                return self._of_data(tensor)
        if op.mutates and (kept := self._origin(out)) is not None and not kept.meant:
            return kept
        name = op.name.partition(".")[0].rstrip("_")
        place, what = here(), f"{name} of {_shapes(inputs)}"
        if kind == INF and (unknown or any(origin for _, origin in origins) or _has_infinite_number(values)):
            return _Origin(place, name, what, meant=True)
        self._made += 1
        return _Origin(place, name, what, number=self._made)

    def _of_data(self, tensor: Any) -> _Origin:
        """Of a tensor that was not finite before anybody looked."""
        if self._gradient is not None:
            return _Origin(self._gradient.place, "gradient", self._gradient.what)
        return _Origin(_made_at(tensor), "data", f"a tensor of shape {_names.shape(tensor)}", is_data=True)

    # -- the loss -----------------------------------------------------------------

    def before_backward(self, run: Run) -> None:
        if run.accumulate:
            earlier, self._gradient = self._gradient, None
        else:
            earlier = None
        if not run.loss_is_bad or _was_told() or _in_line_search():
            return
        loss = run.roots[0]
        value = f"The loss is {bad.shown(loss)}"
        if _is_scaled() and bad.find(run.graph).node in run.graph.roots:
            return  # the scale was too large: it will be halved
        origin = self._origin(loss)
        if origin is not None and not origin.meant and not origin.is_data and origin.place is not None:
            if origin.op == "gradient" and earlier is not None:
                tell(earlier)
            else:
                tell(_of_value(value, origin, bad.reason(origin.op)))
            return
        self._of_graph(run, value)

    def _of_graph(self, run: Run, value: str) -> None:
        story = bad.find(run.graph)
        if story.data is not None and (story.parameter is None or self._pending is not None):
            self._of_bad_data(value, story)
        elif self._pending is not None:
            tell(self._pending)
        elif story.parameter is not None:
            self._of_parameter(run, value, story.parameter)
        elif story.node is not None:
            name = bad.op_name(story.node)
            tell(_of_value(value, _Origin(of_node(story.node), name, f"{name}{story.detail}"), bad.reason(name) if name != "mean" else ""))
        else:
            tell(_of_value(value, _Origin(run.place, "", "the loss"), ""))

    def _of_parameter(self, run: Run, value: str, parameter: Any) -> None:
        name = _names.parameter(parameter)
        if self._step is None and _is_untrained(parameter, run):
            tell(
                Finding(
                    "nan_origin",
                    f"{value}, because {name} is, which no backward() has reached before.",
                    of_leaf(parameter) or run.place,
                    "Every value and every gradient that it goes into is not finite either.",
                    "give it finite values where it is made: x.nan_to_num(), or only what has a value (x[torch.isfinite(x)])",
                )
            )
            return
        finding = Finding(
            "nan_origin",
            f"{value}, because {name} is: the last update made it so.",
            self._step or run.place,
            "An update of a size that the numbers cannot hold leaves a parameter that no later step can repair.",
            "use a smaller learning rate, or torch.nn.utils.clip_grad_norm_(parameters, 1.0) before step()",
        )
        tell(finding)

    def _of_bad_data(self, value: str, story: bad.Story) -> None:
        tensor = story.data
        origin = self._origin(tensor)
        name = _names.variable(tensor)
        place = origin.place if origin is not None and not origin.is_data and not origin.meant else _made_at(tensor, name)
        finding = Finding(
            "nan_origin",
            f"{value}: the data that went in was not finite already ({name or 'a tensor'} of shape {_names.shape(tensor)}).",
            place or _assigned_at(name) or (of_node(story.node) if story.node is not None else None),
            "Every gradient of this step is not finite either, and a step with them ruins the parameters.",
            "make the data finite where it is made: divide by std.clamp_min(1e-8), or drop what has no value (x[torch.isfinite(x)])",
        )
        if place is None and not self._pending and live_optimizers():
            self._pending = finding  # the next step makes such data again, while ops are seen
            return
        tell(finding if place is not None else self._pending or finding)
        self._pending = None

    # -- gradients ------------------------------------------------------------------

    def node(self, run: Run, node: Any, received: tuple[Any, ...], sent: tuple[Any, ...]) -> None:
        if self._gradient is not None or run.loss_is_bad or is_leaf_node(node):
            return
        if not any(t is not None and bad.badness(t) for t in sent):
            return
        given = next((t for t in received if t is not None and bad.badness(t)), None)
        if given is not None:  # a hook's, or one that was passed in
            if node in run.graph.roots:
                self._gradient = self._of_given(run, given)
            return
        if (origin := self._of_inputs(node)) is not None:
            self._gradient = _of_value("The loss is finite, but its gradients are not", origin, bad.reason(origin.op))
            return
        received_shape = next((_names.shape(t) for t in received if t is not None), "()")
        what = f"although its value is: a gradient of shape {received_shape} came in finite and left {bad.shown_of(sent)}."
        self._gradient = self._of_derivative(run, node, what)

    def _of_derivative(self, run: Run, node: Any, what: str) -> Finding:
        """A node that was given a finite gradient has made one that is not."""
        name = bad.op_name(node)
        behind = bad.masked_consumer(run.graph, node)
        why = bad.derivative(name, node)
        fix = bad.gradient_fix(name)
        if behind:
            why += f" That the values are not used, behind {behind}, does not help: a gradient of 0 times an infinite derivative is NaN."
            fix = bad.masked_fix(name, behind)
        return Finding("nan_origin", f"The gradient of {name} is not finite, {what}", of_node(node), why, fix)

    def _of_inputs(self, node: Any) -> _Origin | None:
        """Where a value began that is not finite, and that an op has computed with; None where there is none, or where it is infinite on purpose."""
        for key, value in saved(node):
            maker = value.grad_fn
            if key == "result" or maker is None or maker is node or not bad.badness(value):
                continue
            if (origin := self._origin(value)) is not None:
                return None if origin.meant or origin.is_data or origin.place is None else origin
            story = bad.find(Graph([value]))
            name = "" if story.node is None else bad.op_name(story.node)
            if not name or story.data is not None or name in bad.INFINITE_ON_PURPOSE:
                return None
            return _Origin(of_node(story.node), name, f"{name}{story.detail}")
        return None

    def _of_given(self, run: Run, gradient: Any) -> Finding:
        origin = self._origin(gradient)
        place = origin.place if origin is not None else None
        return Finding(
            "nan_origin",
            f"The gradient that this backward() begins with, of shape {_names.shape(gradient)}, is not finite.",
            place or run.place,
            "It reaches every leaf behind it, and a step with such gradients ruins the parameters.",
            "keep what it is computed from where it is finite, for example with clamp()",
            run.place,
            "it is given to",
        )

    def after_backward(self, run: Run) -> None:
        if not run.accumulate:
            return  # what becomes of a grad() is seen in what is computed from it
        finding, self._gradient = self._gradient, None
        if not run.trouble & BAD_GRADIENT or _was_told() or run.loss_is_bad or _is_scaled() or _in_line_search() or _is_guarded(run.place):
            return
        if finding is None and (node := _C._doctor_origin()) is not None:
            finding = self._of_derivative(run, node, "although the loss is: a finite gradient came in.")
        if finding is None:
            node = bad.suspect(run.graph)
            name = "" if node is None else bad.op_name(node)
            finding = Finding(
                "nan_origin",
                f"The loss is finite, but gradients of {_names_of_bad(run)} are not{f': {name} has a derivative that can be infinite' if name else ''}.",
                of_node(node) if node is not None else run.place,
                bad.derivative(name, None),
                bad.gradient_fix(name),
            )
        tell(finding)

    def after_step(self, optimizer: Any, place: Place | None) -> None:
        self._step = place
        if self._pending is not None and _was_told():
            self._pending = None

    def ending(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None and not _was_told():
            tell(pending)


def _is_untrained(leaf: Any, run: Run) -> bool:
    """Whether no update can have been computed for it."""
    facts = training.leaves.get(leaf)
    return leaf.grad is None and (facts is None or set(facts.reached) <= {run.number})


def _was_told() -> bool:
    """The first is what counts: whatever was computed since has it in it. So it is with what grew beyond all bounds before."""
    return any(finding.code in ("nan_origin", "exploding_gradient") for finding in found)


def _of_value(value: str, origin: _Origin, advice: str) -> Finding:
    why, _, fix = advice.partition("|")
    return Finding(
        "nan_origin",
        f"{value}: the first value on its way that is not finite is made by {origin.what}.",
        origin.place,
        why.strip() or "All gradients of this step are not finite either, and a step with them ruins the parameters.",
        fix.strip() or "keep what goes into that operation where its result is finite, for example with clamp()",
    )


def _tensors(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, _C.Tensor):
            if value.is_floating_point() or value.is_complex():
                yield value
        elif isinstance(value, tuple | list):
            yield from _tensors(value)


def _shapes(tensors: list[Any]) -> str:
    return " and ".join(_names.shape(t) for t in tensors) or "numbers"


def _has_infinite_number(values: Any) -> bool:
    for value in values:
        if isinstance(value, float) and abs(value) == float("inf"):
            return True
        if isinstance(value, tuple | list) and _has_infinite_number(value):
            return True
    return False


def _made_at(tensor: Any, name: str | None = None) -> Place | None:
    """The line that made a tensor from data that was no tensor, or a later one of the same function that computed with it what the variable holds now."""
    for kind, _, _, at in tensor._cut:
        if kind in ("made", "numpy") and at is not None and not tensor.requires_grad:
            made, later = Place(*at[:3]), _assigned_at(name)
            computed = (
                later is not None and later.file == made.file and later.line > made.line and function_around(later) is function_around(made)
            )
            return later if computed and not _has_bad_array(made) else made
    return None


def _has_bad_array(made: Place) -> bool:
    """Whether an array that a line made a tensor from is still there, and has a NaN or infinity."""
    statement = statement_at(made)
    names = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)} if statement is not None else set()
    values = (scope.get(name) for frame in _names.user_frames() for scope in (frame.f_locals, frame.f_globals) for name in names)
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and any(isinstance(v, numpy.ndarray) and v.dtype.kind == "f" and not numpy.isfinite(v).all() for v in values)


_RISKY = {"log", "sqrt", "rsqrt", "div", "divide", "true_divide", "std", "var", "exp", "pow", "mean", "norm", "acos", "asin", "reciprocal"}


def _assigned_at(name: str | None) -> Place | None:
    """Where the program gives a variable its value, for one that was made before anybody looked: the last assignment with a risky operation in it, or in
    a function of the same file that it calls."""
    at = here()
    tree = tree_of(at.file) if at is not None else None
    if name is None or at is None or tree is None:
        return None
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for scope in (function_around(at), tree):
        for node in reversed(list(ast.walk(scope)) if scope is not None else []):
            targets = (
                node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []
            )
            value = getattr(node, "value", None)
            if value is None or not any(isinstance(t, ast.Name) and t.id == name for t in targets):
                continue
            line = node.lineno if isinstance(node, ast.AugAssign) or _is_risky(value) else _risky_line(value, functions)  # type: ignore[attr-defined]
            if line:
                return at._replace(line=line)
    return None


def _risky_line(value: ast.AST, functions: dict[str, ast.FunctionDef]) -> int:
    """The last line with a risky operation of a function that an expression calls; 0 where there is none."""
    for call in ast.walk(value):
        if isinstance(call, ast.Call):
            called = functions.get(call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", ""))
            statements = (
                [n for n in ast.walk(called) if isinstance(n, ast.Return | ast.Assign | ast.AugAssign)] if called is not None else []
            )
            lines = [
                n.lineno
                for n in statements
                if n.value is not None and (_is_risky(n.value) or (isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Div)))
            ]
            if lines:
                return max(lines)
    return 0


def _is_risky(value: ast.AST) -> bool:
    return any(
        (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Pow))
        or (isinstance(node, ast.Attribute) and node.attr in _RISKY)
        for node in ast.walk(value)
    )


def _is_scaled() -> bool:
    """Whether a GradScaler is at work: gradients that overflow are its way of finding the scale, and it skips such a step."""
    module = sys.modules.get("retrograd.amp.grad_scaler")
    return module is not None and any(scaler.is_enabled() and scaler._scale is not None for scaler in list(module._live))


def _is_guarded(place: Place | None) -> bool:
    """Whether the program asks if its gradients are finite, to drop a step where they are not: in a condition, or in what a function returns."""
    tree = tree_of(place.file) if place is not None else None
    for node in ast.walk(tree) if tree is not None else ():
        asked = node.test if isinstance(node, ast.If | ast.While | ast.IfExp) else node.value if isinstance(node, ast.Return) else None
        for call in ast.walk(asked) if asked is not None else ():
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("isfinite", "isnan", "isinf"):
                text = ast.unparse(call)
                if "grad" in text or "norm" in text:
                    return True
    return False


def _in_line_search() -> bool:
    """Whether LBFGS is trying how far to go: a loss that is infinite tells it to go less far."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.endswith("lbfgs.py") and is_package_file(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


def _names_of_bad(run: Run) -> str:
    leaves = [leaf for leaf in run.graph.leaves if leaf.grad is not None and bad.badness(leaf.grad)]
    return ", ".join(_names.parameters(leaves[:3])) + (f" and {len(leaves) - 3} more" if len(leaves) > 3 else "") or "some leaves"
