# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the bench of the AXI4 window sees faults: changes one line of the RTL at a time, builds the window with a port a quarter as
wide as the HBM and expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

WINDOW = "host/systole_axi_hbm.sv"

MUTANTS = [
    (WINDOW, "(w_accept && w_whole)) mask_q <= '0;", "1'b0) mask_q <= '0;"),  # stale strobes
    (WINDOW, "w_whole       = wpart == part_t'(Parts - 1) || wleft_q == '0", "w_whole       = wpart == part_t'(Parts - 1)"),
    (WINDOW, "w_whole       = wpart == part_t'(Parts - 1) || wleft_q == '0", "w_whole       = wleft_q == '0"),
    (WINDOW, "now ? axi_wdata_i : data_q", "data_q"),
    (WINDOW, "now ? axi_wstrb_i : mask_q", "axi_wstrb_i"),
    (WINDOW, "(werror_q || !w_whole || wr_ready_i)", "1'b1"),
    (WINDOW, "waddr_q + AddrBits'(H)", "waddr_q + AddrBits'(D)"),
    (WINDOW, "8'((9'(part_of(axi_req_i.ar.addr)) + 9'(axi_req_i.ar.len)) >> $clog2(Parts))", "8'(9'(axi_req_i.ar.len) >> $clog2(Parts))"),
    (WINDOW, "rpart_q     <= part_of(axi_req_i.ar.addr)", "rpart_q     <= '0"),
    (WINDOW, "(rpart_q == part_t'(Parts - 1) || axi_rsp_o.rlast)", "rpart_q == part_t'(Parts - 1)"),
    (WINDOW, "(rpart_q == part_t'(Parts - 1) || axi_rsp_o.rlast)", "1'b1"),
    (WINDOW, "rpart_q == part_t'(p)) axi_rdata_o", "rpart_q == part_t'(p - 1)) axi_rdata_o"),
    (WINDOW, "raddr_q + AddrBits'(D)", "raddr_q + AddrBits'(H)"),
    (WINDOW, "addr[BeatShift-1:0] != '0 || last", "last"),
    (WINDOW, "last > HbmBytes", "last > HbmBytes + D"),
    (WINDOW, "burst != BurstIncr || ", ""),
]

BENCHES = [mutation.Bench("window_bench", "VAxiHbm", "tests/rtl/host/window_bench.sv", ("-GD=128", "-GH=32", "-GHbmBytes=37'h10000"))]

if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES))
