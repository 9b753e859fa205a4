"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from collections import OrderedDict

import pytest


def layers(torch, n):
    return [torch.nn.Linear(i + 1, i + 2) for i in range(n)]


# -- Sequential -------------------------------------------------------------------


def test_sequential_runs_in_order(torch):
    s = torch.nn.Sequential(*layers(torch, 3))
    assert s(torch.ones(5, 1)).shape == (5, 4)
    assert torch.nn.Sequential()(3) == 3


def test_sequential_named(torch):
    s = torch.nn.Sequential(OrderedDict(a=torch.nn.ReLU(), b=torch.nn.Tanh()))
    assert list(s._modules) == ["a", "b"] and s.a is s[0] and s[-1] is s.b
    with pytest.raises(TypeError):
        torch.nn.Sequential(3)


def test_sequential_as_a_list(torch):
    a, b, c, d = layers(torch, 4)
    s = torch.nn.Sequential(a, b, c)
    assert len(s) == 3 and list(s) == [a, b, c] and s[1] is b
    assert type(s[:2]) is torch.nn.Sequential and list(s[1:]) == [b, c] and list(s[1:]._modules) == ["1", "2"]
    s[1] = d
    assert s[1] is d
    s.insert(0, b)
    assert list(s) == [b, a, d, c] and list(s._modules) == ["0", "1", "2", "3"]
    assert s.pop(0) is b and list(s._modules) == ["0", "1", "2"]
    del s[0]
    assert list(s) == [d, c] and list(s._modules) == ["0", "1"]
    assert s.append(a) is s and s.extend([b]) is s and list(s) == [d, c, a, b]
    with pytest.raises(IndexError, match="index 9 is out of range"):
        s[9]
    with pytest.raises(IndexError, match="Index out of range: 9"):
        s.insert(9, a)


def test_sequential_arithmetic(torch):
    a, b = layers(torch, 2)
    s = torch.nn.Sequential(a) + torch.nn.Sequential(b)
    assert list(s) == [a, b]
    s += torch.nn.Sequential(a)
    assert list(s) == [a, b, a]
    assert len(torch.nn.Sequential(a) * 3) == 3 and len(2 * torch.nn.Sequential(a, b)) == 4
    s *= 2
    assert len(s) == 6
    with pytest.raises(ValueError, match="add operator supports only objects of Sequential class"):
        s + [a]
    with pytest.raises(ValueError, match="Non-positive multiplication factor 0"):
        s * 0
    with pytest.raises(TypeError, match="unsupported operand"):
        s * 1.5


# -- ModuleList -------------------------------------------------------------------


def test_module_list(torch):
    a, b, c, d = layers(torch, 4)
    m = torch.nn.ModuleList([a, b, c])
    assert len(m) == 3 and m[-1] is c and list(m[:2]) == [a, b] and a in m and d not in m
    m[0] = d
    m.insert(1, a)
    assert list(m) == [d, a, b, c]
    del m[0]
    assert list(m) == [a, b, c] and list(m._modules) == ["0", "1", "2"]
    del m[1:]
    m += [b, c]
    assert list(m + [d]) == [a, b, c, d] and m.pop(1) is b and len(m) == 2
    assert m.append(d) is m
    assert [n for n, _ in m.named_parameters()][:2] == ["0.weight", "0.bias"]
    with pytest.raises(TypeError, match=r"ModuleList.extend should be called with an iterable, but got int"):
        m.extend(3)
    with pytest.raises(NotImplementedError):
        m(3)


def test_module_list_repr(torch):
    make = torch.nn.Linear
    m = torch.nn.ModuleList([make(1, 1), make(1, 1), make(1, 2), torch.nn.Sequential(make(1, 1)), torch.nn.Sequential(make(1, 1))])
    assert repr(m) == (
        "ModuleList(\n"
        "  (0-1): 2 x Linear(in_features=1, out_features=1, bias=True)\n"
        "  (2): Linear(in_features=1, out_features=2, bias=True)\n"
        "  (3-4): 2 x Sequential(\n"
        "    (0): Linear(in_features=1, out_features=1, bias=True)\n"
        "  )\n"
        ")"
    )
    assert repr(torch.nn.ModuleList()) == "ModuleList()"


# -- ModuleDict -------------------------------------------------------------------


def test_module_dict(torch):
    a, b, c = layers(torch, 3)
    m = torch.nn.ModuleDict({"a": a, "b": b})
    assert len(m) == 2 and m["a"] is a and "b" in m and list(m) == ["a", "b"]
    m.update([["c", c]])
    m["a"] = b
    assert list(m.keys()) == ["a", "b", "c"] and list(m.values()) == [b, b, c] and dict(m.items())["c"] is c
    assert m.pop("c") is c and "c" not in m
    del m["b"]
    m.update(torch.nn.ModuleDict({"z": c}))
    assert list(m) == ["a", "z"]
    m.clear()
    assert len(m) == 0
    with pytest.raises(TypeError, match=r"ModuleDict.update should be called with an iterable of key/value pairs, but got int"):
        m.update(3)
    with pytest.raises(ValueError, match="ModuleDict update sequence element #0 has length 1; 2 is required"):
        m.update([("a",)])
    with pytest.raises(KeyError):
        m["missing"]
    with pytest.raises(KeyError, match="attribute 'keys' already exists"):
        m["keys"] = a


# -- parameters -------------------------------------------------------------------


def test_parameter_list(torch):
    p = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(1)), torch.zeros(2), "note"])
    assert len(p) == 3 and isinstance(p[1], torch.nn.Parameter) and p[2] == "note" and p[-3] is p[0]
    assert [n for n, _ in p.named_parameters()] == ["0", "1"]
    p[0] = torch.nn.Parameter(torch.zeros(3))
    p.append(torch.ones(4))
    p += [torch.ones(5)]
    assert [v if isinstance(v, str) else tuple(v.shape) for v in p] == [(3,), (2,), "note", (4,), (5,)]
    assert len(p[1:3]) == 2
    with pytest.raises(TypeError, match=r"ParameterList.extend should be called with an iterable, but got int"):
        p.extend(3)
    with pytest.raises(RuntimeError, match="ParameterList should not be called"):
        p(1)
    with pytest.raises(IndexError):
        p[9]


def test_parameter_list_repr(torch):
    p = torch.nn.ParameterList([torch.ones(2, 3), "x"])
    assert repr(p) == "ParameterList(\n    (0): Parameter containing: [torch.float32 of size 2x3]\n    (1): Object of type: str\n)"


def test_parameter_dict(torch):
    p = torch.nn.ParameterDict({"b": torch.ones(1), "a": torch.nn.Parameter(torch.zeros(2))})
    assert list(p) == ["a", "b"] and isinstance(p["b"], torch.nn.Parameter) and len(p) == 2
    assert [n for n, _ in p.named_parameters()] == ["a", "b"]
    p["c"] = torch.ones(3)
    assert "c" in p and p.get("d") is None and p.get("c").shape == (3,)
    assert [k for k, _ in p.items()] == ["a", "b", "c"] and [tuple(v.shape) for v in p.values()] == [(2,), (1,), (3,)]
    assert p.setdefault("e", torch.ones(1)).shape == (1,) and list(reversed(p)) == ["e", "c", "b", "a"]
    assert p.popitem()[0] == "e" and p.pop("c").shape == (3,) and "c" not in p
    q = p | torch.nn.ParameterDict({"z": torch.ones(1)})
    assert list(q) == ["a", "b", "z"] and q["a"] is p["a"]
    p |= q
    assert list(p.copy()) == ["a", "b", "z"] and list(p.fromkeys(["k"], torch.ones(1))) == ["k"]
    del p["a"]
    p.clear()
    assert len(p) == 0
    with pytest.raises(KeyError):
        del p["a"]
    with pytest.raises(TypeError, match="not a string"):
        p[3] = torch.ones(1)


def test_parameter_dict_repr(torch):
    p = torch.nn.ParameterDict({"w": torch.ones(2)})
    assert repr(p) == "ParameterDict(  (w): Parameter containing: [torch.FloatTensor of size 2])"
