# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/spec/errors.yaml, the cases of bad input that tests/tools/errors_test.py runs -> docs/reference/errors.md."""

import pathlib

from . import common

SOURCE = "errors.yaml"
HEAD = """\
# What the commands answer to what is wrong

Generated from `docs/spec/errors.yaml`, whose cases the test `tools_errors_test` runs, each in a folder of its own.

`m.tflite` and `m.safetensors` stand for the models in `models/`; flags that only keep a
case short are left out. `full` is a device like `/dev/full`, `null` one like `/dev/null`, `link` a symbolic link.

Exit codes: 0, 1 (the command failed), 2 (wrong arguments), 129, 130, 141 and 143 (stopped by SIGHUP, SIGINT, SIGPIPE
and SIGTERM). The reason is on standard error, behind `systole:`. The test also requires of each case that it ends by
itself, without a signal, an abort or a traceback, and that a command which fails leaves every file as it was and no
temporary file.

How results are written (`host/files/write_file.h`): the bytes go to a temporary file beside the target, which takes
its place when all of them are on the disk. A symbolic link stays one, and its target is written. A device or a pipe
is written to and never replaced.

"""
WIDTH = 119  # of a row
LEAST = 16  # of an answer


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _command(case: dict) -> str:
    """As it is, but for what keeps a case short."""
    text = case.get("doc", case["run"])
    for flag in (" --quiet", " --reports ''", " --check none", " --test-images 0", " --preset lite --steps 1 --batch 4"):
        text = text.replace(flag, "")
    return text.replace("models/mnist_cnn.", "m.")


def _answer(case: dict, width: int) -> str:
    says = case.get("says", [])
    text = says if isinstance(says, str) else says[0] if says else ""
    text = text.replace("models/mnist_cnn.", "m.")
    if len(text) > width:
        text = text[:width - 4].rsplit(" ", 1)[0] + " ..."
    return f"`{_cell(text)}`" if text else ""


def generate(root: pathlib.Path) -> dict:
    sections = common.load(root, SOURCE)["sections"]
    out = [HEAD]
    for section in sections:
        out.append(f"## {section['section']}\n")
        if "text" in section:
            out.append(section["text"].strip() + "\n")
        out.append("| command | exit | answer, or a part of it |\n|---|---|---|")
        for case in section["cases"]:
            row = f"| `{_cell(_command(case))}` | {case['exit']} | "
            out.append(f"{row}{_answer(case, max(LEAST, WIDTH - len(row) - 4))} |")
        out.append("")
    return {"docs/reference/errors.md": "\n".join(out).rstrip() + "\n"}
