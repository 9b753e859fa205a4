"""nn.utils.prune: parameters times masks."""

import copy
import importlib


def _prune(torch):
    return importlib.import_module(f"{torch.__name__}.nn.utils.prune")


def _layer(torch, nn):
    torch.manual_seed(0)
    return nn.Linear(4, 3)


def ways_of_choosing(torch, nn, show):
    R = _prune(torch)
    for prune in (
        lambda m: R.identity(m, "weight"),
        lambda m: R.random_unstructured(m, "weight", 0.5),
        lambda m: R.random_unstructured(m, "bias", 1),
        lambda m: R.l1_unstructured(m, "weight", 0.3),
        lambda m: R.l1_unstructured(m, "weight", 5, importance_scores=torch.arange(12.0).reshape(3, 4)),
        lambda m: R.random_structured(m, "weight", 2, 1),
        lambda m: R.random_structured(m, "weight", 0.5, 0),
        lambda m: R.ln_structured(m, "weight", 1, 2, 0),
        lambda m: R.ln_structured(m, "weight", 0.5, 1, -1),
        lambda m: R.ln_structured(m, "weight", 1, float("inf"), 1),
        lambda m: R.ln_structured(m, "weight", 0, 2, 1),
        lambda m: R.custom_from_mask(m, "weight", torch.tensor([[1, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]])),
    ):
        m = _layer(torch, nn)
        show(prune(m) is m, m.state_dict(), m.weight, [n for n, _ in m.named_parameters()])
        show(m(torch.ones(1, 4)), R.is_pruned(m), R.is_pruned(nn.Sequential(m)), [type(h) for h in m._forward_pre_hooks.values()])


def again_and_again(torch, nn, show):
    R = _prune(torch)
    m = _layer(torch, nn)
    for prune in (
        lambda: R.random_unstructured(m, "weight", 3),
        lambda: R.l1_unstructured(m, "weight", 0.5),
        lambda: R.ln_structured(m, "weight", 1, 2, 0),
        lambda: R.random_structured(m, "weight", 1, -1),
        lambda: R.custom_from_mask(m, "weight", torch.ones(3, 4)),
        lambda: R.identity(m, "weight"),
    ):
        prune()
        (hook,) = m._forward_pre_hooks.values()
        show(m.weight_mask, type(hook), [type(h) for h in hook] if hasattr(hook, "__iter__") else None)
    show(len(hook), type(hook[0]), [type(h) for h in hook[1:3]], hook._tensor_name)


def training_pruned(torch, nn, show):
    R = _prune(torch)
    m = _layer(torch, nn)
    R.l1_unstructured(m, "weight", 6)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        m(torch.ones(2, 4)).square().sum().backward()
        opt.step()
    show(m.weight_orig.grad, m.weight_orig, m.weight)
    other = _layer(torch, nn)
    R.identity(other, "weight")
    show(other.load_state_dict(m.state_dict()), other(torch.ones(1, 4)))
    twin = copy.deepcopy(m.eval().state_dict())
    show(twin)


def removing(torch, nn, show, attempt):
    R = _prune(torch)
    m = _layer(torch, nn)
    attempt(lambda: R.remove(m, "weight"))
    R.l1_unstructured(m, "weight", 6)
    R.l1_unstructured(m, "bias", 1)
    original = m.weight_orig
    show(R.remove(m, "weight") is m, m.weight, m.weight is original, list(m.state_dict()), R.is_pruned(m))
    R.remove(m, "bias")
    show(list(m.state_dict()), R.is_pruned(m), list(m._forward_pre_hooks))


def over_several_parameters(torch, nn, show, attempt):
    R = _prune(torch)
    torch.manual_seed(0)
    a, b = nn.Linear(3, 2), nn.Linear(2, 3)
    R.l1_unstructured(a, "weight", 2)
    R.global_unstructured([(a, "weight"), (b, "weight")], R.L1Unstructured, amount=5)
    show(a.weight_mask, b.weight_mask, [type(h) for h in a._forward_pre_hooks.values()])
    R.global_unstructured([(a, "bias"), (b, "bias")], R.RandomUnstructured, amount=0.4)
    show(a.bias_mask, b.bias_mask)
    R.global_unstructured(
        [(a, "weight"), (b, "weight")], R.L1Unstructured, importance_scores={(a, "weight"): torch.arange(6.0).reshape(2, 3)}, amount=1
    )
    show(a.weight_mask, b.weight_mask)
    attempt(lambda: R.global_unstructured(3, R.L1Unstructured, amount=2))
    attempt(lambda: R.global_unstructured([(a, "weight")], R.LnStructured, amount=2, n=2))
    attempt(lambda: R.global_unstructured([(a, "weight")], R.L1Unstructured, importance_scores=3, amount=2))


def methods_by_themselves(torch, show, attempt):
    R = _prune(torch)
    t = torch.tensor([3.0, -1.0, 0.5, 2.0, -4.0])
    show(R.L1Unstructured(2).prune(t), R.L1Unstructured(0.5).prune(t, default_mask=torch.tensor([0.0, 1, 1, 1, 1])))
    show(R.L1Unstructured(2).prune(t, importance_scores=-torch.arange(5.0)))
    attempt(lambda: R.L1Unstructured(2).prune(t, importance_scores=torch.ones(4)))
    container = R.PruningContainer()
    container._tensor_name = "weight"
    method = R.L1Unstructured(1)
    method._tensor_name = "bias"
    attempt(lambda: container.add_pruning_method(3))
    attempt(lambda: container.add_pruning_method(method))
    show(R.PruningContainer(method)._tensor_name, len(container), len(R.PruningContainer(method)))
    attempt(lambda: R.BasePruningMethod())


def a_method_of_ones_own(torch, nn, show, attempt):
    R = _prune(torch)

    class EveryOther(R.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    m = _layer(torch, nn)
    EveryOther.apply(m, "weight")
    show(m.weight)
    EveryOther.apply(m, "weight")
    show(m.weight_mask)
    EveryOther.PRUNING_TYPE = "foo"
    attempt(lambda: EveryOther.apply(m, "weight"))


def refusals(torch, nn, attempt, kind):
    R = _prune(torch)
    for amount in (-1, 1.5, "a", 100, -0.5, None):
        attempt(lambda: R.random_unstructured(nn.Linear(3, 3), "weight", amount))
    attempt(lambda: R.l1_unstructured(nn.Linear(3, 3), "foo", 1))
    kind(lambda: R.l1_unstructured(nn.Linear(3, 3), "weight", float("nan")))
    attempt(lambda: R.ln_structured(nn.Linear(3, 3), "bias", 1, 2, 0))
    attempt(lambda: R.ln_structured(nn.Linear(3, 3), "weight", 1, 2, 5))
    attempt(lambda: R.ln_structured(nn.Linear(3, 3), "weight", 7, 2, -1))
    attempt(lambda: R.random_structured(nn.Linear(3, 3), "bias", 2, 0))
    attempt(lambda: R.custom_from_mask(nn.Linear(3, 2), "weight", torch.ones(3)))
    attempt(lambda: R.l1_unstructured(nn.Linear(3, 2), "weight", 2, importance_scores=torch.arange(6.0)))
