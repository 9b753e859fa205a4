"""help() and inspect.signature() of functions that are written in C++: a signature, words, arguments, and an example that gives what it shows."""

import doctest
import inspect
import pydoc
import random
import types
import warnings

import pytest

import optable
import retrograd
from tests.meta.test_one_entry import opgen
from tests.ops.harness import variants_of

NATIVE = (types.BuiltinFunctionType, types.MethodDescriptorType)
HOMES = {
    "torch": retrograd,
    "Tensor": retrograd.Tensor,
    "nn.functional": retrograd.nn.functional,
    "fft": retrograd.fft,
    "linalg": retrograd.linalg,
    "special": retrograd.special,
}
PUBLIC = {
    f"{home}.{name}": value
    for home, owner in HOMES.items()
    for name in dir(owner)
    if not name.startswith("_") and isinstance(value := getattr(owner, name), NATIVE)
}
BY_HAND = {  # not of the op table: what the core offers beside ops
    "as_subclass", "autocast_decrement_nesting", "autocast_increment_nesting", "backward", "can_cast", "clear_autocast_cache", "data_ptr", "detach_", "dim", "element_size", "get_default_dtype", "get_num_threads", "is_autocast_cache_enabled",
    "is_complex", "is_conj", "is_contiguous", "is_floating_point", "is_grad_enabled", "is_inference", "is_inference_mode_enabled", "is_neg", "is_signed",
    "item", "ndimension", "nelement", "numel", "promote_types", "requires_grad_", "result_type", "set_default_dtype", "set_num_threads",
    "size", "storage_offset", "stride", "tolist",
}  # fmt: skip
example, EXAMPLES = opgen.doc.example, opgen.doc.examples()


@pytest.mark.parametrize("name", PUBLIC)
def test_signature_and_words(name):
    function = PUBLIC[name]
    signature = inspect.signature(function)
    if isinstance(function, types.MethodDescriptorType):
        assert next(iter(signature.parameters)) == "self"
    first, _, rest = pydoc.plain(pydoc.render_doc(function)).partition("\n\n")[2].partition("\n")
    assert first.startswith(f"{function.__name__}(")
    assert rest.strip()


@pytest.mark.parametrize("name", [n for n, f in PUBLIC.items() if f.__name__ not in BY_HAND])
def test_every_op_shows_its_forms_its_arguments_and_an_example(name):
    function = PUBLIC[name]
    assert f"    {function.__name__}(" in function.__doc__
    for argument in list(inspect.signature(function).parameters)[isinstance(function, types.MethodDescriptorType) :]:
        assert f"\n    {argument} (" in function.__doc__, argument
    assert "Example" in function.__doc__ and "    >>> " in function.__doc__


def test_the_list_by_hand_is_true():
    assert {f.__name__ for f in PUBLIC.values()} >= BY_HAND
    table = {entry.name + "_" * (variant == "inplace") for entry in optable.load() for variant in variants_of(entry)}
    assert {f.__name__ for f in PUBLIC.values()} - table == BY_HAND


def test_every_public_op_has_an_example_of_its_own_or_of_its_other_name():
    missing = [
        entry.name
        for entry in optable.load()
        if variants_of(entry) not in ([], ["spelled"]) and entry.name[0] != "_" and entry.home == "torch" and not example(entry)
    ]
    assert missing == []
    assert set(EXAMPLES) <= {entry.name for entry in optable.load()}


@pytest.mark.parametrize("entry", [e for e in optable.load() if example(e)], ids=lambda e: e.qualified)
def test_example(entry):
    session = example(entry)
    assert (
        entry.name.removeprefix("special_")
        .removeprefix("linalg_")
        .removeprefix("fft_")
        .removeprefix("log_")
        .replace("numpy_", "")
        .replace("matrix_H", "H")
        in session
    )
    test = doctest.DocTestParser().get_doctest(session, {"torch": retrograd}, entry.qualified, None, None)
    report: list[str] = []
    retrograd.manual_seed(random.randrange(1000))  # what an example shows may not depend on luck
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of functions that PyTorch has deprecated
        doctest.DocTestRunner().run(test, out=report.append)
    assert not report, "".join(report)


def test_help_of_a_function():
    shown = pydoc.plain(pydoc.render_doc(retrograd.tanh))
    assert shown == (
        "Python Library Documentation: built-in function tanh in module retrograd\n\n"
        "tanh(input, *, out=None)\n"
        "    Hyperbolic tangent of each element.\n    \n"
        "        tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor\n    \n"
        "    Arguments:\n"
        "        input (Tensor)\n"
        "        out (Tensor): where the result is written, instead of a new tensor\n    \n"
        "    Example:\n"
        "        >>> torch.tanh(torch.tensor([-1.0, 0.0, 1.0]))\n"
        "        tensor([-0.7616,  0.0000,  0.7616])\n"
    )


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (retrograd.add, "(input, other, *, alpha=1, out=None)"),
        (retrograd.sum, "(input, dim=None, keepdim=False, *, dtype=None, out=None)"),
        (retrograd.zeros, "(*size, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, out=None)"),
        (retrograd.Tensor.tanh, "(self, /)"),
        (retrograd.Tensor.add_, "(self, /, other, *, alpha=1)"),
        (retrograd.Tensor.size, "(self, /, dim=None)"),
        (retrograd.Tensor.backward, "(self, /, gradient=None, retain_graph=None, create_graph=False, inputs=None)"),
        (retrograd.ones(2).sum, "(dim=None, keepdim=False, *, dtype=None)"),
        (retrograd.isclose, "(input, other, rtol=1e-05, atol=1e-08, equal_nan=False)"),
        (retrograd.meshgrid, "(*tensors, indexing=None)"),
        (retrograd.promote_types, "(type1, type2, /)"),
        (retrograd.Generator.manual_seed, "(self, seed, /)"),
        (retrograd.nn.functional.linear, "(input, weight, bias=None)"),
    ],
)
def test_signatures(function, expected):
    assert str(inspect.signature(function)) == expected


def test_functions_that_are_imported_when_called_keep_their_signature():
    before = inspect.signature(retrograd.cartesian_prod), retrograd.cartesian_prod.__doc__
    retrograd.cartesian_prod(retrograd.arange(2))
    assert (inspect.signature(retrograd.cartesian_prod), retrograd.cartesian_prod.__doc__) == before


@pytest.mark.parametrize("name", [n for n in dir(retrograd.Tensor) if not n.startswith("_")])
def test_every_member_of_tensor_has_words(name):
    assert inspect.getattr_static(retrograd.Tensor, name).__doc__
