"""What is stored of PyTorch for the programs of tests/programs is what it shows. tests/test_programs.py holds retrograd to the same."""

import pytest

from tests.programs import TOPICS, programs, read
from tests.programs.runner import all_agree, as_compared, difference, shown

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("topic", TOPICS)
def test_stored_outcomes(topic):
    outcomes, wrong = read(topic), []
    torch.distributions.Distribution.set_default_validate_args(True)  # which PyTorch's compiler, in another topic, switches off
    with as_compared(torch):
        for program in programs(topic):
            want = outcomes[program.name]
            want = want["torch"] if program.differs else want
            got = shown(torch, program.function)
            if not all_agree(want, got):  # once more: PyTorch's loader loses a worker now and then
                got = shown(torch, program.function)
            if not all_agree(want, got) or not all(any(words in line for line in got) for words in program.says):
                wrong.append(f"{program}:\n{difference(want, got)}")
    assert not wrong, "\n".join(wrong)
