"""Optimizer: groups, state, hooks, gradients, closures."""

import copy
import pickle

import pytest

import retrograd


def params(torch, n=2):
    return [torch.nn.Parameter(torch.ones(2)) for _ in range(n)]


# -- groups -------------------------------------------------------------------------


def test_defaults_fill_groups(torch):
    a, b = params(torch)
    o = torch.optim.SGD([{"params": [a], "lr": 1.0}, {"params": b, "momentum": 0.5}], lr=0.1)
    assert [(g["lr"], g["momentum"], len(g["params"])) for g in o.param_groups] == [(1.0, 0, 1), (0.1, 0.5, 1)]
    assert o.defaults["lr"] == 0.1


def test_generators_and_modules(torch):
    m = torch.nn.Linear(2, 1)
    o = torch.optim.SGD(m.parameters(), lr=0.1)
    assert o.param_groups[0]["params"] == list(m.parameters())
    o = torch.optim.SGD(m.named_parameters(), lr=0.1)
    assert o.param_groups[0]["param_names"] == ["weight", "bias"]


def test_add_param_group(torch):
    a, b = params(torch)
    o = torch.optim.SGD([a], lr=0.1)
    o.add_param_group({"params": b, "lr": 0.5})
    assert len(o.param_groups) == 2 and o.param_groups[1]["lr"] == 0.5


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda t, o, p: t.optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
        (lambda t, o, p: t.optim.SGD(p[0]), TypeError, "params argument given to the optimizer should be an iterable of Tensors or dicts"),
        (lambda t, o, p: t.optim.SGD([3]), TypeError, "optimizer can only optimize Tensors, but one of the params is int"),
        (lambda t, o, p: t.optim.SGD([p[0] * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda t, o, p: t.optim.SGD([{"params": {p[0]}}]), TypeError, "optimizer parameters need to be organized in ordered collections"),
        (lambda t, o, p: o.add_param_group([p[0]]), TypeError, "param_group must be a dict, but got <class 'list'>"),
        (lambda t, o, p: o.add_param_group({"params": p[0]}), ValueError, "some parameters appear in more than one parameter group"),
        (lambda t, o, p: t.optim.SGD([("a", p[0]), p[1]]), ValueError, "all optimizer params should be with/without names"),
        (lambda t, o, p: o.add_param_group({"params": [("a", p[1])]}), ValueError, "cannot add param group with names to the optimizer"),
    ],
)
def test_refusals(torch, call, kind, words):
    p = params(torch)
    with pytest.raises(kind, match=words):
        call(torch, torch.optim.SGD(p[:1], lr=0.1), p)


def test_duplicates_warn(torch):
    (p,) = params(torch, 1)
    with pytest.warns(UserWarning, match="optimizer contains a parameter group with duplicate parameters"):
        torch.optim.SGD([p, p])


# -- text -----------------------------------------------------------------------------


def test_repr(torch):
    a, b = params(torch)
    o = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)
    group = "    differentiable: False\n    foreach: None\n    fused: None\n    lr: {}\n    maximize: False\n    momentum: 0\n"
    group += "    nesterov: False\n    weight_decay: 0\n"
    assert (
        repr(o)
        == f"SGD (\nParameter Group 0\n    dampening: 0\n{group.format(0.1)}\nParameter Group 1\n    dampening: 0\n{group.format(0.5)})"
    )


# -- gradients ------------------------------------------------------------------------


def test_zero_grad(torch):
    a, b = params(torch)
    o = torch.optim.SGD([a, b], lr=0.1)
    (a * 2).sum().backward()
    grad = a.grad
    o.zero_grad(set_to_none=False)
    assert a.grad is grad and grad.tolist() == [0.0, 0.0] and b.grad is None
    o.zero_grad()
    assert a.grad is None


def test_parameters_without_gradients_stay(torch):
    a, b = params(torch)
    o = torch.optim.Adam([a, b], lr=0.1)
    (a * 2).sum().backward()
    o.step()
    assert a.tolist() != [1.0, 1.0] and b.tolist() == [1.0, 1.0] and b not in o.state


def test_closure(torch):
    (p,) = params(torch, 1)
    o = torch.optim.SGD([p], lr=0.1)

    def closure():
        assert torch.is_grad_enabled()
        o.zero_grad()
        loss = (p * 3).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert o.step(closure).item() == 6.0
    assert p.tolist() == pytest.approx([0.7, 0.7])
    assert o.step() is None


def test_step_is_not_recorded(torch):
    (p,) = params(torch, 1)
    o = torch.optim.SGD([p], lr=0.1)
    (p * p).sum().backward()
    o.step()
    assert p.is_leaf and p.grad_fn is None and p.requires_grad


# -- state ------------------------------------------------------------------------------


def test_state_dict(torch):
    a, b = params(torch)
    o = torch.optim.SGD([{"params": [a]}, {"params": [b]}], lr=0.1, momentum=0.9)
    (a + b).sum().backward()
    o.step()
    state = o.state_dict()
    assert [g["params"] for g in state["param_groups"]] == [[0], [1]] and sorted(state["state"]) == [0, 1]
    assert state["state"][0]["momentum_buffer"].tolist() == [1.0, 1.0]


def test_load_state_dict(torch):
    a, b = params(torch)
    o = torch.optim.Adam([a], lr=0.1)
    (a * 2).sum().backward()
    o.step()
    half = torch.nn.Parameter(b.detach().to(torch.float64))
    other = torch.optim.Adam([half], lr=0.7)
    other.load_state_dict(o.state_dict())
    assert other.param_groups[0]["lr"] == 0.1 and other.param_groups[0]["params"] == [half]
    state = other.state[half]
    assert state["exp_avg"].dtype == torch.float64 and state["step"].dtype == torch.float32 and state["step"].item() == 1.0


def test_load_state_dict_refusals(torch):
    a, b = params(torch)
    o = torch.optim.SGD([a], lr=0.1)
    with pytest.raises(ValueError, match="loaded state dict has a different number of parameter groups"):
        o.load_state_dict(torch.optim.SGD([{"params": [a]}, {"params": [b]}], lr=0.1).state_dict())
    with pytest.raises(ValueError, match="loaded state dict contains a parameter group that doesn't match the size of optimizer's group"):
        o.load_state_dict(torch.optim.SGD([a, b], lr=0.1).state_dict())


def test_old_state_dicts(torch):
    (p,) = params(torch, 1)
    o = torch.optim.Adam([p], lr=0.1)
    old = {"params": [0], "lr": 0.2, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0}
    state = {"step": 3, "exp_avg": torch.zeros(2), "exp_avg_sq": torch.zeros(2)}
    o.load_state_dict({"state": {0: state}, "param_groups": [old]})
    assert o.param_groups[0]["amsgrad"] is False and o.param_groups[0]["maximize"] is False
    assert o.state[p]["step"].item() == 3.0
    (p * 2).sum().backward()
    o.step()
    assert o.state[p]["step"].item() == 4.0


def test_pickle_and_deepcopy(torch):
    (p,) = params(torch, 1)
    o = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    (p * 2).sum().backward()
    o.step()
    for c in (pickle.loads(pickle.dumps(o)), copy.deepcopy(o)):
        (q,) = c.param_groups[0]["params"]
        assert c.state[q]["momentum_buffer"].tolist() == [2.0, 2.0] and c.param_groups[0]["lr"] == 0.1
        (q * 2).sum().backward()
        c.step()


# -- hooks ---------------------------------------------------------------------------------


def test_step_hooks(torch):
    (p,) = params(torch, 1)
    o, order = torch.optim.SGD([p], lr=0.1), []
    o.register_step_pre_hook(lambda opt, args, kwargs: order.append(("pre", opt is o, len(args))))
    handle = o.register_step_post_hook(lambda opt, args, kwargs: order.append("post"))
    o.step()
    assert order == [("pre", True, 1), "post"]
    handle.remove()
    o.step()
    assert len(order) == 3


def test_step_pre_hook_changes_arguments(torch):
    (p,) = params(torch, 1)
    o = torch.optim.SGD([p], lr=0.1)
    o.register_step_pre_hook(lambda opt, args, kwargs: ((opt, lambda: 7), {}))
    assert o.step() == 7
    o = torch.optim.SGD([p], lr=0.1)
    o.register_step_pre_hook(lambda opt, args, kwargs: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3"):
        o.step()


def test_global_step_hooks(torch):
    from importlib import import_module

    module = import_module(f"{torch.__name__}.optim.optimizer")
    order = []
    handles = [
        module.register_optimizer_step_pre_hook(lambda *a: order.append("pre")),
        module.register_optimizer_step_post_hook(lambda *a: order.append("post")),
    ]
    try:
        torch.optim.SGD(params(torch), lr=0.1).step()
    finally:
        for handle in handles:
            handle.remove()
    torch.optim.SGD(params(torch), lr=0.1).step()
    assert order == ["pre", "post"]


def test_state_dict_hooks(torch):
    (p,) = params(torch, 1)
    o, order = torch.optim.SGD([p], lr=0.1), []
    o.register_state_dict_pre_hook(lambda opt: order.append("pre"))
    o.register_state_dict_post_hook(lambda opt, state: {**state, "more": 1})
    assert o.state_dict()["more"] == 1
    o.register_load_state_dict_pre_hook(lambda opt, state: order.append("load pre"))
    o.register_load_state_dict_post_hook(lambda opt: order.append("load post"))
    o.register_load_state_dict_pre_hook(lambda opt, state: order.append("first"), prepend=True)
    o.load_state_dict(o.state_dict())
    assert order == ["pre", "pre", "first", "load pre", "load post"]


# -- one's own ------------------------------------------------------------------------------


def test_own_optimizer(torch):
    class Sign(torch.optim.Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self.state[p]["steps"] = self.state[p].get("steps", 0) + 1
                        p.add_(p.grad.sign(), alpha=-group["lr"])

    (p,) = params(torch, 1)
    o, order = Sign([p]), []
    o.register_step_post_hook(lambda *a: order.append(1))
    (p * 3).sum().backward()
    o.step()
    assert p.tolist() == pytest.approx([0.9, 0.9]) and order == [1] and o.state_dict()["state"] == {0: {"steps": 1}}


def test_hooks_run_once_for_a_step_that_calls_its_parent():
    class Wrapped(retrograd.optim.SGD):
        def step(self, closure=None):
            return super().step(closure)

    o, order = Wrapped(params(retrograd), lr=0.1), []
    o.register_step_pre_hook(lambda *a: order.append(1))
    o.step()
    assert order == [1]
    retrograd.optim.SGD(params(retrograd), lr=0.1).step()
    o.step()
    assert order == [1, 1]


def test_base_class_has_no_step(torch):
    with pytest.raises(NotImplementedError):
        torch.optim.Optimizer(params(torch), {}).step()
