# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Why a test program failed, and which failures have one cause: the first message, without what differs from seed to seed."""

import dataclasses
import hashlib
import re

# The first line of a message, by who writes it.
ASSERTION = re.compile(r"^(?:\[\d+\] )?%(?:Error|Fatal): (.*)$")        # Verilator
SANITIZER = re.compile(r"^.*(?:ERROR: \w*Sanitizer: |runtime error: )(.*)$")
GTEST = re.compile(r"^(\S+):(\d+): Failure$")
SIGNAL = re.compile(r"^ended by signal .*$")
RUN = re.compile(r"^\[ RUN      \] (\S+)$")
# Of host/tools/checker.h, normalised.
WRONG_TENSOR = re.compile(r"^(.*?)\S+ \([\w ]+\): image #.* differ\); written by descriptor #: (\w+).*$")
TRACE_SEED = re.compile(r"\bseed (\d+)")


@dataclasses.dataclass(frozen=True)
class Failure:
    """test: of GoogleTest, "" if it is not known. message: as it was printed. seed: of the case, if the trace says it."""

    test: str
    message: str
    seed: int | None
    cause: str  # normalised message

    @property
    def key(self):
        return hashlib.sha256(self.cause.encode()).hexdigest()[:10]


def normalise(message):
    """Without positions, numbers, addresses and folders."""
    text = re.sub(r"(?<![\w.+-])(?:/?[\w.+-]+)*/([\w.+-]+)", r"\1", message)
    text = re.sub(r"\b(\w+\.(?:cc|h|sv|py)):\d+(?::\d+)?", r"\1", text)
    text = re.sub(r"\b0x[0-9a-fA-F]+\b", "#", text)
    text = re.sub(r"(?<![A-Za-z_])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "#", text)
    text = re.sub(r"(?<=[A-Za-z_])\d+\b", "#", text)
    text = re.sub(r"#(?:[,x: -]*#)+", "#", text)
    text = " ".join(text.split())
    # A wrong tensor: what wrote it is the cause, not the layer; else what stands behind the first semicolon is detail.
    wrong = WRONG_TENSOR.match(text)
    return wrong.expand(r"\1a tensor differs, written by \2") if wrong else text.partition("; ")[0][:300]


def _blocks(lines):
    """(test, lines of a message, lines of its trace) in the order of the output."""
    test = ""
    for number, line in enumerate(lines):
        if match := RUN.match(line):
            test = match[1]
        elif GTEST.match(line):
            message, trace, target = [], [], None
            target = message
            for following in lines[number + 1:]:
                if following.startswith("Google Test trace:"):
                    target = trace
                elif GTEST.match(following) or following.startswith("[ ") or (target is trace and not following.strip()):
                    break
                else:
                    target.append(following)
            yield test, message, trace
        elif (match := ASSERTION.match(line)) and "Verilog $stop" not in line and "Aborting" not in line:
            yield test, [match[1]], []
        elif match := SANITIZER.match(line):
            yield test, [match[1]], []
        elif SIGNAL.match(line):
            yield test, [line], []


def find(status, output):
    """The first failure of an output; there always is one."""
    lines = output.splitlines()
    for test, message, trace in _blocks(lines):
        text = "\n".join(message).strip() or "a check failed"
        seeds = TRACE_SEED.findall("\n".join(trace))
        # Of an assertion of the RTL the test does not matter: the same property fails in all.
        rtl = "ssertion failed" in text
        front = "" if rtl or not test else f"{_suite(test)}: "
        return Failure(test, text, int(seeds[-1]) if seeds else None, front + normalise(text))
    test = next((match[1] for line in reversed(lines) if (match := RUN.match(line))), "")
    if status == "timeout":
        text = "no end within the time of the suite"
    else:
        text = "\n".join([line for line in lines if line.strip()][-2:]) or f"the program ended with {status} and no word"
    return Failure(test, text, None, f"{_suite(test)}: {normalise(text)}" if test else normalise(text))


def _suite(test):
    """Suite/Test.Name/3 -> Test.Name."""
    return re.sub(r"/[\w]+$", "", re.sub(r"^\w+/", "", test))


def group(failed):
    """[(cause key, [results])] with the most frequent first; a result has `failure`."""
    causes = {}
    for result in failed:
        causes.setdefault(result["failure"]["key"], []).append(result)
    return sorted(causes.items(), key=lambda item: (-len(item[1]), item[0]))
