# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Records the waveform of a layer and opens it in GTKWave or Surfer: of the digits network, or of a model or program that is named.

Options that it does not know go to `systole run`. Of a program without a model (systole asm) all is recorded. Without a
display it says how to open the files.
"""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys

SECONDS_TO_COME_UP = 3
MODELS = (".tpu", ".tflite", ".safetensors")
TAKE_A_MODEL = ("--check", "--model", "--second")  # options


def model_of(words):
    """The model or program among the words of `systole run`; '': the digits network."""
    if words and not words[0].startswith("-"):
        return words[0]
    return next((word for before, word in zip(words, words[1:]) if word.endswith(MODELS) and before not in TAKE_A_MODEL and word[0] != "-"), "")


def is_bare(systole, model):
    """Whether it is a program without a model, which has no inputs and no layers."""
    if not model.endswith(".tpu"):
        return False
    told = subprocess.run([systole, "info", model, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return told.returncode == 0 and json.loads(told.stdout).get("layers") == []


def record(args, model, waveform):
    systole = args.build / "bin" / "systole"
    bare = is_bare(systole, model)
    command = [systole, "run", *args.rest, "--quiet"]
    given = {word.split("=")[0] for word in args.rest}
    if args.preset:
        command += ["--preset", args.preset]
    if not model:
        command += [word for option, value in (("--images", "1"), ("--batch", "1"), ("--reports", "")) if option not in given for word in (option, value)]
    elif not bare and not {"-i", "--input", "--random"} & given:
        command += ["--random", "1"]
    command += ["--trace", waveform]
    if "--trace-window" not in given and (args.layer or not bare):
        command += ["--trace-layer", args.layer or "0"]
    return subprocess.run([str(part) for part in command], check=False).returncode


def show(command, folder, line):
    """Opens the viewer in a folder and leaves it open; 1 if it does not come up. line: what to type where there is a display."""
    try:
        viewer = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError as error:
        cure = "run scripts/setup.sh" if command[0] == "gtkwave" else "Debian has none, docs/waves.md says where it is"
        print(f"waves: {command[0]}: {error.strerror}; {cure}. The view: {line}", file=sys.stderr)
        return 1
    try:
        viewer.wait(timeout=SECONDS_TO_COME_UP)
    except subprocess.TimeoutExpired:
        return 0
    # GTKWave ends with 0 without a display, too.
    print(f"waves: {command[0]} ended at once: is there a display at '{os.environ.get('DISPLAY', '')}'? Where there is one:\n"
          f"  {line}", file=sys.stderr)
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--layer", help="layer to record: its name, or its number from 0 (default: the first)")
    parser.add_argument("--preset", help="configuration (default: edge; a program has its own)")
    parser.add_argument("--viewer", choices=("gtkwave", "surfer"), default="gtkwave")
    parser.add_argument("--view-only", type=pathlib.Path, help="a waveform that is there already")
    args, args.rest = parser.parse_known_args()

    model = model_of(args.rest)
    name = "_".join(part for part in (pathlib.Path(model).stem, args.preset or (not model and "edge"), f"layer{args.layer or 0}") if part)
    name = "".join(c if c.isalnum() or c in "-." else "_" for c in name)
    waveform = args.view_only or args.build / "waves" / f"{name}.fst"
    if not args.view_only:
        waveform.parent.mkdir(parents=True, exist_ok=True)
        code = record(args, model, waveform)
        if code != 0:
            return code
    waveform = waveform.resolve()
    if args.viewer == "surfer":
        folder, command = waveform.with_suffix(".view"), ["surfer", "-c", "view.sucl"]
        wanted = folder / "view.sucl"
    else:
        wanted = waveform.with_suffix(".gtkw")
        folder, command = pathlib.Path.cwd(), ["gtkwave", "--save", str(wanted)]
    if not wanted.exists():
        print(f"waves: {wanted}: there is no such view", file=sys.stderr)
        return 1
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    line = f"cd {shlex.quote(str(folder))} && {shlex.join(command)}" if args.viewer == "surfer" else shlex.join(command)
    if not display:
        print(f"waves: no display. Where there is one:\n  {line}")
        return 0
    return show(command, folder, line)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
