"""mode_confusion: layers that behave otherwise in training (dropout, batch norm) and are in the wrong mode; evaluations that build graphs for nobody."""

from __future__ import annotations

import ast
import functools
import sys
import weakref
from typing import Any, ClassVar

from retrograd import _C
from retrograd.doctor import _holders
from retrograd.doctor._books import WeakTable, node_of, parameters_of, same_line, tensors_in, training
from retrograd.doctor._checks.by_hand import ByHand, Listener
from retrograd.doctor._checks.leaks import holders_of, with_history
from retrograd.doctor._findings import Finding, counted, listed, tell, was_told
from retrograd.doctor._graph import is_leaf_node, walk
from retrograd.doctor._names import model_name, user_frames
from retrograd.doctor._places import Place, here, is_library_file, of_node, statement_at, tree_of
from retrograd.doctor._watch import WANTED, Call, Check, Run, watcher

Line = tuple[str, int]

_DROPOUTS = [
    name + end for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "native_dropout") for end in ("", "_")
]


def _layers(model: Any) -> list[tuple[str, Any]]:
    """The layers below a model that do something else in training, with their names."""
    return [(name, module) for name, module in model.named_modules() if _has_modes(module)]


def _has_modes(module: Any) -> bool:
    from retrograd import nn

    if isinstance(module, nn.modules.dropout._DropoutNd):
        return bool(module.p > 0)
    if isinstance(module, nn.modules.batchnorm._BatchNorm):
        return bool(module.track_running_stats)
    if isinstance(module, nn.RNNBase):
        return bool(module.dropout > 0 and module.num_layers > 1)
    return isinstance(module, nn.MultiheadAttention) and module.dropout > 0


def _is_part(module: Any) -> bool:
    """Whether it is no model but what computes a weight that is read."""
    parametrize = sys.modules.get("retrograd.nn.utils.parametrize")
    return parametrize is not None and isinstance(module, parametrize.ParametrizationList)


def _learns(model: Any, name: str, layer: Any) -> bool:
    """Whether a layer is in a part of the model that learns: its own parameters do, or for one without any, those beside it."""
    own = list(layer.parameters())
    if own:
        return any(param.requires_grad for param in own)
    parent = model.get_submodule(name.rpartition(".")[0]) if name else layer
    return any(param.requires_grad for param in parent.parameters())


def _shown(layers: list[tuple[str, Any]]) -> str:
    return listed([f"{type(layer).__name__} `{name}`" if name else type(layer).__name__ for name, layer in layers], most=2)


def _is_always_on(place: Place) -> bool:
    """Whether a line calls a dropout that does not ask for the mode: F.dropout(x, p), nn.Dropout(p)(x), attention with a fixed dropout_p."""
    statement = statement_at(place)
    for call in ast.walk(statement) if statement is not None else ():
        if not isinstance(call, ast.Call):
            continue
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        if isinstance(call.func, ast.Call) and "Dropout" in ast.unparse(call.func.func):
            return True
        if name == "scaled_dot_product_attention":
            given = keywords.get("dropout_p", call.args[4] if len(call.args) > 4 else None)
            if given is not None and isinstance(given, ast.Constant | ast.Attribute | ast.Name):
                return True
        elif "dropout" in name and len(call.args) < 3 and not {"training", "train", None} & set(keywords):
            return name.startswith(("dropout", "alpha_dropout", "feature_")) and isinstance(call.func, ast.Attribute | ast.Name)
    return False


def _mode_calls(model: Any) -> list[Any]:
    """The calls of train() and eval() that set the mode of a model, newest last."""
    module = sys.modules["retrograd.nn.modules._mode_calls"]
    found = []
    for call in module.calls:
        called = call.module()
        if called is not None and (called is model or any(part is model for part in called.modules())):
            found.append(call)
    return found


def _in_loop_with(place: Place, attributes: tuple[str, ...]) -> bool | None:
    """Whether a line lies in a loop in which one of these methods is called, or else in a function that calls one after it. None where there is no source."""
    tree = tree_of(place.file)
    if tree is None:
        return None
    around: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While | ast.FunctionDef) and node.lineno <= place.line <= (node.end_lineno or node.lineno):
            around.append(node)
    for node in reversed(around):
        calls = [n for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in attributes]
        if isinstance(node, ast.FunctionDef):
            return any(call.lineno >= place.line for call in calls)
        if calls:
            return True
    return False


@functools.lru_cache(maxsize=256)
def _repeats(place: Place) -> bool:
    """Whether a line lies in a loop or a comprehension of its function."""
    tree = tree_of(place.file)
    loops = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
    return tree is None or any(
        isinstance(node, loops) and node.lineno <= place.line <= (node.end_lineno or node.lineno) for node in ast.walk(tree)
    )


def _values(tensor: Any) -> tuple[Any, ...]:
    """The same for a tensor with the same values."""
    if tensor.device.type != "cpu" or tensor.layout != _C.strided or tensor.is_complex():
        return (id(tensor),)
    return (tuple(tensor.shape), float(tensor.detach().reshape(-1)[:65536].double().sum()))


def _is_in_loop() -> bool:
    """Whether a loop of the program is running, in whatever function."""
    for frame in user_frames():
        code = frame.f_code
        if not is_library_file(code.co_filename) and _repeats(Place(code.co_filename, frame.f_lineno, "")):
            return True
        if code.co_name == "<module>":  # what runs the program is none of it
            return False
    return False


def _switched_off(tensor: Any) -> list[Line]:
    """The lines that switched recording off before a tensor was made from something that is learned."""
    if tensor.requires_grad:
        return []
    return [mode[:2] for kind, _, mode, _ in tensor._cut if kind in ("no_grad", "inference_mode") and mode is not None]


def _is_inside(model: Any) -> bool:
    """Whether the present call is one of a model, or of one that it is a part of."""
    called = watcher.called
    return called is not None and any(part is model for part in called.modules())


_DRAWS = {"multinomial", "bernoulli", "normal", "poisson"}
_CHOICES = {"argmax", "max", "topk", "sort", "argsort", "softmax", "log_softmax", "sigmoid"}


class Unrecorded:
    """A line that calls, without recording, a model in training mode."""

    def __init__(self, call: Call, active: str) -> None:
        self.place = call.place
        self.model = weakref.ref(call.module)
        self.active = active  # what is, in words
        self.training = call.training
        self.look = watcher.looks
        self.calls = self.run = 0
        self.inputs: tuple[Any, ...] = ()  # what tells the last arguments from others
        self.consumed = self.read = self.exported = False
        self.drawn = False  # from the last result: what is read may be an action, and what it leads to is trained on
        self.repeats = _is_in_loop()


class Recorded:
    """A line that calls, recording, a model in evaluation mode."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []  # weak references to the results' nodes
        self.most = 0  # as many were alive together
        self.used = False  # by a backward


class ModeConfusion(Check, Listener):
    traces_ops = True
    op_names: ClassVar = dict.fromkeys(_DROPOUTS, WANTED)

    def __init__(self, by_hand: ByHand) -> None:
        by_hand.listeners.append(self)
        self.forget()

    def forget(self) -> None:
        self.unrecorded: dict[Line, Unrecorded] = {}
        self.modes: dict[Line, list[Unrecorded]] = {}  # by the line that switched recording off
        self.for_training: set[Line] = set()  # of those lines: what is made there goes into losses
        self.recorded: dict[Line, Recorded] = {}
        self.in_eval: WeakTable[tuple[Any, Place | None, str]] = WeakTable()  # results' nodes of models in evaluation mode
        self.trained_in_eval: list[tuple[Any, Place | None, str]] = []
        self.dropouts: dict[bool, Place] = {}  # in the present call: a line with a dropout that is active, and one with one that is not

    def opened(self) -> None:
        if self.modes:
            _C._look_follow_cuts()

    # -- calls --------------------------------------------------------------------

    def before_module(self, call: Call) -> None:
        self.dropouts = {}

    def after_module(self, call: Call, result: Any) -> None:
        dropouts, self.dropouts = self.dropouts, {}
        if call.place is None or _is_part(call.module) or not training.trains(call.module.parameters()):
            return
        if call.records:
            if not call.training:
                self.eval_recorded(call, result, f"dropout at {dropouts[False]}" if False in dropouts else "")
            return
        layers = [(name, layer) for name, layer in _layers(call.module) if layer.training]
        drawn = dropouts.get(True)
        if call.training and (layers or drawn):
            self.active_unrecorded(call, result, _shown(layers) if layers else f"dropout at {drawn}")
        elif not call.training and not layers and drawn is not None and _is_always_on(drawn):
            self.active_unrecorded(call, result, f"dropout at {drawn}")

    # -- training mode without recording --------------------------------------------

    def active_unrecorded(self, call: Call, result: Any, active: str) -> None:
        assert call.place is not None
        line = call.place[:2]
        calls = _mode_calls(call.module) if call.training else []
        if calls and calls[-1].mode and calls[-1].step >= _C._training_step() and training.forward_of(call.module) is not None:
            return  # train() was called for this
        before = self.unrecorded.get(line)
        if before is None or before.look != watcher.looks or before.model() is not call.module:
            before = self.unrecorded[line] = Unrecorded(call, active)
        inputs = tuple(_values(tensor) for tensor in tensors_in([*call.args, *call.kwargs.values()]))
        before.calls += 1
        before.drawn = False
        before.run = _C._training_step()
        if before.calls > 1 and inputs == before.inputs:
            self.drop(before)  # the same again: samples are wanted
            return
        before.inputs = inputs
        if before.read and before.calls > 1:
            self.judge(before)
        for tensor in tensors_in(result):
            for off in _switched_off(tensor):
                others = self.modes.setdefault(off, [])
                _C._look_follow_cuts()
                if before not in others:
                    others.append(before)

    def drop(self, found: Unrecorded) -> None:
        assert found.place is not None
        self.unrecorded.pop(found.place[:2], None)
        for others in self.modes.values():
            if found in others:
                others.remove(found)

    def op(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if op.__name__ in _DROPOUTS and len(args) > 2 and args[1] and (place := here()) is not None:
            self.dropouts.setdefault(bool(args[2]), place)
        if not self.modes:
            return
        learns = any(tensor.requires_grad for tensor in tensors_in(result, 1))
        inputs = list(tensors_in(args, 2))
        if "batch_norm" in op.__name__:
            inputs = inputs[:1]  # the statistics that it keeps were changed by the calls before, whatever their results are for
        ours = [[line for line in _switched_off(tensor) if line in self.modes] for tensor in inputs]
        chooses = op.__name__.partition(".")[0] in _CHOICES
        for lines in ours:
            for line in lines:
                if op.__name__.partition(".")[0] in _DRAWS:
                    for found in self.modes[line]:
                        found.drawn = True
                if learns:
                    self.for_training.add(line)
                if chooses or any(line not in other for other in ours):
                    # A class, or a comparison with what is known: not a sample to look at. What the model computes itself is neither.
                    for found in self.modes[line]:
                        found.consumed = found.consumed or not _is_inside(found.model())

    def read(self, tensor: Any) -> None:
        if not self.modes or tensor.requires_grad:
            return
        for line in _switched_off(tensor):
            for found in list(self.modes.get(line, ())):
                if found.drawn:
                    self.given_out(found)
                    continue
                found.read = found.consumed = True
                # A number for the user, in a part of the program that does not train. In a loop the next call shows whether the same input comes again.
                if self.is_alone(found):
                    self.judge(found)

    def exported(self, tensor: Any) -> None:
        """Predictions, where no training follows: between steps they may be samples to look at."""
        if not self.modes or tensor.requires_grad:
            return
        for line in _switched_off(tensor):
            for found in list(self.modes.get(line, ())):
                self.given_out(found)

    def given_out(self, found: Unrecorded) -> None:
        found.exported = True
        if self.is_alone(found):
            found.consumed = True
            self.judge(found)

    def is_alone(self, found: Unrecorded) -> bool:
        """Whether it was called once, and in no training loop."""
        assert found.place is not None
        return not found.repeats and _in_loop_with(found.place, ("backward", "step")) is False

    def judge(self, found: Unrecorded) -> None:
        """The result was not for training."""
        model = found.model()
        lines = [line for line, others in self.modes.items() if found in others]
        also = training.forward_of(model)
        if model is None or also is None or found.look != watcher.looks or any(line in self.for_training for line in lines):
            return
        if not found.consumed or not lines or was_told("mode_confusion", found.place):
            return
        self.drop(found)
        name = model_name(model)
        if found.training:
            what = f"{name} is evaluated without gradients, and in training mode, as it is trained: {found.active} still active."
            fix = f"call `{name}.eval()` before the evaluation and `{name}.train()` after it."
        else:
            what = f"{name} is evaluated in evaluation mode, and {found.active} is active all the same: it does not ask for the mode."
            fix = "F.dropout(x, p, training=self.training), or an nn.Dropout that the model has as a member."
        tell(
            Finding(
                "mode_confusion",
                what,
                found.place,
                "dropout then draws random masks, and batch norm takes the statistics of the batch and changes its own: the results are not those of the model.",
                fix,
                also,
                "it is trained at",
            )
        )

    # -- evaluation mode with recording ---------------------------------------------

    def eval_recorded(self, call: Call, result: Any, idle: str) -> None:
        assert call.place is not None
        nodes = [node for tensor in tensors_in(result) if (node := node_of(tensor)) is not None]
        if not nodes:
            return
        for node in nodes:
            self.in_eval[node] = (weakref.ref(call.module), call.place, idle)
        spot = self.recorded.setdefault(call.place[:2], Recorded())
        spot.nodes = [ref for ref in spot.nodes if ref() is not None] + [weakref.ref(nodes[0])]
        spot.most = max(spot.most, len(spot.nodes))
        if len(spot.nodes) >= 4:
            self.kept(call.place, spot)

    def kept(self, place: Place, spot: Recorded) -> None:
        """Graphs of evaluations are alive, more than the variables of a loop hold, and no backward has been there."""
        nodes = [node for ref in spot.nodes if (node := ref()) is not None]
        if spot.used or len(nodes) < 2 or was_told("mode_confusion", place):
            return
        model = self.in_eval.get(nodes[-1])
        model = None if model is None else model[0]()
        if model is None:
            return
        own = {id(param) for param in model.parameters()}
        if any(is_leaf_node(node) and id(node.variable) not in own for node in walk(nodes)):
            return  # the gradient of an input is wanted
        wanted = set(nodes)
        tensors = [tensor for tensor in with_history() if not wanted.isdisjoint(walk([tensor.grad_fn]))]
        holders = sorted(holders_of([tensor.grad_fn for tensor in tensors]), key=lambda pair: -_reach(pair[0], wanted))
        also = None
        if holders:
            tensor, holder = next(((t, h) for t, h in holders if h.container is not None), holders[0])
            also = _holders.stored_at(holder, of_node(tensor.grad_fn))
        name = model_name(model)
        tell(
            Finding(
                "mode_confusion",
                f"the results of {counted(len(nodes), 'evaluation')} of {name} are kept with their graphs, and no backward used any of them.",
                place,
                "evaluation then takes the memory of training, more with every batch.",
                "evaluate under `with torch.no_grad():`, or store `.item()` or `.detach()` of what is kept.",
                also,
                "kept at",
            )
        )

    # -- training -------------------------------------------------------------------

    def before_backward(self, run: Run) -> None:
        nodes = set(run.graph.nodes) if self.recorded or self.in_eval else set()
        for spot in self.recorded.values():
            spot.used = spot.used or any(ref() in nodes for ref in spot.nodes)
        if not run.accumulate or not training.trains(run.graph.leaves):
            return
        self.trained_in_eval = [found for node, found in self.in_eval.items() if node in nodes]
        for (file, line), spot in self.recorded.items():
            if spot.most >= 2 and not any(ref() in nodes for ref in spot.nodes):
                self.kept(Place(file, line, ""), spot)
        for found in list(self.unrecorded.values()):
            if found.look == watcher.looks and not found.drawn:
                self.judge(found)

    def zeroed(self, owner: Any, params: list[Any], place: Place | None) -> None:
        if _C._training_step() and self.trained_in_eval:
            self.trained_in_eval = []

    def before_step(self, optimizer: Any, place: Place | None) -> None:
        self.moves({id(param) for param in parameters_of(optimizer) if param.grad is not None})

    def updated(self, leaf: Any, amount: Any, place: Place | None) -> None:
        self.moves({id(leaf)})

    def moves(self, params: set[int]) -> None:
        found, self.trained_in_eval = self.trained_in_eval, []
        for ref, call_place, idle in found:
            model = ref()
            if model is None or not any(id(param) in params for param in model.parameters()):
                continue
            calls = _mode_calls(model)
            layers = [(name, layer) for name, layer in _layers(model) if not layer.training and _learns(model, name, layer)]
            if not (layers or idle) or not calls or calls[-1].mode or calls[-1].site is None:
                continue
            site, name = Place(*calls[-1].site), model_name(model)
            tell(
                Finding(
                    "mode_confusion",
                    f"{name} is trained in evaluation mode: {_shown(layers) or idle} switched off.",
                    site,
                    "dropout then drops nothing, and batch norm does not learn its statistics.",
                    f"call `{name}.train()` before the training steps.",
                    None if same_line(site, call_place) else call_place,
                    "it is called for training at",
                )
            )

    def ending(self) -> None:
        for found in list(self.unrecorded.values()):
            is_last = found.run == _C._training_step()
            found.consumed = found.consumed or (found.exported and is_last)
            if is_last or not found.drawn:
                self.judge(found)
        for (file, line), spot in self.recorded.items():
            if spot.most >= 3:
                self.kept(Place(file, line, ""), spot)


def _reach(tensor: Any, wanted: set[Any]) -> int:
    return len(wanted.intersection(walk([tensor.grad_fn])))
