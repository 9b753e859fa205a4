"""The checks, one file for codes that look at the same things."""

from __future__ import annotations

from retrograd.doctor._books import training
from retrograd.doctor._checks.accumulation import Accumulation
from retrograd.doctor._checks.broadcast import SilentBroadcast
from retrograd.doctor._checks.by_hand import ByHand
from retrograd.doctor._checks.coverage import Coverage
from retrograd.doctor._checks.cuts import DtypeCut, TrainingWithoutGrad
from retrograd.doctor._checks.dead import DeadGradient
from retrograd.doctor._checks.exploding import ExplodingGradient
from retrograd.doctor._checks.functions import WrongFunctions
from retrograd.doctor._checks.leaks import GraphLeak
from retrograd.doctor._checks.modes import ModeConfusion
from retrograd.doctor._checks.nan import NanOrigin
from retrograd.doctor._checks.retain import RetainGraphLeak
from retrograd.doctor._checks.zero_grad import MissingZeroGrad
from retrograd.doctor._watch import Check


def make_checks() -> list[Check]:
    """One of each, in the order in which they are asked."""
    by_hand = ByHand()
    return [
        NanOrigin(),
        WrongFunctions(),
        by_hand,
        training,
        MissingZeroGrad(by_hand),
        Accumulation(by_hand),
        TrainingWithoutGrad(),
        DtypeCut(),
        Coverage(),
        ExplodingGradient(by_hand),
        DeadGradient(by_hand),
        RetainGraphLeak(),
        GraphLeak(),
        ModeConfusion(by_hand),
        SilentBroadcast(),
    ]
