"""graph_leak: graphs of earlier steps that stay alive, more of them with every step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from retrograd import _C
from retrograd.doctor import _findings, _holders
from retrograd.doctor._books import WeakTable, node_of, training
from retrograd.doctor._checks.by_hand import pointer, total, version
from retrograd.doctor._findings import Finding, counted, tell
from retrograd.doctor._graph import is_leaf_node, saved, walk
from retrograd.doctor._places import Place, of_node
from retrograd.doctor._watch import Check, Run

LONG = 4  # steps that a chain goes over
SHORT = 8  # steps kept before a holder that begins anew for each epoch is told of
PATIENT = 12  # steps kept before a holder that is also emptied is told of


def with_history() -> list[Any]:
    """The living tensors that have a graph."""
    return [tensor for tensor in _C._old_tensors(_C._training_step() + 1) if node_of(tensor) is not None]


class Moves:
    """Leaves that no backward has reached, and that are written to all the same, such as the weights of a moving average."""

    def __init__(self) -> None:
        self.seen: WeakTable[tuple[tuple[int, int, float], list[int]]] = (
            WeakTable()
        )  # their values, and the last runs by which those were others

    def outdated(self, leaf: Any, run: int) -> int:
        """Graphs before this run are of no use for a leaf, whose values were others two times since."""
        if leaf in training.leaves:
            return 0
        values = pointer(leaf), version(leaf), total(leaf)
        before, runs = self.seen.get(leaf) or (values, [])
        if values != before:
            runs = [*runs[-1:], run]
        self.seen[leaf] = values, runs
        return runs[0] if len(runs) == 2 else 0


class Kept:
    """The graphs that living tensors hold after a backward, but for what it has just run. Holds them too: for the time of one event."""

    def __init__(self, run: Run, moves: Moves) -> None:
        just_run = set(run.graph.nodes)
        self.tensors = [tensor for tensor in with_history() if tensor.grad_fn not in just_run]
        self.nodes = sorted(walk(tensor.grad_fn for tensor in self.tensors), key=lambda node: node._sequence_nr())  # oldest first
        # For every node, what can be reached from it: the steps, as bits, whether a backward has been there, and before which step it is outdated. A leaf's
        # own node is as old as the leaf, and no part of any step.
        leaves = {
            node: training.outdated(node.variable) or moves.outdated(node.variable, run.number) for node in self.nodes if is_leaf_node(node)
        }
        inner = [node for node in self.nodes if node not in leaves]
        self.first = first = min((node._step for node in inner), default=0)
        self.steps: dict[Any, int] = dict.fromkeys(leaves, 0)
        self.used: dict[Any, bool] = dict.fromkeys(leaves, False)
        self.outdated: dict[Any, int] = dict(leaves)
        # A leaf that is trained, which tells the graphs of one model from those of another: the one that comes first. 0 where there is none.
        self.model: dict[Any, int] = {node: id(node.variable) if training.is_trained(node.variable) else 0 for node in leaves}
        for node in inner:
            self.model[node] = min((model for child, _ in node.next_functions if (model := self.model.get(child))), default=0)
            steps, used, outdated = 1 << (node._step - first), node._freed, 0
            for child, _ in node.next_functions:
                steps |= self.steps.get(child, 0)
                used = used or self.used.get(child, False)
                outdated = max(outdated, self.outdated.get(child, 0))
            self.steps[node], self.used[node], self.outdated[node] = steps, used, outdated

    def span(self, tensor: Any) -> int:
        return self.steps[tensor.grad_fn].bit_count()

    def is_useless(self, tensor: Any) -> bool:
        """Whether no backward can, or none will, go through all of the graph again: a part is freed, or its parameters have long been moved."""
        node = tensor.grad_fn
        since = node._step
        if self.span(tensor) >= LONG:  # of a chain the oldest part counts
            steps = self.steps[node]
            since = self.first + (steps & -steps).bit_length() - 1
        return self.used[node] or self.outdated[node] > since


def saved_bytes(nodes: Iterable[Any]) -> int:
    """What nodes keep for backward, each memory once."""
    sizes: dict[int, int] = {}
    for node in nodes:
        for _, tensor in saved(node) if not node._freed else ():
            if tensor.layout == _C.strided:
                storage = tensor.untyped_storage()
                sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())


def holders_of(nodes: list[Any]) -> Iterator[tuple[Any, _holders.Holder]]:
    """The tensors whose grad_fn is one of these, and who keeps them."""
    tensors = [tensor for tensor in with_history() if any(tensor.grad_fn is node for node in nodes)]
    holders = _holders.find(tensors)
    return ((tensor, holders[id(tensor)]) for tensor in tensors if id(tensor) in holders)


def ends(tensors: list[Any]) -> list[Any]:
    """Those that no other of the same step is computed from. Others live for the sake of the graph, and to look for whoever else has them takes long."""
    inner: set[Any] = set()
    for tensor in tensors:
        step = tensor.grad_fn._step
        queue = [child for child, _ in tensor.grad_fn.next_functions]
        while queue:
            node = queue.pop()
            if node is not None and node not in inner and node._step == step:
                inner.add(node)
                queue.extend(child for child, _ in node.next_functions)
    return [tensor for tensor in tensors if tensor.grad_fn not in inner]


def joint(tensor: Any, steps: dict[Any, int]) -> Place | None:
    """The op at which a chain goes on: the newest one that reads something which is a chain itself."""
    chain = [node for node in walk([tensor.grad_fn]) if steps[node].bit_count() >= 3]
    for node in sorted(chain, key=lambda node: -node._sequence_nr()):
        if any(child is not None and child._step < node._step and steps[child].bit_count() >= 2 for child, _ in node.next_functions):
            return of_node(node)
    return of_node(tensor.grad_fn)


class GraphLeak(Check):
    def __init__(self) -> None:
        self.moves = Moves()
        self.sizes: dict[tuple[str, int], tuple[int, int]] = {}  # by the line that makes what is kept: how much, and how often that grew
        # How much it has to be before its holders are searched for again. Nobody was found, as of a cycle, which waits for the collector; or nobody who
        # held enough of it. A search takes long.
        self.next: dict[tuple[str, int], int] = {}
        self.rooms: dict[tuple[str, str], int] = {}  # how long the containers were whose objects hold something, by name and file

    forget = __init__

    def after_backward(self, run: Run) -> None:
        if any(finding.code == "retain_graph_leak" for finding in _findings.found):
            return  # the same graphs, told of already
        kept = Kept(run, self.moves)
        groups: dict[tuple[str, int], list[Any]] = {}
        for tensor in kept.tensors:
            if (site := tensor.grad_fn._site) is not None and kept.is_useless(tensor):
                groups.setdefault(site, []).append(tensor)
        before, self.sizes = self.sizes, {}
        for site, tensors in groups.items():
            # Of a chain the newest holds all; what is kept side by side counts by its number.
            steps: dict[int, set[int]] = {}
            for tensor in tensors:
                steps.setdefault(kept.model[tensor.grad_fn], set()).add(tensor.grad_fn._step)
            size = max(*(kept.span(tensor) for tensor in tensors), *map(len, steps.values()))
            chain = max((kept.span(tensor) for tensor in tensors if not kept.used[tensor.grad_fn]), default=0)
            last, growths = before.get(site, (0, chain - 1 if chain >= LONG else 0))  # a long chain has grown before
            self.sizes[site] = size, growths + (size > last) if size >= last else 0
        grown = [site for site, (size, growths) in self.sizes.items() if growths >= 2 and size >= max(2, self.next.get(site, 0))]
        for site in sorted(grown, key=lambda site: -self.sizes[site][0]):
            if self.look(kept, Place(*site, ""), groups[site], self.sizes[site][1]):
                return

    def look(self, kept: Kept, line: Place, tensors: list[Any], growths: int) -> bool:
        if growths < 3 and not all(kept.used[tensor.grad_fn] for tensor in tensors):
            return False
        chains = [tensor for tensor in tensors if kept.span(tensor) >= 3]
        held = _holders.find(chains)
        for tensor in sorted(chains, key=lambda tensor: -kept.span(tensor)):
            if (holder := held.get(id(tensor))) is None:
                continue
            line = joint(tensor, kept.steps) or line
            what = f"{holder.shown} is computed from itself, step after step, and holds the graph of every step"
            self.say([tensor], holder, line, _holders.stored_at(holder, line), what)
            return True
        return self.held(line, tensors)

    def held(self, line: Place, tensors: list[Any]) -> bool:
        tensors = ends(tensors)
        holders = _holders.find(tensors)
        size = self.sizes[line[:2]][0]
        by_name: dict[tuple[str, str], list[Any]] = {}
        of_objects: set[tuple[str, str]] = set()
        for tensor in tensors:
            holder = holders.get(id(tensor))
            if holder is not None and holder.container is None:  # an attribute of one of many objects, a variable of one of many functions
                holder = holder.outer
                of_objects.update([] if holder is None else [(holder.name, holder.file)])
            if holder is not None:
                holders[id(tensor)] = holder
                by_name.setdefault((holder.name, holder.file), []).append(tensor)
        growing = [kept for kept in by_name.values() if not holders[id(kept[-1])].is_window]
        if not growing:
            self.next[line[:2]] = max(2 * size, _holders.WINDOW if by_name else 0)
            return False
        most = max(growing, key=len)
        holder = holders[id(most[-1])]
        is_fixed = (holder.name, holder.file) in of_objects or isinstance(holder.container, tuple)  # what holds it cannot hold more
        if is_fixed and not self._has_grown(holder, size, line):
            return False
        patience = PATIENT if holder.is_bounded else SHORT if holder.is_renewed else 2
        if len(most) < patience:
            # Again when it can have come to the end of patience, or much later where that is far.
            self.next[line[:2]] = 2 * size if 2 * len(most) < size else size + patience - len(most)
            return False
        base = holder.shown.rpartition("[")[0] or holder.shown
        limit = "" if holder.most is None else f", {holder.most:,} at most"
        what = f"{base} holds {counted(len(most), 'tensor')} of earlier steps with their graphs, and more with every step{limit}"
        self.next[line[:2]] = 2 * size  # once per line is enough
        self.say(most, holder, line, _holders.stored_at(holder, line), what)
        return True

    def _has_grown(self, holder: _holders.Holder, size: int, line: Place) -> bool:
        """Whether there are more objects, or longer tuples, than before. A few workers that have their last loss are no more than they were."""
        name = (holder.name, holder.file)
        before = self.rooms.get(name)
        self.rooms[name] = holder.room
        self.next[line[:2]] = size + 1 if before is None else 2 * size
        return before is not None and holder.room > before

    def say(self, tensors: list[Any], holder: _holders.Holder, line: Place | None, stored: Place | None, what: str) -> None:
        nodes = [node for node in walk(tensor.grad_fn for tensor in tensors) if not is_leaf_node(node)]
        steps = sorted(node._step for node in nodes)
        size = saved_bytes(nodes)
        amount = counted(len(nodes), "node") + (f", {size:,} bytes saved for backward" if size else "")
        base = holder.shown.partition("[")[0]
        fix = "store the value without its history: .item() for a number, as in `{}`, or .detach() for a tensor."
        if holder.name == "grad" and holder.container is None:
            example, fix = (
                base,
                "set `{} = None` for each step, as zero_grad() does, rather than zero it in place; or leave create_graph out.",
            )
        elif (stored is not None or holder.container is None) and (
            written := _holders.without_history(stored if stored != line else None, line, all(t.numel() == 1 for t in tensors))
        ):
            example = written
            if not written.endswith((".item()", ".item())", ".item()))")):
                fix = "store the value without its history, as in `{}`."
        elif hasattr(holder.container, "cache_clear"):
            example, fix = base, "empty the cache after each step, as in `{}.cache_clear()`, or compute the value in every step."
        elif isinstance(holder.container, list) and stored == line:  # it may be needed with its history, until the next backward
            example, fix = base, "empty it after each step, as in `{}.clear()`, or store .detach() of the value."
        elif holder.container is None:
            example = f"{base} += loss.item()"
        else:
            example = f"{base}[...] = loss.item()" if isinstance(holder.container, dict) else f"{base}.append(loss.item())"
        tell(
            Finding(
                "graph_leak",
                f"{what}: {amount}, from steps {steps[0] + 1} to {steps[-1] + 1}, held by `{base}`.",
                line,
                f"memory grows with every step until {'it runs out' if holder.most is None else 'the limit is reached'}, and no backward will ever use these graphs.",
                fix.format(example),
                stored,
                "stored at",
            )
        )
