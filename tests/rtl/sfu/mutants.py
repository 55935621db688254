# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the bench of the functions sees faults: changes one text of the RTL at a time, builds the unit, links it with the bench and
expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes its place."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
UNIT, TABLE = "vpu/systole_vpu_sfu.sv", "gen/systole_sfu_pkg.sv"

MUTANTS = [
    # Arguments.
    (UNIT, "m = m < 32'h0000_0100 ? m << 16 : m;", "m = m < 32'h0000_0100 ? m << 8 : m;"),
    (UNIT, "n = m < 32'h0080_0000 ? n + 1 : n;", ""),
    (UNIT, "left  = (magnitude >> 23) - 32'd120;", "left  = (magnitude >> 23) - 32'd119;"),
    (UNIT, "right = left[31] ? -left : 32'd0;\n    right = right < 32'd31 ? right : 32'd31;", "right = left[31] ? -left : 32'd0;"),
    (UNIT, "-(whole + (w != 0 ? 32'd1 : 32'd0))", "-(whole + 32'd1)"),
    (UNIT, "w            = a_i[l][31] ? -w & Fixed : w;", ""),
    (UNIT, "mag >= 32'h4380_0000 ? Special", "mag >= 32'h4400_0000 ? Special"),
    (UNIT, "halve        = m >= 32'h00C0_0000;", "halve        = m > 32'h00C0_0000;"),
    (UNIT, "(a_i[l] & ~Sign) == 0 ? Sign | Inf", "a_i[l] == 0 ? Sign | Inf"),
    (UNIT, "(norm << 8) & Fraction", "(norm << 7) & Fraction"),
    (UNIT, "(a_i[l] & Sign) | (mag == 0 ? Inf : 32'd0)", "mag == 0 ? Inf : 32'd0"),
    (UNIT, "32'($signed(x) >>> 1)", "32'(x >> 1)"),
    (UNIT, "mag == 0 ? a_i[l] | Inf", "mag == 0 ? Inf"),
    (UNIT, "e == 128 ? f << 7", "e == 128 ? f << 6"),
    (UNIT, "e == 129 ? SfuTanh4Base", "e == 129 ? SfuTanh8Base"),
    (UNIT, "scale1_q[l]  = mag < 32'h3980_0000 ||", "scale1_q[l]  = mag < 32'h3A00_0000 ||"),
    # Polynomial, rounding.
    (UNIT, "t2_q[l] >> 6", "(t2_q[l] >> 6) & 32'h0001_FFFE"),
    (UNIT, "* 64'(c2_2_q[l])) >>> 10", "* 64'(c2_2_q[l])) >>> 11"),
    (UNIT, "(c1_3_q[l] <<< 7) + bend3_q[l]", "c1_3_q[l] <<< 7"),
    (UNIT, "* 64'(slope4_q[l])) >>> 30", "* 64'(slope4_q[l]) + 64'd536870912) >>> 30"),
    (UNIT, "sum < 0 && !scale7_q[l][31] ? Sign", "sum < 0 ? Sign"),
    (UNIT, "(scale7_q[l] & Special) | LogScale", "(scale7_q[l] & Special) | (LogScale + 1)"),
    (UNIT, "n = e < 32'd63 ? e : 32'd63;", "n = 32'd63;"),
    (UNIT, "64'h0000_003F_FFFF_FFFF + 64'((t >> 39) & 64'd1)", "64'h0000_0040_0000_0000"),
    (UNIT, "r = r < Inf ? r : Inf;", ""),
    (UNIT, "return sum != 0 ? r : 32'd0;", "return r;"),
    (TABLE, "18'h03DAA,", "18'h03DAB,"),
    # Flow.
    (UNIT, "if (log2_q[7])", "if (log2_q[6])"),
    (UNIT, "if (valid_q[2]) stage3_bend();", "if (valid_q[3]) stage3_bend();"),
    (UNIT, "if (!rst_ni) valid_q <= '0;", "if (!rst_ni) valid_q[1] <= '0;"),
]


def run(command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)


def build(args, work):
    """Verilates work/rtl and links it with the bench; the program."""
    verilate = run([args.verilator, "--cc", "--assert", "-O3", "--unroll-count", "8", "--x-assign", "unique", "--x-initial", "unique",
                    "-Wno-fatal", "-Wno-lint", "--top-module", "systole_vpu_sfu", "--prefix", "VSfu", "-GLanes=128", "--Mdir", work / "model",
                    work / "rtl" / TABLE, work / "rtl" / UNIT])
    if verilate.returncode != 0:
        raise RuntimeError(verilate.stdout)
    program = work / "bench"
    link = run([args.compiler, "-std=c++17", "-O1", "-w", "-faligned-new", *[f"-I{path}" for path in args.include], f"-I{work / 'model'}",
                *sorted((work / "model").glob("*.cpp")), "-Wl,--whole-archive", args.cases, "-Wl,--no-whole-archive", *args.libraries,
                "-lgtest_main", "-lgtest", "-lz", "-lpthread", "-latomic", "-o", program])
    if link.returncode != 0:
        raise RuntimeError(link.stdout)
    return program


def failure(args, mutant):
    """The first failing test with this mutant, or None."""
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        for file in (UNIT, TABLE):
            text = (ROOT / "rtl" / file).read_text()
            if mutant and mutant[0] == file:
                if text.count(mutant[1]) != 1:
                    raise RuntimeError(f"{file}: {mutant[1]!r} occurs {text.count(mutant[1])} times, not once")
                text = text.replace(mutant[1], mutant[2])
            (work / "rtl" / file).parent.mkdir(parents=True, exist_ok=True)
            (work / "rtl" / file).write_text(text)
        result = run([build(args, work), "--gtest_fail_fast", "--gtest_brief=1"])
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
        print(f"{number:3} {mutant[1].strip().splitlines()[0][:80]:80} {seen or 'NOT SEEN'}", flush=True)
    print(f"{missed} mutants not seen" if missed else "every mutant is seen")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
