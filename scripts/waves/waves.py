# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Records the waveform of a layer of the digits network and opens it in GTKWave with the view of view.yaml.

Without a display it says how to open the file. --view-only FILE prepares the view for a waveform that is there already.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
TOPS = ("systole_top", "systole_top_axi")
# Trace flags of GTKWave save files.
FLAGS = {"bit": 0x28, "hex": 0x22, "dec": 0x24, "signed": 0x420, "enum": 0x100000028, "file": 0x2028}
SECONDS_TO_COME_UP = 3
GROUP_BEGIN, GROUP_END, GROUP_CLOSED = 0x800200, 0x1000200, 0x400000


def read_signals(waveform):
    """{name below the top: (full name, width)} of an FST file, the time at which it begins, and its top."""
    process = subprocess.Popen(["fst2vcd", str(waveform)], stdout=subprocess.PIPE, text=True, errors="replace")
    scopes, signals, begin, found = [], {}, 0, ""
    for line in process.stdout:
        words = line.split()
        if words[:1] == ["$scope"]:
            scopes.append(words[2])
        elif words[:1] == ["$upscope"]:
            scopes.pop()
        elif words[:1] == ["$var"] and (top := next((name for name in TOPS if name in scopes), "")):
            found = top
            path = ".".join(scopes[scopes.index(top) + 1:] + [words[4]])
            signals[path] = (".".join(scopes + ["".join(words[4:-1])]), int(words[2]))
        elif line.startswith("#"):
            begin = int(line[1:])
            break
    process.kill()
    process.wait()
    return signals, begin, found


def read_enum(path, name):
    """{value: label} of a SystemVerilog enumeration."""
    text = re.sub(r"//.*", "", path.read_text())
    match = re.search(r"typedef\s+enum\s+logic\s*(?:\[(\d+):0\])?\s*\{([^}]*)\}\s*" + name + r"\s*;", text)
    if not match:
        raise ValueError(f"{path}: no enumeration {name}")
    labels, value = {}, 0
    for item in match[2].split(","):
        label, _, number = (part.strip() for part in item.partition("="))
        if number:
            digits = re.fullmatch(r"(?:\d+)?'([hdb])([0-9a-fA-F_]+)|(\d+)", number)
            value = int(digits[2].replace("_", ""), {"h": 16, "d": 10, "b": 2}[digits[1]]) if digits[1] else int(digits[3])
        labels[value] = label
        value += 1
    return labels


def expand(view):
    """Groups with `like` replaced by what they are like."""
    groups = {}
    for group in view["groups"]:
        if "like" in group:
            signals = []
            for signal in groups[group["like"]]["signals"]:
                path = signal["path"]
                for old, new in group["replace"].items():
                    path = path.replace(old, new)
                signals.append({**signal, "path": path})
            group = {**group, "signals": signals}
        groups[group["name"]] = group
    return groups.values()


def match(path, signals):
    """The signals that a path of the view stands for, in index order."""
    if "[*]" not in path:
        return [path] if path in signals else []
    pattern = re.compile(re.escape(path).replace(re.escape("[*]"), r"\[(\d+)\]") + "$")
    found = [(int(hit[1]), name) for name in signals if (hit := pattern.match(name))]
    return [name for _, name in sorted(found)]


class View:
    """Lines of a GTKWave save file."""

    def __init__(self, waveform, signals, begin, folder):
        # Zoom -6: three pixels a time unit.
        self.lines = [f'[dumpfile] "{waveform}"', f"[timestart] {begin}", "[size] 1600 980", f"*-6.000000 {begin}", "[sst_expanded] 0",
                      "[signals_width] 260"]
        self.signals = signals
        self.folder = folder
        self.filters = []
        self.missing = []

    def enum_filter(self, form, width):
        """The file that GTKWave translates a type's values with, after its number."""
        path = self.folder / f"{pathlib.Path(form['in']).stem}.{form['enum']}.txt"
        labels = read_enum(ROOT / "rtl" / form["in"], form["enum"])
        path.write_text("".join(f"{value:0{width}b} {label}\n" for value, label in labels.items()))
        if path not in self.filters:
            self.filters.append(path)
        return f"^{self.filters.index(path) + 1} {path}"

    def add(self, name, form):
        full, width = self.signals[name]
        if isinstance(form, dict):
            self.lines += [f"@{FLAGS['file']:x}", self.enum_filter(form, width), full]
        elif form == "bytes":
            label = name.split(".")[-1]
            self.lines += [f"@{GROUP_BEGIN | GROUP_CLOSED:x}", f"-{label}", f"@{FLAGS['signed']:x}"]
            for byte in range(width // 8):
                bits = " ".join(f"({width - 1 - bit}){full}" for bit in range(8 * byte + 7, 8 * byte - 1, -1))
                self.lines.append(f"#{{{label}[{byte}]}} {bits}")
            self.lines += [f"@{GROUP_END | GROUP_CLOSED:x}", f"-{label}"]
        else:
            self.lines += [f"@{FLAGS[form]:x}", full]

    def add_group(self, group):
        closed = GROUP_CLOSED if group.get("closed") else 0
        self.lines += [f"@{GROUP_BEGIN | closed:x}", f"-{group['name']}"]
        for signal in group["signals"]:
            names = match(signal["path"], self.signals)
            if not names:
                self.missing.append(signal["path"])
            for name in names:
                self.add(name, signal["as"])
        self.lines += [f"@{GROUP_END | closed:x}", f"-{group['name']}"]


def write_view(waveform):
    """Writes the view beside the waveform; returns its path and the signals that the waveform does not have."""
    folder = waveform.parent / "view"
    folder.mkdir(exist_ok=True)
    signals, begin, top = read_signals(waveform)
    view = View(waveform, signals, begin, folder)
    if not view.signals:
        raise ValueError(f"{waveform}: no signals below {' or '.join(TOPS)}")
    for group in expand(yaml.safe_load((HERE / "view.yaml").read_text())):
        if group.get("top", top) == top:
            view.add_group(group)
    path = waveform.with_suffix(".gtkw")
    path.write_text("\n".join(view.lines) + "\n")
    return path, view.missing


def show(command):
    """Opens the viewer and leaves it open; 1 if it does not come up."""
    try:
        viewer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError as error:
        print(f"waves: {command[0]}: {error.strerror}; run scripts/setup.sh", file=sys.stderr)
        return 1
    try:
        viewer.wait(timeout=SECONDS_TO_COME_UP)
    except subprocess.TimeoutExpired:
        return 0
    # GTKWave ends with 0 without a display, too.
    print(f"waves: {command[0]} ended at once: is there a display at '{os.environ.get('DISPLAY', '')}'? Where there is one:\n"
          f"  {' '.join(command)}", file=sys.stderr)
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--layer", type=int, default=0, help="layer to record, counted from 0")
    parser.add_argument("--preset", default="edge", help="nano, edge, board8 or board")
    parser.add_argument("--view-only", type=pathlib.Path, help="a waveform that is there already")
    args = parser.parse_args()

    if not shutil.which("fst2vcd"):
        print("waves: no fst2vcd (it comes with GTKWave); run scripts/setup.sh", file=sys.stderr)
        return 1
    waveform = args.view_only or args.build / "waves" / f"{args.preset}_layer{args.layer}.fst"
    if not args.view_only:
        waveform.parent.mkdir(parents=True, exist_ok=True)
        waveform.unlink(missing_ok=True)
        command = [args.build / "bin" / "systole", "run", "--preset", args.preset, "--images", "1", "--batch", "1", "--reports", "",
                   "--trace", waveform, "--trace-layer", str(args.layer)]
        code = subprocess.run([str(part) for part in command], check=False).returncode
        if code != 0:
            return code
    if not waveform.exists():
        print(f"waves: {waveform} was not written", file=sys.stderr)
        return 1
    try:
        view, missing = write_view(waveform.resolve())
    except ValueError as error:
        print(f"waves: {error}", file=sys.stderr)
        return 1
    for path in missing:
        print(f"waves: the waveform has no {path} (see {HERE / 'view.yaml'})", file=sys.stderr)
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return show(["gtkwave", "--dump", str(waveform), "--save", str(view)]) or (1 if missing else 0)
    else:
        print(f"waves: no display. Where there is one:\n  gtkwave --dump {waveform} --save {view}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
