# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the bf16 matrix unit's test bench sees faults: changes one line of the RTL at a time, builds unit, unified buffer and
accumulators at mini, links them with the bench and expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes
its place."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SDS, MXU, ROWS, TRANSPOSER, FIFO = (
    f"mxu/systole_{name}.sv" for name in ("sds", "mxu", "mxu_rows", "transposer", "weight_fifo"))
RAM, ACC, BANK, BUFFER = ("cells/systole_transpose_ram.sv", "accumulators/systole_accumulators.sv", "unified_buffer/systole_ub_bank.sv",
                          "unified_buffer/systole_unified_buffer.sv")

MUTANTS = [
    # Waits for rows.
    (ROWS, "row_t'(away_q[enter_q]) < rows_q[enter_q]", "row_t'(away_q[enter_q]) <= rows_q[enter_q]"),
    (ROWS, "row_t'(row_i) < end_q[i]", "row_t'(row_i) + row_t'(1) < end_q[i]"),
    (ROWS, "row_t'(row_i) + row_t'(away_q[i]) >= end_q[i]", "row_t'(row_i) + row_t'(away_q[i]) > end_q[i]"),
    (ROWS, "entered_q[enter_q] <= 1'b1;", ""),
    (MXU, ".read_i(next_valid && next.accumulate)", ".read_i(1'b0)"),
    (MXU, ".leave_i(tag_out_valid)", ".leave_i(tag2_q.valid)"),
    # Rows that vectors begin from.
    (MXU, "assign acc_feed_read_o  = tag1_q.accumulate;", "assign acc_feed_read_o  = 1'b1;"),
    (ACC, "!read1_q ? '0 : bank1_q", "bank1_q"),
    (ACC, "bank1_q <= mxu_bank;", "bank1_q <= 1'b0;"),
    (ACC, "!(mxu_reads && mxu_bank == rd_bank)", "1'b1"),
    # The transposer.
    (TRANSPOSER, "i <= 32'(last3_q)", "i < 32'(last3_q)"),
    (TRANSPOSER, "i <= 32'(last3_q) ? column[i] : '0", "column[i]"),
    (TRANSPOSER, "block_q[out_q].take && column_q == '0", "block_q[out_q].take"),
    (TRANSPOSER, "block_q[out_q].done && column_last", "block_q[out_q].done"),
    (TRANSPOSER, "!col_accumulate_o && !fill_last_i &&", "!fill_last_i &&"),
    (TRANSPOSER, "!col_accumulate_o && !fill_last_i &&", "!col_accumulate_o &&"),
    (TRANSPOSER, "column_q >= IndexBits'(Rows - 3)", "column_q >= IndexBits'(Rows - 4)"),
    (RAM, "wdata_i[IndexBits'(m-32'(wrow_i))]", "wdata_i[IndexBits'(m+32'(wrow_i))]"),
    (RAM, "m - 32'(column1_q)", "m + 32'(column1_q)"),
    (MXU, "empty && next_go", "next_go"),
    (MXU, "head_transpose ? fill_ready", "head_transpose ? 1'b1"),
    (SDS, "transpose ? take_q && !pass_last : pass_last", "pass_last"),
    (SDS, "|| (!transpose && (p0_q", "|| ((p0_q"),
    (SDS, "row_q <= row_q + AccAddrBits'(Rows);", "row_q <= row_q;"),
    # Elements of two bytes.
    (SDS, "skip      = -b >>> Shift;", "skip      = -b;"),
    (SDS, "- b) >>> Shift;", "- b);"),
    (SDS, "pos_t'(seg_lo[s] << Shift) < boundary", "pos_t'(seg_lo[s]) < boundary"),
    (SDS, "pos_t'(seg_hi[s] << Shift) > boundary", "pos_t'(seg_hi[s]) > boundary"),
    (SDS, "<<< Shift) - addr_t'(1);", ") - addr_t'(1);"),
    # Checks.
    (SDS, "|| (Bf16 && n.pad != '0)", ""),
    (SDS, "(n_transpose && n_vectors > 39'(Rows))", "1'b0"),
    (SDS, "if (n.img_pitch[0]) n_odd = AddrBits'(n.img_pitch);", ""),
    (SDS, "AddrBits'($signed(n.seg_dx[s-1]))", "AddrBits'(n.seg_dx[s-1])"),
    (SDS, "39'(n.t0) * 39'(n.t1) * 39'(Rows)", "39'(n.t0) * 39'(Rows)"),
    # Tiles.
    (FIFO, "if (pop && 32'(rd_ptr_q) % WordsPerTile == 0) transpose1_q", "if (pop) transpose1_q"),
    (MXU, ".wl_column_i(row_transpose)", ".wl_column_i(1'b0)"),
    (MXU, "else if (pass_first) bank_q <= !bank_q;", "else if (enter) bank_q <= !bank_q;"),
    (MXU, "if (pass_first) cool_q <= CoolBits'(Cool);", "if (pass_first) cool_q <= CoolBits'(Cool - 4);"),
    # The buffer.
    (BANK, "if (we != '1) begin", "if (1'b0) begin"),
    (BUFFER, "if (rd_gnt[p] && rd_banks[p][b]) begin", "if (rd_gnt[p] && rd_banks[p][b] && p != 1) begin"),
]


def run(command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)


def build(args, work):
    """Verilates work/rtl at mini and links it with the bench; the program."""
    model = work / "model"
    verilate = run([args.verilator, "--cc", "--assert", "-O3", "--unroll-count", "8", "--x-assign", "unique", "--x-initial", "unique",
                    "-Wno-fatal", "-Wno-lint", "--top-module", "mxu_bench", "--prefix", "VMxuMini", "-GPreset=3", "--Mdir", model,
                    "-F", work / "rtl" / "systole.f", ROOT / "tests" / "rtl" / "mxu" / "mxu_bench.sv"])
    if verilate.returncode != 0:
        raise RuntimeError(verilate.stdout)
    program = work / "bench"
    link = run([args.compiler, "-std=c++17", "-O1", "-w", "-faligned-new", *[f"-I{path}" for path in args.include], f"-I{model}",
                *sorted(model.glob("*.cpp")), "-Wl,--whole-archive", args.cases, "-Wl,--no-whole-archive", *args.libraries,
                "-lgtest_main", "-lgtest", "-lz", "-lpthread", "-latomic", "-o", program])
    if link.returncode != 0:
        raise RuntimeError(link.stdout)
    return program


def failure(args, mutant):
    """The first failing test with this mutant, or None; a mutant that never ends counts as seen."""
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        shutil.copytree(ROOT / "rtl", work / "rtl")
        if mutant:
            file, old, new = mutant
            path = work / "rtl" / file
            text = path.read_text()
            if text.count(old) != 1:
                raise RuntimeError(f"{file}: {old!r} occurs {text.count(old)} times, not once")
            path.write_text(text.replace(old, new))
        program = build(args, work)
        try:
            result = run([program, "--gtest_fail_fast", "--gtest_brief=1"], timeout=300)
        except subprocess.TimeoutExpired:
            return "no end"
        failed = [line.split("]")[1].split(",")[0].strip() for line in result.stdout.splitlines() if line.startswith("[  FAILED  ]")]
        return None if result.returncode == 0 else (failed or [f"exit code {result.returncode}"])[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verilator", default="verilator")
    parser.add_argument("--compiler", default="clang++")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--cases", required=True, help="library of the test cases")
    parser.add_argument("--only", type=int, action="append", help="numbers of mutants")
    parser.add_argument("--every", type=int, default=1, help="only every n-th mutant")
    parser.add_argument("libraries", nargs="*")
    args = parser.parse_args()
    seen = failure(args, None)
    if seen:
        print(f"the unchanged unit fails: {seen}")
        return 1
    missed = 0
    for number, mutant in enumerate(MUTANTS):
        if number % args.every or (args.only and number not in args.only):
            continue
        seen = failure(args, mutant)
        missed += seen is None
        print(f"{number:3} {pathlib.Path(mutant[0]).name:26} {mutant[1].strip().splitlines()[0][:70]:70} {seen or 'NOT SEEN'}", flush=True)
    print(f"{missed} mutants not seen" if missed else "every mutant is seen")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
