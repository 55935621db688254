# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the benches of the DMA units see faults: changes one line of the RTL at a time, builds weights at `nano`, load or tiles at
`mini`, or send at `minichip`, and expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes its place."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

WALK = "dma/systole_dma_walk.sv"
LOAD = "dma/systole_dma_load.sv"
WEIGHTS = "dma/systole_weight_loader.sv"
TILES = "dma/systole_tile_loader.sv"
SEND = "dma/systole_dma_send.sv"
SHARE = "dma/systole_dma_share.sv"
INDEX = "dma/systole_dma_index.sv"

MUTANTS = [
    # The descriptor as it is taken.
    (WALK, "beats_whole + beats_t'(beats_part)", "beats_whole"),
    (WALK, "- (HbmBits + 2)'({beats_whole, beats_part})", "- (HbmBits + 2)'({beats_whole, 1'b0})"),
    (WALK, "- (UbBits + 2)'({beats_whole, beats_part})", "- (UbBits + 2)'({beats_whole, 1'b0})"),
    (WALK, "hbm_limit_t'({1'b0, hbm_next_q}) > hbm_limit_q", "hbm_next_q > hbm_limit_q[HbmBits-1:0]"),
    (WALK, "hbm_limit_t'({1'b0, hbm_next_q}) > hbm_limit_q", "hbm_limit_t'({1'b0, hbm_next_q}) >= hbm_limit_q"),
    (WALK, "ub_limit_t'({1'b0, ub_next_q}) > ub_limit_q", "1'b0"),
    (WALK, "d.len == '0 || d.n1 == '0 || d.n2 == '0", "d.len == '0 || d.n1 == '0"),
    (WALK, "| d.ub_stride1[Shift-1:0] | d.ub_stride2[Shift-1:0]", "| d.ub_stride1[Shift-1:0]"),
    # The next run.
    (WALK, "n1_last ? hbm_row_q : hbm_next_q", "hbm_next_q"),
    (WALK, "n1_left_q  <= n1_last ? d_q.n1 : n1_left_q - 1'b1;", "n1_left_q  <= n1_left_q - 1'b1;"),
    (WALK, "last_run_q       <= n1_last && n2_last;", "last_run_q       <= n2_last;"),
    (WALK, "else if (move && n1_last && n2_last) next_valid_q <= 1'b0;", "else if (move && n1_last) next_valid_q <= 1'b0;"),
    # The run at hand.
    (WALK, "(!active_q || (step && run_last))", "!active_q"),
    (WALK, "!next_valid_q && !(active_q && bad_q != '0) && !freeze_i", "!next_valid_q && !freeze_i"),
    (WALK, "beat_valid_o  = active_q && bad_q == '0 && !freeze_i", "beat_valid_o  = active_q && bad_q == '0"),
    (WALK, "run_last ? tail_q : '0", "tail_q"),
    (WALK, "if (fault_valid_o) stopped_q <= 1'b1;", ""),
    (WALK, "over_run_q || hbm_q < hbm_base || hbm_q > hbm_end_i[AddrBits:Shift]", "1'b1"),
    (WALK, "|| hbm_next_q < hbm_base ||", "||"),
    (WALK, "hbm_q < hbm_base || hbm_q >", "hbm_q >"),
    (LOAD, "assign beat_ready = credit && (!rd_valid_q || rd_ready_i);", "assign beat_ready = !rd_valid_q || rd_ready_i;"),
    # Rows of a table.
    (WALK, "(indexed ? d.index_addr[Shift-1:0] : '0)", "'0"),
    (WALK, "32'(table_end_q) > UbBytes / 4", "32'(table_end_q) > UbBytes / 4 + 1"),
    (WALK, "32'(table_end_q) > UbBytes / 4", "32'(table_end_q) >= UbBytes / 4"),
    (WALK, "+ EntryBits'(d.n2)", ""),
    (WALK, "move && n1_last && !n2_last && indexed_q;", "move && !n2_last && indexed_q;"),
    (WALK, "next_row || (waits_q && next_valid_q);", "waits_q && next_valid_q;"),
    (WALK, "(!waits_q || faulty) &&", "!waits_q &&"),
    (WALK, "(!waits_q || faulty) &&", ""),
    (WALK, "else if (row_ready) waits_q <= !row_valid;", "else if (row_ready) waits_q <= 1'b0;"),
    (WALK, "hbm_next_q < hbm_base || over_q;", "hbm_next_q < hbm_base;"),
    (WALK, "over_run_q || hbm_q <", "hbm_q <"),
    (WALK, "indexed_q && !faulty), .table_i", "indexed_q), .table_i"),
    (WALK, "32'(d_q.index_addr) > UbBytes ? AddrBits'(d_q.index_addr) :", ""),
    (LOAD, "drained_q || !indexed;", "1'b1;"),
    (LOAD, "drained_q <= walk_idle && all_back;", "drained_q <= walk_idle;"),
    (LOAD, "drained_q <= walk_idle && all_back;", "drained_q <= all_back;"),
    (INDEX, "(!ub_valid_q || ub_ready_i) && !freeze_i;", "(!ub_valid_q || ub_ready_i);"),
    (INDEX, "beats_q != '0 && credit &&", "beats_q != '0 &&"),
    (INDEX, "17'(entries_i) + 17'(Words - 1)", "17'(entries_i)"),
    (INDEX, "17'(entries_i) + 17'(Words - 1)", "17'(entries_i) + 17'(Words)"),
    (INDEX, "word_q == WordBits'(Words - 1) || left_q == 16'd1", "word_q == WordBits'(Words - 1)"),
    (INDEX, "entry_valid_q && (!row_valid_q || row_ready_i);", "entry_valid_q && !row_valid_q;"),
    (INDEX, "beat_valid && (!entry_valid_q || add);", "beat_valid && !entry_valid_q;"),
    (INDEX, "RowBits'(base_i) + RowBits'(entry_q)", "RowBits'(entry_q)"),
    (INDEX, "RowBits'(base_i) + RowBits'(entry_q)", "RowBits'(base_i) + RowBits'(entry_q[30:0])"),
    (INDEX, "if (start_i) word_q <= '0;", "if (start_i) word_q <= word_q;"),
    # Weights.
    (WEIGHTS, "asked_q ? room2_q : room1_q", "room1_q"),
    (WEIGHTS, ">= end_d ||", "> end_d ||"),
    (WEIGHTS, "d.hbm_addr[AddrBits-1:Shift] < hbm_base_i[AddrBits-1:Shift]", "1'b0"),
    (WEIGHTS, "now_q.addr == last_beat_q", "1'b0"),
    (WEIGHTS, "now_q.left == count_t'(2)", "now_q.left == count_t'(1)"),
    (WEIGHTS, "(now_q.last && !bad)", "now_q.last"),
    (WEIGHTS, "next_valid_q ? next_q : new_d", "new_d"),
    (WEIGHTS, "active_q && !finish && (next_valid_q || hbm_start)", "1'b0"),
    # Tiles.
    (TILES, "(began_q ? room2_q : room1_q)", "room1_q"),
    (TILES, "> limit_q);", ">= limit_q);"),
    (TILES, "row_addr_q[i][41:EndBits] != '0", "1'b0"),
    (TILES, "illegal_now_q <= illegal_q;", "illegal_now_q <= 1'b0;"),
    (TILES, "!next_valid_q && !bad;", "!next_valid_q;"),
    (TILES, "(!full_o || granted_q != '0)", "1'b1"),
    (TILES, "go ? wants & ~granted_q : '0", "go ? wants : '0"),
    (TILES, "(win_valid_o & ~win_ready_i) == '0", "(win_valid_o & win_ready_i) != '0"),
    (TILES, "win_rsp_valid_i[i] ? win_data_i[i][RowBits-1:0] : held_q", "win_data_i[i][RowBits-1:0]"),
    (TILES, "joined_q ? D : 32'(d_q.cols)", "1'b0 ? D : 32'(d_q.cols)"),
    (TILES, "32'(n.cols) == Cols && 32'(n.pitch)", "32'(n.pitch)"),
    (TILES, "tile_addr_q[i] <= tile_addr_q[i] + addr_t'(d_q", "tile_addr_q[i] <= tile_addr_q[0] + addr_t'(d_q"),
    (TILES, "if (outside_q[i-1]) fault_addr_o", "if (outside_q[0]) fault_addr_o"),
    (TILES, "busy_o       = next_valid_q || active_q", "busy_o       = active_q"),
    # Send: descriptors.
    (SEND, ">= torus_i.columns || {1'b0, d.dst_y} >= torus_i.rows", ">= torus_i.columns"),
    (SEND, "{1'b0, d.dst_x} >= torus_i.columns", "{1'b0, d.dst_x} > torus_i.columns"),
    (SEND, "post: d.flags[FlagSendLinkPost]", "post: 1'b1"),
    (SEND, "empty && empty_ok_q && !freeze_i;", "empty && empty_ok_q;"),
    (SEND, ".start_valid_i(req_i.valid && !empty)", ".start_valid_i(req_i.valid)"),
    (SEND, ".start_tag_i(start_way)", ".start_tag_i('0)"),
    (SEND, ".freeze_i(freeze_i || stopped_q)", ".freeze_i(freeze_i)"),
    (SEND, "{d.len, d.n1, d.n2} != '0", "{d.len, d.n1} != '0"),
    (SEND, "!d.flags[FlagSendLinkPost] ||", ""),
    (SEND, "empty && walk_idle && packets", "empty && packets"),
    (SEND, "packets < ($clog2(Depth + 1))'(Depth - 1) &&", ""),
    (SEND, "&& !stopped_q && !empty_take;", "&& !stopped_q;"),
    (SEND, "empty_fault_q <= empty_take && empty_bad_q;", "empty_fault_q <= 1'b0;"),
    (SEND, "if (walk_fault || (empty_take && empty_bad_q)) stopped_q", "if (walk_fault) stopped_q"),
    (SEND, "|| (empty_take && !empty_bad_q);", "|| empty_take;"),
    # Its packets.
    (SEND, ".valid_i(beat_valid && credit && empty_room)", ".valid_i(beat_valid && credit)"),
    (SEND, "close = beat_end ||", "close = beat_last ||"),
    (SEND, "BeatsBits'(PacketBeats - 1)", "BeatsBits'(PacketBeats - 2)"),
    (SEND, "run_q == '0 ? beat_hbm : first_q;", "beat_hbm;"),
    (SEND, "LengthBits'(beat_tail == '0)", "LengthBits'(1)"),
    (SEND, "if (!made.last) made.way.post = 1'b0;", ""),
    (SEND, "begun_q || beats >=", "begun_q || beats != '0 || beats >="),
    (SEND, "32'(sent_q) <= FlitBytes", "32'(sent_q) < FlitBytes"),
    (SEND, "beat_done = flit_last || 32'(index_q)", "beat_done = 32'(index_q)"),
    (SEND, "data[32'(index_q)*FlitBits", "data[32'(!index_q)*FlitBits"),
    (SEND, "out_head.src_core = core_i;", ""),
    (SEND, "out_head.tie      = packet.way.tie;", ""),
    (SEND, "+ AddressBits'(packet.way.flag)", ""),
    (SEND, "(flit_last && !packet.way.post)", "flit_last"),
    (SEND, "unit_done <= send_valid_o && send_ready_i && finish;", "unit_done <= packet_out && packet.last;"),
    (SEND, "busy_o        = packet_valid || send_valid_o;", "busy_o        = packet_valid;"),
    (SEND, "(ub_valid_o && !asked_q) || moved_q", "ub_valid_o && !asked_q"),
    (SEND, "(ub_valid_o && !asked_q) || moved_q", "ub_valid_o || moved_q"),
    # Several at a port of the unified buffer.
    (SHARE, "if (held_q) pick = pick_q;", ""),
    (SHARE, "if (asked && ub_ready_i) last_q <= pick;", ""),
    (SHARE, "asked && ub_ready_i ? Units'(1) << pick : '0;", "asked && ub_ready_i ? valid_i : '0;"),
    (SHARE, "valid_i[pick] && room;", "valid_i[pick];"),
    (SHARE, "ub_rsp_valid_i ? Units'(1) << owner : '0;", "ub_rsp_valid_i ? Units'(1) << ~owner : '0;"),
    (SHARE, "addr_i[pick]", "addr_i[last_q]"),
    (SHARE, "i - 1 > 32'(last_q)", "i - 1 >= 32'(last_q)"),
    (SHARE, "i - 1 > 32'(last_q)", "i > 32'(last_q) + 2"),
]

BENCHES = [
    mutation.Bench("dma_bench", "Vload_mini", "tests/rtl/dma/dma_bench.sv", ("-GPreset=3", "-GUnit=0"), "*/load_mini"),
    mutation.Bench("dma_bench", "Vweights_nano", "tests/rtl/dma/dma_bench.sv", ("-GPreset=0", "-GUnit=2"), "*/weights_nano"),
    mutation.Bench("tiles_bench", "Vtiles_mini", "tests/rtl/dma/tiles_bench.sv", ("-GPreset=3",), "*-*V2*"),
    mutation.Bench("send_bench", "Vsend_minichip", "tests/rtl/dma/send_bench.sv", ("-GPreset=8",), "SendTest/0.*"),
    mutation.Bench("systole_dma_share", "Vshare", "rtl/dma/systole_dma_share.sv", ("-GUnits=4",)),
]


def bench_of(mutant):
    return {WEIGHTS: 1, TILES: 2, SEND: 3, SHARE: 4}.get(mutant[0], 0)


if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES, bench_of))
