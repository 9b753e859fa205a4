"""nn.utils: clipping, parameters as a vector, padding."""

import math

import pytest


def with_grads(torch, *grads):
    params = []
    for grad in grads:
        p = torch.nn.Parameter(torch.zeros(len(grad)))
        p.grad = torch.tensor(grad)
        params.append(p)
    return params


@pytest.mark.parametrize(
    ("norm_type", "total"), [(2.0, 13.0), (1.0, 19.0), (math.inf, 12.0), (3, (27 + 64 + 1728) ** (1 / 3)), ("inf", 12.0)]
)
def test_clip_grad_norm(torch, norm_type, total):
    params = with_grads(torch, [3.0, 4.0], [12.0])
    assert torch.nn.utils.clip_grad_norm_(params, 1.0, norm_type).item() == pytest.approx(total)
    factor = 1 / (total + 1e-6)
    assert [g for p in params for g in p.grad.tolist()] == pytest.approx([3 * factor, 4 * factor, 12 * factor])


def test_clip_leaves_small_gradients(torch):
    params = with_grads(torch, [0.3, 0.4])
    assert torch.nn.utils.clip_grad_norm_(iter(params), 1.0).item() == pytest.approx(0.5)
    assert params[0].grad.tolist() == pytest.approx([0.3, 0.4])


def test_clip_without_gradients(torch):
    p = torch.nn.Parameter(torch.ones(1))
    assert torch.nn.utils.clip_grad_norm_(p, 1.0).item() == 0.0
    with pytest.warns(UserWarning, match="`parameters` is an empty generator, no gradient clipping will occur"):
        torch.nn.utils.clip_grad_norm_((q for q in []), 1.0)


def test_clip_nonfinite(torch):
    params = with_grads(torch, [math.nan, 1.0])
    with pytest.raises(
        RuntimeError, match=r"The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot be clipped"
    ):
        torch.nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
    assert math.isnan(torch.nn.utils.clip_grad_norm_(params, 1.0).item())


def test_total_norm_and_clip_with_norm(torch):
    params = with_grads(torch, [3.0, 4.0])
    total = torch.nn.utils.get_total_norm([p.grad for p in params])
    assert total.item() == 5.0
    torch.nn.utils.clip_grads_with_norm_(params, 2.5, total)
    assert params[0].grad.tolist() == pytest.approx([1.5, 2.0])


def test_clip_value(torch):
    params = with_grads(torch, [-3.0, 0.5], [4.0])
    torch.nn.utils.clip_grad_value_(params, 1.0)
    assert [p.grad.tolist() for p in params] == [[-1.0, 0.5], [1.0]]


def test_parameters_as_a_vector(torch):
    m = torch.nn.Linear(2, 1)
    vector = torch.nn.utils.parameters_to_vector(m.parameters())
    assert vector.shape == (3,) and vector.requires_grad
    torch.nn.utils.vector_to_parameters(torch.arange(3.0), m.parameters())
    assert m.weight.tolist() == [[0.0, 1.0]] and m.bias.tolist() == [2.0] and m.weight.requires_grad
    with pytest.raises(TypeError, match=r"expected torch.Tensor, but got: list"):
        torch.nn.utils.vector_to_parameters([1.0], m.parameters())


def test_pad_sequence(torch):
    pad = torch.nn.utils.rnn.pad_sequence
    a, b = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0], requires_grad=True)
    assert pad([a, b]).tolist() == [[1.0, 4.0], [2.0, 0.0], [3.0, 0.0]]
    assert pad([a, b], batch_first=True, padding_value=-1.0).tolist() == [[1.0, 2.0, 3.0], [4.0, -1.0, -1.0]]
    assert pad((a, b), batch_first=True, padding_side="left").tolist() == [[1.0, 2.0, 3.0], [0.0, 0.0, 4.0]]
    assert pad([torch.ones(2, 5), torch.ones(3, 5)]).shape == (3, 2, 5)
    pad([a, b]).sum().backward()
    assert b.grad.tolist() == [1.0]
    with pytest.raises(RuntimeError, match="received an empty list of sequences"):
        pad([])
    with pytest.raises(RuntimeError, match="Expected padding_side to be one of left or right, but got up"):
        pad([a], padding_side="up")
    with pytest.raises(TypeError, match="expected Tensor as element 0 in argument 0, but got int"):
        pad([1, 2])


def test_unpad_sequence(torch):
    rnn = torch.nn.utils.rnn
    sequences = [torch.tensor([1.0, 2.0]), torch.tensor([3.0])]
    back = rnn.unpad_sequence(rnn.pad_sequence(sequences), torch.tensor([2, 1]))
    assert [s.tolist() for s in back] == [[1.0, 2.0], [3.0]]


def test_tuples(torch):
    from importlib import import_module

    utils = import_module(f"{torch.__name__}.nn.modules.utils")
    assert utils._pair(3) == (3, 3) and utils._triple([1, 2, 3]) == (1, 2, 3) and utils._single(2) == (2,)
    assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)


def test_consume_prefix(torch):
    from importlib import import_module

    utils = import_module(f"{torch.__name__}.nn.modules.utils")
    wrapper = torch.nn.Module()
    wrapper.module = torch.nn.Linear(2, 1)
    state = wrapper.state_dict()
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    torch.nn.Linear(2, 1).load_state_dict(state)
    assert list(state) == ["weight", "bias"] and "module" not in state._metadata
