"""A native op is a shape rule and a kernel call: the generator allocates, and no op says anything about meta tensors."""

from pathlib import Path

import pytest

import optable
from tests.meta.test_one_entry import opgen

OPS = Path(__file__).parent.parent.parent / "csrc" / "ops"


@pytest.fixture
def generated(monkeypatch):
    """The files of a table with one more native op, of the kernel and the results that are asked for."""
    opgen.generate()
    before = list(optable.entries)
    monkeypatch.setattr(optable, "_loading", "reduce")

    def make(returns="Tensor", inplace="", more="", mutates=(), uninitialized=False, **options):
        variants = "function inplace" if inplace else "function"
        optable.op(
            f"knead(Tensor self, int times{more}) -> {returns}",
            variants=variants,
            kernel=optable.native(**options),
            grad={} if mutates else {"self": "grad"},
            no_grad=optable.facts.STEP if mutates else None,
            mutates=mutates,
            batching=optable.facts.LOOP,
            inplace=inplace,
            uninitialized=uninitialized,
        )
        return opgen.generate()

    yield make
    optable.entries[:] = before


def test_a_rule_and_a_kernel_call(generated):
    files = generated()
    assert "namespace rule {\n" in files["native_reduce.h"] and "Spec knead(const Tensor& self, int64_t times);" in files["native_reduce.h"]
    assert "void knead(const Tensor& self, int64_t times, const Tensor& out);" in files["native_reduce.h"]
    assert "Tensor result = make(rule::knead(self, times));" in files["ops_reduce.cpp"]
    assert "if (RG_LIKELY(has_elements(result))) compute::knead(self, times, result);" in files["ops_reduce.cpp"]


def test_several_results_and_lists(generated):
    files = generated("(Tensor values, Tensor indices)")
    assert "std::array<Spec, 2> knead(const Tensor& self, int64_t times);" in files["native_reduce.h"]
    assert "void knead(const Tensor& self, int64_t times, const Tensor& values, const Tensor& indices);" in files["native_reduce.h"]
    assert "result(make(specs[0]), make(specs[1]));" in files["ops_reduce.cpp"]


def test_lists(generated):
    files = generated("Tensor[]")
    assert "std::vector<Spec> knead(const Tensor& self, int64_t times);" in files["native_reduce.h"]
    assert "void knead(const Tensor& self, int64_t times, std::span<const Tensor> out);" in files["native_reduce.h"]


def test_what_is_made_from_options(generated):
    files = generated(
        more=", *, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False"
    )
    assert "Spec knead(const Tensor& self, int64_t times, const Options& options);" in files["native_reduce.h"]
    assert "void knead(const Tensor& self, int64_t times, const Tensor& out);" in files["native_reduce.h"]
    assert "make(rule::knead(self, times, {dtype, layout, device, pin_memory, requires_grad}));" in files["ops_reduce.cpp"]
    assert "if (RG_UNLIKELY(requires_grad.value_or(false))) require_grad(result);\n  return result;" in files["ops_reduce.cpp"]


def test_nothing_fills_what_means_nothing(generated):
    files = generated(uninitialized=True)
    assert "Spec knead(const Tensor& self, int64_t times);" in files["native_reduce.h"]
    assert "compute::knead" not in files["ops_reduce.cpp"] and "void knead" not in files["native_reduce.h"]


def test_in_place(generated):
    files = generated(inplace="knead_")
    assert files["native_reduce.h"].count("void knead_(const Tensor& self, int64_t times);") == 2
    assert "rule::knead_(self, times);\n  if (RG_LIKELY(has_elements(self))) compute::knead_(self, times);" in files["ops_reduce.cpp"]


def test_the_in_place_form_on_a_copy(generated):
    files = generated(inplace="knead_", on_copy="preserve", runs_on_empty=True)
    assert "Tensor knead" not in files["native_reduce.h"] and "Spec knead" not in files["native_reduce.h"]
    assert "make(Spec::like(self));\n  copy_data(result, self);\n  knead_(result, times);" in files["ops_reduce.cpp"]
    assert "if (!is_meta(self)) compute::knead_(self, times);" in files["ops_reduce.cpp"]


def test_a_plan_that_rule_and_kernel_share(generated):
    files = generated(inplace="knead_", plan="KneadPlan")
    assert '#include "ops/reduce/plan.h"' in files["native_reduce.h"] and "Spec knead" not in files["native_reduce.h"]
    assert "void knead(const Tensor& self, int64_t times, const KneadPlan& plan, const Tensor& out);" in files["native_reduce.h"]
    assert "const KneadPlan plan(self, times);\n  Tensor result = make(plan.spec());" in files["ops_reduce.cpp"]
    assert "compute::knead(self, times, plan, result);" in files["ops_reduce.cpp"]
    assert "compute::knead_(self, times, plan);" in files["ops_reduce.cpp"]


def test_a_step_that_may_not_be_possible(generated):
    files = generated("bool", mutates=("self",))
    assert "bool knead(const Tensor& self, int64_t times);" in files["native_reduce.h"]
    assert "void knead(const Tensor& self, int64_t times);" in files["native_reduce.h"]
    assert "if (!rule::knead(self, times)) return false;\n  compute::knead(self, times);\n  return true;" in files["ops_reduce.cpp"]


def test_results_that_depend_on_values(generated):
    files = generated(needs_values=True)
    assert (
        "Spec knead" not in files["native_reduce.h"]
        and files["native_reduce.h"].count("Tensor knead(const Tensor& self, int64_t times);") == 1
    )
    assert (
        "any_on_meta(self)" in files["ops_reduce.cpp"]
        and '"aten::knead: attempted to run this operator with Meta tensors' in files["ops_reduce.cpp"]
    )


@pytest.mark.parametrize("family", optable.FAMILIES)
def test_no_op_minds_meta_tensors(family):
    """Derivatives may have to know whether there are values to look at."""
    folder = OPS / family
    found = [path.name for path in folder.rglob("*.cpp") if "derivatives" not in path.name and "is_meta" in path.read_text()]
    assert not found
