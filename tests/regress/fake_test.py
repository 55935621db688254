#!/usr/bin/python3 -S
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A test program as the runner sees one: seeds by options, GoogleTest's output, the file of the case, choices, coverage.

A case is a list of items of 1..16. FAKE_FAULT makes it fail: `sum` if an item is above 12, `two` also, with another message, if there
are more than 4 items, `crash` ends it by a signal, `hang` never ends, `shy` fails only the first time.
"""

import os  # and no more: it starts hundreds of times
import sys
import time


class Options:
    """Values of --name=value."""

    seed, cases, gtest_filter, trace = 1, 3, "*", ""

    def __init__(self, words):
        for word in words:
            name, _, value = word.partition("=")
            name = name.removeprefix("--")
            if not hasattr(Options, name):
                sys.exit(f"no option {word}")
            setattr(self, name, int(value) if name in ("seed", "cases") else value)


def read(name):
    with open(name) as file:
        return file.read()


def write(name, text, mode="w"):
    with open(name, mode) as file:
        file.write(text)


def main():
    args = Options(sys.argv[1:])
    fault = os.environ.get("FAKE_FAULT", "")
    log = os.environ.get("FAKE_LOG", os.devnull)
    write(log, f"{args.seed}\n", "a")
    print("[ RUN      ] Fake.Case", flush=True)
    for seed in range(args.seed, args.seed + args.cases):
        state, given = seed * 7919 + 17, None
        if "SYSTOLE_CHOICES" in os.environ:
            given = [int(word) for word in read(os.environ["SYSTOLE_CHOICES"]).split()]
        choices, spans, items = [], [], []

        def choose(below):
            nonlocal state
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            drawn = (state >> 33) % below
            if given is not None:
                place = len(choices)
                drawn = min(given[place], below - 1) if place < len(given) else drawn
            choices.append((drawn, below))
            return drawn

        def more(wants):
            if not wants:
                return False
            value = 1
            if given is not None:
                value = min(given[len(choices)], 1) if len(choices) < len(given) else 0
            choices.append((value, 2))
            return value == 1

        while more(len(items) < 2 + seed % 4):
            first = len(choices)
            items.append(1 + choose(16))
            spans.append((first, len(choices)))
        if "SYSTOLE_CASE_FILE" in os.environ:
            write(os.environ["SYSTOLE_CASE_FILE"],
                  f"seed {seed}\nsize {sum(items)}\nchoices {' '.join(f'{v}/{b}' for v, b in choices)}\n"
                  f"spans {' '.join(f'{a}-{b}' for a, b in spans)}\ntext {items}\n")
        high = next((item for item in items if item > 12), None)
        message = None
        if fault in ("sum", "two", "shy") and high is not None:
            message = f"item {high} of case {seed} at /some/where/file.cc:{seed} is 0x{high:x}, too large"
        if fault == "shy":
            if os.path.exists(log + ".shy"):
                message = None
            else:
                write(log + ".shy", "")
        if fault == "two" and len(items) > 4:
            message = f"{len(items)} items are too many"
        if fault == "crash" and high is not None:
            print(f"[{seed}] %Error: systole_fake.sv:{seed}: Assertion failed in TOP.u_fake[{seed}].a_fake", flush=True)
            os.abort()
        if fault == "hang":
            time.sleep(600)
        if message:
            if args.trace:
                write(args.trace, "waveform")
            print(f"tests/fake/fake_test.cc:{40 + seed % 3}: Failure\nFailed\n  {message}\nGoogle Test trace:\n"
                  f"tests/fake/fake_test.cc:30: seed {seed}: {items}\n\n[  FAILED  ] Fake.Case (1 ms)")
            return 1
    if "SYSTOLE_COVERAGE_DIR" in os.environ and "FAKE_VERSION" in os.environ:
        hits = [0] * int(os.environ["FAKE_BINS"])
        hits[args.seed % len(hits)] = 1
        write(f"{os.environ['SYSTOLE_COVERAGE_DIR']}/functional.{os.getpid()}.json",
              f'{{"version": "{os.environ["FAKE_VERSION"]}", "cores": [{{"preset": "nano", "checked": 1, "cycles": 1000, "hits": {hits}}}]}}')
    print("[       OK ] Fake.Case (1 ms)\n[  PASSED  ] 1 test.")
    return 0 if args.gtest_filter in ("*", "Fake.Case") else 1


if __name__ == "__main__":
    sys.exit(main())
