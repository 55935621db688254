# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Replays the pins of a recorded run to the core in Icarus Verilog, which has unknown values, and compares every output in every cycle.

  replay.py --pins FILE [--build build] [--fault NAME]

The core is nano as the synthesiser reads it, in plain Verilog. No register has an initial value. After reset each output must have the
recorded value, and none may be unknown, except a payload whose valid is low (PAYLOADS). The same program is run on a record with a wrong
bit and on one without a reset, which shows that it detects both. With --fault the source has a seeded fault (FAULTS), which it must detect.
"""

import argparse
import importlib.metadata
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

import design

sys.path.insert(0, str(design.ROOT / "scripts"))
import cache  # noqa: E402

# Outputs that are meaningful only at times: (valid, elements). An element is one bit of the valid (of a command: any of
# its bits) and an equal share of the payload. DRAM outputs: bank and row while a row is opened or closed, and the bytes
# of a write that its mask enables.
PAYLOADS = {
    "axil_bresp_o": ("axil_bvalid_o", 1), "axil_rdata_o": ("axil_rvalid_o", 1), "axil_rresp_o": ("axil_rvalid_o", 1),
    "axi_bresp_o": ("axi_bvalid_o", 1), "axi_bid_o": ("axi_bvalid_o", 1),
    "axi_rdata_o": ("axi_rvalid_o", 1), "axi_rresp_o": ("axi_rvalid_o", 1), "axi_rlast_o": ("axi_rvalid_o", 1), "axi_rid_o": ("axi_rvalid_o", 1),
    "phy_row_bank_o": ("act or pre", 2), "phy_row_addr_o": ("act", 2),
    "phy_col_bank_o": ("phy_col_cmd_o", 2), "phy_col_addr_o": ("phy_col_cmd_o", 2),
    "retire_index_o": ("retire_valid_o", 6),
    "phy_wdata_o": ("written bytes", 32), "phy_wmask_o": ("write data", 2),
}
# Seeded faults: (file in rtl/, text, its replacement, what must be detected).
FAULTS = {
    # The refresher does not start from the DRAM's reset.
    "unreset": ("hbm/systole_hbm_refresh.sv", "      state_q    <= StReset;\n", "", "unknown"),
    # The lowest bit of a scaled sum is inverted.
    "bit": ("vector/systole_vector_scale.sv", "v_v[c] = v[32:1];", "v_v[c] = {v[32:2], ~v[1]};", "wrong"),
}
PC_BYTES = 16  # write data of a pseudo-channel per cycle
# DRAM: cycles from a write command to its first data, and cycles of data (docs/spec/hbm.yaml).
WRITE_LATENCY, BURST = 4, 2


def pin_bytes(width):
    """The size of a pin in a record: that of its type in a Verilated model."""
    return next((size for size in (1, 2, 4, 8) if width <= 8 * size), (width + 31) // 32 * 4)


def bench(ports):
    """A module that reads the record and compares."""
    lines = ["module replay;", "  reg clk_i = 0;", "  integer file, got, cycles = 0, checked = 0, unknown = 0, wrong = 0, silent = 0;",
             "  reg [1023:0] name;",
             "  reg [31:0] writes_0 = 0, writes_1 = 0;"]
    pins = [port for port in ports if port.name != "clk_i"]
    for port in pins:
        lines.append(f"  reg [{pin_bytes(port.width) * 8 - 1}:0] pin_{port.name};")
        if not port.input:
            lines.append(f"  wire [{port.width - 1}:0] {port.name};")
    connect = [f".{port.name}({port.name if not port.input or port.name == 'clk_i' else f'pin_{port.name}[{port.width - 1}:0]'})"
               for port in ports]
    lines.append(f"  systole_top dut ({', '.join(connect)});")
    # Checks one element of an output. Wrong values count always; unknown ones count only while the element is
    # meaningful.
    lines += ["  task check(input [1023:0] got_value, input [1023:0] want_value, input means, input [255:0] pin);", "    begin",
              "      checked = checked + 1;",
              "      if (|(got_value ^ want_value) === 1'b1) begin",
              "        wrong = wrong + 1;",
              '        if (wrong <= 10) $display("cycle %0d: %0s is %0h, recorded was %0h", cycles, pin, got_value, want_value);',
              "      end else if (|(got_value ^ want_value) === 1'bx) begin",
              "        if (means) begin", "          unknown = unknown + 1;",
              '          if (unknown <= 10) $display("cycle %0d: %0s is unknown: %0h", cycles, pin, got_value);',
              "        end else silent = silent + 1;", "      end", "    end", "  endtask"]
    lines += ["  initial begin", '    if (!$value$plusargs("pins=%s", name)) $finish;', '    file = $fopen(name, "r");', f"    got = {len(pins)};",
              f"    while (got == {len(pins)}) begin",
              f"      got = $fscanf(file, \"{' '.join(['%h'] * len(pins))}\\n\", {', '.join('pin_' + port.name for port in pins)});",
              "      #1;", f"      if (got == {len(pins)} && pin_rst_ni[0]) begin"]
    for port in pins:
        if port.input:
            continue
        valid, elements = PAYLOADS.get(port.name, (None, 1))
        width = port.width // elements
        for element in range(elements):
            bits = f"[{(element + 1) * width - 1}:{element * width}]"
            means = "1'b1"
            command = f"pin_phy_row_cmd_o[{3 * element + 2}:{3 * element}]"
            if valid == "act":
                means = f"{command} == 3'd1"
            elif valid == "act or pre":
                means = f"({command} == 3'd1 || {command} == 3'd2)"
            elif valid in ("write data", "written bytes"):
                pc = element if valid == "write data" else element // PC_BYTES
                means = f"|writes_{pc}[{WRITE_LATENCY + BURST - 2}:{WRITE_LATENCY - 1}]"
                if valid == "written bytes":
                    means += f" && pin_phy_wmask_o[{element}]"
            elif valid:
                valid_width = next(other.width for other in ports if other.name == valid) // elements
                means = f"|pin_{valid}[{(element + 1) * valid_width - 1}:{element * valid_width}]"
            lines.append(f'        check({port.name}{bits}, pin_{port.name}{bits}, {means}, "{port.name}{bits if elements > 1 else ""}");')
    lines.append("      end")
    # The history of write commands of each pseudo-channel, the latest at bit 0.
    lines += [f"      writes_{element} = {{writes_{element}[30:0], pin_phy_col_cmd_o[{3 * element + 2}:{3 * element}] == 3'd2}};" for element in range(2)]
    lines += ["      if (wrong + unknown != 0 && $test$plusargs(\"stop\")) got = 0;"]
    lines += ["      clk_i = 1;", "      #1 clk_i = 0;", "      cycles = cycles + 1;", "    end",
              '    $display("replay cycles=%0d checked=%0d unknown=%0d wrong=%0d silent=%0d", cycles - 1, checked, unknown, wrong, silent);',
              "    $finish;", "  end", "endmodule", ""]
    return "\n".join(lines)


def run(*command):
    """Runs a command that must not fail. Returns its output."""
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{result.stdout[-2000:]}")
    return result.stdout


def play(program, pins, stop):
    """Runs a compiled replay of a record and returns its output. With `stop` it ends at the first difference."""
    return run("vvp", "-n", program, f"+pins={pins}", *(["+stop"] if stop else []))


def simulate(program, sources, pins, stop=False):
    """Compiles a replay and runs it."""
    run("iverilog", "-g2012", "-o", program, "-s", "replay", *sources)
    return play(program, pins, stop)


def seeded_records(ports, pins, work):
    """Seeded records: (what must be detected, record). One has a wrong bit in an output that is always meaningful, one has no reset."""
    names = [port.name for port in ports if port.name != "clk_i"]
    output = names.index(next(port.name for port in ports if not port.input and port.name not in PAYLOADS))
    reset = names.index("rst_ni")
    rows = [line.split() for line in pins.read_text().splitlines()]
    released = next(index for index, row in enumerate(rows) if int(row[reset], 16))
    wrong, unreset = work / "wrong.txt", work / "unreset.txt"
    changed = [list(row) for row in rows]
    changed[released + 50][output] = f"{int(rows[released + 50][output], 16) ^ 1:x}"
    wrong.write_text("".join(" ".join(row) + "\n" for row in changed))
    unreset.write_text("".join(" ".join([*row[:reset], "1", *row[reset + 1:]]) + "\n" for row in rows))
    return ("wrong", wrong), ("unknown", unreset)


def counts_of(text):
    """The counts in the output of a replay."""
    counts = re.search(r"(?m)^replay (.*)$", text)
    if not counts:
        raise RuntimeError(f"no result of the replay: {text[-2000:]}")
    return {key: int(value) for key, value in (count.split("=") for count in counts[1].split())}


def faulty_sources(fault, folder):
    """A copy of rtl/ with a fault."""
    name, old, new, _ = FAULTS[fault]
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(design.ROOT / "rtl", folder)
    text = (folder / name).read_text()
    if text.count(old) != 1:
        raise RuntimeError(f"fault {fault}: its text is not once in rtl/{name}")
    (folder / name).write_text(text.replace(old, new))
    return folder


def write_rtl(work, rtl):
    """Writes the core in plain Verilog. Returns its ports and the file."""
    core = design.Design(work / "rtl.log")
    core.read("systole_top", {"Preset": 0}, rtl=rtl)
    # Case statements and conditional registers become multiplexers. With an unknown condition, they would take the
    # default.
    core.run("flatten", "setattr -unset init w:*", "pmuxtree", "bmuxmap", "demuxmap", "bwmuxmap", "opt_clean", "check -assert")
    core.run(f"write_verilog -noattr {work / 'rtl.v'}")
    return core.ports(), work / "rtl.v"


def replay(work, rtl, pins, stop):
    """Replays the pins to the core of this source, unless the cache has the result. Returns the output and the seeded records' counts."""
    kept = cache.Entry("replay", cache.version("iverilog", "-V"), importlib.metadata.version("pyosys"), pathlib.Path(__file__).read_bytes(),
                       pathlib.Path(design.__file__).read_bytes(), *cache.uses(rtl)["systole_top"], pins.read_bytes(), stop)
    if kept.restore(work):
        print("rtl: as when it was played the same pins before")
    else:
        start = time.monotonic()
        ports, core = write_rtl(work, rtl)
        (work / "bench.v").write_text(bench(ports))
        print(f"rtl: written in {time.monotonic() - start:.0f} s", flush=True)
        program = work / "rtl.vvp"
        (work / "replay.txt").write_text(simulate(program, [work / "bench.v", core], pins, stop))
        counts_of((work / "replay.txt").read_text())
        seeded = {what: counts_of(play(program, record, stop=True))[what] for what, record in seeded_records(ports, pins, work)}
        (work / "seeded.json").write_text(json.dumps(seeded))
        kept.store(work, ["replay.txt", "seeded.json"])
    return (work / "replay.txt").read_text(), json.loads((work / "seeded.json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--pins", type=pathlib.Path, required=True, help="record of a run (engines_record)")
    parser.add_argument("--fault", choices=FAULTS, help="a seeded fault, which must be seen")
    args = parser.parse_args()

    start = time.monotonic()
    work = args.build.resolve() / "engines" / f"replay{'_' + args.fault if args.fault else ''}"
    work.mkdir(parents=True, exist_ok=True)
    text, seeded = replay(work, faulty_sources(args.fault, work / "rtl") if args.fault else design.ROOT / "rtl", args.pins, args.fault is not None)
    counts = counts_of(text)
    print(text, end="")
    print(f"rtl: {counts['cycles']} cycles, {counts['checked']} outputs compared, {counts['unknown']} unknown, {counts['wrong']} "
          f"wrong, {counts['silent']} unknown payloads of no transfer", flush=True)
    if args.fault:
        seen = counts[FAULTS[args.fault][3]] > 0
        print(f"replay: the fault '{args.fault}' was {'' if seen else 'not '}seen")
        return 0 if seen else 1
    print(f"seeded records: {seeded}")
    problems = counts["unknown"] + counts["wrong"] + (counts["checked"] == 0) + sum(count == 0 for count in seeded.values())
    print(f"replay: {problems} problems, {time.monotonic() - start:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        sys.exit(f"replay: {error}")
