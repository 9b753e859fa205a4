"""Of nested tensors, what PyTorch does not do, or gets wrong: derivatives of reductions, places of a strided one; the rest is in tests/programs/nested.py."""

import copy
import pickle

import pytest

import retrograd as torch


def pair(layout=torch.jagged):
    a, b = torch.arange(6.0).reshape(3, 2).requires_grad_(), torch.ones(1, 2, requires_grad=True)
    return a, b, torch.nested.as_nested_tensor([a, b], layout=layout)


def test_derivatives_of_reductions_and_transposes():
    a, b, x = pair()
    ((x * x).sum(1) * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert torch.equal(a.grad, 2 * a.detach() * torch.tensor([1.0, 2.0])) and torch.equal(b.grad, torch.tensor([[6.0, 8.0]]))
    a, b, x = pair()
    (x.transpose(1, 2).mean(-1) * torch.tensor([[3.0, 6.0], [1.0, 2.0]])).sum().backward()
    assert torch.equal(a.grad, torch.tensor([1.0, 2.0]).expand(3, 2)) and torch.equal(b.grad, torch.tensor([[1.0, 2.0]]))


def test_a_place_of_every_part():
    for layout in (torch.jagged, torch.strided):
        x = pair(layout)[2]
        for result in (x[..., 1], x.select(-1, 1)):
            assert [part.tolist() for part in result.unbind()] == [[1.0, 3.0, 5.0], [1.0]]


def test_a_transposed_one_is_copied_and_shown_as_it_is():
    _, _, x = pair()
    y = x.detach().transpose(1, 2)
    for z in (copy.deepcopy(y), pickle.loads(pickle.dumps(y)), y * 1):
        assert [tuple(part.shape) for part in z.unbind()] == [(2, 3), (2, 1)] and z.size(1) == 2 and torch.equal(z.values(), y.values())
    assert repr(y).startswith("NestedTensor(size=(2, 2, j), ")


@pytest.mark.parametrize("call", [
    lambda x: x.sum(0), lambda x: x.transpose(0, 1), lambda x: x.permute(1, 0, 2), lambda x: x.reshape(3, 2, 2), lambda x: x.chunk(2, 1), lambda x: x.narrow(1, 0, 1),
    lambda x: torch.ones(2, 2) @ x, lambda x: torch.cat([x, x], 1), lambda x: x.unsqueeze(0), lambda x: x[:, 0],
])  # fmt: skip
def test_what_goes_across_the_parts_is_refused_in_words(call):
    with pytest.raises(NotImplementedError, match="not supported for nested tensors"):
        call(pair()[2])
    with pytest.raises(IndexError, match="Dimension out of range"):
        pair()[2].sum(5)
