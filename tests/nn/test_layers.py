"""Layers: values, gradients, starting parameters and text as PyTorch's, live where it is installed and from a file elsewhere."""

import importlib
import importlib.util
import json
import pathlib
import warnings

import pytest

import retrograd

# The tests are not a package: the cases are loaded by their path.
_spec = importlib.util.spec_from_file_location("layer_cases", pathlib.Path(__file__).with_name("layer_cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

STORED = json.loads(cases.VALUES.read_text())


def compare(ours, theirs):
    assert ours["repr"] == theirs["repr"]
    assert ours["shape"] == theirs["shape"]
    assert ours["parameters"].keys() == theirs["parameters"].keys()
    for name, values in theirs["parameters"].items():
        assert cases.rounded(ours["parameters"][name]) == cases.rounded(values), name
    assert ours["out"] == pytest.approx(theirs["out"], rel=1e-7, abs=1e-9, nan_ok=True)
    assert ours["grads"].keys() == theirs["grads"].keys()
    for name, values in theirs["grads"].items():
        assert ours["grads"][name] == pytest.approx(values, rel=1e-7, abs=1e-9), name
    buffers, expected = (found.get("buffers", {}) for found in (ours, theirs))
    assert buffers.keys() == expected.keys()
    for name, values in expected.items():
        assert buffers[name] == pytest.approx(values, rel=1e-7, abs=1e-9), name


@pytest.mark.parametrize("case", cases.CASES, ids=[c[0] for c in cases.CASES])
def test_stored(case):
    compare(cases.run(retrograd, case), STORED[case[0]])


@pytest.mark.parametrize("case", cases.CASES, ids=[c[0] for c in cases.CASES])
def test_live(oracle, case):
    compare(cases.run(retrograd, case), cases.run(oracle, case))


def test_every_layer_has_a_case():
    tested = {c[0].split("(")[0] for c in cases.CASES}
    containers = {"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}
    elsewhere = {"RNNBase", "RNNCellBase", "LazyLinear", "DataParallel"}  # tests/programs/recurrent.py, lazy.py, parallel.py
    random = {"Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"}
    nn = retrograd.nn
    layers = {n for n in dir(nn) if isinstance(getattr(nn, n), type) and issubclass(getattr(nn, n), nn.Module) and not n.startswith("_")}
    arguments = {"CTCLoss", "Container", "LazyLinear", "LinearCrossEntropyLoss", "NLLLoss2d"}  # argument_cases.py
    assert layers - tested - containers - elsewhere - random - arguments == {"Module"}


@pytest.mark.parametrize(
    "source",
    [
        "Linear(7, 5)",
        "Conv2d(6, 8, 3, groups=2)",
        "ConvTranspose1d(6, 8, 5)",
        "Bilinear(3, 4, 5)",
        "Embedding(10, 3, padding_idx=2)",
        "EmbeddingBag(4, 3)",
        "MultiheadAttention(6, 2, add_bias_kv=True)",
        "Transformer(8, 2, 1, 1, 12)",
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_starting_parameters_are_the_same_bits(oracle, source, dtype):
    made = []
    for torch in (retrograd, oracle):
        torch.set_default_dtype(getattr(torch, dtype))
        try:
            made.append([p.tolist() for p in cases.make(torch, source).parameters()])
        finally:
            torch.set_default_dtype(torch.float32)
    assert made[0] == made[1]


# -- one by one -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("ReLU(inplace=True)", "ReLU(inplace=True)"),
        ("ReLU6(inplace=True)", "ReLU6(inplace=True)"),
        ("LeakyReLU(0.3, True)", "LeakyReLU(negative_slope=0.3, inplace=True)"),
        ("Threshold(1, 2, True)", "Threshold(threshold=1, value=2, inplace=True)"),
        ("ELU(inplace=True)", "ELU(alpha=1.0, inplace=True)"),
        ("RReLU(inplace=True)", "RReLU(lower=0.125, upper=0.3333333333333333, inplace=True)"),
        ("Dropout(0.1, True)", "Dropout(p=0.1, inplace=True)"),
        ("Dropout2d()", "Dropout2d(p=0.5, inplace=False)"),
        ("Embedding(3, 4, sparse=True, norm_type=1)", "Embedding(3, 4, norm_type=1, sparse=True)"),
        ("Softmax()", "Softmax(dim=None)"),
    ],
)
def test_text(torch, source, text):
    assert repr(cases.make(torch, source)) == text


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda nn: nn.Dropout(1.5), ValueError, "dropout probability has to be between 0 and 1, but got 1.5"),
        (lambda nn: nn.Dropout(-0.1), ValueError, "dropout probability has to be between 0 and 1"),
        (lambda nn: nn.Embedding(3, 2, padding_idx=3), AssertionError, "Padding_idx must be within num_embeddings"),
        (lambda nn: nn.MultiMarginLoss(p=3), ValueError, "only p == 1 and p == 2 supported"),
        (lambda nn: nn.Unflatten(1, 3), TypeError, "unflattened_size must be a tuple of ints, but found type int"),
        (lambda nn: nn.Unflatten(1, (2, 1.5)), TypeError, "but found element of type float at pos 1"),
        (lambda nn: nn.Linear(2, 3, True, None, None, 1), TypeError, "positional arguments"),
    ],
)
def test_refusals(torch, call, kind, words):
    with pytest.raises(kind, match=words):
        call(torch.nn)


def test_dropout_in_training(torch):
    torch.manual_seed(0)
    m = torch.nn.Dropout(0.25)
    y = m(torch.ones(1000))
    kept = y != 0
    assert 700 < kept.sum().item() < 800
    torch.testing.assert_close(y[kept], torch.full((int(kept.sum()),), 1 / 0.75))
    assert m.eval()(torch.ones(3)).tolist() == [1.0, 1.0, 1.0]


def test_inplace_relu(torch):
    x = torch.tensor([-1.0, 2.0])
    assert torch.nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 2.0]


def test_softmax_without_dim_warns(torch):
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
        torch.nn.Softmax()(torch.ones(2, 2))


def test_old_loss_arguments(torch):
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        assert torch.nn.MSELoss(size_average=False).reduction == "sum"
    with pytest.warns(UserWarning, match="please use reduction='none' instead"):
        assert torch.nn.L1Loss(reduce=False).reduction == "none"


def test_loss_weights_are_buffers(torch):
    m = torch.nn.CrossEntropyLoss(weight=torch.ones(3))
    assert list(m.state_dict()) == ["weight"]
    assert list(torch.nn.CrossEntropyLoss().state_dict()) == []


def test_embedding_from_pretrained(torch):
    rows = torch.arange(6.0).reshape(3, 2)
    m = torch.nn.Embedding.from_pretrained(rows)
    assert not m.weight.requires_grad and m(torch.tensor([2])).tolist() == [[4.0, 5.0]]
    assert torch.nn.Embedding.from_pretrained(rows, freeze=False).weight.requires_grad


def test_hardtanh_old_names(torch):
    with pytest.warns(FutureWarning, match="min_value"):
        assert torch.nn.Hardtanh(min_value=-3.0).min_val == -3.0


def test_linear_with_a_weight_that_is_no_parameter(torch):
    m = torch.nn.Linear(2, 1, bias=False)
    del m.weight
    m.weight = torch.ones(1, 2)
    assert m(torch.ones(2)).tolist() == [2.0]


def test_device_and_dtype(torch):
    m = torch.nn.Linear(2, 3, dtype=torch.float64, device="cpu")
    assert m.weight.dtype == m.bias.dtype == torch.float64
    assert torch.nn.LayerNorm(3, device="meta").weight.is_meta


def test_names_of_modules(torch):
    for path, name in (
        ("linear", "Linear"),
        ("activation", "ReLU"),
        ("container", "Sequential"),
        ("loss", "MSELoss"),
        ("module", "Module"),
    ):
        module = importlib.import_module(f"{torch.__name__}.nn.modules.{path}")
        assert getattr(module, name) is getattr(torch.nn, name)
        assert getattr(torch.nn, name).__module__ == module.__name__


def test_no_warnings_on_import_and_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        retrograd.nn.Sequential(retrograd.nn.Linear(2, 2), retrograd.nn.Softmax(1))(retrograd.ones(1, 2))
