"""uint16, uint32 and uint64 in every op: the numbers that uint8 gives, or a refusal that names the dtype. See Note [Guest dtypes]."""

import pytest

import retrograd
from tests.ops.cases import cases, fits
from tests.ops.harness import TOLERANCE, differing, entries, ids, report, run
from tests.ops.tensors import INEXACT, WIDE_UNSIGNED

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated")

# Where uint8 is not like other integers: a mask, or true and false in its own dtype; or where the result says how large the dtype is, or at
# which number a difference wrapped before it became a float.
UNLIKE = {"any", "any.dims", "all", "all.dims", "index", "where", "view.dtype", "view_copy.dtype", "byte.convert"}
UNLIKE |= {"pairwise_distance", "margin_ranking_loss", "triplet_margin_loss", "trapezoid", "cumulative_trapezoid", "trapz"}


def compared(output, small, dtype):
    """What differs from the output for uint8, in words. What wrapped did so at another number."""
    if output.dtype != (dtype if small.dtype == "uint8" else small.dtype) or output.shape != small.shape:
        return f"{output.dtype} {output.shape}, expected what uint8 gives: {small.dtype} {small.shape}"
    if output.dtype in INEXACT:
        return differing(output.values, small.values, 10 * TOLERANCE[output.dtype])
    wraps = 256 if small.dtype == "uint8" else 2**64
    return differing([x % wraps for x in output.values], [x % wraps for x in small.values], 0) if output.values else ""


@pytest.mark.parametrize("entry", entries(), ids=ids)
def test_like_uint8_or_refused(entry):
    if entry.random or entry.uninitialized or entry.test.get("values") is False or entry.qualified in UNLIKE:
        pytest.skip("nothing to compare")
    failures = []
    for case in cases(entry)[:3]:
        small = run(retrograd, case, "uint8")
        for dtype in WIDE_UNSIGNED:
            if small.error or not fits(case, "uint8"):
                continue
            record = run(retrograd, case, dtype)
            if record.error:
                if record.error not in ("RuntimeError", "NotImplementedError") or not record.message:
                    failures.append(f"{case} in {dtype}: {record.error} {record.message}")
                continue
            for output, expected in zip(record.outputs, small.outputs, strict=True):
                if message := compared(output, expected, dtype):
                    failures.append(f"{case} in {dtype}: {message}")
    report(failures)


def test_what_is_refused_names_the_dtype():
    refused = [e for e in entries() if e.kernel.kind == "native" and not e.kernel.guests and e.samples]
    named = 0
    for entry in refused:
        for case in cases(entry)[:2]:
            record = run(retrograd, case, "uint32")
            named += "UInt32" in record.message
            assert record.error or record.outputs, entry.qualified
    assert named > len(refused) / 2
