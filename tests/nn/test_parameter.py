"""Parameter and Buffer."""

import copy

import pytest


def test_makes_a_leaf_that_shares_memory(torch):
    data = torch.zeros(2)
    p = torch.nn.Parameter(data)
    assert p.requires_grad and p.is_leaf and isinstance(p, torch.Tensor)
    data[0] = 5.0
    assert p.tolist() == [5.0, 0.0]


def test_without_data(torch):
    assert torch.nn.Parameter().shape == (0,)


def test_history_of_the_data_is_dropped(torch):
    p = torch.nn.Parameter(torch.ones(2, requires_grad=True) * 2)
    assert p.is_leaf and p.grad_fn is None and p.tolist() == [2.0, 2.0]


def test_integers_need_requires_grad_false(torch):
    with pytest.raises(RuntimeError, match="floating point"):
        torch.nn.Parameter(torch.arange(3))
    assert not torch.nn.Parameter(torch.arange(3), requires_grad=False).requires_grad


def test_operations_give_plain_tensors(torch):
    p = torch.nn.Parameter(torch.ones(2))
    for result in (p + 1, p.detach(), p.data, p.clone(), p[0], p.view(1, 2), torch.stack([p, p])):
        assert type(result) is torch.Tensor


def test_of_a_parameter(torch):
    p = torch.nn.Parameter(torch.ones(2))
    q = torch.nn.Parameter(p, requires_grad=False)
    assert type(q) is torch.nn.Parameter and q.data_ptr() == p.data_ptr() and not q.requires_grad


def test_of_another_subclass(torch):
    class Marked(torch.Tensor):
        pass

    p = torch.nn.Parameter(torch.ones(2).as_subclass(Marked))
    assert type(p) is Marked and isinstance(p, torch.nn.Parameter) and p.requires_grad
    assert not isinstance(torch.ones(2).as_subclass(Marked), torch.nn.Parameter)
    module = torch.nn.Module()
    module.p = p
    assert dict(module.named_parameters()).keys() == {"p"}


def test_isinstance_of_tensors(torch):
    assert not isinstance(torch.ones(1), torch.nn.Parameter)
    assert not isinstance(3, torch.nn.Parameter)


def test_deepcopy_has_no_grad(torch):
    p = torch.nn.Parameter(torch.ones(2))
    (p * 2).sum().backward()
    c = copy.deepcopy(p)
    assert type(c) is torch.nn.Parameter and c.grad is None and c.requires_grad
    assert c.data_ptr() != p.data_ptr()
    memo = {}
    assert copy.deepcopy([p, p], memo)[0] is memo[id(p)]


def test_repr(torch):
    assert repr(torch.nn.Parameter(torch.zeros(2))) == "Parameter containing:\ntensor([0., 0.], requires_grad=True)"


def test_hash_and_sets(torch):
    p, q = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    assert len({p, q, p}) == 2


def test_buffer_is_a_marked_tensor(torch):
    b = torch.nn.Buffer(torch.ones(2), persistent=False)
    assert type(b) is torch.Tensor and isinstance(b, torch.nn.Buffer) and b.persistent is False
    assert not isinstance(torch.ones(2), torch.nn.Buffer)
