# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Shows that the tests of the links between chips see faults: changes one line of the RTL at a time, builds the unit with the test cases and
expects a failure. Each entry of MUTANTS: file, text that occurs once, what takes its place. The first twelve are the faults that
docs/link.md lists."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import mutation  # noqa: E402

(CRC, BUFFER, REPLAY, TX, RX, LANES_TX, LANES_RX, TRAIN, ARBITER, ROUTE, ROUTER, PACK, UNPACK, NODE,
 GATHER) = (
    f"link/systole_link_{name}.sv" for name in ("crc", "buffer", "replay", "tx", "rx", "lanes_tx", "lanes_rx", "train", "arbiter",
                                               "route", "router", "pack", "unpack", "node", "gather"))
LINK = "link/systole_link.sv"
NETWORK = "link/systole_network.sv"

MUTANTS = [
    (BUFFER, "limit_q <= limit_q + 1'b1;", "if (read_q[4:0] != '0) limit_q <= limit_q + 1'b1;"),  # credit lost
    (BUFFER, "limit_q <= limit_q + 1'b1;", "limit_q <= limit_q + CreditBits'(read_q[4:0] == '0 ? 2 : 1);"),  # credit doubled
    (REPLAY, "apply ? ack_ptr : free_q;", "(apply ? ack_ptr : free_q) + ptr_t'(!hold_i);"),  # replay off by one
    (RX, "assign ack_o           = ack_q;", "assign ack_o           = ack_q + SeqBits'(valid2_q && use2);"),  # ack one ahead
    (LINK, ".nack_i(control_valid && control.nack != seen_q)", ".nack_i(1'b0)"),  # nack ignored
    (TX, "      crc_q   <= next;\n", "      if (first1_q) crc_q <= next;\n"),  # CRC over the head alone
    (ROUTE, "(wraps || (!turn && vc_i))", "(!turn && vc_i)"),  # no dateline
    (ROUTER, "vc_o         = out_vc_q[Ports-1:1]", "vc_o         = ~out_vc_q[Ports-1:1]"),  # virtual channel swapped
    (ROUTER, ".vc_i(head.vc)", ".vc_i(head.vc ^ (head.kind == KindPost))"),  # a post passes writes
    (UNPACK, "middle_q && i < 32'(head_q.length)", "middle_q"),  # tail mask lost
    (TRAIN, "rx_use_q <= choose(avail);", "rx_use_q <= choose('1);"),  # dead lane used
    (REPLAY, "assign jump      = hold_i || (between", "assign jump      = (between"),  # a retrain goes on where it was
    # Receive buffer.
    (BUFFER, "place = first_i ? commit_q : write_q", "place = write_q"),
    (BUFFER, "last_i && commit_i) commit_q", "last_i) commit_q"),
    (BUFFER, "we_i(push_i && !over)", "we_i(push_i && !full)"),
    (BUFFER, "limit_q  <= CreditBits'(Depth);", "limit_q  <= CreditBits'(Depth + 20);"),
    # Replay buffer.
    (REPLAY, "ack_i != free_seq_q &&\n", "\n"),
    (REPLAY, "assign sane      = seq_t'(ack_i - free_seq_q) <= seq_t'(sent_seq_q - free_seq_q) &&", "assign sane      ="),
    (REPLAY, "read_seq_q == sent_seq_q) sent_seq_q", "1'b1) sent_seq_q"),
    (REPLAY, "!overtakes || between || hold_i", "1'b1"),
    (REPLAY, "ptr_t'(Depth - MaxFlits) &&", "ptr_t'(Depth - 1) &&"),
    (REPLAY, "seq_t'(Window - 2);", "seq_t'(Window - 1);"),
    (REPLAY, "(nack_i && open) || late", "nack_i && open"),
    (REPLAY, "(nack_i && open) || late", "nack_i || late"),
    (REPLAY, "CountBits'(MaxReplays - 1)", "CountBits'(MaxReplays - 2)"),
    (REPLAY, "if (take && last) free_seq_q <=", "if (take) free_seq_q <="),
    (REPLAY, ".waddr_i(next_seq[SlotBits-1:0])", ".waddr_i(write_seq_q[SlotBits-1:0])"),
    # Who is at the other end.
    (TX, "identity: identity_i,", "identity: '0,"),
    (LINK, "      peer_known_o   <= 1'b0;\n", ""),
    (LINK, "if (control_valid) peer_o <=", "if (control_valid && !peer_known_o) peer_o <="),
    (NODE, "identity_i({2'(l), chip_i})", "identity_i({2'(l ^ 1), chip_i})"),
    (NETWORK, "peer_known[link_q] ? {1'b1", "1'b1 ? {1'b1"),
    # Reset of the network.
    (NETWORK, "(reset_q || (drop_q && middle))", "reset_q"),
    (NETWORK, "assign send_ready = node_ready || drop_q;", "assign send_ready = node_ready;"),
    (NETWORK, "send_valid_i(send_valid && !drop_q)", "send_valid_i(send_valid)"),
    (NETWORK, "clear: clear_q}", "clear: 1'b0}"),
    (GATHER, "(!rst_ni || clear_i) mask_q", "(!rst_ni) mask_q"),
    (GATHER, ".rst_ni(rst_ni && !clear_i), .valid_i, .ready_o", ".rst_ni, .valid_i, .ready_o"),
    (GATHER, "assign take  = valid && ready && !clear_i;", "assign take  = valid && ready;"),
    # Sending side.
    (TX, "head.seq = seq_i;", "head.seq = '0;"),
    (TX, "assign urgent = nack_i != nack_q || seen_i != seen_q;", "assign urgent = 1'b0;"),
    (TX, "alive_q == '0 || urgent", "urgent"),
    (TX, "ack_i != ack_q || limit_i != limit_q || again_q", "again_q"),
    (TX, "CrcStart ^ s : crc_q[s]", "CrcStart : crc_q[s]"),
    (TX, "if (hold_i) middle_q <= 1'b0;\n      else if", "if"),
    # Receiving side.
    (RX, "right &= crc_q[s] == CrcResidue;", "right &= 1'b1;"),
    (RX, "SeqBits'(1 << (SeqBits - 1))", "SeqBits'(1)"),
    (RX, "problem && !accept_o && seen_i == nack_q", "problem && !accept_o"),
    (RX, "assign next_one = seq2_q == ack_q;", "assign next_one = 1'b1;"),
    (RX, "padded >> Shift", "head1.length >> Shift"),
    # Lanes and training.
    (LANES_TX, "lanes_d[l] = {tag, data[rank*LaneBits+:LaneBits]};", "lanes_d[l] = {tag, data[l*LaneBits+:LaneBits]};"),
    (LANES_TX, "if (set_q == 2'd0) info_q", "info_q"),
    (LANES_RX, "else if (!lost_o) quiet_q", "else if (1'b0) quiet_q"),
    (LANES_RX, "3'd2: flit = {word[2*LaneBits-1:0], flit_q[FlitBits-1:2*LaneBits]};", "3'd2: flit = {flit_q[FlitBits-2*LaneBits-1:0], word[2*LaneBits-1:0]};"),
    (TRAIN, "(drop_i || drop_q) && errors_i ?", "1'b0 ?"),
    (TRAIN, "state_q == StUp && (lost_i || polls)", "state_q == StUp && lost_i"),
    (TRAIN, "tx_use_q     <= choose(info_i.lanes);", "tx_use_q     <= '1;"),
    # Giving up.
    (LINK, "assign peer_lost   = rises && peer_clean && proof_q;", "assign peer_lost   = 1'b0;"),
    (LINK, "else if (failed && 32'(tries_q)", "else if (1'b0 && 32'(tries_q)"),
    (LINK, "hold_i(hold), .drain_i(drain_q)", "hold_i(hold), .drain_i(1'b0)"),
    (LINK, "drain_q || (!down_q && 32'(left[v]) > PacketFlits)", "drain_q || !down_q"),
    (LINK, "v == 0 ? control.limit0 : control.limit1", "control.limit0"),
    (LINK, "credit_stall: up && (want_i & ~room_o) != '0", "credit_stall: 1'b0"),
    # Routes and routers.
    (ROUTE, "? tie : twice", "? 1'b0 : twice"),
    (ROUTE, "(wraps || (!turn && vc_i))", "(wraps || vc_i)"),
    (ROUTE, "b - a : b + ring - a", "b - a : a - b"),
    (ROUTE, "here == places - 1'b1", "here == places"),
    (ARBITER, "request_i & after_q", "request_i"),
    (ROUTER, "if (first_q[o]) flit[o][3] = out_vc_q[o];", ""),
    (ROUTER, "(!busy_q[o] || ends[o]) &&", "!busy_q[o] &&"),
    (ROUTER, "(next_q[o] & room[o]) != '0;", "next_q[o] != '0;"),
    (ROUTER, "32'(from_q[o]) == i) go[i]", "32'(port_q[i][2]) == o) go[i]"),
    (ROUTER, "&& 32'(port_q[i][2]) == o;", ";"),
    (ROUTER, "&& !(head_q[i] && ask_q[i]);", ";"),
    # Local port.
    (PACK, "tail_q   <= !tail_q && !bare && last_i;", "tail_q   <= !bare && last_i;"),
    (PACK, "src_x: x_i,", "src_x: y_i,"),
    (UNPACK, "head_q.address + AddressBits'(FlitBytes)", "head_q.address"),
    (UNPACK, "{data_i[s*SliceBits+:HeadBits], held_q[s]}", "data_i[s*SliceBits+:SliceBits]"),
    (NODE, "back.dst_core = poison_head.src_core;", ""),
    (NODE, "source   = middle_q ? pick_q : pick;", "source   = pick;"),
    (CRC, "part  = {whole[Bits-33:0], 32'd0}", "part  = whole"),
    # What a core receives.
    (GATHER, "whole = flit.last || part == '1;", "whole = flit.last;"),
    (GATHER, "whole = flit.last || part == '1;", "whole = part == '1;"),
    (GATHER, "(write ? room : !wr_valid_o) &&", "room &&"),
    (GATHER, "(write ? room : !wr_valid_o) &&", "(write || !wr_valid_o) &&"),
    (GATHER, "mask_q <= whole ? '0 : mask;", "mask_q <= mask;"),
    (GATHER, "if (!rst_ni || clear_i) mask_q <= '0;\n    else if", "if"),
    (GATHER, "mask, data}),", "mask_q, data}),"),
    (GATHER, "data[part] = flit.data;", "data[0] = flit.data;"),
    (GATHER, "== FirstFlag + f;", "== FirstFlag + (f ^ 1);"),
    (GATHER, "take && flit.head.kind == KindPoison;", "valid && flit.head.kind == KindPoison;"),
    (GATHER, "lost_addr_o <= flit.head.address;", "lost_addr_o <= head_i.address;"),
    # What a chip's cores share.
    (NETWORK, "core       = busy_q ? core_q : wants", "core       = wants"),
    (NETWORK, "wants == 2'b11 ? turn_q : wants[1]", "wants == 2'b11 ? 1'b0 : wants[1]"),
    (NETWORK, "busy_q <= !(send_ready && send_last);", "busy_q <= !send_ready;"),
    (NETWORK, "net_req_i[recv_head.dst_core].recv_ready", "net_req_i[0].recv_ready"),
    (NETWORK, "recv_valid && !clear_q && 32'(recv_head.dst_core) == c", "recv_valid"),
    (NETWORK, "send_ready && send_valid && 32'(core) == c", "send_ready && send_valid"),
    (NETWORK, "net_send_data_i[core]", "net_send_data_i[0]"),
    (NETWORK, "core: c == 1", "core: 1'b0"),
    (NETWORK, "ack: ack_q[c]", "ack: ack_q[0]"),
    (NETWORK, "data: c == 0 ? data_q : '0", "data: data_q"),
    (NETWORK, "{chip_q, torus_q.y, torus_q.x} <=", "{chip_q, torus_q.x, torus_q.y} <="),
    (NETWORK, "(down & ~down_q) != '0;", "down != '0;"),
    (NETWORK, "down_link_q <= 2'(l - 1);", "down_link_q <= 2'(l);"),
    (NETWORK, "state[16+2*l+:2] = cause[l];", "state[16+2*l+:2] = cause[0];"),
    (NETWORK, "count_q[l][2] + 32'(events_q[l].packet_received)", "count_q[l][2] + 32'(events_q[l].packet_sent)"),
    (NETWORK, "32'(events_q[l].credit_stall)", "32'd0"),
    (NETWORK, "32'(events_q[l].retrain)", "32'd0"),
    (NETWORK, "32'(events_q[l].poison)", "32'(events_q[l].retrain)"),
    (NETWORK, "count_q[link_q][counter_q] : '0;", "count_q[0][counter_q] : '0;"),
]

BENCHES = [
    mutation.Bench("systole_link", "VLink16", "rtl/link/systole_link.sv",
                   ("-GLaneBits=32", "-GBufferFlits=128", "-GReplayFlits=128", "-GTrainTimeout=4000", "-GTimeout=1000"), "*bytes16*"),
    mutation.Bench("systole_link_router", "VLinkRouter", "rtl/link/systole_link_router.sv"),
    mutation.Bench("systole_link_route", "VLinkRoute", "rtl/link/systole_link_route.sv"),
    mutation.Bench("systole_link_node", "VLinkNode16", "rtl/link/systole_link_node.sv",
                   ("-GLinkBytes=16", "-GBufferFlits=128", "-GReplayFlits=128", "-GTrainTimeout=4000", "-GTimeout=3000"), "NodeTest/1.*"),
    mutation.Bench("systole_link", "VLink64", "rtl/link/systole_link.sv",
                   ("-GFlitBits=512", "-GLaneBits=128", "-GBufferFlits=128", "-GReplayFlits=128", "-GTrainTimeout=4000", "-GTimeout=1000"),
                   "*bytes64_model"),
    mutation.Bench("systole_link_gather", "VGather32", "rtl/link/systole_link_gather.sv", ("-GD=32", "-GFlitBytes=16", "-GMemBits=20"),
                   "GatherTest/0.*"),
    mutation.Bench("network_bench", "VNetwork4", "tests/rtl/link/network_bench.sv", (), "NetworkTest/0.*"),
]


def bench_of(mutant):
    if mutant[0] == TX and "CrcStart" in mutant[1]:
        return 4  # a slice beside the first one
    return {ROUTER: 1, ARBITER: 1, ROUTE: 2, PACK: 3, UNPACK: 3, NODE: 3, GATHER: 5, NETWORK: 6}.get(mutant[0], 0)


if __name__ == "__main__":
    sys.exit(mutation.main(__doc__, MUTANTS, BENCHES, bench_of))
