# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the bench of the functions sees faults: changes one text of the RTL at a time, builds the unit, links it with the bench and
expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

UNIT, LANE, TABLE, FLOW = "vpu/systole_vpu_sfu_fast.sv", "vpu/systole_vpu_sfu_lane.sv", "gen/systole_sfu_pkg.sv", "vpu/systole_vpu_sfu.sv"

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
    (UNIT, "if (valid_q[2]) begin", "if (valid_q[3]) begin"),
    (FLOW, "if (!rst_ni) valid_q <= '0;", "if (!rst_ni) valid_q[1] <= '0;"),
    # The hardware's lanes.
    (LANE, "down[7:6] != '0 ? '0 : fixed >> down[5:0]", "fixed >> down[5:0]"),
    (LANE, "{3'd3, first[2]}", "{3'd3, first[1]}"),
    (LANE, "plain.special = large1_q || scale[10];", "plain.special = large1_q;"),
    (LANE, "signed'(-11'd127 - 11'(zeros1_q))", "signed'(-11'd126 - 11'(zeros1_q))"),
    (LANE, "unsigned'(x >>> 1)", "unsigned'(x >> 1)"),
    (LANE, "8'd130: w = {f, 7'd0} >> 3;", "8'd130: w = {f, 7'd0} >> 2;"),
    (LANE, "{38'(rise01_q) + 38'(rise10_q), 17'd0}", "{38'(rise01_q), 17'd0}"),
    (LANE, "{product11_q, product00_q}", "{product11_q, 34'd0}"),
    (LANE, "if (log8_q && sum[63] && !plain_q[8].special)", "if (sum[63] && !plain_q[8].special)"),
    (LANE, "9'(clear) < scale9_q ? clear : scale9_q[5:0]", "clear"),
    (LANE, "(rest11_q != '0 || top11_q[1])", "top11_q[1]"),
    (LANE, "rounded[31:23] >= 9'd255 ?", "rounded[31:23] >= 9'd256 ?"),
]

BENCHES = [mutation.Bench("sfu_bench", "VSfu", "tests/rtl/sfu/sfu_bench.sv")]

if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES))
