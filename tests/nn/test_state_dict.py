"""state_dict, load_state_dict, their hooks, extra state."""

import warnings

import pytest


def make(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("count", torch.zeros(()))
            self.register_buffer("scratch", torch.zeros(1), persistent=False)
            self.layer = torch.nn.Linear(2, 1)

    return Net()


def test_contents(torch):
    m = make(torch)
    state = m.state_dict()
    assert list(state) == ["scale", "count", "layer.weight", "layer.bias"]
    assert list(state._metadata.items()) == [("", {"version": 1}), ("layer", {"version": 1})]
    assert type(state["scale"]) is torch.Tensor and not state["scale"].requires_grad
    assert state["scale"].data_ptr() == m.scale.data_ptr()
    assert m.state_dict(keep_vars=True)["scale"] is m.scale


def test_prefix_and_destination(torch):
    m = make(torch)
    assert next(iter(m.state_dict(prefix="net."))) == "net.scale"
    into = {}
    assert m.state_dict(destination=into) is into and "layer.bias" in into


def test_positional_arguments_are_deprecated(torch):
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        assert "a.scale" in make(torch).state_dict({}, "a.")


def test_round_trip(torch):
    a, b = make(torch), make(torch)
    with torch.no_grad():
        a.scale.fill_(3.0)
    result = b.load_state_dict(a.state_dict())
    assert b.scale.tolist() == [3.0, 3.0] and b.scale.requires_grad
    assert repr(result) == "<All keys matched successfully>" and result.missing_keys == []
    assert b.scale.data_ptr() != a.scale.data_ptr()


def test_strict_messages(torch):
    m = make(torch)
    state = m.state_dict()
    del state["scale"], state["layer.bias"]
    state["other.x"] = torch.ones(1)
    state["layer.y"] = torch.ones(1)
    state["layer.weight"] = torch.ones(3, 2)
    with pytest.raises(RuntimeError) as error:
        m.load_state_dict(state)
    assert str(error.value) == (
        "Error(s) in loading state_dict for Net:\n"
        '\tMissing key(s) in state_dict: "scale", "layer.bias". \n'
        '\tUnexpected key(s) in state_dict: "other.x", "layer.y". \n'
        "\tsize mismatch for layer.weight: copying a param with shape torch.Size([3, 2]) from checkpoint, the shape in current model is "
        "torch.Size([1, 2])."
    )


def test_not_strict(torch):
    m = make(torch)
    result = m.load_state_dict({"scale": torch.zeros(2), "more": torch.ones(1)}, strict=False)
    assert result.missing_keys == ["count", "layer.weight", "layer.bias"] and result.unexpected_keys == ["more"]
    assert m.scale.tolist() == [0.0, 0.0]
    assert repr(result).startswith("_IncompatibleKeys(missing_keys=")


def test_wrong_types(torch):
    m = make(torch)
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'int'>"):
        m.load_state_dict(3)
    with pytest.raises(RuntimeError, match=r'While copying the parameter named "scale", expected torch.Tensor or Tensor-like object'):
        m.load_state_dict({"scale": [1.0, 2.0]}, strict=False)


def test_dtype_is_the_modules(torch):
    m = make(torch)
    m.load_state_dict({"scale": torch.zeros(2, dtype=torch.float64)}, strict=False)
    assert m.scale.dtype == torch.float32


def test_old_scalars(torch):
    m = make(torch)
    m.load_state_dict({"count": torch.ones(1)}, strict=False)
    assert m.count.item() == 1.0 and m.count.shape == ()


def test_assign(torch):
    m, given = make(torch), torch.zeros(2, dtype=torch.float64)
    m.load_state_dict({"scale": given, "count": torch.tensor(7)}, strict=False, assign=True)
    assert isinstance(m.scale, torch.nn.Parameter) and m.scale.dtype == torch.float64 and m.scale.requires_grad
    assert m.scale.data_ptr() == given.data_ptr() and m.count.item() == 7


def test_assign_onto_meta(torch):
    m = torch.nn.Linear(2, 1, device="meta")
    full = torch.nn.Linear(2, 1)
    with pytest.warns(UserWarning, match="copying from a non-meta parameter"):
        m.load_state_dict(full.state_dict())
    assert m.weight.is_meta
    m.load_state_dict(full.state_dict(), assign=True)
    assert torch.equal(m.weight, full.weight)


def test_extra_state(torch):
    class Counter(torch.nn.Module):
        steps = 0

        def get_extra_state(self):
            return {"steps": self.steps}

        def set_extra_state(self, state):
            self.steps = state["steps"]

    a, b = torch.nn.Sequential(Counter()), torch.nn.Sequential(Counter())
    a[0].steps = 5
    state = a.state_dict()
    assert state["0._extra_state"] == {"steps": 5}
    b.load_state_dict(state)
    assert b[0].steps == 5
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "0._extra_state"'):
        b.load_state_dict({})
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\)"):
        torch.nn.Sequential(torch.nn.ReLU()).load_state_dict(state)


def test_state_dict_hooks(torch):
    m, seen = make(torch), []
    m.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append((prefix, keep)))
    handle = m.register_state_dict_post_hook(lambda module, state, prefix, meta: state.__delitem__(prefix + "scale"))
    assert "scale" not in m.state_dict() and seen == [("", False)]
    handle.remove()
    assert "scale" in m.state_dict()
    m._register_state_dict_hook(lambda module, state, prefix, meta: {"only": 1})
    assert m.state_dict() == {"only": 1}
    bad = make(torch)
    bad.register_state_dict_post_hook(lambda *args: {})
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        bad.state_dict()


def test_load_hooks(torch):
    m, seen = make(torch), []

    def rename(module, state, prefix, meta, strict, missing, unexpected, errors):
        seen.append((module is m, prefix, strict))
        state["scale"] = state.pop("old_scale")

    m.register_load_state_dict_pre_hook(rename)
    m._register_load_state_dict_pre_hook(lambda state, prefix, *rest: seen.append(prefix))
    m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    assert m.load_state_dict({"old_scale": torch.zeros(2)}).missing_keys == []
    assert seen == [(True, "", True), ""] and m.scale.tolist() == [0.0, 0.0]
    m = make(torch)
    m.register_load_state_dict_post_hook(lambda module, keys: 3)
    with pytest.raises(AssertionError, match="not expected to return new values"):
        m.load_state_dict({}, strict=False)


def test_own_version_and_loading(torch):
    class Versioned(torch.nn.Module):
        _version = 3

        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(1))

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            self.loaded_version = local_metadata.get("version")
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    m = Versioned()
    state = m.state_dict()
    assert state._metadata[""] == {"version": 3}
    m.load_state_dict(state)
    assert m.loaded_version == 3
    m.load_state_dict(dict(state))
    assert m.loaded_version is None


def test_loading_leaves_the_dictionary_alone(torch):
    m, state = make(torch), make(torch).state_dict()
    keys = list(state)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.load_state_dict(state)
    assert list(state) == keys
