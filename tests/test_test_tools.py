"""Tools for tests that libraries import from PyTorch: FileCheck, testing._internal.common_utils, and the Fuzzer of utils.benchmark."""

import collections
import subprocess
import sys
import unittest
from pathlib import Path

import pytest

import retrograd as torch
from retrograd.testing import FileCheck
from retrograd.testing._internal import common_utils
from retrograd.utils import benchmark

TEXT = "one two\nthree four\nfive two\nsix\n"


@pytest.mark.parametrize("checks", [
    FileCheck().check("one").check("four"),
    FileCheck().check_not("seven").check("six"),
    FileCheck().check_count("two", 2),
    FileCheck().check("one").check_same("two").check_next("three"),
    FileCheck().check_dag("six").check_dag("one"),
    FileCheck().check_dag("one").check_dag("two").check_not("zzz").check("six"),
    FileCheck().check("six").check_not("one"),
    FileCheck().check_regex("f[a-z]+r"),
    FileCheck().check_dag("two").check_dag("two"),
])  # fmt: skip
def test_texts_that_pass(checks):
    checks.run(TEXT)


@pytest.mark.parametrize(("checks", "words"), [
    (FileCheck().check("four").check("one"), 'Expected to find "one" but did not find it\nSearched string:\n\nfive two\nsix\nFrom CHECK: one\n'),
    (FileCheck().check("one").check_not("three").check("six"), 'Expected to not find "three" but found it\none two\nthree four\n~~~~~ <--- HERE\nfive two\nsix\nFrom CHECK-NOT: three\n'),
    (FileCheck().check_count("two", 1, exactly=True), 'Expected to not find "two" but found it\none two\nthree four\nfive two\n     ~~~ <--- HERE\nsix\nFrom CHECK-NOT: two\n'),
    (FileCheck().check_count("two", 3), 'Expected to find "two" but did not find it'),
    (FileCheck().check("one").check_same("three"), 'Expected to not find "\\n" but found it'),
    (FileCheck().check("one").check_next("five"), 'Expected to not find "\\n" but found it'),
    (FileCheck().check("one").check_next("two"), 'Expected to find "two" but did not find it'),
    (FileCheck().check_dag("six").check_dag("nope"), 'Expected to find "nope" but did not find it'),
    (FileCheck().check_dag("six").check_dag("six"), 'Expected to find "six" but did not find it'),
    (FileCheck().check("two").check_not("two"), 'Expected to not find "two" but found it'),
    (FileCheck(), "No checks have been added"),
])  # fmt: skip
def test_texts_that_do_not(checks, words):
    with pytest.raises(RuntimeError) as caught:
        checks.run(TEXT)
    assert str(caught.value).startswith(words)


def test_checks_in_comments_and_highlights(capsys):
    FileCheck().run("# CHECK: one\n# CHECK-NOT: four\n# CHECK: three\n# CHECK-COUNT-EXACTLY-1: two\n", TEXT)
    with pytest.raises(RuntimeError, match="From CHECK-NEXT: five"):
        FileCheck().run("# CHECK: one\n# CHECK-NEXT: five\n", TEXT)
    FileCheck().check_source_highlighted("two").check("end").run("two\none two\n    ~~~ <--- HERE\nend")
    with pytest.raises(RuntimeError, match="Expected to find"):
        FileCheck().check_source_highlighted("two").run("one two\n~~~\n")
    assert capsys.readouterr().out == ""
    FileCheck().check("forgotten")
    assert capsys.readouterr().out.startswith("You have not run this instance of FileCheck!")


# -- common_utils ---------------------------------------------------------------------------------


TESTS = """
import retrograd
retrograd.install_as_torch()
import torch, unittest
from torch.testing._internal.common_utils import TestCase, run_tests, parametrize, instantiate_parametrized_tests, subtest, decorateIf

class TestSome(TestCase):
    def test_close(self):
        self.assertEqual(torch.ones(2), torch.ones(2) + 1e-7)
        self.assertEqual({"a": [torch.ones(1), 1.0]}, {"a": [torch.ones(1), 1.0]})
        self.assertEqual(torch.tensor(2.0), 2); self.assertEqual("a", "a"); self.assertEqual(float("nan"), float("nan"))
        self.assertNotEqual(torch.ones(2), torch.zeros(2))
        with self.assertRaises(AssertionError): self.assertEqual(torch.ones(2), torch.ones(2, dtype=torch.float64))
        self.assertEqual(torch.ones(2), torch.ones(2, dtype=torch.float64), exact_dtype=False)
        self.assertEqual(torch.ones(2), torch.ones(2) + 0.1, atol=0.2, rtol=0)
        self.assertEqual(torch.rand(1), torch.manual_seed(1234) and torch.rand(1))

    @parametrize("dtype", [torch.float32, torch.float64])
    @parametrize("a,b", [(1, 2), subtest((3, 4), name="big", decorators=[unittest.expectedFailure])])
    def test_many(self, dtype, a, b):
        self.assertLess(a + b, 5)
        self.assertEqual(torch.ones(1, dtype=dtype) * a, torch.full((1,), a, dtype=dtype))

    @decorateIf(unittest.skip("no"), lambda params: params["x"] == 2)
    @parametrize("x", [1, 2])
    def test_some(self, x): self.assertEqual(x, 1)

instantiate_parametrized_tests(TestSome)
if __name__ == "__main__":
    run_tests()
"""


@pytest.mark.parametrize("launcher", [[], ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]], ids=["run_tests", "pytest"])
def test_a_file_of_tests_that_uses_them(tmp_path, launcher):
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    environment = {"PYTHONPATH": str(Path(torch.__file__).parent.parent), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, *launcher, "test_some.py", *([] if launcher else ["-v"])]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    if launcher:
        assert "4 passed, 1 skipped, 2 xfailed" in done.stdout
    else:
        assert "Ran 7 tests" in done.stderr and "expected failures=2" in done.stderr
        for name in ("test_many_dtype_float32_a_1_b_2", "test_many_dtype_float64_big", "test_some_x_1"):
            assert name in done.stderr


def test_what_does_not_fit_is_said():
    with pytest.raises(ImportError, match="serves PyTorch's own tests"):
        from retrograd.testing._internal.common_utils import NoSuchThing  # noqa: F401
    with pytest.raises(ValueError, match="An empty arg_values"):
        common_utils.parametrize("x", [])

    class Doubled(unittest.TestCase):
        @common_utils.parametrize("x", [1, 1])
        def test(self, x): ...

    with pytest.raises(RuntimeError, match="Redefinition of test test_x_1"):
        common_utils.instantiate_parametrized_tests(Doubled)
    with common_utils.TemporaryFileName() as name, common_utils.freeze_rng_state(), common_utils.set_default_dtype(torch.float64):
        assert Path(name).exists() and torch.ones(1).dtype == torch.float64
    assert not Path(name).exists() and torch.ones(1).dtype == torch.float32


# -- the fuzzer -----------------------------------------------------------------------------------


def test_fuzzer():
    P, T = benchmark.FuzzedParameter, benchmark.FuzzedTensor

    def fuzzer(seed):
        return benchmark.Fuzzer(
            [[P(f"k{i}", 4, 64, "loguniform") for i in range(2)], P("n", 1, 3, "uniform"), P("step", distribution={1: 0.5, 2: 0.3, 3: 0.2}), P("same", distribution={benchmark.ParameterAlias("k0"): 1})],
            [T("x", size=("k0", "k1", 3), steps=("step",), min_elements=100, max_elements=5000), T("y", size=("same", "n"), dtype=torch.int64)],
            constraints=[lambda k0, k1, **rest: k0 != k1],
            seed=seed,
        )  # fmt: skip

    before = torch.get_rng_state()
    taken = list(fuzzer(7).take(40))
    assert torch.equal(torch.get_rng_state(), before)
    orders = collections.Counter()
    for tensors, about, params in taken:
        x, y = tensors["x"], tensors["y"]
        assert x.shape == (params["k0"], params["k1"], 3) and 100 <= x.numel() <= 5000 and params["k0"] != params["k1"]
        assert y.shape == (params["k0"], params["n"]) and y.dtype == torch.int64 and params["same"] == params["k0"]
        assert (
            about["x"]["numel"] == x.numel()
            and about["x"]["steps"] == [params["step"], 1, 1]
            and about["x"]["is_contiguous"] == x.is_contiguous()
        )
        orders[tuple(about["x"]["order"])] += 1
    assert orders[0, 1, 2] > 10 and len(orders) > 2
    drawn = fuzzer(7)
    again = list(drawn.take(40))
    assert all(torch.equal(a["x"], b["x"]) for (a, _, _), (b, _, _) in zip(taken, again, strict=True)) and 0 < drawn.rejection_rate < 1
    with pytest.raises(ValueError, match="Failed to generate a set of valid parameters"):
        list(benchmark.Fuzzer([P("k", 1, 2, "uniform")], [T("x", ("k",), min_elements=9)], seed=0).take(1))
    with pytest.raises(AssertionError, match="Unknown distribution: None"):
        P("k", 1, 2)
    with pytest.raises(ValueError, match="overlap"):
        benchmark.Fuzzer([P("x", 1, 2, "uniform")], [T("x", (1,))])


def test_fuzzed_sparse_tensors():
    P = benchmark.FuzzedParameter
    parameters = [
        P("n", 4, 9, "uniform"),
        P("d", distribution={2: 1}),
        P("nnz", 0.1, 0.9, "uniform"),
        P("c", distribution={True: 0.5, False: 0.5}),
    ]
    for tensors, about, _ in benchmark.Fuzzer(
        parameters, [benchmark.FuzzedSparseTensor("x", ("n", "n", 2), sparse_dim="d", nnz="nnz", coalesced="c")], seed=0
    ).take(6):
        assert tensors["x"].is_sparse and about["x"]["sparse_dim"] == 2 and about["x"]["is_coalesced"] == tensors["x"].is_coalesced()


def test_counts_of_functions():
    counts = benchmark.FunctionCounts((benchmark.FunctionCount(3, "f"), benchmark.FunctionCount(2, "g")), True)
    assert counts.sum() == 5 and counts.filter(lambda name: name == "g").sum() == 2 and list(counts - counts) == []
    assert list(counts.transform(lambda name: "h")) == [(5, "h")] and counts[0].function == "f" and "Total: 5" in repr(counts)
    timer = benchmark.Timer("x + 1", globals={"x": benchmark.CopyIfCallgrind(2)})
    assert timer.timeit(2).median > 0
