"""Each argument of each layer's constructor: results, gradients, starting parameters and text as PyTorch's, from a file and live."""

import ast
import importlib.util
import inspect
import json
import pathlib
import warnings

import pytest

import retrograd


def _load(name):
    spec = importlib.util.spec_from_file_location(name, pathlib.Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


arguments, tests = _load("argument_cases"), _load("test_layers")
layers = arguments.layers
STORED = json.loads(arguments.VALUES.read_text())
IDS = [case[0] for case in arguments.CASES]


def run(engine, case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return layers.run(engine, case)


def compare(ours, theirs):
    if "out" in theirs:
        tests.compare(ours, theirs)
    else:
        assert ours["repr"] == theirs["repr"]
        assert layers.rounded(ours["parameters"]) == layers.rounded(theirs["parameters"])


@pytest.mark.parametrize("case", arguments.CASES, ids=IDS)
def test_stored(case):
    compare(run(retrograd, case), STORED[case[0]])


@pytest.mark.parametrize("case", arguments.CASES, ids=IDS)
def test_live(oracle, case):
    compare(run(retrograd, case), run(oracle, case))


@pytest.mark.parametrize("case", [*layers.CASES, *arguments.CASES], ids=[case[0] for case in (*layers.CASES, *arguments.CASES)])
def test_state_dicts_and_signatures(oracle, case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (layers.make(engine, case[0]) for engine in (retrograd, oracle))
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert [name for name, _ in ours.named_modules()] == [name for name, _ in theirs.named_modules()]
    ours, theirs = (list(inspect.signature(type(layer).forward).parameters) for layer in (ours, theirs))
    assert ours == theirs


# Given elsewhere (tests/programs/recurrent.py, parallel.py), kept for PyTorch's sake, or the older names of `reduction`.
ELSEWHERE = {
    "RNNBase": "all",
    "RNNCellBase": "all",
    "DataParallel": "all",
    "ModuleDict": "all",
    "ModuleList": "all",
    "ParameterDict": "all",
    "ParameterList": "all",
    "Embedding": {"sparse", "_freeze"},
    "EmbeddingBag": {"sparse"},
    "NLLLoss2d": {"weight", "reduction"},  # an old name of NLLLoss
    "GRU": {"proj_size"},  # which is an LSTM's alone
    "RNN": {"proj_size"},
    "Hardtanh": {"min_value", "max_value"},
    "SyncBatchNorm": {"process_group", "track_running_stats", "bias"},  # those of a group of processes
}
ALWAYS = {"device", "dtype", "size_average", "reduce"}


def given():
    """The arguments that cases give, by class."""
    found = {}
    for source in {case[0] for case in (*layers.CASES, *arguments.CASES)}:
        for node in ast.walk(ast.parse(source)):
            cls = getattr(retrograd.nn, node.func.id, None) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
            if cls is None:
                continue
            names = parameters(cls)
            found.setdefault(cls.__name__, set()).update(names[: len(node.args)], (k.arg for k in node.keywords))
    return found


def parameters(cls):
    """The names of a constructor's arguments. Of those that hand theirs on, the base's."""
    for base in cls.__mro__:
        if "__init__" in vars(base):
            found = inspect.signature(base.__init__).parameters.values()
            if not any(p.kind is p.VAR_POSITIONAL for p in found) or cls.__name__ in ("Identity",):
                return [p.name for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)][1:]
    return []


def test_every_argument_is_given():
    found, missing = given(), {}
    for name in dir(retrograd.nn):
        cls = getattr(retrograd.nn, name)
        if not isinstance(cls, type) or not issubclass(cls, retrograd.nn.Module) or ELSEWHERE.get(name) == "all" or name == "Module":
            continue
        left = set(parameters(cls)) - found.get(name, set()) - ALWAYS - set(ELSEWHERE.get(name, ()))
        if left:
            missing[name] = sorted(left)
    assert missing == {}
