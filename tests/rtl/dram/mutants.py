# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the bench of the DRAM port sees faults: changes one line of the RTL at a time and expects a failure. Each entry of MUTANTS:
file, text that occurs once, what takes its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

PORT = "chip/systole_axi_dram.sv"
BURST = "chip/systole_axi_burst.sv"
TURN = "chip/systole_axi_turn.sv"

MUTANTS = [
    (PORT, "assign hazard = writing_q[r_hash_q];", "assign hazard = 1'b0;"),
    (PORT, "if (mark_q) writing_q[mark_hash_q] <= 1'b1;", "if (mark_q && mark_hash_q[0]) writing_q[mark_hash_q] <= 1'b1;"),
    (PORT, "else if (pending_q == '0) writing_q <= '0;", "else if (pending_q == '0 || b_pop) writing_q <= '0;"),
    (PORT, "else if (pending_q == '0) writing_q <= '0;", ""),
    (PORT, "(b_pop ? PendBits'(b_len) + 1'b1 : '0)", "(b_pop ? PendBits'(b_len) + 2'd2 : '0)"),
    (PORT, "wr_room = wd_room && ws_room && !wait_q;", "wr_room = ws_room && !wait_q;"),
    (PORT, "wr_room = wd_room && ws_room && !wait_q;", "wr_room = wd_room && !wait_q;"),
    (PORT, "assign r_pass  = r_ready && !hazard;", "assign r_pass  = r_ready;"),
    (PORT, "assign rb_take = rb_offer && ro_room &&", "assign rb_take = rb_offer &&"),
    (PORT, "rb_offer && ro_room && (!arvalid_q || dram_rsp_i.arready)", "rb_offer && ro_room"),
    (PORT, "assign ro_pop   = dram_rsp_i.rvalid && dram_rsp_i.rlast;", "assign ro_pop   = dram_rsp_i.rvalid;"),
    (PORT, "rsp_valid_q[ro_client] <= 1'b1;", "rsp_valid_q[rb_client] <= 1'b1;"),
    (PORT, "arlen_q  <= 8'(rb_len);", "arlen_q  <= 8'(rb_len) + 8'd1;"),
    (PORT, "wl_room && b_room && (!awvalid_q || dram_rsp_i.awready)", "wl_room && b_room"),
    (PORT, "assign wb_take = wb_offer && wl_room && b_room", "assign wb_take = wb_offer && b_room"),
    (PORT, "assign wd_pop = wl_valid && (!wvalid_q || dram_rsp_i.wready);", "assign wd_pop = wl_valid;"),
    (PORT, "wlast_q <= wl_pop;", "wlast_q <= sent_q == '0;"),
    (PORT, "dram_wstrb_o <= wd_mask;", "dram_wstrb_o <= '1;"),
    (PORT, "addr_of(dram_rsp_i.rvalid && dram_rsp_i.rresp != '0 ? ro_beat : b_beat)", "addr_of(b_beat)"),
    (PORT, "(dram_rsp_i.rvalid && dram_rsp_i.rresp != '0) || ", ""),
    (PORT, " || (dram_rsp_i.bvalid && dram_rsp_i.bresp != '0)", ""),
    (PORT, " || ro_count != '0 || pending_q", " || pending_q"),
    (PORT, " || pending_q != '0);", ");"),
    (BURST, "len_q == LenBits'(MaxBeats - 2) || beat_i", "beat_i"),
    (BURST, "len_q == LenBits'(MaxBeats - 2) || beat_i[PageBits-1:0] == '1;", "len_q == LenBits'(MaxBeats - 2);"),
    (BURST, "        end_q   <= beat_i[PageBits-1:0] == '1;", "        end_q   <= 1'b0;"),
    (PORT, "rs_client == r_client_q && rs_beat == r_next_q;", "rs_beat == r_next_q;"),
    (PORT, "rs_client == r_client_q && rs_beat == r_next_q;", "rs_client == r_client_q;"),
    (PORT, "if (rs_valid && rs_ready) begin", "if (rs_ready) begin"),
    (PORT, "{wr_beat == wr_next_q, wr_beat}", "{1'b1, wr_beat}"),
    (BURST, "!end_q && follows_i;", "follows_i;"),
    (BURST, "first_q <= beat_i;", "first_q <= first_q + 1'b1;"),
    (BURST, " || linger_q == LingerBits'(Linger));", ");"),
    (BURST, "(end_q || (valid_i && !joins) || linger_q == LingerBits'(Linger))", "1'b1"),
    (TURN, "assign take_o  = (valid_i & ready_o) != '0;", "assign take_o  = asks && room_i;"),
    (TURN, "|| run_q == RunBits'(Burst) || (take_o && run_q == RunBits'(Burst - 1))", ""),
    (TURN, "room_i ? turn_q & ~hold : '0", "turn_q & ~hold"),
]

BENCHES = [mutation.Bench("dram_bench", "VDram", "tests/rtl/dram/dram_bench.sv")]

if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES))
