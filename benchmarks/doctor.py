"""What the doctor costs: the same steps with it and without it, in one process, round by round in turn.

    python benchmarks/doctor.py                the cases that the doctor has to be cheap on
    python benchmarks/doctor.py --filter GRU   other cases of benchmarks/cases whose name contains a word

`ratio` is the median, over the rounds, of the time with the doctor over the time without; `close` is a step of the first ones, which are looked at closely.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time

from registry import all_cases
from worker import compile_loop

import retrograd

CASES = (
    "MLP 16-32-32-1 step, nn + optim.SGD",
    "GRU 64 by hand, 32 steps, batch 8, forward + backward",
    "transformer 2 layers d128, batch 8, length 32, step",
)


CLOSE = 5  # steps that are looked at closely, after a first one that also loads things


def ratio(name: str, rounds: int, seconds: float) -> tuple[float, float, float, float]:
    """Microseconds of a step in a close look, with the doctor and without, and the median of the ratios of the last two."""
    case = all_cases()[name]
    assert case.setup is not None
    retrograd.manual_seed(0)
    loop = compile_loop(case.setup(retrograd))
    loop(1)
    close = loop(CLOSE) / CLOSE
    loop(20)
    count = max(1, round(seconds * 20 / loop(20)))
    pairs = []
    for i in range(rounds):
        times = {}
        for on in (True, False) if i % 2 else (False, True):
            gc.collect()
            with retrograd.doctor.on() if on else retrograd.doctor.off():
                times[on] = loop(count) / count
        pairs.append((times[True], times[False]))
    fastest_on, fastest_off = (1e6 * min(times) for times in zip(*pairs, strict=True))
    return 1e6 * close, fastest_on, fastest_off, statistics.median(on / off for on, off in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", help="cases whose name contains this word")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--seconds", type=float, default=0.1, help="of a round")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    retrograd.set_num_threads(options.threads)
    names = [name for name in all_cases() if options.filter in name] if options.filter else CASES
    print(f"{'':60} {'close, us':>10} {'on, us':>10} {'off, us':>10} {'ratio':>7}")
    for name in names:
        began = time.perf_counter()
        close, on, off, middle = ratio(name, options.rounds, options.seconds)
        print(f"{name:60} {close:10.2f} {on:10.2f} {off:10.2f} {middle:7.3f}   ({time.perf_counter() - began:.0f} s)")


if __name__ == "__main__":
    main()
