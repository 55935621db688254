# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Records the waveform of one layer of the digits network and opens it in GTKWave with a prepared view.

The view has a group a unit; opcodes and faults are shown by name, int8 vectors as signed numbers. Without a display it
says how to open the files.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

from gen import common

ROOT = pathlib.Path(__file__).resolve().parents[1]

# GTKWave's format flags: hexadecimal, signed decimal, hexadecimal through a translation file, group begin and end.
HEX, SIGNED, NAMED, BEGIN, END = "@22", "@420", "@2022", "@800200", "@1000200"

# Groups: title, scope below systole_top, signals (regular expressions of whole names).
GROUPS = [
    ("Program", "", [r"clk_i", r"rst_ni", r"irq_o", r"retire_valid_o"]),
    ("Sequencer", "u_core.u_sequencer", [r"state_q", r"index_q", r"opcode", r"push_valid_o", r"push_ready_i", r"running_o"]),
    ("Sync flags", "u_core.u_sync", [r"set_q"]),
    ("Load", "u_core.u_load", [r"start_valid_i", r"start_ready_o", r"done_o", r"rd_valid_o", r"rd_addr_o", r"ub_valid_o", r"ub_ready_i", r"ub_addr_o"]),
    ("Weights", "u_core.u_weight_loader", [r"start_valid_i", r"start_ready_o", r"done_o", r"rd_valid_o", r"rd_addr_o", r"wf_valid_o", r"wf_free_i"]),
    ("Data setup", "u_core.u_mxu.u_sds", [r"active_q", r"p1_q", r"p0_q", r"i_q", r"y_q", r"x_q", r"win_valid_o", r"win_ready_i", r"win_addr_o", r"tile_ready_i", r"vec_valid_o", r"vec_bank_o", r"vec_row_o", r"vec_o\[\d+\]"]),
    ("Array", "u_core.u_mxu", [r"enable", r"load", r"ahead_q", r"cool_q", r"acc_wr_valid_o", r"acc_wr_accumulate_o", r"acc_wr_row_o", r"acc_wr_data_o\[\d+\]"]),
    ("Vector unit", "u_core.u_vector", [r"start_valid_i", r"start_ready_o", r"done_o", r"acc_rd_valid_o", r"acc_rd_row_o", r"vrd_valid_o", r"vrd_addr_o", r"vwr_valid_o", r"vwr_ready_i", r"vwr_addr_o", r"vwr_data_o"]),
    ("Store", "u_core.u_store", [r"start_valid_i", r"start_ready_o", r"done_o", r"ub_valid_o", r"ub_addr_o", r"wr_valid_o", r"wr_ready_i", r"wr_addr_o"]),
    ("HBM", "u_hbm", [r"row_cmd_o", r"row_bank_o", r"row_addr_o", r"col_cmd_o", r"col_bank_o", r"col_addr_o", r"rdata_valid_i", r"rd_valid_i", r"rd_ready_o", r"wr_valid_i", r"wr_ready_o"]),
]
SIGNED_NAMES = re.compile(r"(vec_o|acc_wr_data_o)\[\d+\]")


def signals(fst):
    """Full names of the waveform's signals with their ranges, by (scope, name)."""
    dump = subprocess.Popen(["fst2vcd", str(fst)], stdout=subprocess.PIPE, text=True, errors="replace")
    scopes, found = [], {}
    for line in dump.stdout:
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            scopes.append(words[2])
        elif words[0] == "$upscope":
            scopes.pop()
        elif words[0] == "$var":
            name = words[4]
            bits = words[5] if words[5] != "$end" else ""
            found[(".".join(scopes), name)] = ".".join(scopes + [name]) + bits
        elif words[0] == "$enddefinitions":
            break
    dump.stdout.close()
    dump.kill()
    dump.wait()
    return found


def opcode_names(path):
    """Translation file: value in hexadecimal, name."""
    spec = common.load(ROOT, "isa.yaml")
    path.write_text("".join(f"{op['opcode']:02X} {op['name']}\n" for op in spec["opcodes"]))


def view(fst, path, opcodes):
    """Writes GTKWave's save file; returns how many signals it shows."""
    found = signals(fst)
    tops = [scope for scope, _ in found if scope.split(".")[-1] == "systole_top"]
    if not tops:
        raise SystemExit(f"waves: error: {fst} holds no systole_top")
    top = tops[0]
    lines, shown = [f'[dumpfile] "{fst.resolve()}"', "[signals_width] 300"], 0
    for title, scope, patterns in GROUPS:
        full = f"{top}.{scope}" if scope else top
        names = []
        for pattern in patterns:
            match = [n for s, n in found if s == full and re.fullmatch(pattern, n)]
            names += sorted(match, key=lambda n: [int(x) for x in re.findall(r"\d+", n)])
        if not names:
            continue
        lines += [BEGIN, f"-{title}"]
        for name in names:
            if name == "opcode":
                lines += [NAMED, f"^1 {opcodes.resolve()}"]
            else:
                lines.append(SIGNED if SIGNED_NAMES.fullmatch(name) else HEX)
            lines.append(found[(full, name)])
            shown += 1
        lines += [END, f"-{title}"]
    path.write_text("\n".join(lines) + "\n")
    return shown


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="build folder")
    parser.add_argument("--layer", type=int, default=1, help="layer to record, counted from 0 (default 1)")
    parser.add_argument("--images", type=int, default=4, help="images of the batch")
    parser.add_argument("--no-open", action="store_true", help="only write the files")
    args = parser.parse_args()

    for tool in ("fst2vcd", "gtkwave"):
        if not shutil.which(tool):
            sys.exit(f"waves: error: {tool} is missing: run scripts/setup.sh")
    folder = pathlib.Path(args.build) / "waves"
    folder.mkdir(parents=True, exist_ok=True)
    fst, save, opcodes = folder / f"layer{args.layer}.fst", folder / f"layer{args.layer}.gtkw", folder / "opcodes.txt"
    fst.unlink(missing_ok=True)
    command = [f"{args.build}/bin/systole", "run", "--images", str(args.images), "--batch", str(args.images), "--trace", str(fst),
               "--trace-layer", str(args.layer), "--reports", ""]
    if subprocess.run(command, check=False).returncode != 0:
        return 1
    opcode_names(opcodes)
    shown = view(fst, save, opcodes)
    print(f"waves: {fst} ({fst.stat().st_size / 1e6:.1f} MB), view with {shown} signals: {save}")
    if args.no_open:
        return 0
    if not os.environ.get("DISPLAY"):
        print(f"waves: no display here; where there is one: gtkwave {save}")
        return 0
    return subprocess.run(["gtkwave", str(save)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
