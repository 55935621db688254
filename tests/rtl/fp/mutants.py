# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes the array's bf16 cell with one fault at a time, all side by side in one design, for a test that has to see each of them.

Each entry of MUTANTS: what it is, text that occurs once in rtl/fp/systole_fp_pkg.sv, what takes its place. fma_mutants.sv holds the
cell as it is as number 0 and the mutants from 1 on; mutants.h their names.
"""

import argparse
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]

MUTANTS = [
    ("sticky bit lost", "kept | 32'd1 : kept", "kept : kept"),
    ("long shifts wrap", "count < 31 ? count : 32'd31", "count"),
    ("ties up", "((m >> 7) & 1)", "32'd1"),
    ("ties down", "32'h3F + ((m >> 7) & 1)", "32'h3F"),
    ("ties to odd", "((m >> 7) & 1)", "(~(m >> 7) & 1)"),
    ("truncates", "(m + 32'h3F + ((m >> 7) & 1))", "m"),
    ("subnormal sums flushed", "((mag & ((32'd1 << am) - 1)) |", "((e != 0 ? mag & ((32'd1 << am) - 1) : 32'd0) |"),
    ("subnormal sums at half", "(e != 0 ? e : 32'd1) + offset", "e + offset"),
    ("subnormal results flushed", "r = m != 0 ? r : 32'd0;", "r = r >> am != 0 ? r : 32'd0;"),
    ("subnormal results normalised", "t = m | ((32'd1 << (am + 7)) >> e);", "t = m;"),
    ("subnormal operands flushed", "end else if (s != 0) begin", "end else if (s != 0) begin s = 0;"),
    ("subnormal operands not normalised", "if (s < 32'h10) begin", "if (1'b0) begin"),
    ("operand exponent off by one", "e = e + bias(ae) - 1;", "e = e + bias(ae);"),
    ("x - x is negative", "sign & ~lower", "sign"),
    ("-0 + -0 is positive", "sign & ~lower", "32'd0"),
    ("sign of a difference lost", "sign ^ (sum & 32'h8000_0000)", "sign"),
    ("negative sums in one's complement", "-sum : sum", "~sum : sum"),
    ("infinity - infinity is infinite", "(infinity | 32'h8000_0000) ? nan : info", "(infinity | 32'h8000_0000) ? info : info"),
    ("infinity * 0 is no NaN", "info = p == 0 ? nan : info;", ""),
    ("NaN operands are infinite", "s = s == 0 ? 32'h80 : 32'd0;", "s = 32'h80;"),
    ("NaN sums are infinite", "info = mag > infinity ? 32'h8000_0000 : info;", ""),
    ("NaN is not canonical", "infinity | (32'd1 << (am - 1)) : r", "infinity | 32'd1 : r"),
    ("overflow wraps", "r = r < infinity ? r : infinity;", ""),
    ("infinite products wrap", "e = e < special(oe, ae) ? e : special(oe, ae);", ""),
    ("infinite sums are finite", "mag >= infinity ? special(oe, ae)", "1'b0 ? special(oe, ae)"),
    ("normaliser stops at 4", "t = t >> (am + 6) == 0 ? t << 2 : t;", ""),
    ("wrong side shifted", "lower   = p_upper ? s : p;", "lower   = p_upper ? p : s;"),
    ("product's sign ignored", "((a ^ b) & 32'h8000_0000)", "(a & 32'h8000_0000)"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the two files")
    args = parser.parse_args()

    package = (ROOT / "rtl" / "fp" / "systole_fp_pkg.sv").read_text()
    cell = (ROOT / "rtl" / "mxu" / "systole_mxu_cell_bf16.sv").read_text()
    sources = [package]
    for name, old, new in MUTANTS:
        if package.count(old) != 1:
            raise ValueError(f"mutant {name!r} wants exactly one {old!r}, found {package.count(old)}")
        sources.append(package.replace(old, new))

    text = []
    for index, source in enumerate(sources):
        text.append(source.replace("systole_fp_pkg", f"fp_mutant_{index}_pkg"))
        text.append(re.sub(r"\bsystole_mxu_cell_bf16\b", f"fma_mutant_{index}", cell).replace("systole_fp_pkg", f"fp_mutant_{index}_pkg"))
    formats = ["OpExp", "OpMan", "SumExp", "SumMan"]
    text.append(f"""
module fma_mutants #(
    {", ".join(f"parameter int unsigned {name} = {value}" for name, value in zip(formats, (8, 7, 8, 23)))}
) (
    input logic clk_i,
    input logic [OpExp+OpMan:0] a_i, b_i,
    input logic [SumExp+SumMan:0] sum_i,
    output logic [SumExp+SumMan:0] sum_o [{len(sources)}]
);
  logic [SumExp+SumMan:0] sum_q;
  always_ff @(posedge clk_i) sum_q <= sum_i;""")
    parameters = ", ".join(f".{name}({name})" for name in formats)
    for index in range(len(sources)):
        a, b = (f"fp_mutant_{index}_pkg::pack_operand(fp_mutant_{index}_pkg::recode(32'({port}), OpExp, OpMan, SumExp))" for port in ("a_i", "b_i"))
        text.append(f"  fma_mutant_{index} #({parameters}) u_{index} (.clk_i, .enable_i(1'b1), .act_i({{1'b0, {a}}}), .sum_i(sum_q), .wl_valid_i(2'b01),\n"
                    f"    .wl_data_i({b}), .act_o(), .sum_o(sum_o[{index}]));")
    text.append("endmodule\n")
    (args.out / "fma_mutants.sv").write_text("\n".join(text))
    names = "".join(f'    "{name}",\n' for name, _, _ in [("the cell itself", "", ""), *MUTANTS])
    (args.out / "mutants.h").write_text(f"inline constexpr const char* kMutants[] = {{\n{names}}};\n")


if __name__ == "__main__":
    main()
