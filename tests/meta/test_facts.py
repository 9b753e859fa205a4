"""What entries say about ops is what the ops do: each fact that can be seen from outside is looked at over all samples of the table."""

import contextlib
import warnings

import pytest

import optable
import retrograd
from retrograd import _C
from tests.ops.cases import cases
from tests.ops.harness import call, entries, ids, report, variants_of
from tests.ops.tensors import flatten

OPS = {name: _C._find_op(name) for name in sorted(_C._op_names())}
TABLE = [entry for entry in optable.load() if entry.kernel.kind != "python"]
FUNCTIONS = [entry for entry in TABLE if entry.variants & {"function", "method", "internal"}]


def tensors(value):
    return [t for t in flatten(value) if isinstance(t, retrograd.Tensor)]


def memory(tensor):
    return tensor._storage_info()[0]


class Watch:
    """An op handler that looks at each call before and after, while it is in a `with` block."""

    def __init__(self, look):
        self.look, self.failures = look, []

    def __call__(self, op, args, kwargs):
        given = [(p.name, t) for p, value in zip(op.parameters, args, strict=False) for t in tensors(value)]
        before = [t._version for _, t in given]
        state = _C.default_generator.get_state().tolist() if self.look is draws else None
        result = op(*args, **kwargs)
        self.failures += [f"{op.name}: {m}" for m in self.look(op, given, before, state, result)]
        return result

    def __enter__(self):
        _C._push_op_handler(self)
        return self

    def __exit__(self, *exc_info):
        _C._pop_op_handler()


def writes(op, given, before, state, result):
    """Arguments that have another version than before are said to be mutated."""
    for (name, tensor), version in zip(given, before, strict=True):
        if (
            tensor._version != version
            and name not in op.mutates
            and not any(memory(tensor) == memory(t) for n, t in given if n in op.mutates)
        ):
            yield f"writes {name}"


def shares(op, given, before, state, result):
    """Results share memory with the argument that the op says, and with no other."""
    said = dict(op.aliases)
    for t in tensors(result):
        names = {name for name, argument in given if memory(argument) == memory(t)}
        if names and not names & said.keys():
            yield f"the result shares memory with {sorted(names)}"
        for name, how in said.items():
            if how != "maybe" and name not in names and t.numel():
                yield f"the result does not share memory with {name}, {how}"
            if how == "same" and not any(t is argument for n, argument in given if n == name) and len(op.aliases) == 1:
                yield f"the result is not {name}"


def draws(op, given, before, state, result):
    if _C.default_generator.get_state().tolist() != state and not op.random:
        yield "draws numbers"


@pytest.mark.parametrize("look", [writes, shares, draws], ids=lambda f: f.__name__)
@pytest.mark.parametrize("entry", entries(lambda e: bool(variants_of(e))), ids=ids)
def test_calls(entry, look):
    with Watch(look) as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases(entry):
            for variant in variants_of(entry):
                args, kwargs, _ = case.bind(retrograd, grad=False)
                with contextlib.suppress(RuntimeError):  # a sample that does not fit in place
                    call(retrograd, entry, args, kwargs, variant)
    report(watch.failures)


@pytest.mark.parametrize("entry", [e for e in TABLE if "out" in e.variants and "function" in e.variants], ids=ids)
def test_a_handler_sees_writes_to_out(entry):
    name = f"{entry.name}.{entry.overload + '_' if entry.overload else ''}out"
    seen = []

    def look(op, args, kwargs):
        result = op(*args, **kwargs)
        seen.append((op.name, [t for p, t in zip(op.parameters, args, strict=True) if p.name in op.mutates]))
        return result

    for case in cases(entry)[:2]:
        args, kwargs, _ = case.bind(retrograd, grad=False)
        kwargs.pop("requires_grad", None)
        results = tensors(call(retrograd, entry, args, kwargs, "function"))
        outs = [retrograd.empty_like(r) for r in results]
        _C._push_op_handler(look)
        try:
            given = call(retrograd, entry, args, {**kwargs, "out": outs[0] if len(outs) == 1 else tuple(outs)}, "function")
        finally:
            _C._pop_op_handler()
        written = dict(seen)[name]
        assert len(written) == len(outs) and all(a is b for a, b in zip(written, outs, strict=True))
        assert all(a is b for a, b in zip(flatten(given), outs, strict=True))


@pytest.mark.parametrize("entry", [e for e in FUNCTIONS if e.random], ids=ids)
def test_random_ops_draw(entry):
    """At least one sample does, so that the fact is no leftover."""
    if not variants_of(entry) or not entry.samples:
        pytest.skip("no function of its own")
    drawn = False
    for case in cases(entry):
        args, kwargs, _ = case.bind(retrograd, grad=False)
        retrograd.manual_seed(1234)
        state = _C.default_generator.get_state().tolist()
        call(retrograd, entry, args, kwargs)
        drawn = drawn or _C.default_generator.get_state().tolist() != state
    assert drawn


def on_meta(value):
    if isinstance(value, (list, tuple)):
        return type(value)(on_meta(v) for v in value)
    return value.to("meta") if isinstance(value, retrograd.Tensor) else value


def refusals_on_meta(entry):
    """What an op says where it has sizes and no values."""
    for case in cases(entry):
        args, kwargs, _ = case.bind(retrograd, grad=False)
        try:
            call(retrograd, entry, [on_meta(a) for a in args], {k: on_meta(v) for k, v in kwargs.items()})
        except Exception as error:
            yield str(error)


@pytest.mark.parametrize("entry", [e for e in FUNCTIONS if variants_of(e) and e.kernel.kind == "native"], ids=ids)
def test_what_meta_cannot_do_for_want_of_values_syncs(entry):
    missing = [m for m in refusals_on_meta(entry) if any(word in m for word in ("values", "depends on data", "no elements to compare"))]
    assert entry.syncs or not missing


# ---- what Python sees is what the table says ----


def forms(entry):
    dot = f".{entry.overload}" if entry.overload else ""
    if entry.variants & {"function", "method", "internal"}:
        yield f"{entry.name}{dot}", ()
    if "inplace" in entry.variants:
        yield f"{entry.name}_{dot}", ("self",)
    if "out" in entry.variants and "function" in entry.variants:
        yield (
            f"{entry.name}{dot + '_out' if dot else '.out'}",
            ("out",) if len(entry.returns) == 1 else tuple(r.name for r in entry.returns),
        )


def test_every_form_has_a_record_and_every_record_is_a_form():
    assert {name for entry in TABLE for name, _ in forms(entry)} == set(OPS)


@pytest.mark.parametrize("entry", TABLE, ids=ids)
def test_records(entry):
    source = optable.target(entry)
    for name, written in forms(entry):
        op = OPS[name]
        assert op.name == op.__name__ == name and op.schema.startswith(f"{name}(") and op.overload == name.partition(".")[2]
        assert op.mutates == (written or entry.mutates)
        assert op.schema.count("!") == 2 * len(written) or entry.mutates
        named = [p.name for p in entry.params]
        assert [p.name for p in op.parameters] == [*named, *(w for w in written if w != "self")]
        for mine, said in zip(op.parameters, entry.params, strict=False):
            assert (mine.type, mine.keyword_only, mine.required) == (said.row.shown or said.type, said.keyword_only, said.default is None)
            if said.default is not None:
                value = mine.default
                if isinstance(value, tuple) and not said.default.startswith("["):
                    (value,) = value  # one number for all dimensions
                shown = f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value).removeprefix("torch.").strip("'\"")
                assert shown.lower() == said.default.strip("'\"").lower() or float(shown) == float(said.default)
        # vmap runs an op with out= without it, and copies.
        assert op.batching == (("parts",) if len(op.parameters) > len(entry.params) else (entry.batching.rule, *entry.batching.words))
        assert (op.random, op.syncs, op.crosses_devices) == (source.random, source.syncs, source.crosses_devices)
        assert op.elementwise == (source.kernel.kind == "pointwise" or source.kernel.elementwise)
        assert op.composite == (entry.kernel.kind == "composite")
        if written:
            plain = f"{entry.name}.{entry.overload}" if entry.overload else entry.name
            assert op.functional is OPS.get(plain)
            assert op.autocast is None and [how for _, how in op.aliases] == ["same"] * len(written)
        else:
            assert op.autocast == (source.autocast or None)
            assert [how for _, how in op.aliases] == [source.aliases] * bool(source.aliases)
            assert (op.out is not None) == ("out" in entry.variants and "function" in entry.variants)


def test_schemas_of_the_forms():
    assert OPS["add"].schema == "add(Tensor self, Operand other, *, Scalar alpha=1) -> Tensor"
    assert OPS["add_"].schema == "add_(Tensor(a!) self, Operand other, *, Scalar alpha=1) -> Tensor(a!)"
    assert OPS["add.out"].schema == "add.out(Tensor self, Operand other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    assert OPS["max.dim_out"].schema.endswith("*, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)")
    assert OPS["split.Tensor"].schema == "split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]"


def test_a_form_with_out_can_be_called():
    x, out = retrograd.tensor([3.0, 1.0]), retrograd.zeros(2)
    assert OPS["add.out"](x, 1, 1, out) is out and out.tolist() == [4, 2]
    assert OPS["add.out"](x, 2, out=out) is out and out.tolist() == [5, 3]
    values, indices = retrograd.zeros(2), retrograd.zeros(2, dtype=retrograd.int64)
    OPS["sort.out"](x, -1, False, values, indices)
    assert values.tolist() == [1, 3] and indices.tolist() == [1, 0]
    with pytest.raises(TypeError):
        OPS["sort.out"](x, -1, False, values)
