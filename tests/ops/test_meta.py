"""Tensors on "meta" have no values. Over the whole table: what they give is the real result without its values, and what is refused is refused alike."""

import re
import warnings

import pytest

import optable
import retrograd
from tests.ops.cases import Case, all_cases, make_case, specs_of
from tests.ops.harness import call, entries, ids, report, variants_of
from tests.ops.tensors import flatten

TENSOR_ITEM = r"Tensor\.item\(\) cannot be called on meta tensors"
NO_META = "(aten::({}): )?attempted to run this operator with Meta tensors, but"  # with the name of the op where Python called it
# Ops that need values to say what their result is, or whose result is a value, in samples where that is so; with the words they refuse in.
NEED_VALUES = {
    "allclose": TENSOR_ITEM,
    "_all_within": NO_META.format("_all_within"),
    "argwhere": NO_META.format("nonzero"),
    "bincount": NO_META.format("bincount"),
    "ctc_loss.Tensor": "Cannot copy out of meta tensor; no data!",
    "equal": NO_META.format("equal"),
    "gru.data": "Cannot copy out of meta tensor; no data!",
    "histogram": NO_META.format(r"histogram\.bin(s_tensor|_ct)"),
    "histogramdd": NO_META.format("_histogramdd_(from_bin_tensors|bin_edges)"),
    "index": NO_META.format("index"),
    "index_put": NO_META.format("index_put_?"),
    "lobpcg": TENSOR_ITEM,
    "lstm.data": "Cannot copy out of meta tensor; no data!",
    "masked_scatter": NO_META.format("masked_select"),  # its derivative
    "masked_select": NO_META.format("masked_select"),
    "nonzero": NO_META.format("nonzero"),
    "_nonzero": NO_META.format("nonzero"),
    "one_hot": NO_META.format("one_hot"),
    "repeat_interleave.Tensor": "cannot repeat_interleave a meta tensor without output_size",
    "repeat_interleave.self_Tensor": "cannot repeat_interleave a meta tensor without output_size",
    "rnn_relu.data": "Cannot copy out of meta tensor; no data!",
    "rnn_tanh.data": "Cannot copy out of meta tensor; no data!",
    "tensor_split.tensor": "Cannot copy out of meta tensor; no data!",
    "to.device": "Cannot copy out of meta tensor; no data!",
    "unique": NO_META.format("(_unique2|unique_dim)"),
    "_unique2": NO_META.format("_unique2"),
    "unique_consecutive": NO_META.format("unique_consecutive"),
    "_unique_consecutive": NO_META.format("unique_consecutive"),
    "_unique_dim": NO_META.format("unique_dim"),
    "where.nonzero": NO_META.format("nonzero"),
}
# Results that follow values: PyTorch's meta tensors give something else too.
FOLLOW_VALUES = {"narrow.tensor"}  # a copy of the rows, where the start is not known
GRADIENTS_FOLLOW_VALUES = {"prod"}  # divided out of the product, if there is no zero in it
# Errors that only values show: an index that is out of range, a matrix that is singular, a probability above 1.
SHOWN_BY_VALUES = re.compile(
    "out of (bounds|range)|ZeroDivisionError|Class values must be|all elements of input should be between 0 and 1|probabilities must be in"
    r"|found idx to be|offsets\[(0|-1)\]|offsets must not fall|the last offset value"
    "|Pivots given to ldl_solve must all satisfy|weights cannot be negative|lengths contains negative value|!unsafe|go past the|offsets decrease"
    "|normal expects all elements of std|invalid Poisson rate|probability tensor contains|invalid multinomial distribution|invalid max index"
)


def without_values(tensor):
    bare = retrograd.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
    return bare.requires_grad_(tensor.requires_grad)


def on_meta(tree, made):
    """The arguments on meta; `made` holds a meta tensor for each tensor."""
    if isinstance(tree, (list, tuple)):
        return type(tree)(on_meta(item, made) for item in tree)
    if isinstance(tree, dict):
        return {key: on_meta(value, made) for key, value in tree.items()}
    if not isinstance(tree, retrograd.Tensor):
        return tree
    return made.setdefault(id(tree), without_values(tree))


def shares_memory(tensor, other):
    """Whether a write to one is a write to the other: meta tensors have no addresses, but versions."""
    before = other._version
    tensor._bump_version()
    return other._version != before


def meaningful_stride(tensor):
    """Formulas may look at values and take a shorter way to the same gradient: strides that lead nowhere may differ."""
    return () if tensor.numel() == 0 else tuple(step for size, step in zip(tensor.shape, tensor.stride(), strict=True) if size > 1)


def described(outputs, args):
    """All that is known of results without looking at their values, and which arguments they share memory with."""
    given = {id(a): i for i, a in enumerate(args)}
    found = []
    for o in outputs:
        if not isinstance(o, retrograd.Tensor):
            found.append(type(o).__name__)
            continue
        node = o.grad_fn.name() if o.grad_fn is not None else ""
        view = id(o) not in given and o._is_view()
        found.append((tuple(o.shape), o.stride(), o.storage_offset(), o.dtype, o.requires_grad, node, given.get(id(o)), view))
    tensors = [a for a in args if isinstance(a, retrograd.Tensor)]
    return found, [[shares_memory(o, a) for a in tensors] for o in outputs if isinstance(o, retrograd.Tensor)]


def outcome(case: Case, variant: str, layout: str, meta: bool):
    """What a call gives and the shapes of its gradients, or its error."""
    args, kwargs, _ = case.bind(retrograd, "float32", layout)
    if meta:
        made: dict = {}
        args, kwargs = on_meta(args, made), on_meta(kwargs, made)
        if not made:
            kwargs["device"] = "meta"
    inputs = [t for t in flatten([*args, *kwargs.values()]) if isinstance(t, retrograd.Tensor) and t.requires_grad]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            outputs = flatten(call(retrograd, case.entry, args, kwargs, variant))
            tracked = [o for o in outputs if isinstance(o, retrograd.Tensor) and o.requires_grad]
            grads = ()
            if tracked and inputs:
                grads = retrograd.autograd.grad(tracked, inputs, [retrograd.ones_like(o) for o in tracked], allow_unused=True)
        except Exception as error:
            return error
    if meta and not all(o.device.type == "meta" for o in outputs if isinstance(o, retrograd.Tensor)):
        return "a result that is not on meta"
    stride = (lambda g: ()) if case.entry.qualified in GRADIENTS_FOLLOW_VALUES else meaningful_stride
    return described(outputs, flatten(args)), [None if g is None else (tuple(g.shape), stride(g), g.dtype) for g in grads]


def agree(real, meta, entry) -> bool:
    if isinstance(meta, Exception) and entry.qualified in NEED_VALUES and re.match(NEED_VALUES[entry.qualified], str(meta)):
        return True
    if isinstance(real, Exception) and isinstance(meta, Exception):
        return type(real) is type(meta) and str(real)[:30] == str(meta)[:30]
    if isinstance(real, Exception):
        return bool(SHOWN_BY_VALUES.search(str(real)))
    return real == meta or entry.qualified in FOLLOW_VALUES


def meta_cases(entry):
    """Those that have a tensor, or else a device to be told."""
    by_device = any(p.name == "device" for p in entry.params)
    return [case for case in all_cases(entry) if specs_of(case.sample) or by_device]


def differences(entry, layout):
    for case in meta_cases(entry):
        for variant in variants_of(entry):
            real, meta = (outcome(case, variant, layout, on) for on in (False, True))
            if not agree(real, meta, entry):
                yield f"{case} as {variant}: on meta {meta!r}, in fact {real!r}"


@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
@pytest.mark.parametrize("entry", entries(), ids=ids)
def test_results_are_the_real_ones_without_values(entry, layout):
    if layout != "contiguous" and entry.test.get("noncontiguous") is False:
        pytest.skip("the op looks at memory, not at elements")
    report(list(differences(entry, layout)))


@pytest.mark.parametrize(
    ("entry", "index"),
    [(entry, i) for entry in optable.load() for i in range(len(entry.errors)) if variants_of(entry)],
    ids=ids,
)
def test_errors_are_the_real_ones(entry, index):
    expected = entry.errors[index]
    case = make_case(entry, index, expected.sample)
    if not specs_of(case.sample):
        pytest.skip("no tensor")
    variant = variants_of(entry)[0]
    real, meta = (outcome(case, variant, "contiguous", on) for on in (False, True))
    assert agree(real, meta, entry), f"on meta {meta!r}, in fact {real!r}"
