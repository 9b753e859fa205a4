"""Results that no cache holds are written by other stores than small ones, and are the same numbers."""

import pytest

import retrograd as torch

N = 4 * 1024 * 1024 + 5  # two operands are more than the cache that is taken into account


@pytest.fixture(scope="module")
def numbers():
    torch.manual_seed(0)
    return torch.randn(N)


PROGRAMS = {
    "of one tensor": lambda x: x.exp(),
    "of two": lambda x: x * (x + 1),
    "with a number": lambda x: x + 3,
    "bools": lambda x: x > 0.5,
    "doubles": lambda x: x.double() + 1,
    "in place": lambda x: x.clone().mul_(2).add_(x),
    "into itself": lambda x: torch.add(y := x.clone(), x, out=y),
    "not at the start of memory": lambda x: torch.cat([x, x])[1 : x.numel()] + 1,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("threads", [1, 3])
def test_as_in_pieces(numbers, name, threads):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        found = PROGRAMS[name](numbers)
    finally:
        torch.set_num_threads(before)
    if name == "not at the start of memory":
        assert found.equal(numbers[1:] + 1)
        return
    pieces = torch.cat([PROGRAMS[name](piece) for piece in numbers.split(100_000)])
    assert found.dtype == pieces.dtype
    assert found.equal(pieces)
