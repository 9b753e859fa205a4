"""A close look costs little because nearly nothing is told to Python: only the ops and nodes that may matter to a check (csrc/python/look.cpp)."""

from __future__ import annotations

import pytest

import retrograd as torch
from retrograd import _C, doctor, nn
from retrograd.doctor._watch import BAD_VALUES, BY_HAND, CUTS, PAIRS, SHAPES, watcher


@pytest.fixture
def told():
    """What the watcher is told of ops and nodes, by name."""
    names: list[str] = []

    class Look:
        def __call__(self, op, args, kwargs, *made):
            result = made[0] if made else op(*args, **kwargs)
            names.append(op.__name__)
            return result

    look = Look()
    _C._look_begin({"unsqueeze": SHAPES, "sub": PAIRS, "detach": CUTS}, 0)
    _C._push_look(look)
    yield names
    _C._drop_op_handler(look)
    _C._look_begin({}, 0)


def training_step(model, optimizer, x, y):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()


def test_an_ordinary_step_is_not_told(told):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    with doctor.off():
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            training_step(model, optimizer, torch.randn(5, 4), torch.randn(5, 1))
    assert told == []
    assert _C._look_used(False) == {id(p) for p in model.parameters()}
    assert _C._look_used(True) == {id(p) for p in model.parameters()}
    assert _C._look_used(True) == set()


def test_what_is_not_finite_is_told(told):
    x = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    torch.log(x)
    torch.log(x + 1)
    torch.log(x.t())  # read through its strides
    torch.log(x + 1).t()[:, 1:]  # gaps: that of which it is a view tells
    torch.empty(3)  # its values mean nothing
    (x.to(torch.bfloat16) + 1).to(torch.float32)  # cannot be read in passing
    assert told == ["log", "log", "_to_copy", "to.dtype", "add"]


def test_tensors_and_memory_that_are_followed_are_told(told):
    x, y = torch.ones(4), torch.ones(4)
    _C._look_follow(BY_HAND, [x.data_ptr()], True)
    x.view(2, 2)
    y + 1
    _C._look_follow(BAD_VALUES, (id(y),), False)
    y + 1
    _C._look_follow(BY_HAND, [], True)
    x + 1
    assert told == ["view", "add"]
    with pytest.raises(ValueError):
        _C._look_follow(7, [], True)
    with pytest.raises(TypeError):
        _C._look_follow(BY_HAND, ["x"], True)


def test_sizes_that_meet_are_told_and_shapes_given_on_purpose_remembered(told):
    prediction, target = torch.ones(3, 1, requires_grad=True), torch.ones(3)
    assert _C._look_shaped(target) is None
    column = target.unsqueeze(1)
    here = _C._look_shaped(column)
    assert here[0] == __file__ and here[2].startswith("test_sizes_that_meet")
    prediction - column
    assert told == []
    prediction - target
    assert told == ["sub"]


def test_a_cut_by_an_op_is_told(told):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    choice = y > 1
    assert told == ["gt"]
    choice.float()
    _C._look_follow_cuts()
    choice.float()
    assert told[1:] == ["_to_copy", "float.convert"]


def test_composites_are_seen_with_their_parts(told):
    x = torch.zeros(2, 2)
    torch.log(torch.matmul(x, x))
    nn.functional.linear(torch.full((1, 2), torch.inf), torch.ones(3, 2))
    assert told[0] == "log"
    assert told[-2:] == ["_linear", "linear"]


def test_errors_of_ops_pass_and_the_look_goes_on(told):
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.ones(2, 3) @ torch.ones(2, 3)
    torch.log(torch.zeros(1))
    assert told == ["log"]


def test_a_look_can_be_dropped_while_it_is_told():
    calls = []

    def look(op, args, kwargs, *made):
        calls.append(op.__name__)
        _C._drop_op_handler(look)
        return made[0]

    _C._look_begin({}, 0)
    _C._push_look(look)
    torch.log(torch.zeros(1))
    torch.log(torch.zeros(1))
    assert calls == ["log"]
    assert _C._top_op_handler() is None


def test_a_look_is_over_after_so_many_ops():
    seen = []

    def look(op, args, kwargs, *made):
        seen.append(_C._look_is_over())
        return made[0]

    _C._look_begin({}, 3)
    _C._push_look(look)
    x = torch.ones(2)
    for _ in range(5):
        x + 1
    _C._drop_op_handler(look)
    _C._look_begin({}, 0)
    assert seen == [True]


def test_leaves_that_get_zeros_are_kept_for_who_asks(monkeypatch):
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    nodes = []
    monkeypatch.setattr(watcher, "_busy", True)  # the checks do not ask
    monkeypatch.setattr(watcher, "node", lambda node, received, sent: nodes.append(node.name()))
    state = _C._doctor_state()
    _C._doctor_set(True, True, True)
    try:
        (torch.relu(-a) + b * 2).sum().backward()
    finally:
        _C._doctor_set(*state)
    assert nodes == ["ReluBackward0"]  # where something became zeros
    assert _C._look_sent() == {id(a): False, id(b): True}
    assert _C._look_sent() == {}


def test_nodes_behind_others():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    names = [node.name() for node in _C._reachable([y.grad_fn])]
    assert names == ["SumBackward0", "MulBackward0", "torch::autograd::AccumulateGrad"]
    assert [_C._is_leaf_node(node) for node in _C._reachable([y.grad_fn])] == [False, False, True]
    with pytest.raises(TypeError, match="takes nodes"):
        _C._reachable([3])


def test_values_that_say_nothing_are_not_told(monkeypatch):
    """Reading plain data costs what it does without a look; of what lost its history, and of parameters, it is told."""
    read = []
    monkeypatch.setattr(watcher, "read", read.append)
    data, weight = torch.arange(3.0), torch.ones(1, requires_grad=True)
    with torch.no_grad():
        cut = weight * 2
    loss = (weight * data).sum()
    state = _C._doctor_state()
    _C._doctor_set(True, True, True)
    try:
        for tensor in (data[0], data.sum(), loss, weight, cut, cut[0]):
            float(tensor)
        data.tolist()
        cut.tolist()
    finally:
        _C._doctor_set(*state)
    assert [tensor.shape for tensor in read] == [(1,), (1,), (), (1,)]
    assert read[0] is weight
    assert read[1] is cut
