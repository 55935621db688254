# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Checks the sources: RTL with Verilator, slang, verible and the project's own rules, C++ format with clang-format, rules on files.

--format formats the C++ instead. Parts can be chosen: lint.py rtl processes slang verible pins format files includes targets.
"""

import argparse
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cache
import lint_pins
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCE_FOLDERS = ("cmake", "fpga", "host", "rtl", "scripts", "sim", "tests", "verif")
SOURCE_SUFFIXES = {".cc", ".h", ".sv", ".py", ".sh", ".cmake"}
FORMATTED_KEPT = 10000  # digests of files that are not there
MAX_LINES = {".sv": 600, ".cc": 400, ".h": 400}
PRESETS_BY_NAME = yaml.safe_load((ROOT / "docs/spec/presets.yaml").read_text())["presets"]
PRESETS = PRESETS_BY_NAME.values()
PACKAGES = ROOT / ".venv" / "bin"  # of scripts/setup.sh
CLANG_FORMAT = str(PACKAGES / "clang-format")
# Folder: folders that its sources may not include from, but for these, by sources whose names begin so.
INDEPENDENT = {
    "host": (("sim", "verif", "tests"), ("verif/golden",), ("host/tools/", "host/pjrt/golden_check")),  # they compare with the golden model
    "sim": (("tests",), (), ()),
    "verif": (("tests",), (), ()),
    "verif/golden": (("host", "sim"), ("host/include", "host/ir"), ("verif/golden/",)),  # what is specified
}
# Names of Abseil and their headers. Another header may bring them by chance, with one version of Abseil and not with the next.
HEADERS = {
    "absl/status/statusor.h": "StatusOr",
    "absl/strings/match.h": "StartsWith EndsWith StrContains",
    "absl/strings/numbers.h": "SimpleAtoi SimpleAtof SimpleAtod",
    "absl/strings/str_cat.h": "StrCat StrAppend",
    "absl/strings/str_format.h": "StrFormat StrAppendFormat",
    "absl/strings/str_join.h": "StrJoin",
    "absl/strings/str_replace.h": "StrReplaceAll",
    "absl/strings/str_split.h": "StrSplit",
    "absl/types/span.h": "Span MakeSpan MakeConstSpan",
}
TARGETS = ("host/include/systole/target.h",)  # what presets can do
GRID_ROWS = 8  # a larger array is linted as its simulation view: Verilator looks at each cell of a grid


def sources(*suffixes):
    """Files of the project with one of these suffixes."""
    found = (p for folder in SOURCE_FOLDERS for p in (ROOT / folder).rglob("*"))
    return sorted(p for p in found if p.is_file() and p.suffix in suffixes)


def name(path):
    return path.relative_to(ROOT).as_posix()


def run(command):
    """The output of a command that failed, or None."""
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return None if result.returncode == 0 else f"{' '.join(command)}\n{result.stdout.rstrip()}"


def rtl_sources():
    """Files of the design's modules and packages but for the generated ones."""
    return [path for path in sources(".sv") if path.is_relative_to(ROOT / "rtl") and path.parent.name != "gen"]


def tops():
    """Each module with lists of parameters to look at it with: its defaults, so that nothing hides behind its user; what knows the preset,
    the first one, as the others are looked at with the pins of a chip and of a node, for which they are all taken."""
    def choice(preset):
        return [f"Preset={preset['id']}", f"FastArray={int(preset['core']['Rows'] > GRID_ROWS)}"]
    for path in rtl_sources():
        text = path.read_text()
        if re.search(r"parameter\s+(int\s+)?(unsigned\s+)?Preset\b", text):
            yield path, [choice(next(iter(PRESETS)))[:2 if "FastArray" in text else 1]]
        elif not path.stem.endswith("_pkg"):
            yield path, [[]]
    for inner, pins, chosen in (("systole_chip", "rtl/gen/systole_top.sv", PRESETS),
                                ("systole_node", "verif/tb/gen/systole_node_pins.sv", [p for p in PRESETS if p["chip"]["Cores"] == 2])):
        if (ROOT / f"rtl/chip/{inner}.sv").exists():
            yield ROOT / pins, [choice(p) for p in chosen]


def run_once(command, texts):
    """As run, or what it said of the same texts before."""
    entry = cache.Entry("lint", cache.version(command[0], "--version"), " ".join(command), *texts)
    with tempfile.TemporaryDirectory() as folder:
        said = pathlib.Path(folder) / "said"
        if entry.restore(pathlib.Path(folder)):
            return said.read_text() or None
        problem = run(command)
        said.write_text(problem or "")
        entry.store(pathlib.Path(folder), ["said"])
    return problem


def check_rtl():
    verilator = ["verilator", "--lint-only", "-Wall", "rtl/lint.vlt", "rtl/ibex/ibex.vlt", "-F", "rtl/systole.f", "-F", "rtl/ibex/ibex.f"]
    texts, options = cache.uses(ROOT / "rtl"), "".join((ROOT / "rtl" / file).read_text() for file in ("lint.vlt", "ibex/ibex.vlt", "ibex/ibex.f"))
    problems = [run_once([*verilator, "--top-module", path.stem, *(f"-G{parameter}" for parameter in parameters), name(path)],
                         [options, *(texts[path.stem] if path.stem in texts else [path.read_text(), *texts["systole_node"]])])
                for path, choices in tops() for parameters in choices]
    # What boards add, but for the modules above generated ones.
    read = [options, cache.sources(ROOT / "rtl", "*.sv", "*.f"), cache.sources(ROOT / "fpga/common", "*.sv")]
    problems += [run_once([*verilator, "--top-module", module, "-y", "fpga/common", "fpga/common/systole_serial_pkg.sv", f"fpga/common/{module}.sv"], read)
                 for module in ("systole_uart", "systole_serial_receive", "systole_serial_send", "systole_serial")]
    return [problem for problem in problems if problem]


def check_with_slang(part):
    """A part of lint_rtl.py, which runs where slang is."""
    choices = [f"{name(path)}:{','.join(parameters)}" for path, choices in tops() for parameters in choices if parameters]
    read = [cache.sources(ROOT / folder, "*.sv", "*.f", "*.vlt") for folder in ("rtl", "verif", ".ibex")]
    return run_lines([str(PACKAGES / "python"), "scripts/lint_rtl.py", part, *choices], [(ROOT / "scripts/lint_rtl.py").read_bytes(), *read])


def check_verible():
    """All of verible's rules but those that scripts/verible.rules names."""
    files = [name(path) for path in rtl_sources()]
    return run_lines([str(PACKAGES / "verible-verilog-lint"), "--ruleset", "all", "--rules_config", "scripts/verible.rules", *files])


def run_lines(command, texts=None):
    """The lines of a command that failed; with the texts that it reads, those that it said of the same before."""
    if not pathlib.Path(command[0]).exists():
        return [f"no {command[0]}; run scripts/setup.sh"]
    problem = run(command) if texts is None else run_once(command, texts)
    return (problem or "").splitlines()[1:]


def formatted_sources():
    """C++ sources but the generated ones."""
    return [name(path) for path in sources(".cc", ".h") if path.parent.name != "gen"]


def check_format():
    """Only what is not known to be formatted is read: a file that was stays so; its name counts, for the order of includes."""
    kept = cache.Entry("formatted", cache.version(CLANG_FORMAT, "--version"), (ROOT / ".clang-format").read_text())
    digests = {file: hashlib.sha256(f"{file}\n".encode() + (ROOT / file).read_bytes()).hexdigest() for file in formatted_sources()}
    with tempfile.TemporaryDirectory() as folder:
        known = pathlib.Path(folder) / "known.txt"
        formatted = dict.fromkeys(known.read_text().split()) if kept.restore(folder) else {}
        new = [file for file, digest in digests.items() if digest not in formatted]
        problem = (run([CLANG_FORMAT, "--dry-run", "--Werror", *new]) or "") if new else ""
        files = dict.fromkeys(re.findall(r"^(\S+?):\d+:\d+: error", problem, re.M))
        if new and not (problem and not files):
            here = [digest for file, digest in sorted(digests.items()) if file not in files]
            others = list(formatted.keys() - set(here))  # of other copies of the project, and of earlier days
            known.write_text("\n".join([*here, *others[:FORMATTED_KEPT]]))
            kept.store(pathlib.Path(folder), ["known.txt"])
    return [f"{file}: not formatted; run `make format`" for file in files] or ([problem] if problem else [])


def check_files():
    """Licence tag, length, one module a file with the file's name, no trailing blanks."""
    problems = []
    for path in sources(*SOURCE_SUFFIXES):
        text = path.read_text()
        lines = text.splitlines()
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]) and path.name != "__init__.py":
            problems.append(f"{name(path)}:1: no SPDX-License-Identifier: Apache-2.0")
        generated = path.parent.name == "gen" and path.suffix in (".sv", ".h")
        if len(lines) > MAX_LINES.get(path.suffix, 1000) and not generated:
            problems.append(f"{name(path)}: {len(lines)} lines, more than {MAX_LINES[path.suffix]}")
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                problems.append(f"{name(path)}:{number}: blanks at the end of the line")
        if path.suffix == ".sv":
            modules = re.findall(r"^\s*(?:module|package)\s+(?:automatic\s+)?(\w+)", text, re.M)
            if modules != [path.stem]:
                problems.append(f"{name(path)}: holds {modules}, wanted one module or package {path.stem}")
    return problems


def included(path):
    """Lines and names of what a source includes."""
    found = (re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line) for line in path.read_text().splitlines())
    return [(number, match[1]) for number, match in enumerate(found, 1) if match]


def all_included(path, known):
    """The names, and those that the project's own headers among them include."""
    if path not in known:
        known[path] = {header for _, header in included(path)}
        for header in list(known[path]):
            own = (ROOT / folder / header for folder in ("", "host/include"))
            for file in filter(pathlib.Path.is_file, own):
                known[path] |= all_included(file, known)
    return known[path]


def check_includes():
    """What folders must not know of each other (INDEPENDENT); that HEADERS are included where their names are used."""
    problems = []
    known = {}
    for path in sources(".cc", ".h"):
        for number, header in included(path):
            for folder, (forbidden, allowed, only) in INDEPENDENT.items():
                if not name(path).startswith(f"{folder}/") or not header.startswith(tuple(f"{f}/" for f in forbidden)):
                    continue
                if not (allowed and header.startswith(allowed) and name(path).startswith(only)):
                    problems.append(f"{name(path)}:{number}: {folder} does not depend on {header}")
        used = set(re.findall(r"\babsl::(\w+)", path.read_text()))
        for header, names in HEADERS.items():
            if used.intersection(names.split()) and header not in all_included(path, known):
                problems.append(f"{name(path)}: uses absl::{sorted(used.intersection(names.split()))[0]}, does not include {header}")
    return problems


def check_targets():
    """Of the host only Target looks at a preset's cell, and nothing at its name (TARGETS): it says what a chip can do."""
    problems = []
    presets = "|".join(f'"{preset}"' for preset in PRESETS_BY_NAME)
    asks = re.compile(rf"(?:\.|->)cell\b|\bCell::k|(?:\.|->)name *(?:==|!=) *(?:{presets})|(?:{presets}) *(?:==|!=)|\bpreset *(?:==|!=) *(?:{presets})")
    for path in sources(".cc", ".h"):
        if not name(path).startswith("host/") or "/gen/" in name(path) or name(path) in TARGETS:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if asks.search(line.split("//")[0]):
                problems.append(f"{name(path)}:{number}: asks for a preset's cell or name; ask systole/target.h what it can do")
    return problems


def main():
    parts = {"rtl": check_rtl, "processes": lambda: check_with_slang("processes"), "slang": lambda: check_with_slang("slang"),
             "verible": check_verible, "pins": lambda: lint_pins.check(ROOT), "format": check_format, "files": check_files,
             "includes": check_includes, "targets": check_targets}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="what to check (default: all)")
    parser.add_argument("--format", action="store_true", help="format the C++ sources instead of checking")
    args = parser.parse_args()

    chosen = ["format"] if args.format else args.parts or list(parts)
    for part, tool in (("rtl", "verilator"), ("format", CLANG_FORMAT)):
        if part in chosen and not shutil.which(tool):
            print(f"lint: no {tool}; run scripts/setup.sh", file=sys.stderr)
            return 1
    if args.format:
        return subprocess.run([CLANG_FORMAT, "-i", *formatted_sources()], cwd=ROOT, check=False).returncode
    problems = [problem for part in chosen for problem in parts[part]()]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"lint: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
