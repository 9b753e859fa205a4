"""Anomaly mode: a failing backward names the forward call it belongs to."""

import traceback
import warnings

import pytest

import retrograd as torch
from retrograd.autograd import detect_anomaly, set_detect_anomaly

OURS = torch.__name__ == "retrograd"


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("boom")


class GivesNan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad * float("nan")


class NanTwice(torch.autograd.Function):
    """Its backward is fine, the backward of its backward is not."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return GivesNan.apply(grad)


@pytest.fixture(autouse=True)
def _mode_is_restored():
    yield
    set_detect_anomaly(False)


def leaf():
    return torch.ones(2, requires_grad=True)


def full_text(error):
    return "".join(traceback.format_exception_only(error))


# -- NaN ----------------------------------------------------------------------


def test_nan_is_an_error():
    with (
        pytest.warns(UserWarning),
        pytest.raises(RuntimeError, match="Function 'GivesNanBackward' returned nan values in its 0th output"),
        detect_anomaly(),
    ):
        GivesNan.apply(leaf()).sum().backward()


@pytest.mark.told("nan_origin", why="which anomaly mode finds too")
def test_nan_of_a_built_in_op():
    def run():
        x = torch.tensor([0.0], requires_grad=True)
        y = x.sqrt() * 0  # infinity times zero
        y.sum().backward()

    run()
    with (
        pytest.warns(UserWarning),
        pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"),
        detect_anomaly(),
    ):
        run()


@pytest.mark.told("nan_origin", why="which anomaly mode finds too")
def test_nan_need_not_be_an_error():
    x = leaf()
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"), detect_anomaly(check_nan=False):
        GivesNan.apply(x).sum().backward()
    assert x.grad.isnan().all()


def test_nan_in_the_forward_is_none_of_its_business():
    x = torch.tensor([-1.0], requires_grad=True)
    with set_detect_anomaly(True):
        y = x.log() * 0 + x * 2
        torch.where(y.isnan(), x, y).sum().backward()


# -- the forward call ---------------------------------------------------------


def test_a_warning_shows_the_forward_call():
    def the_culprit(x):
        return GivesNan.apply(x)

    with (
        set_detect_anomaly(True),
        pytest.warns(UserWarning, match="Error detected in GivesNanBackward. Traceback of forward call") as seen,
        pytest.raises(RuntimeError),
    ):
        the_culprit(leaf() * 2).sum().backward()
    text = "".join(str(w.message) for w in seen)
    assert "in the_culprit" in text and "return GivesNan.apply(x)" in text and __file__ in text


@pytest.mark.skipif(not OURS, reason="PyTorch only warns")
def test_the_exception_carries_the_forward_call():
    def the_culprit(x):
        return GivesNan.apply(x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with set_detect_anomaly(True), pytest.raises(RuntimeError) as info:
            the_culprit(leaf() * 2).sum().backward()
    text = str(info.value)
    assert text.startswith("Function 'GivesNanBackward' returned nan values in its 0th output.")
    assert "Traceback of forward call that caused the error" in text and "in the_culprit" in text


@pytest.mark.skipif(not OURS, reason="PyTorch only warns")
def test_exceptions_of_custom_functions_carry_the_forward_call():
    def the_culprit(x):
        return Fails.apply(x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with set_detect_anomaly(True), pytest.raises(ValueError, match="boom") as info:
            the_culprit(leaf() * 2).sum().backward()
    assert info.value.args == ("boom",)
    assert "in the_culprit" in full_text(info.value)


@pytest.mark.skipif(not OURS, reason="PyTorch only warns")
def test_errors_of_the_engine_carry_the_forward_call():
    def the_culprit(y):
        return y * y

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with set_detect_anomaly(True):
            y = leaf() * 2
            z = the_culprit(y)
            y.add_(1)
            with pytest.raises(RuntimeError, match="modified by an inplace operation") as info:
                z.sum().backward()
    assert "in the_culprit" in str(info.value)


def test_what_made_the_graph_of_a_gradient_is_shown_too():
    def the_first(x):
        return NanTwice.apply(x)

    def the_second(y, x, v):
        return torch.autograd.grad(y, x, v, create_graph=True)[0]

    x, v = leaf(), leaf()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with set_detect_anomaly(True), pytest.raises(RuntimeError, match="returned nan values") as info:
            the_second(the_first(x), x, v).sum().backward()
    text = "".join(str(w.message) for w in seen)
    for told in [text, str(info.value)] if OURS else [text]:
        assert "Previous calculation was induced by NanTwiceBackward" in told
        assert told.index("in the_second") < told.index("in the_first")


def test_a_forward_outside_is_not_known():
    y = GivesNan.apply(leaf()).sum()
    with (
        set_detect_anomaly(True),
        pytest.warns(UserWarning, match="No forward pass information available"),
        pytest.raises(RuntimeError) as info,
    ):
        y.backward()
    if OURS:
        assert f"made at {__file__}" in str(info.value)  # the line is known in any case


def test_nodes_show_their_traceback():
    with set_detect_anomaly(True):
        y = leaf() * 2
    assert "y = leaf() * 2" in y.grad_fn.metadata["traceback_"][-1]
    assert "traceback_" not in (leaf() * 2).grad_fn.metadata


@pytest.mark.told("nan_origin", why="which anomaly mode finds too")
def test_the_graph_can_be_run_again_after_a_failure():
    x = leaf()
    y = GivesNan.apply(x)
    with set_detect_anomaly(True), pytest.warns(UserWarning), pytest.raises(RuntimeError):
        y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert x.grad.isnan().all()


# -- switches -----------------------------------------------------------------


def test_switches():
    assert not torch.is_anomaly_enabled()
    with set_detect_anomaly(True):
        assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
        with set_detect_anomaly(True, check_nan=False):
            assert not torch.is_anomaly_check_nan_enabled()
        with set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled()
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()
    set_detect_anomaly(True)
    assert torch.is_anomaly_enabled()


def test_detect_anomaly_warns_that_it_is_slow():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        detect_anomaly()
    assert not torch.is_anomaly_enabled()


def test_switches_take_bools():
    for bad in (1, None, "a"):
        with pytest.raises(TypeError, match="argument 'enabled' .position 1. must be bool"):
            set_detect_anomaly(bad)
        with pytest.raises(TypeError, match="argument 'check_nan' .position 2. must be bool"):
            torch.set_anomaly_enabled(False, bad)
    torch.set_anomaly_enabled(True, False)
    assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
    torch.set_anomaly_enabled(False)
    assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()


@pytest.mark.told("custom_function_wrong_gradient", why="a backward that fails")
def test_each_cause_is_a_warning_of_its_own():
    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return Fails.apply(grad)

    x, v = torch.ones((), requires_grad=True), torch.ones((), requires_grad=True)
    with set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = Outer.apply(x)
        (grad,) = torch.autograd.grad(y, x, v, create_graph=True)
        with pytest.raises(ValueError, match="boom"):
            grad.backward()
    first, second = (str(w.message) for w in caught)
    assert first.startswith("Error detected in FailsBackward") and "Previous calculation" not in first
    assert second.strip().startswith("Previous calculation was induced by OuterBackward")
    assert grad.grad_fn.metadata["parent_"] is y.grad_fn


def test_the_forward_call_is_shown_where_warnings_are_errors(capsys):
    def the_culprit(b):
        return b**2

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with set_detect_anomaly(True):
            warnings.simplefilter("error")
            b = leaf() + 1
            c = the_culprit(b)
            b += 1
            with pytest.raises(RuntimeError, match="modified by an inplace operation") as info:
                c.sum().backward()
    assert "Traceback of forward call that caused the error" in capsys.readouterr().err
    if OURS:
        assert "in the_culprit" in str(info.value)
