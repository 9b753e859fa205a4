"""A training step, watched once, as a row of moments; and the same row as it will be when some blocks run under a checkpoint.

What is computed does not depend on checkpoints, nor does the order of nodes in backward: only what is kept does. So the bytes of a moment are those that graphs or the program keep, which
follow from who keeps what, and a rest (gradients, what ops and backward compute with), which stays as it was measured. With blocks checkpointed

- a graph keeps what nodes outside of them saved and what went into them,
- what the program itself holds is there for as long as that (a skip connection, the result in a variable),
- when backward reaches such a block it computes it again: that takes once more what its forward took, and from then on what its nodes saved is there until they have run.
"""

from __future__ import annotations

import functools
import gc
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence, Set
from itertools import accumulate
from typing import Any, NamedTuple

from retrograd import _C
from retrograd.autograd.graph import saved_tensors_hooks
from retrograd.doctor._memory import _tensors_in


class Moment:
    """An op of forward, what lies between two, or a node of backward that runs."""

    __slots__ = ("before", "most", "node", "run")

    def __init__(self, run: int, node: int, before: int, most: int) -> None:
        self.run = run  # which backward, -1 for none
        self.node = node  # its number
        self.before = before  # bytes of tensors when it begins
        self.most = most


class Piece:
    """Memory that tensors of the program are on, or were."""

    __slots__ = ("alias", "born", "count", "left", "size")

    def __init__(self, size: int, born: int) -> None:
        self.size = size
        self.born = born  # the moment when it was taken; -1: before the step
        self.left: int | None = max(born, 0)  # and when the program let go of it, None if it did not
        self.count = 0  # of its tensors
        self.alias: weakref.ref[Any] | None = None  # what a node holds of it

    @property
    def is_there(self) -> bool:
        return self.count > 0 or (self.alias is not None and self.alias() is not None)


class Kept(NamedTuple):
    """A saved tensor."""

    number: int  # of its node, or of a later one that is no part of backward
    piece: Piece
    since: int  # the moment when it was saved
    alias: weakref.ref[Any]  # what the node holds


class Call(NamedTuple):
    """One call of a module."""

    path: str
    first: int  # number of the first node made in it
    end: int  # and of the first one after it
    begins: int  # its moments
    ends: int
    before: int  # bytes of tensors when it began
    inputs: frozenset[Piece]  # what went in


class Recording:
    """Watches what runs inside of it.

    Nodes are given aliases to keep, so that the tensors themselves live as long as the program holds them.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.moments: list[Moment] = []
        self.calls: list[Call] = []
        self.runs: list[list[Kept]] = []  # what graphs keep when a backward begins
        self._kept: list[Kept] = []
        self._tensors: dict[int, weakref.ref[Any]] = {}
        self._pieces: dict[int, Piece] = {}  # by address, the last that was there
        self._tasks: dict[int, int] = {}
        self._open: list[tuple[int, int, int, frozenset[Piece]]] = []
        self._handles: list[Any] = []
        self._hooks = saved_tensors_hooks(self._pack, lambda alias: alias)
        self._now = 0

    def __enter__(self) -> Recording:
        for path, module in self.model.named_modules():
            self._handles.append(module.register_forward_pre_hook(self._begin, with_kwargs=True))
            self._handles.append(module.register_forward_hook(functools.partial(self._end, path), always_call=True))
        gc.collect()  # garbage that went away later would count
        self._paused = _C._look_pause(True)
        _, _, _, self._now = _C._moment()
        self._hooks.__enter__()
        _C._push_op_handler(self._op)
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._mark()
        _C._pop_op_handler()
        self._hooks.__exit__(*exc_info)
        _C._look_pause(self._paused)
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._tensors.clear()
        self._kept = []

    def _begin(self, _module: Any, args: Any, kwargs: Any) -> None:
        made = self._mark()
        self._follow((args, kwargs), -1)
        inputs = frozenset(self._piece(t, -1) for t in _tensors_in((args, kwargs)))
        self._open.append((made, len(self.moments), self._now, inputs))

    def _end(self, path: str, _module: Any, _args: Any, _result: Any) -> None:
        first, begins, before, inputs = self._open.pop()
        end = self._mark()
        self.calls.append(Call(path, first, end, begins, len(self.moments), before, inputs))

    def _op(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._mark()
        self._follow((args, kwargs), -1)
        result = op(*args, **kwargs)
        self._mark()
        self._follow(result, len(self.moments))
        return result

    def _pack(self, tensor: Any) -> Any:
        number = self._mark() - 1
        now = len(self.moments)
        self._follow(tensor, now)
        alias = _C._strip_history(tensor)
        piece = self._piece(tensor, now)
        piece.alias = weakref.ref(alias)
        self._kept.append(Kept(number, piece, now, piece.alias))
        return alias

    def _follow(self, values: Any, born: int) -> None:
        """Notes how long tensors of the program live; what backward reads are the aliases."""
        for t in _tensors_in(values) if not _C._in_backward() else ():
            if id(t) not in self._tensors:
                piece = self._piece(t, born)
                piece.count += 1
                piece.left = None
                self._tensors[id(t)] = weakref.ref(t, functools.partial(self._died, id(t), piece))

    def _died(self, number: int, piece: Piece, _reference: Any) -> None:
        if self._tensors.pop(number, None) is not None:
            piece.count -= 1
            if piece.count == 0:
                piece.left = len(self.moments)

    def _piece(self, tensor: Any, born: int) -> Piece:
        """The memory of a tensor, which was taken at a moment if it was not there before."""
        address, size = _C._memory_of(tensor)
        piece = self._pieces.get(address)
        if piece is None or not piece.is_there:
            piece = self._pieces[address] = Piece(size, born)
        return piece

    def _mark(self) -> int:
        """Notes the most bytes since the last mark."""
        made, node, most, now = _C._moment()
        if most <= self._now:  # nothing was taken that was not there at the last mark
            most = now
        self._now = now
        if not _C._in_backward():
            self.moments.append(Moment(-1, 0, now, most))
            return made
        task = _C._current_graph_task_id()
        if task not in self._tasks:
            self._tasks[task] = len(self.runs)
            self._kept = [kept for kept in self._kept if kept.alias() is not None]
            self.runs.append(self._kept)
        run, last = self._tasks[task], self.moments[-1]
        if last.run == run and (node < 0 or node == last.node):  # none: a gradient is accumulated
            last.most = max(last.most, most)
        else:
            self.moments.append(Moment(run, node if node >= 0 else made, now, most))
        return made


class _Stay(NamedTuple):
    """From one moment to another."""

    start: int
    end: int


class _Memory:
    """Something that a graph keeps."""

    def __init__(self, size: int) -> None:
        self.size = size
        # Who keeps it: a block, whether that has to be checkpointed for it, or not to be, and for how long. The longest first: each stay is inside of those before.
        self.holds: list[tuple[int, bool, _Stay]] = []
        self.program = _Stay(0, 0)  # while the program holds it
        self.again: dict[int, _Stay] = {}  # by the block that makes it once more if it is checkpointed

    def stays(self, checkpointed: Set[int]) -> Iterator[_Stay]:
        """When it is there, each time in memory of its own."""
        kept = next((stay for block, needed, stay in self.holds if (block in checkpointed) == needed), None)
        if kept is None:
            yield self.program
        elif self.program.end < kept.start:
            yield self.program
            yield kept
        else:
            yield _Stay(self.program.start, max(self.program.end, kept.end))
        for block, again in self.again.items():
            if block in checkpointed:
                yield again


class _Return(NamedTuple):
    """Backward comes to a block."""

    moment: int
    taken: int  # by computing it again, at the most


class Peak(NamedTuple):
    """The moment at which most is taken."""

    bytes: int
    moment: int


class Timeline:
    """What a step takes, moment by moment, depending on which of its blocks are checkpointed.

    Args:
        recording: of a step without them.
        blocks: calls that a checkpoint may stand around, in order, none inside another.
        random_bytes: of the state of the random numbers, which a checkpoint keeps.
    """

    def __init__(self, recording: Recording, blocks: Sequence[Call], random_bytes: int) -> None:
        self.blocks = blocks
        self._moments = recording.moments
        self._random_bytes = random_bytes
        self._memories: list[_Memory] = []
        self._by_block: list[list[_Memory]] = [[] for _ in blocks]  # those that change with it
        self._states: list[_Stay] = [_Stay(0, 0) for _ in blocks]
        self._returns: dict[int, _Return] = {}
        later: Set[int] = set()
        for run, kept in reversed(list(enumerate(recording.runs))):
            self._add_run(run, [entry for entry in kept if id(entry) not in later])
            later = {id(entry) for entry in kept}
        held = self._held(frozenset())
        self._rest = [m.most - kept for m, kept in zip(self._moments, held, strict=True)]
        self._rest_before = [m.before - kept for m, kept in zip(self._moments, held, strict=True)]

    def _add_run(self, run: int, kept: Sequence[Kept]) -> None:
        """What is kept until this backward."""
        back = [(i, -m.node) for i, m in enumerate(self._moments) if m.run == run]
        numbers = [number for _, number in back]  # ascending: the newest node comes first
        over = back[-1][0] + 1

        def done(number: int) -> int:
            """The moment when a node has run."""
            own = bisect_left(numbers, -number)  # the node itself, or the next that runs
            return back[own + 1][0] if own + 1 < len(back) else over

        begins = [block.begins for block in self.blocks]
        nodes: dict[Piece, dict[int, _Stay]] = {}  # by block, -1 for none: the longest that one of its nodes keeps it
        last: dict[int, int] = {}  # by block, the moment when it saves something for the last time
        for entry in kept:
            at = bisect_right(begins, entry.since) - 1
            i = at if at >= 0 and entry.since < self.blocks[at].ends else -1
            last[i] = max(last.get(i, 0), entry.since)
            stays = nodes.setdefault(entry.piece, {})
            before = stays.get(i, _Stay(entry.since, 0))
            stays[i] = _Stay(min(before.start, entry.since), max(before.end, done(entry.number)))
        entered: dict[Piece, list[int]] = {}
        for i, block in enumerate(self.blocks):
            at = bisect_left(numbers, 1 - block.end)
            if (saved := last.get(i)) is not None and at < len(back):
                taken = max(m.most for m in self._moments[block.begins : saved]) - block.before
                self._returns[i] = _Return(back[at][0], taken)
                self._states[i] = _Stay(block.begins, max(stays[i].end for stays in nodes.values() if i in stays))
                for piece in block.inputs:
                    entered.setdefault(piece, []).append(i)
        for piece in {**nodes, **entered}:
            memory = _Memory(piece.size)
            stays = nodes.get(piece, {})
            holders = [(stay, block, False) for block, stay in stays.items()] + [(self._states[i], i, True) for i in entered.get(piece, ())]
            memory.holds = [(block, needed, stay) for stay, block, needed in sorted(holders)]
            memory.program = _Stay(max(piece.born, 0), len(self._moments) if piece.left is None else piece.left)
            memory.again = {
                i: _Stay(self._returns[i].moment, stay.end)
                for i, stay in stays.items()
                if i in self._returns and piece.born >= self.blocks[i].begins
            }
            self._memories.append(memory)
            for i in {*stays, *entered.get(piece, ())} - {-1}:
                self._by_block[i].append(memory)

    def _held(self, checkpointed: Set[int]) -> list[int]:
        """The bytes that graphs keep, at each moment."""
        change = [0] * (len(self._moments) + 1)

        def add(stay: _Stay, size: int) -> None:
            if stay.start < stay.end:
                change[stay.start] += size
                change[stay.end] -= size

        for memory in self._memories:
            for stay in memory.stays(checkpointed):
                add(stay, memory.size)
        for i in checkpointed:
            add(self._states[i], self._random_bytes)
        return list(accumulate(change[:-1]))

    def peak(self, checkpointed: Set[int]) -> Peak:
        """Of a step with these blocks checkpointed."""
        held = self._held(checkpointed)
        best = max((Peak(kept + rest, i) for i, (kept, rest) in enumerate(zip(held, self._rest, strict=True))), default=Peak(0, 0))
        for i in checkpointed:
            if (at := self._returns.get(i)) is not None:
                made = sum(memory.size for memory in self._by_block[i] if i in memory.again)
                most = self._rest_before[at.moment] + held[at.moment] - made + at.taken + self._random_bytes
                best = max(best, Peak(most, at.moment))
        return best

    def gain(self, checkpointed: Set[int], more: Set[int], moment: int) -> int:
        """How much less is kept at a moment once more blocks are checkpointed."""
        changing = {memory for i in more for memory in self._by_block[i]}

        def there(checkpointed: Set[int]) -> int:
            return sum(memory.size for memory in changing for start, end in memory.stays(checkpointed) if start <= moment < end)

        return there(checkpointed) - there(checkpointed | more)
